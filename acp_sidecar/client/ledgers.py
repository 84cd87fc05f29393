"""The ledgers of sessions, and where each keeps what it has to remember.

Baselines go with their session. Checkpoints stay, under the agent's own id of the session, so
that one that is loaded again after a restart has them.
"""

from __future__ import annotations

import hashlib
import logging
import shutil
import time
from pathlib import Path
from typing import Final

from acp_sidecar.workspace.baselines import Baselines
from acp_sidecar.workspace.files import Files
from acp_sidecar.workspace.ledger import Ledger
from acp_sidecar.workspace.roots import Roots

logger = logging.getLogger(__name__)

_FORGOTTEN_SECONDS: Final = 30 * 24 * 3600
"""After which the checkpoints of a session that nobody opens are removed."""


class Ledgers:
    """Makes the ledgers."""

    def __init__(self, files: Files, baselines: Path | None, checkpoints: Path | None) -> None:
        """Folders below which each session gets one of its own; None: all stays in memory."""
        self._files = files
        self._baselines = baselines
        self._checkpoints = checkpoints
        self._swept = False

    def make(
        self, agent: str, cwd: str, agent_session_id: str, roots: Roots, *, again: bool
    ) -> Ledger:
        """A session's ledger. ``again``: it is one of an earlier day, with its checkpoints."""
        folder = self._folder(agent, cwd, agent_session_id)
        if folder is not None and not again:
            # Some agents give their ids anew after a restart.
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

    def _folder(self, agent: str, cwd: str, agent_session_id: str) -> Path | None:
        if self._checkpoints is None:
            return None
        self._sweep(self._checkpoints)
        name = "\0".join((agent, cwd, agent_session_id)).encode("utf-8", "surrogatepass")
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
