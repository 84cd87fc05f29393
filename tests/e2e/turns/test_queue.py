"""Prompts that wait for the turn before them."""

from __future__ import annotations

from tests.e2e.editor import Editor
from tests.e2e.puppet import Puppet


async def test_S16_a_second_prompt_waits_for_the_first(editor: Editor, puppet: Puppet) -> None:
    _, first = editor.start("acp.session.prompt", text="one")
    _, second = editor.start("acp.session.prompt", text="two")
    prompt = await puppet.prompted()
    (waiting,) = await editor.execute("acp.session.queue")
    assert waiting["text"] == "two"
    assert sum(message.get("method") == "session/prompt" for message in puppet.seen) == 1
    puppet.say("1")
    puppet.end_turn(prompt)
    await first
    prompt = await puppet.prompted()
    assert prompt["params"]["prompt"] == [{"type": "text", "text": "two"}]
    puppet.say("2")
    puppet.end_turn(prompt)
    assert await second == {"stopReason": "end_turn"}


async def test_S16_what_waits_can_be_edited_and_dropped(editor: Editor, puppet: Puppet) -> None:
    editor.start("acp.session.prompt", text="one")
    prompt = await puppet.prompted()
    _, second = editor.start("acp.session.prompt", text="two")
    _, third = editor.start("acp.session.prompt", text="three")
    waiting = await editor.execute("acp.session.queue")
    assert [entry["text"] for entry in waiting] == ["two", "three"]
    left = await editor.execute(
        "acp.session.queue",
        edit={"turnId": waiting[1]["turnId"], "text": "THREE"},
        drop=waiting[0]["turnId"],
    )
    assert [entry["text"] for entry in left] == ["THREE"]
    assert await second == {"stopReason": "cancelled"}
    assert (await editor.state())["queue"] == left
    puppet.end_turn(prompt)
    prompt = await puppet.prompted()
    assert prompt["params"]["prompt"][0]["text"] == "THREE"
    puppet.say("3")
    puppet.end_turn(prompt)
    assert await third == {"stopReason": "end_turn"}


async def test_cancelling_a_waiting_prompt_drops_it_alone(editor: Editor, puppet: Puppet) -> None:
    _, first = editor.start("acp.session.prompt", text="one")
    prompt = await puppet.prompted()
    request, second = editor.start("acp.session.prompt", text="two")
    await editor.eventually(lambda: editor.execute("acp.session.queue"))
    editor.cancel(request)
    assert await second == {"stopReason": "cancelled"}
    puppet.say("x")
    puppet.end_turn(prompt)
    assert await first == {"stopReason": "end_turn"}
    assert not any(message.get("method") == "session/cancel" for message in puppet.seen)


async def test_without_waiting_the_turn_s_id_comes_at_once(editor: Editor, puppet: Puppet) -> None:
    begun = await editor.execute("acp.session.prompt", text="go", wait=False)
    assert set(begun) == {"turnId"}
    puppet.say("x")
    puppet.end_turn(await puppet.prompted())

    async def idle() -> bool:
        return bool((await editor.state())["status"] == "idle")

    await editor.eventually(idle)
