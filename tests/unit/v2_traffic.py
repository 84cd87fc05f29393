"""Version 2 traffic for tests: any updates of a session, and what they should come to."""

from __future__ import annotations

import base64
import codecs
from typing import Any

from hypothesis import strategies as st

Json = Any
IDS = st.sampled_from(["a", "b", "c"])
WORDS = st.text(alphabet="xyz é", max_size=4)
RAW = st.sampled_from([0, False, "", "raw", {}, {"k": 1}, [1]])
META = st.dictionaries(st.sampled_from(["p", "q"]), st.sampled_from([None, 1, {"n": 1}]))
ANYTHING = st.sampled_from([{"type": "_odd", "x": 1}, {"type": "hologram", "y": None}])
TEXT = st.builds(lambda text: {"type": "text", "text": text}, WORDS)
IMAGE = st.just({"type": "image", "data": "AAAA", "mimeType": "image/png"})
BLOCKS = TEXT | IMAGE | ANYTHING
DIFF = st.builds(
    lambda path, operation: {
        "type": "diff",
        "changes": [{"operation": operation, "path": f"/ws/{path}"}],
    },
    IDS,
    st.sampled_from(["add", "modify", "delete"]),
)
PIECES = (
    st.builds(lambda block: {"type": "content", "content": block}, BLOCKS)
    | DIFF
    | st.builds(lambda each: {"type": "terminal", "terminalId": each}, IDS)
    | ANYTHING
)
LOCATIONS = st.builds(lambda path, line: {"path": f"/ws/{path}", "line": line}, IDS, st.just(3))
STATUSES = st.sampled_from(
    ["pending", "in_progress", "paused", "completed", "failed", "cancelled", "_odd"]
)
CAPABILITIES = st.sampled_from([{}, {"cancel": {}}])


def patched(required: dict[str, Any], fields: dict[str, Any]) -> st.SearchStrategy[Json]:
    """An update whose fields are each left out, null or a value."""
    optional = {key: st.none() | strategy for key, strategy in fields.items()}
    return st.fixed_dictionaries(required, optional=optional)


def _kind(name: str) -> st.SearchStrategy[str]:
    return st.just(name)


TOOL_CALLS = patched(
    {"sessionUpdate": _kind("tool_call_update"), "toolCallId": IDS},
    {
        "title": WORDS,
        "name": WORDS,
        "kind": st.sampled_from(["edit", "read", "_odd"]),
        "status": STATUSES,
        "content": st.lists(PIECES, max_size=3),
        "locations": st.lists(LOCATIONS, max_size=2),
        "rawInput": RAW,
        "rawOutput": RAW,
        "capabilities": CAPABILITIES,
        "_meta": META,
    },
)
CONTENT_CHUNKS = st.fixed_dictionaries(
    {"sessionUpdate": _kind("tool_call_content_chunk"), "toolCallId": IDS, "content": PIECES},
    optional={"_meta": META},
)
MESSAGES = patched(
    {
        "sessionUpdate": st.sampled_from(["user_message", "agent_message", "agent_thought"]),
        "messageId": IDS,
    },
    {"content": st.lists(BLOCKS, max_size=3), "_meta": META},
)
MESSAGE_CHUNKS = st.fixed_dictionaries(
    {
        "sessionUpdate": st.sampled_from(
            ["user_message_chunk", "agent_message_chunk", "agent_thought_chunk"]
        ),
        "messageId": IDS,
        "content": BLOCKS,
    },
    optional={"_meta": META},
)
BYTES = st.sampled_from([b"", b"out", "é".encode()[:1], "é".encode()[1:], b"\xff", b"\n"])
DATA = BYTES.map(lambda data: base64.b64encode(data).decode())
TERMINALS = patched(
    {"sessionUpdate": _kind("terminal_update"), "terminalId": IDS},
    {
        "command": WORDS,
        "cwd": st.just("/ws"),
        "output": DATA.map(lambda data: {"data": data}),
        "exitStatus": st.sampled_from([{}, {"exitCode": 0}, {"signal": "SIGTERM"}]),
        "size": st.just({"cols": 80, "rows": 24}),
        "capabilities": CAPABILITIES,
        "_meta": META,
    },
)
OUTPUT = st.fixed_dictionaries(
    {"sessionUpdate": _kind("terminal_output_chunk"), "terminalId": IDS, "data": DATA}
)
PLAN_ENTRIES = st.builds(
    lambda content, priority, status: {
        "content": content,
        "priority": priority,
        "status": status,
    },
    WORDS,
    st.sampled_from(["high", "low", "_odd"]),
    st.sampled_from(["pending", "completed", "cancelled", "_odd"]),
)
PLANS = st.builds(
    lambda plan: {"sessionUpdate": "plan_update", "plan": plan},
    st.builds(
        lambda plan_id, entries: {"type": "items", "planId": plan_id, "entries": entries},
        IDS,
        st.lists(PLAN_ENTRIES, max_size=3),
    )
    | st.builds(lambda plan_id: {"type": "_odd", "planId": plan_id, "tree": [1]}, IDS),
)
BACKGROUND = st.lists(
    st.builds(lambda each: {"type": "tool_call", "toolCallId": each}, IDS)
    | st.builds(lambda each: {"type": "terminal", "terminalId": each}, IDS)
    | ANYTHING,
    max_size=2,
)
STATES = st.fixed_dictionaries(
    {"sessionUpdate": _kind("state_update")},
    optional={"background": st.none() | BACKGROUND},
).flatmap(
    lambda update: (
        st.sampled_from(["running", "requires_action", "_odd"]).map(
            lambda state: {**update, "state": state}
        )
        | st.sampled_from(["end_turn", "cancelled", "_odd", None]).map(
            lambda reason: {**update, "state": "idle", "stopReason": reason}
        )
    )
)
INFOS = patched(
    {"sessionUpdate": _kind("session_info_update")},
    {"title": WORDS, "updatedAt": WORDS, "_meta": META},
)
USAGE = patched(
    {
        "sessionUpdate": _kind("usage_update"),
        "used": st.integers(0, 9),
        "size": st.integers(0, 9),
    },
    {"cost": st.just({"amount": 0.5, "currency": "USD"})},
)
COMPACTIONS = patched(
    {
        "sessionUpdate": _kind("compaction_update"),
        "compactionId": IDS,
        "status": st.sampled_from(["in_progress", "completed", "_odd"]),
    },
    {"summary": st.lists(BLOCKS, max_size=2), "error": WORDS, "_meta": META},
)
SUMMARY_CHUNKS = st.fixed_dictionaries(
    {
        "sessionUpdate": _kind("compaction_summary_chunk"),
        "compactionId": IDS,
        "content": BLOCKS,
    }
)
UNKNOWN = st.sampled_from([{"sessionUpdate": "_odd", "x": 1}, {"sessionUpdate": "telepathy"}])
UPDATES = st.one_of(
    TOOL_CALLS,
    CONTENT_CHUNKS,
    MESSAGES,
    MESSAGE_CHUNKS,
    TERMINALS,
    OUTPUT,
    PLANS,
    STATES,
    INFOS,
    USAGE,
    COMPACTIONS,
    SUMMARY_CHUNKS,
    UNKNOWN,
)

# --- what it comes to ---------------------------------------------------------------------------


class Expected:
    """The prose of the schema, as plainly as it can be written: JSON in, JSON out."""

    def __init__(self) -> None:
        self.messages: dict[str, Json] = {}
        self.calls: dict[str, Json] = {}
        self.terminals: dict[str, Json] = {}
        self.plans: dict[str, Json] = {}
        self.compactions: dict[str, Json] = {}
        self.info: Json = {"title": None, "updatedAt": None, "_meta": None}
        self.usage: Json = None
        self.status, self.stop_reason, self.background = "idle", None, None

    def take(self, update: Json) -> None:
        kind = update["sessionUpdate"]
        take = getattr(self, f"_{kind}", None)
        if take is not None:
            take(update)
        elif "message" in kind or "thought" in kind:
            self._message(update)

    def _message(self, update: Json) -> None:
        kind = update["sessionUpdate"]
        key = kind.removesuffix("_chunk") + ":" + update["messageId"]
        message = self.messages.setdefault(key, {"content": [], "_meta": None})
        if kind.endswith("_chunk"):
            message["content"] = [*message["content"], update["content"]]
        else:
            _patch(message, update, {"content": []})

    def _tool_call_update(self, update: Json) -> None:
        _patch(self._call(update), update, CALL)

    def _tool_call_content_chunk(self, update: Json) -> None:
        call = self._call(update)
        call["content"] = [*call["content"], update["content"]]

    def _call(self, update: Json) -> Json:
        return self.calls.setdefault(update["toolCallId"], {**CALL, "_meta": None})

    def _terminal_update(self, update: Json) -> None:
        terminal = self._terminal(update)
        if "output" in update:
            data = update["output"]["data"] if update["output"] else ""
            terminal["bytes"] = [base64.b64decode(data)]
        _patch(terminal, update, TERMINAL)

    def _terminal_output_chunk(self, update: Json) -> None:
        terminal = self._terminal(update)
        terminal["bytes"] = [*terminal["bytes"], base64.b64decode(update["data"])]

    def _terminal(self, update: Json) -> Json:
        new = {**TERMINAL, "_meta": None, "bytes": []}
        return self.terminals.setdefault(update["terminalId"], new)

    def _plan_update(self, update: Json) -> None:
        self.plans[update["plan"]["planId"]] = update["plan"]

    def _state_update(self, update: Json) -> None:
        # Of a state that is not known nothing is understood but its name.
        known = ("idle", "running", "requires_action")
        self.background = update.get("background") if update["state"] in known else None
        idle = update["state"] == "idle"
        if idle or self.status == "idle":
            self.stop_reason = update.get("stopReason")
        self.status = update["state"] if update["state"] in known else "running"

    def _session_info_update(self, update: Json) -> None:
        _patch(self.info, update, {"title": None, "updatedAt": None})

    def _usage_update(self, update: Json) -> None:
        cost = update["cost"] if "cost" in update else (self.usage or {}).get("cost")
        self.usage = {"used": update["used"], "size": update["size"], "cost": cost}

    def _compaction_update(self, update: Json) -> None:
        compaction = self._compaction(update)
        _patch(compaction, update, {"status": "in_progress", "summary": [], "error": None})

    def _compaction_summary_chunk(self, update: Json) -> None:
        compaction = self._compaction(update)
        compaction["summary"] = [*compaction["summary"], update["content"]]

    def _compaction(self, update: Json) -> Json:
        new = {"status": "in_progress", "summary": [], "error": None, "_meta": None}
        return self.compactions.setdefault(update["compactionId"], new)


CALL: Json = {
    "title": None,
    "name": None,
    "kind": "other",
    "status": "pending",
    "content": [],
    "locations": [],
    "rawInput": None,
    "rawOutput": None,
    "capabilities": None,
}
TERMINAL: Json = {
    "command": None,
    "cwd": None,
    "exitStatus": None,
    "size": None,
    "capabilities": None,
}


def _patch(stored: Json, update: Json, defaults: Json) -> None:
    for key, default in defaults.items():
        if key in update:
            stored[key] = default if update[key] is None else update[key]
    if "_meta" in update:
        laid = {**(stored["_meta"] or {}), **(update["_meta"] or {})}
        kept = {key: value for key, value in laid.items() if value is not None}
        stored["_meta"] = (kept or None) if update["_meta"] is not None else None


def merged(blocks: list[Json]) -> list[Json]:
    """Adjacent texts read as one, as the state has them."""
    shown: list[Json] = []
    for block in blocks:
        if shown and block["type"] == shown[-1]["type"] == "text":
            shown[-1] = {**block, "text": shown[-1]["text"] + block["text"]}
        else:
            shown.append(block)
    return shown


def decoded(pieces: list[bytes], ended: bool) -> str:
    """Output as text. At the end half a character stays half, until then it is waited for."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    return decoder.decode(b"".join(pieces), final=ended)
