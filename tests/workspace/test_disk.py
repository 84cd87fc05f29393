"""What is on disk: whole texts or the ones before, whatever comes between."""

from __future__ import annotations

import contextlib
import errno
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from acp_sidecar.workspace import disk, folder
from acp_sidecar.workspace.disk import Snapshot, is_temporary
from acp_sidecar.workspace.problems import FileProblem, Moved

MIB = 1 << 20


def replace(path: Path, data: bytes) -> None:
    disk.write(path, data, disk.stamp(path))


def without_privileges(code: str, *arguments: object) -> str:
    """What a program prints that may not do what root may."""
    drop = ""
    if os.geteuid() == 0:
        # What is to be imported may itself be root's.
        drop = "os.setgroups([]); os.setgid(65534); os.setuid(65534)"
    code = code.replace("# here", drop)
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def open_to_all(tmp_path: Path) -> Iterator[Path]:
    """A folder that a program without privileges may use."""
    for above in (tmp_path, *list(tmp_path.parents)[:-1]):
        with contextlib.suppress(PermissionError):
            above.chmod(above.stat().st_mode | 0o055)
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    yield shared
    shared.chmod(0o777)


WRITE = """
import os, sys
from pathlib import Path
from acp_sidecar.workspace import disk
from acp_sidecar.workspace.problems import FileProblem
# here
path = Path(sys.argv[1])
try:
    disk.write(path, b"new", disk.stamp(path))
    print("written")
except FileProblem as problem:
    print(problem.kind)
"""


@pytest.fixture(params=["nameless", "named", "no handles"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The ways a file is replaced on different systems."""
    if request.param != "nameless":
        monkeypatch.setattr(disk._Draft, "nameless", classmethod(lambda cls, folder: None))
    if request.param == "no handles":
        monkeypatch.setattr(folder, "_HAS_DIR_FD", False)
    return str(request.param)


@pytest.mark.usefixtures("way")
def test_a_file_is_replaced_and_keeps_what_it_is(tmp_path: Path) -> None:
    path = tmp_path / "script.sh"
    path.write_text("old")
    path.chmod(0o751)
    if os.geteuid() == 0:
        os.chown(path, 1234, 4321)
    with contextlib.suppress(OSError):
        os.setxattr(path, "user.note", b"kept")
    replace(path, b"new")
    status = path.stat()
    assert path.read_text() == "new"
    assert status.st_mode & 0o7777 == 0o751
    if os.geteuid() == 0:
        assert (status.st_uid, status.st_gid) == (1234, 4321)
    with contextlib.suppress(OSError):
        assert os.getxattr(path, "user.note") == b"kept"
    assert os.listdir(tmp_path) == ["script.sh"]


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("names", [1, 2], ids=["replaced", "in place"])
def test_an_editor_can_tell_a_write_from_the_users_own_just_before(
    tmp_path: Path, names: int
) -> None:
    """Editors compare times, in milliseconds some of them; clocks of files go in steps of four."""
    path = tmp_path / "f"
    path.write_text("0")
    if names > 1:
        os.link(path, tmp_path / "g")
    times = [path.stat().st_mtime_ns // 1_000_000]
    for number in range(20):
        before = disk.stamp(path)
        times.append(disk.write(path, b"%d" % number, before).changed_ns // 1_000_000)
    assert len(set(times)) == len(times)
    assert abs(times[-1] / 1000 - time.time()) < 60


def test_a_new_file_has_the_rights_the_user_gives_new_files(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        disk.write(tmp_path / "a" / "b" / "new", b"x", None)
    finally:
        os.umask(before)
    assert (tmp_path / "a" / "b" / "new").stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o750
    assert os.listdir(tmp_path / "a" / "b") == ["new"]
    disk.write(tmp_path / "again", b"x", None, mode=0o755)
    assert (tmp_path / "again").stat().st_mode & 0o777 == 0o755


@pytest.mark.usefixtures("way")
def test_what_has_changed_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a"
    with pytest.raises(Moved):
        disk.write(path, b"x", disk.Stamp.of(tmp_path.stat()))
    stamp = disk.write(path, b"one", None)
    with pytest.raises(Moved):
        disk.write(path, b"x", None)
    path.write_bytes(b"other")
    with pytest.raises(Moved):
        disk.write(path, b"x", stamp)
    with pytest.raises(Moved):
        disk.remove(path, stamp)
    assert path.read_bytes() == b"other"
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.usefixtures("way")
def test_a_failed_write_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")

    def full(handle: int, data: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(disk.os, "write", full)
    with pytest.raises(FileProblem, match="No space left") as caught:
        replace(path, b"new")
    assert caught.value.kind == "io"
    with pytest.raises(FileProblem):
        disk.write(tmp_path / "new" / "folder" / "b", b"x", None)
    monkeypatch.undo()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a"], "no temporary file, and no new folder either"


def test_a_file_of_several_names_keeps_them(tmp_path: Path) -> None:
    path, other = tmp_path / "a", tmp_path / "b"
    path.write_bytes(b"old and long")
    os.link(path, other)
    replace(path, b"new")
    assert other.read_bytes() == b"new"
    assert path.samefile(other)
    replace(other, b"much longer than it was before")
    assert path.read_bytes() == b"much longer than it was before"


def test_a_file_of_several_names_survives_a_full_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    os.link(path, tmp_path / "b")

    def full(*arguments: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(disk.os, "posix_fallocate", full, raising=False)
    with pytest.raises(FileProblem):
        replace(path, b"longer")
    assert path.read_bytes() == b"old"


def test_a_read_only_file_is_not_written(open_to_all: Path) -> None:
    path = open_to_all / "a"
    path.write_text("old")
    path.chmod(0o444)
    with pytest.raises(FileProblem) as caught:
        replace(path, b"new")
    assert caught.value.kind == "permission"
    assert without_privileges(WRITE, path) == "permission"
    assert path.read_text() == "old"
    assert os.listdir(open_to_all) == ["a"]


def test_a_file_of_somebody_else_is_not_written(open_to_all: Path) -> None:
    """Its folder would let us replace it; its owner would not."""
    if os.geteuid() != 0:
        pytest.skip("needs root to make a file of somebody else")
    path = open_to_all / "a"
    path.write_text("old")
    path.chmod(0o644)
    assert without_privileges(WRITE, path) == "permission"
    assert path.read_text() == "old"
    path.chmod(0o666)
    assert without_privileges(WRITE, path) == "written"
    assert path.read_text() == "new"


def test_a_writable_file_in_a_closed_folder_is_written_where_it_is(open_to_all: Path) -> None:
    path = open_to_all / "a"
    path.write_text("old")
    path.chmod(0o666)
    open_to_all.chmod(0o555)
    assert without_privileges(WRITE, path) == "written"
    assert path.read_text() == "new"
    assert without_privileges(WRITE, open_to_all / "b") == "permission"
    assert without_privileges(WRITE, open_to_all / "c" / "d") == "permission"
    assert os.listdir(open_to_all) == ["a"]


def test_a_file_that_may_not_be_read_is_said_to_be_so(open_to_all: Path) -> None:
    path = open_to_all / "a"
    path.write_text("secret")
    path.chmod(0o600)
    if os.geteuid() != 0:
        path.chmod(0)
    code = WRITE.replace('disk.write(path, b"new", disk.stamp(path))', "disk.read(path, 99)")
    assert without_privileges(code, path) == "permission"


def test_P01_a_folder_turned_into_a_link_after_the_check(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws" / "folder").symlink_to(tmp_path / "outside")
    path = tmp_path / "ws" / "folder" / "x"
    for attempt in (
        lambda: disk.write(path, b"x", None),
        lambda: disk.read(path, 99),
        lambda: disk.write(tmp_path / "ws" / "folder" / "deeper" / "x", b"x", None),
    ):
        with pytest.raises(FileProblem) as caught:
            attempt()
        assert caught.value.kind == "changed"
    assert os.listdir(tmp_path / "outside") == []


def test_P01_a_file_turned_into_a_link_after_the_check(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "a").symlink_to(tmp_path / "secret")
    with pytest.raises(FileProblem) as caught:
        disk.write(tmp_path / "a", b"x", disk.stamp(tmp_path / "a"))
    assert caught.value.kind == "changed"
    with pytest.raises(FileProblem):
        disk.read(tmp_path / "a", 99)
    assert (tmp_path / "secret").read_text() == "secret"


@pytest.mark.parametrize("name", ["n" * 255, "é" * 127, "." * 250 + "x", "\udcff\udcfe"])
def test_names_may_be_as_long_and_odd_as_the_disk_allows(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    disk.write(path, b"one", None)
    replace(path, b"two")
    assert path.read_bytes() == b"two"
    assert len(os.listdir(tmp_path)) == 1


def test_names_that_are_too_long_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileProblem) as caught:
        disk.write(tmp_path / ("n" * 256), b"x", None)
    assert caught.value.kind == "invalid"
    with pytest.raises(FileProblem):
        disk.write(Path("relative"), b"x", None)


def test_our_temporary_files_can_be_told_from_others() -> None:
    assert is_temporary(disk._temporary("a.py"))
    assert not any(map(is_temporary, ["a.py", "a.py~", ".a.py.swp", "a.tmp.1.ff"]))


def test_reading_gives_the_bytes_and_their_state(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"x" * MIB + b"y")
    snapshot = disk.read(path, 2 * MIB)
    assert isinstance(snapshot, Snapshot)
    assert snapshot.data == path.read_bytes()
    assert snapshot.stamp == disk.stamp(path)
    assert disk.stamp(tmp_path / "none") is None


KILLED = """
import itertools, sys
from pathlib import Path
from acp_sidecar.workspace import disk
path = Path(sys.argv[1])
stamp = disk.stamp(path)
print("ready", flush=True)
for number in itertools.count():
    stamp = disk.write(path, bytes([97 + number % 26]) * (4 << 20), stamp)
"""


def test_killed_in_the_middle_a_file_is_the_old_or_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"z" * (4 * MIB))
    moments = random.Random(7)
    for _ in range(12):
        process = subprocess.Popen(
            [sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE
        )
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        time.sleep(moments.uniform(0, 0.05))
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        data = path.read_bytes()
        assert len(data) == 4 * MIB
        assert len(set(data)) == 1, "half of one and half of the other"
        for left in set(os.listdir(tmp_path)) - {"a"}:
            # On Linux a file of ours has no name before it is complete.
            assert is_temporary(left)
            if sys.platform == "linux":
                whole = (tmp_path / left).read_bytes()
                assert len(whole) == 4 * MIB
                assert len(set(whole)) == 1
            (tmp_path / left).unlink()
