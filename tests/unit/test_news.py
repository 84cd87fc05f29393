"""What an agent is told of its changes, line by line as the files have them."""

from __future__ import annotations

from pathlib import Path

from acp_sidecar.client.news import in_words
from acp_sidecar.workspace.news import NewsForAgent, Reverted


def test_a_page_break_within_a_line_does_not_end_it() -> None:
    reverted = Reverted(Path("/ws/a.txt"), "old\x0cone\r\n", "new\u2028one\r\nand\x85more\n")
    said = in_words(NewsForAgent((reverted,), ()), str)
    assert said.split("\n")[1:] == ["-old\x0cone", "+new\u2028one", "+and\x85more"]
