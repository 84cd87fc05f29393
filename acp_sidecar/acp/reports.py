"""Reports of changed files: v1's texts before and after ↔ v2's changes with a patch.

A patch that is written here has the whole text as its context, so the texts can be read from
it again. Of a patch of an agent's only the pieces around its changes are known, and each piece
becomes a report of its own, as agents make them that replace a part of a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from attrs import Factory, define

from acp_sidecar.acp import model

GIT_PATCH: Final = "git_patch"
_NONE: Final = "/dev/null"
_NO_NEWLINE: Final = "\\ No newline at end of file"

# --- v1 → v2 -----------------------------------------------------------------------------------


def changed_files(diff: model.Diff) -> model.ChangedFiles:
    """A v1 diff as v2 says it. Without a text before it is said to add the file."""
    change = model.FileChange("modify" if diff.old_text is not None else "add", diff.path)
    text = _patch_of(diff)
    patch = None if text is None else model.DiffPatch(GIT_PATCH, text)
    return model.ChangedFiles((change,), patch, diff.meta, diff.unknown)


def _patch_of(diff: model.Diff) -> str | None:
    if "\0" in diff.new_text + (diff.old_text or ""):
        return None
    name = _quoted(diff.path)
    # Git itself ends a name with a tab where it has a space in it.
    ended = f"{name}\t" if " " in name else name
    old, new = _lines(diff.old_text or ""), _lines(diff.new_text)
    head = [f"diff --git {name} {name}"]
    if diff.old_text is None:
        head += ["new file mode 100644"]
    if old == new:
        return None if diff.old_text is not None else "\n".join(head) + "\n"
    head += [f"--- {_NONE if diff.old_text is None else ended}", f"+++ {ended}"]
    head += [f"@@ -{_span(old)} +{_span(new)} @@"]
    same = _common(old, new)
    after = _common(old[same:][::-1], new[same:][::-1])
    body = [
        *(f" {line}" for line in old[:same]),
        *(f"-{line}" for line in old[same : len(old) - after]),
        *(f"+{line}" for line in new[same : len(new) - after]),
        *(f" {line}" for line in old[len(old) - after :]),
    ]
    return "".join(
        f"{line}" if line.endswith("\n") else f"{line}\n{_NO_NEWLINE}\n"
        for line in (*(f"{line}\n" for line in head), *body)
    )


def _lines(text: str) -> list[str]:
    """The lines of a text with their ends, which are line feeds and nothing else."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _span(lines: Sequence[str]) -> str:
    return f"{min(1, len(lines))},{len(lines)}"


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many items both begin with."""
    pairs = zip(one, other, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


_ESCAPES: Final = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def _quoted(path: str) -> str:
    """A path as git writes it: as it is, or in quotes with escapes."""
    if all(" " <= each <= "~" and each not in '"\\' for each in path):
        return path
    return '"' + "".join(_escaped(each) for each in path) + '"'


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if " " <= character <= "~":
        return character
    return "".join(f"\\{byte:03o}" for byte in character.encode("utf-8", "replace"))


# --- v2 → v1 -----------------------------------------------------------------------------------


def diffs(report: model.ChangedFiles) -> list[model.Content | model.Diff]:
    """A v2 diff in the words of v1: a diff for each piece of text that the patch shows, and a
    sentence for each other change.

    A patch that speaks of files that are not among the changes is not believed; it is text then.
    """
    told: list[model.Content | model.Diff] = []
    patch = report.patch
    pieces = list(_pieces(patch.text)) if patch and patch.format == GIT_PATCH else []
    paths = {path for file in report.files for path in (file.path, file.old_path) if path}
    believed = all(name in paths for piece in pieces for name in piece.names)
    shown = {piece.path for piece in pieces} if believed else set()
    for file in report.files:
        if file.path not in shown or file.operation in ("move", "copy"):
            told.append(_sentence(_words(file)))
        for piece in pieces if believed else ():
            if piece.path == file.path:
                old, new = piece.texts(file.operation)
                told.append(model.Diff(file.path, new, old, report.meta, report.unknown))
    told += [
        _sentence(f"Change: {item.raw.get('operation')}")
        for item in report.changes
        if isinstance(item, model.UnknownBlock)
    ]
    if patch is not None and not (pieces and believed):
        told.append(_sentence(patch.text))
    return told


_VERBS: Final = {"add": "Added", "delete": "Deleted", "modify": "Changed"}


def _words(file: model.FileChange) -> str:
    kind = f" ({file.file_type})" if file.file_type not in (None, "text") else ""
    if file.operation in _VERBS:
        return f"{_VERBS[file.operation]} {file.path}{kind}"
    verb = "Moved" if file.operation == "move" else "Copied"
    return f"{verb} {file.old_path} to {file.path}{kind}"


def _sentence(text: str) -> model.Content:
    return model.Content(model.TextContent(text))


@define
class _Piece:
    """Some lines of a file before and after."""

    names: tuple[str, ...]
    path: str
    old: list[str] = Factory(list)
    new: list[str] = Factory(list)

    def texts(self, operation: str) -> tuple[str | None, str]:
        return None if operation == "add" else "".join(self.old), "".join(self.new)


_HUNK: Final = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")


def _pieces(patch: str) -> Iterator[_Piece]:
    """The pieces of text in a patch, in order. What is not understood is passed over."""
    names: tuple[str, ...] = ()
    created = False
    lines = iter(_lines(patch))
    line = next(lines, None)
    while line is not None:
        bare = line.removesuffix("\n")
        hunk = _HUNK.match(bare)
        if bare.startswith("diff --git "):
            if created and names:
                yield _Piece(names, names[-1])
            names, created = _same_name(bare.removeprefix("diff --git ")), False
        elif bare.startswith("new file mode"):
            created = True
        elif bare.startswith(("--- ", "+++ ")):
            side = _name(bare[4:])
            if bare.startswith("--- "):
                names = () if side == _NONE else (side,)
            elif side != _NONE:
                names = tuple(dict.fromkeys((*names, side)))
        elif hunk is not None and names:
            created = False
            piece = _Piece(names, names[-1])
            line = _fill(piece, lines, int(hunk[1] or 1), int(hunk[2] or 1))
            yield piece
            continue
        line = next(lines, None)
    if created and names:
        yield _Piece(names, names[-1])


def _fill(piece: _Piece, lines: Iterator[str], old: int, new: int) -> str | None:
    """Read the lines of a hunk; returns the first line after it."""
    sides: tuple[list[str], ...] = ()
    for line in lines:
        if line.startswith("\\"):
            for side in sides:
                side[-1] = side[-1].removesuffix("\n")
            continue
        if len(piece.old) >= old and len(piece.new) >= new:
            return line
        sides = {"-": (piece.old,), "+": (piece.new,)}.get(line[0], (piece.old, piece.new))
        for side in sides:
            side.append(line[1:])
    return None


def _same_name(names: str) -> tuple[str, ...]:
    """The name after ``diff --git``, where it is the same on both sides."""
    middle = len(names) // 2
    if names[middle : middle + 1] == " " and names[:middle] == names[middle + 1 :]:
        return (_name(names[:middle]),)
    return ()


def _name(written: str) -> str:
    name = written.split("\t", 1)[0]
    if not (name.startswith('"') and name.endswith('"') and len(name) > 1):
        return name
    raw = name[1:-1].encode("utf-8", "surrogatepass")
    plain = re.sub(rb"\\([0-7]{3}|.)", _unescaped, raw)
    return plain.decode("utf-8", "replace")


def _unescaped(match: re.Match[bytes]) -> bytes:
    code = match[1]
    if len(code) == 3:
        return bytes([int(code, 8) & 0xFF])
    return {b"n": b"\n", b"t": b"\t", b"r": b"\r"}.get(code, code)
