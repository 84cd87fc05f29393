"""Which announced files the names in a patch are.

ACP v2, "Tool Calls": a diff announces ``changes`` with absolute paths, its patch has names of
its own, mostly relative ones. Only what is announced counts, and only for what is announced the
roots are asked: a patch that speaks of anything else is refused as a whole.
"""

from __future__ import annotations

import ntpath
import re
from collections.abc import Collection, Sequence
from typing import Final

from attrs import frozen

from acp_sidecar.workspace.gitpatch import PatchError, PatchFile

_PREFIX: Final = re.compile(r"[abciow12]/")
"""What git puts before names, by its setting ``diff.mnemonicPrefix``."""


@frozen
class PatchedFile:
    """What a patch says of announced files. ``old_path`` and ``path`` are as announced; None
    where there is no file on that side."""

    old_path: str | None
    path: str | None
    patch: PatchFile


def authorise(
    files: Sequence[PatchFile], announced: Collection[str], *, base: str | None = None
) -> list[PatchedFile]:
    """The files of a patch by the paths they were announced with.

    ``announced``: every absolute path that the changes name, both ends of a move too.
    ``base``: the folder that relative names most likely start from; it decides where several
    would do. Raises :class:`PatchError`, with the reason, unless each name is clearly one of
    the announced paths; then nothing of the patch is to be believed.
    """
    told = [_told(file) for file in files]
    names = list(dict.fromkeys(name for pair in told for name in pair if name is not None))
    by_form = {_form(path): path for path in announced}
    found = _found(names, by_form, None if base is None else _form(base))
    return [
        PatchedFile(None if old is None else found[old], None if new is None else found[new], file)
        for (old, new), file in zip(told, files, strict=True)
    ]


def _told(file: PatchFile) -> tuple[str | None, str | None]:
    """The names of a file without what git puts before them."""
    old, new = file.old_name, file.new_name
    for name in file.names:
        _check(name)
    if file.bare_names:
        return old, new
    stripped = [
        _PREFIX.sub("", name, count=1) if name and _PREFIX.match(name) else None
        for name in (old, new)
    ]
    before = {name[0] for name in (old, new) if name and _PREFIX.match(name)}
    prefixed = all(
        new_name is not None for name, new_name in zip((old, new), stripped, strict=True) if name
    )
    # Both sides have one, and not the same: else it is a folder of that name.
    if prefixed and (len(before) == 2 or None in (old, new)):
        return stripped[0], stripped[1]
    return old, new


def _check(name: str) -> None:
    parts = re.split(r"[/\\]", name)
    if "\0" in name or ".." in parts or not parts[-1]:
        raise PatchError(f"The patch speaks of {name!r}, which is no name of a file")


def _form(path: str) -> str:
    """A path in a form to compare: one kind of slash, drive letters alike."""
    drive, rest = ntpath.splitdrive(path)
    if len(drive) == 2:
        return drive.upper() + rest.replace("\\", "/")
    return path


def _is_absolute(form: str) -> bool:
    return form.startswith("/") or bool(re.match(r"[A-Z]:/", form))


def _found(names: Sequence[str], by_form: dict[str, str], base: str | None) -> dict[str, str]:
    forms = {name: _form(name) for name in names}
    relative = {name: form for name, form in forms.items() if not _is_absolute(form)}
    found: dict[str, str] = {}
    for name, form in forms.items():
        if name in relative:
            if not any(_under(form, path) is not None for path in by_form):
                raise _unannounced(name)
        elif form not in by_form:
            raise _unannounced(name)
        else:
            found[name] = by_form[form]
    bases = _bases(list(relative.values()), by_form)
    if base is not None and base.rstrip("/") in bases:
        bases = {base.rstrip("/")}
    for name, form in relative.items():
        ends = [path for path in by_form if _under(form, path) is not None]
        if len(bases) == 1:
            found[name] = by_form[f"{next(iter(bases))}/{form}"]
        elif len(ends) == 1:
            found[name] = by_form[ends[0]]
        else:
            raise PatchError(f"The patch speaks of {name!r}, which may be any of {sorted(ends)}")
    return found


def _bases(forms: Sequence[str], by_form: Collection[str]) -> set[str]:
    """The folders from which every name leads to an announced path."""
    if not forms:
        return set()
    first = {folder for path in by_form if (folder := _under(forms[0], path)) is not None}
    return {folder for folder in first if all(f"{folder}/{form}" in by_form for form in forms[1:])}


def _under(form: str, path: str) -> str | None:
    """The folder below which ``form`` leads to ``path``."""
    return path[: -len(form) - 1] if path.endswith(f"/{form}") else None


def _unannounced(name: str) -> PatchError:
    return PatchError(f"The patch speaks of {name!r}, which is none of the announced changes")
