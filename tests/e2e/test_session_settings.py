"""Modes, options, MCP servers and folders of a session, and what is said beside its turns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.e2e.editor import Editor, LspError, capabilities, editing
from tests.e2e.puppet import Puppet

MODES = {
    "currentModeId": "ask",
    "availableModes": [{"id": "ask", "name": "Ask first"}, {"id": "go", "name": "Just go"}],
}
MODEL = {
    "id": "model",
    "name": "Model",
    "type": "select",
    "currentValue": "s",
    "options": [
        {"group": "g", "name": "G", "options": [{"value": "s", "name": "Small"}]},
        {"group": "h", "name": "H", "options": [{"value": "b", "name": "Big"}]},
    ],
}
THINK = {"id": "think", "name": "Think", "type": "boolean", "currentValue": False}
AS_OPTION = {
    "id": "mode",
    "name": "Mode",
    "category": "mode",
    "type": "select",
    "currentValue": "ask",
    "options": [{"value": "ask", "name": "Ask first"}, {"value": "go", "name": "Just go"}],
}


def options(**values: Any) -> list[dict[str, Any]]:
    every = [MODEL, THINK, AS_OPTION]
    return [{**one, "currentValue": values.get(one["id"], one["currentValue"])} for one in every]


@pytest.fixture
async def opened(editor: Editor, puppet: Puppet) -> Editor:
    puppet.answers["session/new"] = lambda params: {
        **puppet._new_session(params),
        "modes": MODES,
        "configOptions": options(),
    }
    await editor.execute("acp.session.new")
    return editor


def told(editor: Editor) -> list[str]:
    return [one["message"] for one in editor.all("window/showMessage")]


async def until_told_apart(editor: Editor, puppet: Puppet) -> list[str]:
    """Everything told up to now."""
    puppet.update("notice", severity="info", title="here")
    await editor.until(lambda: "puppet says: here" in told(editor))
    return [one for one in told(editor) if one != "puppet says: here"]


async def test_a_change_of_the_agent_s_own_is_announced_once(
    opened: Editor, puppet: Puppet
) -> None:
    new = options(mode="go", model="b", think=True)
    for _ in range(2):
        puppet.update("current_mode_update", currentModeId="go")
    for changed in (options(mode="go"), new, new):
        puppet.update("config_option_update", configOptions=changed)
    assert await until_told_apart(opened, puppet) == [
        "puppet has switched to the mode Just go",
        "puppet has set Model to Big",
        "puppet has set Think to on",
    ]
    state = await opened.state()
    assert state["modes"]["currentModeId"] == "go"
    assert [one["currentValue"] for one in state["configOptions"]] == ["b", True, "go"]


@pytest.mark.parametrize("name", ["gemini-cli", "other"])
async def test_another_mode_that_an_agent_is_known_to_tell_in_words_is_the_mode(
    puppet: Puppet, idle_editor: Editor, ws: Path, settings: dict[str, Any], name: str
) -> None:
    puppet.info = {"name": name, "version": "0.61.0"}
    puppet.answers["session/new"] = lambda params: {**puppet._new_session(params), "modes": MODES}
    await idle_editor.initialize(ws, settings=settings)
    await idle_editor.execute("acp.session.new")
    words = ["[MODE_UPDATE] nowhere", "[MODE_UPDATE] go"]
    for text in words:
        puppet.update("agent_message_chunk", content={"type": "text", "text": text})
    news = await until_told_apart(idle_editor, puppet)
    state = await idle_editor.state()
    said = "".join(block["text"] for one in state["messages"] for block in one["content"])
    if name == "gemini-cli":
        assert state["modes"]["currentModeId"] == "go"
        assert (said, news) == (words[0], ["puppet has switched to the mode Just go"])
    else:
        assert state["modes"]["currentModeId"] == "ask"
        assert (said, news) == ("".join(words), [])


@pytest.mark.parametrize("when", ["before", "after", "both"])
async def test_an_echo_of_the_user_s_own_change_is_no_news(
    opened: Editor, puppet: Puppet, when: str
) -> None:
    def echo() -> None:
        puppet.update("current_mode_update", currentModeId="go")
        puppet.update("config_option_update", configOptions=options(mode="go"))

    _, setting = opened.start("acp.session.setMode", modeId="go")
    asked = await puppet.incoming("session/set_mode")
    assert asked["params"] == {"sessionId": "S1", "modeId": "go"}
    if when != "after":
        echo()
    puppet.answer(asked, None)
    assert (await setting)["modes"]["currentModeId"] == "go"
    if when != "before":
        echo()
    assert await until_told_apart(opened, puppet) == []


async def test_options_of_both_sorts_are_set_and_what_else_changed_is_told(
    opened: Editor, puppet: Puppet
) -> None:
    _, setting = opened.start("acp.session.setConfigOption", configId="think", value=True)
    asked = await puppet.incoming("session/set_config_option")
    assert asked["params"] == {
        "sessionId": "S1",
        "configId": "think",
        "type": "boolean",
        "value": True,
    }
    puppet.update("config_option_update", configOptions=options(think=True))
    puppet.answer(asked, {"configOptions": options(think=True, model="b")})
    await setting
    _, setting = opened.start("acp.session.setConfigOption", configId="mode", value="go")
    asked = await puppet.incoming("session/set_config_option")
    assert asked["params"] == {"sessionId": "S1", "configId": "mode", "value": "go"}
    puppet.update("current_mode_update", currentModeId="go")
    puppet.answer(asked, {"configOptions": options(think=True, model="b", mode="go")})
    changed = (await setting)["configOptions"]
    assert [one["currentValue"] for one in changed] == ["b", True, "go"]
    assert await until_told_apart(opened, puppet) == ["puppet has set Model to Big"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("gemini-cli", "<session_context>\nToday is Monday.\n</session_context>"),
        ("gemini-cli", "[Function Response: read_file][Function Response: read_file]"),
        ("@agentclientprotocol/claude-agent-acp", "[Request interrupted by user]"),
    ],
)
async def test_what_an_agent_told_its_model_is_no_history_of_the_user_s(
    puppet: Puppet, idle_editor: Editor, ws: Path, settings: dict[str, Any], name: str, words: str
) -> None:
    puppet.info = {"name": name, "version": "1"}
    await idle_editor.initialize(ws, settings=settings)
    _, loading = idle_editor.start("acp.session.load", agentSessionId="old")
    asked = await puppet.incoming("session/load")
    for role, text in (
        ("user", words),
        ("user", "Tidy up."),
        ("agent", "I look first."),
        ("user", words),
        ("agent", " Done."),
        ("user", "What is a [Function Response: x]?"),
    ):
        content = {"type": "text", "text": text}
        puppet.update(f"{role}_message_chunk", "old", content=content)
    puppet.answer(asked, {})
    await loading
    said = [
        (message["role"], message["content"][0]["text"])
        for message in (await idle_editor.state())["messages"]
    ]
    assert said == [
        ("user", "Tidy up."),
        ("agent", "I look first. Done."),
        ("user", "What is a [Function Response: x]?"),
    ]


async def test_a_history_announces_nothing(editor: Editor, puppet: Puppet) -> None:
    _, loading = editor.start("acp.session.load", agentSessionId="old")
    asked = await puppet.incoming("session/load")
    puppet.update("current_mode_update", "old", currentModeId="ask")
    puppet.update("current_mode_update", "old", currentModeId="go")
    puppet.answer(asked, {"modes": {**MODES, "currentModeId": "go"}})
    await loading
    assert (await editor.state())["modes"]["currentModeId"] == "go"
    assert told(editor) == []


async def test_everything_beside_the_turns_is_shown(
    idle_editor: Editor, puppet: Puppet, ws: Path, settings: dict[str, Any]
) -> None:
    editor = idle_editor
    await editor.initialize(ws, settings=settings, can=capabilities(transcript=True))
    await editor.execute("acp.session.new")
    puppet.update("session_info_update", title="Rename it", updatedAt="2026-01-01T00:00:00Z")
    puppet.update("usage_update", used=5, size=100, cost={"amount": 0.1, "currency": "USD"})
    puppet.update("notice", severity="warning", title="Slow", description="very")
    puppet.update("compaction_update", compactionId="c", status="in_progress")
    text = {"type": "text", "text": "short"}
    puppet.update("compaction_summary_chunk", compactionId="c", content=text)
    puppet.update("compaction_update", compactionId="c", status="completed")
    entry = {"content": "one", "priority": "low", "status": "pending"}
    puppet.update("plan", entries=[entry])

    def blocks() -> dict[str, dict[str, Any]]:
        return {
            block["kind"]: block for one in editor.all("acp/transcript") for block in one["blocks"]
        }

    await editor.until(lambda: "plan" in blocks())
    found = blocks()
    assert found["status"]["title"] == "Rename it"
    assert found["status"]["usage"]["used"] == 5
    assert found["status"]["usage"]["cost"]["amount"] == 0.1
    assert (found["notice"]["title"], found["notice"]["description"]) == ("Slow", "very")
    assert found["compaction"]["status"] == "completed"
    assert found["compaction"]["summary"] == [text]
    assert found["plan"]["entries"] == [entry]
    state = await editor.state()
    assert (state["title"], state["updatedAt"]) == ("Rename it", "2026-01-01T00:00:00Z")
    assert state["usage"] == {"used": 5, "size": 100, "cost": {"amount": 0.1, "currency": "USD"}}
    assert await editor.nth("window/showMessage") == {
        "type": 2,
        "message": "puppet says: Slow: very",
    }


# --- MCP servers and folders ----------------------------------------------------------------------


async def test_mcp_servers_of_the_settings_and_of_the_command_are_passed_on(
    puppet: Puppet, ws: Path, settings: dict[str, Any]
) -> None:
    settings["mcpServers"] = {
        "files": {"command": "mcp-files", "args": ["/ws"], "env": {"A": "1"}},
        "web": {"type": "http", "url": "https://example.com/mcp", "headers": {"H": "v"}},
        "twice": {"command": "of-the-settings"},
    }
    given = [{"name": "twice", "command": "of-the-command"}]
    async with editing() as editor:
        await editor.initialize(ws, settings=settings)
        await editor.execute("acp.session.new", mcpServers=given)
        asked = await puppet.incoming("session/new")
        own = {"name": "twice", "command": "of-the-command", "args": [], "env": []}
        files = {
            "name": "files",
            "command": "mcp-files",
            "args": ["/ws"],
            "env": [{"name": "A", "value": "1"}],
        }
        assert asked["params"]["mcpServers"] == [own, files]
        # What the agent cannot take costs itself, and the user hears of it.
        assert any("web" in one and "mcpCapabilities.http" in one for one in told(editor))
        with pytest.raises(LspError, match=r"mcpCapabilities\.http"):
            await editor.execute("acp.session.new", mcpServers=[{"url": "https://x"}])
        await editor.execute("acp.agent.restart", agent="puppet")
        puppet.capabilities = {"loadSession": True, "mcpCapabilities": {"http": True}}
        puppet.answers["session/load"] = lambda params: {}
        await editor.execute("acp.session.load", agentSessionId="old")
        asked = await puppet.incoming("session/load")
        names = [server["name"] for server in asked["params"]["mcpServers"]]
        assert names == ["files", "web", "twice"]
        assert asked["params"]["mcpServers"][1]["headers"] == [{"name": "H", "value": "v"}]


@pytest.mark.parametrize("how", ["new", "load", "resume", "fork"])
async def test_more_folders_where_the_agent_takes_them(
    editor: Editor, puppet: Puppet, tmp_path: Path, how: str
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.txt").write_text("hello\n")
    argument = {} if how == "new" else {"agentSessionId": "old"}
    offered = {"resume": {}, "fork": {}}
    puppet.capabilities = {"loadSession": True, "sessionCapabilities": offered}
    with pytest.raises(LspError, match="additionalDirectories"):
        await editor.execute(f"acp.session.{how}", additionalDirectories=[str(other)], **argument)
    await editor.execute("acp.agent.restart", agent="puppet")
    offered["additionalDirectories"] = {}
    if how != "new":
        puppet.answers[f"session/{how}"] = lambda params: {"sessionId": "forked"}
    opened = await editor.execute(
        f"acp.session.{how}", additionalDirectories=[str(other)], **argument
    )
    asked = await puppet.incoming(f"session/{how}")
    assert asked["params"]["additionalDirectories"] == [str(other)]
    puppet.sessions.append(opened["agentSessionId"])
    read = await puppet.read(other / "a.txt")
    assert read["result"] == {"content": "hello\n"}
