"""``acp.follow.*``, ``acp.review.*``, ``acp.checkpoint.*``: where the agent is, what it changed."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from acp_sidecar.client.ports import Refused
from acp_sidecar.editor.arguments import (
    Argument,
    flag,
    lines,
    number,
    objects,
    required_text,
    session_id,
    text,
)
from acp_sidecar.editor.calls import INVALID_PARAMS, CommandError
from acp_sidecar.editor.commands.operations import Handler, Json, Operations
from acp_sidecar.editor.outcome import Done, outcome
from acp_sidecar.workspace.changes import Reviewed
from acp_sidecar.workspace.files import FileProblem

if TYPE_CHECKING:
    from acp_sidecar.client.ports import SessionView
    from acp_sidecar.editor.review import Edited, Step


async def _follow(on: Operations, argument: Argument) -> Json:
    enabled = argument.get("enabled")
    if not isinstance(enabled, bool):
        raise CommandError("'enabled' must be true or false.", INVALID_PARAMS)
    on.follow.set_enabled(enabled)
    return {"enabled": enabled}


async def _review_list(on: Operations, argument: Argument) -> Json:
    session = on.session(argument)
    await on.review.refresh(session)
    return on.review.changes(session)


def _review_step(step: Step) -> Handler:
    async def take(
        on: Operations, argument: Argument, session: SessionView, uri: str | None, id_: str | None
    ) -> Sequence[Done]:
        came = await on.review.step(session, step, uri, id_, _edited(argument))
        return [Done(session.state.session_id, came)]

    async def decide(on: Operations, argument: Argument) -> Sequence[Done]:
        uri, hunk_id = text(argument, "uri"), text(argument, "hunkId")
        span = lines(argument, "range")
        if span is None:
            return await take(on, argument, on.session(argument), uri, hunk_id)
        if uri is None or hunk_id is not None:
            raise CommandError("A 'range' is one of a 'uri', without a 'hunkId'.", INVALID_PARAMS)
        done: list[Done] = []
        for session, id_ in await on.lenses.meant(on.chosen(argument), uri, *span):
            done += await _or_problem(take(on, argument, session, uri, id_))
        return done

    async def run(on: Operations, argument: Argument) -> Json:
        if argument.get("targets") is None:
            return outcome(step, await decide(on, argument))
        done: list[Done] = []
        for target in objects(argument, "targets"):
            done += await _or_problem(decide(on, target))
        return outcome(step, done)

    return run


async def _or_problem(work: Awaitable[Sequence[Done]]) -> Sequence[Done]:
    """What cannot be done of several is a problem; the rest is done."""
    try:
        return await work
    except (CommandError, Refused, FileProblem) as error:
        return [Done("", Reviewed(problems=(str(error),)))]


def _edited(argument: Argument) -> Edited | None:
    match text(argument, "edited"):
        case None:
            return None
        case "keep":
            return "keep"
        case "delete":
            return "delete"
    raise CommandError("'edited' must be 'keep' or 'delete'; leave it out to ask.", INVALID_PARAMS)


async def _undo(on: Operations, argument: Argument) -> Sequence[Done]:
    session = on.session(argument)
    return [Done(session.state.session_id, await on.review.undo(session))]


async def _review_undo(on: Operations, argument: Argument) -> Json:
    if argument.get("targets") is None:
        return outcome("undo", await _undo(on, argument))
    done: list[Done] = []
    stuck: set[str | None] = set()
    for target in objects(argument, "targets"):
        if (named := session_id(target)) not in stuck:
            done += await _or_problem(_undo(on, target))
            if not done[-1].did or done[-1].came.problems:
                stuck.add(named)  # what was done before it has to wait for it
    return outcome("undo", done)


async def _review_next(on: Operations, argument: Argument) -> Json:
    chosen = on.chosen(argument)
    line = number(argument, "line")
    direction = text(argument, "direction") or "next"
    if direction not in ("next", "previous"):
        raise CommandError("'direction' must be 'next' or 'previous'.", INVALID_PARAMS)
    return await on.lenses.next(
        chosen,
        text(argument, "uri"),
        text(argument, "hunkId"),
        line,
        back=direction == "previous",
        show=flag(argument, "open", default=True),
    )


async def _review_diff(on: Operations, argument: Argument) -> Json:
    chosen = on.chosen(argument)
    proposed = argument.get("proposed", True)
    if not isinstance(proposed, bool):
        raise CommandError("'proposed' must be true or false.", INVALID_PARAMS)
    return await on.review.diff(chosen, required_text(argument, "uri"), proposed=proposed)


async def _checkpoint_list(on: Operations, argument: Argument) -> Json:
    return on.review.checkpoints(on.session(argument))


async def _checkpoint_restore(on: Operations, argument: Argument) -> Json:
    session = on.session(argument)
    came = await on.review.restore(
        session, required_text(argument, "checkpointId"), _edited(argument)
    )
    return outcome("restore", [Done(session.state.session_id, came)])


async def _checkpoint_preview(on: Operations, argument: Argument) -> Json:
    session = on.session(argument)
    return await on.review.foresee(session, required_text(argument, "checkpointId"))


COMMANDS: Final[Mapping[str, Handler]] = {
    "acp.follow.set": _follow,
    "acp.review.list": _review_list,
    "acp.review.keep": _review_step("keep"),
    "acp.review.revert": _review_step("revert"),
    "acp.review.undo": _review_undo,
    "acp.review.diff": _review_diff,
    "acp.review.next": _review_next,
    "acp.checkpoint.list": _checkpoint_list,
    "acp.checkpoint.restore": _checkpoint_restore,
    "acp.checkpoint.preview": _checkpoint_preview,
}
