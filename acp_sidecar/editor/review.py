"""What waits for review, for an editor: the list of changed files, keep, revert, undo.

A hunk, a file or all of them; ``acp.review.*`` and ``acp/changes``. What an agent would like
to write (``review.mode`` ``before``) is decided by the same commands: keep takes it, revert
refuses it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from acp_sidecar.editor.calls import INVALID_PARAMS, CommandError
from acp_sidecar.editor.outcome import joined
from acp_sidecar.workspace.changes import Reviewed
from acp_sidecar.workspace.ledger import NoSuchHunk
from acp_sidecar.workspace.uris import path_to_uri, uri_key, uri_to_path

if TYPE_CHECKING:
    from acp_sidecar.client.ports import SessionView
    from acp_sidecar.editor.deleting import Deleting
    from acp_sidecar.editor.server import SidecarServer
    from acp_sidecar.workspace.changes import EditedFile, FileChange
    from acp_sidecar.workspace.documents import Documents
    from acp_sidecar.workspace.files import Files
    from acp_sidecar.workspace.ledger import Ledger
    from acp_sidecar.workspace.proposal import Proposal

Step = Literal["keep", "revert"]
Edited = Literal["keep", "delete"]


class Review:
    """The ledger of each session, and its proposals, as the editor sees them."""

    def __init__(
        self,
        server: SidecarServer,
        documents: Documents,
        files: Files,
        *,
        wanted: bool,
        warn: Callable[[str], None],
        moved: Callable[[], None],
        deleting: Deleting,
    ) -> None:
        """``wanted``: whether the editor draws changes itself; then it is not to be warned.
        ``moved``: something is different, for any session. ``deleting`` asks the user."""
        self._server = server
        self._documents = documents
        self._files = files
        self._wanted = wanted
        self._warn = warn
        self._moved = moved
        self._deleting = deleting
        self._told: dict[str, list[dict[str, Any]]] = {}

    # --- what there is --------------------------------------------------------------------

    def changes(self, session: SessionView) -> list[dict[str, Any]]:
        """``acp.review.list``, as known now."""
        listed = [change.to_json() for change in _changes(session)]
        return self._with_proposed(session, listed) if session.reviews_before else listed

    async def refresh(self, session: SessionView, paths: Sequence[Path] | None = None) -> None:
        """Look at the files again."""
        if session.ledger is not None:
            await session.find_unannounced()
            await session.ledger.refresh(paths)

    def changed(self, session: SessionView) -> None:
        """Tell the editor, where something is different."""
        session_id = session.state.session_id
        changes = self.changes(session)
        if self._told.get(session_id, []) == changes:
            return
        self._told[session_id] = changes
        self._moved()
        if self._wanted:
            self._server.notify_json(
                "acp/changes",
                {"sessionId": session_id, "changes": changes},
                droppable=("acp/changes", session_id),
            )

    def forget(self, session: SessionView) -> None:
        """The session is closed: nothing of it waits any more."""
        self._deleting.forget(session)
        if self._told.pop(session.state.session_id, None):
            self._moved()

    def real(self, uri: str) -> Path:
        """The path of a document. Raises :class:`CommandError`."""
        document = self._documents.get(uri)
        if document is not None and document.real is not None:
            return document.real
        path = uri_to_path(uri)
        if path is None:
            raise CommandError(f"{uri} is not the URI of a file.", INVALID_PARAMS)
        return Path(path).resolve()

    def _path(self, sessions: Sequence[SessionView], uri: str) -> Path:
        """:meth:`real`, but of what is listed the path it is kept under: a link may be in its
        place by now. Raises :class:`CommandError`."""
        key = uri_key(uri)
        for session in sessions:
            for change in _changes(session):
                if uri_key(change.uri) == key:
                    return change.path
        return self.real(uri)

    def _with_proposed(
        self, session: SessionView, listed: Sequence[dict[str, Any]]
    ) -> list[dict[str, Any]]:
        entries: dict[str, dict[str, Any]] = {}
        for entry in listed:
            entries[str(entry["uri"])] = {**entry, "proposed": []}
        for proposal in session.proposals:
            uri = self.uri(session, proposal.path)
            fresh: dict[str, Any] = {
                "uri": uri,
                "status": "created" if proposal.creates else "modified",
                "oldUri": None,
                "binary": False,
                "hunks": [],
                "proposed": [],
            }
            waiting = proposal.waiting()
            now = self._files.glance(proposal.path)
            entries.setdefault(uri, fresh)["proposed"] += [
                hunk.to_json() for hunk in proposal.hunks(now) if hunk.id in waiting
            ]
        return list(entries.values())

    def uri(self, session: SessionView, path: Path) -> str:
        """What the editor calls a file, or would."""
        return self._files.uri_of(path) or path_to_uri(session.roots.as_given(path))

    # --- what is decided ------------------------------------------------------------------

    async def step(
        self,
        session: SessionView,
        step: Step,
        uri: str | None,
        hunk_id: str | None,
        edited: Edited | None = None,
    ) -> Reviewed:
        """Keep or revert a hunk, the changes of one file, or all.

        ``edited``: what becomes of files that the agent made and the user has edited, which
        a revert would delete; None to ask the user about them, after all else is done.
        """
        ledger = _ledger(session)
        await session.find_unannounced()
        path = None if uri is None else self._path([session], uri)
        proposals = [
            proposal for proposal in session.proposals if path is None or proposal.path == path
        ]
        chosen, stuck = self._choose(proposals, hunk_id, step)
        done = [stuck]
        if hunk_id is None or not (chosen or stuck.conflicts):
            try:
                took = ledger.keep if step == "keep" else ledger.revert
                done.append(await took(path, hunk_id))
            except NoSuchHunk as error:
                raise CommandError(f"{error}.", INVALID_PARAMS) from error
        if chosen:
            done.append(await _decided(session, chosen, step))
        return await self._settled(session, done, edited)

    async def decide(self, session: SessionView, proposal: Proposal, step: Step) -> None:
        """Take or refuse all of one proposal that waits."""
        chosen, stuck = self._choose([proposal], None, step)
        self._outcome(session, [stuck, await _decided(session, chosen, step)])

    def _choose(
        self, proposals: Sequence[Proposal], hunk_id: str | None, step: Step
    ) -> tuple[list[str], Reviewed]:
        """The proposed hunks that a step decides, and those of them that cannot be taken."""
        chosen: list[str] = []
        stuck: list[str] = []
        problems: list[str] = []
        for proposal in proposals:
            waiting = proposal.waiting()
            clash = False
            for hunk in proposal.hunks(self._files.glance(proposal.path)):
                if hunk.id not in waiting or hunk_id not in (None, hunk.id):
                    continue
                if hunk.state == "conflict" and step == "keep":
                    stuck.append(hunk.id)
                    clash = True
                else:
                    chosen.append(hunk.id)
            if clash:
                problems.append(
                    f"{proposal.path}: You have changed lines that the agent wants to change "
                    "as well; refuse that, and it will read them again"
                )
        return chosen, Reviewed(conflicts=tuple(stuck), problems=tuple(problems))

    async def undo(self, session: SessionView) -> Reviewed:
        """Take the last keep or revert back; of proposals that are not decided yet first."""
        waiting_again = session.proposals.undo()
        if waiting_again:
            return self._outcome(session, [Reviewed(reverted=waiting_again)])
        return self._outcome(session, [await _ledger(session).undo()])

    async def diff(
        self, sessions: Sequence[SessionView], uri: str, *, proposed: bool = True
    ) -> dict[str, str]:
        """The texts of a file before and after the agent, from the first session that knows it.

        Where a write of it waits: what the file says, and what it would say; not so where
        ``proposed`` is false. The editor is told of other hunks first: those it knows are
        those of the texts.
        """
        path = self._path(sessions, uri)
        for session in sessions if proposed else ():
            for proposal in session.proposals:
                if proposal.path == path:
                    return {"before": proposal.old, "after": proposal.content}
        for session in sessions:
            if session.ledger is None:
                continue
            await session.ledger.refresh([path])
            self.changed(session)
            texts = session.ledger.diff(path)
            if texts is not None:
                return {"before": texts[0], "after": texts[1]}
        raise CommandError(f"No session has heard of {uri}.", INVALID_PARAMS)

    def checkpoints(self, session: SessionView) -> list[dict[str, Any]]:
        """``acp.checkpoint.list``: the prompts so far, oldest first."""
        return [
            {
                "checkpointId": checkpoint.id,
                "turn": checkpoint.turn,
                "time": checkpoint.time,
                "label": checkpoint.label,
            }
            for checkpoint in _ledger(session).checkpoints()
        ]

    async def restore(
        self, session: SessionView, checkpoint_id: str, edited: Edited | None = None
    ) -> Reviewed:
        """Bring every file back to what it said at a checkpoint. ``edited`` as in :meth:`step`."""
        await session.find_unannounced()
        try:
            done = await _ledger(session).restore(checkpoint_id)
        except LookupError as error:
            raise _no_checkpoint(checkpoint_id) from error
        return await self._settled(session, [done], edited)

    async def foresee(self, session: SessionView, checkpoint_id: str) -> dict[str, Any]:
        """``acp.checkpoint.preview``: what :meth:`restore` would do."""
        try:
            files, stuck = await _ledger(session).foresee(checkpoint_id)
        except LookupError as error:
            raise _no_checkpoint(checkpoint_id) from error
        return {
            "files": [
                {"uri": self.uri(session, file.path), "change": file.change} for file in files
            ],
            "conflicts": list(stuck.conflicts),
            "problems": list(stuck.problems),
        }

    async def _settled(
        self, session: SessionView, done: list[Reviewed], edited: Edited | None
    ) -> Reviewed:
        files = tuple(file for one in done for file in one.edited)
        if not files or edited == "keep":
            return self._outcome(session, done)
        settled = {file.id for file in files}, {file.problem for file in files}
        if edited == "delete":
            ledger = _ledger(session)
            done = [_without(one, *settled) for one in done]
            return self._outcome(session, [*done, await ledger.delete(files)])
        self._deleting.ask(session, files, lambda agreed: self._delete(session, agreed))
        # The question says of these why they stay.
        return self._outcome(session, done, unsaid=settled[1])

    async def _delete(self, session: SessionView, files: Sequence[EditedFile]) -> None:
        self._outcome(session, [await _ledger(session).delete(files)])

    def _outcome(
        self, session: SessionView, done: Sequence[Reviewed], unsaid: Collection[str] = ()
    ) -> Reviewed:
        self.changed(session)
        total = joined(done)
        told = [problem for problem in total.problems if problem not in unsaid]
        if told and not self._wanted:
            # Whoever pressed a code lens never sees what the command answers.
            self._warn("\n".join(told))
        return total


def _no_checkpoint(checkpoint_id: str) -> CommandError:
    return CommandError(
        f"No checkpoint {checkpoint_id!r} is known; acp.checkpoint.list gives them.",
        INVALID_PARAMS,
    )


def _changes(session: SessionView) -> Sequence[FileChange]:
    return session.ledger.changes() if session.ledger else ()


async def _decided(session: SessionView, ids: Collection[str], step: Step) -> Reviewed:
    decided = await session.proposals.decide(ids, take=step == "keep")
    return Reviewed(decided.taken, decided.refused, decided.failed, decided.problems)


def _without(done: Reviewed, ids: Collection[str], problems: Collection[str]) -> Reviewed:
    """The same, without what is settled in another way."""
    return Reviewed(
        done.kept,
        done.reverted,
        tuple(id_ for id_ in done.conflicts if id_ not in ids),
        tuple(problem for problem in done.problems if problem not in problems),
    )


def _ledger(session: SessionView) -> Ledger:
    if session.ledger is None:
        raise CommandError("Nothing is kept for review: the setting review.mode is 'off'.")
    return session.ledger
