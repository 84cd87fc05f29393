"""What an agent is told of the user's changes: what is left of them, not each on the way."""

from __future__ import annotations

from pathlib import Path

from acp_sidecar.workspace.news import News
from acp_sidecar.workspace.shelf import Kept
from acp_sidecar.workspace.texts import FileText

PATH = Path("/ws/a.txt")


def says(text: str) -> Kept:
    return Kept.of(FileText(text, "buffer", bom=False))


def test_what_was_changed_and_changed_back_is_no_news() -> None:
    """Also where it was looked at anew between the two."""
    news = News()
    news.edited(PATH, says("one\n"), says("other\n"))
    assert news.all()
    news.edited(PATH, says("other\n"), says("one\n"))
    assert not news.all()


def test_what_the_agent_has_changed_in_between_is_not_the_user_s() -> None:
    news = News()
    news.edited(PATH, says("one\ntwo\n"), says("ONE\ntwo\n"))
    news.edited(PATH, says("ONE\nTWO\n"), says("ONE\n"))
    (edited,) = news.all().edited
    assert [(change.before, change.after) for change in edited.changes] == [
        ("one\n", "ONE\n"),
        ("TWO\n", ""),
    ]
