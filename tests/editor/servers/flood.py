"""Sends far more than its client reads.

The commands: ``flood`` sends ``megabytes`` in notifications, droppable with ``key``.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

from acp_sidecar.editor.ending import leave
from acp_sidecar.editor.server import SidecarServer

notes = Path(sys.argv[1])
server = SidecarServer()


async def flood(argument: dict[str, Any]) -> dict[str, Any]:
    chunk = "x" * 10_000
    for number in range(argument["megabytes"] * 100):
        server.notify_json(
            "acp/transcript", {"number": number, "text": chunk}, droppable=argument.get("key")
        )
        await asyncio.sleep(0)
    waiting = server.protocol.outbox.waiting_bytes
    notes.write_text(f"flooded\nwaiting {waiting}\n")
    return {"waiting": waiting, "congested": server.congested}


async def flood_when_writable(argument: dict[str, Any]) -> int:
    chunk = "x" * 10_000
    for number in range(argument["megabytes"] * 100):
        await server.writable()
        server.notify_json("acp/transcript", {"number": number, "text": chunk})
    return server.protocol.outbox.waiting_bytes


server.command("flood", flood)
server.command("flood_when_writable", flood_when_writable)
server.command("big", lambda argument: "y" * argument["bytes"])
server.command("length", lambda argument: len(argument["text"]))

if __name__ == "__main__":
    leave(server.run())
