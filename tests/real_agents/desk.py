"""An editor, the sidecar, a real agent and a model that plays a script, at one table."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import uuid
from collections.abc import AsyncIterator, Callable, Iterable
from pathlib import Path
from typing import Any, Final

from pytest_lsp import ClientServerConfig

from acp_sidecar.workspace.uris import uri_to_path
from tests.e2e import family
from tests.e2e.lsp_client import SERVE, Client, Dialog, Running, make_client
from tests.real_agents.agents import setting
from tests.real_agents.lab.model import Model
from tests.real_agents.lab.script import Answer

BOUND: Final = 90
"""Seconds after which a test gives up waiting: a real agent takes its time."""

APP: Final = '''\
import sys


def greet(name):
    """Say hello."""
    return "hello " + name


def main():
    print(greet("world"))


if __name__ == "__main__":
    main()
'''
FILES: Final = {
    "src/app.py": APP,
    "README.md": "# demo\n\nThis is a demo.\n",
    "notes.txt": "some notes\n",
    "data.txt": "".join(f"line {number}\n" for number in range(1, 41)),
}

ALLOW: Final = ("Allow once", "Allow")
REJECT: Final = ("Reject", "No, suggest changes (esc)")
"""What the agents call these choices."""

Hand = Callable[[Dialog], Any]
"""What the user does with a dialog; may be awaitable."""


class Desk:
    """One run of one agent. ``model`` says what the agent's model does."""

    def __init__(self, agent: str, client: Client, model: Model, port: int, folder: Path) -> None:
        self.agent = agent
        self.client = client
        self.model = model
        self.ws = Path(os.path.realpath(folder)) / "ws"
        self.outside = self.ws.parent / "outside"
        self.home = folder / "home"
        self.mark = uuid.uuid4().hex
        self.session: dict[str, Any] = {}
        self._port = port
        self._seen = 0
        """Dialogs that have been attended to."""
        for name, text in FILES.items():
            path = self.ws / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists():
                path.write_text(text)

    # --- beginning ----------------------------------------------------------------------

    async def begin(self, **settings: Any) -> None:
        """Open the workspace, with these settings besides the agent."""
        entry = setting(self.agent, self.home, self._port, ACP_TEST_RUN=self.mark)
        given = {"agents": {self.agent: entry}, "defaultAgent": self.agent, **settings}
        await self.client.begin(self.ws, settings=given)

    async def open_session(self) -> None:
        self.session = await self.client.new()

    # --- turns --------------------------------------------------------------------------

    def path(self, name: str) -> str:
        return str(self.ws / name)

    def start(self, prompt: str, *answers: Answer) -> Running:
        """Prompt, with what the model is to answer, and do not wait."""
        return self.client.start("acp.session.prompt", text=self.model.on(prompt, *answers))

    async def turn(self, prompt: str, *answers: Answer, hand: Hand | None = None) -> str:
        """A whole turn; every question is answered by ``hand``, or allowed once. The stop
        reason."""
        return await self.finish(self.start(prompt, *answers), hand)

    async def finish(self, running: Running, hand: Hand | None = None) -> str:
        """Answer what is asked until the turn ends; the stop reason."""
        while (dialog := await self._dialog_or_end(running)) is not None:
            done = (hand or allow)(dialog)
            if asyncio.iscoroutine(done):
                await done
        result = await running
        assert self.model.faults == []
        return str(result["stopReason"])

    async def dialog(self) -> Dialog:
        """The next question."""
        self._seen += 1
        return await self.client.dialog(self._seen)

    async def _dialog_or_end(self, running: Running) -> Dialog | None:
        await self.client.until(lambda: running.done or len(self.client.dialogs) > self._seen)
        return await self.dialog() if len(self.client.dialogs) > self._seen else None

    # --- what is to be seen ---------------------------------------------------------------

    @property
    def asked(self) -> list[Dialog]:
        """Every question so far."""
        return self.client.dialogs

    def disk(self) -> dict[str, str]:
        """What every file in the workspace says."""
        return {
            str(path.relative_to(self.ws)): path.read_text()
            for path in sorted(self.ws.rglob("*"))
            if path.is_file()
        }

    async def state(self) -> dict[str, Any]:
        return await self.client.state()

    async def review(self, command: str = "list", **argument: Any) -> Any:
        return await self.client.execute(f"acp.review.{command}", **argument)

    async def changes(self) -> dict[str, str]:
        """What is to be reviewed: the status of every changed file."""
        return {self.name(entry["uri"]): entry["status"] for entry in await self.review()}

    def name(self, uri: str) -> str:
        """The name of a file within the workspace."""
        path = uri_to_path(uri)
        assert path is not None
        return str(Path(path).relative_to(self.ws))

    def family(self) -> set[family.Process]:
        """Every process that the agent has started, and itself."""
        return {one for one in family.everyone() if self._is_marked(one[0])}

    def _is_marked(self, pid: int) -> bool:
        try:
            return family.environment_of(pid).get("ACP_TEST_RUN") == self.mark
        except (OSError, ValueError):
            return False

    async def none_left(self, of: Iterable[family.Process]) -> None:
        """Assert that these processes end, soon."""
        left = await family.survivors(of, 5)
        assert {pid: family.command_of(pid) for pid, _ in left} == {}


def allow(dialog: Dialog) -> None:
    click(dialog, ALLOW)


def reject(dialog: Dialog) -> None:
    click(dialog, REJECT)


def dismiss(dialog: Dialog) -> None:
    dialog.dismiss()


def click(dialog: Dialog, names: Iterable[str]) -> None:
    """Press the button of one of these names."""
    (title,) = (
        title
        for title in dialog.titles
        if any(title == name or title.startswith(f"{name} (") for name in names)
    )
    dialog.click(title)


@contextlib.asynccontextmanager
async def desk(agent: str, folder: Path, port: int, model: Model) -> AsyncIterator[Desk]:
    """A desk whose sidecar runs and is not yet initialised. Afterwards nothing may be left."""
    traces = folder / "traces"
    command = [*SERVE, "--trace", str(traces), "--log-file", str(folder / "log")]
    client = await ClientServerConfig(command, client_factory=make_client).start()
    assert isinstance(client, Client)
    client.bound = BOUND
    seat = Desk(agent, client, model, port, folder)
    try:
        yield seat
    finally:
        everyone = seat.family()
        await client.end()
        await client.stop()
        await seat.none_left(everyone)
    assert "Traceback" not in (folder / "log").read_text()


def keep(seat: Desk, traces: Path, target: Path) -> None:
    """Keep the recording of a run, without this machine's paths."""
    target.parent.mkdir(parents=True, exist_ok=True)
    places = {str(seat.ws): "/ws", str(seat.outside): "/outside", str(seat.home): "/home/u"}
    for number, trace in enumerate(sorted(traces.glob(f"{seat.agent}-*.ndjson")), 1):
        text = trace.read_text()
        for place, neutral in places.items():
            text = text.replace(json.dumps(place)[1:-1], neutral)
            # One agent leaves out the first slash in titles.
            text = text.replace(json.dumps(place.lstrip("/"))[1:-1], neutral.lstrip("/"))
        suffix = "" if number == 1 else f"-{number}"
        target.with_name(f"{target.name}{suffix}.ndjson").write_text(text)


def forget(folder: Path) -> None:
    """Remove what a run leaves: an agent's home is large."""
    shutil.rmtree(folder, ignore_errors=True)
