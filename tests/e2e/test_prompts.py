"""What goes with a prompt: mentions, pictures, the selection; and what may follow in one."""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from acp_sidecar.workspace.uris import path_to_uri
from tests.e2e.editor import Editor, LspError, Refusal, capabilities
from tests.e2e.puppet import Puppet

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 40


@pytest.fixture
def files(ws: Path) -> Path:
    (ws / "src").mkdir()
    (ws / "src" / "a.py").write_text("one\ntwo\nthree\n")
    (ws / "my file.txt").write_text("words\n")
    (ws / "shot.png").write_bytes(PNG)
    (ws / "outside").symlink_to("/etc")
    return ws


async def sent(editor: Editor, puppet: Puppet, **argument: Any) -> list[dict[str, Any]]:
    """The blocks that a prompt arrives with."""
    _, turn = editor.start("acp.session.prompt", **argument)
    prompt = await puppet.prompted()
    puppet.say("x")
    puppet.end_turn(prompt)
    await turn
    blocks: list[dict[str, Any]] = prompt["params"]["prompt"]
    return blocks


def told(editor: Editor) -> str:
    return "\n".join(one["message"] for one in editor.all("window/showMessage"))


@pytest.fixture
async def plain(editor: Editor, files: Path, session: Any) -> Editor:
    """An agent that takes links only."""
    return editor


@pytest.fixture
async def embedding(editor: Editor, files: Path, puppet: Puppet) -> Editor:
    """An agent that takes texts and pictures."""
    puppet.capabilities = {"promptCapabilities": {"embeddedContext": True, "image": True}}
    await editor.execute("acp.session.new")
    return editor


async def test_a_mention_is_a_link(plain: Editor, puppet: Puppet, ws: Path) -> None:
    text = 'See @src/a.py:2-3, (@"my file.txt") and @src/. Mail me@example.com.'
    blocks = await sent(plain, puppet, text=text)
    assert blocks == [
        {"type": "text", "text": text},
        {
            "type": "resource_link",
            "uri": path_to_uri(str(ws / "src/a.py")),
            "name": "a.py:2-3",
            "description": "lines 2-3",
        },
        {
            "type": "resource_link",
            "uri": path_to_uri(str(ws / "my file.txt")),
            "name": "my file.txt",
        },
        {"type": "resource_link", "uri": path_to_uri(str(ws / "src")), "name": "src"},
    ]
    assert told(plain) == ""


async def test_a_mention_is_the_text_in_the_buffer(
    embedding: Editor, puppet: Puppet, ws: Path
) -> None:
    uri = embedding.open(ws / "src" / "a.py")
    embedding.type(uri, 1, 0, "unsaved ")
    blocks = await sent(embedding, puppet, text="@src/a.py:2 @src/a.py @src/a.py")
    resources = [block["resource"] for block in blocks[1:]]
    assert resources == [
        {"uri": uri, "text": "unsaved two\n"},
        {"uri": uri, "text": "one\nunsaved two\nthree\n"},
    ]


async def test_what_is_no_file_stays_text_and_is_told(
    plain: Editor, puppet: Puppet, ws: Path
) -> None:
    text = "@nope.py @src/a.py:9 @outside/passwd @/etc/passwd @../x.py @alice @app.get('/')"
    assert await sent(plain, puppet, text=text) == [{"type": "text", "text": text}]
    (said,) = plain.all("window/showMessage")
    lines = said["message"].split("\n")[1:]
    assert [line.partition(": ")[0] for line in lines] == [
        "@nope.py",
        "@src/a.py:9",
        "@outside/passwd",
        "@/etc/passwd",
        "@../x.py",
    ]
    assert "has only 3 lines" in lines[1]
    assert "outside" in lines[2]


async def test_what_is_attached_is_not_sent_twice(plain: Editor, puppet: Puppet, ws: Path) -> None:
    uri = path_to_uri(str(ws / "src/a.py"))
    blocks = await sent(plain, puppet, text="fix @src/a.py", context=[{"uri": uri}])
    assert [block["type"] for block in blocks] == ["text", "resource_link"]


async def test_an_edited_prompt_is_read_anew(plain: Editor, puppet: Puppet, ws: Path) -> None:
    plain.start("acp.session.prompt", text="first")
    first = await puppet.prompted()
    link = {"type": "resource_link", "uri": "https://x", "name": "x"}
    plain.start("acp.session.prompt", text="@src/a.py", content=[link])
    (waiting,) = await plain.eventually(lambda: plain.execute("acp.session.queue"))
    (waiting,) = await plain.execute(
        "acp.session.queue", edit={"turnId": waiting["turnId"], "text": 'no, @"my file.txt"'}
    )
    assert waiting["text"] == 'no, @"my file.txt"'
    puppet.say("x")
    puppet.end_turn(first)
    blocks = (await puppet.prompted())["params"]["prompt"]
    assert [block.get("name") for block in blocks] == [None, "x", "my file.txt"]


# --- pictures -------------------------------------------------------------------------------------


async def test_a_picture_is_one_by_its_bytes(embedding: Editor, puppet: Puppet, ws: Path) -> None:
    (ws / "photo.txt").write_bytes(b"\xff\xd8\xff\xe0rest")
    (ws / "fake.png").write_text("no picture\n")
    blocks = await sent(
        embedding,
        puppet,
        text="@shot.png @fake.png",
        context=[{"uri": path_to_uri(str(ws / "photo.txt"))}],
    )
    uri = path_to_uri(str(ws / "shot.png"))
    assert blocks[1]["mimeType"] == "image/jpeg"
    assert blocks[2] == {
        "type": "image",
        "data": base64.b64encode(PNG).decode(),
        "mimeType": "image/png",
        "uri": uri,
    }
    assert blocks[3]["resource"]["text"] == "no picture\n"


async def test_a_picture_for_an_agent_that_takes_none(
    plain: Editor, puppet: Puppet, ws: Path
) -> None:
    (block,) = (await sent(plain, puppet, text="@shot.png"))[1:]
    assert (block["type"], block["name"]) == ("resource_link", "shot.png")
    image = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
    with pytest.raises(LspError, match=r"promptCapabilities\.image"):
        await plain.execute("acp.session.prompt", text="x", content=[image])


async def test_a_picture_that_is_too_large(embedding: Editor, puppet: Puppet, ws: Path) -> None:
    with (ws / "huge.png").open("wb") as file:
        file.write(PNG)
        file.truncate(11 * 1024 * 1024)
    uri = path_to_uri(str(ws / "huge.png"))
    with pytest.raises(LspError, match="more than 10 MB is not sent"):
        await embedding.execute("acp.session.prompt", text="x", context=[{"uri": uri}])
    assert len(await sent(embedding, puppet, text="@huge.png")) == 1
    assert "@huge.png: A picture of more than 10 MB" in told(embedding)


# --- the selection --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("selection", "name"),
    [
        ({"start": {"line": 1, "character": 0}, "end": {"line": 2, "character": 0}}, "a.py:2-2"),
        ({"start": {"line": 1, "character": 2}, "end": {"line": 1, "character": 2}}, "a.py"),
        (None, "a.py"),
        ("odd", "a.py"),
    ],
)
async def test_the_selection_of_a_rich_editor(
    idle_editor: Editor, puppet: Puppet, files: Path, settings: Any, selection: Any, name: str
) -> None:
    editor = idle_editor
    await editor.initialize(files, settings=settings, can=capabilities(selection=True))
    await editor.execute("acp.session.new")
    uri = path_to_uri(str(files / "src/a.py"))
    editor.answers["acp/selection"] = lambda params: {
        "uri": uri,
        "selection": selection,
        "visibleRange": None,
    }
    blocks = await sent(editor, puppet, text="explain @selection.")
    assert [block.get("name") for block in blocks] == [None, name]


async def test_no_selection_to_be_had(
    idle_editor: Editor, puppet: Puppet, files: Path, settings: Any
) -> None:
    editor = idle_editor
    await editor.initialize(files, settings=settings, can=capabilities(selection=True))
    await editor.execute("acp.session.new")

    def refuse(params: Any) -> Any:
        raise Refusal(-32601)

    editor.answers["acp/selection"] = refuse
    assert len(await sent(editor, puppet, text="explain @selection")) == 1
    assert "@selection: this editor does not tell" in told(editor)


# --- a file is named in a prompt ------------------------------------------------------------------


async def test_a_file_is_named_as_it_is_read(
    plain: Editor, ws: Path, files: Path, tmp_path: Path
) -> None:
    async def mention(path: Path, **more: Any) -> Any:
        return await plain.execute("acp.prompt.mention", uri=path.as_uri(), **more)

    lines = {"start": {"line": 1, "character": 3}, "end": {"line": 3, "character": 0}}
    assert await mention(ws / "src" / "a.py") == {"text": "@src/a.py"}
    assert await mention(ws / "my file.txt", range=lines) == {"text": '@"my file.txt":2-3'}
    assert await mention(ws / "src" / "a.py", cwd=str(ws / "src")) == {"text": "@a.py"}
    assert await mention(tmp_path / "x.py") == {"text": f"@{tmp_path}/x.py"}
    session_id = (await plain.execute("acp.session.opened"))[0]["sessionId"]
    inside = await mention(ws / "src" / "a.py", sessionId=session_id)
    assert inside == {"text": "@src/a.py"}
    with pytest.raises(LspError, match="no file on a disk"):
        await plain.execute("acp.prompt.mention", uri="untitled:Untitled-1")
    with pytest.raises(LspError, match="cannot name"):
        await mention(ws / 'say "hi".txt')


# --- what may follow ------------------------------------------------------------------------------


@pytest.fixture
def complete(plain: Editor) -> Callable[..., Any]:
    async def run(text: str, **more: Any) -> list[dict[str, Any]]:
        result = await plain.execute("acp.prompt.complete", text=text, **more)
        items: list[dict[str, Any]] = result["items"]
        return items

    return run


async def test_the_agent_s_commands_at_the_beginning(
    plain: Editor, puppet: Puppet, complete: Callable[..., Any]
) -> None:
    commands = [
        {"name": "plan", "description": "make a plan"},
        {"name": "replan", "description": "another"},
        {"name": "test", "description": "run tests", "input": {"hint": "[NAME]"}},
    ]
    puppet.update("available_commands_update", availableCommands=commands)
    await plain.eventually(lambda: complete("/"))
    assert [item["label"] for item in await complete("/")] == ["/plan", "/replan", "/test"]
    assert [item["label"] for item in await complete("/PL")] == ["/plan", "/replan"]
    (item,) = await complete("/te", cursor=3)
    assert item == {
        "label": "/test",
        "text": "/test ",
        "detail": "[NAME] run tests",
        "kind": "command",
        "start": 0,
        "end": 3,
    }
    assert await complete("do /te") == []
    assert await complete("/test x") == []


async def test_files_behind_an_at(plain: Editor, ws: Path, complete: Callable[..., Any]) -> None:
    (ws / ".gitignore").write_text("build/\n")
    (ws / "build").mkdir()
    (ws / "build" / "a.py").write_text("")
    (ws / "lib.py").write_text("")
    names = [item["label"] for item in await complete("see @a.p")]
    assert names[0] == "src/a.py"
    assert "build/a.py" not in names
    found = await complete("é😀 @sr and more", cursor=7)
    assert [(item["label"], item["kind"]) for item in found] == [
        ("src/a.py", "file"),
        ("src/", "folder"),
    ]
    assert all((item["start"], item["end"]) == (4, 7) for item in found)
    (item,) = await complete("@my")
    assert (item["text"], item["kind"]) == ('@"my file.txt"', "file")
    (item,) = await complete('@"my f" x', cursor=6)
    assert (item["text"], item["start"], item["end"]) == ('@"my file.txt"', 0, 7)
    assert await complete("me@a.p") == []
    assert await complete("nothing") == []
    plain.open(ws / "lib.py")
    every = [item["label"] for item in await complete("@")]
    assert every[0] == "lib.py", "what is open comes first"
    with pytest.raises(LspError, match="cursor"):
        await complete("@", cursor="x")


async def test_completion_in_a_prompt_s_document_over_plain_lsp(
    idle_editor: Editor, puppet: Puppet, files: Path, settings: Any
) -> None:
    editor, can = idle_editor, capabilities()
    can["textDocument"] = {"completion": {"dynamicRegistration": True}}
    await editor.initialize(files, settings=settings, can=can)
    (registration,) = (await editor.nth("client/registerCapability"))["registrations"]
    assert registration["method"] == "textDocument/completion"
    assert registration["registerOptions"]["documentSelector"] == [{"language": "acp-prompt"}]
    document = {"uri": "untitled:prompt", "languageId": "acp-prompt", "version": 1}
    document["text"] = "é😀 look\nat 😀 @my\n"
    editor.notify("textDocument/didOpen", {"textDocument": document})

    async def at(line: int, character: int, uri: str = "untitled:prompt") -> Any:
        place = {"line": line, "character": character}
        params = {"textDocument": {"uri": uri}, "position": place}
        return await editor.call("textDocument/completion", params)

    assert await at(1, 9) is None, "no session is open"
    await editor.execute("acp.session.new")
    (item,) = (await at(1, 9))["items"]
    assert item == {
        "label": "my file.txt",
        "kind": 17,
        "filterText": "@my",
        "textEdit": {
            "range": {"start": {"line": 1, "character": 6}, "end": {"line": 1, "character": 9}},
            "newText": '@"my file.txt"',
        },
    }
    assert (await at(0, 3))["items"] == []
    uri = editor.open(files / "src" / "a.py", "@my")
    assert await at(0, 3, uri) is None


async def test_files_of_the_prompt_that_opens_a_session(
    idle_editor: Editor, puppet: Puppet, ws: Path, files: Path
) -> None:
    settings = {"agents": {"puppet": puppet.setting}, "defaultAgent": "puppet"}
    await idle_editor.initialize(ws, settings=settings)

    async def labels(text: str, **more: Any) -> list[str]:
        result = await idle_editor.execute("acp.prompt.complete", text=text, **more)
        return [item["label"] for item in result["items"]]

    assert await labels("see @a.p") == ["src/a.py"]
    assert await labels("/") == []
    assert await labels("see @a.p", cwd=str(ws / "src")) == ["a.py"]
    with pytest.raises(LspError, match="must be an absolute path"):
        await labels("@", cwd="src")
    with pytest.raises(LspError, match="folders cannot be used"):
        await labels("@", cwd=f"{ws}\0")
    await idle_editor.execute("acp.session.new")
    # It is a matter of that one now, but for who says otherwise.
    assert await labels("@a.p", cwd=str(ws / "src")) == ["a.py"]
    assert await labels("@a.p") == ["src/a.py"]
