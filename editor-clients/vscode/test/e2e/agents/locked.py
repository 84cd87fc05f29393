"""An ACP agent that lets nobody in before a login in a terminal, for the tests in VS Code.

``python locked.py`` is the agent, ``python locked.py --login`` its login: it asks for a code and
makes ``~/.locked-key`` when it is told ``42``. In a session it asks for a form at each prompt, and
writes what it gets to ``~/.locked-answer``.
"""

import json
import sys
from pathlib import Path
from typing import Any

KEY = Path.home() / ".locked-key"
ANSWER = Path.home() / ".locked-answer"
LOGIN = {"id": "tty", "name": "Code", "type": "terminal", "args": ["--login"]}
FORM = {
    "type": "object",
    "required": ["branch"],
    "properties": {
        "branch": {"type": "string", "title": "Branch", "enum": ["main", "next"]},
        "note": {"type": "string", "title": "Note", "minLength": 3},
    },
}


def log_in() -> int:
    code = input("The code, please: ")
    if code != "42":
        print(f"{code} is not the code.")
        return 3
    KEY.touch()
    return 0


def send(message: dict[str, Any]) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def serve() -> None:
    prompt = None
    for line in sys.stdin:
        message = json.loads(line)
        match message.get("method"):
            case "initialize":
                result: Any = {
                    "protocolVersion": 1,
                    "agentCapabilities": {"auth": {"logout": {}}},
                    "authMethods": [LOGIN],
                }
            case "session/new" if KEY.exists():
                result = {"sessionId": "one"}
            case "session/new":
                error = {"code": -32000, "message": "Authentication required"}
                send({"id": message["id"], "error": error})
                continue
            case "session/prompt":
                prompt = message["id"]
                params = {
                    "sessionId": "one",
                    "mode": "form",
                    "message": "Which branch?",
                    "requestedSchema": FORM,
                }
                send({"id": "form", "method": "elicitation/create", "params": params})
                continue
            case "logout":
                KEY.unlink(missing_ok=True)
                result = {}
            case None if message.get("id") == "form":
                ANSWER.write_text(json.dumps(message.get("result")), encoding="utf-8")
                send({"id": prompt, "result": {"stopReason": "end_turn"}})
                continue
            case _:
                continue
        send({"id": message["id"], "result": result})


if __name__ == "__main__":
    if "--login" in sys.argv:
        sys.exit(log_in())
    serve()
