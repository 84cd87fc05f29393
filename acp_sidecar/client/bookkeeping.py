"""What becomes of the files of one session, as its ledger is told of it.

The agent names files in its tool calls and reports, writes them through us or by itself, and
has commands change them; the user writes them too. Here all of that is noticed, and the
editor is told when something is different.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from acp_sidecar.acp.model import FINAL_STATUSES, ChangedFiles, Diff, ToolCallUpsert, given
from acp_sidecar.acp.reports import GIT_PATCH
from acp_sidecar.client.beneath import Beneath
from acp_sidecar.client.books import Books
from acp_sidecar.client.named import named_paths
from acp_sidecar.client.ports import SessionView
from acp_sidecar.client.refusals import Refusals
from acp_sidecar.client.survey import Survey
from acp_sidecar.client.visible import visible
from acp_sidecar.session.change import ToolCallChanged
from acp_sidecar.workspace.gitpatch import PatchError, parse
from acp_sidecar.workspace.patchnames import PatchedFile, authorise
from acp_sidecar.workspace.roots import PathRefused

if TYPE_CHECKING:
    from acp_sidecar.client.ports import Editor
    from acp_sidecar.session.toolcall import ToolCall
    from acp_sidecar.tasks import Tasks
    from acp_sidecar.workspace.files import Files, WriteOutcome
    from acp_sidecar.workspace.ledger import Ledger
    from acp_sidecar.workspace.proposal import Proposal
    from acp_sidecar.workspace.texts import Said

_PATIENCE: Final = 0.05
"""Seconds until a file is looked at again whose change cannot be told yet."""


class Watched(SessionView, Protocol):
    """The session whose files these are."""

    @property
    def editor(self) -> Editor: ...

    @property
    def tasks(self) -> Tasks: ...

    @property
    def in_turn(self) -> bool:
        """Whether the agent is at work."""


class Bookkeeping(Books):
    """Keeps the ledger of one session up to date."""

    def __init__(self, session: Watched, files: Files, ledger: Ledger, *, survey: bool) -> None:
        """``survey``: whether changes are looked for that nobody speaks of."""
        self._session = session
        self._files = files
        self._ledger = ledger
        self._refusals = Refusals(files, ledger)
        self._beneath = Beneath(files, session.tasks, self._tell_of_hidden)
        self._survey = Survey(session.roots.real) if survey else None
        self._survey_due = False
        self._surveying = asyncio.Lock()
        self._review_due = False
        self._review_running = False

    # --- a turn ---------------------------------------------------------------------------

    def look_ahead(self) -> None:
        if self._survey is not None:
            self._survey.look_ahead()

    async def look_at_folders(self) -> None:
        await self._ledger.until_whole()
        if self._survey is not None:
            await self._survey.begin_turn()

    def begin_turn(self, *, time: float, label: str) -> None:
        self._refusals.clear()
        self._ledger.begin_turn(time=time, label=label)

    def end_turn(self) -> None:
        self._ledger.end_turn()
        self._beneath.look(self._ledger.paths)
        self._survey_due = self._survey is not None
        self.review_soon()

    # --- what the agent does ------------------------------------------------------------------

    def touch(self, path: str, *, late: bool = False) -> Path | None:
        try:
            return self._touch(path, late)
        except PathRefused:
            return None

    def _touch(self, path: str, late: bool) -> Path:
        cwd = self._session.state.cwd
        real = self._session.roots.resolve(path, relative_to=cwd, must="new")
        before = self._before(real) if late else None
        if before is not None:
            self._ledger.found(real, before)
        self._ledger.touch(real)
        return real

    def _before(self, real: Path) -> Said | None:
        """What a file that the agent may be writing just now said before, if that is known."""
        if self._survey is None:
            return None
        changed = self._survey.before(real)
        if changed is not None or self._files.is_open(real):
            return changed
        return self._survey.still(real)

    def wrote(self, path: Path, outcome: WriteOutcome) -> None:
        self._ledger.wrote(path, outcome)
        self.review_soon()

    async def approved(self, path: Path, outcome: WriteOutcome) -> None:
        await self._ledger.approved(path, outcome)
        self.review_soon()

    async def take_back(self, proposal: Proposal) -> bool:
        if not proposal.refused():
            self._refusals.drop(proposal.path)
            return False
        self._refusals.add(proposal)
        return proposal.path in await self._take_back()

    async def _take_back(self) -> list[Path]:
        done = await self._refusals.take_back()
        for path in done:
            self._tell(
                f"{self._session.agent_name} had written {self._name(path)} without waiting for "
                "your word. What you refused was taken back."
            )
        return done

    def note(self, change: ToolCallChanged) -> None:
        event = change.event
        if self._survey is not None and self._survey.note(change.tool_call):
            self._survey_due = True
            self.review_soon()
        if not isinstance(event, ToolCallUpsert):
            if event is not None:
                if isinstance(event.content, ChangedFiles):
                    self._note_changes(event.content)
                self.review_soon()
            return
        for location in given(event.locations, ()):
            self.touch(location.path, late=True)
        for path in named_paths(event.raw_input):
            self.touch(path, late=True)
        for item in given(event.content, ()):
            if isinstance(item, Diff):
                self._note_diff(item)
            elif isinstance(item, ChangedFiles):
                self._note_changes(item)
        status = given(event.status, "")
        new = _new_file(change.tool_call) if status == "completed" else None
        if new is not None:
            self._note_diff(new)
        if status in FINAL_STATUSES or given(event.content, ()):
            self.review_soon()

    def _note_diff(self, diff: Diff) -> None:
        real = self.touch(diff.path, late=True)
        if real is not None:
            self._ledger.diff_reported(real, diff.old_text, diff.new_text)

    def _note_changes(self, report: ChangedFiles) -> None:
        """A v2 diff: its changes say which files, its patch what is new in them."""
        announced: dict[str, Path | PathRefused] = {}
        for file in report.files:
            for path in (file.path, file.old_path):
                if path is not None:
                    try:
                        announced[path] = self._touch(path, late=True)
                    except PathRefused as refused:
                        announced[path] = refused
        patch = report.patch
        if patch is None or patch.format != GIT_PATCH:
            return
        try:
            told = authorise(parse(patch.text), announced, base=self._session.state.cwd)
            reported = [(_reviewed(file, announced), file.patch) for file in told]
        except PatchError as error:
            said = f"{visible(self._session.agent_name)}: {visible(str(error))}"
            self._session.editor.tell("log", said)
            return
        for real, file_patch in reported:
            self._ledger.patch_reported(real, file_patch)

    def command_began(self, terminal_id: str) -> None:
        if self._survey is not None:
            self._survey.command_began(terminal_id)

    def command_ended(self, terminal_id: str) -> None:
        if self._survey is not None:
            self._survey.command_ended(terminal_id)
            self._survey_due = True
        self.review_soon()

    # --- looking again --------------------------------------------------------------------------

    async def look_again(self, path: Path) -> None:
        later = True
        while later:
            later = await self._ledger.refresh([path], patient=True)
            if later:
                await asyncio.sleep(_PATIENCE)

    def review_soon(self) -> None:
        if self._session.ended:
            return
        self._review_due = True
        if not self._review_running:
            self._review_running = True
            self._session.tasks.start(self._review(), name="review of changed files")

    async def _review(self) -> None:
        try:
            while self._review_due:
                self._review_due = False
                await self.find_unannounced()
                if await self._ledger.refresh(patient=True):
                    await asyncio.sleep(_PATIENCE)
                    self._review_due = True
                await self._take_back()
                if self._session.in_turn:
                    self._beneath.look(self._ledger.paths)
                self._session.editor.files_changed(self._session)
        finally:
            self._review_running = False

    async def find_unannounced(self) -> None:
        async with self._surveying:
            if self._survey is None or not self._survey_due:
                return
            self._survey_due = False
            for path, before in await self._survey.changed():
                self._ledger.found(path, before)

    def _tell_of_hidden(self, path: Path) -> None:
        agent, name = self._session.agent_name, self._name(path)
        if path.exists():
            self._tell(
                f"{name} has changed on disk while {agent} was at work, and the editor has unsaved "
                "changes of yours without that. Saving them would undo it: compare first."
            )
        else:
            self._tell(
                f"{name} was deleted while {agent} was at work, and the editor has unsaved changes "
                "of yours. They stay; saving them makes the file again."
            )

    def _name(self, path: Path) -> str:
        return visible(self._session.roots.as_given(path))

    def _tell(self, text: str) -> None:
        self._session.editor.tell("warning", text)


def _reviewed(patched: PatchedFile, announced: Mapping[str, Path | PathRefused]) -> Path:
    """The file that a part of a patch is about. Raises :class:`PatchError` where one that it
    names is not reviewed."""
    found: list[Path] = []
    for path in (patched.path, patched.old_path):
        real = None if path is None else announced[path]
        if isinstance(real, PathRefused):
            outside = real.reason == "outside"
            why = "outside of the session's folders" if outside else "no file to be reviewed"
            raise PatchError(f"The patch speaks of {path!r}, which is {why}")
        if real is not None:
            found.append(real)
    if not found:
        raise PatchError("The patch speaks of no file")
    return found[0]


def _new_file(call: ToolCall) -> Diff | None:
    """What a finished call says of a file that was not there, where it sends no diff for it:
    the text among its arguments, and among its results that the file did not exist."""
    given_, result = call.raw_input, call.raw_output
    about = result.get("metadata") if isinstance(result, Mapping) else None
    if not isinstance(given_, Mapping) or not isinstance(about, Mapping):
        return None
    text, path = given_.get("content"), given_.get("filePath")
    if about.get("exists") is not False or not isinstance(text, str) or not isinstance(path, str):
        return None
    return Diff(path, text)
