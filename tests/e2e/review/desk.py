"""What waits for review, file by file, whoever held the pen: list, keep, revert, undo, diff."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from acp_sidecar.workspace.uris import path_to_uri
from tests.e2e.editor import Editor
from tests.e2e.puppet import Puppet

EDIT = "workspace/applyEdit"
LINES = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n"


class Desk:
    """The user before an editor with an open session, and what waits for review."""

    def __init__(self, editor: Editor, puppet: Puppet, ws: Path) -> None:
        self.editor = editor
        self.puppet = puppet
        self.ws = ws

    def file(self, name: str, content: str | bytes = LINES) -> Path:
        path = self.ws / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    async def prompt(self) -> dict[str, Any]:
        """A turn that runs."""
        self.editor.start("acp.session.prompt", text="go")
        return await self.puppet.prompted()

    async def end(self, prompt: dict[str, Any]) -> None:
        self.puppet.say("done")
        self.puppet.end_turn(prompt)
        await self.editor.eventually(self._idle)

    async def _idle(self) -> bool:
        return bool((await self.editor.state())["status"] == "idle")

    async def arrived(self) -> None:
        """Make sure that the sidecar has read all the agent said."""
        await self.puppet.call("fs/read_text_file", path=str(self.ws))

    async def write(self, path: Path, content: str, *, read: bool = True) -> None:
        """The agent writes through the client."""
        if read:
            await self.puppet.read(path)
        answer = await self.puppet.write(path, content)
        assert answer.get("result") == {}, answer

    async def list(self) -> list[dict[str, Any]]:
        await self.arrived()
        listed: list[dict[str, Any]] = await self.editor.execute("acp.review.list")
        for change in listed:
            _is_change(change)
        return listed

    async def names(self) -> dict[str, str]:
        """Name and status of each changed file."""
        return {change["uri"].rpartition("/")[2]: change["status"] for change in await self.list()}

    async def step(self, step: str, **argument: Any) -> dict[str, Any]:
        done: dict[str, Any] = await self.editor.execute(f"acp.review.{step}", **argument)
        for name in ("kept", "reverted", "conflicts"):
            assert all(isinstance(hunk, str) for hunk in done[name])
        return done

    async def diff(self, path: Path) -> tuple[str, str]:
        texts = await self.editor.execute("acp.review.diff", uri=path_to_uri(str(path)))
        assert set(texts) == {"before", "after"}
        return texts["before"], texts["after"]

    def report(self, call: str, path: Path, old: str | None, new: str, **fields: Any) -> None:
        diff = {"type": "diff", "path": str(path), "oldText": old, "newText": new}
        self.puppet.tool(call, kind="edit", content=[diff], **fields)


def _is_change(change: dict[str, Any]) -> None:
    assert set(change) == {"uri", "status", "oldUri", "binary", "hunks"}
    assert change["status"] in ("modified", "created", "deleted", "renamed")
    assert (change["oldUri"] is not None) == (change["status"] == "renamed")
    assert isinstance(change["binary"], bool)
    assert change["hunks"]
    for hunk in change["hunks"]:
        assert set(hunk) == {"id", "before", "after", "state"}
        assert hunk["state"] in ("waiting", "conflict")
        for side in (hunk["before"], hunk["after"]):
            assert set(side) == {"start", "lines"}
            assert side["start"] >= 0
            assert side["lines"] >= 0


def ids(changes: list[dict[str, Any]]) -> list[str]:
    return [hunk["id"] for change in changes for hunk in change["hunks"]]
