"""What goes with a prompt, and what cannot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.e2e.editor import Editor, LspError
from tests.e2e.puppet import Puppet


async def test_context_is_a_link_or_the_text_as_it_is_now(
    editor: Editor, puppet: Puppet, ws: Path
) -> None:
    file = ws / "a.py"
    file.write_text("one\ntwo\nthree\n")
    uri = editor.open(file)
    editor.type(uri, 1, 0, "TWO", delete=3)
    lines = {"start": {"line": 1, "character": 0}, "end": {"line": 2, "character": 0}}
    editor.start("acp.session.prompt", text="see", context=[{"uri": uri, "range": lines}])
    prompt = await puppet.prompted()
    link = prompt["params"]["prompt"][1]
    assert (link["type"], link["uri"]) == ("resource_link", uri)
    puppet.end_turn(prompt)


class TestEmbeddedContext:
    @pytest.fixture
    async def editor(
        self, idle_editor: Editor, ws: Path, settings: dict[str, Any], puppet: Puppet
    ) -> Editor:
        puppet.capabilities = {"promptCapabilities": {"embeddedContext": True}}
        await idle_editor.initialize(ws, settings=settings)
        return idle_editor

    async def test_it_is_the_buffer_s_text(self, editor: Editor, puppet: Puppet, ws: Path) -> None:
        file = ws / "a.py"
        file.write_text("one\ntwo\nthree\n")
        uri = editor.open(file)
        editor.type(uri, 1, 0, "TWO", delete=3)
        lines = {"start": {"line": 1, "character": 0}, "end": {"line": 2, "character": 0}}
        editor.start("acp.session.prompt", text="see", context=[{"uri": uri, "range": lines}])
        resource = (await puppet.prompted())["params"]["prompt"][1]["resource"]
        assert resource == {"uri": uri, "text": "TWO\n"}

    async def test_P19_a_document_that_is_no_file_goes_as_its_text(
        self, editor: Editor, puppet: Puppet, ws: Path
    ) -> None:
        uri = editor.open("", "scratch\n", uri="untitled:Untitled-1")
        editor.start("acp.session.prompt", text="see", context=[{"uri": uri}])
        resource = (await puppet.prompted())["params"]["prompt"][1]["resource"]
        assert resource == {"uri": uri, "text": "scratch\n"}


@pytest.mark.parametrize(
    ("argument", "says"),
    [
        ({}, "text"),
        ({"text": 5}, "'text' must be a text"),
        ({"text": "x", "wait": "no"}, "'wait' must be true or false"),
        ({"text": "x", "context": [{}]}, "'uri'"),
        ({"text": "x", "context": [{"uri": "file:///x", "range": 5}]}, "LSP range"),
        ({"text": "x", "sessionId": "nope"}, r"acp\.session\.new"),
        ({"content": "x"}, "'content' must be a list"),
    ],
)
async def test_bad_arguments_get_an_error_that_says_what_to_do(
    editor: Editor, argument: dict[str, Any], says: str
) -> None:
    with pytest.raises(LspError, match=says):
        await editor.execute("acp.session.prompt", **argument)
