"""What a terminal's text is: bytes within a limit, characters that come in pieces, what a
person sees of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_sidecar.session.display import shown
from acp_sidecar.session.output import Output
from acp_sidecar.session.terminals import TOTAL, Terminals


def output(*pieces: bytes, limit: int = 1000) -> Output:
    kept = Output(limit)
    for piece in pieces:
        kept.add(piece)
    return kept


# --- C09: characters ------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["中", "é", "😀", "a中b😀c"])
def test_C09_a_character_may_come_in_pieces(text: str) -> None:
    data = text.encode()
    for cut in range(len(data) + 1):
        kept = output(data[:cut])
        before = kept.text(whole=False)
        assert text.startswith(before), "half a character is not shown"
        kept.add(data[cut:])
        assert kept.text(whole=False) == text


def test_C09_what_is_no_utf_8_becomes_replacements_and_never_an_error() -> None:
    assert output(b"a\xffb\xc3").text(whole=True) == "a\ufffdb\ufffd"
    assert output(b"a\xffb\xc3").text(whole=False) == "a\ufffdb"
    assert output("привет".encode("cp866")).text(whole=True).count("\ufffd") > 0
    assert output(b"\xed\xa0\x80").text(whole=True).encode()


@pytest.mark.parametrize(
    ("text", "encoding"), [("Привет, мир", "cp866"), ("中文输出", "gbk"), ("Ünïcödé", "cp850")]
)
def test_C09_another_code_page_is_taken_for_the_whole_of_it(text: str, encoding: str) -> None:
    data = f"{text}\r\n".encode(encoding)
    kept = output(*(data[at : at + 1] for at in range(len(data))))
    assert kept.text(whole=True, fallback=encoding) == f"{text}\r\n"
    assert output(f"{text}\n".encode()).text(whole=True, fallback=encoding) == f"{text}\n"
    assert output(b"a\xe4\xb8").text(whole=False, fallback=encoding) == "a", "UTF-8 so far"


# --- C04: limits -----------------------------------------------------------------------------


@given(st.lists(st.text(max_size=30), max_size=30), st.integers(0, 200))
def test_C04_the_end_is_kept_from_a_character_on(pieces: list[str], limit: int) -> None:
    text = "".join(pieces)
    data = text.encode("utf-8", "replace")
    text = data.decode()
    kept = output(*(piece.encode("utf-8", "replace") for piece in pieces), limit=limit)
    said = kept.text(whole=True)
    assert text.endswith(said)
    assert len(said.encode()) <= limit
    assert len(said.encode()) > min(limit, len(data)) - 4, "no more is cut than has to be"
    assert kept.truncated == (said != text)
    assert kept.size <= limit


@given(st.lists(st.binary(max_size=50), max_size=30), st.integers(0, 100))
def test_C04_whatever_comes_fits_the_limit_as_text(pieces: list[bytes], limit: int) -> None:
    kept = output(*pieces, limit=limit)
    for whole in (False, True):
        assert len(kept.text(whole=whole).encode()) <= limit
    assert kept.truncated or kept.text(whole=True) == b"".join(pieces).decode("utf-8", "replace")


def test_C04_a_limit_of_nothing_keeps_nothing() -> None:
    kept = output(b"abc", limit=0)
    assert (kept.text(whole=True), kept.truncated, kept.size) == ("", True, 0)
    assert not output(limit=0).truncated


def test_C04_many_small_pieces_cost_what_they_hold() -> None:
    kept = Output(1 << 20)
    for _ in range(3 << 20):
        kept.add(b"x")
    assert kept.size == 1 << 20
    assert len(kept._blocks) <= 18
    assert kept.text(whole=True) == "x" * (1 << 20)


@given(st.lists(st.text(max_size=40), max_size=20), st.integers(1, 120))
def test_the_tail_is_the_end_of_it(pieces: list[str], size: int) -> None:
    text = "".join(pieces).encode("utf-8", "replace").decode()
    kept = output(*(piece.encode("utf-8", "replace") for piece in pieces), limit=10_000)
    tail, cut = kept.tail(size, whole=True)
    assert text.endswith(tail)
    assert cut == (tail != text)
    assert len(tail.encode()) <= size


def test_C04_all_terminals_of_a_session_together_have_a_ceiling() -> None:
    """And an agent that asks for more than there is gets what there is."""
    terminals = Terminals(limit=100)
    opened = [terminals.begin(f"t{number}", "yes", "/ws", 10**12) for number in range(20)]
    for terminal in opened:
        terminals.wrote(terminal, b"y" * 250)
    sizes = [terminal.output.size for terminal in opened]
    assert sum(sizes) == TOTAL * 100
    assert max(sizes) == 100
    assert sizes[-TOTAL:] == [100] * TOTAL, "the oldest output goes first"
    assert all(terminal.output.truncated for terminal in opened)


# --- what a person sees ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "seen"),
    [
        ("plain\ttext\n", "plain\ttext\n"),
        ("\x1b[1;31mred\x1b[0m \x1b[38;2;1;2;3mrgb\x1b[m", "red rgb"),
        ("one\r\ntwo\r\n", "one\ntwo\n"),
        ("  1%\r 50%\r100%\ndone", "100%\ndone"),
        ("long line\rshort", "shortline"),
        ("long line\r\x1b[Kshort", "short"),
        ("long line\x1b[2K\rnew", "new"),
        ("50%\r", "50%"),
        ("ab\b\bcd", "cd"),
        ("a\x1b]0;title\x07b", "ab"),
        ("a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\b", "alinkb"),
        ("a\x1bPq#0;2\x1b\\b\x1b(Bc\x1b=d", "abcd"),
        ("\x1b[2J\x1b[H\x1b[10;20Hx\x1b[?25l", "x"),
        ("bell\x07 null\x00 del\x7f c1\x85\x9b31mred", "bell null del c1red"),
        ("cut off \x1b[38;5", "cut off "),
        ("cut off \x1b]0;tit", "cut off "),
        ("cut off \x1b", "cut off "),
    ],
)
def test_what_is_shown_holds_no_control_sequence(written: str, seen: str) -> None:
    assert shown(written) == seen


@given(st.text(alphabet="ab\x1b[]K;0123m\r\n\b\x07\x00\x9b\\P(", max_size=60))
def test_whatever_is_written_nothing_of_it_commands_a_terminal(written: str) -> None:
    assert all(character in "\t\n" or character.isprintable() for character in shown(written))


def test_a_flood_without_line_ends_is_drawn_in_time() -> None:
    """Each of many returns costs what it writes, not what there is."""
    written = "x" * 10_000 + "".join(f"\r{number:5}" for number in range(100_000))
    assert shown(written).startswith("99999xxx")
