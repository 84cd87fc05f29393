"""What an agent tells in a conversation besides messages and calls: plans, notices, compactions."""

from __future__ import annotations

from acp_sidecar.acp.model import CompactionSummaryChunk, CompactionUpdate, Notice, PlanUpdate
from acp_sidecar.session.change import Change, CompactionChanged, NoticeAdded, PlanChanged
from acp_sidecar.session.records import Compaction, NoticeEntry, Plan
from acp_sidecar.session.timeline import Timeline


class Announcements:
    """The plans, notices and compactions of one session."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline

    def plan(self, event: PlanUpdate) -> Change:
        """Fold a plan, which replaces the one with its id."""
        key = f"plan:{event.plan_id}"
        plan = self._timeline.get(key, Plan)
        if plan is None:
            plan = Plan(event.plan_id, key)
            self._timeline.add("plan", event.plan_id, plan)
        plan.patch(event)
        return PlanChanged(plan)

    def notice(self, event: Notice) -> Change:
        """Fold a notice; each is one more."""
        notice_id = f"notice-{self._timeline.count('notice')}"
        notice = NoticeEntry(notice_id, f"notice:{notice_id}", event)
        self._timeline.add("notice", notice_id, notice)
        return NoticeAdded(notice)

    def compaction(self, event: CompactionUpdate) -> Change:
        """Fold what is said of a compaction."""
        compaction = self._compaction(event.compaction_id)
        compaction.patch(event)
        return CompactionChanged(compaction)

    def summary_chunk(self, event: CompactionSummaryChunk) -> Change:
        """Fold one more piece of the summary of a compaction."""
        compaction = self._compaction(event.compaction_id)
        compaction.summary.append(event.content)
        return CompactionChanged(compaction)

    def _compaction(self, compaction_id: str) -> Compaction:
        key = f"compaction:{compaction_id}"
        compaction = self._timeline.get(key, Compaction)
        if compaction is None:
            compaction = Compaction(compaction_id, key)
            self._timeline.add("compaction", compaction_id, compaction)
        return compaction
