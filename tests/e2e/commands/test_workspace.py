"""What the editor says of itself and its workspace: settings, folders, position encodings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from tests.e2e.commands.demo_file import GREETED, GREETING
from tests.e2e.lsp_client import Client, Refused

pytestmark = pytest.mark.filterwarnings("error::pytest_lsp.LspSpecificationWarning")


async def test_a_workspace_may_set_much_but_no_command(
    bare: Client, ws: Path, greeting: Path
) -> None:
    evil = {"command": "touch", "args": ["evil"]}
    settings = {"follow": {"enabled": False}, "agents": {"demo": evil}, "review": {"mode": "off"}}
    bare.set_configuration(settings, section="acp")
    await bare.begin(ws, configuration=True)
    told = await bare.until(lambda: [log.message for log in bare.log_messages])
    assert "agents: is taken from the user's own settings only" in told[0]
    await bare.new()
    await bare.prompt("/read greeting.py:3")
    state = await bare.state()
    assert (state["follow"]["enabled"], state["follow"]["reason"]) == (False, "off")
    assert not (ws / "evil").exists()
    with pytest.raises(Refused, match=r"the setting review\.mode is 'off'"):
        await bare.execute("acp.review.keep")

    bare.set_configuration({"follow": {"enabled": True}}, section="acp")
    bare.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings=None))
    await bare.eventually(lambda state: state["follow"]["enabled"], "acp.session.state")
    await bare.prompt("/read greeting.py:3")
    await bare.until(lambda: ("greeting.py", 2) in bare.revealed())


async def test_settings_come_with_the_notification_where_they_cannot_be_asked_for(
    client: Client, session: dict[str, Any]
) -> None:
    pushed = {"acp": {"follow": {"enabled": False}}}
    client.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings=pushed))
    await client.eventually(lambda state: not state["follow"]["enabled"], "acp.session.state")


async def test_a_folder_that_joins_the_workspace_counts(
    bare: Client, ws: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "greeting.py").write_text(GREETING)
    await bare.begin(ws)
    await bare.new(cwd=str(other))
    await bare.prompt("/read greeting.py:3")
    follow = (await bare.state())["follow"]
    assert (follow["shown"], follow["reason"]) == (False, "outside")
    folder = types.WorkspaceFolder(uri=other.as_uri(), name="other")
    event = types.WorkspaceFoldersChangeEvent(added=[folder], removed=[])
    bare.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(event=event))
    await bare.prompt("/read greeting.py:3")
    await bare.until(lambda: ("greeting.py", 2) in bare.revealed())


# --- position encodings --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("offered", "chosen"),
    [
        (("utf-8", "utf-16"), "utf-8"),
        (("utf-16",), "utf-16"),
        (("utf-32", "utf-16"), "utf-32"),
        (("ebcdic", "utf-32"), "utf-32"),
        ((), "utf-16"),
    ],
)
async def test_edits_count_in_the_encoding_that_was_agreed_on(
    bare: Client, ws: Path, greeting: Path, offered: tuple[str, ...], chosen: str
) -> None:
    def odd(text: str) -> str:
        return text.replace("    return", '    "🦉é" and name; return')

    greeting.write_text(odd(GREETING))
    result = await bare.begin(ws, encodings=offered)
    assert result.capabilities.position_encoding == chosen
    uri = bare.open(greeting)
    await bare.new()
    await bare.execute("acp.session.setMode", modeId="accept-edits")
    end = {"utf-8": 6, "utf-16": 3, "utf-32": 2}[chosen]
    bare.type(uri, 6, 5 + end, "🦉")
    assert await bare.prompt("/edit") == "end_turn"
    wanted = odd(GREETED).replace("🦉é", "🦉é🦉")
    await bare.until(lambda: bare.buffers[uri] == wanted)
    # What the user has not saved is not on disk, and neither is what came into it.
    assert greeting.read_text() == odd(GREETING)
