"""Which version is spoken, and what goes over the wire then."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.e2e.editor import Editor, LspError
from tests.e2e.puppet import Puppet
from tests.e2e.version_two.prompts import texts


async def test_what_goes_over_the_wire(editor: Editor, puppet: Puppet, ws: Path) -> None:
    opened = await editor.execute("acp.session.new")
    assert opened["protocolVersion"] == 2
    initialize, new = puppet.seen
    told = initialize["params"]
    assert told["protocolVersion"] == 2 and told["info"]["name"] == "acp-sidecar"
    assert told["capabilities"] == {
        "auth": {"terminal": {}},
        "elicitation": {"form": {}, "url": {}},
    }
    assert new["params"] == {"cwd": str(ws), "mcpServers": []}


@pytest.mark.parametrize("how", ["answers 1", "refuses", "dies"])
async def test_an_agent_of_version_1_is_started_again_and_loses_nothing(
    editor: Editor, puppet: Puppet, how: str
) -> None:
    def initialize(params: dict[str, Any]) -> Any:
        if params["protocolVersion"] == 2 and how == "dies":
            puppet.hang_up()
        return {"protocolVersion": 1, "agentCapabilities": {}, "agentInfo": puppet.info}

    puppet.answers["initialize"] = initialize
    if how == "refuses":
        take = puppet._take

        def refusing(message: dict[str, Any]) -> None:
            if message.get("params", {}).get("protocolVersion") == 2:
                puppet.seen.append(message)
                error = {"code": -32602, "message": "what is info?"}
                puppet.send({"id": message["id"], "error": error})
            else:
                take(message)

        puppet._take = refusing  # type: ignore[method-assign]
    opened = await editor.execute("acp.session.new")
    assert (opened["protocolVersion"], puppet.connections) == (1, 2)
    asked = [each["params"] for each in puppet.seen if each["method"] == "initialize"]
    assert [each["protocolVersion"] for each in asked] == [2, 1]
    assert asked[1]["clientCapabilities"]["fs"] == {"readTextFile": True, "writeTextFile": True}
    _, turn = editor.start("acp.session.prompt", text="go")
    puppet.end_turn(await puppet.prompted())
    assert await turn == {"stopReason": "end_turn"}


async def test_version_2_alone_refuses_an_agent_of_version_1(
    idle_editor: Editor, puppet: Puppet, ws: Path, settings: dict[str, Any]
) -> None:
    puppet.answers["initialize"] = lambda params: {"protocolVersion": 1}
    await idle_editor.initialize(ws, settings={**settings, "protocolVersions": [2]})
    with pytest.raises(LspError, match="speaks protocol version 1"):
        await idle_editor.execute("acp.session.new")


async def test_without_the_setting_version_1_is_offered(
    idle_editor: Editor, puppet: Puppet, ws: Path
) -> None:
    puppet.answers["initialize"] = puppet._initialize
    settings = {"agents": {"puppet": puppet.setting}, "defaultAgent": "puppet"}
    await idle_editor.initialize(ws, settings=settings)
    opened = await idle_editor.execute("acp.session.new")
    assert opened["protocolVersion"] == puppet.seen[0]["params"]["protocolVersion"] == 1


async def test_files_and_terminals_are_not_the_clients(
    editor: Editor, puppet: Puppet, ws: Path
) -> None:
    (ws / "a").write_text("x")
    await editor.execute("acp.session.new")
    for method in ("fs/read_text_file", "fs/write_text_file", "terminal/create"):
        response = await puppet.call(method, path=str(ws / "a"), content="y", command="ls")
        assert response["error"]["code"] == -32601
    assert (ws / "a").read_text() == "x"


async def test_settings_have_ids_of_their_own(editor: Editor, puppet: Puppet) -> None:
    def option(value: str) -> dict[str, Any]:
        return {
            "configId": "model",
            "name": "Model",
            "type": "select",
            "currentValue": value,
            "options": [{"value": "s", "name": "Small"}, {"value": "b", "name": "Big"}],
        }

    puppet.answers["session/new"] = lambda params: {
        **puppet._new_session(params),
        "configOptions": [option("s")],
        "availableCommands": [{"type": "command", "name": "plan", "description": "d"}],
    }
    puppet.answers["session/set_config_option"] = lambda params: {"configOptions": [option("b")]}
    opened = await editor.execute("acp.session.new")
    assert [each["id"] for each in opened["configOptions"]] == ["model"]
    assert [each["name"] for each in opened["commands"]] == ["plan"]
    await editor.execute("acp.session.setConfigOption", configId="model", value="b")
    asked = await puppet.incoming("session/set_config_option")
    assert asked["params"] == {
        "sessionId": "S1",
        "configId": "model",
        "type": "id",
        "value": "b",
    }
    assert (await editor.state())["configOptions"][0]["currentValue"] == "b"


async def test_loading_is_resuming_with_a_replay(editor: Editor, puppet: Puppet) -> None:
    def resume(params: dict[str, Any]) -> Any:
        puppet.sessions.append(params["sessionId"])
        for kind, message_id, text in (
            ("user_message", "u", "hello"),
            ("agent_message", "a", "hi"),
        ):
            content = [{"type": "text", "text": text}]
            puppet.update(kind, messageId=message_id, content=content)
        puppet.update("state_update", state="idle")
        return {}

    puppet.answers["session/resume"] = resume
    opened = await editor.execute("acp.session.load", agentSessionId="old")
    asked = await puppet.incoming("session/resume")
    assert asked["params"]["replayFrom"] == {"type": "start"}
    state = await editor.state(sessionId=opened["sessionId"])
    assert (texts(state, "user"), texts(state, "agent")) == (["hello"], ["hi"])
    assert state["status"] == "idle"
