"""A write that waits is put before the user of an editor that does not draw such things.

One dialog a write: take all, refuse all, or look and choose in the document. Only a click
on the first writes anything.
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, Final

from attrs import evolve

from acp_sidecar.client.ports import ChangeSummary, Choice, Question, excerpt, visible
from acp_sidecar.tasks import Tasks

if TYPE_CHECKING:
    from acp_sidecar.client.ports import SessionView
    from acp_sidecar.editor.capabilities import ClientFeatures
    from acp_sidecar.editor.dialogs import Dialogs
    from acp_sidecar.editor.lenses import Lenses
    from acp_sidecar.editor.review import Review, Step
    from acp_sidecar.workspace.proposal import Proposal

_REJECT: Final = Choice("reject", "Reject all", "reject_once", "Reject all")
_CHOOSE: Final = Choice("choose", "Let me choose", None, "Let me choose")
_APPLY: Final = Choice("apply", "Apply all", "allow_once", "Apply all")


class Proposing:
    """The dialogs for writes that wait, of all sessions."""

    def __init__(
        self,
        dialogs: Dialogs,
        review: Review,
        lenses: Lenses,
        tasks: Tasks,
        features: ClientFeatures,
    ) -> None:
        self._dialogs = dialogs
        self._review = review
        self._lenses = lenses
        self._tasks = tasks
        self._features = features

    def proposed(self, session: SessionView, proposal: Proposal) -> None:
        """Ask, unless the editor shows such writes in a way of its own."""
        if self._features.proposals:
            return
        asked = _question(session, proposal, self._can_choose(proposal))
        self._dialogs.ask(asked, lambda option: self._answered(session, proposal, option))

    def settled(self, proposal: Proposal) -> None:
        """The write waits no more."""
        self._dialogs.withdraw(proposal.id)

    def _can_choose(self, proposal: Proposal) -> bool:
        """Whether there is a document in which its hunks can be decided."""
        able = self._features.code_lens or self._features.code_action_literals
        return able and not proposal.creates

    def _answered(self, session: SessionView, proposal: Proposal, option: str | None) -> None:
        self._dialogs.withdraw(proposal.id)
        if option == "apply":
            self._start(self._decide(session, proposal, "keep"))
        elif option == "reject" or not (option == "choose" or self._can_choose(proposal)):
            # Without an answer it is a no where nothing else would ever answer the agent.
            self._start(self._decide(session, proposal, "revert"))
        elif option == "choose":
            self._start(self._choose(session, proposal))

    def _start(self, work: Coroutine[Any, Any, object]) -> None:
        self._tasks.start(work, name="decision about a write")

    async def _decide(self, session: SessionView, proposal: Proposal, step: Step) -> None:
        await self._review.decide(session, proposal, step)

    async def _choose(self, session: SessionView, proposal: Proposal) -> None:
        uri = self._review.uri(session, proposal.path)
        await self._lenses.next([session], uri, None, -1)


def _question(session: SessionView, proposal: Proposal, can_choose: bool) -> Question:
    gone, come = proposal.counts
    path = visible(session.roots.as_given(proposal.path))
    number = proposal.id.rpartition("-")[2]
    places = len(proposal.ids())
    what = "It makes" if proposal.creates else "It changes"
    where = f" in {places} places" if places > 1 else ""
    change = ChangeSummary(str(proposal.path), proposal.old, proposal.content, True, "")
    question = Question(
        request_id=proposal.id,
        session_id=session.state.session_id,
        agent=session.agent_name,
        kind="edit",
        headline=f"{visible(session.agent_name)} wants to write {path}",
        mark=f"write {number}",
        facts=(f"{what} {path} (−{gone} +{come} lines){where}",),
        paths=(str(proposal.path),),
        choices=(_REJECT, *((_CHOOSE,) if can_choose else ()), _APPLY),
    )
    return evolve(question, in_full="\n".join([question.message, *excerpt(change)]))
