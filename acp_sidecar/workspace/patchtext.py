"""What a text would say after a patch, for showing: never written anywhere."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve

from acp_sidecar.workspace.gitpatch import PatchError, PatchFile, PatchHunk, PatchLine
from acp_sidecar.workspace.textdiff import line_end
from acp_sidecar.workspace.texts import BOM


def apply(file: PatchFile, text: str) -> str:
    """What ``text`` says after a patch, for a preview; ``""`` is a file that does not exist.

    Every line that the patch names has to be where it says. Line ends may be others than in
    the patch: then lines that stay are untouched, and lines that come in end as most of the
    text does. A last line that is not the last any more gets a line end. Raises
    :class:`PatchError` for everything else, and for what is no text.
    """
    if not file.is_text:
        raise PatchError(f"{_called(file)}: not a change of text")
    lines = _split(text)
    hunks = _unmarked(file.hunks, text)
    _check(file, hunks, lines)
    most = _own_end(hunks, lines, text)
    result: list[str] = []
    done = 0
    for hunk in hunks:
        start = _offset(hunk)
        result += lines[done:start]
        done = start
        for line in hunk.lines:
            if line.sign == " ":
                result.append(lines[done])
            elif line.sign == "+":
                result.append(line.text if most is None else _ended(line.text, most))
            done += line.sign != "+"
    result += lines[done:]
    for number, last in enumerate(result[:-1]):
        if not last.endswith("\n"):
            result[number] = last + (most or _last_end(lines) or "\n")
    return "".join(result)


def _split(text: str) -> list[str]:
    lines = [line + "\n" for line in text.split("\n")]
    last = lines.pop().removesuffix("\n")
    return [*lines, last] if last else lines


def _offset(hunk: PatchHunk) -> int:
    return hunk.old_start - 1 if hunk.old_lines else hunk.old_start


def _plain(line: str) -> str:
    """A line without the way it ends."""
    return line.removesuffix("\n").removesuffix("\r") if line.endswith("\n") else line


def _ended(line: str, end: str) -> str:
    return _plain(line) + end if line.endswith("\n") else line


def _check(file: PatchFile, hunks: Sequence[PatchHunk], lines: Sequence[str]) -> None:
    """Raises :class:`PatchError` where the old side of a hunk is not what the text says."""
    done = 0
    for hunk in hunks:
        start = _offset(hunk)
        if start < done or start > len(lines):
            raise PatchError(
                f"{_called(file)}: a hunk at line {hunk.old_start}, which is not there"
            )
        done = start
        for wanted in hunk.before:
            there = lines[done] if done < len(lines) else None
            if there is None or _plain(there) != _plain(wanted):
                said = "nothing" if there is None else repr(there[:80])
                raise PatchError(
                    f"{_called(file)}: line {done + 1} says {said} instead of {wanted[:80]!r}"
                )
            if not wanted.endswith("\n") and there.endswith("\n"):
                raise PatchError(f"{_called(file)}: line {done + 1} ends in a newline")
            done += 1
    if file.operation == "add" and lines:
        raise PatchError(f"{_called(file)}: a new file that is there already")
    if file.operation == "delete" and hunks and done < len(lines):
        raise PatchError(f"{_called(file)}: a deleted file that says more than the patch knows")


def _own_end(hunks: Sequence[PatchHunk], lines: Sequence[str], text: str) -> str | None:
    """The line end to give to new lines; None where the patch knows those of the text."""
    known = False
    for hunk in hunks:
        start = _offset(hunk)
        for there, wanted in zip(lines[start : start + hunk.old_lines], hunk.before, strict=True):
            if there != wanted and there.endswith("\n"):
                return _most(text)
            known = known or there == wanted != _plain(wanted)
        known = known or any(line.endswith("\r\n") for line in hunk.after)
    return None if known else _most(text)


def _most(text: str) -> str | None:
    return line_end(text) if "\n" in text else None


def _last_end(lines: Sequence[str]) -> str | None:
    """How the line before the last one ends."""
    if len(lines) < 2:
        return None
    return "\r\n" if lines[-2].endswith("\r\n") else "\n"


def _unmarked(hunks: Sequence[PatchHunk], text: str) -> tuple[PatchHunk, ...]:
    """The hunks without the byte order mark, where the text is without its own."""
    if not hunks or hunks[0].old_start != 1 or text.startswith(BOM):
        return tuple(hunks)
    if not "".join(hunks[0].before[:1]).startswith(BOM):
        return tuple(hunks)
    seen = ""
    lines: list[PatchLine] = []
    for line in hunks[0].lines:
        sides = "-+" if line.sign == " " else line.sign
        if not all(side in seen for side in sides):
            line = evolve(line, text=line.text.removeprefix(BOM))
        seen += sides
        lines.append(line)
    return (evolve(hunks[0], lines=tuple(lines)), *hunks[1:])


def _called(file: PatchFile) -> str:
    return file.new_name or file.old_name or ""
