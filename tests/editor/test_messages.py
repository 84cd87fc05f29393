"""What a user is told in passing, and how often."""

from __future__ import annotations

from typing import Any, cast

import pytest

from acp_sidecar.editor.messages import MOST, SECONDS, Messages
from acp_sidecar.editor.server import SidecarServer


class Screen:
    """Stands for the server: keeps what it sends."""

    def __init__(self) -> None:
        self.now = 0.0
        self.shown: list[str] = []
        self.logged: list[str] = []
        self.messages = Messages(cast(SidecarServer, self), clock=lambda: self.now)

    def notify_json(self, method: str, params: dict[str, Any]) -> None:
        texts = self.shown if method == "window/showMessage" else self.logged
        texts.append(f"{params['type']} {params['message']}")


@pytest.fixture
def screen() -> Screen:
    return Screen()


def test_R05_a_text_is_told_once_in_a_while(screen: Screen) -> None:
    for _ in range(20):
        screen.messages.tell("warning", "again")
    assert screen.shown == ["2 again"]
    screen.now += SECONDS
    screen.messages.tell("warning", "again")
    assert screen.shown == ["2 again"] * 2
    assert screen.logged == []


def test_R05_a_flood_goes_to_the_log_and_says_so_once(screen: Screen) -> None:
    for number in range(20):
        screen.messages.tell("info", f"n{number}")
    more = "3 There is more of this kind in the log."
    assert screen.shown == [*(f"3 n{number}" for number in range(MOST)), more]
    assert screen.logged == [f"3 n{number}" for number in range(MOST, 20)]
    # What is worse is not lost in it, and the flood is over some time.
    screen.messages.tell("error", "boom")
    screen.now += SECONDS
    screen.messages.tell("info", "later")
    assert screen.shown[-2:] == ["1 boom", "3 later"]


def test_what_is_for_the_log_is_logged_only(screen: Screen) -> None:
    screen.messages.tell("log", "started")
    assert (screen.shown, screen.logged) == ([], ["3 started"])
