"""Which words of a prompt name a file."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_sidecar.client.mentions import Mention, Reading, mentions, written


def paths(text: str) -> list[str]:
    """The last reading of each mention: what is left of it without any punctuation."""
    return [mention.readings[-1].path for mention in mentions(text)]


def only(text: str) -> Mention:
    (mention,) = mentions(text)
    return mention


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("@src/a.py", "src/a.py"),
        ("look at @a.py please", "a.py"),
        ("(@a.py)", "a.py"),
        ("see @a.py.", "a.py"),
        ("see @a.py, and", "a.py"),
        ("is it @a.py?!", "a.py"),
        ("[@a.py]", "a.py"),
        ("*@a.py*", "a.py"),
        ("@./x", "./x"),
        ("@/ws/x", "/ws/x"),
        ("@ünï/ö.py", "ünï/ö.py"),
        ("line one\n@a.py", "a.py"),
        ("@Makefile", "Makefile"),
        ("@src/", "src/"),
        ("@.gitignore", ".gitignore"),
        ("“@a.py”", "a.py"),
    ],
)
def test_a_mention(text: str, path: str) -> None:
    assert paths(text) == [path]


@pytest.mark.parametrize(
    ("text", "path", "lines"),
    [
        ("@a.py:10", "a.py", (9, 9)),
        ("@a.py:10-20", "a.py", (9, 19)),
        ("@a.py:20-10", "a.py", (9, 19)),
        ("@a.py:0", "a.py", (0, 0)),
        ("see @a.py:3.", "a.py", (2, 2)),
        ("(@a.py:3-4).", "a.py", (2, 3)),
        ('@"my file.txt"', "my file.txt", None),
        ('@"my file.txt":2-3 and', "my file.txt", (1, 2)),
    ],
)
def test_lines_and_blanks(text: str, path: str, lines: tuple[int, int] | None) -> None:
    assert Reading(path, lines) in only(text).readings


def test_the_whole_is_tried_before_a_part_of_it() -> None:
    """A file may be called ``what?`` or ``a:3``."""
    assert [reading.path for reading in only("@what?").readings] == ["what?", "what"]
    assert only("@a:3").readings == (Reading("a:3"), Reading("a", (2, 2)))


@pytest.mark.parametrize(
    "text",
    [
        "me@example.com",
        "write to me.too@example.com now",
        "user@host:path",
        "a@b",
        "@",
        "@ a",
        "@@",
        "`@a.py`",
        "``@a.py ` ``",
        "```\n@dataclass\nclass A: ...\n```",
        "~~~py\n@a.py\n~~~",
        "```py\n@a.py (never closed)",
        "https://x/@a.py",
        r"\@a.py",
        '@""',
        "@...",
    ],
)
def test_no_mention(text: str) -> None:
    assert [path for path in paths(text) if path not in ("", ".")] == []


@pytest.mark.parametrize(
    ("text", "evident"),
    [
        ("@a.py", True),
        ("@src/nothing", True),
        ("@a:3", True),
        ('@"some name"', True),
        ("@property", False),
        ("@app.route('/x')", False),
        ("@pytest.fixture", False),
        ("@alice", False),
        ("@functools.lru_cache(maxsize=1)", False),
    ],
)
def test_what_looks_like_a_file_where_there_is_none(text: str, evident: bool) -> None:
    assert only(text).evident is evident


def test_each_is_named_once_in_order() -> None:
    text = "@b.py @a.py and @b.py again, after ``` @c.py"
    assert [mention.text for mention in mentions(text)] == ["@b.py", "@a.py", "@c.py"]


def test_a_long_text_takes_no_time() -> None:
    assert mentions("@" * 100_000) == []
    assert len(mentions("`@a.py " * 20_000)) <= 1
    assert len(mentions("``` " * 20_000)) == 0


@pytest.mark.parametrize(
    ("name", "lines", "text"),
    [
        ("src/a.py", None, "@src/a.py"),
        ("a.py", (9, 19), "@a.py:10-20"),
        ("a.py", (2, 2), "@a.py:3"),
        ("a b.py", None, '@"a b.py"'),
        ("a b.py", (2, 2), '@"a b.py":3'),
        ("grüße.md", None, "@grüße.md"),
        ("/elsewhere/a.py", None, "@/elsewhere/a.py"),
        ("C:/ws/a.py", (0, 1), "@C:/ws/a.py:1-2"),
        ("what.md?", None, '@"what.md?"'),
        ("a.py:3", None, '@"a.py:3"'),
        ("it's.md", None, '@"it\'s.md"'),
        ("selection", None, '@"selection"'),
        ('say "hi".md', None, None),
        ("two\nlines", None, None),
    ],
)
def test_a_mention_is_written(name: str, lines: tuple[int, int] | None, text: str | None) -> None:
    assert written(name, lines) == text


@given(st.text(min_size=1, max_size=12), st.none() | st.tuples(st.integers(0, 99), st.just(120)))
def test_what_is_written_is_read_as_what_was_meant(
    name: str, lines: tuple[int, int] | None
) -> None:
    text = written(name, lines)
    if text is not None:
        mention = only(f"see {text} please")
        assert mention.text == text
        assert Reading(name, lines) in mention.readings
