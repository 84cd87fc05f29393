"""The login shell's PATH: asked for once, in bounded time, whatever the shell does."""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path

import pytest

from acp_sidecar.agents.catalog import AgentEntry
from acp_sidecar.agents.command import CommandNotFound
from acp_sidecar.agents.finding import Finder
from acp_sidecar.agents.loginshell import LoginPath, LoginShell
from tests.agents.processes import PATIENCE
from tests.e2e.family import descendants, survivors

WANTED = "/opt/a b/bin:/home/*/näme/bin:/usr/bin:/bin"
BASH = shutil.which("bash")


def shell(folder: Path, script: str) -> Path:
    """A login shell of this script; ``$WANTED`` is what it says where it does as it is told."""
    path = folder / "shell"
    path.write_text(f"#!/bin/sh\nWANTED='{WANTED}'\nfor QUESTION; do :; done\n{script}\n")
    path.chmod(0o755)
    return path


def environ(path: Path, home: Path, **more: str) -> dict[str, str]:
    return {"PATH": "/usr/bin:/bin", "HOME": str(home), "SHELL": str(path), **more}


async def told(path: Path, home: Path, seconds: float = 5.0) -> LoginPath:
    return await LoginShell(environ(path, home), seconds=seconds).path()


_BEFORE: set[tuple[int, int]] = set()


@pytest.fixture(autouse=True)
def others() -> None:
    """What other tests of this process have started is none of ours."""
    _BEFORE.clear()
    _BEFORE.update(descendants(os.getpid()))


def started() -> set[tuple[int, int]]:
    """The processes that this test has started and that still live."""
    return descendants(os.getpid()) - _BEFORE - _watchdogs()


OBEYS = 'PATH="$WANTED" exec /bin/sh -c "$QUESTION"'


@pytest.mark.parametrize(
    "noise",
    [
        ":",
        "echo Welcome; echo 'You have mail.' >&2",
        "printf '\\033]0;title\\007\\033[31m$ \\033[0m'",
        # It shows what it runs, and says something without ending its line.
        'echo "+ $QUESTION"; printf "last login: "',
        "head -c 300000 /dev/zero | tr '\\0' x",
        # A background job of the startup files holds the pipes.
        "sleep 600 &",
        # What it asks is answered by nobody.
        "printf 'Update now? [Y/n] '; read answer; echo \"got $answer\"",
        "cat > /dev/null",
        # The shell that comes with the system, and a colour of the user's own.
        'trap "echo bye; exit 3" EXIT; set -x',
    ],
)
async def test_X02_noise_around_the_answer_is_ignored(noise: str, tmp_path: Path) -> None:
    path = shell(tmp_path, f'{noise}\nPATH="$WANTED" /bin/sh -c "$QUESTION"; echo logout')
    assert await told(path, tmp_path) == LoginPath(str(path), WANTED)
    assert await survivors(started()) == set()


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        ("exec sleep 600", "within 1 s"),
        ("trap '' TERM HUP INT; while :; do sleep 600; done", "within 1 s"),
        ("sleep 600 & exec sleep 600", "within 1 s"),
        ("yes", "within 1 s"),
        ("echo no such option >&2; exit 2", "status 2: no such option"),
        ("exec >/dev/null 2>&1; " + OBEYS, "status 0"),
        ("kill -9 $$", "status -9"),
    ],
)
async def test_X02_a_shell_that_does_not_answer_costs_a_bounded_time(
    script: str, problem: str, tmp_path: Path
) -> None:
    async with asyncio.timeout(PATIENCE):
        found = await told(shell(tmp_path, script), tmp_path, seconds=1)
    assert found.path is None
    assert problem in (found.problem or "")
    assert await survivors(started()) == set()


async def test_X02_where_an_interactive_shell_becomes_another_a_plain_one_is_asked(
    tmp_path: Path,
) -> None:
    for hang in ("exec sleep 600", "exec true"):
        path = shell(tmp_path, f'case "$*" in -i*) {hang};; esac\n{OBEYS}')
        assert (await told(path, tmp_path, seconds=2)).path == WANTED


@pytest.mark.parametrize(("name", "flags"), [("fish", "-i -l -c"), ("tcsh", "-ic")])
async def test_X02_each_shell_is_asked_in_its_way(name: str, flags: str, tmp_path: Path) -> None:
    """The question is one word of ``sh`` without quotes or variables that shells differ on."""
    path = shell(tmp_path, f'case "$*" in "{flags} /bin/sh -c \'"*) ;; *) exit 9;; esac\n{OBEYS}')
    named = path.rename(tmp_path / name)
    assert (await told(named, tmp_path)).path == WANTED


async def test_X02_the_shell_is_asked_once(tmp_path: Path) -> None:
    path = shell(tmp_path, f"echo asked >> {tmp_path}/log\n{OBEYS}")
    login = LoginShell(environ(path, tmp_path))
    answers = await asyncio.gather(*(login.path() for _ in range(5)), login.path())
    assert {answer.path for answer in answers} == {WANTED}
    assert (tmp_path / "log").read_text() == "asked\n"


async def test_X02_asking_can_be_given_up_and_begun_anew(tmp_path: Path) -> None:
    path = shell(tmp_path, f"[ -e {tmp_path}/quick ] || sleep 600\n{OBEYS}")
    login = LoginShell(environ(path, tmp_path))
    asking = asyncio.create_task(login.path())
    async with asyncio.timeout(5):
        while not started():
            await asyncio.sleep(0.01)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert await survivors(started()) == set()
    (tmp_path / "quick").touch()
    assert (await login.path()).path == WANTED


async def test_X02_it_starts_at_home_and_without_what_an_editor_leaves(tmp_path: Path) -> None:
    path = shell(tmp_path, f"pwd > {tmp_path}/where; env > {tmp_path}/env\n{OBEYS}")
    given = environ(path, tmp_path, ELECTRON_RUN_AS_NODE="1", VSCODE_PID="1", KEY="x")
    assert (await LoginShell(given).path()).path == WANTED
    assert (tmp_path / "where").read_text().strip() == os.path.realpath(tmp_path)
    seen = (tmp_path / "env").read_text().splitlines()
    assert "KEY=x" in seen
    assert not [line for line in seen if line.startswith(("ELECTRON", "VSCODE"))]


@pytest.mark.skipif(BASH is None, reason="no bash here")
async def test_X02_a_real_shell_tells_what_only_its_interactive_files_say(tmp_path: Path) -> None:
    assert BASH is not None
    (tmp_path / ".bash_profile").write_text(". ~/.bashrc\n")
    (tmp_path / ".bashrc").write_text(
        "case $- in *i*) ;; *) return;; esac\necho hello\nPS1='$ '\n"
        'export PATH="$HOME/.nvm/bin:$PATH"\n'
    )
    found = await told(Path(BASH), tmp_path)
    assert found.shell == BASH
    assert (found.path or "").split(":")[0] == f"{tmp_path}/.nvm/bin"


# --- finding with it ----------------------------------------------------------------------


@pytest.fixture
def nvm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program that only the login shell's PATH has; the editor has a short PATH."""
    folder = tmp_path / "nvm"
    folder.mkdir()
    script = folder / "far-agent"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    return folder


def finder(tmp_path: Path, path: str) -> Finder:
    answer = f'PATH="{path}" exec /bin/sh -c "$QUESTION"'
    asked = shell(tmp_path, f"echo asked >> {tmp_path}/log\n{answer}")
    return Finder(LoginShell(environ(asked, tmp_path)))


async def test_X02_a_program_of_the_login_shell_s_path_is_started_with_it(
    nvm: Path, tmp_path: Path
) -> None:
    finding = finder(tmp_path, f"{nvm}:/usr/local/x")
    command = await finding.find(AgentEntry("far", "far-agent", ("x",), {"A": "b"}), "/")
    assert command.argv == (f"{nvm}/far-agent", "x")
    assert command.env["PATH"] == f"{nvm}:/usr/local/x:/usr/bin:/bin"
    assert (command.env["A"], command.cwd) == ("b", "/")
    assert await finding.program(AgentEntry("far", "far-agent")) == f"{nvm}/far-agent"
    assert (tmp_path / "log").read_text() == "asked\n"


@pytest.mark.parametrize(
    "entry",
    [
        AgentEntry("near", "sh"),
        AgentEntry("own", "far-agent", env={"PATH": "/nowhere"}),
        AgentEntry("absolute", "/no/such/far-agent"),
        AgentEntry("relative", "bin/far-agent"),
        AgentEntry("nothing", ""),
    ],
)
async def test_X02_the_shell_is_not_asked_where_it_has_nothing_to_say(
    entry: AgentEntry, nvm: Path, tmp_path: Path
) -> None:
    """What is found at once, what the user has set, what is no name to be looked for."""
    found = await finder(tmp_path, str(nvm)).program(entry)
    assert (found is not None) == (entry.name == "near")
    assert not (tmp_path / "log").exists()


async def test_X02_the_error_names_both_paths_that_were_searched(tmp_path: Path) -> None:
    short = os.environ["PATH"]
    with pytest.raises(CommandNotFound) as caught:
        await finder(tmp_path, "/opt/theirs").find(AgentEntry("none", "no-such-agent"))
    text = str(caught.value)
    assert "'no-such-agent'" in text
    assert f"Searched PATH: {short}" in text
    assert f"login shell {tmp_path}/shell: /opt/theirs" in text

    silent = Finder(LoginShell(environ(shell(tmp_path, "exit 4"), tmp_path)))
    with pytest.raises(CommandNotFound, match=r"shell did not tell its PATH: .*status 4"):
        await silent.find(AgentEntry("none", "no-such-agent"))


def _watchdogs() -> set[tuple[int, int]]:
    """Our own watcher over the processes, which stays."""
    found = set()
    for pid, began in descendants(os.getpid()):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                if b"watchdog" in file.read():
                    found.add((pid, began))
        except OSError:
            continue
    return found
