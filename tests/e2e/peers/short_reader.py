"""An agent that reads its input the way asyncio offers first: lines of at most 64 KiB.

It asks for the file that the prompt names. An answer on a longer line ends it with a
traceback, as it ends every agent that does not know of that limit.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any


def send(**message: Any) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def answer(request: dict[str, Any]) -> None:
    match request["method"]:
        case "initialize":
            result: dict[str, Any] = {"protocolVersion": 1}
        case "session/new":
            result = {"sessionId": "short"}
        case _:
            path = request["params"]["prompt"][0]["text"]
            params = {"sessionId": "short", "path": path}
            send(id="read", method="fs/read_text_file", params=params)
            return
    send(id=request["id"], result=result)


async def main() -> None:
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        message = json.loads(line)
        if "method" in message:
            answer(message)


if __name__ == "__main__":
    asyncio.run(main())
