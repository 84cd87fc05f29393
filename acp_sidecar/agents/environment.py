"""What an agent's process inherits of the sidecar's environment.

An editor built on Electron, and the virtual environment the sidecar itself is installed
in, leave variables that break other programs: with ``ELECTRON_RUN_AS_NODE`` set an
Electron program is a bare Node, with our ``PYTHONPATH`` an agent's Python imports our
packages. All else is the user's and stays.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

_ELECTRON_PREFIXES: Final = ("VSCODE_",)
_ELECTRON: Final = frozenset(
    {"ELECTRON_RUN_AS_NODE", "ELECTRON_NO_ASAR", "ELECTRON_NO_ATTACH_CONSOLE"}
    | {"APPLICATION_INSIGHTS_NO_DIAGNOSTIC_CHANNEL"}
)
_VENV: Final = ("VIRTUAL_ENV", "VIRTUAL_ENV_PROMPT", "_OLD_VIRTUAL_PATH", "_OLD_VIRTUAL_PYTHONHOME")
_OUR_PACKAGES: Final = Path(__file__).resolve().parents[2]


def inherited(
    overrides: Mapping[str, str | None] | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    prefix: str = sys.prefix,
    windows: bool = sys.platform == "win32",
) -> dict[str, str]:
    """The full environment of a child.

    :param overrides: what the user sets, last word on every name; ``None`` as a value removes
    :param environ: what is inherited, by default this process's environment
    :param prefix: of our own virtual environment
    :param windows: names are case-insensitive, and kept in upper case
    """
    given = dict(os.environ if environ is None else environ)
    if windows:
        given = {name.upper(): value for name, value in given.items()}
    result = {name: value for name, value in given.items() if not _is_electron(name)}
    if len(result) < len(given):
        # Under Electron this holds the options of the editor's own debugger and loader.
        result.pop("NODE_OPTIONS", None)
    _leave_venv(result, Path(prefix).resolve())
    for name, value in (overrides or {}).items():
        key = name.upper() if windows else name
        if value is None:
            result.pop(key, None)
        else:
            result[key] = value
    return result


def _is_electron(name: str) -> bool:
    return name in _ELECTRON or name.startswith(_ELECTRON_PREFIXES)


def _leave_venv(environ: dict[str, str], prefix: Path) -> None:
    """Undoes what our own virtual environment and packages have added, and only that."""
    environ.pop("__PYVENV_LAUNCHER__", None)
    if "PYTHONPATH" in environ:
        kept = [entry for entry in _entries(environ["PYTHONPATH"]) if not _is_ours(entry, prefix)]
        _set_entries(environ, "PYTHONPATH", kept)
    if "PYTHONHOME" in environ and _is_ours(environ["PYTHONHOME"], prefix):
        del environ["PYTHONHOME"]
    active = environ.get("VIRTUAL_ENV")
    if active and Path(active).resolve() == prefix:
        for name in _VENV:
            environ.pop(name, None)
        scripts = (prefix / "bin", prefix / "Scripts")
        kept = [e for e in _entries(environ.get("PATH", "")) if Path(e).resolve() not in scripts]
        _set_entries(environ, "PATH", kept)


def _entries(value: str) -> list[str]:
    return [entry for entry in value.split(os.pathsep) if entry]


def _set_entries(environ: dict[str, str], name: str, entries: list[str]) -> None:
    if entries:
        environ[name] = os.pathsep.join(entries)
    else:
        environ.pop(name, None)


def _is_ours(entry: str, prefix: Path) -> bool:
    path = Path(entry).resolve()
    return path == _OUR_PACKAGES or path.is_relative_to(prefix)
