"""The text of git patches: read, tried on a text, matched with announced files."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acp_sidecar.workspace.gitpatch import PatchError, PatchFile, PatchHunk, parse
from acp_sidecar.workspace.ledger import Ledger
from acp_sidecar.workspace.patchnames import authorise
from acp_sidecar.workspace.patchtext import apply
from tests.workspace.hand import Hand

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not here")


def git(folder: Path, *arguments: str, stdin: bytes = b"") -> bytes:
    command = ["git", "-c", "core.autocrlf=false", "-c", "core.safecrlf=false", *arguments]
    return subprocess.run(command, cwd=folder, input=stdin, capture_output=True, check=False).stdout


def only(patch: str) -> PatchFile:
    [file] = parse(patch)
    return file


def hunk(body: str, *, name: str = "a.txt") -> PatchFile:
    return only(f"diff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}\n{body}")


# --- against git itself -----------------------------------------------------------------

ODD = ["\u2028", "\x0c", "\x0b", "\x85", "\x1c", "\ufeff", "é", "😀", "\r", "\t", "\\", '"', "-"]
words = st.text(st.sampled_from([*"ab+@ ", *ODD]), max_size=5)
ends = st.sampled_from(["\n", "\n", "\n", "\r\n"])
lines = st.lists(st.tuples(words, ends).map("".join), max_size=14)
texts = st.tuples(lines, st.one_of(st.just(""), words)).map(lambda t: "".join(t[0]) + t[1])


@st.composite
def pairs(draw: st.DrawFn) -> tuple[str, str]:
    """Two texts that have much in common."""
    old = draw(texts)
    if draw(st.booleans()):
        return old, draw(texts)
    parts = old.split("\n")
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(parts) - 1))
        parts[at : at + draw(st.integers(0, 2))] = draw(st.lists(words, max_size=2))
        parts = parts or [""]
    return old, "\n".join(parts)


@needs_git
@settings(
    max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(pair=pairs(), context=st.sampled_from([0, 1, 3, 8]))
def test_a_patch_of_gits_leads_from_one_text_to_the_other(
    tmp_path: Path, pair: tuple[str, str], context: int
) -> None:
    old, new = pair
    (tmp_path / "old").write_bytes(old.encode())
    (tmp_path / "new").write_bytes(new.encode())
    made = git(tmp_path, "diff", "--no-index", "--text", f"-U{context}", "old", "new")
    files = parse(made.decode())
    assert len(files) == (old != new)
    if files:
        patch = made.replace(b"b/new", b"b/old")
        git(tmp_path, "apply", "--unidiff-zero", "--whitespace=nowarn", stdin=patch)
        assert (tmp_path / "old").read_bytes() == new.encode()
    for file in files:
        # Without any line around it nobody can tell how the file ends its lines.
        if context or "\r\n" not in old + new:
            assert apply(file, old).encode() == new.encode()
            assert apply(file.reversed(), new).encode() == old.encode()


@needs_git
@pytest.mark.parametrize(
    "name",
    [
        "plain.txt",
        "two words.txt",
        " b/in front",
        "a b/a b",
        'quo"ted',
        "tab\there",
        "line\nend",
        "back\\slash",
        "ü/naïve 😀.txt",
        "\x01\x7f",
        "trailing ",
        "-- a",
        "a/b/c",
    ],
)
def test_names_are_what_git_meant(tmp_path: Path, name: str) -> None:
    git(tmp_path, "init", "-q")
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("one\ntwo\nthree\n")
    moved = tmp_path / f"{name} moved"
    git(tmp_path, "add", "-A")
    added = git(tmp_path, "diff", "--cached")
    git(tmp_path, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a")
    path.chmod(0o755)
    mode = git(tmp_path, "diff")
    path.write_text("one\nTWO\nthree\n")
    changed = git(tmp_path, "diff")
    git(tmp_path, "add", "-A")
    path.rename(moved)
    git(tmp_path, "add", "-A")
    both = git(tmp_path, "diff", "--cached", "-M10%", "HEAD")
    path.write_text("one\ntwo\nthree\n")
    git(tmp_path, "add", "-A")
    copied = git(tmp_path, "diff", "--cached", "-C10%", "--find-copies-harder", "HEAD")
    moved.unlink()
    path.unlink()
    git(tmp_path, "add", "-A")
    deleted = git(tmp_path, "diff", "--cached", "HEAD")
    told = {}
    for title, patch in (
        ("added", added),
        ("mode", mode),
        ("changed", changed),
        ("both", both),
        ("copied", copied),
        ("deleted", deleted),
    ):
        [file] = authorise(parse(patch.decode()), [str(path), str(moved)], base=str(tmp_path))
        told[title] = (file.patch.operation, file.old_path, file.path)
    assert told == {
        "added": ("add", None, str(path)),
        "mode": ("modify", str(path), str(path)),
        "changed": ("modify", str(path), str(path)),
        "both": ("move", str(path), str(moved)),
        "copied": ("copy", str(path), str(moved)),
        "deleted": ("delete", str(path), None),
    }


@needs_git
@pytest.mark.parametrize("how", ["--binary", "--patch"])
def test_binary_changes_are_known_for_what_they_are(tmp_path: Path, how: str) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "a b.png").write_bytes(b"\x89PNG\0" * 500)
    (tmp_path / "z.txt").write_text("text\n")
    git(tmp_path, "add", "-A")
    git(tmp_path, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a")
    (tmp_path / "a b.png").write_bytes(b"\x89PNG\0\1\2" * 500)
    (tmp_path / "z.txt").write_text("other\n")
    (tmp_path / "link").symlink_to("z.txt")
    git(tmp_path, "add", "-A")
    image, link, text = parse(git(tmp_path, "diff", "--cached", how).decode())
    assert (image.binary, image.is_text, image.new_name) == (True, False, "b/a b.png")
    assert (link.operation, link.new_mode, link.is_text) == ("add", "120000", False)
    assert apply(text, "text\n") == "other\n"
    with pytest.raises(PatchError, match="not a change of text"):
        apply(image, "text")
    with pytest.raises(PatchError, match="not a change of text"):
        apply(link, "")


# --- whose files ------------------------------------------------------------------------

BODY = "@@ -1 +1 @@\n-a\n+b\n"
TWO = f"diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n{BODY}"


@pytest.mark.parametrize(
    ("more", "why"),
    [
        (f"--- a/../../home/u/.bashrc\n+++ b/../../home/u/.bashrc\n{BODY}", "no name of a file"),
        (f"--- a/x\n+++ b/../../home/u/.bashrc\n{BODY}", "no name of a file"),
        (f"--- a/b.txt\n+++ b/b.txt\n{BODY}", "none of the announced"),
        (f"--- /etc/passwd\n+++ /etc/passwd\n{BODY}", "none of the announced"),
        (f"--- a//etc/passwd\n+++ b//etc/passwd\n{BODY}", "none of the announced"),
        (f"--- /dev/null\n+++ b/new\n{BODY}", "none of the announced"),
        (f"--- a/ws\\..\\x\n+++ b/ws\\..\\x\n{BODY}", "no name of a file"),
        (f'--- "a/\\056\\056/x"\n+++ "b/\\056\\056/x"\n{BODY}', "no name of a file"),
        ("diff --git a/secret b/secret\ndeleted file mode 100644\n", "none of the announced"),
        (
            "diff --git a/a.txt b/x\nsimilarity index 100%\nrename from a.txt\nrename to x\n",
            "none of the announced",
        ),
        (
            "diff --git a/s b/a.txt\nsimilarity index 100%\ncopy from s\ncopy to a.txt\n",
            "none of the announced",
        ),
        ("diff --git a/s b/s\nold mode 100644\nnew mode 100755\n", "none of the announced"),
        ("diff --git a/s b/s\nindex 1..2 100644\nGIT binary patch\n", "none of the announced"),
        (f"--- a/xa.txt\n+++ b/xa.txt\n{BODY}", "none of the announced"),
        (f"--- a/evil/ws/a.txt\n+++ b/evil/ws/a.txt\n{BODY}", "none of the announced"),
    ],
)
@pytest.mark.parametrize("first", [True, False])
def test_D08_a_patch_that_speaks_of_other_files_is_refused_whole(
    more: str, why: str, first: bool
) -> None:
    files = parse(TWO + more if first else more + TWO)
    with pytest.raises(PatchError, match=why):
        authorise(files, ["/ws/a.txt"])
    assert len(authorise(parse(TWO), ["/ws/a.txt"])) == 1


@pytest.mark.parametrize(
    "patch",
    [
        f"diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/other\n{BODY}",
        f"diff --git a/a.txt b/a.txt\n--- a/other\n+++ b/a.txt\n{BODY}",
        f"diff --git a/x b/x\n--- a/a.txt\n+++ b/a.txt\n{BODY}",
        "diff --git a/a.txt b/a.txt\nrename from a.txt\nrename to other\n",
    ],
)
def test_D08_names_that_contradict_one_another_are_refused(patch: str) -> None:
    with pytest.raises(PatchError, match="not the name its head gives"):
        parse(patch)


def test_D08_names_are_mapped_where_that_is_clear() -> None:
    def mapped(*names: str, announced: tuple[str, ...], base: str | None = None) -> list[object]:
        patch = "".join(f"--- {name[0]}\n+++ {name[1]}\n{BODY}" for name in map(_sides, names))
        return [file.path for file in authorise(parse(patch), announced, base=base)]

    def _sides(name: str) -> tuple[str, str]:
        return (name, name) if name.startswith(("=", "/")) else (f"a/{name}", f"b/{name}")

    root, below = "/ws/a.txt", "/ws/sub/a.txt"
    assert mapped("a.txt", "sub/a.txt", announced=(root, below)) == [root, below]
    assert mapped("sub/a.txt", announced=(root, below)) == [below]
    with pytest.raises(PatchError, match="may be any of"):
        mapped("a.txt", announced=(root, below))
    assert mapped("a.txt", announced=(root, below), base="/ws/") == [root]
    assert mapped(below, announced=(root, below)) == [below]
    assert mapped("ws/a.txt", announced=(root, below)) == [root]
    assert mapped("x/a", "y/b", announced=("/one/x/a", "/two/y/b")) == ["/one/x/a", "/two/y/b"]
    assert mapped("src/a.txt", announced=("C:\\ws\\src\\a.txt",)) == ["C:\\ws\\src\\a.txt"]
    # A folder that is called a, and no prefix.
    [file] = authorise(parse(f"--- a/x\n+++ a/x\n{BODY}"), ["/ws/a/x", "/ws/x"])
    assert file.path == "/ws/a/x"


def test_D07_what_a_patch_does_to_a_file_is_told() -> None:
    patch = (
        "diff --git a/one b/two\nsimilarity index 100%\nrename from one\nrename to two\n"
        "diff --git a/c b/c\ndeleted file mode 100644\nindex e69de29..0000000\n"
        "diff --git a/e b/e\nnew file mode 100755\nindex 0000000..e69de29\n"
        "diff --git a/f b/g\nsimilarity index 90%\ncopy from f\ncopy to g\n"
        f"--- a/f\n+++ b/g\n{BODY}"
        "diff --git a/h b/h\nold mode 100644\nnew mode 100755\n"
        "diff --git a/i b/i\nindex 1234567..89abcde 160000\n--- a/i\n+++ b/i\n"
        "@@ -1 +1 @@\n-Subproject commit 1\n+Subproject commit 2\n"
    )
    announced = [f"/ws/{name}" for name in ("one", "two", "c", "e", "f", "g", "h", "i")]
    told = [
        (file.patch.operation, file.old_path, file.path)
        for file in authorise(parse(patch), announced)
    ]
    assert told == [
        ("move", "/ws/one", "/ws/two"),
        ("delete", "/ws/c", None),
        ("add", None, "/ws/e"),
        ("copy", "/ws/f", "/ws/g"),
        ("modify", "/ws/h", "/ws/h"),
        ("modify", "/ws/i", "/ws/i"),
    ]
    moved, _, _, copied, mode, module = parse(patch)
    assert apply(moved, "x\n") == apply(mode, "x\n") == "x\n"
    assert apply(copied, "a\n") == "b\n"
    assert not module.is_text


# --- how lines end ----------------------------------------------------------------------


@pytest.mark.parametrize("wrapped", [False, True])
@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("a\r\nb\r\nc\r\n", "a\r\nB\r\nnew\r\nc\r\n"),
        ("a\nb\r\nc\r\n", "a\nB\r\nnew\r\nc\r\n"),
        ("a\nb\nc\n", "a\nB\nnew\nc\n"),
        ("a\r\nb\r\nc", "a\r\nB\r\nnew\r\nc"),
    ],
)
def test_D10_line_ends_are_the_files_own(text: str, after: str, wrapped: bool) -> None:
    patch = f"--- a/a.txt\n+++ b/a.txt\n{'@@ -1,3 +1,4 @@'}\n a\n-b\n+B\n+new\n c\n"
    assert apply(only(patch.replace("\n", "\r\n") if wrapped else patch), text) == after


def test_D10_without_lines_around_it_the_end_is_the_files_too() -> None:
    assert apply(hunk("@@ -1,0 +2 @@\n+x\n"), "a\r\nb\r\n") == "a\r\nx\r\nb\r\n"
    assert apply(hunk("@@ -0,0 +1 @@\n+x\n"), "") == "x\n"


def test_D10_what_only_others_take_for_a_line_end_is_none() -> None:
    text = "a\x0cb\u2028c\x85d\n\x1ce\rf\ng\n"
    file = hunk("@@ -1,3 +1,3 @@\n a\x0cb\u2028c\x85d\n-\x1ce\rf\n+\x1cE\rf\n g\n")
    assert apply(file, text) == text.replace("e", "E")


def test_D10_a_byte_order_mark_that_the_text_is_without() -> None:
    file = hunk("@@ -1,2 +1,2 @@\n-\ufeffimport os\n+\ufeffimport sys\n x\n")
    assert apply(file, "import os\nx\n") == "import sys\nx\n"
    assert apply(file, "\ufeffimport os\nx\n") == "\ufeffimport sys\nx\n"


MARK = "\\ No newline at end of file\n"


@pytest.mark.parametrize(
    ("text", "body", "after"),
    [
        ("a\nb", "@@ -1,2 +1,3 @@\n a\n b\n+c\n", "a\nb\nc\n"),
        ("a\nb", f"@@ -1,2 +1,3 @@\n a\n b\n+c\n{MARK}", "a\nb\nc"),
        ("a\nb", f"@@ -1,2 +1,3 @@\n a\n b\n{MARK}+c\n", "a\nb\nc\n"),
        ("a\nb", f"@@ -1,2 +1,3 @@\n a\n-b\n{MARK}+b\n+c\n", "a\nb\nc\n"),
        ("a\nb", f"@@ -1,2 +1,3 @@\n a\n-b\n{MARK}+b\n+c\n{MARK}", "a\nb\nc"),
        ("a\nb", f"@@ -1,2 +1,2 @@\n a\n-b\n{MARK}+b\n", "a\nb\n"),
        ("a\nb\n", f"@@ -1,2 +1,2 @@\n a\n-b\n+b\n{MARK}", "a\nb"),
        ("a\r\nb", "@@ -1,2 +1,3 @@\n a\n b\n+c\n", "a\r\nb\r\nc\r\n"),
        ("a\r\nb", "@@ -2,0 +3 @@\n+c\n", "a\r\nb\r\nc\r\n"),
        ("a\nb", "@@ -1,2 +1,2 @@\n-a\n+A\n b\n", "A\nb"),
        ("a\nb", f"@@ -1,2 +0,0 @@\n-a\n-b\n{MARK}", ""),
        ("b", f"@@ -1 +1 @@\n-b\n{MARK.replace('No newline', 'Kein Zeilenumbruch')}+b\n", "b\n"),
        ("", f"@@ -0,0 +1 @@\n+c\n{MARK}", "c"),
    ],
)
def test_D11_the_last_line_ends_as_the_marker_says(text: str, body: str, after: str) -> None:
    assert apply(hunk(body), text) == after
    wrapped = f"--- a/a.txt\n+++ b/a.txt\n{body}".replace("\n", "\r\n")
    assert apply(only(wrapped), text) == after


# --- what does not fit ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "body", "why"),
    [
        ("a\nX\n", "@@ -1,2 +1,2 @@\n a\n-b\n+B\n", "line 2 says 'X"),
        ("0\na\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n+B\n", "line 1 says '0"),
        ("a\n", "@@ -1,2 +1,2 @@\n a\n-b\n+B\n", "line 2 says nothing"),
        ("a\n", "@@ -7 +7 @@\n-b\n+B\n", "not there"),
        ("a\nb\n", f"@@ -1,2 +1,2 @@\n a\n-b\n{MARK}+B\n", "ends in a newline"),
        ("a\nb\n", "@@ -2 +2 @@\n-b\n+B\n@@ -1 +1 @@\n-a\n+A\n", "not there"),
        ("a\nb\n", "@@ -0,1 +1 @@\n-a\n+A\n", "not there"),
        ("a \n", "@@ -1 +1 @@\n-a\n+A\n", "line 1 says"),
    ],
)
def test_a_patch_of_another_text_is_refused(text: str, body: str, why: str) -> None:
    with pytest.raises(PatchError, match=why):
        apply(hunk(body), text)


@pytest.mark.parametrize(
    ("patch", "why"),
    [
        ("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n", "ends within this hunk"),
        ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n-b\n+c\n", "more lines"),
        ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+c\n+d\n", "more lines"),
        ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n*a\n+c\n", "not a line of a hunk"),
        ("@@ -1 +1 @@\n-a\n+b\n", "a hunk of no file"),
        ("diff --git a/x b/x\n@@ -1 +1 @@\n-a\n+b\n", "a hunk of no file"),
        ("--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+b\n", "nowhere"),
        ('--- "a/x\n+++ "b/x"\n@@ -1 +1 @@\n-a\n+b\n', "without an end"),
        ("diff --cc x\n@@@ -1,1 -1,1 +1,1 @@@\n", "merge"),
        ("diff --git a b c d\nold mode 100644\nnew mode 100755\n", "cannot be told apart"),
    ],
)
def test_what_is_no_patch_is_refused(patch: str, why: str) -> None:
    with pytest.raises(PatchError, match=why):
        parse(patch)


def test_text_around_a_patch_is_passed_over() -> None:
    patch = (
        "From 1234 Mon Sep 17 00:00:00 2001\nSubject: [PATCH] x\n\n---\n a.txt | 2 +-\n\n"
        f"{TWO}-- \n2.40.0\n\nIndex: b.txt\n=====\n--- b.txt\t\n+++ b.txt\t2024-01-01\n{BODY}"
    )
    assert [file.names for file in parse(patch)] == [("a/a.txt", "b/a.txt"), ("b.txt",)]


def test_a_line_that_looks_like_a_head_belongs_to_its_hunk() -> None:
    file = hunk("@@ -1,3 +1,3 @@\n--- a/x\n+++ b/y\n \n-- \n+-- z\n@@ -9 +9 @@\n-i\n+I\n")
    text = "-- a/x\n\n- \nd\ne\nf\ng\nh\ni\n"
    assert apply(file, text) == "++ b/y\n\n-- z\nd\ne\nf\ng\nh\nI\n"


def test_hunks_that_come_without_a_patch() -> None:
    one = PatchHunk.of(1, 2, 1, 2, [" a", "-b", "+B"])
    file = PatchFile("modify", "/ws/a", "/ws/a", (one,))
    assert apply(file, "a\nb\n") == "a\nB\n"
    assert apply(file.reversed(), "a\nB\n") == "a\nb\n"
    with pytest.raises(PatchError, match="ends within"):
        PatchHunk.of(1, 3, 1, 3, [" a"])


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "diff --git a/x b/x",
                'diff --git "a/\\303" b/x',
                "--- a/x",
                "+++ b/x",
                "+++ /dev/null",
                "rename from x",
                "rename to y",
                "@@ -1 +1 @@",
                "@@ -1,2 +0,0 @@",
                "-a",
                "+b",
                " c",
                "",
                "\\ No newline at end of file",
                "GIT binary patch",
                "new file mode 120000",
                "\r",
            ]
        ),
        max_size=12,
    ).map("\n".join)
)
def test_whatever_comes_is_read_or_refused(patch: str) -> None:
    try:
        files = parse(patch)
        authorise(files, ["/ws/x"])
        for file in files:
            apply(file, "a\nc\n")
    except PatchError:
        pass


# --- what the ledger learns from one ----------------------------------------------------


@pytest.mark.parametrize("end", ["\n", "\r\n"])
async def test_D10_a_patch_told_after_the_fact_gives_the_baseline(
    hand: Hand, tmp_path: Path, end: str
) -> None:
    ledger = Ledger(hand.files())
    ledger.begin_turn()
    old, new = f"a{end}b{end}c{end}", f"a{end}B{end}new{end}c{end}"
    path = tmp_path / "a.txt"
    path.write_bytes(new.encode())
    patch = "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,4 @@\n a\n-b\n+B\n+new\n c\n"
    [told] = authorise(parse(patch), [str(path)])
    ledger.patch_reported(path, told.patch)
    assert ledger.diff(path) == (old, new)
    await ledger.revert()
    assert path.read_bytes() == old.encode()


@pytest.mark.parametrize(
    "patch",
    [
        "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-x\n+y\n",
        "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-a\n+A\n",
        "--- a/a.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n",
        "diff --git a/a.txt b/a.txt\nindex 1..2 100644\nBinary files a/a.txt and b/a.txt differ\n",
        "diff --git a/a.txt b/a.txt\nold mode 100644\nnew mode 100755\n",
    ],
)
async def test_D08_a_patch_that_the_file_does_not_bear_out_changes_nothing(
    hand: Hand, tmp_path: Path, patch: str
) -> None:
    ledger = Ledger(hand.files())
    ledger.begin_turn()
    path = tmp_path / "a.txt"
    path.write_text("a\n")
    [told] = parse(patch)
    ledger.patch_reported(path, told)
    await ledger.refresh()
    assert ledger.changes() == []
    assert path.read_text() == "a\n", "a report is never applied"


async def test_a_new_file_told_as_a_patch_is_created(hand: Hand, tmp_path: Path) -> None:
    ledger = Ledger(hand.files())
    ledger.begin_turn()
    path = tmp_path / "a.txt"
    path.write_text("a\n")
    [told] = parse("--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+a\n")
    ledger.patch_reported(path, told)
    assert [change.status for change in ledger.changes()] == ["created"]
    await ledger.revert()
    assert not path.exists()
