"""What the demo agent shows of what there is to show."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from acp_sidecar.acp.elicitation import elicitation
from acp_sidecar.demo.shown import SHOWN
from tests.demo.driver import Driver
from tests.demo.greeting import GREETING


async def test_it_says_which_pictures_it_got(demo: Driver, workspace: Path) -> None:
    png = b"\x89PNG\r\n\x1a\n" + (13).to_bytes(4) + b"IHDR" + (3).to_bytes(4) + (4).to_bytes(4)
    picture = {"type": "image", "mimeType": "image/png", "data": base64.b64encode(png).decode()}
    broken = {"type": "image", "mimeType": "image/gif", "data": "?"}
    session = await demo.open(workspace)
    await demo.response(demo.prompt(session, "/refuse", picture, broken))
    said = demo.said()
    assert "2 pictures: image/png, 24 bytes, 3 × 4 pixels; image/gif, which is not" in said


async def test_it_shows_all_of_markdown_and_an_injection(demo: Driver, workspace: Path) -> None:
    session = await demo.open(workspace)
    await demo.response(demo.prompt(session, "/show"))
    assert demo.said() == SHOWN
    assert len(demo.updates("agent_message_chunk")) > 5, "it streams"
    for part in ("# What", "| `greeting.py` |", "```python", "```typescript", "onerror="):
        assert part in SHOWN


async def test_several_files_are_edited_in_several_places_and_back(
    demo: Driver, workspace: Path
) -> None:
    long = "".join(f"line {n}\n" for n in range(30))
    (workspace / "notes.txt").write_text(long)
    (workspace / "empty.md").write_text("")
    (workspace / "data.bin").write_bytes(b"\0")
    before = {path.name: path.read_bytes() for path in workspace.iterdir()}
    session = await demo.open(workspace)
    prompt = demo.prompt(session, "/edits")
    request = await demo.asked()
    shown = request["params"]["toolCall"]["content"]
    assert [Path(one["path"]).name for one in shown] == ["empty.md", "greeting.py", "notes.txt"]
    assert {path.name: path.read_bytes() for path in workspace.iterdir()} == before
    demo.select(request, "go-once")
    await demo.response(prompt)
    for one in shown:
        assert Path(one["path"]).read_text() == one["newText"] != one["oldText"]
    marks = (workspace / "notes.txt").read_text().splitlines()
    assert sum("demo agent" in line for line in marks) >= 4
    again = demo.prompt(session, "/edits")
    demo.select(await demo.asked(), "go-once")
    await demo.response(again)
    assert {path.name: path.read_bytes() for path in workspace.iterdir()} == before


async def test_several_edits_change_nothing_without_a_yes_nor_what_was_changed_meanwhile(
    demo: Driver, workspace: Path
) -> None:
    (workspace / "b.txt").write_text("b\n")
    session = await demo.open(workspace)
    prompt = demo.prompt(session, "/edits greeting.py b.txt")
    demo.select(await demo.asked(), "skip-once")
    await demo.response(prompt)
    assert (workspace / "greeting.py").read_text() == GREETING
    prompt = demo.prompt(session, "/edits greeting.py b.txt ../outside.txt")
    await demo.response(prompt)
    assert (workspace / "b.txt").read_text() == "b\n", "nothing where one is outside"
    prompt = demo.prompt(session, "/edits greeting.py b.txt")
    request = await demo.asked()
    (workspace / "b.txt").write_text("mine\n")
    demo.select(request, "go-once")
    await demo.response(prompt)
    assert (workspace / "b.txt").read_text() == "mine\n"
    assert "demo agent" in (workspace / "greeting.py").read_text()
    assert "`b.txt`" in demo.said()


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"result": {"action": "accept", "content": {"name": "Ada"}}}, 'name: `"Ada"`'),
        ({"result": {"action": "decline"}}, "Then I do without."),
        ({"result": {"action": "cancel"}}, "No answer."),
        ({"result": None}, "No answer."),
        ({"error": {"code": -32603, "message": "no"}}, "No answer."),
    ],
)
async def test_a_form_is_asked_where_the_client_has_forms(
    demo: Driver, workspace: Path, answer: dict[str, Any], said: str
) -> None:
    capabilities = {"elicitation": {"form": {}}}
    await demo.call("initialize", {"protocolVersion": 1, "clientCapabilities": capabilities})
    opened = await demo.call("session/new", {"cwd": str(workspace), "mcpServers": []})
    prompt = demo.prompt(opened["sessionId"], "/form")
    request = await demo.until(lambda m: m.get("method") == "elicitation/create")
    asked = elicitation(request["params"])
    assert asked.form is not None
    assert {field.type for field in asked.form.fields} == {
        "string",
        "integer",
        "boolean",
        "array",
    }
    demo.send({"id": request["id"], **answer})
    await demo.response(prompt)
    assert said in demo.said()


async def test_a_client_without_forms_is_told_so(demo: Driver, workspace: Path) -> None:
    session = await demo.open(workspace)
    await demo.response(demo.prompt(session, "/form"))
    assert "shows no forms" in demo.said()
