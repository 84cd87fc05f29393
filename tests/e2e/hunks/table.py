"""Hunks before an editor that draws lenses and actions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from acp_sidecar.workspace.uris import path_to_uri
from tests.e2e.editor import Editor, capabilities
from tests.e2e.puppet import Puppet

LINES = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n"
EDITED = "one\nTWO\nthree\nfour\nfive\nsix\nSEVEN\nmore\neight\n"
REFRESH = "workspace/codeLens/refresh"
SHOW = "window/showDocument"


def can(*, lenses: bool = True, literals: bool = True, **experimental: bool) -> dict[str, Any]:
    """What an editor with code lenses and code actions can do."""
    given = capabilities(**experimental)
    if lenses:
        given["workspace"]["codeLens"] = {"refreshSupport": True}
        given["textDocument"] = {"codeLens": {}, "codeAction": {}}
        if literals:
            kinds = {"codeActionKind": {"valueSet": ["quickfix", "source"]}}
            given["textDocument"]["codeAction"] = {"codeActionLiteralSupport": kinds}
    return given


class Table:
    """An editor, an agent at work, and a file."""

    def __init__(self, editor: Editor, puppet: Puppet, ws: Path) -> None:
        self.editor = editor
        self.puppet = puppet
        self.ws = ws
        self.path = ws / "a.txt"
        self.uri = path_to_uri(str(self.path))

    async def start(
        self, settings: dict[str, Any], able: dict[str, Any], text: str = LINES
    ) -> None:
        self.path.write_bytes(text.encode())
        await self.editor.initialize(self.ws, settings=settings, can=able)
        await self.editor.execute("acp.session.new")

    async def agent_writes(self, text: str = EDITED, path: Path | None = None) -> None:
        """A whole turn in which the agent writes through the client."""
        path = path or self.path
        _, turn = self.editor.start("acp.session.prompt", text="go")
        prompt = await self.puppet.prompted()
        assert (await self.puppet.write(path, text)).get("result") == {}
        self.puppet.say("done")
        self.puppet.end_turn(prompt)
        await turn

    async def hunks(self) -> list[dict[str, Any]]:
        listed = await self.editor.execute("acp.review.list")
        return [hunk for entry in listed for hunk in entry["hunks"]]

    async def lenses(self, uri: str | None = None) -> list[dict[str, Any]]:
        params = {"textDocument": {"uri": uri or self.uri}}
        lenses: list[dict[str, Any]] = await self.editor.call("textDocument/codeLens", params)
        return lenses

    async def press(self, lens: dict[str, Any]) -> Any:
        """What an editor does when a code lens or an action is chosen."""
        command = lens["command"]
        params = {"command": command["command"], "arguments": command["arguments"]}
        return await self.editor.call("workspace/executeCommand", params)

    async def actions(self, line: int, only: list[str] | None = None) -> list[dict[str, Any]]:
        place = {"line": line, "character": 0}
        context: dict[str, Any] = {"diagnostics": []}
        if only is not None:
            context["only"] = only
        params = {
            "textDocument": {"uri": self.uri},
            "range": {"start": place, "end": place},
            "context": context,
        }
        found: list[dict[str, Any]] = await self.editor.call("textDocument/codeAction", params)
        return found


def titles(lenses: list[dict[str, Any]]) -> list[tuple[int, str]]:
    return [(lens["range"]["start"]["line"], lens["command"]["title"]) for lens in lenses]


def lens_at(lenses: list[dict[str, Any]], line: int, word: str) -> dict[str, Any]:
    """The lens of a hunk at a line whose title begins with a word."""
    return next(
        lens
        for lens in lenses
        if lens["range"]["start"]["line"] == line and lens["command"]["title"].startswith(word)
    )
