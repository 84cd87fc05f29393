"""An agent held by a test that is no coroutine: a puppet on a loop of its own.

Neovim is driven by blocking calls, so the puppet of the end-to-end tests lives in a thread.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from pathlib import Path
from typing import Any, TypeVar

from tests.e2e.puppet import BOUND, Puppet

_T = TypeVar("_T")


class Agent:
    """The agent of one editor. ``setting`` is its entry in ``setup({ agents = … })``."""

    def __init__(self, name: str = "puppet") -> None:
        # A short path: a socket's has about a hundred characters.
        self._folder = tempfile.mkdtemp(prefix="acp-")
        self.name = name
        self.puppet = Puppet(Path(self._folder), name)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._wait(self.puppet.__aenter__())

    @property
    def setting(self) -> dict[str, Any]:
        return self.puppet.setting

    def prompted(self) -> dict[str, Any]:
        """The next prompt; :meth:`end_turn` takes it."""
        return self._wait(self.puppet.prompted())

    def end_turn(self, prompt: dict[str, Any], reason: str = "end_turn") -> None:
        self._do(lambda: self.puppet.end_turn(prompt, reason))

    def say(self, text: str) -> None:
        self._do(lambda: self.puppet.say(text))

    def tool(self, call_id: str, update: str = "tool_call", /, **fields: Any) -> None:
        """A tool call; ``update`` is ``tool_call`` or ``tool_call_update``."""
        self._do(lambda: self.puppet.tool(call_id, update, **fields))

    def begin(self, method: str, **params: Any) -> Future[dict[str, Any]]:
        """Sends a request; the future gives the whole response."""
        return asyncio.run_coroutine_threadsafe(self.puppet.call(method, **params), self._loop)

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        return self.begin(method, **params).result(BOUND)

    def read(self, path: Path) -> str:
        """What the sidecar says that a file says."""
        answer = self.call("fs/read_text_file", path=str(path))
        return str(answer["result"]["content"])

    def write(self, path: Path, content: str) -> dict[str, Any]:
        """Writes through the sidecar and waits for the answer."""
        return self.call("fs/write_text_file", path=str(path), content=content)

    def begin_write(self, path: Path, content: str) -> Future[dict[str, Any]]:
        """The same, for a write that waits for the user."""
        return self.begin("fs/write_text_file", path=str(path), content=content)

    def close(self) -> None:
        self._wait(self.puppet.__aexit__(None, None, None))
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(BOUND)
        self._loop.close()
        shutil.rmtree(self._folder)

    def _wait(self, work: Coroutine[Any, Any, _T]) -> _T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(BOUND)

    def _do(self, action: Any) -> None:
        async def run() -> None:
            action()

        self._wait(run())
