"""Chunks into messages, and the echo of a prompt."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_sidecar.acp import model
from acp_sidecar.session.change import MessageChanged

from .session_world import World


def test_chunks_with_an_id_are_one_message_wherever_they_stand() -> None:
    world = World()
    world.prompt("go")
    world.say("agent", "Hello ", "m1")
    world.call("t1")
    world.say("agent", "world", "m1")
    world.say("agent", "Next", "m2")
    assert world.texts == [("user", "go"), ("agent", "Hello world"), ("agent", "Next")]
    assert world.order == [
        ("message", "prompt-1"),
        ("message", "m1"),
        ("toolCall", "t1"),
        ("message", "m2"),
    ]


def test_one_id_in_two_roles_is_two_messages() -> None:
    """A message is keyed by role and id: agents use one id for thought and answer."""
    world = World()
    world.say("thought", "Hm. ", "m1")
    world.say("agent", "Yes.", "m1")
    world.say("thought", "Well.", "m1")
    assert world.texts == [("thought", "Hm. Well."), ("agent", "Yes.")]
    keys = [entry["key"] for entry in world.json["order"]]
    assert len(set(keys)) == 2
    assert [entry["role"] for entry in world.json["order"]] == ["thought", "agent"]


def test_an_agent_cannot_speak_into_messages_of_ours() -> None:
    """Its ids may happen to be the ones we gave; nobody's words get into another's mouth."""
    world = World()
    world.prompt("go")
    world.say("user", "EVIL", "prompt-1")
    world.say("agent", "a")
    world.say("agent", "b", "message-1")
    world.say("agent", "c", "message-1")
    assert world.texts == [("user", "go"), ("user", "EVIL"), ("agent", "a"), ("agent", "bc")]
    ids = [(message["role"], message["messageId"]) for message in world.json["messages"]]
    assert len(set(ids)) == 4


def test_chunks_without_an_id_run_on_until_something_else_comes_up() -> None:
    world = World()
    world.prompt("go")
    for role, text in [("thought", "a"), ("thought", "b"), ("agent", "c"), ("agent", "d")]:
        world.say(role, text)
    world.say("thought", "e")
    world.call("t1")
    world.say("thought", "f")
    world.update("plan", entries=[])
    world.say("thought", "g")
    assert world.texts == [
        ("user", "go"),
        ("thought", "ab"),
        ("agent", "cd"),
        ("thought", "e"),
        ("thought", "f"),
        ("thought", "g"),
    ]


def test_news_of_something_further_up_does_not_tear_a_message_apart() -> None:
    world = World()
    world.call("t1")
    world.update("plan", entries=[])
    world.say("agent", "one ")
    world.patch("t1", status="completed")
    world.update("plan", entries=[])
    world.update("usage_update", used=1, size=2)
    world.update("available_commands_update", availableCommands=[])
    world.say("agent", "two")
    assert world.texts == [("agent", "one two")]


def test_a_turn_begins_new_messages() -> None:
    world = World()
    world.prompt("first")
    world.say("agent", "one")
    world.end()
    world.prompt("second")
    world.say("agent", "two")
    assert [text for _, text in world.texts] == ["first", "one", "second", "two"]
    assert [message["turn"] for message in world.json["messages"]] == [1, 1, 2, 2]


def test_adjacent_text_is_one_block_and_other_blocks_keep_their_place() -> None:
    world = World()
    image = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
    world.say("agent", "a", "m")
    world.say("agent", "b", "m")
    world.update("agent_message_chunk", content=image, messageId="m")
    world.say("agent", "c", "m")
    assert world.json["messages"][0]["content"] == [
        {"type": "text", "text": "ab"},
        image,
        {"type": "text", "text": "c"},
    ]


def test_text_of_other_annotations_stays_apart() -> None:
    """What only the user is meant to see must not run into what the agent keeps."""
    world = World()
    shown = {"type": "text", "text": "a", "annotations": {"audience": ["user"]}}
    for content in (shown, {**shown, "text": "b"}, {"type": "text", "text": "c"}):
        world.update("agent_message_chunk", content=content)
    assert [b["text"] for b in world.json["messages"][0]["content"]] == ["ab", "c"]


def test_meta_and_unknown_fields_of_chunks_are_kept() -> None:
    world = World()
    for number in (1, 2):
        world.update(
            "agent_message_chunk",
            content={"type": "text", "text": "x", "_meta": {f"b{number}": 1}, f"u{number}": 1},
            _meta={f"m{number}": 1},
        )
    (message,) = world.json["messages"]
    assert message["_meta"] == {"m1": 1, "m2": 1}
    assert message["content"] == [
        {"type": "text", "text": "xx", "_meta": {"b1": 1, "b2": 1}, "u1": 1, "u2": 1}
    ]


def test_our_ids_stay_clear_of_the_agents() -> None:
    world = World()
    world.say("agent", "theirs", "message-1")
    world.call("t1")
    world.say("agent", "ours")
    assert len({message.key for message in world.session.messages}) == 2
    assert [text for _, text in world.texts] == ["theirs", "ours"]


def test_a_change_says_what_is_new() -> None:
    world = World()
    (first,) = world.say("agent", "a", "m")
    (second,) = world.say("agent", "b", "m")
    assert isinstance(first, MessageChanged) and isinstance(second, MessageChanged)
    assert (first.appended, second.appended) == (False, True)
    assert first.message is second.message


def test_T13_what_comes_after_the_end_of_a_turn_is_appended() -> None:
    world = World()
    world.prompt()
    world.say("agent", "almost ")
    world.end()
    world.say("agent", "done")
    assert world.texts[-1] == ("agent", "almost done")
    assert world.session.status == "idle"


def test_a_whole_message_replaces_what_was_streamed() -> None:
    """Version 2's upsert, by id and role."""
    world = World()
    world.say("agent", "draft", "m")
    world.session.apply(model.MessageUpsert("agent", "m", (model.TextContent("final"),)))
    assert world.texts == [("agent", "final")]
    world.session.apply(model.MessageUpsert("agent", "m", meta={"k": 1}))
    assert world.texts == [("agent", "final")]
    world.session.apply(model.MessageUpsert("agent", "m", None))
    assert world.texts == [("agent", "")]
    world.session.apply(model.MessageUpsert("thought", "m", (model.TextContent("hm"),)))
    assert world.texts == [("agent", ""), ("thought", "hm")]


def test_text_by_the_letter_is_one_text_whenever_it_is_looked_at() -> None:
    """Looked at now and then, as a transcript does."""
    world = World()
    event = model.MessageChunk("agent", model.TextContent("x"), "m")
    for number in range(1, 20_001):
        world.session.apply(event)
        if number % 1_000 == 0:
            assert world.session.messages[0].text == "x" * number
    assert world.texts == [("agent", "x" * 20_000)]


# --- S15: the echo of a prompt ---------------------------------------------


def echo(world: World, *texts: str, replay: bool = False) -> None:
    for text in texts:
        world.say("user", text, replay=replay)


@pytest.mark.parametrize(
    "pieces",
    [
        ["fix the bug"],
        ["fix ", "the ", "bug"],
        list("fix the bug"),
        ["fix the bug\n"],
        ["  fix the", " bug  "],
        ["fix", "", "the bug"],
    ],
)
def test_S15_the_echo_of_a_prompt_is_dropped(pieces: list[str]) -> None:
    world = World()
    world.prompt("fix the bug")
    echo(world, *pieces)
    world.say("agent", "ok")
    assert world.texts == [("user", "fix the bug"), ("agent", "ok")]


def test_S15_an_echo_that_comes_late_is_an_echo_too() -> None:
    world = World()
    world.prompt("fix the bug")
    world.say("thought", "hm")
    world.call("t1")
    echo(world, "fix the bug")
    assert world.texts == [("user", "fix the bug"), ("thought", "hm")]


def test_S15_an_echo_of_several_blocks() -> None:
    link = model.ResourceLink("file:///ws/a.py", "a.py")
    world = World()
    world.prompt("look at", link, "and fix it")
    world.say("user", "look at")
    world.update(
        "user_message_chunk",
        content={"type": "resource_link", "uri": "file:///ws/a.py", "name": "a.py", "_meta": {}},
    )
    world.say("user", "and fix it")
    world.say("agent", "ok")
    assert [role for role, _ in world.texts] == ["user", "agent"]
    assert len(world.json["messages"][0]["content"]) == 3


def test_S15_other_words_in_the_users_name_are_shown() -> None:
    world = World()
    world.prompt("fix the bug")
    echo(world, "[MODE_UPDATE] yolo")
    assert world.texts == [("user", "fix the bug"), ("user", "[MODE_UPDATE] yolo")]


def test_S15_words_that_begin_like_the_prompt_are_not_lost() -> None:
    world = World()
    world.prompt("fix the bug")
    echo(world, "fix ", "the ", "other thing")
    assert world.texts == [("user", "fix the bug"), ("user", "fix the other thing")]


@pytest.mark.parametrize("interruption", ["agent", "call", "plan", "end", "ask", "cancel"])
def test_S15_half_an_echo_is_no_echo(interruption: str) -> None:
    """Where the turn goes on before the echo is whole, what was said is shown, in its place."""
    world = World()
    world.prompt("yes, but first the tests")
    echo(world, "yes")
    assert len(world.texts) == 1
    {
        "agent": lambda: world.say("agent", "ok"),
        "call": lambda: world.call("t1"),
        "plan": lambda: world.update("plan", entries=[]),
        "end": world.end,
        "ask": world.ask,
        "cancel": world.session.cancel_turn,
    }[interruption]()
    assert world.texts[:2] == [("user", "yes, but first the tests"), ("user", "yes")]
    assert world.order[1] == ("message", "message-1")


def test_S15_more_than_the_echo_is_shown_whole() -> None:
    world = World()
    world.prompt("ok")
    echo(world, "okay then, said the user of another client")
    assert world.texts[1] == ("user", "okay then, said the user of another client")


def test_S15_one_prompt_has_one_echo() -> None:
    world = World()
    world.prompt("again")
    echo(world, "again", "again")
    assert world.texts == [("user", "again"), ("user", "again")]


def test_S15_side_news_does_not_end_an_echo() -> None:
    world = World()
    world.prompt("fix the bug")
    echo(world, "fix ")
    world.update("usage_update", used=1, size=2)
    world.update("available_commands_update", availableCommands=[])
    echo(world, "the bug")
    assert world.texts == [("user", "fix the bug")]


def test_S15_each_prompt_has_its_own_echo() -> None:
    world = World()
    for text in ("one", "two"):
        world.prompt(text)
        echo(world, text)
        world.end()
    assert world.texts == [("user", "one"), ("user", "two")]


def test_S15_in_a_replay_the_users_words_are_shown() -> None:
    world = World()
    echo(world, "fix ", "the bug", replay=True)
    world.say("agent", "ok", replay=True)
    echo(world, "fix the bug", replay=True)
    world.say("agent", "again", replay=True)
    assert world.texts == [
        ("user", "fix the bug"),
        ("agent", "ok"),
        ("user", "fix the bug"),
        ("agent", "again"),
    ]
    assert [message["turn"] for message in world.json["messages"]] == [1, 1, 2, 2]


def test_S15_an_image_is_echoed_as_an_image() -> None:
    image = model.ImageContent("AAAA", "image/png")
    world = World()
    world.prompt(image)
    world.update(
        "user_message_chunk", content={"type": "image", "data": "AAAA", "mimeType": "image/png"}
    )
    world.update(
        "user_message_chunk", content={"type": "image", "data": "BBBB", "mimeType": "image/png"}
    )
    assert len(world.session.messages) == 2


def squeezed(texts: Iterable[str]) -> str:
    return "".join("".join(texts).split())


@settings(deadline=None)
@given(st.lists(st.sampled_from(["a", "b", "ab", " ", "a b", "\n"]), max_size=8), st.data())
def test_S15_nothing_but_the_echo_is_ever_dropped(prompt: list[str], data: Any) -> None:
    """Whatever is said in the user's name is either the prompt once, or shown."""
    chunks = data.draw(st.lists(st.sampled_from(["a", "b", "ab", "ba", " "]), max_size=8))
    world = World()
    world.prompt("".join(prompt))
    echo(world, *chunks)
    world.end()
    shown = squeezed(text for _, text in world.texts[1:])
    said, asked = squeezed(chunks), squeezed(prompt)
    dropped_once = {said[:i] + said[i + len(asked) :] for i in range(len(said))
                    if said.startswith(asked, i)}  # fmt: skip
    assert shown == said or shown in dropped_once
