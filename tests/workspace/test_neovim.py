"""Our reading of Neovim, against a real one: what it sends, and what it makes of our edits."""

from __future__ import annotations

import asyncio
import functools
import shutil
import sys
from collections.abc import AsyncIterator, Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import pytest

from acp_sidecar.workspace.documents import Documents, Habits, TextChange
from acp_sidecar.workspace.edits import DocumentEdit
from acp_sidecar.workspace.files import Files
from acp_sidecar.workspace.positions import Position, Range
from acp_sidecar.workspace.uris import path_to_uri

pynvim = pytest.importorskip("pynvim")

T = TypeVar("T")

# A language client of Neovim's own, whose server is a list.
ATTACH = """
_G.said = {}
local function rpc(dispatchers)
  _G.dispatchers = dispatchers
  return {
    request = function(method, params, callback)
      if method == 'initialize' then
        callback(nil, { capabilities = {
          positionEncoding = 'utf-16',
          textDocumentSync = { openClose = true, change = 2, save = { includeText = true } },
        } })
      else
        callback(nil, vim.NIL)
      end
      return true, 1
    end,
    notify = function(method, params)
      table.insert(_G.said, { method, params })
      return true
    end,
    is_closing = function() return false end,
    terminate = function() end,
  }
end
vim.lsp.start({
  name = 'list', cmd = rpc, root_dir = '/', flags = { debounce_text_changes = 10 },
})
"""

TAKE = """
local said = _G.said
_G.said = {}
return said
"""

APPLY = """
return _G.dispatchers.server_request('workspace/applyEdit', ...)
"""


class Neovim:
    """A headless Neovim that feeds a mirror and makes edits."""

    def __init__(self, nvim: Any, thread: ThreadPoolExecutor) -> None:
        self._nvim = nvim
        self._thread = thread
        self.documents = Documents(Habits.of("Neovim"))
        self.files = Files(self.documents, self.apply, settle=1.0, answer=3.0)
        self.edits: list[DocumentEdit] = []

    async def lua(self, code: str, *arguments: Any) -> Any:
        work = functools.partial(self._nvim.exec_lua, code, *arguments)
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    async def command(self, command: str) -> None:
        await self.lua("vim.cmd(...)", command)

    async def open(self, path: Path) -> None:
        await self.lua("vim.cmd.edit(vim.fn.fnameescape(...))", str(path))
        await self.lua(ATTACH)
        async with asyncio.timeout(10):
            while self.documents.at(path) is None:
                await self.pump()

    async def pump(self) -> None:
        for method, params in await self.lua(TAKE):
            document = params.get("textDocument", {})
            if method == "textDocument/didOpen":
                self.documents.open(
                    document["uri"], document["languageId"], document["version"], document["text"]
                )
            elif method == "textDocument/didChange":
                changes = [
                    TextChange(_range(change.get("range")), change["text"])
                    for change in params["contentChanges"]
                ]
                self.documents.change(document["uri"], document["version"], changes)
            elif method == "textDocument/didSave":
                self.documents.save(document["uri"], params.get("text"))
            elif method == "textDocument/didClose":
                self.documents.close(document["uri"])

    async def during(self, work: Coroutine[Any, Any, T] | asyncio.Task[T]) -> T:
        """Listen to the editor while something else is done."""
        task = asyncio.ensure_future(work)
        while not task.done():
            await self.pump()
            await asyncio.sleep(0.01)
        return await task

    async def apply(self, edit: DocumentEdit) -> Any:
        self.edits.append(edit)
        document = {"uri": edit.uri, "version": edit.version}
        edits = [one.to_json() for one in edit.edits]
        changes = [{"textDocument": document, "edits": edits}]
        return await self.lua(APPLY, {"edit": {"documentChanges": changes}})

    async def text(self) -> str:
        return str(await self.lua("return vim.lsp._buf_get_full_text(0)"))

    async def in_step(self) -> str:
        """The text of the buffer, once the mirror shows it."""
        uri = await self.lua("return vim.uri_from_bufnr(0)")
        async with asyncio.timeout(10):
            while True:
                await self.pump()
                document = self.documents.get(uri)
                text = await self.text()
                if document is not None and document.text == text:
                    return text
                await asyncio.sleep(0.01)


def _range(value: Any) -> Range | None:
    if not value:
        return None
    start, end = value["start"], value["end"]
    return Range(
        Position(start["line"], start["character"]), Position(end["line"], end["character"])
    )


def _executable() -> str | None:
    beside = Path(sys.executable).with_name("nvim")
    return str(beside) if beside.exists() else shutil.which("nvim")


@pytest.fixture
async def neovim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Neovim]:
    executable = _executable()
    if executable is None:
        pytest.skip("no Neovim on this machine")
    for name in ("XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / ".nvim"))
    argv = [executable, "--embed", "--headless", "--clean", "-n"]
    # Its own thread: pynvim runs an event loop of its own.
    with ThreadPoolExecutor(1) as thread:
        loop = asyncio.get_running_loop()
        attach = functools.partial(pynvim.attach, "child", argv=argv)
        nvim = await loop.run_in_executor(thread, attach)
        try:
            yield Neovim(nvim, thread)
        finally:
            await loop.run_in_executor(thread, nvim.close)


def say(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    ("data", "typed"),
    [
        (b"one\ntwo\n", ["normal! Goend"]),
        (b"one\r\ntwo\r\n", ["normal! Goend", "normal! ggOstart", "normal! ggJ"]),
        (b"one\ntwo", ["normal! ggx", "normal! Goend"]),
        (b"", ["normal! ihello", "normal! oworld"]),
        (b"a\rb\nc\nd\n", ["normal! Gix", "normal! ggA!", "normal! ggx", "normal! jdd"]),
        (b"a\r\nb\nc\r\n", ["normal! ggAx", "normal! jAx", "normal! Gdd", "normal! ggOnew"]),
        (b"a\n", ['execute "normal! ix\\<C-v>\\<CR>y"', "normal! Goend", "normal! Gx"]),
        ("é😀x\nb\n".encode(), ["normal! ggA!", "normal! gg0x", "normal! 0lix"]),
        (b"a\x0cb\n\xe2\x80\xa8c\n", ["normal! ggA!", "normal! jA?", "normal! Gdd"]),
    ],
)
async def test_D19_the_mirror_follows_whatever_is_in_the_lines(
    neovim: Neovim, tmp_path: Path, data: bytes, typed: list[str]
) -> None:
    path = say(tmp_path / "a.txt", data)
    await neovim.open(path)
    assert await neovim.in_step() == await neovim.text()
    for command in typed:
        await neovim.command(command)
        await neovim.in_step()
    assert await neovim.files.read(path) == await neovim.text(), "unsaved: what the buffer says"
    await neovim.command("undo")
    await neovim.command("silent write!")
    await neovim.in_step()
    document = neovim.documents.at(path)
    assert document is not None
    assert not document.dirty
    assert await neovim.files.read(path) == path.read_bytes().decode()


@pytest.mark.parametrize(
    ("data", "typed", "change", "expected"),
    [
        (b"one\ntwo\nthree\n", "ggOnew", ("three", "THREE\nfour"), b"new\none\ntwo\nTHREE\nfour\n"),
        (b"one\r\ntwo\r\n", "ggOnew", ("two\r\n", "2\n3\n"), b"new\r\none\r\n2\r\n3\r\n"),
        (b"a\nb", "ggOnew", ("b", "B\n"), b"new\na\nB\n"),
        (b"a\nb\n", "ggOnew", ("b\n", "B"), b"new\na\nB\n"),
        (b"a\nb\n", "ggOnew", ("b\n", "b\nc\n"), b"new\na\nb\nc\n"),
        (b"a\nb\n", "ggOnew", ("a\nb\n", ""), b"new\n"),
        (b"x\ry\nb\n", "ggOnew", ("b", "B"), b"new\nx\ry\nB\n"),
        (b"a\r\nb\nc\n", "ggOnew", ("c", "C"), b"new\na\r\nb\nC\n"),
        ("é😀x\n".encode(), "ggOnew", ("x", "y😀"), "new\né😀y😀\n".encode()),
    ],
)
async def test_F14_G11_an_unsaved_buffer_is_edited_and_saves_right(
    neovim: Neovim,
    tmp_path: Path,
    data: bytes,
    typed: str,
    change: tuple[str, str],
    expected: bytes,
) -> None:
    """No stray line at the end, no ^M, nothing twice: looked at once the user has saved."""
    path = say(tmp_path / "a.txt", data)
    await neovim.open(path)
    await neovim.command(f"normal! {typed}")
    await neovim.in_step()
    seen = await neovim.files.read(path)
    outcome = await neovim.during(neovim.files.write(path, seen.replace(*change), seen=seen))
    assert outcome.where == "buffer"
    assert path.read_bytes() == data, "not saved by us"
    await neovim.in_step()
    assert len(neovim.edits) == 1
    await neovim.command("silent write!")
    assert path.read_bytes() == expected


@pytest.mark.parametrize("reloads", [True, False])
async def test_a_clean_buffer_follows_the_disk(
    neovim: Neovim, tmp_path: Path, reloads: bool
) -> None:
    path = say(tmp_path / "a.txt", b"one\r\ntwo\r\n")
    await neovim.open(path)
    writing = asyncio.create_task(neovim.files.write(path, "one\nTWO\nthree\n"))
    while path.read_bytes() == b"one\r\ntwo\r\n":
        await neovim.pump()
    if reloads:
        await neovim.command("checktime")
    assert (await neovim.during(writing)).where == "disk"
    assert path.read_bytes() == b"one\r\nTWO\r\nthree\r\n"
    assert await neovim.in_step() == path.read_bytes().decode()
    assert len(neovim.edits) == (0 if reloads else 1)
    document = neovim.documents.at(path)
    assert document is not None
    assert not document.dirty


async def test_D12_typing_that_neovim_has_not_told_of_yet(neovim: Neovim, tmp_path: Path) -> None:
    """Neovim skips an edit of a version that has passed, and says that it was applied."""
    path = say(tmp_path / "a.txt", b"one\ntwo\nthree\n")
    await neovim.open(path)
    await neovim.command("normal! ggOtyped")
    await neovim.in_step()
    seen = await neovim.files.read(path)
    await neovim.command("normal! ggOunseen")
    outcome = await neovim.during(
        neovim.files.write(path, seen.replace("three", "THREE"), seen=seen)
    )
    assert await neovim.in_step() == "unseen\ntyped\none\ntwo\nTHREE\n"
    assert outcome.merged
    assert len(neovim.edits) == 2


async def test_an_empty_new_buffer_is_an_empty_file(neovim: Neovim, tmp_path: Path) -> None:
    path = tmp_path / "new.txt"
    await neovim.open(path)
    document = neovim.documents.at(path)
    assert document is not None
    assert not document.dirty
    await neovim.during(neovim.files.write(path, "a\nb\n"))
    assert path.read_bytes() == b"a\nb\n"
    assert await neovim.in_step() == "a\nb\n"
    await neovim.command("silent write!")
    assert path.read_bytes() == b"a\nb\n"


@pytest.mark.parametrize("name", ["a b#c%20d+é😀.txt", "a;b&c=d.txt", "q?x[1].txt", "x'y\"z.txt"])
async def test_P17_names_come_back_from_neovim(neovim: Neovim, tmp_path: Path, name: str) -> None:
    path = say(tmp_path / name, b"x\n")
    await neovim.open(path)
    document = neovim.documents.at(path)
    assert document is not None
    assert document.path == str(path)
    assert neovim.documents.get(path_to_uri(path)) is document, "ours means the same"
    assert await neovim.lua("return vim.uri_to_fname(...)", path_to_uri(path)) == str(path)
