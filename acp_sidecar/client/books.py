"""What is kept of the files of one session, so that its user can review them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from acp_sidecar.session.change import ToolCallChanged
    from acp_sidecar.workspace.files import WriteOutcome
    from acp_sidecar.workspace.proposal import Proposal


class Books:
    """What a session tells of its files. Here nothing is kept, as the user has set it;
    :class:`~acp_sidecar.client.bookkeeping.Bookkeeping` keeps a ledger."""

    def look_ahead(self) -> None:
        """The session is open, and will soon be prompted."""

    async def look_at_folders(self) -> None:
        """A prompt is about to go out: see what is there before the agent is at work."""

    def begin_turn(self, *, time: float, label: str) -> None:
        """A prompt goes out, at ``time`` (seconds since 1970), of which ``label`` is the
        beginning: what files say now is what the agent's changes start from."""

    def end_turn(self) -> None:
        """The agent is done: look at its files once more."""

    def touch(self, path: str, *, late: bool = False) -> Path | None:
        """Remember what a file said before the agent changes it, at its first mention.
        ``late``: the agent may have changed it already. Its path, where it is reviewed."""
        return None

    def wrote(self, path: Path, outcome: WriteOutcome) -> None:
        """The agent's write through us is in the file."""

    async def approved(self, path: Path, outcome: WriteOutcome) -> None:
        """What the user took of the agent's write is in the file."""

    async def take_back(self, proposal: Proposal) -> bool:
        """All of a write was decided. Where the agent has written it without waiting for
        that, make it as decided; whether that was so. Later it is looked at again.
        """
        return False

    def note(self, change: ToolCallChanged) -> None:
        """Take in what a tool call says of files."""

    def command_began(self, terminal_id: str) -> None:
        """A command of the agent's begins to run here."""

    def command_ended(self, terminal_id: str) -> None:
        """That command has ended: look again at the files."""

    async def look_again(self, path: Path) -> None:
        """Look at a file again, of which the user has just been seen to change something."""

    def review_soon(self) -> None:
        """Look again at what waits for review, once, however often this is called."""

    async def find_unannounced(self) -> None:
        """Look for files that have been changed without a word, where that is due."""
