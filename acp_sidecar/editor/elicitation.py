"""What agents want to know, put to the user: one form, or one dialog a field.

An editor that declares ``elicitation`` gets ``acp/elicitation`` and draws a form of its own.
A plain one gets ``window/showMessageRequest`` for what can be chosen. LSP has no way to ask
for a text, so that comes by the command ``acp.elicitation.answer``, which the dialog names.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol

from attrs import define, field

from acp_sidecar.acp.elicitation import Field, Form
from acp_sidecar.acp.filling import misfits, problem_of
from acp_sidecar.client.ports import (
    Asked,
    Choice,
    Client,
    Question,
    Severity,
    Unfit,
    cut,
    distinct,
    visible,
)
from acp_sidecar.editor.server import ClientError, ClientGone
from acp_sidecar.tasks import Tasks

if TYPE_CHECKING:
    from acp_sidecar.editor.dialogs import Dialogs
    from acp_sidecar.editor.server import SidecarServer

logger = logging.getLogger(__name__)

Tell = Callable[[Severity, str], None]

_TRIES: Final = 5
"""Answers that do not fit, until an editor is taken for one that cannot do it."""


class Forms(Protocol):
    """One editor's way to ask."""

    def elicit(self, asked: Asked) -> None:
        """Ask; the answer goes to the client."""

    def withdraw(self, request_id: str) -> None:
        """It is settled."""

    def picked(self, request_id: str) -> Mapping[str, Any]:
        """What the user has chosen so far, a value a field."""


def payload(
    asked: Asked,
    content: Mapping[str, Any] | None = None,
    problems: Sequence[tuple[str, str]] = (),
) -> dict[str, Any]:
    """A question as ``acp/elicitation`` and ``acp.elicitation.pending`` give it."""
    # Lines of its own only where none stands beside them that it could fake.
    lines = asked.message.splitlines() if asked.form else [asked.message]
    return {
        "requestId": asked.request_id,
        "sessionId": asked.session_id,
        "agent": asked.agent,
        "toolCallId": asked.tool_call_id,
        "kind": "elicitation",
        "mode": "form" if asked.form else "url",
        "headline": asked.headline,
        "short": asked.short,
        "facts": [fact.to_json() for fact in asked.facts],
        "message": "\n".join(map(visible, lines)),
        "requestedSchema": asked.form.schema if asked.form else None,
        "fields": [each.name for each in asked.form.fields] if asked.form else [],
        "url": asked.url,
        "host": asked.host,
        "content": content,
        "problems": [{"field": name, "message": said} for name, said in problems],
    }


class OwnForms:
    """Forms that the editor draws. Implements :class:`Forms`."""

    def __init__(
        self,
        server: SidecarServer,
        dialogs: Dialogs,
        client: Client,
        tasks: Tasks,
        tell: Tell,
    ) -> None:
        self._server = server
        self._client = client
        self._tasks = tasks
        self._tell = tell
        self._shown: dict[str, asyncio.Task[None]] = {}

    def elicit(self, asked: Asked) -> None:
        self._shown[asked.request_id] = self._tasks.start(
            self._ask(asked),
            name=f"form for {asked.request_id}",
            failed=lambda error: self._client.elicitation_unanswered(asked.request_id),
        )

    def withdraw(self, request_id: str) -> None:
        task = self._shown.pop(request_id, None)
        if task is not None and task is not asyncio.current_task():
            task.cancel()

    def picked(self, request_id: str) -> Mapping[str, Any]:
        return {}

    async def _ask(self, asked: Asked) -> None:
        params = payload(asked)
        for _ in range(_TRIES):
            try:
                answer = await self._server.request("acp/elicitation", params)
            except ClientGone:
                return  # who ends the sessions answers the agent
            except ClientError as error:
                logger.info("the editor answered acp/elicitation with an error: %s", error)
                answer = None
            if asked.request_id not in self._shown:
                return
            given: Mapping[str, Any] = answer if isinstance(answer, Mapping) else {}
            action, content = given.get("action"), given.get("content")
            if action not in ("accept", "decline"):
                self._client.elicitation_unanswered(asked.request_id)
                return
            filled = content if isinstance(content, Mapping) else {}
            try:
                self._client.answer_elicitation(asked.request_id, action, filled)
            except Unfit as unfit:
                params = payload(asked, filled, unfit.problems)
            else:
                return
        self._tell("warning", f"{visible(asked.agent)} was told: cancelled. No answer fitted.")
        self._client.elicitation_unanswered(asked.request_id)


_DECLINE: Final = Choice("decline", "Decline", "reject_once", "Decline")
_SKIP: Final = Choice("skip", "Leave it out", None, "Leave it out")
_SEND: Final = Choice("send", "Send", "allow_once", "Send")
_OPEN: Final = Choice("open", "Open the page", "allow_once", "Open the page")
_DONE: Final = Choice("done", "That is all", None, "That is all")


@define(eq=False)
class _Filling:
    """A form that is being filled in."""

    asked: Asked
    values: dict[str, Any] = field(factory=dict)
    task: asyncio.Task[None] | None = None


class PlainForms:
    """Forms as message dialogs, one at a time. Implements :class:`Forms`."""

    def __init__(
        self,
        server: SidecarServer,
        dialogs: Dialogs,
        client: Client,
        tasks: Tasks,
        tell: Tell,
    ) -> None:
        self._dialogs = dialogs
        self._client = client
        self._tasks = tasks
        self._numbers = itertools.count(1)
        self._open: dict[str, _Filling] = {}

    def elicit(self, asked: Asked) -> None:
        filling = self._open[asked.request_id] = _Filling(asked)
        work = self._fill(filling, asked.form) if asked.form else self._agree(asked)
        filling.task = self._tasks.start(
            work,
            name=f"dialogs for {asked.request_id}",
            failed=lambda error: self._client.elicitation_unanswered(asked.request_id),
        )

    def withdraw(self, request_id: str) -> None:
        filling = self._open.pop(request_id, None)
        task = filling.task if filling else None
        if task is not None and task is not asyncio.current_task():
            task.cancel()

    def picked(self, request_id: str) -> Mapping[str, Any]:
        filling = self._open.get(request_id)
        return filling.values if filling else {}

    def _answer(self, asked: Asked, chosen: str | None, content: Mapping[str, Any]) -> None:
        """Settle it: ``chosen`` is the id of the last dialog's choice, None for no answer."""
        request_id = asked.request_id
        if request_id not in self._open:
            return
        if chosen is None:
            self._client.elicitation_unanswered(request_id)
        else:
            action = "decline" if chosen == _DECLINE.option_id else "accept"
            self._client.answer_elicitation(request_id, action, content)

    # --- a page -----------------------------------------------------------------------------

    async def _agree(self, asked: Asked) -> None:
        chosen = await self._choose(asked, _introduction(asked), [_DECLINE, _OPEN])
        self._answer(asked, chosen, {})

    # --- a form -----------------------------------------------------------------------------

    async def _fill(self, filling: _Filling, form: Form) -> None:
        asked = filling.asked
        texts = [each for each in form.fields if each.known and not _choosable(each)]
        chosen: str | None = _SEND.option_id
        fields = [each for each in form.fields if each.known and _choosable(each)]
        for number, each in enumerate(fields, 1):
            chosen = await self._ask_field(filling, each, f"{number} of {len(fields)}")
            if chosen in (None, _DECLINE.option_id):
                self._answer(asked, chosen, {})
                return
        if texts or not fields:
            chosen, content = await self._ask_texts(filling, form, texts)
            self._answer(asked, chosen, content)
            return
        self._answer(asked, _SEND.option_id, filling.values)

    async def _ask_field(self, filling: _Filling, wanted: Field, place: str) -> str | None:
        lines = [*_introduction(filling.asked), f"{_described(wanted)} ({place})"]
        if wanted.type == "array":
            return await self._ask_several(filling, wanted, lines)
        values: list[Any] = [True, False]
        names = ["Yes", "No"]
        if wanted.options is not None:
            values = [option.value for option in wanted.options]
            names = [option.title for option in wanted.options]
            lines += _explained(wanted)
        if wanted.default in values:
            lines.append(f"Proposed: {visible(names[values.index(wanted.default)])}")
        own = [_DECLINE] if wanted.required else [_DECLINE, _SKIP]
        buttons = _buttons(own, names)
        chosen = await self._choose(filling.asked, lines, [*own, *buttons])
        if chosen is not None and chosen.startswith(_VALUE):
            filling.values[wanted.name] = values[int(chosen.removeprefix(_VALUE))]
        return chosen

    async def _ask_several(
        self, filling: _Filling, wanted: Field, lines: Sequence[str]
    ) -> str | None:
        options = wanted.options or ()
        default = wanted.default if isinstance(wanted.default, list) else []
        taken = [option.value for option in options if option.value in default]
        lines = [*lines, *_explained(wanted)]
        while True:
            problem = problem_of(wanted, taken)
            own = [_DECLINE]
            if problem is None:
                own.append(_DONE)
            if not wanted.required:
                own.append(_SKIP)
            names = [f"{'−' if each.value in taken else '+'} {each.title}" for each in options]
            held = [option.title for option in options if option.value in taken]
            said = f"Chosen: {', '.join(map(visible, held)) or 'nothing yet'}"
            more = [f"It {problem}"] if problem else []
            chosen = await self._choose(
                filling.asked, [*lines, said, *more], [*own, *_buttons(own, names)]
            )
            if chosen is None or not chosen.startswith(_VALUE):
                break
            value = options[int(chosen.removeprefix(_VALUE))].value
            taken = [each for each in taken if each != value] if value in taken else [*taken, value]
        if chosen == _DONE.option_id:
            order = [option.value for option in options]
            filling.values[wanted.name] = sorted(taken, key=order.index)
        return chosen

    async def _ask_texts(
        self, filling: _Filling, form: Form, texts: Sequence[Field]
    ) -> tuple[str | None, Mapping[str, Any]]:
        asked = filling.asked
        defaults = {each.name: each.default for each in texts if each.default is not None}
        content = {**defaults, **filling.values}
        lines = [*_introduction(asked)]
        if texts:
            example = {each.name: defaults.get(each.name, "…") for each in texts}
            call = {"requestId": asked.request_id, "action": "accept", "content": example}
            lines.append("A dialog takes no text. These fields are filled in by a command:")
            lines += [_described(each) for each in texts]
            lines.append(f"acp.elicitation.answer {visible(json.dumps(call, ensure_ascii=False))}")
        if filling.values:
            chosen_so_far = visible(json.dumps(filling.values, ensure_ascii=False))
            lines.append(f"Chosen so far, sent with it: {chosen_so_far}")
        offered = [_DECLINE]
        if not misfits(form, content):
            offered.append(_SEND)
            if texts:
                shown = visible(json.dumps(content, ensure_ascii=False))
                lines.append(f"Or send it as it is proposed: {shown}")
        return await self._choose(asked, lines, offered), content

    async def _choose(
        self, asked: Asked, lines: Sequence[str], offered: Sequence[Choice]
    ) -> str | None:
        number = next(self._numbers)
        question = Question(
            request_id=f"{asked.request_id}.{number}",
            session_id=asked.session_id,
            agent=asked.agent,
            kind="elicitation",
            headline=lines[0],
            mark=f"question {asked.number}.{number}",
            facts=tuple(lines[1:]),
            choices=tuple(offered),
            tool_call_id=asked.tool_call_id,
        )
        return await self._dialogs.choose(question)


_VALUE: Final = "value:"


def _choosable(wanted: Field) -> bool:
    return wanted.type in ("boolean", "array") or wanted.options is not None


def _buttons(own: Sequence[Choice], names: Sequence[str]) -> list[Choice]:
    """A button a value, none of which can be taken for another or for one of ours."""
    titles = distinct([*(choice.title for choice in own), *names])[len(own) :]
    return [
        Choice(f"{_VALUE}{number}", name, None, title)
        for number, (name, title) in enumerate(zip(names, titles, strict=True))
    ]


def _introduction(asked: Asked) -> list[str]:
    return [asked.headline, *(fact.text for fact in asked.facts)]


def _described(wanted: Field) -> str:
    facts = [] if wanted.required else ["optional"]
    if wanted.type in ("number", "integer"):
        facts.append("a whole number" if wanted.type == "integer" else "a number")
    bounds = {"at least": wanted.minimum, "at most": wanted.maximum}
    unit = {"string": " characters", "array": " choices"}.get(wanted.type, "")
    facts += [
        f"{word} {bound:g}{unit}"
        for word, bound in bounds.items()
        if bound is not None and (wanted.options is None or wanted.type == "array")
    ]
    if wanted.format:
        facts.append(wanted.format)
    if wanted.pattern:
        facts.append(f"matching {cut(wanted.pattern)}")
    name = cut(wanted.title)
    if not _choosable(wanted) and wanted.title != wanted.name:
        name = f"{name} [{cut(wanted.name)}]"
    told = f"{name} ({', '.join(facts)})" if facts else name
    return f"{told}: {cut(wanted.description)}" if wanted.description else told


def _explained(wanted: Field) -> list[str]:
    return [
        f"{cut(option.title)}: {cut(option.description)}"
        for option in wanted.options or ()
        if option.description
    ]
