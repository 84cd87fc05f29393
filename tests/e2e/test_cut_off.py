"""An editor goes away in the middle of a turn, and its sidecar with it: nothing typed is lost."""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.editor import Editor, LspError, capabilities, editing
from tests.e2e.lsp_client import demo
from tests.e2e.puppet import Puppet
from tests.e2e.test_turn_oddities import begin, stopped

PNG = {"type": "image", "mimeType": "image/png", "data": base64.b64encode(b"\x89PNG").decode()}
RICH = capabilities(transcript=True)


def files(tmp_path: Path) -> list[Path]:
    folder = tmp_path / "state" / "acp-sidecar" / "unfinished"
    return sorted(folder.glob("*.json")) if folder.exists() else []


def kept(tmp_path: Path) -> list[dict[str, Any]]:
    found = []
    for path in files(tmp_path):
        try:
            found.append(json.loads(path.read_bytes()))
        except FileNotFoundError:
            continue
    return found


async def on_disk(editor: Editor, tmp_path: Path, *waiting: str) -> dict[str, Any]:
    """What is kept, once it names these waiting prompts and one that was sent."""

    async def there() -> Any:
        for values in kept(tmp_path):
            texts = [prompt["text"] for prompt in values["waiting"]]
            if texts == list(waiting) and values["sent"]:
                return values
        return None

    found: dict[str, Any] = await editor.eventually(there)
    return found


async def nothing_on_disk(editor: Editor, tmp_path: Path) -> None:
    async def gone() -> bool:
        return not files(tmp_path)

    await editor.eventually(gone)


async def killed(editor: Editor) -> None:
    editor.process.kill()
    await editor.ended()


def history(puppet: Puppet, *words: str) -> None:
    """The agent's answer to a load: what the user said, each with an answer but the last."""

    def loaded(params: dict[str, Any]) -> Any:
        session = params["sessionId"]
        for number, text in enumerate(words):
            content = {"type": "text", "text": text}
            puppet.update("user_message_chunk", session, content=content, messageId=f"u{number}")
            if number < len(words) - 1:
                puppet.say("done", session)
        return {}

    puppet.answers["session/load"] = loaded


async def cut(puppet: Puppet, ws: Path, settings: dict[str, Any], tmp_path: Path) -> None:
    """A sidecar that is killed in the middle of a turn with two prompts waiting."""
    async with editing() as editor:
        await editor.initialize(ws, settings=settings)
        await editor.execute("acp.session.new")
        turn, prompt = await begin(editor, puppet, text="first")
        puppet.say("done")
        puppet.end_turn(prompt)
        assert await turn == stopped("end_turn")
        await begin(editor, puppet, text="Refactor the parser")
        editor.start("acp.session.prompt", text="then  run\nthe tests", content=[PNG])
        editor.start("acp.session.prompt", text="and commit")
        await on_disk(editor, tmp_path, "then  run\nthe tests", "and commit")
        await killed(editor)


def notices(state: dict[str, Any]) -> list[str]:
    return [f"{one['title']} {one['description'] or ''}" for one in state["notices"]]


@pytest.fixture(autouse=True)
def takes_images(puppet: Puppet) -> None:
    puppet.capabilities = {"loadSession": True, "promptCapabilities": {"image": True}}


async def test_nothing_is_lost_of_a_sidecar_that_is_killed_in_the_middle_of_a_turn(
    puppet: Puppet, ws: Path, tmp_path: Path, settings: dict[str, Any]
) -> None:
    await cut(puppet, ws, settings, tmp_path)
    history(puppet, "first", "Refactor the parser")
    async with editing() as editor:
        await editor.initialize(ws, settings=settings, can=RICH)
        opened = await editor.execute("acp.session.load", agentSessionId="S1")
        assert opened["interrupted"] is True
        assert opened["unsent"] == [
            {"text": "then  run\nthe tests", "content": [PNG]},
            {"text": "and commit", "content": []},
        ]
        state = await editor.state()
        assert [one["content"][0]["text"] for one in state["messages"]] == [
            "first",
            "done",
            "Refactor the parser",
        ]
        (notice,) = notices(state)
        assert "cut off when the editor went away" in notice
        assert "then run the tests" in notice and "and commit" in notice
        assert state["order"][-1]["type"] == "notice"
        # Nothing goes out by itself.
        sent = [one for one in puppet.seen if one.get("method") == "session/prompt"]
        assert len(sent) == 2
        # Given back by the client it is sent as it was.
        turn, prompt = await begin(editor, puppet, **opened["unsent"][0])
        assert prompt["params"]["prompt"][-2:] == [
            {"type": "text", "text": "then  run\nthe tests"},
            PNG,
        ]
        puppet.end_turn(prompt)
        assert await turn == stopped("end_turn")
        # Handed out once.
        await editor.execute("acp.session.close")
        again = await editor.execute("acp.session.load", agentSessionId="S1")
        assert (again["interrupted"], again["unsent"]) == (False, [])
        assert not notices(await editor.state())
        await editor.close()
    assert not files(tmp_path)


@pytest.mark.parametrize(
    "told_again",
    [
        ("first",),
        (),
        ("first", "something else"),
        # The same words of an earlier turn are not this prompt.
        ("Refactor the parser", "first"),
    ],
)
async def test_a_prompt_the_agent_does_not_remember_is_handed_out_too(
    told_again: tuple[str, ...],
    puppet: Puppet,
    ws: Path,
    tmp_path: Path,
    settings: dict[str, Any],
) -> None:
    await cut(puppet, ws, settings, tmp_path)
    history(puppet, *told_again)
    async with editing() as editor:
        await editor.initialize(ws, settings=settings)
        opened = await editor.execute("acp.session.load", agentSessionId="S1")
        texts = [prompt["text"] for prompt in opened["unsent"]]
        assert texts == ["Refactor the parser", "then  run\nthe tests", "and commit"]
        (notice,) = notices(await editor.state())
        assert "may not remember" in notice
        await editor.close()


async def test_the_same_words_twice_count_twice(
    puppet: Puppet, ws: Path, tmp_path: Path, settings: dict[str, Any]
) -> None:
    async with editing() as editor:
        await editor.initialize(ws, settings=settings)
        await editor.execute("acp.session.new")
        turn, prompt = await begin(editor, puppet, text="go on")
        puppet.say("done")
        puppet.end_turn(prompt)
        await turn
        await begin(editor, puppet, text="go on")
        await on_disk(editor, tmp_path)
        await killed(editor)
    history(puppet, "go on")
    async with editing() as editor:
        await editor.initialize(ws, settings=settings)
        opened = await editor.execute("acp.session.load", agentSessionId="S1")
        assert [prompt["text"] for prompt in opened["unsent"]] == ["go on"]
        await editor.close()


async def test_a_history_that_comes_late_counts(
    puppet: Puppet, ws: Path, tmp_path: Path, settings: dict[str, Any]
) -> None:
    await cut(puppet, ws, settings, tmp_path)
    async with editing() as editor:
        await editor.initialize(ws, settings=settings)
        _, opening = editor.start("acp.session.load", agentSessionId="S1")
        request = await puppet.incoming("session/load")
        puppet.answer(request, {})
        content = {"type": "text", "text": "Refactor the parser"}
        puppet.update("user_message_chunk", "S1", content=content)
        opened = await opening
        assert [prompt["text"] for prompt in opened["unsent"]] == [
            "then  run\nthe tests",
            "and commit",
        ]
        await editor.close()


async def test_a_session_without_history_hands_out_all(
    puppet: Puppet, ws: Path, tmp_path: Path, settings: dict[str, Any]
) -> None:
    await cut(puppet, ws, settings, tmp_path)
    puppet.capabilities = {"sessionCapabilities": {"resume": {}}}
    puppet.answers["session/resume"] = lambda params: {}
    async with editing() as editor:
        await editor.initialize(ws, settings=settings)
        opened = await editor.execute("acp.session.resume", agentSessionId="S1")
        assert opened["interrupted"] is True
        assert [prompt["text"] for prompt in opened["unsent"]] == [
            "Refactor the parser",
            "then  run\nthe tests",
            "and commit",
        ]
        await editor.close()


@pytest.mark.parametrize("how", ["shutdown", "the end of the input", "a signal"])
async def test_an_editor_that_leaves_in_an_orderly_way_loses_nothing_either(
    how: str, puppet: Puppet, ws: Path, tmp_path: Path, settings: dict[str, Any]
) -> None:
    """At once: what was typed a moment before counts."""
    async with editing() as editor:
        await editor.initialize(ws, settings=settings)
        await editor.execute("acp.session.new")
        await begin(editor, puppet, text="work")
        await editor.execute("acp.session.prompt", text="waits", wait=False)
        if how == "shutdown":
            await editor.close()
        elif how == "a signal":
            editor.process.terminate()
            await editor.ended()
        else:
            assert editor.process.stdin is not None
            editor.process.stdin.close()
            await editor.ended()
    history(puppet, "work")
    async with editing() as editor:
        await editor.initialize(ws, settings=settings)
        opened = await editor.execute("acp.session.load", agentSessionId="S1")
        assert opened["interrupted"] is True
        assert [prompt["text"] for prompt in opened["unsent"]] == ["waits"]
        await editor.close()


async def test_what_has_ended_leaves_nothing(
    puppet: Puppet, ws: Path, tmp_path: Path, settings: dict[str, Any]
) -> None:
    """A turn that ends, one that is cancelled, one that fails, a prompt that is dropped."""
    async with editing() as editor:
        await editor.initialize(ws, settings=settings)
        await editor.execute("acp.session.new")
        turn, prompt = await begin(editor, puppet, text="one")
        await on_disk(editor, tmp_path)
        puppet.end_turn(prompt)
        await turn
        await nothing_on_disk(editor, tmp_path)
        turn, prompt = await begin(editor, puppet, text="two")
        waiting = await editor.execute("acp.session.prompt", text="dropped", wait=False)
        await on_disk(editor, tmp_path, "dropped")
        await editor.execute("acp.session.queue", drop=waiting["turnId"])
        await editor.execute("acp.session.cancel")
        await nothing_on_disk(editor, tmp_path)
        puppet.end_turn(prompt, "cancelled")
        await turn
        turn, prompt = await begin(editor, puppet, text="three")
        await on_disk(editor, tmp_path)
        puppet.send({"id": prompt["id"], "error": {"code": -32603, "message": "broken"}})
        with pytest.raises(LspError, match="broken"):
            await turn
        await nothing_on_disk(editor, tmp_path)
        turn, prompt = await begin(editor, puppet, text="four")
        await editor.execute("acp.session.prompt", text="closed with it", wait=False)
        await on_disk(editor, tmp_path, "closed with it")
        await editor.execute("acp.session.close")
        await nothing_on_disk(editor, tmp_path)
        await editor.close()
    puppet.answers["session/load"] = lambda params: {}
    async with editing() as editor:
        await editor.initialize(ws, settings=settings)
        opened = await editor.execute("acp.session.load", agentSessionId="S1")
        assert (opened["interrupted"], opened["unsent"]) == (False, [])
        await editor.close()


async def test_a_waiting_prompt_is_kept_as_it_was_changed_and_what_it_mentions_is_read_anew(
    puppet: Puppet, ws: Path, tmp_path: Path, settings: dict[str, Any]
) -> None:
    (ws / "a.py").write_text("old\n")
    puppet.capabilities["promptCapabilities"]["embeddedContext"] = True
    async with editing() as editor:
        await editor.initialize(ws, settings=settings)
        await editor.execute("acp.session.new")
        await begin(editor, puppet, text="work")
        waiting = await editor.execute("acp.session.prompt", text="fix it", wait=False)
        edit = {"turnId": waiting["turnId"], "text": "fix @a.py"}
        await editor.execute("acp.session.queue", edit=edit)
        await on_disk(editor, tmp_path, "fix @a.py")
        await killed(editor)
    history(puppet, "work")
    (ws / "a.py").write_text("new\n")
    async with editing() as editor:
        await editor.initialize(ws, settings=settings)
        opened = await editor.execute("acp.session.load", agentSessionId="S1")
        assert opened["unsent"] == [{"text": "fix @a.py", "content": []}]
        _, prompt = await begin(editor, puppet, **opened["unsent"][0])
        assert prompt["params"]["prompt"][-1]["resource"]["text"] == "new\n"
        await editor.execute("acp.session.cancel")
        puppet.end_turn(prompt, "cancelled")
        await editor.close()


async def test_a_turn_in_another_window_is_not_cut_off(
    puppet: Puppet, ws: Path, tmp_path: Path, settings: dict[str, Any]
) -> None:
    history(puppet, "work")
    async with editing() as first:
        await first.initialize(ws, settings=settings)
        await first.execute("acp.session.new")
        await begin(first, puppet, text="work")
        first.start("acp.session.prompt", text="waits")
        await on_disk(first, tmp_path, "waits")
        async with editing() as second:
            await second.initialize(ws, settings=settings)
            opened = await second.execute("acp.session.load", agentSessionId="S1")
            assert (opened["interrupted"], opened["unsent"]) == (False, [])
            await second.close()
        assert [prompt["text"] for prompt in await first.execute("acp.session.queue")] == ["waits"]
        await killed(first)
    async with editing() as third:
        await third.initialize(ws, settings=settings)
        opened = await third.execute("acp.session.load", agentSessionId="S1")
        assert [prompt["text"] for prompt in opened["unsent"]] == ["waits"]
        await third.close()


async def test_a_session_that_waits_to_be_opened_needs_its_agent(
    puppet: Puppet, ws: Path, tmp_path: Path, settings: dict[str, Any]
) -> None:
    """The last open one is closed meanwhile, and its process would end with it."""
    history(puppet, "work")
    async with editing() as first, editing() as second:
        await first.initialize(ws, settings=settings)
        await first.execute("acp.session.new")
        await begin(first, puppet, text="work")
        await on_disk(first, tmp_path)
        await second.initialize(ws, settings=settings)
        other = await second.execute("acp.session.new")
        _, opening = second.start("acp.session.load", agentSessionId="S1")
        await second.execute("acp.session.close", sessionId=other["sessionId"])
        assert not opening.done()
        assert (await opening)["agentSessionId"] == "S1"
        await second.close()
        await first.close()


async def test_a_reload_that_is_quicker_than_the_end_of_the_old_window(
    puppet: Puppet, ws: Path, tmp_path: Path, settings: dict[str, Any]
) -> None:
    history(puppet, "work")
    async with editing() as old, editing() as new:
        await old.initialize(ws, settings=settings)
        await old.execute("acp.session.new")
        await begin(old, puppet, text="work")
        old.start("acp.session.prompt", text="waits")
        await on_disk(old, tmp_path, "waits")
        await new.initialize(ws, settings=settings)
        _, opening = new.start("acp.session.load", agentSessionId="S1")

        async def second_agent() -> bool:
            return puppet.connections == 2

        await new.eventually(second_agent)
        assert not opening.done()
        assert "session/load" not in [one.get("method") for one in puppet.seen]
        await killed(old)
        opened = await opening
        assert [prompt["text"] for prompt in opened["unsent"]] == ["waits"]
        await new.close()


async def test_a_session_the_agent_has_lost_still_gives_the_words_back(
    puppet: Puppet, ws: Path, tmp_path: Path, settings: dict[str, Any]
) -> None:
    await cut(puppet, ws, settings, tmp_path)
    async with editing() as editor:
        await editor.initialize(ws, settings=settings)
        _, opening = editor.start("acp.session.load", agentSessionId="S1")
        request = await puppet.incoming("session/load")
        puppet.send({"id": request["id"], "error": {"code": -32002, "message": "not found"}})
        opened = await opening
        assert (opened["new"], opened["agentSessionId"]) == (True, "S2")
        assert [prompt["text"] for prompt in opened["unsent"]] == [
            "Refactor the parser",
            "then  run\nthe tests",
            "and commit",
        ]
        (message,) = editor.all("window/showMessage")[-1:]
        assert "cannot open the session again" in message["message"]
        assert "review" not in message["message"]
        await nothing_on_disk(editor, tmp_path)
        await editor.close()


async def test_a_load_that_fails_keeps_it_for_the_next(
    puppet: Puppet, ws: Path, tmp_path: Path, settings: dict[str, Any]
) -> None:
    await cut(puppet, ws, settings, tmp_path)
    async with editing() as editor:
        await editor.initialize(ws, settings=settings)
        _, opening = editor.start("acp.session.load", agentSessionId="S1")
        request = await puppet.incoming("session/load")
        puppet.send({"id": request["id"], "error": {"code": -32603, "message": "busy"}})
        with pytest.raises(LspError, match="busy"):
            await opening
        history(puppet, "Refactor the parser")
        opened = await editor.execute("acp.session.load", agentSessionId="S1")
        assert len(opened["unsent"]) == 2
        await editor.close()


@pytest.mark.parametrize("gives_ids_anew", [True, False])
async def test_an_agent_that_opens_no_session_again_loses_no_words_either(
    gives_ids_anew: bool, puppet: Puppet, ws: Path, tmp_path: Path, settings: dict[str, Any]
) -> None:
    puppet.capabilities = {}
    async with editing() as editor, editing() as meanwhile:
        await editor.initialize(ws, settings=settings)
        opened = await editor.execute("acp.session.new")
        assert "interrupted" not in opened
        await begin(editor, puppet, text="work")
        await editor.execute("acp.session.prompt", text="waits", wait=False)
        await on_disk(editor, tmp_path, "waits")
        with pytest.raises(LspError, match=r"lacks sessionCapabilities\.list"):
            await editor.execute("acp.session.list")
        await meanwhile.initialize(ws, settings=settings)
        with pytest.raises(LspError, match=r"lacks sessionCapabilities\.list"):
            await meanwhile.execute("acp.session.list")
        await meanwhile.close()
        await killed(editor)
    if gives_ids_anew:
        puppet.sessions.clear()
    async with editing() as editor:
        await editor.initialize(ws, settings=settings)
        listed = (await editor.execute("acp.session.list"))["sessions"]
        assert [row["agentSessionId"] for row in listed] == ["S1"]
        opened = await editor.execute("acp.session.load", agentSessionId="S1")
        assert (opened["new"], opened["interrupted"]) == (True, True)
        assert [prompt["text"] for prompt in opened["unsent"]] == ["work", "waits"]
        assert any("The agent may not remember" in each for each in notices(await editor.state()))
        await begin(editor, puppet, text="work")
        await on_disk(editor, tmp_path)
        await editor.execute("acp.session.close")
        await nothing_on_disk(editor, tmp_path)
        with pytest.raises(LspError, match=r"lacks sessionCapabilities\.list"):
            await editor.execute("acp.session.list")
        await editor.close()


async def test_a_disk_that_takes_nothing_costs_the_memory_alone(
    puppet: Puppet, ws: Path, tmp_path: Path, settings: dict[str, Any]
) -> None:
    folder = tmp_path / "state" / "acp-sidecar"
    folder.mkdir(parents=True)
    (folder / "unfinished").write_text("in the way")
    async with editing() as editor:
        await editor.initialize(ws, settings=settings)
        await editor.execute("acp.session.new")
        turn, prompt = await begin(editor, puppet, text="work")
        editor.start("acp.session.prompt", text="waits")
        puppet.say("done")
        puppet.end_turn(prompt)
        assert await turn == stopped("end_turn")
        assert (await puppet.prompted())["params"]["prompt"][-1]["text"] == "waits"
        await editor.close()


async def test_only_the_user_can_read_it(
    puppet: Puppet, ws: Path, tmp_path: Path, settings: dict[str, Any]
) -> None:
    await cut(puppet, ws, settings, tmp_path)
    (file,) = files(tmp_path)
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700
    assert os.access(file, os.R_OK)


@pytest.mark.parametrize("how", ["a kill of the sidecar", "the end of the editor"])
async def test_the_demo_agent_comes_through_a_reload_in_the_middle_of_its_turn(
    how: str, ws: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody is held by the test here: the whole thing as a user has it."""
    monkeypatch.setenv("ACP_DEMO_STATE", str(tmp_path / "demo"))
    settings = {"agents": {"demo": demo()}, "defaultAgent": "demo"}
    async with editing() as editor:
        await editor.initialize(ws, settings=settings)
        opened = await editor.execute("acp.session.new")
        await editor.execute("acp.session.prompt", text="/show")
        editor.start("acp.session.prompt", text="/wait 60")
        editor.start("acp.session.prompt", text="/edit a.txt")
        editor.start("acp.session.prompt", text="look", content=[PNG])
        await on_disk(editor, tmp_path, "/edit a.txt", "look")

        async def at_work() -> bool:
            calls = (await editor.state())["toolCalls"]
            return any(call["status"] == "in_progress" for call in calls)

        await editor.eventually(at_work)
        if how == "a kill of the sidecar":
            await killed(editor)
        else:
            assert editor.process.stdin is not None
            editor.process.stdin.close()
            await editor.ended()
    async with editing() as editor:
        await editor.initialize(ws, settings=settings, can=RICH)
        rows = (await editor.execute("acp.session.list"))["sessions"]
        assert [row["agentSessionId"] for row in rows] == [opened["agentSessionId"]]
        again = await editor.execute("acp.session.load", agentSessionId=opened["agentSessionId"])
        assert again["interrupted"] is True
        assert again["unsent"] == [
            {"text": "/edit a.txt", "content": []},
            {"text": "look", "content": [PNG]},
        ]
        state = await editor.state()
        words = [one["content"][0]["text"] for one in state["messages"] if one["role"] == "user"]
        assert words == ["/show", "/wait 60"]
        assert {call["status"] for call in state["toolCalls"]} <= {"completed", "failed"}
        assert await editor.execute("acp.session.prompt", text="/refuse") == {
            "stopReason": "refusal"
        }
        await editor.close()


async def test_what_waits_for_review_waits_on_after_a_reload(
    puppet: Puppet, ws: Path, tmp_path: Path, settings: dict[str, Any]
) -> None:
    """Killed in the middle of a turn: what the agent has written by then, and the last word of
    it that nobody has looked at."""
    path = ws / "a.txt"
    path.write_text("one\ntwo\nthree\nfour\nfive\n")
    async with editing() as editor:
        await editor.initialize(ws, settings=settings)
        await editor.execute("acp.session.new")
        await begin(editor, puppet, text="work")
        await puppet.read(path)
        await puppet.write(path, "ONE\ntwo\nthree\nfour\nFIVE\n")
        kept, left = (await editor.execute("acp.review.list"))[0]["hunks"]
        await editor.execute("acp.review.keep", hunkId=kept["id"])
        await on_disk(editor, tmp_path)
        path.write_text("ONE\ntwo\nTHREE\nfour\nFIVE\n")
        await killed(editor)
    history(puppet, "work")
    async with editing() as editor:
        can = capabilities(changes=True)
        await editor.initialize(ws, settings=settings, can=can)
        await editor.execute("acp.session.load", agentSessionId="S1")
        told = await editor.nth("acp/changes")
        changes = await editor.execute("acp.review.list")
        assert changes == told["changes"]
        third, fifth = changes[0]["hunks"]
        assert (third["after"], fifth["id"]) == ({"start": 2, "lines": 1}, left["id"])
        done = await editor.execute("acp.review.revert")
        assert (len(done["reverted"]), done["conflicts"]) == (2, [])
        assert path.read_text() == "ONE\ntwo\nthree\nfour\nfive\n"
        await editor.close()
