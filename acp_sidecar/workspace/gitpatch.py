"""The text of a git patch: what it says of which files.

ACP v2, "Tool Calls", a diff's ``patch``; also for agents that report hunks. A patch is a
report: it is read and shown, and the ledger may learn from it, but it is never applied to a
file. Formats: ``git diff`` with its extended headers (git-diff(1), "Generating patch text with
-p"), and plain unified diffs. Binary changes are recognised, their contents are not read.

A patch is lines that end in ``\\n`` and in nothing else; whatever else ends a line elsewhere
is part of it. Names are as git writes them, mostly with ``a/`` and ``b/`` before them:
:mod:`acp_sidecar.workspace.patchnames` says which files they are, and
:mod:`acp_sidecar.workspace.patchtext` what a text would say after it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, Literal, TypeAlias

from attrs import evolve, field, frozen

Operation: TypeAlias = Literal["add", "modify", "delete", "move", "copy"]
"""What a patch does to a file, in the words of ACP v2."""

_HUNK: Final = re.compile(r"@@ -(\d{1,10})(?:,(\d{1,10}))? \+(\d{1,10})(?:,(\d{1,10}))? @@")
_MODE: Final = re.compile(r"(old mode|new mode|deleted file mode|new file mode) ([0-7]{6})")
_INDEX: Final = re.compile(r"index [0-9a-f]+\.\.[0-9a-f]+ ([0-7]{6})")
_MOVE: Final = re.compile(r"(rename|copy) (from|to|old|new) (.+)", re.DOTALL)
_ESCAPE: Final = re.compile(rb"\\([0-3][0-7]{2}|.)", re.DOTALL)
_ESCAPED: Final = dict(zip(b'abfnrtv"\\', b'\a\b\f\n\r\t\v"\\', strict=True))
_NOWHERE: Final = "/dev/null"


class PatchError(ValueError):
    """A patch cannot be read, or does not fit a text; the message says where and why."""


@frozen
class PatchLine:
    """One line of a hunk. ``text`` has its terminator, unless it is the last of its file and
    has none."""

    sign: Literal[" ", "+", "-"]
    text: str


@frozen
class PatchHunk:
    """Lines that change, and some around them. Starts are 1-based, as git has them; where
    there are no lines of a side its start is that of the line before."""

    old_start: int
    old_lines: int
    new_start: int
    new_lines: int
    lines: tuple[PatchLine, ...]

    @classmethod
    def of(
        cls, old_start: int, old_lines: int, new_start: int, new_lines: int, lines: Sequence[str]
    ) -> PatchHunk:
        """A hunk as some agents report it, apart from a patch: ``lines`` have their sign, and
        no terminator. Raises :class:`PatchError`."""
        head = f"@@ -{old_start},{old_lines} +{new_start},{new_lines} @@"
        reader = _Reader(["--- a", "+++ b", head, *lines])
        [file] = reader.files()
        [hunk] = file.hunks
        return hunk

    @property
    def before(self) -> list[str]:
        """The lines of the old side."""
        return [line.text for line in self.lines if line.sign != "+"]

    @property
    def after(self) -> list[str]:
        """The lines of the new side."""
        return [line.text for line in self.lines if line.sign != "-"]


@frozen
class PatchFile:
    """What a patch says of one file. A name is None where there is no file on that side."""

    operation: Operation
    old_name: str | None
    new_name: str | None
    hunks: tuple[PatchHunk, ...] = ()
    old_mode: str | None = None
    """Six octal digits, where they are told."""
    new_mode: str | None = None
    binary: bool = False
    bare_names: bool = field(default=False, eq=False)
    """Whether the names are those of a rename or copy, which have nothing before them."""

    @property
    def names(self) -> tuple[str, ...]:
        """Every file it speaks of."""
        return tuple(dict.fromkeys(name for name in (self.old_name, self.new_name) if name))

    @property
    def is_text(self) -> bool:
        """Whether it is about the text of a file, not about bytes, a link or a repository."""
        modes = (self.old_mode, self.new_mode)
        return not self.binary and all(mode is None or mode.startswith("100") for mode in modes)

    def reversed(self) -> PatchFile:
        """The patch that takes this one back. A copy has none but for its text."""
        back: dict[Operation, Operation] = {"add": "delete", "delete": "add"}
        hunks = tuple(
            PatchHunk(
                hunk.new_start, hunk.new_lines, hunk.old_start, hunk.old_lines, _turned(hunk.lines)
            )
            for hunk in self.hunks
        )
        return evolve(
            self,
            operation=back.get(self.operation, self.operation),
            old_name=self.new_name,
            new_name=self.old_name,
            old_mode=self.new_mode,
            new_mode=self.old_mode,
            hunks=hunks,
        )


def parse(patch: str) -> list[PatchFile]:
    """The files of a patch, in its order. Text around them is passed over.

    Raises :class:`PatchError` where a hunk is not what its head says, where a file has no
    name, or names that contradict one another.
    """
    lines = patch.split("\n")
    if lines[-1] == "":
        lines.pop()
    heads = [line for line in lines if line.startswith(("diff --git ", "--- ", "+++ "))]
    if heads and all(line.endswith("\r") for line in heads):
        # All of it was sent with the line ends of Windows.
        lines = [line.removesuffix("\r") for line in lines]
    return list(_Reader(lines).files())


# --- reading ----------------------------------------------------------------------------


class _Reader:
    """Goes through a patch line by line."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._at = 0

    def files(self) -> Iterator[PatchFile]:
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if line.startswith("diff --git "):
                yield self._git_file(line.removeprefix("diff --git "))
            elif line.startswith("--- ") and self._peek(1).startswith("+++ "):
                yield self._plain_file()
            elif line.startswith(("diff --cc ", "diff --combined ")):
                raise PatchError("A diff of a merge, against several files at once, is not read")
            elif _HUNK.match(line):
                raise PatchError(f"Line {self._at + 1}: a hunk of no file")
            else:
                self._at += 1

    def _peek(self, ahead: int = 0) -> str:
        at = self._at + ahead
        return self._lines[at] if at < len(self._lines) else ""

    def _plain_file(self) -> PatchFile:
        old, new = self._name("--- "), self._name("+++ ")
        if old is None and new is None:
            raise PatchError(f"Line {self._at}: a file that was nowhere and is nowhere")
        operation: Operation = "add" if old is None else "delete" if new is None else "modify"
        return PatchFile(operation, old, new, tuple(self._hunks()))

    def _name(self, sign: str) -> str | None:
        raw = self._lines[self._at].removeprefix(sign)
        self._at += 1
        # A name with spaces is followed by a tab, and in other diffs by a time.
        name = _unquoted(raw) if raw.startswith('"') else raw.partition("\t")[0]
        return None if name == _NOWHERE else name

    def _git_file(self, head: str) -> PatchFile:
        start = self._at + 1
        self._at += 1
        operation: Operation = "modify"
        modes: dict[str, str] = {}
        moves: dict[str, str] = {}
        named: tuple[str | None, str | None] | None = None
        hunks: tuple[PatchHunk, ...] = ()
        binary = False
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if line.startswith("diff --"):
                break
            if mode := _MODE.fullmatch(line):
                modes[mode[1]] = mode[2]
            elif index := _INDEX.fullmatch(line):
                modes.setdefault("old mode", index[1])
                modes.setdefault("new mode", index[1])
            elif move := _MOVE.fullmatch(line):
                operation = "move" if move[1] == "rename" else "copy"
                side = "from" if move[2] in ("from", "old") else "to"
                moves[side] = _unquoted(move[3]) if move[3].startswith('"') else move[3]
            elif line == "GIT binary patch" or line.startswith("Binary files "):
                binary = True
            elif line.startswith("--- ") and self._peek(1).startswith("+++ "):
                if named is not None or binary:
                    break
                named = self._name("--- "), self._name("+++ ")
                hunks = tuple(self._hunks())
                if operation == "modify" and None in named:
                    operation = "add" if named[0] is None else "delete"
                continue
            elif _HUNK.match(line) and not binary:
                raise PatchError(f"Line {self._at + 1}: a hunk of no file")
            self._at += 1
        if "new file mode" in modes:
            operation = "add"
        elif "deleted file mode" in modes:
            operation = "delete"
        old, new = _agreed(head, start, operation, moves, named)
        return PatchFile(
            operation,
            old,
            new,
            hunks,
            modes.get("old mode", modes.get("deleted file mode")),
            modes.get("new mode", modes.get("new file mode")),
            binary,
            bare_names=bool(moves) and named is None,
        )

    def _hunks(self) -> Iterator[PatchHunk]:
        while head := _HUNK.match(self._peek()):
            self._at += 1
            yield self._hunk(head)
            after = self._peek()
            next_file = after.startswith("--- ") and self._peek(1).startswith("+++ ")
            # A mail ends with two dashes, and the version of git.
            mail_over = after in ("-- ", "--")
            if after.startswith((" ", "+", "-")) and not (next_file or mail_over):
                raise PatchError(f"Line {self._at + 1}: more lines than the hunk says")

    def _hunk(self, head: re.Match[str]) -> PatchHunk:
        start = self._at
        numbers = [int(head[n]) if head[n] else 1 for n in (1, 2, 3, 4)]
        left = {"-": numbers[1], "+": numbers[3]}
        found: list[PatchLine] = []
        while left["-"] > 0 or left["+"] > 0:
            if self._at >= len(self._lines):
                raise PatchError(f"Line {start}: the patch ends within this hunk")
            line = self._lines[self._at]
            # Mail and editors take the space from lines that have nothing else.
            sign, text = (line[:1], line[1:]) if line not in ("", "\r") else (" ", line)
            if sign == "\\" and found:
                self._unended(found)
                continue
            if sign not in (" ", "+", "-"):
                raise PatchError(f"Line {self._at + 1}: not a line of a hunk")
            for side in "-+" if sign == " " else sign:
                left[side] -= 1
                if left[side] < 0:
                    raise PatchError(f"Line {start}: the hunk has more lines than it says")
            found.append(PatchLine(sign, text + "\n"))  # type: ignore[arg-type]
            self._at += 1
        if found and self._peek().startswith("\\ "):
            self._unended(found)
        old_start, old_lines, new_start, new_lines = numbers
        return PatchHunk(old_start, old_lines, new_start, new_lines, tuple(found))

    def _unended(self, found: list[PatchLine]) -> None:
        """``\\ No newline at end of file``, in whatever language."""
        found[-1] = evolve(found[-1], text=found[-1].text.removesuffix("\n"))
        self._at += 1


def _agreed(
    head: str,
    number: int,
    operation: Operation,
    moves: dict[str, str],
    named: tuple[str | None, str | None] | None,
) -> tuple[str | None, str | None]:
    """The names of a file, which the head and up to two other places give."""
    first, second = _names_of(head)
    old, new = named or (moves.get("from", first), moves.get("to", second))
    if operation == "add":
        old = None
    elif operation == "delete":
        new = None
    expected = [(old, first, head.startswith), (new, second, head.endswith)]
    if moves and named:
        expected += [
            (moves.get("from"), old, (old or "").endswith),
            (moves.get("to"), new, (new or "").endswith),
        ]
    for name, other, fits in expected:
        if name is None or name == other or (other and other.endswith(f"/{name}")):
            continue
        if other is not None or not fits(name):
            raise PatchError(f"Line {number}: {name!r} is not the name its head gives: {head!r}")
    if (old is None and operation != "add") or (new is None and operation != "delete"):
        raise PatchError(f"Line {number}: the names in {head!r} cannot be told apart")
    return old, new


def _names_of(head: str) -> tuple[str | None, str | None]:
    """The two names after ``diff --git``; None where they cannot be told apart."""
    if head.startswith('"'):
        end = _quoted_end(head)
        rest = head[end + 1 :]
        return _unquoted(head[:end]), _unquoted(rest) if rest.startswith('"') else rest
    if head.endswith('"') and ' "' in head:
        first, _, rest = head.partition(' "')
        return first, _unquoted('"' + rest)
    middle = len(head) // 2
    first, second = head[:middle], head[middle + 1 :]
    same = first == second or first.partition("/")[2] == second.partition("/")[2] != ""
    if head[middle : middle + 1] == " " and same:
        return first, second
    if head.count(" ") == 1 or head.count(" b/") == 1:
        first, _, second = head.partition(" " if head.count(" ") == 1 else " b/")
        return first, second if head.count(" ") == 1 else f"b/{second}"
    return None, None


def _quoted_end(text: str) -> int:
    """Behind the quotation mark that closes the one ``text`` begins with."""
    at = 1
    while at < len(text) and text[at] != '"':
        at += 2 if text[at] == "\\" else 1
    if at >= len(text):
        raise PatchError(f"A name without an end: {text!r}")
    return at + 1


def _unquoted(text: str) -> str:
    """A name in quotation marks, as a C string: the bytes of UTF-8."""
    inner = text[1 : _quoted_end(text) - 1].encode("utf-8", "surrogatepass")

    def plain(match: re.Match[bytes]) -> bytes:
        code = match[1]
        if len(code) == 3:
            return bytes([int(code, 8)])
        if code[0] not in _ESCAPED:
            raise PatchError(f"A name with an escape that git does not write: {text!r}")
        return bytes([_ESCAPED[code[0]]])

    return _ESCAPE.sub(plain, inner).decode("utf-8", "surrogateescape")


def _turned(lines: Sequence[PatchLine]) -> tuple[PatchLine, ...]:
    """The lines of a hunk with their sides exchanged; what goes still comes first."""
    result: list[PatchLine] = []
    come: list[PatchLine] = []
    for line in lines:
        if line.sign == "-":
            come.append(PatchLine("+", line.text))
        elif line.sign == "+":
            result.append(PatchLine("-", line.text))
        else:
            result += [*come, line]
            come = []
    return (*result, *come)
