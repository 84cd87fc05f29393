"""The ledgers of sessions, and where each keeps what it has to remember.

Baselines go with their session. Checkpoints stay, and what waits for review, under the agent's
own id of the session, so that one that is loaded again after a restart has them. A session that
takes the place of another one goes on from what that has left.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import secrets
import shutil
import time
from pathlib import Path
from typing import Final

from acp_sidecar.workspace.baselines import Baselines
from acp_sidecar.workspace.files import Files
from acp_sidecar.workspace.ledger import WAITING, Ledger
from acp_sidecar.workspace.roots import Roots
from acp_sidecar.workspace.waiting import is_held, something_waits

logger = logging.getLogger(__name__)

_FORGOTTEN_SECONDS: Final = 30 * 24 * 3600
"""After which the checkpoints of a session that nobody opens are removed."""
_PATIENCE_SECONDS: Final = 2.0
_LOOK_SECONDS: Final = 0.05


class Ledgers:
    """Makes the ledgers."""

    def __init__(self, files: Files, baselines: Path | None, checkpoints: Path | None) -> None:
        """Folders below which each session gets one of its own; None: all stays in memory."""
        self._files = files
        self._baselines = baselines
        self._checkpoints = checkpoints
        self._swept = False

    def name_for(self, agent: str, cwd: str, agent_session_id: str) -> str:
        """The name that what a new session leaves is kept by: the agent's id of it, unless
        another session of that id has left something for review, or is open."""
        folder = self._folder(agent, cwd, agent_session_id)
        if folder is None or not (something_waits(folder / WAITING) or is_held(folder / WAITING)):
            return agent_session_id
        # Some agents give their ids anew after a restart.
        return f"{agent_session_id}~{secrets.token_hex(6)}"

    def waits(self, agent: str, cwd: str, kept_as: str) -> bool:
        """Whether a session that nobody has open has left something for review."""
        folder = self._folder(agent, cwd, kept_as)
        return (
            folder is not None
            and something_waits(folder / WAITING)
            and not is_held(folder / WAITING)
        )

    async def left(self, agent: str, cwd: str, kept_as: str) -> bool:
        """:meth:`waits`; a sidecar that is just about to end, as in a reload of its window, is
        waited for a moment."""
        folder = self._folder(agent, cwd, kept_as)
        if folder is None:
            return False
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while True:
            if not is_held(folder / WAITING) or time.monotonic() > deadline:
                return self.waits(agent, cwd, kept_as)
            await asyncio.sleep(_LOOK_SECONDS)

    def make(self, agent: str, cwd: str, kept_as: str, roots: Roots, *, again: bool) -> Ledger:
        """A session's ledger. ``again``: it goes on from what is kept by that name."""
        folder = self._folder(agent, cwd, kept_as)
        if folder is not None and not again:
            shutil.rmtree(folder, ignore_errors=True)
        ledger = Ledger(
            self._files,
            within=roots.contains,
            spelled=roots.as_given,
            baselines=None if self._baselines is None else Baselines(self._baselines),
            checkpoints=folder,
        )
        if again:
            ledger.load()
        return ledger

    def _folder(self, agent: str, cwd: str, kept_as: str) -> Path | None:
        if self._checkpoints is None:
            return None
        self._sweep(self._checkpoints)
        name = "\0".join((agent, cwd, kept_as)).encode("utf-8", "surrogatepass")
        return self._checkpoints / hashlib.blake2b(name, digest_size=12).hexdigest()

    def _sweep(self, root: Path) -> None:
        """Remove what has not been touched for a long time."""
        if self._swept:
            return
        self._swept = True
        try:
            for folder in root.iterdir():
                if time.time() - _last_touched(folder) > _FORGOTTEN_SECONDS:
                    shutil.rmtree(folder, ignore_errors=True)
        except FileNotFoundError:
            return
        except OSError as error:
            logger.info("checkpoints of old sessions stay: %s", error)


def _last_touched(folder: Path) -> float:
    return max((each.stat().st_mtime for each in (folder, *folder.glob("*"))), default=0.0)
