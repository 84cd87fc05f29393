"""The scripted model by itself: what agents send it, and what they get."""

from __future__ import annotations

import asyncio
import json
import urllib.error
import urllib.request
from typing import Any

import pytest

from tests.real_agents import install
from tests.real_agents.lab.model import Model
from tests.real_agents.lab.script import Answer, Edit, Plan, Read, Run, doing

TOOLS = {
    "edit": ["filePath", "oldString", "newString", "replaceAll"],
    "bash": ["command", "timeout", "description"],
    "replace": ["file_path", "old_string", "new_string", "instruction"],
    "run_shell_command": ["command", "description", "dir_path"],
}


def schema(name: str) -> dict[str, Any]:
    return {"type": "object", "properties": {field: {} for field in TOOLS[name]}}


async def post(port: int, path: str, body: dict[str, Any]) -> list[dict[str, Any]]:
    """What a model service answers: the events, or the one answer."""

    def ask() -> str:
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}{path}", json.dumps(body).encode()
        )
        with urllib.request.urlopen(request, timeout=20) as response:
            text: str = response.read().decode()
        return text

    text = await asyncio.to_thread(ask)
    if not text.startswith("data: "):
        return [json.loads(text)]
    events = [line.removeprefix("data: ") for line in text.splitlines() if line]
    return [json.loads(event) for event in events if event != "[DONE]"]


class Chat:
    """An agent that speaks Chat Completions."""

    def __init__(self, port: int, *tools: str) -> None:
        self.port = port
        self.tools = [
            {"type": "function", "function": {"name": name, "parameters": schema(name)}}
            for name in tools
        ]
        self.messages: list[dict[str, Any]] = [{"role": "system", "content": "Be nice."}]

    async def goes_on(self, role: str, content: Any) -> tuple[str, list[tuple[str, Any]]]:
        """Say this; what the model says, and the tools it uses."""
        self.messages.append({"role": role, "content": content})
        body = {"messages": self.messages, "tools": self.tools, "stream": True}
        events = await post(self.port, "/v1/chat/completions", body)
        self.messages.append({"role": "assistant", "content": "…"})
        deltas = [choice["delta"] for event in events for choice in event["choices"]]
        calls: dict[int, list[str]] = {}
        for delta in deltas:
            for call in delta.get("tool_calls", ()):
                function = call["function"]
                calls.setdefault(call["index"], [function.get("name", ""), ""])
                calls[call["index"]][1] += function["arguments"]
        said = "".join(delta.get("content") or "" for delta in deltas)
        return said, [(name, json.loads(arguments)) for name, arguments in calls.values()]


async def test_a_script_is_played_answer_by_answer(model: Model, port: int) -> None:
    model.on("Improve it.", doing(Edit("/ws/a", "one", "two"), say="So."), Answer("Done."))
    chat = Chat(port, "edit", "bash")
    arguments = {"filePath": "/ws/a", "oldString": "one", "newString": "two"}
    assert await chat.goes_on("user", "Improve it.") == ("So.", [("edit", arguments)])
    assert await chat.goes_on("tool", "Edited.") == ("Done.", [])
    assert await chat.goes_on("user", "Improve it. Again.") == ("So.", [("edit", arguments)])
    assert await chat.goes_on("tool", "Edited.") == ("Done.", [])
    assert await chat.goes_on("tool", "And more?") == ("That is all.", [])
    assert [conversation.texts("tool")[-1:] for conversation in model.heard] == [
        *([], ["Edited."], ["Edited."], ["Edited."], ["And more?"])
    ]


async def test_the_last_prompt_wins(model: Model, port: int) -> None:
    model.on("First.", Answer("one"))
    model.on("Second.", Answer("two"))
    chat = Chat(port, "bash")
    assert (await chat.goes_on("user", "First."))[0] == "one"
    parts = [{"type": "text", "text": "First."}, {"type": "text", "text": "Second."}]
    assert (await chat.goes_on("user", parts))[0] == "two"


async def test_requests_without_tools_are_no_part_of_it(model: Model, port: int) -> None:
    model.on("First.", Answer("one"))
    assert (await Chat(port).goes_on("user", "First."))[0] == "A scripted title"
    assert model.heard == []


async def test_the_other_interface_gets_the_same(model: Model, port: int) -> None:
    command = Run("echo 1")
    model.on("Go.", Answer("So.", [command, Edit("/ws/a", "one", "two")], think="Hm."))
    functions = [
        {"name": name, "parametersJsonSchema": schema(name)}
        for name in ("replace", "run_shell_command")
    ]
    body = {
        "contents": [
            {"role": "user", "parts": [{"text": "Some context."}]},
            {"role": "model", "parts": [{"text": "I see."}]},
            {"role": "user", "parts": [{"text": "Go."}]},
        ],
        "tools": [{"functionDeclarations": functions}],
    }
    path = "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse"
    events = await post(port, path, body)
    parts = [part for event in events for part in event["candidates"][0]["content"]["parts"]]
    assert parts[0] == {"text": "**Thinking** Hm.", "thought": True}
    assert "".join(part.get("text", "") for part in parts[1:]) == "So."
    calls = [part["functionCall"] for part in parts if "functionCall" in part]
    assert [call["name"] for call in calls] == ["run_shell_command", "replace"]
    assert calls[0]["args"]["command"] == "echo 1"
    assert calls[1]["args"].items() >= {"old_string": "one", "new_string": "two"}.items()
    assert events[-1]["candidates"][0]["finishReason"] == "STOP"


async def test_an_answer_of_a_wanted_form_has_it(model: Model, port: int) -> None:
    form = {
        "type": "object",
        "properties": {
            "next": {"type": "string", "enum": ["user", "model"]},
            "n": {"type": "integer"},
        },
    }
    config = {"responseMimeType": "application/json", "responseJsonSchema": form}
    body = {"contents": [{"role": "user", "parts": [{"text": "?"}]}], "generationConfig": config}
    (answer,) = await post(port, "/v1beta/models/x:generateContent", body)
    text = answer["candidates"][0]["content"]["parts"][0]["text"]
    assert json.loads(text) == {"next": "user", "n": 0}


async def test_a_script_that_asks_too_much_is_a_fault_of_the_test(model: Model, port: int) -> None:
    model.on("Go.", doing(Plan((("Do it", "pending"),)), Read("/ws/a")))
    with pytest.raises(urllib.error.HTTPError):
        await Chat(port, "bash").goes_on("user", "Go.")
    (fault,) = model.faults
    assert "no tool for Plan among bash" in fault


def test_agents_that_are_not_there_are_said_to_be(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(install, "_DONE", tmp_path / "installed.json")
    assert "make test-agents" in str(install.missing())
    (tmp_path / "installed.json").write_text("{}")
    assert "other versions" in str(install.missing())


def test_an_install_that_fails_says_so(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(install, "FOLDER", tmp_path)
    monkeypatch.setattr(install, "_DONE", tmp_path / "installed.json")
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:9/")
    monkeypatch.setenv("npm_config_fetch_retries", "0")
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "cache"))
    assert install.main() == 1
    assert "The agents cannot be installed" in capsys.readouterr().err
    assert not (tmp_path / "installed.json").exists()
