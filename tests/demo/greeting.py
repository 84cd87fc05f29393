"""The file that the demo agent edits, and a client that gives it to the agent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.demo.driver import Driver

GREETING = '''"""Greets people by name."""


def greet(name):
    return "Hello " + name


for name in ("Ada", "Grace", "Linus"):
    print(greet(name))
'''


def serve_files(message: dict[str, Any], driver: Driver) -> None:
    """Answers a file request from the disk, as a client does."""
    params = message.get("params") or {}
    if message.get("method") == "fs/read_text_file":
        path = Path(params["path"])
        if not path.exists():
            error = {"code": -32002, "message": f"No such file: {path}"}
            driver.send({"id": message["id"], "error": error})
            return
        lines = path.read_text().splitlines(keepends=True)
        start = params.get("line", 1) - 1
        content = "".join(lines[start : start + params.get("limit", len(lines))])
        driver.send({"id": message["id"], "result": {"content": content}})
    elif message.get("method") == "fs/write_text_file":
        Path(params["path"]).write_text(params["content"])
        driver.send({"id": message["id"], "result": {}})
