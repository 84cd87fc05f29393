"""What an agent's process inherits of the sidecar's environment.

An editor (one built on Electron above all), and the virtual environment the sidecar itself is
installed in, leave variables that break other programs: with ``ELECTRON_RUN_AS_NODE`` set an
Electron program is a bare Node, with our ``PYTHONPATH`` an agent's Python imports our
packages. All else is the user's and stays.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

_ELECTRON_PREFIXES: Final = ("VSCODE_",)
_ELECTRON: Final = frozenset(
    {"ELECTRON_RUN_AS_NODE", "ELECTRON_NO_ASAR", "ELECTRON_NO_ATTACH_CONSOLE"}
    | {"APPLICATION_INSIGHTS_NO_DIAGNOSTIC_CHANNEL"}
)
_CHANNEL: Final = ("NODE_CHANNEL_FD", "NODE_CHANNEL_SERIALIZATION_MODE")
"""A pipe to the Node that has started us, which nobody we start has open."""
_NEOVIM: Final = ("VIM", "VIMRUNTIME", "MYVIMRC", "NVIM_LISTEN_ADDRESS")
"""Neovim's own folders, wrong for any other Vim that an agent's command starts."""
_VENV: Final = ("VIRTUAL_ENV", "VIRTUAL_ENV_PROMPT", "_OLD_VIRTUAL_PATH", "_OLD_VIRTUAL_PYTHONHOME")
_OUR_PACKAGES: Final = Path(__file__).resolve().parents[2]


def inherited(
    overrides: Mapping[str, str | None] | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    venv: str | None = sys.prefix if sys.prefix != sys.base_prefix else None,
    windows: bool = sys.platform == "win32",
) -> dict[str, str]:
    """The full environment of a child.

    :param overrides: what the user sets, last word on every name; ``None`` as a value removes
    :param environ: what is inherited, by default this process's environment
    :param venv: folder of our own virtual environment, ``None`` without one
    :param windows: names are case-insensitive, and kept in upper case
    """
    given = dict(os.environ if environ is None else environ)
    if windows:
        given = {name.upper(): value for name, value in given.items()}
    result = {name: value for name, value in given.items() if not _is_electron(name)}
    if len(result) < len(given):
        # Under Electron this holds the options of the editor's own debugger and loader.
        result.pop("NODE_OPTIONS", None)
    for name in (*_CHANNEL, *(_NEOVIM if "NVIM" in result else ())):
        result.pop(name, None)
    _leave_packages(result, Path(venv).resolve() if venv else None)
    for name, value in (overrides or {}).items():
        key = name.upper() if windows else name
        if value is None:
            result.pop(key, None)
        else:
            result[key] = value
    return result


def _is_electron(name: str) -> bool:
    return name in _ELECTRON or name.startswith(_ELECTRON_PREFIXES)


def _leave_packages(environ: dict[str, str], venv: Path | None) -> None:
    """Undoes what our own packages and virtual environment have added, and only that."""
    environ.pop("__PYVENV_LAUNCHER__", None)
    _keep_entries(environ, "PYTHONPATH", lambda path: not _is_ours(path, venv))
    if "PYTHONHOME" in environ and _is_ours(Path(environ["PYTHONHOME"]).resolve(), venv):
        del environ["PYTHONHOME"]
    active = environ.get("VIRTUAL_ENV")
    if venv is None or not active or Path(active).resolve() != venv:
        return
    for name in _VENV:
        environ.pop(name, None)
    _keep_entries(environ, "PATH", lambda path: path not in (venv / "bin", venv / "Scripts"))


def _keep_entries(environ: dict[str, str], name: str, keep: Callable[[Path], bool]) -> None:
    if name not in environ:
        return
    entries = environ[name].split(os.pathsep)
    kept = [entry for entry in entries if not entry or keep(Path(entry).resolve())]
    if any(kept):
        environ[name] = os.pathsep.join(kept)
    else:
        del environ[name]


def _is_ours(path: Path, venv: Path | None) -> bool:
    return path == _OUR_PACKAGES or (venv is not None and path.is_relative_to(venv))
