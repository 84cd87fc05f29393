"""What a session is called."""

from __future__ import annotations

from acp_sidecar.acp import model
from acp_sidecar.session import change

from .session_world import World


def titles(changes: list[change.Change]) -> list[str | None]:
    return [item.title for item in changes if isinstance(item, change.InfoChanged)]


def test_a_session_is_called_by_the_first_words_of_its_user_until_its_agent_names_it() -> None:
    world = World()
    picture = model.ImageContent(data="", mime_type="image/png")
    assert titles(world.prompt(picture)) == []
    assert titles(world.prompt("  Mend\n the ", picture, " tests ")) == ["Mend the tests"]
    assert world.json["title"] == "Mend the tests"
    assert titles(world.prompt("And now?")) == []
    assert titles(world.update("session_info_update", title="Tests")) == ["Tests"]
    world.update("session_info_update", title=None)
    assert world.json["title"] == "Mend the tests"


def test_a_long_prompt_is_cut_for_a_title() -> None:
    world = World()
    world.prompt("x" * 59 + "\U0001f600 and more")
    assert world.json["title"] == "x" * 59 + "…"
    short = World()
    short.prompt("x" * 60)
    assert short.json["title"] == "x" * 60


def test_a_history_that_is_told_in_pieces_gives_the_title_of_its_first_prompt() -> None:
    world = World()
    world.say("agent", "Welcome", replay=True)
    assert titles(world.say("user", "Mend ", replay=True)) == ["Mend"]
    assert titles(world.say("user", "the tests", replay=True)) == ["Mend the tests"]
    world.say("agent", "Done", replay=True)
    assert titles(world.say("user", "And now?", replay=True)) == []


def test_a_session_that_is_opened_again_is_called_as_it_was() -> None:
    world = World()
    world.session.was_called("Earlier")
    assert titles(world.session.opened(model.SessionOpened("S"))) == ["Earlier"]
    assert titles(world.prompt("And now?")) == []
    assert world.json["title"] == "Earlier"
    world.update("session_info_update", title="Named")
    assert world.json["title"] == "Named"
