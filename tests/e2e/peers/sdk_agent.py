"""An agent made with the official Python SDK. What it does is the first word of the prompt.

    python sdk_agent.py [--stable] [--login] [--limit BYTES]

``--stable`` leaves out what the SDK calls unstable, ``--login`` asks for a login first,
``--limit`` is the SDK's own limit for a line it reads.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shlex
from typing import Any

import acp
from acp import helpers, schema

CONTENT = [
    helpers.text_block("words "),
    helpers.text_block("and more"),
    helpers.image_block("aGk=", "image/png", uri="file:///ws/a.png"),
    helpers.audio_block("aGk=", "audio/wav"),
    helpers.resource_link_block("a link", "file:///ws/a.txt", size=3, description="a file"),
    helpers.resource_block(helpers.embedded_text_resource("file:///ws/b.txt", "text")),
    helpers.resource_block(helpers.embedded_blob_resource("file:///ws/c.bin", "aGk=")),
]
OPTIONS = [
    schema.PermissionOption(option_id="y", name="Allow", kind="allow_once"),
    schema.PermissionOption(option_id="Y", name="Always", kind="allow_always"),
    schema.PermissionOption(option_id="n", name="Reject", kind="reject_once"),
]


class SdkAgent(acp.Agent):
    """One process, many sessions, no wit."""

    def __init__(self, *, login: bool) -> None:
        self._needs_login = login
        self._mode = "calm"
        self._verbose = False
        self._model = "small"
        self._cwds: dict[str, str] = {}
        self._cancelled: dict[str, asyncio.Event] = {}
        self._client: Any = None
        self._prompts: dict[str, Any] = {}

    def on_connect(self, conn: acp.Client) -> None:
        self._client = conn

    # --- sessions ---------------------------------------------------------------------

    async def initialize(self, protocol_version: int, **kwargs: Any) -> acp.InitializeResponse:
        self._hello = {"protocolVersion": protocol_version, **_plain(kwargs)}
        capabilities = schema.AgentCapabilities(
            load_session=True,
            prompt_capabilities=schema.PromptCapabilities(image=True, embedded_context=True),
            session_capabilities=schema.SessionCapabilities(
                list=schema.SessionListCapabilities(),
                resume=schema.SessionResumeCapabilities(),
                fork=schema.SessionForkCapabilities(),
                close=schema.SessionCloseCapabilities(),
                delete=schema.SessionDeleteCapabilities(),
                additional_directories=schema.SessionAdditionalDirectoriesCapabilities(),
            ),
        )
        methods: list[Any] = [
            schema.AuthMethodAgent(id="key", name="A key", description="Ask for one."),
            schema.TerminalAuthMethod(id="tty", name="In a terminal", type="terminal"),
        ]
        return acp.InitializeResponse(
            protocol_version=acp.PROTOCOL_VERSION,
            agent_capabilities=capabilities,
            auth_methods=methods if self._needs_login else [],
            agent_info=schema.Implementation(name="sdk-agent", title="SDK agent", version="0.1"),
        )

    async def authenticate(self, method_id: str, **kwargs: Any) -> None:
        if method_id != "key":
            raise acp.RequestError.invalid_params({"methodId": method_id})
        self._needs_login = False

    async def new_session(
        self, cwd: str, additional_directories: list[str] | None = None, **kwargs: Any
    ) -> acp.NewSessionResponse:
        if self._needs_login:
            raise acp.RequestError.auth_required()
        session_id = self._opened(cwd)
        return acp.NewSessionResponse(
            session_id=session_id, modes=self._modes(), config_options=self._options()
        )

    def _opened(self, cwd: str) -> str:
        session_id = f"sdk-{len(self._cwds) + 1}"
        self._cwds[session_id] = cwd
        self._cancelled[session_id] = asyncio.Event()
        return session_id

    async def load_session(
        self, cwd: str, session_id: str, **kwargs: Any
    ) -> acp.LoadSessionResponse | None:
        if session_id == "unknown":
            raise acp.RequestError.resource_not_found(session_id)
        self._cancelled[session_id] = asyncio.Event()
        self._cwds[session_id] = cwd
        path = f"{cwd}/history.txt"
        diff = helpers.tool_diff_content(path, "new\n", "old\n")
        for update in (
            helpers.update_user_message_text("the question"),
            helpers.update_agent_thought_text("hm"),
            helpers.start_tool_call(
                "old-1",
                "Edit history.txt",
                kind="edit",
                status="completed",
                content=[diff],
                locations=[schema.ToolCallLocation(path=path, line=1)],
            ),
            helpers.update_agent_message_text("the answer"),
        ):
            await self._client.session_update(session_id, update)
        return None if session_id == "bare" else acp.LoadSessionResponse(modes=self._modes())

    async def list_sessions(
        self, cwd: str | None = None, cursor: str | None = None, **kwargs: Any
    ) -> schema.ListSessionsResponse:
        rows = [
            schema.SessionInfo(
                session_id=session_id,
                cwd=folder,
                title=f"Session {session_id}",
                updated_at="2026-11-29T12:00:00Z",
            )
            for session_id, folder in self._cwds.items()
        ]
        first = int(cursor or 0)
        more = str(first + 1) if first + 1 < len(rows) else None
        return schema.ListSessionsResponse(sessions=rows[first : first + 1], next_cursor=more)

    async def fork_session(
        self, session_id: str, cwd: str, **kwargs: Any
    ) -> schema.ForkSessionResponse:
        forked = self._opened(cwd)
        # Some agents tell the history of a fork before the client knows its id.
        text = helpers.update_agent_message_text(f"forked from {session_id}")
        await self._client.session_update(forked, text)
        return schema.ForkSessionResponse(session_id=forked, modes=self._modes())

    async def resume_session(
        self, session_id: str, cwd: str, **kwargs: Any
    ) -> schema.ResumeSessionResponse:
        self._cancelled[session_id] = asyncio.Event()
        self._cwds[session_id] = cwd
        return schema.ResumeSessionResponse(modes=self._modes())

    async def close_session(self, session_id: str, **kwargs: Any) -> None:
        self._cancelled[session_id].set()

    async def set_session_mode(self, session_id: str, mode_id: str, **kwargs: Any) -> None:
        self._mode = mode_id

    async def set_config_option(
        self, config_id: str, session_id: str, value: str | bool, **kwargs: Any
    ) -> schema.SetSessionConfigOptionResponse:
        if isinstance(value, bool):
            self._verbose = value
        else:
            self._model = value
        return schema.SetSessionConfigOptionResponse(config_options=self._options())

    def _modes(self) -> schema.SessionModeState:
        modes = [schema.SessionMode(id=name, name=name.title()) for name in ("calm", "bold")]
        return schema.SessionModeState(current_mode_id=self._mode, available_modes=modes)

    def _options(self) -> list[Any]:
        sizes = [
            schema.SessionConfigSelectOption(value=size, name=size) for size in ("small", "big")
        ]
        return [
            schema.SessionConfigOptionSelect(
                id="model",
                name="Model",
                type="select",
                category="model",
                current_value=self._model,
                options=sizes,
            ),
            schema.SessionConfigOptionBoolean(
                id="verbose", name="Verbose", type="boolean", current_value=self._verbose
            ),
        ]

    # --- turns ------------------------------------------------------------------------

    async def prompt(self, session_id: str, prompt: list[Any], **kwargs: Any) -> acp.PromptResponse:
        self._prompts[session_id] = prompt
        self._cancelled[session_id].clear()
        word, *arguments = shlex.split(prompt[0].text)
        play = getattr(self, f"do_{word}")
        try:
            stop_reason = await play(session_id, *arguments)
        except acp.RequestError as error:
            await self.say(session_id, f"{error.code}: {error}")
            stop_reason = None
        return acp.PromptResponse(stop_reason=stop_reason or "end_turn")

    async def cancel(self, session_id: str, **kwargs: Any) -> None:
        self._cancelled[session_id].set()

    async def say(self, session_id: str, text: str) -> None:
        await self._client.session_update(session_id, helpers.update_agent_message_text(text))

    async def do_hello(self, session_id: str) -> None:
        """Tell what the client said of itself, and what it sent."""
        await self.say(session_id, json.dumps([self._hello, _plain(self._prompts[session_id])]))

    async def do_updates(self, session_id: str) -> None:
        """Every kind of update the SDK can send."""
        cwd = self._cwds[session_id]
        path = f"{cwd}/a.txt"
        place = schema.ToolCallLocation(path=path, line=2)
        diff = helpers.tool_diff_content(path, "one\nTWO\n", "one\ntwo\n")
        entries = [
            helpers.plan_entry("first", priority="high", status="completed"),
            helpers.plan_entry("second"),
        ]
        commands = [
            schema.AvailableCommand(
                name="web",
                description="search",
                input=schema.AvailableCommandInput(schema.UnstructuredCommandInput(hint="words")),
            )
        ]
        file_plan = schema.PlanUpdateMarkdown(plan_id="p2", type="markdown", content="# Plan")
        updates = [
            helpers.update_agent_thought_text("thinking"),
            *(helpers.update_agent_message(block) for block in CONTENT),
            helpers.update_plan(entries),
            helpers.start_tool_call(
                "t1",
                "Do a thing",
                kind="execute",
                status="in_progress",
                locations=[place],
                raw_input={"command": ["ls", "-l"]},
            ),
            helpers.update_tool_call("t1", content=[helpers.tool_content(CONTENT[0])]),
            helpers.update_tool_call("t1", status="completed", raw_output=[1, "two", None]),
            helpers.start_edit_tool_call("t2", "Edit", path, "content", extra_options=[diff]),
            helpers.update_tool_call("t2", status="failed", title="Edit a.txt"),
            helpers.start_read_tool_call("t3", "Read", path),
            helpers.start_tool_call("t4", "Terminal", content=[helpers.tool_terminal_ref("x")]),
            helpers.update_available_commands(commands),
            helpers.update_current_mode("bold"),
            schema.ConfigOptionUpdate(
                session_update="config_option_update", config_options=self._options()[:1]
            ),
            schema.SessionInfoUpdate(
                session_update="session_info_update",
                title="A title",
                updated_at="2026-11-29T12:00:00Z",
            ),
            schema.UsageUpdate(
                session_update="usage_update",
                used=10,
                size=100,
                cost=schema.Cost(amount=0.5, currency="EUR"),
            ),
            schema.AgentPlanContentUpdate(session_update="plan_update", plan=file_plan),
            schema.AgentPlanRemovedUpdate(session_update="plan_removed", plan_id="p2"),
        ]
        for update in updates:
            await self._client.session_update(session_id, update)
        # Keyword arguments become _meta.
        late = helpers.update_tool_call("t3", status="completed")
        await self._client.session_update(session_id, late, trace="abc")

    async def do_ask(self, session_id: str) -> None:
        """Ask, and say what came back."""
        call = schema.ToolCallUpdate(
            tool_call_id="ask-1",
            title="Delete everything",
            kind="delete",
            raw_input={"command": "rm -rf build", "why": "space"},
        )
        answer = await self._client.request_permission(session_id, call, OPTIONS)
        await self.say(session_id, json.dumps(_plain(answer.outcome)))

    async def do_read(self, session_id: str, path: str, *window: str) -> None:
        """Read a file, or so many lines from a line on."""
        line, limit = (int(number) for number in window) if window else (None, None)
        answer = await self._client.read_text_file(session_id, path, line, limit)
        text = answer.content
        await self.say(session_id, text if len(text) < 100 else f"{len(text)} characters")

    async def do_write(self, session_id: str, path: str, content: str) -> None:
        """Write a file and say what the answer was."""
        answer = await self._client.write_text_file(session_id, path, content)
        await self.say(session_id, f"written: {_plain(answer)}")

    async def do_run(self, session_id: str, command: str, *args: str) -> None:
        """Run a command and say what became of it; then one that has to be ended."""
        client = self._client
        run = await client.create_terminal(session_id, command, list(args), output_byte_limit=6)
        status = await client.wait_for_terminal_exit(session_id, run.terminal_id)
        said = await client.terminal_output(session_id, run.terminal_id)
        await client.release_terminal(session_id, run.terminal_id)
        await self.say(session_id, f"{status.exit_code} {said.output!r} {said.truncated} ")
        sleep = await client.create_terminal(session_id, "sleep 300")
        await client.kill_terminal(session_id, sleep.terminal_id)
        status = await client.wait_for_terminal_exit(session_id, sleep.terminal_id)
        await self.say(session_id, f"{status.exit_code} {status.signal}")

    async def do_extend(self, session_id: str) -> None:
        """Methods the client cannot know."""
        await self._client.ext_notification("vendor/ping", {"a": 1})
        try:
            await self._client.ext_method("vendor/ask", {"a": 1})
        except acp.RequestError as error:
            await self.say(session_id, f"{error.code}")

    async def do_elicit(self, session_id: str, mode: str) -> None:
        """Ask by a form, or have a page opened and say when that is done."""
        asked: Any
        if mode == "form":
            sure = schema.ElicitationBooleanPropertySchema(type="boolean", title="Sure")
            form = schema.ElicitationSchema(
                type="object", properties={"sure": sure}, required=["sure"]
            )
            asked = schema.ElicitationFormSessionMode(session_id=session_id, requested_schema=form)
        else:
            asked = schema.ElicitationUrlSessionMode(
                session_id=session_id, elicitation_id="e", url="https://example.org/login"
            )
        answer = await self._client.create_elicitation("Which one?", asked)
        if mode == "url":
            await self._client.complete_elicitation("e")
        await self.say(session_id, json.dumps(_plain(answer)))

    async def do_wait(self, session_id: str) -> str:
        """Until the client cancels."""
        call = helpers.start_tool_call("w1", "Wait", kind="execute", status="in_progress")
        await self._client.session_update(session_id, call)
        await self._cancelled[session_id].wait()
        done = helpers.update_tool_call("w1", status="completed")
        await self._client.session_update(session_id, done)
        return "cancelled"

    async def do_stop(self, session_id: str, reason: str) -> str:
        """End the turn with a reason."""
        await self.say(session_id, "so be it")
        return reason

    async def do_fail(self, session_id: str) -> None:
        """An error that the SDK answers for us."""
        raise RuntimeError("out of wit")


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", by_alias=True, exclude_none=True)
    return value


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--stable", action="store_true")
    parser.add_argument("--login", action="store_true")
    parser.add_argument("--limit", type=int, default=50 * 1024 * 1024)
    given = parser.parse_args()
    agent = SdkAgent(login=given.login)
    asyncio.run(
        acp.run_agent(
            agent,
            use_unstable_protocol=not given.stable,
            stdio_buffer_limit_bytes=given.limit,
        )
    )


if __name__ == "__main__":
    main()
