"""A server with a bit of everything. Its argument is a file that it notes events in.

A second one says how many seconds its clean-up takes, a third which signal comes in the
middle of that.
"""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

from lsprotocol import types

from acp_sidecar.editor.ending import leave
from acp_sidecar.editor.server import ClientError, ClientGone, CommandError, SidecarServer

notes = Path(sys.argv[1])
stop_seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 0.0
stop_signal = signal.Signals[sys.argv[3]] if len(sys.argv) > 3 else None
server = SidecarServer("basic", "1.2.3")
documents: dict[str, str] = {}
log: list[Any] = []


def note(line: str) -> None:
    with notes.open("a") as file:
        file.write(line + "\n")


async def on_stop() -> None:
    note("stopping")
    if stop_signal is not None:
        os.kill(os.getpid(), stop_signal)
    await asyncio.sleep(stop_seconds)
    note("stopped")


def on_initialize(params: dict[str, Any]) -> None:
    note("initialize")
    if params.get("initializationOptions") == "refuse":
        raise CommandError("not today", -32099)


def on_open(uri: str, language_id: str, version: int, text: str) -> None:
    documents[uri] = text
    log.append(["open", uri, language_id, version, text])
    if uri == "bad:":
        raise KeyError(uri)


def on_change(uri: str, version: int | None, changes: Any) -> None:
    documents[uri] = changes[-1].text
    log.append(["change", uri, version, [[change.range, change.text] for change in changes]])


server.on_stop = on_stop
server.on_initialize = on_initialize
server.on_initialized = lambda: log.append(["initialized"])
server.on_open = on_open
server.on_change = on_change
server.on_save = lambda *values: log.append(["save", *values])
server.on_close = lambda *values: log.append(["close", *values])
server.on_configuration = lambda settings: log.append(["configuration", settings])
server.on_watched_files = lambda changes: log.append(["watched", list(changes)])
server.on_folders = lambda *values: log.append(["folders", *values])


async def echo_later(params: Any) -> Any:
    await asyncio.sleep(0)
    return params


async def ask(argument: dict[str, Any]) -> Any:
    """Ask the client and say what became of it."""
    try:
        answer = await server.request(
            argument["method"], argument.get("params"), timeout=argument.get("timeout")
        )
    except TimeoutError:
        return "timed out"
    except ClientError as error:
        return {"code": error.code, "message": error.message, "data": error.data}
    except ClientGone:
        note("client gone")
        raise
    return {"answer": answer}


async def ask_and_withdraw(argument: dict[str, Any]) -> str:
    task = asyncio.create_task(server.request(argument["method"]))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait({task})
    return "withdrawn"


async def turn(argument: dict[str, Any]) -> dict[str, str]:
    note("turn")
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        note("turn cancelled")
    return {"stopReason": "cancelled"}


async def wait(params: Any) -> None:
    note("waiting")
    try:
        await asyncio.Event().wait()
    finally:
        note("wait over")


async def stubborn(argument: dict[str, Any]) -> None:
    """Does not end when cancelled."""
    note("stubborn")
    while True:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            note("no")


async def block(argument: dict[str, Any]) -> Any:
    """Sits in a thread until the client has answered a request."""
    loop = asyncio.get_running_loop()

    def blocked() -> Any:
        return asyncio.run_coroutine_threadsafe(server.request("test/ask"), loop).result()

    return await asyncio.to_thread(blocked)


async def sleep_in_thread(argument: dict[str, Any]) -> None:
    note("asleep")
    await asyncio.to_thread(time.sleep, argument["seconds"])


def text_now(argument: dict[str, Any]) -> Any:
    return documents.get(argument["uri"])


async def text_at_first(argument: dict[str, Any]) -> Any:
    text = documents.get(argument["uri"])
    await asyncio.sleep(0)
    return text


def fail(argument: dict[str, Any]) -> None:
    if argument.get("say"):
        raise CommandError("pick a session first", data={"try": "acp.session.new"})
    raise RuntimeError("the disk is on fire")


def stray(argument: dict[str, Any]) -> str:
    print("stray print")
    sys.stdout.flush()
    subprocess.run([sys.executable, "-c", "print('stray child')"], check=True)
    subprocess.run([sys.executable, "-c", "import sys; assert sys.stdin.read() == ''"], check=True)
    warnings.warn("stray warning", stacklevel=1)
    return "still here"


def memory(argument: dict[str, Any]) -> dict[str, int]:
    gc.collect()
    resident = next(
        line for line in Path("/proc/self/status").read_text().splitlines() if "VmRSS" in line
    )
    return {
        "kilobytes": int(resident.split()[1]),
        "futures": sum("Future" in type(thing).__name__ for thing in gc.get_objects()),
    }


def say(argument: dict[str, Any]) -> None:
    server.window_show_message(types.ShowMessageParams(types.MessageType.Info, "hello"))


async def typed(argument: dict[str, Any]) -> Any:
    """A request through pygls' own typed sender."""
    edit = types.WorkspaceEdit(changes={})
    params = types.ApplyWorkspaceEditParams(edit)
    if argument.get("withdraw"):
        task = asyncio.ensure_future(server.workspace_apply_edit_async(params))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait({task})
        return "withdrawn"
    try:
        result = await server.workspace_apply_edit_async(params)
    except Exception as error:  # noqa: BLE001 - the test looks at what it was
        return f"failed: {type(error).__name__}"
    return {"applied": result.applied}


@server.feature(types.TEXT_DOCUMENT_HOVER)
def hover(params: types.HoverParams) -> types.Hover:
    return types.Hover(f"line {params.position.line} of {params.text_document.uri}")


def refused(argument: dict[str, Any]) -> list[str]:
    """What the server says to registrations that would not work."""
    said: list[str] = []
    for register in (
        server.thread,
        lambda: server.feature(types.SHUTDOWN),
        lambda: server.handle("initialize", lambda params: None),
    ):
        try:
            register()
        except (TypeError, ValueError) as error:
            said.append(str(error))
    return said


for function in (
    ask,
    ask_and_withdraw,
    block,
    fail,
    memory,
    refused,
    say,
    sleep_in_thread,
    stray,
    stubborn,
    text_at_first,
    text_now,
    turn,
    typed,
):
    server.command(f"test.{function.__name__}", function)
server.command("test.argument", lambda argument: argument)
server.command("test.unfit", lambda argument: {1, 2})


@server.command("test.decorated")
def decorated(argument: dict[str, Any]) -> str:
    return "decorated"


server.handle("acp/echo", lambda params: params)
server.handle("acp/echoLater", echo_later)
server.handle("acp/wait", wait)
server.handle("acp/log", lambda params: log)
server.handle("acp/folders", lambda params: server.workspace_folders)
server.handle("acp/note", lambda params: log.append(["note", params]))
server.handle("acp/fail", fail)
server.provide(
    "textDocument/codeLens",
    lambda params: [{"uri": params["textDocument"]["uri"]}],
    {"codeLensProvider": {"resolveProvider": False}},
)

if __name__ == "__main__":
    leave(server.run())
