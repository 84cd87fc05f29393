"""An ACP agent that lists sessions and deletes them, for the tests in VS Code.

What it has deleted it notes in the file ``deleted.txt`` of its folder.
"""

import json
import sys
from pathlib import Path
from typing import Any

DELETED = Path("deleted.txt")
ROWS = {"one": "Mend the door", "two": "Paint the fence"}
CAPABILITIES = {"loadSession": True, "sessionCapabilities": {"list": {}, "delete": {}}}


def deleted() -> list[str]:
    return DELETED.read_text().split() if DELETED.exists() else []


def answer(method: str, params: dict[str, Any]) -> Any:
    match method:
        case "initialize":
            return {"protocolVersion": 1, "agentCapabilities": CAPABILITIES}
        case "session/list":
            gone = deleted()
            return {
                "sessions": [
                    {"sessionId": key, "cwd": params["cwd"], "title": title}
                    for key, title in ROWS.items()
                    if key not in gone
                ]
            }
        case "session/delete":
            DELETED.write_text(" ".join([*deleted(), params["sessionId"]]))
    return {}


if __name__ == "__main__":
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message and "method" in message:
            result = answer(message["method"], message.get("params", {}))
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
