"""What is known of files that were there before: read once, ignored as git would, bounded."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from acp_sidecar.workspace import picture as pictures
from acp_sidecar.workspace.disk import Snapshot
from acp_sidecar.workspace.picture import Limits, Picture, change_of, differences, look
from acp_sidecar.workspace.texts import FileText, Missing


def text(picture: Picture, path: Path) -> str:
    said = picture.said(path)
    assert isinstance(said, FileText)
    return said.text


def test_every_change_of_a_file_is_found_and_what_it_said(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    same, changed, gone = tmp_path / "same", tmp_path / "sub" / "changed", tmp_path / "gone"
    for path in (same, changed, gone):
        path.write_bytes(b"\xef\xbb\xbfone\r\ntwo")
    picture = look([tmp_path])
    changed.write_bytes(b"another")
    gone.unlink()
    new = tmp_path / "new folder" / "new"
    new.parent.mkdir()
    new.write_text("new\n")
    found = differences([tmp_path], picture)
    assert set(found) == {changed, gone, new}
    assert found[gone] is None
    assert found[new] == new.stat().st_ctime_ns
    assert text(picture, changed) == text(picture, gone) == "one\r\ntwo"
    said = picture.said(changed)
    assert isinstance(said, FileText) and said.bom
    assert isinstance(picture.said(new), Missing)


def test_bytes_that_are_no_text_are_known_as_bytes(tmp_path: Path) -> None:
    (tmp_path / "image").write_bytes(b"\x89PNG\0\xff")
    said = look([tmp_path]).said(tmp_path / "image")
    assert isinstance(said, Snapshot) and said.data == b"\x89PNG\0\xff"


@pytest.mark.skipif(os.name == "nt", reason="needs symbolic links and pipes")
def test_what_git_would_ignore_is_neither_read_nor_taken_for_new(tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    root = repo / "root"
    (root / "deep").mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(repo)], check=True)
    (repo / ".gitignore").write_text("/root/above.txt\n*.log\n")
    (root / ".gitignore").write_text("build/\n!keep.log\n*.tmp\n")
    (root / "deep" / ".gitignore").write_text("!wanted.tmp\n")
    names = ["above.txt", "a.log", "keep.log", "build/out", "a.tmp", "deep/wanted.tmp"]
    names += ["deep/a.tmp", "node_modules/m/index.js", "venv/pyvenv.cfg", "venv/lib/x.py", "own.py"]
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
    (root / "link").symlink_to(root / "own.py")
    os.mkfifo(root / "pipe")
    picture = look([root])
    own = {Path(path).relative_to(root).as_posix() for path in picture.files}
    assert own == {".gitignore", "deep/.gitignore", "keep.log", "deep/wanted.tmp", "own.py"}
    asked = [
        str(root / name) for name in names if "node_modules" not in name and "venv" not in name
    ]
    ignored = subprocess.run(
        ["git", "-C", str(repo), "check-ignore", *asked],
        capture_output=True,
        text=True,
        check=False,
    ).stdout.split()
    assert {Path(path).relative_to(root).as_posix() for path in ignored} == {
        name for name in names if "node_modules" not in name and "venv" not in name
    } - own
    for name in [*names, "build/new", "venv/new", "link", "pipe"]:
        if name not in own:
            assert picture.said(root / name) is None, name
            (root / name).unlink(missing_ok=True)
            (root / name).write_text("other")
    assert differences([root], picture) == {}


def test_what_is_beyond_the_limits_is_not_known_and_not_taken_for_new(tmp_path: Path) -> None:
    for number in range(9):
        (tmp_path / f"{number}.txt").write_text("x" * (10 if number else 100))
    picture = look([tmp_path], limits=Limits(files=8, bytes=55, file_bytes=50))
    known = [Path(path).name for path in picture.files if picture.said(Path(path)) is not None]
    assert known == ["1.txt", "2.txt", "3.txt", "4.txt", "5.txt"]
    assert picture.said(tmp_path / "0.txt") is None
    assert picture.said(tmp_path / "8.txt") is None
    assert picture.said(tmp_path / "new.txt") is None


def test_a_file_that_has_not_changed_is_not_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").write_text("a")
    (tmp_path / "b").write_text("b")
    before = look([tmp_path])
    read: list[str] = []
    whole = os.open
    monkeypatch.setattr(
        pictures.os, "open", lambda path, flags: read.append(path) or whole(path, flags)
    )
    (tmp_path / "b").write_text("changed")
    after = look([tmp_path], before)
    assert read == [str(tmp_path / "b")]
    assert [text(after, tmp_path / name) for name in "ab"] == ["a", "changed"]
    assert text(before, tmp_path / "b") == "b"


def test_when_a_file_has_gone_is_told_by_its_folder(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("one\n")
    picture = look([tmp_path])
    assert change_of(file, picture) is None
    file.unlink()
    assert change_of(file, picture) == tmp_path.stat().st_mtime_ns
    assert change_of(tmp_path / "never.txt", picture) is None
