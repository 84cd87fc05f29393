"""The ways in which an editor and its sidecar end."""

from __future__ import annotations

import signal
from collections.abc import Awaitable, Callable

from tests.e2e.lifecycle.runs import Run


async def kill_editor(run: Run) -> None:
    run.process.kill()
    await run.process.wait()


async def close_input(run: Run) -> None:
    assert run.editor.process.stdin is not None
    run.editor.process.stdin.close()


async def shut_down(run: Run) -> None:
    await run.editor.call("shutdown")
    run.editor.notify("exit")


async def back_to_back(run: Run) -> None:
    """What Neovim does: nothing is waited for."""
    run.editor.begin("shutdown")
    run.editor.notify("exit")
    await close_input(run)


async def exit_only(run: Run) -> None:
    run.editor.notify("exit")


async def shut_down_and_terminate(run: Run) -> None:
    """What an impatient editor does: SIGTERM right after shutdown, without exit."""
    run.editor.begin("shutdown")
    run.editor.process.terminate()


async def shut_down_and_terminate_later(run: Run) -> None:
    """The same once shutdown has been answered."""
    await run.editor.call("shutdown")
    run.editor.process.terminate()


def sends(number: signal.Signals) -> Callable[[Run], Awaitable[None]]:
    async def send(run: Run) -> None:
        run.editor.process.send_signal(number)

    send.__name__ = number.name
    return send


ENDS: list[tuple[Callable[[Run], Awaitable[None]], int]] = [
    (kill_editor, 1),
    (close_input, 1),
    (shut_down, 0),
    (back_to_back, 0),
    (exit_only, 1),
    (shut_down_and_terminate, 0),
    (shut_down_and_terminate_later, 0),
    (sends(signal.SIGTERM), 0),
    (sends(signal.SIGINT), 130),
    (sends(signal.SIGKILL), -9),
]
