"""What an agent may reach: paths, symlinks, roots."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from acp_sidecar.workspace import uris
from acp_sidecar.workspace.roots import PathRefused, Place, Roots, walk


@pytest.fixture
def ws(tmp_path: Path) -> Path:
    root = tmp_path / "ws"
    (root / "src").mkdir(parents=True)
    (root / "src" / "m.py").write_text("one\ntwo\n")
    (tmp_path / "home" / ".ssh").mkdir(parents=True)
    (tmp_path / "home" / ".ssh" / "id").write_text("secret")
    return root


def refused(roots: Roots, path: str, **how: object) -> str:
    with pytest.raises(PathRefused) as caught:
        roots.resolve(path, **how)  # type: ignore[arg-type]
    assert caught.value.path == path
    return caught.value.reason


def test_P01_links_out_of_the_roots_lead_nowhere(ws: Path, tmp_path: Path) -> None:
    roots = Roots.of(str(ws))
    (ws / "out").symlink_to(tmp_path / "home" / ".ssh")
    (ws / "d").symlink_to(tmp_path / "not-yet")
    (ws / "deep").symlink_to("out/sub/deeper")
    (ws / "up").symlink_to("../home/.ssh/id")
    (ws / "chain").symlink_to("up")
    assert refused(roots, f"{ws}/out/x", must="new") == "outside"
    assert refused(roots, f"{ws}/out/id") == "outside"
    assert refused(roots, f"{ws}/d", must="new") == "outside"
    assert refused(roots, f"{ws}/d/x", must="new") == "outside"
    assert refused(roots, f"{ws}/deep/x", must="new") == "outside"
    assert refused(roots, f"{ws}/chain", must="any") == "outside"
    assert refused(roots, f"{ws}/out", must="directory") == "outside"
    assert not (tmp_path / "not-yet").exists()


def test_P01_links_within_the_roots_are_followed(ws: Path) -> None:
    roots = Roots.of(str(ws))
    (ws / "in").symlink_to("src")
    (ws / "later.py").symlink_to(ws / "src" / "not-yet.py")
    assert roots.resolve(f"{ws}/in/m.py") == ws / "src" / "m.py"
    assert roots.resolve(f"{ws}/later.py", must="new") == ws / "src" / "not-yet.py"


def test_P01_a_loop_of_links_ends(ws: Path) -> None:
    (ws / "a").symlink_to("b")
    (ws / "b").symlink_to("a")
    assert refused(Roots.of(str(ws)), f"{ws}/a/x", must="new") == "invalid"


def test_P02_parents_are_those_the_kernel_goes_to(ws: Path) -> None:
    (ws / "a" / "b").mkdir(parents=True)
    (ws / "alias").symlink_to(ws / "a" / "b")
    (ws / "a" / "t.txt").write_text("the kernel's")
    (ws / "t.txt").write_text("another")
    roots = Roots.of(str(ws))
    path = f"{ws}/alias/../t.txt"
    assert roots.resolve(path).read_text() == Path(path).read_text() == "the kernel's"
    (ws / "far").symlink_to("/")
    assert refused(roots, f"{ws}/far/../etc/passwd") == "outside"
    assert refused(roots, f"{ws}/src/../../home/.ssh/id") == "outside"
    # Not through what is no folder, or not there: the kernel would not either.
    assert refused(roots, f"{ws}/src/m.py/../m.py") == "missing"
    assert refused(roots, f"{ws}/nowhere/../src/m.py") == "missing"


@pytest.mark.parametrize("path", ["", "/ws/a\0b", "/ws/\ud800.txt"])
def test_P02_paths_that_are_none_are_refused(ws: Path, path: str) -> None:
    assert refused(Roots.of(str(ws)), path) == "invalid"


def test_P03_a_sibling_with_the_same_beginning_is_outside(ws: Path) -> None:
    evil = ws.parent / "ws-evil"
    evil.mkdir()
    (evil / "secret.txt").write_text("no")
    assert refused(Roots.of(str(ws)), f"{evil}/secret.txt") == "outside"
    assert refused(Roots.of(f"{ws}/"), f"{evil}/secret.txt") == "outside"


def test_P03_the_root_of_everything_holds_everything(ws: Path) -> None:
    roots = Roots.of("/")
    assert roots.resolve(f"{ws}/src/m.py") == ws / "src" / "m.py"
    assert roots.resolve("/", must="directory") == Path("/")


def test_P05_without_a_root_everything_is_outside(ws: Path) -> None:
    roots = Roots.of(None)
    assert roots.paths == ()
    assert refused(roots, f"{ws}/src/m.py") == "outside"
    assert refused(roots, str(Path.cwd() / "x"), must="new") == "outside"
    assert refused(roots, "x", relative_to=str(ws), must="new") == "outside"


def test_P07_relative_paths_are_for_display_only(ws: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    roots = Roots.of(str(ws))
    assert refused(roots, "src/m.py") == "relative"
    assert roots.resolve("src/m.py", relative_to=str(ws)) == ws / "src" / "m.py"
    assert roots.resolve("./src/../src/m.py", relative_to=f"{ws}/") == ws / "src" / "m.py"
    assert refused(roots, "../home/.ssh/id", relative_to=str(ws)) == "outside"
    with pytest.raises(PathRefused, match="absolute"):
        Roots.of("ws")


def test_P09_a_tilde_is_a_name_like_any_other(ws: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(ws))
    roots = Roots.of(str(ws))
    (ws / "x.txt").write_text("at home")
    assert refused(roots, "~/x.txt") == "relative"
    assert refused(roots, "~root/x.txt") == "relative"
    assert refused(roots, "~/x.txt", relative_to=str(ws)) == "missing"
    (ws / "~").mkdir()
    (ws / "~" / "x.txt").write_text("a folder called tilde")
    assert roots.resolve("~/x.txt", relative_to=str(ws)) == ws / "~" / "x.txt"


def test_P10_a_range_at_the_end_is_not_part_of_the_name(ws: Path) -> None:
    roots = Roots.of(str(ws))
    there = ws / "src" / "m.py"
    assert roots.place(f"{there}:1-20", None) == Place(there, 1)
    assert roots.place(f"{there}:7", None) == Place(there, 7)
    assert roots.place(f"{there}:7:3", None) == Place(there, 7)
    assert roots.place(f"{there}:7", 2) == Place(there, 2)
    for path in (f"{ws}/none.md:1-20", f"{there}:1-20:3-4", f"{there}:x", f"{there}:"):
        with pytest.raises(PathRefused):
            roots.place(path, None)
    odd = ws / "odd:3"
    odd.write_text("a file that is called so")
    assert roots.place(str(odd), None) == Place(odd, None)
    with pytest.raises(PathRefused) as caught:
        roots.place(f"{ws}/../home/.ssh/id:1", None)
    assert caught.value.reason == "outside"


def test_P11_folders_and_devices_are_no_files(ws: Path) -> None:
    roots = Roots.of(str(ws))
    os.mkfifo(ws / "p")
    assert refused(roots, str(ws)) == "directory"
    assert refused(roots, f"{ws}/src/", must="new") == "directory"
    assert refused(Roots.of("/"), "/") == "directory"
    assert refused(roots, f"{ws}/p", must="new") == "special"
    assert refused(Roots.of("/"), "/dev/zero") == "special"
    assert refused(roots, f"{ws}/src/m.py", must="directory") == "file"
    assert refused(roots, f"{ws}/src/m.py/") == "missing"
    assert refused(roots, f"{ws}/gone") == "missing"
    assert roots.resolve(f"{ws}/p", must="any") == ws / "p"


def test_P13_a_linked_root_is_the_same_under_both_names(ws: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(ws)
    roots = Roots.of(str(link))
    assert roots.resolve(f"{link}/src/m.py") == roots.resolve(f"{ws}/src/m.py")
    assert roots.as_given(ws / "src" / "m.py") == f"{link}/src/m.py"
    assert roots.as_given(ws) == str(link)
    assert roots.as_given(Path("/elsewhere")) == "/elsewhere"


def test_P13_a_root_is_what_it_was_when_the_session_began(ws: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(ws)
    roots = Roots.of(str(link))
    link.unlink()
    link.symlink_to(tmp_path / "home")
    assert refused(roots, f"{link}/.ssh/id") == "outside"


@pytest.mark.parametrize("slashes", ["//", "///", "////"])
def test_P18_more_slashes_than_one_are_one(ws: Path, slashes: str) -> None:
    roots = Roots.of(str(ws))
    assert refused(roots, f"{slashes}x") == "outside"
    assert roots.resolve(f"{slashes}{str(ws)[1:]}/src//m.py") == ws / "src" / "m.py"
    assert Roots.of(slashes + str(ws)[1:]).contains(ws / "src")


def test_P15_another_case_is_the_same_folder_only_if_the_disk_says_so(
    ws: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uris, "CASELESS", True)
    roots = Roots.of(str(ws))
    loud = ws.parent / "WS"
    loud.mkdir()
    assert not roots.contains(loud / "src" / "m.py")
    loud.rmdir()
    loud.symlink_to(ws)  # what a disk without case amounts to
    assert roots.contains(loud / "src" / "m.py")
    assert roots.as_given(loud / "src" / "m.py") == f"{ws}/src/m.py"
    assert not roots.contains(ws.parent / "none" / "m.py")


def test_reveals_are_limited_to_both_roots_and_folders(ws: Path, tmp_path: Path) -> None:
    roots = Roots.of(str(ws), [str(tmp_path / "home")])
    assert roots.intersect([]) is roots
    inner = roots.intersect([str(ws / "src")])
    assert inner.contains(ws / "src" / "m.py")
    assert not inner.contains(ws / "other.py")
    outer = roots.intersect([str(tmp_path)])
    assert outer.contains(ws / "other.py")
    assert outer.contains(tmp_path / "home" / "x")
    assert not outer.contains(tmp_path / "elsewhere")
    assert not roots.intersect(["/nowhere"]).contains(ws)
    assert not roots.intersect(["relative"]).contains(ws)


def test_additional_folders_are_roots_too(ws: Path, tmp_path: Path) -> None:
    roots = Roots.of(str(ws), [str(tmp_path / "home"), str(ws)])
    assert roots.paths == (str(ws), str(tmp_path / "home"))
    assert roots.resolve(f"{tmp_path}/home/.ssh/id").read_text() == "secret"


def test_what_may_not_be_looked_into_is_said_to_be_so(ws: Path) -> None:
    """Runs without root's rights, which see everything."""
    closed = ws / "closed"
    closed.mkdir()
    (closed / "x").write_text("x")
    closed.chmod(0)
    for folder in (ws, *ws.parents[:-1]):
        if os.geteuid() == 0:
            folder.chmod(folder.stat().st_mode | 0o055)
    code = (
        "import os, sys\n"
        "from acp_sidecar.workspace.roots import PathRefused, Roots\n"
        "if os.geteuid() == 0: os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
        "try: Roots.of(sys.argv[1]).resolve(sys.argv[1] + '/closed/x')\n"
        "except PathRefused as refused: print(refused.reason)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(ws)], capture_output=True, text=True, check=True
    )
    closed.chmod(0o755)
    assert done.stdout.strip() == "permission"


def test_walk_agrees_with_the_kernel_on_what_exists(ws: Path) -> None:
    (ws / "in").symlink_to("./src/../src")
    for path in (f"{ws}/in/m.py", f"{ws}/./src//m.py", f"{ws}/in/../src/m.py"):
        assert walk(path) == Path(os.path.realpath(path))
        assert walk(path).samefile(path)
