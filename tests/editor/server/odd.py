"""A value in which everything is odd that a reader by types would change or drop."""

from __future__ import annotations

from typing import Any

ODD: dict[str, Any] = {
    "jsonrpc": "2.0",
    "relayed": {"jsonrpc": "2.0", "id": 1, "method": "session/update", "params": {"_meta": {}}},
    "response": [{"jsonrpc": "2.0", "id": 7, "error": {"code": 1, "message": "m"}}],
    "a-b": 1,
    "class": 2,
    "_x": 3,
    "type_name": "Kept",
    "": None,
    "big": 2**80,
    "small": -(2**70),
    "float": 1.5,
    "text": "é😀\u2028\x00\f",
}
