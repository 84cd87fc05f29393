"""What a file is called in a folder."""

from __future__ import annotations

from pathlib import Path

from acp_sidecar.workspace.relative import relative_name


def test_a_file_is_named_from_the_folder(tmp_path: Path) -> None:
    ws = tmp_path / "ws"
    (ws / "src").mkdir(parents=True)
    link = tmp_path / "link"
    link.symlink_to(ws)
    assert relative_name(str(ws / "src" / "a.py"), str(ws)) == "src/a.py"
    assert relative_name(str(ws / "src" / "a.py"), str(link)) == "src/a.py"
    assert relative_name(str(tmp_path / "a.py"), str(ws)) == (tmp_path / "a.py").as_posix()
    assert relative_name(str(ws), str(ws)) == ws.as_posix()
    assert relative_name("/ws/a.py", None) == "/ws/a.py"
