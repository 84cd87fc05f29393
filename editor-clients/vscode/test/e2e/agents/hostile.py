"""An ACP agent that writes whatever might be taken for something else, for the tests in VS Code."""

import json
import sys
from typing import Any

LINK = "[Fix it](command:workbench.action.closeActiveEditor)"
EVIL = f"$(check) safe\u202egnp.exe {LINK}\nsecond line"
MODES = {
    "currentModeId": "m",
    "availableModes": [
        {"id": "m", "name": EVIL, "description": EVIL},
        {"id": "n", "name": "Plain"},
    ],
}
OPTIONS = [
    {"optionId": "a", "name": "Reject", "kind": "allow_once"},
    {"optionId": "b", "name": "Reject", "kind": "reject_once"},
    {"optionId": "c", "name": f"$(x) {LINK}", "kind": "allow_always"},
    {"optionId": "d", "name": "", "kind": "other"},
    {"optionId": "a", "name": "Allow all", "kind": "allow_always"},
    {"optionId": "", "name": "No id", "kind": "allow_once"},
]


def send(message: dict[str, Any]) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def update(kind: str, /, **fields: Any) -> None:
    params = {"sessionId": "one", "update": {"sessionUpdate": kind, **fields}}
    send({"method": "session/update", "params": params})


def say(text: str) -> None:
    update("agent_message_chunk", content={"type": "text", "text": text})


def prompted(text: str) -> str | None:
    """Do what the prompt says; give the error to answer with."""
    if "fail" in text:
        return f"Out of luck. {EVIL}"
    call: dict[str, Any] = {"toolCallId": "t", "title": EVIL, "kind": "execute"}
    if "tools" in text:
        deep: Any = "x" * 1_000_000
        for _ in range(100):
            deep = [deep]
        places = [{"path": "/dev/zero"}, {"path": "/etc/../dev/zero", "line": 0}]
        update("session_info_update", title=EVIL)
        update("tool_call", **call, status="in_progress", locations=places, rawInput=deep)
        entries = [
            {"content": f"{n} {EVIL}", "priority": "low", "status": "pending"} for n in range(1000)
        ]
        update("plan", entries=entries)
        for _ in range(30_000):
            say("ab")
        say("\n\n[zero](/dev/zero) [run](command:workbench.action.quit) ![x](http://127.0.0.1:9/x)")
        say("\n\nAll of it.")
        return None
    update("tool_call", **call, status="pending")
    params = {"sessionId": "one", "toolCall": call, "options": OPTIONS}
    send({"id": "ask", "method": "session/request_permission", "params": params})
    return None


def serve() -> None:
    prompt = None
    for line in sys.stdin:
        message = json.loads(line)
        match message.get("method"):
            case "initialize":
                result: Any = {"protocolVersion": 1, "agentCapabilities": {}}
            case "session/new":
                result = {"sessionId": "one", "modes": MODES}
            case "session/prompt":
                text = message["params"]["prompt"][0].get("text", "")
                error = prompted(text)
                if error is not None:
                    send({"id": message["id"], "error": {"code": -32000, "message": error}})
                    continue
                if "ask" in text:
                    prompt = message["id"]
                    continue
                result = {"stopReason": "end_turn"}
            case None if message.get("id") == "ask":
                say(f"It was {json.dumps(message.get('result'))}.")
                result, message["id"] = {"stopReason": "end_turn"}, prompt
            case _:
                continue
        send({"id": message["id"], "result": result})


if __name__ == "__main__":
    serve()
