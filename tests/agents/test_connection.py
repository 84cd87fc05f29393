"""Calls, ids, order, timeouts and cancellation between us and an agent."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

import pytest

from acp_sidecar.acp import jsonrpc
from acp_sidecar.agents.connection import AgentError, AgentGone, IncomingRequest
from tests.agents.link import Loop, Memory, agent

PATIENCE = 10.0


async def settled() -> None:
    """Lets the tasks run that are ready to."""
    for _ in range(5):
        await asyncio.sleep(0)


# --- over real pipes --------------------------------------------------------------------


@pytest.mark.parametrize("size", [65_537, 20_000_000, (64 << 20) + 1])
async def test_T01_a_long_line_from_an_agent_is_an_update_like_any_other(size: int) -> None:
    async with agent() as running, asyncio.timeout(60):
        assert await running.connection.call("big", {"bytes": size}) is None
        ((method, params),) = running.handler.said
        assert method == "session/update"
        assert len(params["text"]) > size - 100
        assert await running.connection.call("echo", {"a": 1}) == {"a": 1}


async def test_T01_a_line_above_the_cap_ends_the_agent_and_names_the_setting() -> None:
    async with agent(line_limit=100_000) as running, asyncio.timeout(PATIENCE):
        with pytest.raises(AgentGone, match=r"limits\.lineBytes"):
            await running.connection.call("big", {"bytes": 100_001})
        await running.process.wait_closed()
        assert running.process.returncode is not None
        assert "limits.lineBytes" in str(running.exits[0])
        with pytest.raises(AgentGone, match=r"limits\.lineBytes"):
            await running.connection.call("echo", {})
        assert len(running.handler.reasons) == 1


async def test_T02_what_an_agent_prints_beside_the_protocol_is_skipped() -> None:
    noise = ["Welcome", "", "\x1b[2K", '[info] {"a":1}', '"text"', "42", "null", "[]"]
    async with agent() as running, asyncio.timeout(PATIENCE):
        await running.connection.call("say", {"lines": noise})
        assert running.handler.said == []
        assert running.connection.noise_received == len(noise) - 1
        assert await running.connection.call("echo", {"a": 1}) == {"a": 1}


@pytest.mark.parametrize(("lines", "size"), [(True, 1_000_000), (False, 300_000)])
async def test_T05_T06_an_agent_that_writes_much_to_stderr_is_not_held_up(
    lines: bool, size: int
) -> None:
    async with agent() as running, asyncio.timeout(PATIENCE):
        await running.connection.call("grumble", {"bytes": size, "lines": lines})
        assert await running.connection.call("echo", {"a": 1}) == {"a": 1}
        assert 0 < len(running.process.stderr_tail()) <= 8192


async def test_T12_the_answer_to_a_prompt_does_not_overtake_the_updates_before_it() -> None:
    async with agent() as running, asyncio.timeout(PATIENCE):
        seen: list[int] = []
        result = await running.connection.call(
            "burst", {"updates": 5000}, on_result=lambda _: seen.append(len(running.handler.said))
        )
        assert result == {"stopReason": "end_turn"}
        assert seen == [5000]
        texts = [params["text"] for _, params in running.handler.said]
        assert texts[:5000] == [str(number) for number in range(5000)]


async def test_the_last_line_of_an_agent_needs_no_newline() -> None:
    async with agent() as running, asyncio.timeout(PATIENCE):
        assert await running.connection.call("last_line", {"a": 1}) == {"a": 1}


async def test_a_dead_agent_fails_every_pending_call_at_once_with_its_last_words() -> None:
    async with agent() as running, asyncio.timeout(PATIENCE):
        waiting = [running.connection.begin("nothing") for _ in range(3)]
        dying = {"words": "panic: no\x1b[31m key\x1b[0m\n", "status": 7}
        with pytest.raises(AgentGone, match="status 7") as caught:
            await running.connection.call("die", dying)
        assert "panic: no key" in str(caught.value)
        for future in waiting:
            with pytest.raises(AgentGone, match="status 7"):
                await future
        with pytest.raises(AgentGone, match="status 7"):
            await running.connection.call("echo", {})
        running.connection.notify("session/cancel", {})
        assert [str(reason) for reason in running.handler.reasons] == [str(caught.value)]


async def test_an_agent_that_talks_is_read_while_our_own_words_wait() -> None:
    """Neither side may stop because the other's pipe is full."""
    async with agent() as running, asyncio.timeout(60):
        text = "y" * 1_000_000
        calls = [running.connection.begin("echo", {"text": text}) for _ in range(20)]
        assert [len(result["text"]) for result in await asyncio.gather(*calls)] == [len(text)] * 20


# --- T08: notifications -----------------------------------------------------------------


@pytest.mark.parametrize(
    "params",
    [
        {"sessionId": "S", "update": {"sessionUpdate": "future_thing"}},
        {"sessionId": "S", "update": {}},
        None,
        [],
        "text",
    ],
)
async def test_T08_a_notification_is_never_answered_and_the_rest_keeps_its_order(
    params: Any,
) -> None:
    loop = Loop()
    loop.agent_says(
        {"method": "session/update", "params": 1},
        {"method": "session/update", "params": params},
        {"method": "_vendor/unknown", "params": params},
        {"method": "session/update", "params": 2},
    )
    assert [said for _, said in loop.handler.said] == [1, params, params, 2]
    assert loop.sent == []


async def test_T08_a_handler_that_fails_costs_the_message_only(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Failing(Memory):
        def notification(self, method: str, params: Any) -> None:
            super().notification(method, params)
            if params == "bad":
                raise ValueError("cannot read it")

    loop = Loop(Failing())
    loop.agent_says(*({"method": "u", "params": text} for text in ("a", "bad", "b")))
    assert [said for _, said in loop.handler.said] == ["a", "bad", "b"]
    assert loop.sent == []
    assert "cannot read it" in caplog.text


# --- requests of the agent --------------------------------------------------------------


@pytest.mark.parametrize(
    "written", ["0", '"0"', '"a"', '""', "null", "1.5", "true", "9007199254740993", "-1"]
)
async def test_T09_a_request_is_answered_by_the_id_it_came_with(written: str) -> None:
    loop = Loop(Memory(lambda request: request.result({"ok": True}) and None))
    loop.agent_says('{"jsonrpc":"2.0","id":' + written + ',"method":"m"}')
    (answer,) = loop.sent
    assert answer == {"jsonrpc": "2.0", "id": json.loads(written), "result": {"ok": True}}
    assert type(answer["id"]) is type(json.loads(written))


async def test_T09_ids_that_look_alike_are_answered_apart() -> None:
    loop = Loop()
    for written in ("0", '"0"', "null", "false"):
        loop.agent_says('{"jsonrpc":"2.0","id":' + written + ',"method":"m"}')
    for number, request in enumerate(loop.handler.requests):
        request.result(number)
    assert [(answer["id"], answer["result"]) for answer in loop.sent] == [
        (0, 0),
        ("0", 1),
        (None, 2),
        (False, 3),
    ]


async def test_R12_an_id_that_is_used_again_names_a_new_request() -> None:
    loop = Loop()
    for turn in range(3):
        loop.agent_says({"id": 0, "method": "session/request_permission", "params": [turn]})
        assert loop.handler.requests[turn].params == [turn]
        assert loop.handler.requests[turn].result(turn)
        assert not loop.handler.requests[0].result("late")
    assert [answer["result"] for answer in loop.sent] == [0, 1, 2]


async def test_a_request_is_answered_once() -> None:
    loop = Loop()
    loop.agent_says({"id": 1, "method": "m"})
    (request,) = loop.handler.requests
    assert request.error(jsonrpc.INVALID_PARAMS, "no", {"path": "/ws/a"})
    assert not request.result({})
    assert not request.error(jsonrpc.INTERNAL_ERROR, "again")
    assert loop.sent == [
        {
            "jsonrpc": "2.0",
            "id": 1,
            "error": {"code": -32602, "message": "no", "data": {"path": "/ws/a"}},
        }
    ]


async def test_a_request_whose_handler_fails_is_answered_with_an_internal_error() -> None:
    def fail(request: IncomingRequest) -> None:
        raise KeyError("secret")

    loop = Loop(Memory(fail))
    loop.agent_says({"id": 1, "method": "fs/read_text_file"}, {"id": 2, "method": "m"})
    assert [(a["id"], a["error"]["code"]) for a in loop.sent] == [(1, -32603), (2, -32603)]
    assert "secret" not in json.dumps(loop.sent)


async def test_an_answer_that_is_no_json_becomes_an_internal_error() -> None:
    loop = Loop(Memory(lambda request: request.result({"a": object()}) and None))
    loop.agent_says({"id": 1, "method": "m"})
    (answer,) = loop.sent
    assert answer["error"]["code"] == -32603


async def test_malformed_messages_are_answered_without_troubling_the_handler() -> None:
    loop = Loop()
    loop.agent_says({"id": 4, "method": 17}, {"id": 5, "method": "m", "params": "text"})
    loop.agent_says('{"jsonrpc":"2.0","id":6,')
    assert [(a["id"], a["error"]["code"]) for a in loop.sent] == [
        (4, -32600),
        (5, -32602),
        (None, -32700),
    ]
    assert loop.handler.requests == []


async def test_T18_the_requests_of_a_batch_are_answered_singly() -> None:
    """The case would have v1 skip arrays; the sidecar takes them apart on every version."""
    loop = Loop(Memory(lambda request: request.result({}) and None))
    batch = [
        {"jsonrpc": "2.0", "method": "n", "params": 1},
        {"jsonrpc": "2.0", "id": 4, "method": "r"},
        17,
        {"jsonrpc": "2.0", "method": "n", "params": 2},
        {"jsonrpc": "2.0", "id": 5, "method": "r"},
    ]
    loop.agent_says(json.dumps(batch))
    assert [params for _, params in loop.handler.said] == [1, 2]
    assert [answer["id"] for answer in loop.sent] == [4, 5]
    assert all(isinstance(answer, dict) for answer in loop.sent)


# --- calls of ours ----------------------------------------------------------------------


async def test_T10_an_agent_that_numbers_like_we_do_does_not_answer_itself() -> None:
    loop = Loop()
    ours = loop.connection.begin("session/prompt", {})
    our_id = loop.sent[0]["id"]
    loop.agent_says({"id": our_id, "method": "session/request_permission"})
    assert not ours.done()
    loop.handler.requests[0].result("theirs")
    assert loop.sent[1] == {"jsonrpc": "2.0", "id": our_id, "result": "theirs"}
    loop.agent_says({"id": our_id, "result": "ours"})
    assert await ours == "ours"


@pytest.mark.parametrize(
    "disguise", [str, lambda n: [n], lambda n: {"id": n}, bool, lambda n: None]
)
async def test_T10_only_the_very_id_answers_a_call(disguise: Any) -> None:
    loop = Loop()
    calls = [loop.connection.begin("m") for _ in range(2)]
    for request in loop.sent[:2]:
        loop.agent_says({"id": disguise(request["id"]), "result": "wrong"})
    loop.agent_says({"id": 777, "result": "wrong"})
    assert not any(call.done() for call in calls)
    for request in loop.sent[:2]:
        loop.agent_says({"id": request["id"], "result": "right"})
    assert await asyncio.gather(*calls) == ["right", "right"]


async def test_T10_answers_come_in_any_order_and_count_once() -> None:
    loop = Loop()
    calls = [loop.connection.begin("m", {"n": number}) for number in range(3)]
    for request in reversed(loop.sent[:3]):
        loop.agent_says({"id": request["id"], "result": request["params"]["n"]})
        loop.agent_says({"id": request["id"], "result": "again"})
    assert await asyncio.gather(*calls) == [0, 1, 2]


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"result": {}, "error": {"code": 5, "message": "both"}},
        {"error": None},
        {"error": "text"},
        {"error": {}},
    ],
)
async def test_T10_an_answer_with_both_or_neither_fails_the_call(answer: dict[str, Any]) -> None:
    loop = Loop()
    call = loop.connection.begin("session/prompt")
    loop.agent_says({"id": loop.sent[0]["id"], **answer})
    with pytest.raises(AgentError):
        await call


async def test_T17_a_null_result_is_success() -> None:
    loop = Loop()
    call = loop.connection.begin("session/load")
    loop.agent_says({"id": loop.sent[0]["id"], "result": None})
    assert await call is None


@pytest.mark.parametrize("data", [None, "text", {"a": 1}])
async def test_an_error_comes_with_the_agents_words_and_data(data: Any) -> None:
    loop = Loop()
    call = loop.connection.begin("session/new")
    error = {"code": -32000, "message": "Authentication required", "data": data}
    loop.agent_says({"id": loop.sent[0]["id"], "error": error})
    with pytest.raises(AgentError, match="Authentication required") as caught:
        await call
    assert (caught.value.code, caught.value.data) == (-32000, data)


async def test_what_a_result_brings_is_done_before_the_next_message() -> None:
    loop = Loop()
    order: list[Any] = []
    loop.handler.notification = lambda method, params: order.append(params)  # type: ignore[method-assign]
    call = loop.connection.begin("session/new", on_result=order.append)
    loop.agent_says(
        {"method": "u", "params": "before"},
        {"id": loop.sent[0]["id"], "result": "opened"},
        {"method": "u", "params": "after"},
    )
    assert order == ["before", "opened", "after"]
    assert await call == "opened"


async def test_a_result_that_cannot_be_used_fails_its_own_call_only() -> None:
    def refuse(result: Any) -> None:
        raise ValueError("no session id")

    loop = Loop()
    call = loop.connection.begin("session/new", on_result=refuse)
    loop.agent_says({"id": loop.sent[0]["id"], "result": {}}, {"method": "u", "params": 1})
    with pytest.raises(ValueError, match="no session id"):
        await call
    assert loop.handler.said == [("u", 1)]


# --- time and cancellation --------------------------------------------------------------


async def test_a_call_that_runs_out_of_time_is_withdrawn_and_its_late_answer_dropped() -> None:
    loop = Loop()
    with pytest.raises(TimeoutError, match="initialize"):
        await loop.connection.call("initialize", {}, timeout=0.01)
    await settled()
    request, cancel = loop.sent
    assert (cancel["method"], cancel["params"]) == (
        "$/cancel_request",
        {"requestId": request["id"]},
    )
    assert "id" not in cancel
    loop.agent_says({"id": request["id"], "result": {}})
    loop.agent_says({"id": request["id"], "error": {"code": -32800, "message": "cancelled"}})
    assert len(loop.sent) == 2


async def test_T02_a_timeout_without_any_message_says_what_came_instead() -> None:
    loop = Loop()
    loop.agent_says("Please log in first", "key: " + "k" * 40)
    with pytest.raises(TimeoutError) as caught:
        await loop.connection.call("initialize", {}, timeout=0.01)
    assert "2 lines" in str(caught.value)
    assert "kkkkkkkkkk" not in str(caught.value)


async def test_a_call_whose_awaiter_is_cancelled_is_withdrawn() -> None:
    loop = Loop()
    task = asyncio.create_task(loop.connection.call("session/new", {}))
    await settled()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await settled()
    assert [message["method"] for message in loop.sent] == ["session/new", "$/cancel_request"]
    loop.agent_says({"id": loop.sent[0]["id"], "result": {}}, {"method": "u", "params": 1})
    assert loop.handler.said == [("u", 1)]


async def test_an_answered_call_is_not_withdrawn_any_more() -> None:
    loop = Loop()
    call = loop.connection.begin("m")
    loop.agent_says({"id": loop.sent[0]["id"], "result": 1})
    call.cancel()
    await settled()
    assert len(loop.sent) == 1


async def test_the_agent_withdraws_a_request_of_its_own() -> None:
    loop = Loop()
    withdrawn: list[str] = []
    loop.agent_says({"id": 1, "method": "m"}, {"id": "1", "method": "m"})
    number, text = loop.handler.requests
    number.on_cancel(lambda: withdrawn.append("number"))
    text.on_cancel(lambda: withdrawn.append("text"))
    loop.agent_says({"method": "$/cancel_request", "params": {"requestId": "1"}})
    assert withdrawn == ["text"]
    assert (text.cancelled, text.answered, number.cancelled) == (True, False, False)
    # The specification wants an answer also then.
    assert text.error(jsonrpc.REQUEST_CANCELLED, "cancelled")
    assert loop.sent[0]["error"]["code"] == -32800
    loop.agent_says({"method": "$/cancel_request", "params": {"requestId": "1"}})
    assert withdrawn == ["text"]


async def test_a_listener_that_comes_after_the_withdrawal_is_told_at_once() -> None:
    loop = Loop()
    told: list[int] = []
    loop.agent_says({"id": 1, "method": "m"})
    loop.agent_says({"method": "$/cancel_request", "params": {"requestId": 1}})
    loop.handler.requests[0].on_cancel(lambda: told.append(1))
    assert told == [1]


NOTHING = [{"requestId": 99}, {"requestId": True}, {"requestId": {}}, {"requestId": None}, {}]


@pytest.mark.parametrize("params", [*NOTHING, None, [], "x"])
async def test_a_withdrawal_of_nothing_is_ignored(params: Any) -> None:
    loop = Loop()
    withdrawn: list[int] = []
    loop.agent_says({"id": 1, "method": "m"})
    loop.handler.requests[0].on_cancel(lambda: withdrawn.append(1))
    loop.agent_says({"method": "$/cancel_request", "params": params})
    assert withdrawn == []
    assert loop.sent == []
    assert loop.handler.said == []


# --- the end ----------------------------------------------------------------------------


async def test_the_end_withdraws_the_agents_open_requests_and_drops_their_answers() -> None:
    loop = Loop()
    withdrawn: list[int] = []
    loop.agent_says({"id": 1, "method": "session/request_permission"})
    (request,) = loop.handler.requests
    request.on_cancel(lambda: withdrawn.append(1))
    loop.connection.connection_lost(AgentGone("gone"))
    assert withdrawn == [1]
    assert not request.result({"outcome": "selected"})
    assert loop.sent == []


async def test_only_the_first_reason_counts_and_nothing_is_delivered_after_it() -> None:
    loop = Loop()
    loop.connection.connection_lost(AgentGone("first"))
    loop.connection.connection_lost(AgentGone("second"))
    loop.agent_says({"method": "u"}, {"id": 1, "method": "m"})
    assert [str(reason) for reason in loop.handler.reasons] == ["first"]
    assert (loop.handler.said, loop.handler.requests, loop.sent) == ([], [], [])


async def test_a_handler_that_fails_on_the_end_does_not_hide_it_from_the_callers() -> None:
    class Failing(Memory):
        def lost(self, reason: AgentGone) -> None:
            raise RuntimeError

    loop = Loop(Failing())
    call = loop.connection.begin("m")
    loop.connection.connection_lost(AgentGone("gone"))
    with pytest.raises(AgentGone, match="gone"):
        await call


@pytest.mark.parametrize(("size", "told"), [(100, False), (200_000, True)])
async def test_F17_an_agent_that_dies_of_a_long_line_is_said_to(size: int, told: bool) -> None:
    loop = Loop()
    loop.agent_says({"id": 1, "method": "fs/read_text_file"})
    loop.handler.requests[0].result({"content": "x" * size})
    call = loop.connection.begin("session/prompt")
    loop.connection.connection_lost(AgentGone("the agent exited with status 1"))
    with pytest.raises(AgentGone, match="status 1") as caught:
        await call
    assert ("long lines" in str(caught.value)) is told


# --- what is logged and recorded --------------------------------------------------------


async def test_noise_is_logged_cut_redacted_and_not_for_ever(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    loop = Loop()
    loop.agent_says("token sk-ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 " + "long " * 1000)
    loop.agent_says(*["chatter"] * 10_000)
    assert "ABCDEFGHIJ" not in caplog.text
    assert "token" in caplog.text
    assert len(caplog.text) < 20_000
    assert loop.connection.noise_received == 10_001


async def test_a_trace_sees_both_directions_in_order() -> None:
    seen: list[tuple[str, jsonrpc.Message]] = []
    loop = Loop(trace=lambda direction, message: seen.append((direction, message)))
    loop.connection.begin("m", {"a": 1})
    loop.agent_says("noise", {"id": 0, "result": None}, {"method": "n"})
    assert seen == [
        ("c2a", jsonrpc.Request(0, "m", {"a": 1})),
        ("a2c", jsonrpc.Noise(b"noise")),
        ("a2c", jsonrpc.Response(0, None)),
        ("a2c", jsonrpc.Notification("n")),
    ]


async def test_a_recording_that_fails_costs_nothing_but_itself() -> None:
    written: list[jsonrpc.Message] = []

    def full(direction: str, message: jsonrpc.Message) -> None:
        written.append(message)
        raise OSError(28, "No space left on device")

    loop = Loop(trace=full)
    loop.agent_says({"method": "a"}, {"method": "b"}, {"id": 1, "method": "r"})
    assert [method for method, _ in loop.handler.said] == ["a", "b"]
    assert loop.handler.requests[0].result({})
    assert len(loop.sent) == len(written) == 1
