"""Tool calls: how they come up, go on and are closed."""

from __future__ import annotations

from typing import Any

import pytest

from acp_sidecar.acp import model, v1
from acp_sidecar.session.change import ToolCallChanged

from .session_world import World


def calls(world: World) -> list[tuple[str, str, str | None]]:
    """Id, status and who closed it, of each call that is shown."""
    return [(c["toolCallId"], c["status"], c["closedBy"]) for c in world.json["toolCalls"]]


@pytest.mark.parametrize(
    ("raw_input", "command"),
    [
        ({"command": "make test && echo 'done'"}, "make test && echo 'done'"),
        ({"cmd": ["git", "commit", "-m", "Greet politely"]}, "git commit -m 'Greet politely'"),
        ({"command": ["echo", "it's", ""], "cwd": "/ws"}, "echo 'it'\"'\"'s' ''"),
        ({"command": " ", "cmd": "ls"}, "ls"),
        ({"command": ["ls", 1]}, None),
        ({"path": "/ws/a"}, None),
        ("ls", None),
        (None, None),
    ],
)
def test_a_call_tells_the_command_line_of_its_input(raw_input: Any, command: str | None) -> None:
    world = World()
    world.prompt()
    world.call("t1", title="Run")
    world.patch("t1", rawInput=raw_input)
    assert world.json["toolCalls"][0]["command"] == command


def test_a_call_as_the_state_gives_it() -> None:
    world = World()
    world.prompt()
    world.call("t1", title="Read a")
    assert world.json["toolCalls"] == [
        {
            "toolCallId": "t1",
            "title": "Read a",
            "name": None,
            "kind": "other",
            "status": "pending",
            "content": [],
            "locations": [],
            "command": None,
            "rawInput": None,
            "rawOutput": None,
            "_meta": None,
            "turn": 1,
            "closedBy": None,
            "background": False,
            "capabilities": None,
            "cancellable": False,
        }
    ]
    world.patch(
        "t1",
        name="Read",
        kind="read",
        status="in_progress",
        content=[{"type": "content", "content": {"type": "text", "text": "x"}},
                 {"type": "diff", "path": "/ws/a", "newText": "y"},
                 {"type": "terminal", "terminalId": "term"}],
        locations=[{"path": "/ws/a", "line": 3}, {"path": "/ws/b"}],
        rawInput={"path": "/ws/a"},
        rawOutput=["done"],
        _meta={"m": 1},
        extra="kept",
    )  # fmt: skip
    (call,) = world.json["toolCalls"]
    assert call["content"] == [
        {"type": "content", "content": {"type": "text", "text": "x"}},
        {"type": "diff", "path": "/ws/a", "newText": "y", "oldText": None},
        {"type": "terminal", "terminalId": "term"},
    ]
    assert call["locations"] == [{"path": "/ws/a", "line": 3}, {"path": "/ws/b", "line": None}]
    assert (call["name"], call["kind"], call["status"]) == ("Read", "read", "in_progress")
    assert (call["rawInput"], call["rawOutput"]) == ({"path": "/ws/a"}, ["done"])
    assert (call["_meta"], call["extra"], call["title"]) == ({"m": 1}, "kept", "Read a")


def test_an_update_changes_what_it_names_and_null_leaves_it() -> None:
    world = World()
    world.call("t1", kind="edit", rawInput={"a": 1}, content=[
        {"type": "content", "content": {"type": "text", "text": "x"}}])  # fmt: skip
    before = world.json["toolCalls"]
    world.patch("t1")
    world.patch("t1", title=None, kind=None, status=None, content=None, rawInput=None)
    assert world.json["toolCalls"] == before
    world.patch("t1", content=[], rawInput=False)
    (call,) = world.json["toolCalls"]
    assert (call["content"], call["rawInput"]) == ([], False)


@pytest.mark.parametrize("raw", [False, 0, "", [], {}])
def test_raw_values_that_look_like_nothing_are_values(raw: Any) -> None:
    world = World()
    world.call("t1", rawInput="old", rawOutput="old")
    world.patch("t1", rawInput=raw, rawOutput=raw)
    (call,) = world.json["toolCalls"]
    assert call["rawInput"] == raw and call["rawOutput"] == raw
    world.patch("t1", rawInput=None)
    assert world.json["toolCalls"][0]["rawInput"] == raw


def test_a_second_announcement_of_an_open_call_patches_it() -> None:
    world = World()
    world.call("t1", title="bash", rawInput={}, kind="execute")
    world.call("t1", title="ls", status="in_progress")
    (call,) = world.json["toolCalls"]
    assert (call["title"], call["status"], call["kind"]) == ("ls", "in_progress", "execute")


def test_meta_is_laid_over_key_by_key() -> None:
    world = World()
    world.call("t1", _meta={"a": 1, "b": 1})
    world.patch("t1", _meta={"b": 2, "c": 3})
    assert world.json["toolCalls"][0]["_meta"] == {"a": 1, "b": 2, "c": 3}


def test_changes_say_what_is_new_of_a_call() -> None:
    world = World()
    (created,) = world.call("t1")
    (patched,) = world.patch("t1", status="completed")
    assert isinstance(created, ToolCallChanged) and isinstance(patched, ToolCallChanged)
    assert (created.created, patched.created) == (True, False)
    assert isinstance(patched.event, model.ToolCallUpsert) and patched.event.status == "completed"
    assert patched.tool_call is world.session.tool_call("t1")


# --- S12: a call that was never announced ---------------------------------------------


def test_S12_an_update_with_something_to_show_creates_the_call() -> None:
    world = World()
    (change,) = world.patch("tX", title="Run it", status="in_progress")
    assert isinstance(change, ToolCallChanged) and change.created
    assert calls(world) == [("tX", "in_progress", None)]
    assert world.json["toolCalls"][0]["kind"] == "other"
    assert world.order == [("toolCall", "tX")]


@pytest.mark.parametrize(
    "fields",
    [
        {"content": [{"type": "content", "content": {"type": "text", "text": "x"}}]},
        {"locations": [{"path": "/ws/a"}]},
        {"rawInput": {"command": "ls"}},
        {"rawOutput": 0},
        {"name": "bash"},
    ],
)
def test_S12_anything_that_says_something_is_shown(fields: dict[str, Any]) -> None:
    world = World()
    world.patch("tX", **fields)
    assert [call["toolCallId"] for call in world.json["toolCalls"]] == ["tX"]
    assert world.json["toolCalls"][0]["title"] is None


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"status": "completed"},
        {"status": "in_progress", "kind": "edit"},
        {"title": "", "content": [], "locations": [], "rawInput": {}, "rawOutput": ""},
    ],
)
def test_S12_a_placeholder_is_not_shown_until_it_says_something(fields: dict[str, Any]) -> None:
    world = World()
    assert world.patch("tX", **fields) == []
    assert world.json["toolCalls"] == [] and world.order == []
    world.say("agent", "meanwhile")
    world.call("tX", title="There it is", kind="read")
    assert world.order == [("message", "message-1"), ("toolCall", "tX")]
    assert world.json["toolCalls"][0]["title"] == "There it is"
    assert world.json["toolCalls"][0]["kind"] == "read"


def test_S12_an_announcement_joins_its_placeholder() -> None:
    """An update overtook its announcement: one call, and what the update said stays."""
    world = World()
    world.patch("tX", status="in_progress")
    world.call("tX", title="Run")
    assert calls(world) == [("tX", "in_progress", None)]
    world.end()
    assert calls(world) == [("tX", "failed", "sidecar")]


@pytest.mark.parametrize("fields", [{}, {"title": "Run", "rawOutput": "ok"}])
def test_S12_an_announcement_that_was_overtaken_by_the_end(fields: dict[str, Any]) -> None:
    """One call, and it has ended."""
    world = World()
    world.patch("tX", status="completed", **fields)
    world.call("tX", title="Run it", rawInput={"command": "ls"})
    assert calls(world) == [("tX", "completed", None)]
    assert world.json["toolCalls"][0]["title"] == "Run it"


def test_S12_a_placeholder_is_never_told_to_anybody() -> None:
    world = World()
    world.prompt()
    world.patch("tX", status="in_progress")
    assert not any(isinstance(change, ToolCallChanged) for change in world.end())
    assert world.json["toolCalls"] == []


# --- S14: an id used again ---------------------------------------------


def test_S14_an_announcement_after_a_final_status_is_another_call() -> None:
    world = World()
    world.prompt()
    world.call("t1", title="first", status="completed", kind="read")
    world.end()
    world.prompt()
    (change,) = world.call("t1", title="second")
    assert isinstance(change, ToolCallChanged) and change.created
    first, second = world.json["toolCalls"]
    assert (first["title"], first["status"], first["turn"]) == ("first", "completed", 1)
    assert (second["title"], second["status"], second["turn"]) == ("second", "pending", 2)
    assert second["kind"] == "other"
    keys = [entry["key"] for entry in world.json["order"]]
    assert len(set(keys)) == len(keys)


def test_S14_news_goes_to_the_latest_of_that_id() -> None:
    world = World()
    world.call("t1", title="first", status="completed")
    world.call("t1", title="second")
    world.patch("t1", status="failed")
    assert calls(world) == [("t1", "completed", None), ("t1", "failed", None)]


def test_S14_the_same_id_in_two_sessions() -> None:
    one, two = World("s1"), World("s2")
    one.call("t1", title="in one")
    two.call("t1", title="in two")
    one.patch("t1", status="completed")
    assert calls(one) == [("t1", "completed", None)]
    assert calls(two) == [("t1", "pending", None)]


def test_S14_a_call_that_we_closed_in_this_turn_goes_on() -> None:
    """The agent announces late what it had begun: no second call of the same thing."""
    world = World()
    world.prompt()
    world.patch("t1", title="Run")
    world.end()
    world.call("t1", title="Run", status="completed")
    assert calls(world) == [("t1", "completed", None)]


# --- S10: closing in the agent's stead ---------------------------------------------


def test_a_call_left_open_at_the_end_of_a_turn_has_failed() -> None:
    world = World()
    world.prompt()
    world.call("t1")
    world.call("t2", status="in_progress")
    world.call("t3", status="completed")
    changes = world.end()
    assert calls(world) == [
        ("t1", "failed", "sidecar"),
        ("t2", "failed", "sidecar"),
        ("t3", "completed", None),
    ]
    closed = [c.tool_call.tool_call_id for c in changes if isinstance(c, ToolCallChanged)]
    assert closed == ["t1", "t2"]


def test_S10_a_cancel_closes_at_once() -> None:
    world = World()
    world.prompt()
    world.call("t1", status="in_progress")
    world.session.cancel_turn()
    assert calls(world) == [("t1", "cancelled", "sidecar")]
    assert world.session.status == "running"


@pytest.mark.parametrize("final", ["completed", "failed"])
def test_S10_the_agents_own_last_word_wins(final: str) -> None:
    world = World()
    world.prompt()
    world.call("t1", status="in_progress")
    world.session.cancel_turn()
    world.patch("t1", status=final, rawOutput="bye")
    assert calls(world) == [("t1", final, None)]
    assert world.json["toolCalls"][0]["rawOutput"] == "bye"


def test_S10_a_late_update_is_shown_and_revives_nothing() -> None:
    world = World()
    world.prompt()
    world.call("t1", status="in_progress")
    world.session.cancel_turn()
    world.patch("t1", status="in_progress", title="still at it")
    world.end("cancelled")
    world.patch("t1", status="pending")
    assert calls(world) == [("t1", "cancelled", "sidecar")]
    assert world.json["toolCalls"][0]["title"] == "still at it"


def test_a_finished_call_is_not_reopened_by_an_update() -> None:
    world = World()
    world.call("t1", status="completed")
    world.patch("t1", status="in_progress")
    assert calls(world) == [("t1", "completed", None)]
    world.patch("t1", status="failed")
    assert calls(world) == [("t1", "failed", None)]


def test_what_is_begun_after_a_cancel_is_cancelled_with_it() -> None:
    world = World()
    world.prompt()
    world.session.cancel_turn()
    world.call("t1")
    world.end("end_turn")
    assert calls(world) == [("t1", "cancelled", "sidecar")]


def test_a_turn_that_the_agent_calls_cancelled_was_cancelled() -> None:
    """One real agent ends so after a rejection, and leaves its call open."""
    world = World()
    world.prompt()
    world.call("t1")
    world.end("cancelled")
    assert calls(world) == [("t1", "cancelled", "sidecar")]


def test_a_cancel_is_of_one_turn() -> None:
    world = World()
    world.prompt()
    world.session.cancel_turn()
    world.end("cancelled")
    world.prompt()
    world.call("t1")
    world.end()
    assert calls(world) == [("t1", "failed", "sidecar")]


def test_T13_a_call_that_comes_after_the_end_is_closed_by_the_next_turn() -> None:
    world = World()
    world.prompt()
    world.end()
    world.call("t1")
    assert calls(world) == [("t1", "pending", None)]
    world.prompt()
    assert calls(world) == [("t1", "failed", "sidecar")]


def test_T13_the_last_word_may_come_after_the_turn() -> None:
    world = World()
    world.prompt()
    world.call("t1")
    world.end()
    world.patch("t1", status="completed")
    assert calls(world) == [("t1", "completed", None)]


def test_an_idle_agent_of_version_2_closes_nothing() -> None:
    world = World()
    world.prompt()
    world.call("t1")
    world.session.apply(model.TurnEnded("end_turn", idle=True))
    assert calls(world) == [("t1", "pending", None)]
    assert world.session.status == "idle"


def test_a_call_in_the_background_outlives_a_cancel() -> None:
    world = World()
    world.prompt()
    world.call("t1")
    call = world.session.tool_call("t1")
    assert call is not None
    call.background = True
    world.session.cancel_turn()
    assert calls(world) == [("t1", "pending", None)]


@pytest.mark.parametrize(("how", "status"), [("close", "cancelled"), ("died", "failed")])
def test_the_end_of_a_session_closes_its_calls(how: str, status: str) -> None:
    world = World()
    world.prompt()
    world.call("t1")
    world.session.close() if how == "close" else world.session.died("exit status 1")
    assert calls(world) == [("t1", status, "sidecar")]


def test_what_comes_after_the_end_of_a_session_is_shown_and_over() -> None:
    world = World()
    world.prompt()
    world.session.close()
    world.call("t1", title="too late")
    assert calls(world) == [("t1", "cancelled", "sidecar")]


def test_a_history_leaves_nothing_open() -> None:
    """Some agents never finish a call, and tell it so again when the session is loaded."""
    world = World()
    world.call("t1", status="in_progress", replay=True)
    world.session.opened(model.SessionOpened("S"))
    assert calls(world) == [("t1", "in_progress", None)]
    changes = world.session.opened(v1.session_opened(None, "S"))
    assert calls(world) == [("t1", "failed", "sidecar")]
    assert [type(change) for change in changes] == [ToolCallChanged]


def test_version_2_patches_clear_with_null() -> None:
    """The neutral event knows three states; kind and status go back to their defaults."""
    world = World()
    world.call("t1", kind="edit", status="in_progress", rawInput=1, name="n", _meta={"a": 1})
    world.session.apply(
        model.ToolCallUpsert(
            "t1", title=None, name=None, kind=None, status=None, raw_input=None, meta=None
        )
    )
    (call,) = world.json["toolCalls"]
    assert (call["title"], call["name"], call["kind"]) == (None, None, "other")
    assert (call["status"], call["rawInput"], call["_meta"]) == ("pending", None, None)


def test_version_2_streams_the_content_of_a_call() -> None:
    world = World()
    piece = model.Content(model.TextContent("x"))
    for _ in range(2):
        world.session.apply(model.ToolCallContentChunk("t1", piece))
    assert len(world.json["toolCalls"][0]["content"]) == 2


# --- T16: the whole growing output in every update ---------------------------------------------


def test_T16_growing_snapshots_stay_cheap_and_only_the_last_is_kept() -> None:
    """5,000 updates that grow to 300 KB: hundreds of megabytes go by, 300 KB stay."""
    import tracemalloc

    world = World()
    world.call("t1")
    text = "0123456789abcdef" * (300_000 // 16)
    step = len(text) // 5000
    tracemalloc.start()
    for number in range(1, 5001):
        content = {"type": "content", "content": {"type": "text", "text": text[: number * step]}}
        world.patch("t1", status="in_progress", content=[content], rawOutput={"o": content})
    kept, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    (call,) = world.json["toolCalls"]
    assert len(call["content"]) == 1
    assert call["content"][0]["content"]["text"] == text[: 5000 * step]
    assert kept < 3_000_000 and peak < 6_000_000


def test_T16_an_image_of_10_MB_is_not_copied() -> None:
    world = World()
    data = "A" * 10_000_000
    image = {"type": "image", "data": data, "mimeType": "image/png"}
    world.call("t1", content=[{"type": "content", "content": image}])
    call = world.session.tool_call("t1")
    assert call is not None
    (item,) = call.content
    assert isinstance(item, model.Content) and isinstance(item.content, model.ImageContent)
    assert item.content.data is data
