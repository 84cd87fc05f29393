"""What the demo agent shows to try a client's drawing: Markdown, a form, and what it got."""

from __future__ import annotations

import base64
import binascii
from typing import Final

from acp_sidecar.demo.peer import Json

SHOWN: Final = """# What a client has to draw

Some *emphasis*, some **strength**, some `code`, and [a link](https://agentclientprotocol.com).

## A list

1. first
2. second
   - with a point below it
   - and another

## A table

| file | lines | changed |
|---|---:|:---:|
| `greeting.py` | 13 | yes |
| `README.md` | 3 | no |

## Code in two languages

```python
def greet(name: str) -> str:
    return f"Good morning, {name}!"
```

```typescript
const greet = (name: string): string => `Good morning, ${name}!`;
```

> What follows is no markup. A client shows it as the text that it is:

<img src=x onerror="document.title='owned'"> <script>document.title='owned'</script>
[a script](javascript:document.title='owned')

The end."""

FORM: Final[Json] = {
    "type": "object",
    "required": ["name", "greeting"],
    "properties": {
        "name": {"type": "string", "title": "Name", "minLength": 1, "maxLength": 40},
        "greeting": {
            "type": "string",
            "title": "Greeting",
            "oneOf": [
                {"const": "morning", "title": "Good morning"},
                {"const": "hello", "title": "Hello"},
            ],
            "default": "hello",
        },
        "times": {"type": "integer", "title": "How often", "minimum": 1, "maximum": 5},
        "loud": {"type": "boolean", "title": "Loudly", "default": False},
        "days": {
            "type": "array",
            "title": "Days",
            "items": {"type": "string", "enum": ["Monday", "Wednesday", "Friday"]},
        },
    },
}


def picture(block: Json) -> str | None:
    """Type and size of the picture in a block of a prompt; None where there is none."""
    if not isinstance(block, dict) or block.get("type") != "image":
        return None
    kind, data = block.get("mimeType"), block.get("data")
    try:
        decoded = base64.b64decode(data, validate=True) if isinstance(data, str) else b""
    except (ValueError, binascii.Error):
        return f"{kind}, which is not base64"
    size = f"{kind}, {len(decoded)} bytes"
    if decoded.startswith(b"\x89PNG\r\n\x1a\n") and decoded[12:16] == b"IHDR":
        width, height = (int.from_bytes(decoded[at : at + 4]) for at in (16, 20))
        size += f", {width} × {height} pixels"
    return size
