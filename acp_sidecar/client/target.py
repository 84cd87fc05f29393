"""What is at a path that an agent names in a question, as far as the user may be told."""

from __future__ import annotations

import os

from attrs import frozen

from acp_sidecar.workspace.files import Files
from acp_sidecar.workspace.roots import PathRefused, Roots


@frozen
class Target:
    """What is at a path an agent named.

    ``exists`` is None where that cannot be told. ``text`` is what a regular file says, as
    far as that can be read; ``regular`` is false for a folder, a pipe, a device. ``inside``:
    whether the path lies inside the session's roots.
    """

    exists: bool | None = False
    text: str | None = None
    inside: bool = True
    regular: bool = True


def look(path: str, cwd: str, roots: Roots, files: Files) -> Target:
    """What is at ``path`` now, for a session in ``cwd`` with these roots."""
    try:
        real = roots.resolve(path, relative_to=cwd, must="new")
    except PathRefused as refused:
        if refused.reason == "outside":
            there = os.path.lexists(os.path.join(cwd, path))  # noqa: PTH118
            return Target(exists=there, inside=False)
        if refused.reason in ("directory", "special"):
            return Target(exists=True, regular=False)
        unknown = refused.reason == "permission"
        return Target(None if unknown else False, inside=refused.reason != "invalid")
    return Target(exists=real.exists(), text=files.glance(real))
