"""An ACP agent that writes what it is told, for the tests of the review in VS Code.

A prompt is a JSON object of texts by path; null deletes a file, and ``{"bytes": "..."}`` puts
something that is no text, both on the disk by itself. It asks for nothing.
"""

import base64
import json
import sys
from itertools import count
from pathlib import Path
from typing import Any

IDS = count(1)


def send(message: dict[str, Any]) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def call(method: str, params: dict[str, Any]) -> None:
    request = next(IDS)
    send({"id": request, "method": method, "params": {"sessionId": "one", **params}})
    for line in sys.stdin:
        if json.loads(line).get("id") == request:
            return


def update(**fields: Any) -> None:
    send({"method": "session/update", "params": {"sessionId": "one", "update": fields}})


def write(path: Path, text: Any) -> None:
    tool = f"call-{next(IDS)}"
    locations = [{"path": str(path), "line": 1}]
    update(
        sessionUpdate="tool_call",
        toolCallId=tool,
        title=f"Write {path.name}",
        kind="edit",
        status="in_progress",
        locations=locations,
    )
    if isinstance(text, str):
        call("fs/write_text_file", {"path": str(path), "content": text})
    elif text is None:
        path.unlink()
    else:
        path.write_bytes(base64.b64decode(text["bytes"]))
    update(sessionUpdate="tool_call_update", toolCallId=tool, status="completed")


def serve() -> None:
    cwd = Path()
    for line in sys.stdin:
        message = json.loads(line)
        params = message.get("params", {})
        match message.get("method"):
            case "initialize":
                result: Any = {"protocolVersion": 1, "agentCapabilities": {}}
            case "session/new":
                cwd = Path(params["cwd"])
                result = {"sessionId": "one"}
            case "session/prompt":
                for name, text in json.loads(params["prompt"][0]["text"]).items():
                    write(cwd / name, text)
                result = {"stopReason": "end_turn"}
            case _:
                continue
        send({"id": message["id"], "result": result})


if __name__ == "__main__":
    serve()
