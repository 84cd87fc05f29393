"""Where a command may run, with what, and who is asked."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.editor import Editor, editing
from tests.e2e.puppet import Puppet
from tests.e2e.terminals.commands import EXITED, create, refused, run, wait

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="shells and signals of POSIX")


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    return Path(os.path.realpath(folder))


async def test_C10_the_folder_is_one_of_the_session_s(puppet: Puppet, ws: Path) -> None:
    (ws / "sub").mkdir()
    (ws / "file").write_text("")
    assert await run(puppet, "pwd -P") == (EXITED, f"{ws}\n")
    assert await run(puppet, "pwd -P", cwd=None) == (EXITED, f"{ws}\n")
    assert await run(puppet, "pwd -P", cwd=f"{ws}/sub") == (EXITED, f"{ws}/sub\n")
    assert await run(puppet, "pwd", cwd=f"{ws}/sub/../sub/") == (EXITED, f"{ws}/sub\n")
    for cwd in ("sub", "../", ".", f"{ws}/nope", f"{ws}/file", f"{ws}/a\0b", "", "/no/such", 5):
        error = await refused(puppet, command="touch ran", cwd=cwd)
        assert error["code"] == -32602, cwd
    assert not list(ws.rglob("ran"))


@pytest.mark.parametrize("answer", ["Yes, this time", "No", None])
async def test_C10_another_folder_needs_the_user_s_consent(
    editor: Editor, puppet: Puppet, ws: Path, elsewhere: Path, answer: str | None
) -> None:
    """By a link in the workspace as well; and no answer is never a consent."""
    (ws / "link").symlink_to(elsewhere)
    for number, cwd in enumerate((str(elsewhere), f"{ws}/link", f"{ws}/../elsewhere"), 1):
        params = {
            "sessionId": puppet.session,
            "command": "touch ran; echo $SETTING",
            "env": [
                {"name": "SETTING", "value": "of the agent's"},
                {"name": "API_TOKEN", "value": "s3cret"},
            ],
            "cwd": cwd,
        }
        request = puppet.request("terminal/create", params)
        dialog = await editor.dialog(number)
        for truth in ("touch ran; echo $SETTING", f"{elsewhere} (outside", "of the agent's"):
            assert truth in dialog["message"]
        assert "API_TOKEN" in dialog["message"] and "s3cret" not in str(editor.seen)
        assert editor.titles() == ["No", "Yes, this time"]
        assert not (elsewhere / "ran").exists()
        # Meanwhile others are answered.
        assert await run(puppet, "echo here") == (EXITED, "here\n")
        if answer is None:
            shown = editor.requests("window/showMessageRequest")[-1]
            editor.send({"id": shown["id"], "result": None})
        else:
            editor.click(answer)
        response = await puppet.result(request)
        if answer == "Yes, this time":
            assert await wait(puppet, response["result"]["terminalId"]) == EXITED
            (elsewhere / "ran").unlink()
        else:
            assert "did not agree" in response["error"]["message"]
            assert not (elsewhere / "ran").exists()
    states = [one["state"] for one in (await editor.state())["permissions"]]
    assert states == ["answered"] * 3


@pytest.mark.parametrize("how", ["cancel", "withdraw", "close", "death"])
async def test_C10_a_question_that_is_settled_otherwise_runs_nothing(
    editor: Editor, puppet: Puppet, elsewhere: Path, how: str
) -> None:
    _, turn = editor.start("acp.session.prompt", text="go")
    prompt = await puppet.prompted()
    params = {"sessionId": puppet.session, "command": "touch ran", "cwd": str(elsewhere)}
    request = puppet.request("terminal/create", params)
    await editor.dialog()
    shown = editor.requests("window/showMessageRequest")[0]["id"]
    if how == "cancel":
        await editor.execute("acp.session.cancel")
        assert "error" in await puppet.result(request)
        # What it wants to run after the user's cancel is not run either, wherever.
        error = await refused(puppet, command="touch ran")
        assert error["code"] == -32800
        puppet.end_turn(prompt, "cancelled")
        assert await turn == {"stopReason": "cancelled"}
    elif how == "withdraw":
        puppet.send({"method": "$/cancel_request", "params": {"requestId": request}})
        assert "error" in await puppet.result(request)
    elif how == "close":
        await editor.execute("acp.session.close")
    else:
        puppet.hang_up()
    await editor.until(lambda: {"id": shown} in editor.all("$/cancelRequest"))
    editor.click("Yes, this time", 0)
    await editor.call("acp/transcript/snapshot", {})
    assert not (elsewhere / "ran").exists()


@pytest.mark.parametrize(("rule", "runs"), [("allow", True), ("deny", False)])
async def test_C10_the_user_s_settings_answer_for_the_user(
    ws: Path, puppet: Puppet, settings: Any, elsewhere: Path, rule: str, runs: bool
) -> None:
    settings["terminals"] = {"outsideRoots": rule}
    async with editing() as editor:
        await editor.initialize(ws, settings=settings)
        await editor.execute("acp.session.new")
        if runs:
            assert await run(puppet, "pwd", cwd=str(elsewhere)) == (EXITED, f"{elsewhere}\n")
        else:
            error = await refused(puppet, command="touch ran", cwd=str(elsewhere))
            assert error["code"] == -32602
        assert editor.all("window/showMessageRequest") == []
    assert not (elsewhere / "ran").exists()


async def test_C10_terminals_can_be_switched_off(ws: Path, puppet: Puppet, settings: Any) -> None:
    """They are on by default, other than the case has it: what works is offered."""
    settings["terminals"] = {"enabled": False}
    async with editing() as editor:
        await editor.initialize(ws, settings=settings)
        await editor.execute("acp.session.new")
        told = [m for m in puppet.seen if m.get("method") == "initialize"][-1]
        assert told["params"]["clientCapabilities"]["terminal"] is False
        error = await refused(puppet, command="touch ran")
        assert error["code"] == -32601
    assert not (ws / "ran").exists()


@pytest.mark.parametrize(
    "params",
    [
        {"env": [{"name": "A=B", "value": "x"}]},
        {"env": [{"name": "", "value": "x"}]},
        {"env": [{"name": "A\0", "value": "x"}]},
        {"env": [{"name": "A", "value": "x\0y"}]},
        {"env": [{"name": "A", "value": "\ud800"}]},
        {"env": [{"name": "A"}]},
        {"env": [{"name": "A", "value": 5}]},
        {"env": ["A=B"]},
        {"env": {"A": "B"}},
        {"args": "x"},
        {"args": ["x", None]},
        {"args": ["a\0b"]},
        {"args": ["\udc80"]},
        {"command": ""},
        {"command": " \n"},
        {"command": None},
        {"command": "touch\0ran"},
        {"command": "touch ran \ud83d"},
    ],
)
async def test_C10_what_no_command_can_be_given_is_refused(
    puppet: Puppet, ws: Path, params: Any
) -> None:
    error = await refused(puppet, **{"command": "touch ran", **params})
    assert error["code"] == -32602
    assert not (ws / "ran").exists()


async def test_C10_each_command_is_told_with_its_folder_and_without_secrets(
    editor: Editor, puppet: Puppet, ws: Path
) -> None:
    env = [{"name": "TOKEN", "value": "s3cret"}, {"name": "LD_PRELOAD", "value": "/ws/x.so"}]
    await run(puppet, "echo", "a b", env=env)
    told = await editor.until(
        lambda: [p for p in editor.all("window/logMessage") if "echo 'a b'" in p["message"]]
    )
    assert str(ws) in told[0]["message"]
    assert "TOKEN" in told[0]["message"] and "LD_PRELOAD" in told[0]["message"]
    assert "s3cret" not in str(editor.seen) + editor.stderr.decode()


async def test_a_terminal_belongs_to_its_session(editor: Editor, puppet: Puppet) -> None:
    terminal_id = await create(puppet, "sleep 300")
    first = puppet.session
    await editor.execute("acp.session.new")
    assert puppet.session != first
    for method in ("output", "kill", "release", "wait_for_exit"):
        error = await refused(puppet, f"terminal/{method}", terminalId=terminal_id)
        assert error["code"] == -32002
        error = await refused(puppet, f"terminal/{method}", terminalId=5)
        assert error["code"] == -32602
        error = await refused(puppet, f"terminal/{method}", terminalId="x", sessionId="nope")
        assert error["code"] == -32602
    said = (await puppet.call("terminal/output", terminalId=terminal_id, sessionId=first))["result"]
    assert said.get("exitStatus") is None
