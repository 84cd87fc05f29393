"""A peer for tests: does on stdout, stderr and exit whatever a request asks it to.

Run as a file, with the standard library alone. Methods: see the functions of DO.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any


def message(**fields: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **fields}).encode() + b"\n"


def update(text: str) -> bytes:
    return message(method="session/update", params={"text": text})


def echo(id_: Any, params: Any) -> bytes:
    """Answers with its parameters."""
    return message(id=id_, result=params)


def burst(id_: Any, params: Any) -> bytes:
    """Updates and then the answer, in one write."""
    updates = b"".join(update(str(number)) for number in range(params["updates"]))
    return updates + message(id=id_, result={"stopReason": "end_turn"}) + update("late")


def big(id_: Any, params: Any) -> bytes:
    """One update of so many bytes, then the answer."""
    empty = len(update("")) - 1
    return update("x" * (params["bytes"] - empty)) + message(id=id_, result=None)


def grumble(id_: Any, params: Any) -> bytes:
    """So many bytes on stderr, with or without newlines, before the answer."""
    piece = b"e" * 99 + (b"\n" if params["lines"] else b"e")
    left = params["bytes"]
    while left > 0:
        left -= os.write(2, (piece * 100)[:left])
    return message(id=id_, result=None)


def say(id_: Any, params: Any) -> bytes:
    """The given lines, then the answer."""
    return "".join(line + "\n" for line in params["lines"]).encode() + message(id=id_, result=None)


def die(id_: Any, params: Any) -> bytes:
    """Last words on stderr, then the end, without an answer."""
    sys.stderr.write(params["words"])
    sys.stderr.flush()
    os._exit(params["status"])


def last_line(id_: Any, params: Any) -> bytes:
    """The answer without a newline, then the end."""
    os.write(1, message(id=id_, result=params).rstrip())
    os._exit(0)


def nothing(id_: Any, params: Any) -> bytes:
    """No answer."""
    return b""


DO = {
    function.__name__: function
    for function in (echo, burst, big, grumble, say, die, last_line, nothing)
}


def main() -> None:
    for line in sys.stdin.buffer:
        request = json.loads(line)
        act = DO.get(request.get("method"))
        if act is not None and "id" in request:
            data = memoryview(act(request["id"], request.get("params")))
            while data:
                data = data[os.write(1, data) :]


if __name__ == "__main__":
    main()
