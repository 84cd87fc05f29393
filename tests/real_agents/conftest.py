"""The desk at which each test sits: one for each agent."""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.real_agents.agents import AGENTS
from tests.real_agents.desk import Desk, desk, forget, keep
from tests.real_agents.install import missing
from tests.real_agents.lab.model import Model
from tests.real_agents.lab.server import serving


@pytest.fixture(autouse=True)
def no_settings_of_the_user_s(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CONFIG", "STATE", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))


@pytest.fixture(params=AGENTS)
def agent(request: pytest.FixtureRequest) -> str:
    reason = missing() or ("it reads /proc" if not Path("/proc/self/environ").exists() else None)
    if reason is not None:
        pytest.skip(reason)
    return str(request.param)


@pytest.fixture
def model() -> Model:
    return Model()


@pytest.fixture
def port(model: Model) -> Iterator[int]:
    with serving(model) as port:
        yield port


@pytest.fixture
async def unopened(
    agent: str, model: Model, port: int, tmp_path: Path, request: pytest.FixtureRequest
) -> AsyncIterator[Desk]:
    """A desk that has not opened its workspace."""
    folder = tmp_path / "desk"
    folder.mkdir()
    async with desk(agent, folder, port, model) as seat:
        yield seat
    if record := os.environ.get("RECORD"):
        words = re.findall(r"[a-z]+", request.node.name.removeprefix("test_"))
        test = "-".join([agent, *(word for word in words if word != agent)])
        keep(seat, folder / "traces", Path(record).resolve() / test)
    forget(folder)


@pytest.fixture
async def table(unopened: Desk) -> Desk:
    """A desk with an open session."""
    await unopened.begin()
    await unopened.open_session()
    return unopened
