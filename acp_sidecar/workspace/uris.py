"""File URIs and paths, both ways (RFC 3986, RFC 8089; LSP, "URIs").

A path that begins with a drive letter is a Windows path wherever we run: its case and
the way its URI spells the colon mean nothing.
"""

from __future__ import annotations

import os
import platform
import re
import unicodedata
from typing import Final
from urllib.parse import quote_from_bytes, unquote_to_bytes

WINDOWS: Final = os.name == "nt"
CASELESS: Final = WINDOWS or platform.system() == "Darwin"
"""Whether most file systems here take names that differ in case for the same."""

_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*(?=:)")
_DRIVE: Final = re.compile(r"[A-Za-z]:(?=[\\/]|$)")
_URI_DRIVE: Final = re.compile(r"/[A-Za-z]:(?=/|$)")


def path_to_uri(path: str | os.PathLike[str], *, windows: bool = WINDOWS) -> str:
    """The ``file:`` URI of an absolute path.

    Everything but unreserved characters and the separators is percent-encoded, so that
    each client reads it the same way. Raises ``ValueError`` for a relative path.
    """
    path = os.fspath(path)
    host = ""
    if windows:
        path = path.replace("\\", "/")
        if path.startswith("//"):
            host, _, path = path[2:].partition("/")
            path = "/" + path
        elif _DRIVE.match(path):
            path = f"/{path[0].upper()}{path[1:]}"
    if not path.startswith("/") or "\0" in path:
        raise ValueError(f"not an absolute path: {path!r}")
    if not windows:
        path = "/" + path.lstrip("/")
    data = path.encode("utf-8", "surrogatepass") if windows else os.fsencode(path)
    return f"file://{host}" + quote_from_bytes(data, safe="/")


def uri_to_path(uri: str, *, windows: bool = WINDOWS) -> str | None:
    """The path a ``file:`` URI names; None for any other URI and for what names no file.

    Percent-encoding is undone once. A ``#`` or ``?`` that a client left unencoded is taken
    for a character of the name, as editors mean it, not for a fragment or a query.
    """
    scheme = _SCHEME.match(uri)
    if scheme is None or scheme.group().lower() != "file":
        return None
    rest = uri[scheme.end() + 1 :]
    host = ""
    if rest.startswith("//"):
        host, slash, rest = rest[2:].partition("/")
        rest = slash + rest
    if not rest.startswith("/"):
        return None
    data = unquote_to_bytes(rest.encode("utf-8", "surrogatepass"))
    if b"\0" in data:
        return None
    if not windows:
        if host.lower() not in ("", "localhost"):
            return None
        return "/" + os.fsdecode(data).lstrip("/")
    path = data.decode("utf-8", "replace")
    if host and host.lower() != "localhost":
        return f"\\\\{host}" + path.replace("/", "\\")
    if _URI_DRIVE.match(path):
        path = path[1].upper() + path[2:]
    return path.replace("/", "\\")


def uri_key(uri: str) -> str:
    """What two spellings of one document's URI have in common; for tables, not for show."""
    path = uri_to_path(uri, windows=False)
    return uri if path is None else "file:" + path_key(path)


def path_key(path: str) -> str:
    """What two spellings of one path have in common; for tables, not for the disk.

    Symlinks are not looked at. Windows paths are compared without case, and so are all
    where file systems mostly do: there equal keys are no proof yet that it is one file.
    """
    if _DRIVE.match(path):
        path = "/" + path.replace("\\", "/")
    if WINDOWS or _URI_DRIVE.match(path):
        return path.replace("\\", "/").casefold()
    if path.startswith("/"):
        path = "/" + path.lstrip("/")
    return unicodedata.normalize("NFC", path).casefold() if CASELESS else path


def canonical(path: str, *, windows: bool = WINDOWS) -> str:
    """The one form in which we send a folder to agents: native separators, drive letter in
    upper case, no separator at the end. Symlinks stay, they are how the user sees it."""
    if not windows:
        return "/" + path.strip("/") if path.startswith("/") else path
    path = path.replace("/", "\\")
    if _DRIVE.match(path):
        path = path[0].upper() + path[1:]
    trimmed = path.rstrip("\\")
    return trimmed + "\\" if trimmed.endswith(":") else trimmed or "\\"


def same_path(a: str, b: str, *, windows: bool = WINDOWS) -> bool:
    """Whether two absolute paths are spellings of one, without looking at the disk."""
    a, b = canonical(a, windows=windows), canonical(b, windows=windows)
    return a.casefold() == b.casefold() if windows else a == b
