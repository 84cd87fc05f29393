"""A sidecar for tests: starts an agent, prints its pid and the watchdog's, and waits.

``keeper.py HOW COMMAND...``: HOW is ``wait`` (until stdin closes, then stop), ``return``
(leave the loop with the agent running) or ``raise`` (the same by an exception).
"""

from __future__ import annotations

import asyncio
import signal
import sys

from acp_sidecar.agents import process


async def main(how: str, command: list[str]) -> None:
    lines: asyncio.Queue[bytes] = asyncio.Queue()
    agent = await process.spawn(
        process.resolve(command[0], command[1:]),
        on_data=lines.put_nowait,
        on_exit=lambda exit_: print("exit", exit_.returncode, flush=True),
    )
    grandchild = (await lines.get()).split(b"\n")[0].decode()
    print(agent.pid, grandchild, process.LEASH.pid, flush=True)
    if how == "raise":
        raise SystemExit("over")
    if how == "wait":
        closed = asyncio.Event()
        asyncio.get_running_loop().add_reader(sys.stdin, closed.set)
        await closed.wait()
        await agent.stop(urgent=True)


if __name__ == "__main__":
    # A shell's background jobs inherit these ignored, what nohup runs the last; and so would a
    # test run as one.
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    asyncio.run(main(sys.argv[1], sys.argv[2:]))
