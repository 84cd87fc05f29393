"""Reports of changed files, from one version to the other and back."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_sidecar.acp import model
from acp_sidecar.acp.reports import changed_files, diffs

TEXTS = st.text(alphabet="ab\n\r\t-+ @\\é\u2028", max_size=30)
PATHS = st.text(alphabet="ab é\"\\\n\t'", min_size=1, max_size=8).map(lambda name: f"/ws/{name}")


@settings(deadline=None)
@given(PATHS, st.none() | TEXTS, TEXTS)
def test_a_diff_comes_back_as_it_was(path: str, old: str | None, new: str) -> None:
    diff = model.Diff(path, new, old, {"k": 1}, {"x": 2})
    report = changed_files(diff)
    if old == new:
        assert report.patch is None
        return
    assert diffs(report) == [diff]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a\nb\nc\n", "a\nB\nc\n"),
        ("a\nb\nc", "a\nb\nc\n"),
        ("a\n", ""),
        ("", "a\n"),
        (None, "new\nfile"),
        ("x\r\ny\r\n", "x\r\nz\r\n"),
    ],
)
def test_git_takes_the_patch(tmp_path: Path, old: str | None, new: str) -> None:
    """It is what it says it is, except for paths that lead away from a repository."""
    path = tmp_path / "some file"
    if old is not None:
        path.write_bytes(old.encode())
    report = changed_files(model.Diff(str(path), new, old))
    assert report.patch is not None and report.patch.format == "git_patch"
    text = report.patch.text.replace(str(path), "some file")
    subprocess.run(
        ["git", "apply", "-p0", "--unidiff-zero", "-"],
        cwd=tmp_path,
        input=text.encode(),
        check=True,
        env={"PATH": "/usr/bin:/bin", "GIT_CEILING_DIRECTORIES": str(tmp_path.parent)},
    )
    assert path.read_bytes() == new.encode()


PATCH = """diff --git /ws/a.py /ws/a.py
index 1..2 100644
--- /ws/a.py
+++ /ws/a.py
@@ -1,2 +1,2 @@ def f():
 one
-two
+2
@@ -9 +9,2 @@
-nine
+9
+ten
"""


def test_each_piece_of_a_patch_is_a_report_of_its_own() -> None:
    report = model.ChangedFiles(
        (model.FileChange("modify", "/ws/a.py"),), model.DiffPatch("git_patch", PATCH)
    )
    assert diffs(report) == [
        model.Diff("/ws/a.py", "one\n2\n", "one\ntwo\n"),
        model.Diff("/ws/a.py", "9\nten\n", "nine\n"),
    ]


def _texts(report: model.ChangedFiles) -> list[str]:
    return [
        item.content.text
        for item in diffs(report)
        if isinstance(item, model.Content) and isinstance(item.content, model.TextContent)
    ]


def test_changes_without_a_patch_are_told_in_words() -> None:
    """Nothing that happened to a file is dropped."""
    report = model.ChangedFiles(
        (
            model.FileChange("add", "/ws/new"),
            model.FileChange("delete", "/ws/old"),
            model.FileChange("modify", "/ws/pic", file_type="binary"),
            model.FileChange("move", "/ws/to", "/ws/from"),
            model.FileChange("copy", "/ws/two", "/ws/one", file_type="directory"),
            model.UnknownBlock({"operation": "_melt", "path": "/ws/x"}),
        )
    )
    assert _texts(report) == [
        "Added /ws/new",
        "Deleted /ws/old",
        "Changed /ws/pic (binary)",
        "Moved /ws/from to /ws/to",
        "Copied /ws/one to /ws/two (directory)",
        "Change: _melt",
    ]


@pytest.mark.parametrize("format_", ["git_patch", "_jj"])
def test_a_patch_of_other_files_is_not_believed(format_: str) -> None:
    """It is shown as text, and no file is said to have changed that was not announced."""
    report = model.ChangedFiles(
        (model.FileChange("modify", "/ws/b.py"),), model.DiffPatch(format_, PATCH)
    )
    assert not any(isinstance(item, model.Diff) for item in diffs(report))
    assert _texts(report) == ["Changed /ws/b.py", PATCH]


def test_a_moved_file_that_also_changed() -> None:
    patch = (
        "diff --git /ws/from /ws/to\nsimilarity index 50%\nrename from /ws/from\n"
        "rename to /ws/to\n--- /ws/from\n+++ /ws/to\n@@ -1 +1 @@\n-a\n+b\n"
    )
    report = model.ChangedFiles(
        (model.FileChange("move", "/ws/to", "/ws/from"),), model.DiffPatch("git_patch", patch)
    )
    assert _texts(report) == ["Moved /ws/from to /ws/to"]
    assert diffs(report)[1] == model.Diff("/ws/to", "b\n", "a\n")


def test_a_deleted_file_has_nothing_left() -> None:
    patch = (
        "diff --git /ws/a /ws/a\ndeleted file mode 100644\n--- /ws/a\n+++ /dev/null\n"
        "@@ -1 +0,0 @@\n-gone\n\\ No newline at end of file\n"
    )
    report = model.ChangedFiles(
        (model.FileChange("delete", "/ws/a"),), model.DiffPatch("git_patch", patch)
    )
    assert diffs(report) == [model.Diff("/ws/a", "", "gone")]
