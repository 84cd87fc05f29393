"""``acp.follow.*``, ``acp.review.*``, ``acp.checkpoint.*``: where the agent is, what it changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from acp_sidecar.editor.arguments import Argument, flag, number, required_text, text
from acp_sidecar.editor.calls import INVALID_PARAMS, CommandError
from acp_sidecar.editor.commands.operations import Handler, Json, Operations

if TYPE_CHECKING:
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
    async def run(on: Operations, argument: Argument) -> Json:
        session = on.session(argument)
        uri, hunk_id = text(argument, "uri"), text(argument, "hunkId")
        return await on.review.step(session, step, uri, hunk_id, _edited(argument))

    return run


def _edited(argument: Argument) -> Edited | None:
    match text(argument, "edited"):
        case None:
            return None
        case "keep":
            return "keep"
        case "delete":
            return "delete"
    raise CommandError("'edited' must be 'keep' or 'delete'; leave it out to ask.", INVALID_PARAMS)


async def _review_undo(on: Operations, argument: Argument) -> Json:
    return await on.review.undo(on.session(argument))


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
    return await on.review.restore(
        session, required_text(argument, "checkpointId"), _edited(argument)
    )


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
