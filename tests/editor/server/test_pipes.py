"""What goes through the pipes: to a client that does not read, much at once, and nothing stray."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.editor.client import SERVERS, Client, frame, line_in, serving, serving_by_shell
from tests.editor.server.documents import change_document, open_document


async def test_G05_a_client_that_does_not_read_stops_nothing(notes: Path) -> None:
    async with serving("flood.py", notes) as client:
        await client.initialize()
        flood = client.command("flood", {"megabytes": 10, "key": "S"})
        # The whole flood has been sent before we read a single byte of it.
        await line_in(notes, "flooded")
        echo = client.command("length", {"text": "still alive"})
        response = await client.response(flood)
        assert response["result"]["congested"] is True
        assert response["result"]["waiting"] < 20_000
        numbers = [m["params"]["number"] for m in client.seen if "method" in m]
        assert numbers == sorted(numbers)
        assert numbers[-1] == 999, "the latest of a key always arrives"
        assert len(numbers) < 100
        assert (await client.response(echo))["result"] == len("still alive")
        assert await client.stop() == 0


async def test_G05_requests_and_responses_are_never_dropped(notes: Path) -> None:
    async with serving("flood.py", notes) as client:
        await client.initialize()
        requests = [client.command("big", {"bytes": 50_000}) for _ in range(100)]
        client.command("flood", {"megabytes": 100, "key": None})
        await line_in(notes, "flooded")
        for request in requests:
            assert len((await client.response(request))["result"]) == 50_000
        # Notifications nobody may drop are kept, up to a bound.
        waiting = int(notes.read_text().splitlines()[1].split()[1])
        assert waiting <= 1 << 26
        # The flood's own answer comes after what was kept.
        while "result" not in await client.read():
            pass


async def test_G05_a_sender_can_wait_until_the_client_reads(notes: Path) -> None:
    async with serving("flood.py", notes) as client:
        await client.initialize()
        flood = client.command("flood_when_writable", {"megabytes": 5})
        assert (await client.response(flood))["result"] == 0
        numbers = [m["params"]["number"] for m in client.seen if "method" in m]
        assert numbers == list(range(500))


async def test_messages_of_many_megabytes_go_both_ways(notes: Path) -> None:
    async with serving("flood.py", notes) as client:
        await client.initialize()
        assert await client.execute("length", {"text": "é" * 20_000_000}) == 20_000_000
        assert len(await client.execute("big", {"bytes": 20_000_000})) == 20_000_000


async def test_G06_no_content_in_the_logs(notes: Path, tmp_path: Path) -> None:
    script = tmp_path / "logging_server.py"
    script.write_text(
        f"import logging, runpy, sys\n"
        f"logging.basicConfig(level=logging.INFO)\n"
        f"sys.argv = ['basic.py', {str(notes)!r}]\n"
        f"runpy.run_path({str(SERVERS / 'basic.py')!r}, run_name='__main__')\n"
    )
    secret = "s3cr3t-token"
    async with serving(str(script)) as client:
        await client.initialize(initializationOptions={"token": secret})
        open_document(client, secret * 1000)
        change_document(client, 2, {"text": secret})
        change_document(client, 3, {"text": secret, "range": secret})
        assert (await client.execute("test.argument", {"prompt": secret}))["prompt"] == secret
        client.raw(frame({"jsonrpc": secret, "params": secret}))
        client.raw(b'Content-Length: 14\r\n\r\n{"s3cr3t-token')
        asking = client.command("test.ask", {"method": "acp/save", "params": {"text": secret}})
        request = await client.incoming("acp/save")
        client.answer(request, {"text": secret})
        client.answer(request, {"late": secret})
        await client.response(asking)
        unfit = client.request("textDocument/hover", {"textDocument": secret})
        assert secret not in json.dumps((await client.response(unfit))["error"])
        assert await client.stop() == 0
    assert b"ending" in client.stderr, "it does log"
    assert secret.encode() not in client.stderr


async def test_X12_stray_output_lands_on_standard_error(client: Client) -> None:
    assert await client.execute("test.stray") == "still here"
    assert await client.call("acp/echo", {"a": 1}) == {"a": 1}
    assert await client.stop() == 0
    for what in (b"stray print", b"stray child", b"stray warning"):
        assert what in client.stderr


@pytest.mark.parametrize("redirect", ["2>&1", "2>&-"])
async def test_X12_without_a_standard_error_strays_are_dropped(notes: Path, redirect: str) -> None:
    async with serving_by_shell(redirect, notes) as client:
        await client.initialize()
        open_document(client, "x", uri="bad:")
        assert await client.execute("test.stray") == "still here"
        assert await client.call("acp/echo", {"a": 1}) == {"a": 1}
        assert await client.stop() == 0
