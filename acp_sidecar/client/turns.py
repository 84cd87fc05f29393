"""Prompts and turns of one session: one at a time, the rest waits in order.

Agents differ on a second prompt during a turn (merged, steered in, refused, never
answered), so it is never sent: it waits here. ACP, "Prompt Turn"; v2, "Prompt Lifecycle", where
a turn ends when the agent says that it is idle.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol

from attrs import evolve

from acp_sidecar.acp import jsonrpc
from acp_sidecar.acp.decoding import DecodeError
from acp_sidecar.acp.model import (
    ActionRequired,
    ContentBlock,
    Json,
    Notice,
    PromptAccepted,
    TextContent,
    TurnEnded,
    TurnStarted,
)
from acp_sidecar.agents.connection import AgentError, AgentGone
from acp_sidecar.client.agents import explained
from acp_sidecar.client.failure import Failure, ending, refused
from acp_sidecar.client.ports import Editor, Refused, SessionView
from acp_sidecar.client.prompt import Prompt
from acp_sidecar.client.silence import watch_silence
from acp_sidecar.client.unconfirmed import Unconfirmed
from acp_sidecar.tasks import not_awaited

if TYPE_CHECKING:
    from acp_sidecar.client.agents import Agent
    from acp_sidecar.session.change import Change
    from acp_sidecar.settings import Settings
    from acp_sidecar.tasks import Tasks

logger = logging.getLogger(__name__)

_SETTLE_SECONDS: Final = 30
"""How long a turn's end waits for file answers that the agent asked for before it ended."""


class Speaking(SessionView, Protocol):
    """What turns need of the session they are taken in."""

    @property
    def agent(self) -> Agent: ...

    @property
    def agent_session_id(self) -> str: ...

    @property
    def editor(self) -> Editor: ...

    @property
    def settings(self) -> Settings: ...

    @property
    def tasks(self) -> Tasks:
        """Work that ends with the session."""

    @property
    def answers(self) -> Tasks:
        """Answers the agent waits for."""

    @property
    def heard(self) -> int:
        """How much the agent has said so far."""

    def publish(self, changes: Sequence[Change]) -> None: ...

    def cancel_questions(self) -> None: ...

    def queue_changed(self) -> None:
        """The prompts that wait are others now."""

    def turn_moved(self) -> None:
        """The prompt that runs has gone out, or is to be cancelled."""

    @property
    def logins(self) -> int:
        """How many logins to the agent there have been."""

    async def log_in(self, said: str, seen: int) -> bool:
        """Offer the user a login, which the agent says it wants; whether there was one since
        ``seen`` of them."""

    async def look_at_folders(self) -> None:
        """A prompt is about to go out: what is there before the agent is at work."""

    def prepare_turn(self, prompt: Prompt) -> tuple[ContentBlock, ...]:
        """A prompt is about to go out; what the agent is to be told before it."""

    def turn_over(self, prompt: Prompt, ended: TurnEnded | None) -> None:
        """A turn has ended; ``ended`` is None where it failed."""


class Turns:
    """The queue of a session and the turn that runs."""

    def __init__(self, session: Speaking) -> None:
        self._session = session
        self._ids = itertools.count(1)
        self._unconfirmed = Unconfirmed(session, lambda prompt: self.running is prompt)
        self._waiting: list[Prompt] = []
        self.running: Prompt | None = None
        self.last_was_cancelled = False
        self.lost: Prompt | None = None
        """The prompt that was being answered when the agent ended, until the user is told."""

    @property
    def waiting(self) -> Sequence[Prompt]:
        """Prompts that wait for the running turn, first come first."""
        return tuple(self._waiting)

    def submit(
        self, blocks: tuple[ContentBlock, ...], mentioned: tuple[ContentBlock, ...] = ()
    ) -> Prompt:
        """Send a prompt, or let it wait while a turn runs. ``mentioned`` are those of its
        blocks that its text names."""
        loop = asyncio.get_running_loop()
        turn_id = f"{self._session.state.session_id}/turn-{next(self._ids)}"
        prompt = Prompt(turn_id, blocks, loop.create_future(), mentioned)
        # Nobody may be waiting (wait: false): a failure is told to the user all the same.
        not_awaited(prompt.ended)
        self._waiting.append(prompt)
        if self.running is None:
            self._next()
        else:
            self._session.queue_changed()
        return prompt

    def as_json(self) -> list[dict[str, str]]:
        """The queue as the contract gives it."""
        return [{"turnId": prompt.turn_id, "text": prompt.text} for prompt in self._waiting]

    def waiting_prompt(self, turn_id: str) -> Prompt:
        """The waiting prompt of this id. Raises :class:`Refused` where none is."""
        for prompt in self._waiting:
            if prompt.turn_id == turn_id:
                return prompt
        raise Refused(f"No prompt {turn_id!r} is waiting; it may have been sent already.")

    def edit(self, prompt: Prompt, text: str, mentioned: tuple[ContentBlock, ...] = ()) -> None:
        """Replace the text of a waiting prompt and what it mentions; what was attached stays.

        Raises :class:`Refused` where nothing would be left of it.
        """
        rest = prompt.attached
        if not text and not rest:
            raise Refused("Nothing would be left to send: drop the prompt instead.")
        words = (TextContent(text),) if text else ()
        prompt.blocks = (*words, *rest, *mentioned)
        prompt.mentioned = mentioned
        self._session.queue_changed()

    def cancel(self, prompt: Prompt | None = None) -> None:
        """Cancel a prompt: out of the queue where it waits, else the turn it runs.

        Without one, the running turn. The turn ends when the agent says so; what it still
        sends is shown, what it still wants to write is refused. Where no turn runs, the
        questions that wait are cancelled.
        """
        prompt = prompt or self.running
        if prompt is None:
            self._session.cancel_questions()
            return
        if prompt.given_up:
            self._unconfirmed.offer_restart(prompt)
        if prompt.cancelled:
            return
        if prompt is not self.running:
            if prompt in self._waiting:
                self._waiting.remove(prompt)
                prompt.cancelled = True
                prompt.resolve("cancelled")
                self._session.queue_changed()
            return
        prompt.cancelled = True
        self._session.turn_moved()
        if prompt.number is None:
            return  # not sent yet: it will not be
        if prompt.login is not None:
            prompt.login.cancel()
        session = self._session
        session.agent.connection.notify(
            "session/cancel", session.agent.wire.cancel(session.agent_session_id)
        )
        session.cancel_questions()
        session.publish(session.state.cancel_turn())
        prompt.tasks.append(
            session.tasks.start(self._unconfirmed.watch(prompt), name="watch over a cancelled turn")
        )

    def agent_is(self, event: TurnStarted | ActionRequired | TurnEnded) -> None:
        """The agent says that it works, or that it does not any more (v2).

        That ends the turn of a prompt which it has taken, if it worked since. Else it may be a
        word about something else that came in between: only one that names a reason counts.
        """
        prompt = self.running
        if prompt is None or prompt.number is None:
            return
        if not isinstance(event, TurnEnded):
            prompt.worked, prompt.early = True, None
        elif prompt.worked or event.stop_reason is not None:
            if prompt.taken is None:
                prompt.early = event if prompt.worked else None
            else:
                self._idle(prompt, event)

    def agent_gone(self, error: AgentGone) -> None:
        """Nothing more is heard of the agent."""
        taken = self.running.taken if self.running is not None else None
        if taken is not None and not taken.done():
            taken.set_exception(error)

    def _idle(self, prompt: Prompt, event: TurnEnded) -> None:
        if prompt.taken is not None and not prompt.taken.done():
            prompt.taken.set_result(event)
            if not self._session.answers.busy:
                self._finish(prompt, *ending(self._session.agent, event))

    def _taken(self, prompt: Prompt, accepted: PromptAccepted) -> None:
        """The answer says that the prompt is in the conversation; its end is still to come."""
        if prompt.taken is not None or self.running is not prompt:
            return
        prompt.taken = asyncio.get_running_loop().create_future()
        not_awaited(prompt.taken)
        self._session.state.prompt_accepted(accepted.message_id)
        if prompt.early is not None:
            self._idle(prompt, prompt.early)

    def end(self, reason: str | None) -> None:
        """The session ends: its prompts fail with ``reason``, or are cancelled without one."""
        waiting, self._waiting = self._waiting, []
        for prompt in waiting:
            if reason is None:
                prompt.cancelled = True
                prompt.resolve("cancelled")
            else:
                prompt.fail(reason)
        if reason is None and self.running is not None:
            self.running.cancelled = True
            # Its task may never take a first step.
            self.running.resolve("cancelled")
        if waiting:
            self._session.queue_changed()

    # --- one turn ---------------------------------------------------------------------

    def _next(self) -> None:
        if not self._waiting or self._session.ended:
            return
        prompt = self._waiting.pop(0)
        self.running = prompt
        session = self._session
        session.tasks.start(
            self._run(prompt),
            name="prompt turn",
            failed=lambda error: self._finish(prompt, None, Failure("The turn failed", str(error))),
        )
        session.queue_changed()

    async def _run(self, prompt: Prompt) -> None:
        session, agent = self._session, self._session.agent
        if not prompt.cancelled:
            await session.look_at_folders()
        if prompt.cancelled:
            self._finish(prompt, None, None)
            return
        told = session.prepare_turn(prompt)
        prompt.number, changes = session.state.begin_turn(prompt.blocks)
        session.publish(changes)
        session.turn_moved()
        logger.info("%s: turn %d begins", session.agent_name, prompt.number)
        session.editor.turn_began(session)
        prompt.tasks.append(
            session.tasks.start(watch_silence(session, prompt), name="watch over a silent turn")
        )
        blocks = (*told, *prompt.blocks)
        params = agent.wire.prompt(session.agent_session_id, blocks)
        ended: TurnEnded | None = None
        failure: Failure | None = None

        def over(result: Json) -> None:
            # What comes right after the answer belongs to the turn no more.
            answer = agent.wire.prompt_answer(result)
            if isinstance(answer, PromptAccepted):
                self._taken(prompt, answer)
            elif not session.answers.busy:
                self._finish(prompt, answer, None)

        try:
            result = await self._answer(prompt, params, over)
            # What the agent asked for before it ended its turn is done before the turn is.
            answer = agent.wire.prompt_answer(result)
            if isinstance(answer, PromptAccepted):
                self._taken(prompt, answer)
                answer = await prompt.taken if prompt.taken is not None else TurnEnded(None)
            await session.answers.settle(_SETTLE_SECONDS)
            ended, failure = ending(agent, answer)
        except AgentError as error:
            failure = refused(agent, error)
        except (AgentGone, Refused) as error:
            failure = Failure(str(error))
            if isinstance(error, AgentGone) and not prompt.cancelled:
                self.lost = prompt
        except DecodeError as error:
            what = f"{agent.name} ended the turn with an answer that cannot be read"
            failure = Failure(what, str(error))
        except asyncio.CancelledError:
            self._finish(prompt, None, Failure("The session was closed."))
            raise
        self._finish(prompt, ended, failure)

    async def _answer(
        self, prompt: Prompt, params: Mapping[str, Any], over: Callable[[Json], None]
    ) -> Json:
        """The answer to a prompt, sent a second time where a login was wanted and done."""
        session, agent = self._session, self._session.agent
        seen = session.logins
        try:
            return await agent.call("session/prompt", params, on_result=over)
        except AgentError as error:
            if error.code != jsonrpc.AUTH_REQUIRED or prompt.cancelled:
                raise
            if not await self._log_in(prompt, error, seen):
                raise
        if session.ended:
            raise AgentGone(
                f"{agent.name} was started anew for the login, and this session with it goes on "
                "with the next prompt: send this one again."
            )
        return await agent.call("session/prompt", params, on_result=over)

    async def _log_in(self, prompt: Prompt, error: AgentError, seen: int) -> bool:
        """Whether there was a login; a cancel of the turn ends it."""
        prompt.login = asyncio.create_task(self._session.log_in(explained(error), seen))
        try:
            return await prompt.login
        except asyncio.CancelledError:
            if prompt.login.cancelled() and prompt.cancelled:
                return False
            raise

    def _finish(self, prompt: Prompt, ended: TurnEnded | None, failure: Failure | None) -> None:
        if self.running is not prompt:
            return  # it has ended already
        session = self._session
        for task in prompt.tasks:
            task.cancel()
        if prompt.given_up:
            session.editor.withdraw(prompt.turn_id)
        if prompt.cancelled:
            ended, failure = TurnEnded("cancelled"), None
        elif ended is not None and ended.stop_reason is None:
            ended = evolve(ended, stop_reason="end_turn")
        if failure is not None and prompt is not self.lost and not session.ended:
            self._note(failure)
        if not prompt.given_up and not (ended is not None and ended.idle):
            session.publish(session.state.apply(ended or TurnEnded(None)))
        logger.info(
            "%s: the turn ends: %s", session.agent_name, ended.stop_reason if ended else "failed"
        )
        self.last_was_cancelled = prompt.cancelled
        self.running = None
        session.turn_over(prompt, ended)
        if not prompt.given_up:
            session.editor.turn_ended(session)
        if failure is not None:
            session.editor.tell("error", str(failure))
            prompt.fail(str(failure))
        else:
            prompt.resolve(ended.stop_reason if ended and ended.stop_reason else "end_turn")
        self._next()

    def _note(self, failure: Failure) -> None:
        """Keep in the conversation why nothing more has come: the message to the user goes by."""
        session = self._session
        changes = session.state.apply(Notice("error", failure.what, failure.why))
        # The user is told of it already.
        session.editor.changed(session, changes, replay=True)
