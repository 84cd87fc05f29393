"""Logging in to an agent: its methods offered to the user, once, and done by their kind.

ACP, "Authentication". An agent that wants a login answers with ``-32000``; what was asked is
then tried once more after a login, never again. Nothing given for a login is logged.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import shlex
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, TypeVar

from attrs import evolve

from acp_sidecar.acp.model import PermissionOption
from acp_sidecar.agents.login import (
    LoginCommand,
    Method,
    Variable,
    link_of,
    own_command,
    variables,
    way_of,
)
from acp_sidecar.client.agents import Agent, AgentUnusable, LoginNeeded
from acp_sidecar.client.asking import Asking
from acp_sidecar.client.choices import Choice, choices
from acp_sidecar.client.pool import Pool
from acp_sidecar.client.ports import Editor, Refused
from acp_sidecar.client.question import Question
from acp_sidecar.client.visible import visible

logger = logging.getLogger(__name__)

T = TypeVar("T")

_NOT_NOW: Final = Choice("not-now", "Not now", "reject_once", "Not now")
_DONE: Final = Choice("done", "I have logged in", None, "I have logged in")


class Logins:
    """The logins of all agents. Two things that want one of the same agent share it."""

    def __init__(self, editor: Editor, pool: Pool) -> None:
        self._editor = editor
        self._pool = pool
        self._numbers = itertools.count(1)
        self._one_at_a_time: dict[str, asyncio.Lock] = {}
        self._times: dict[str, int] = {}
        self._asking: dict[str, Asking] = {}
        """Questions to the user, by agent."""

    async def tried(self, attempt: Callable[[], Awaitable[T]]) -> T:
        """What ``attempt`` gives; where it raises :class:`LoginNeeded`, the user is offered
        the agent's logins, and after one it is tried once more.

        Raises what the last attempt raised, and what :meth:`offer` raises.
        """
        times = dict(self._times)
        try:
            return await attempt()
        except LoginNeeded as needed:
            name = needed.agent.name
            if not await self.offer(needed.agent, needed.said, seen=times.get(name, 0)):
                raise
        return await attempt()

    def times(self, agent: Agent) -> int:
        """How many logins to this agent there have been."""
        return self._times.get(agent.name, 0)

    async def offer(self, agent: Agent, said: str, *, seen: int | None = None) -> bool:
        """Let the user choose a login and do it; whether there was one.

        ``said`` is why the agent wants it, ``seen`` how many logins there had been when it
        was asked: one since then will do. Raises :class:`Refused` where a login that the user
        chose fails, or goes on elsewhere.
        """
        async with self._one_at_a_time.setdefault(agent.name, asyncio.Lock()):
            before = self._times.get(agent.name, 0)
            if seen is not None and before > seen:
                return True
            method = await self._chosen_method(agent, said)
            done = method is not None and await self._done(agent, method)
            # The user may have logged in by the command, with the dialog still open.
            return done or self._times.get(agent.name, 0) > before

    async def log_in(
        self, agent: Agent, method_id: str | None, env: Mapping[str, str] | None
    ) -> None:
        """What ``acp.agent.login`` does. ``env`` holds the values of an ``env_var`` method.

        Raises :class:`Refused` where there was no login.
        """
        methods = agent.info.auth_methods
        method = next((each for each in methods if each.id == method_id), None)
        if method is None and method_id is None and len(methods) == 1:
            (method,) = methods
        if method is None and (method_id is not None or not methods):
            offered = ", ".join(each.id for each in methods) or "no login methods"
            raise Refused(f"Name a methodId; {agent.name} offers: {offered}")
        method = method or await self._chosen_method(agent, None)
        if method is None or not await self._done(agent, method, env):
            raise Refused(f"There was no login to {agent.name}.")
        if agent.name in self._asking:
            self._asking[agent.name].cancel()

    # --- the user's choice ------------------------------------------------------------------

    async def _chosen_method(self, agent: Agent, said: str | None) -> Method | None:
        usable = [each for each in agent.info.auth_methods if way_of(each) != "unknown"]
        if not usable:
            return None
        offered = choices(PermissionOption(each.id, each.name) for each in usable)
        name = visible(agent.name)
        lines = [f"{name} needs a login: {visible(said)}" if said else f"Log in to {name}"]
        titles = {choice.option_id: choice.title for choice in offered}
        for method in agent.info.auth_methods:
            lines.append(_described(method, titles.get(method.id)))
        ids = {each.id for each in usable}
        no = _NOT_NOW
        while no.option_id in ids:
            no = evolve(no, option_id=f"{no.option_id}-")
        chosen = await self._choose(agent, lines, (no, *_apart(offered)))
        return next((each for each in usable if each.id == chosen), None)

    async def _choose(
        self, agent: Agent, lines: list[str], offered: tuple[Choice, ...]
    ) -> str | None:
        """The id of what the user chose, None for no answer."""
        number = next(self._numbers)
        asked = Question(
            request_id=f"login-{number}",
            session_id=None,
            agent=agent.name,
            kind="login",
            headline=lines[0],
            mark=f"login {number}",
            facts=tuple(lines[1:]),
            choices=offered,
        )
        return await self._asking.setdefault(agent.name, Asking(self._editor)).choice(asked)

    # --- doing it -----------------------------------------------------------------------------

    async def _done(
        self, agent: Agent, method: Method, env: Mapping[str, str] | None = None
    ) -> bool:
        way = way_of(method)
        logger.info("%s: login by %s (%s)", agent.name, method.id, way)
        if way == "agent":
            await self._authenticate(agent, method)
        elif way == "terminal":
            if not await self._in_terminal(agent, method):
                return False
        elif way == "env_var":
            await self._with_variables(agent, method, env)
        else:
            raise Refused(
                f"{visible(method.name)} is a login of type {visible(method.type)}, which is done "
                f"outside of the editor: {visible(method.description or agent.command_line)}"
            )
        self._times[agent.name] = self._times.get(agent.name, 0) + 1
        return True

    async def _authenticate(self, agent: Agent, method: Method) -> None:
        # It may lead the user through a browser: only the user ends the waiting.
        self._editor.tell("log", f"Logging in to {agent.name}: {visible(method.name)}")
        params = agent.wire.authenticate(method.id)
        try:
            await self._pool.ask_apart(agent, "authenticate", params, patient=True)
        except AgentUnusable as error:
            hint = f" About this login it says: {method.description}" if method.description else ""
            raise AgentUnusable(f"The login did not work. {error}{visible(hint)}") from error

    async def _in_terminal(self, agent: Agent, method: Method) -> bool:
        command = self._command(agent, method)
        if (code := await self._editor.run_in_terminal(command)) is not None:
            if code != 0:
                raise AgentUnusable(
                    f"The login did not work: {visible(command.as_line())} ended with {code}."
                )
            return True
        line = visible(command.as_line())
        lines = [f"To log in to {visible(agent.name)} run this in a terminal: {line}"]
        if command.cwd is not None:
            lines.append(f"Folder: {visible(command.cwd)}")
        if command.secret_names:
            names = ", ".join(map(visible, command.secret_names))
            lines.append(f"With these variables of its settings as well: {names}")
        return await self._choose(agent, lines, (_NOT_NOW, _DONE)) == _DONE.option_id

    def _command(self, agent: Agent, method: Method) -> LoginCommand:
        entry = agent.entry
        cwd = entry.cwd or agent.key[1]
        own = own_command(method)
        program = own.command if own else agent.program
        args = own.args if own else (*entry.args, *getattr(method, "args", ()))
        env = {**entry.env, **(own.env if own else getattr(method, "env", {}))}
        title = f"Log in to {agent.name}"
        return LoginCommand(title, program, args, env, cwd, self._pool.given(agent.name))

    async def _with_variables(
        self, agent: Agent, method: Method, env: Mapping[str, str] | None
    ) -> None:
        wanted = variables(method)
        if env is None:
            env = await self._editor.ask_for_variables(
                agent.name, _wanting(agent, method, wanted), wanted
            )
        needed = [each.name for each in wanted if not each.optional]
        env = {name: value for name, value in (env or {}).items() if value}
        missing = [name for name in needed if name not in env]
        if missing or not env:
            raise Refused(_how_to_give(agent, method, wanted))
        strange = [name for name in env if name not in {each.name for each in wanted}]
        if strange:
            raise Refused(
                f"{', '.join(strange)} is not a variable of this login; {agent.name} names "
                f"{', '.join(each.name for each in wanted)}."
            )
        self._pool.give(agent.name, env)
        ended = await self._pool.restart(agent.name)
        logger.info("%s: %d processes ended, to start with other variables", agent.name, ended)


def _apart(offered: tuple[Choice, ...]) -> tuple[Choice, ...]:
    """The methods' buttons, none of which can be taken for ours."""
    named = choices(
        [
            PermissionOption(_NOT_NOW.option_id, _NOT_NOW.name),
            *(PermissionOption(f"/{each.option_id}", each.title) for each in offered),
        ]
    )[1:]
    return tuple(
        Choice(each.option_id, each.name, None, button.title)
        for each, button in zip(offered, named, strict=True)
    )


def _described(method: Method, title: str | None) -> str:
    name = title or visible(method.name)
    way = way_of(method)
    facts = [visible(method.description)] if method.description else []
    if way == "terminal":
        own = own_command(method)
        line = visible(shlex.join((own.command, *own.args))) if own else ""
        facts.append(f"in a terminal: {line}" if line else "in a terminal")
    elif way == "env_var":
        names = ", ".join(visible(each.name) for each in variables(method))
        facts.append(f"by {names or 'a variable that it does not name'}")
    elif way == "unknown":
        facts.append(f"a login of type {visible(method.type)}, done outside of the editor")
    return f"{name}: {'; '.join(facts)}" if facts else name


def _wanting(agent: Agent, method: Method, wanted: tuple[Variable, ...]) -> str:
    lines = [f"{visible(agent.name)} logs in by environment variables: {visible(method.name)}"]
    if method.description:
        lines.append(visible(method.description))
    if link := link_of(method):
        lines.append(f"Get a key at: {visible(link)}")
    lines.append(
        f"{visible(agent.name)} is started anew with {', '.join(visible(v.name) for v in wanted)}, "
        "which ends its open sessions. The values are kept until the sidecar ends, nowhere else."
    )
    return "\n".join(lines)


def _how_to_give(agent: Agent, method: Method, wanted: tuple[Variable, ...]) -> str:
    names = ", ".join(
        visible(each.name)
        + (f" ({visible(each.label)})" if each.label else "")
        + (" (optional)" if each.optional else "")
        for each in wanted
    )
    if not names:
        about = f": {visible(method.description)}" if method.description else ""
        return f"{visible(method.name)} names no variable that {agent.name} could be given{about}"
    example = ", ".join(f'"{each.name}": "…"' for each in wanted if not each.optional)
    link = link_of(method)
    # An entry of the user's takes the place of a built-in one as a whole.
    also = "" if agent.entry.source == "settings" else f" (with the command {agent.command_line})"
    return (
        f"{visible(agent.name)} logs in by {names}."
        + (f" Get a key at {visible(link)}." if link else "")
        + f' Run acp.agent.login with {{"agent": "{agent.name}", "methodId": "{method.id}", '
        f'"env": {{{example}}}}}: it is started anew with that, until the sidecar ends. Or, to '
        f"keep it, put it under agents.{agent.name}.env{also} in your own settings (config.toml, "
        "or your editor's initializationOptions), or in the environment your editor is started "
        "from."
    )
