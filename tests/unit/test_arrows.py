"""Which rooms of the package know which: arrows point one way, and in no circle."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import acp_sidecar

ROOT = Path(acp_sidecar.__file__).parent
EVERYDAY = {"settings", "statefile", "tasks"}
"""Modules that stand beside the rooms, and know of them the language alone."""
ROOMS = {
    "acp": set[str](),
    "session": {"acp"},
    "workspace": {"acp", "statefile"},
    "agents": {"acp", "statefile"},
    "client": {"acp", "session", "workspace", "agents"} | EVERYDAY,
    "editor": {"acp", "session", "workspace", "client", "tasks"},
}


@cache
def _modules() -> dict[str, ast.Module]:
    """A package is a module as well, where it says more than what it is."""
    return {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): module
        for path in ROOT.rglob("*.py")
        if len((module := ast.parse(path.read_text("utf-8"))).body) > 1
        or path.name != "__init__.py"
    }


def _imported(module: ast.Module, *, at_once: bool) -> Iterator[str]:
    """The modules of ours that one imports; ``at_once``: while it is imported itself."""
    for node in module.body if at_once else ast.walk(module):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("acp_sidecar"):
            package = (node.module or "").removeprefix("acp_sidecar").removeprefix(".")
            names = [f"{package}.{alias.name}".removeprefix(".") for alias in node.names]
            yield from (name for name in (package, *names) if name in _modules())


def test_rooms_know_only_those_below_them() -> None:
    wrong = [
        f"{name} -> {target}"
        for name, module in _modules().items()
        for target in _imported(module, at_once=False)
        if (room := name.split(".")[0]) in ROOMS
        and (other := target.split(".")[0]) != room
        and other not in ROOMS[room]
    ]
    assert not wrong


def test_no_modules_import_one_another_in_a_circle() -> None:
    arrows = {name: {*_imported(it, at_once=True)} for name, it in _modules().items()}
    assert sum(map(len, arrows.values())) > 500
    TopologicalSorter(arrows).prepare()
