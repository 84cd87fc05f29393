"""What is said of the end of a turn."""

from __future__ import annotations

import pytest

from acp_sidecar.client.endings import stop_text


@pytest.mark.parametrize("reason", [None, "end_turn"])
def test_nothing_is_said_of_a_turn_that_just_ended(reason: str | None) -> None:
    assert stop_text(reason) is None


@pytest.mark.parametrize("reason", ["cancelled", "max_tokens", "max_turn_requests", "refusal"])
def test_each_other_end_of_the_protocol_has_a_sentence_of_its_own(reason: str) -> None:
    said = stop_text(reason)
    assert said
    assert reason not in said
    assert not said.startswith("The turn ended:")


def test_an_unknown_end_is_told_in_the_agent_s_word_made_visible() -> None:
    assert stop_text("_bored\u202e\n[x](y)") == "The turn ended: _bored\\u202e\\n[x] (y)"
