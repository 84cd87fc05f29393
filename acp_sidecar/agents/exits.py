"""How an agent's process ended, or why it never began."""

from __future__ import annotations

import re
import signal
from typing import Final

from attrs import frozen

_KEPT: Final = 8192
_LINE: Final = 65536
_TERMINAL_CODES: Final = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|[\x00-\x08\x0b-\x1f\x7f-\x9f]"
)


class CannotStart(Exception):
    """The agent's process could not be made; the message says what to do about it."""


@frozen
class AgentExit:
    """The end of an agent's process."""

    returncode: int | None
    """Exit status, negative for the number of the signal that killed it; ``None`` where it
    could not be learned."""
    stderr: str
    """The last of what it wrote to stderr, readable."""
    reason: str | None = None
    """Why we ended it, where that was not the user's wish."""
    wanted: bool = False
    """True when it was asked to stop."""

    def __str__(self) -> str:
        text = self.reason or _status(self.returncode)
        return f"{text}; its last words:\n{self.stderr}" if self.stderr else text


def _status(returncode: int | None) -> str:
    if returncode is None:
        return "the agent is gone"
    if returncode >= 0:
        return f"the agent exited with status {returncode}"
    try:
        return f"the agent was ended by {signal.Signals(-returncode).name}"
    except ValueError:
        return f"the agent was ended by signal {-returncode}"


@frozen
class CommandExit:
    """The end of a command: one of the two says how, neither where it could not be learned."""

    code: int | None
    signal: str | None
    """The name of the signal that ended it, such as ``SIGTERM``."""

    @classmethod
    def of(cls, returncode: int | None) -> CommandExit:
        """From an exit status, negative for the number of a signal."""
        if returncode is None or returncode >= 0:
            return cls(returncode, None)
        try:
            return cls(None, signal.Signals(-returncode).name)
        except ValueError:
            return cls(None, f"SIG{-returncode}")


class StderrTail:
    """The last few KiB an agent wrote to stderr. Takes chunks of any size, keeps no lines."""

    def __init__(self) -> None:
        self._bytes = b""
        self._cut = False

    def add(self, data: bytes) -> None:
        kept = (self._bytes + data[-_KEPT:])[-_KEPT:]
        self._cut = self._cut or len(kept) < len(self._bytes) + len(data)
        self._bytes = kept

    def text(self) -> str:
        """Decoded as UTF-8 with replacement, without terminal codes and half a first line."""
        text = self._bytes.decode("utf-8", "replace")
        if self._cut:
            text = text[text.find("\n") + 1 :] if "\n" in text[:-1] else text.lstrip("\ufffd")
        return _readable(text).strip()


class StderrLines:
    """An agent's stderr as lines, while it comes. Takes chunks of any size."""

    def __init__(self) -> None:
        self._begun = b""

    def add(self, data: bytes) -> list[str]:
        """The lines that are whole now, as :meth:`StderrTail.text` would show them; empty
        ones are left out. A longer line than 64 KiB comes in pieces.
        """
        *whole, self._begun = (self._begun + data).split(b"\n")
        if len(self._begun) > _LINE:
            whole.append(self._begun)
            self._begun = b""
        return _shown(whole)

    def end(self) -> list[str]:
        """The last line, where it has no newline."""
        last, self._begun = self._begun, b""
        return _shown([last])


def _shown(lines: list[bytes]) -> list[str]:
    texts = (_readable(line.decode("utf-8", "replace")).rstrip() for line in lines)
    return [text for text in texts if text]


def _readable(text: str) -> str:
    return _TERMINAL_CODES.sub("", text.replace("\r\n", "\n"))
