"""An ACP agent that asks, and withdraws the question when it is told to, for the tests in VS Code.

It is told by a file ``withdraw`` in its folder.
"""

import json
import sys
import threading
import time
from pathlib import Path
from typing import Any

CALL = {"toolCallId": "t", "title": "A question to be withdrawn", "kind": "other"}
OPTIONS = [
    {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
    {"optionId": "no", "name": "No", "kind": "reject_once"},
]
TOLD = Path("withdraw")


def send(message: dict[str, Any]) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def ask() -> None:
    update = {"sessionUpdate": "tool_call", "status": "pending", **CALL}
    send({"method": "session/update", "params": {"sessionId": "one", "update": update}})
    params = {"sessionId": "one", "toolCall": CALL, "options": OPTIONS}
    send({"id": "ask", "method": "session/request_permission", "params": params})


def withdraw(prompt: Any) -> None:
    while not TOLD.exists():
        time.sleep(0.05)
    send({"method": "$/cancel_request", "params": {"requestId": "ask"}})
    send({"id": prompt, "result": {"stopReason": "end_turn"}})


def serve() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        match message.get("method"):
            case "initialize":
                result: Any = {"protocolVersion": 1, "agentCapabilities": {}}
            case "session/new":
                result = {"sessionId": "one"}
            case "session/prompt":
                ask()
                threading.Thread(target=withdraw, args=[message["id"]], daemon=True).start()
                continue
            case _:
                continue
        send({"id": message["id"], "result": result})


if __name__ == "__main__":
    serve()
