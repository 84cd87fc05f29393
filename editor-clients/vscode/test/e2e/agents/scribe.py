"""An ACP agent that writes what it is told, for the tests of the review in VS Code.

A prompt is a JSON object of texts by path; null deletes a file, ``{"bytes": "..."}`` puts
something that is no text, both on the disk by itself. Of a list one text is written after the
other; a number in it is so many seconds to wait, and of two texts one takes the place of the other
in what the file says. It asks for nothing, and says why something could not be written.
"""

import base64
import json
import sys
import time
from itertools import count
from pathlib import Path
from typing import Any

IDS = count(1)


def send(message: dict[str, Any]) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


class Session:
    def __init__(self, cwd: str) -> None:
        self.id = f"session-{next(IDS)}"
        self.cwd = Path(cwd)

    def call(self, method: str, params: dict[str, Any]) -> Any:
        request = next(IDS)
        send({"id": request, "method": method, "params": {"sessionId": self.id, **params}})
        for line in sys.stdin:
            answer = json.loads(line)
            if answer.get("id") == request and "method" not in answer:
                if "error" in answer:
                    self.say(answer["error"]["message"])
                return answer.get("result")
        return None

    def update(self, **fields: Any) -> None:
        send({"method": "session/update", "params": {"sessionId": self.id, "update": fields}})

    def say(self, words: str) -> None:
        content = {"type": "text", "text": words}
        self.update(sessionUpdate="agent_message_chunk", content=content)

    def put(self, path: Path, content: str) -> None:
        self.call("fs/write_text_file", {"path": str(path), "content": content})

    def write(self, path: Path, text: Any) -> None:
        tool = f"call-{next(IDS)}"
        locations = [{"path": str(path), "line": 1}]
        self.update(
            sessionUpdate="tool_call",
            toolCallId=tool,
            title=f"Write {path.name}",
            kind="edit",
            status="in_progress",
            locations=locations,
        )
        if text is None:
            path.unlink()
        elif isinstance(text, dict):
            path.write_bytes(base64.b64decode(text["bytes"]))
        else:
            for content in text if isinstance(text, list) else [text]:
                if isinstance(content, int | float):
                    time.sleep(content)
                elif isinstance(content, list):
                    now = self.call("fs/read_text_file", {"path": str(path)})["content"]
                    self.put(path, now.replace(*content))
                else:
                    self.put(path, content)
        self.update(sessionUpdate="tool_call_update", toolCallId=tool, status="completed")


def serve() -> None:
    sessions: dict[str, Session] = {}
    for line in sys.stdin:
        message = json.loads(line)
        params = message.get("params", {})
        match message.get("method"):
            case "initialize":
                result: Any = {"protocolVersion": 1, "agentCapabilities": {}}
            case "session/new":
                session = Session(params["cwd"])
                sessions[session.id] = session
                result = {"sessionId": session.id}
            case "session/prompt":
                session = sessions[params["sessionId"]]
                for name, text in json.loads(params["prompt"][-1]["text"]).items():
                    session.write(session.cwd / name, text)
                result = {"stopReason": "end_turn"}
            case _:
                continue
        send({"id": message["id"], "result": result})


if __name__ == "__main__":
    serve()
