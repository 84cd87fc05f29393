"""The ACP registry: its format, where it comes from, and that nothing happens by itself."""

from __future__ import annotations

import contextlib
import json
import ssl
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from acp_sidecar.agents import download, registries, registry
from acp_sidecar.agents.catalog import AgentEntry, catalog
from acp_sidecar.agents.registry import RegistryUnreadable, parse

LINUX = "linux-x86_64"


def agent(**other: Any) -> dict[str, Any]:
    return {
        "id": "one",
        "name": "One",
        "version": "1.2.3",
        "description": "An agent",
        "distribution": {"npx": {"package": "@scope/one@1.2.3", "args": ["--acp"]}},
        **other,
    }


def content(*agents: Any) -> bytes:
    return json.dumps({"version": "1.0.0", "agents": list(agents), "extensions": []}).encode()


def only(distribution: dict[str, Any], here: str = LINUX, **about: Any) -> AgentEntry:
    """The entry of an agent with this distribution; nothing is installed but ``has``."""
    has = about.pop("has", ())
    (found,), problems = parse(content(agent(distribution=distribution)))
    assert problems == []
    return found.entry(about.pop("permitted", ()), here=here, has=lambda name: name in has)


# --- the format ------------------------------------------------------------------------------


def test_an_npx_package_waits_for_the_user_s_word() -> None:
    entry = only({"npx": {"package": "@scope/one@1.2.3", "args": ["--acp", "a b"]}})
    assert (entry.name, entry.source, entry.command) == ("one", "registry", "npx")
    assert entry.args == ("-y", "@scope/one@1.2.3", "--acp", "a b")
    assert entry.needs_consent == "npx -y @scope/one@1.2.3 --acp 'a b'"
    assert "Node" in (entry.install_hint or "")
    permitted = only({"npx": {"package": "p"}}, permitted=("one",))
    assert (permitted.needs_consent, permitted.args) == (None, ("-y", "p"))


def test_a_package_s_own_command_and_variables_are_in_the_line_that_is_shown() -> None:
    entry = only({"npx": {"package": "p@1", "cmd": "tool", "args": ["x"], "env": {"A": "b c"}}})
    assert entry.args == ("-y", "--package", "p@1", "tool", "x")
    assert entry.env == {"A": "b c"}
    assert entry.needs_consent == "'A=b c' npx -y --package p@1 tool x"
    entry = only({"uvx": {"package": "p==1", "cmd": "tool", "args": ["x"]}})
    assert (entry.command, entry.args) == ("uvx", ("--from", "p==1", "tool", "x"))
    entry = only({"uvx": {"package": "p", "args": ["x"]}})
    assert (entry.args, entry.needs_consent) == (("p", "x"), "uvx p x")


def binary(**other: Any) -> dict[str, Any]:
    return {"archive": "https://example.org/one.tar.gz", "cmd": "./dist/one", **other}


def test_a_binary_is_looked_for_and_never_downloaded() -> None:
    ways = {
        "binary": {
            LINUX: binary(args=["acp"], sha256="ab" * 32),
            "windows-x86_64": binary(cmd="./dist\\one.exe"),
        }
    }
    entry = only(ways)
    assert (entry.command, entry.args, entry.needs_consent) == ("one", ("acp",), None)
    for part in ("https://example.org/one.tar.gz", "ab" * 32, "put one on your PATH"):
        assert part in (entry.install_hint or "")
    assert only(ways, "windows-x86_64").command == "one.exe"
    elsewhere = only(ways, "darwin-aarch64")
    assert elsewhere.install_hint == (
        f"The registry has nothing for darwin-aarch64, only for {LINUX}, windows-x86_64"
    )


def test_of_several_ways_the_one_that_can_be_gone_is_taken() -> None:
    ways = {"binary": {LINUX: binary()}, "npx": {"package": "n"}, "uvx": {"package": "u"}}
    assert only(ways, has=("npx", "uvx")).command == "npx"
    assert only(ways, has=("uvx",)).command == "uvx"
    assert only(ways).command == "npx"
    # What is installed already needs no download.
    assert only(ways, has=("one", "npx")).command == "one"


@pytest.mark.parametrize(
    ("system", "machine", "name"),
    [
        ("Linux", "x86_64", "linux-x86_64"),
        ("Linux", "aarch64", "linux-aarch64"),
        ("Darwin", "arm64", "darwin-aarch64"),
        ("Windows", "AMD64", "windows-x86_64"),
        ("Windows", "ARM64", "windows-aarch64"),
    ],
)
def test_platforms_have_the_registry_s_names(
    system: str, machine: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry.platform, "system", lambda: system)
    monkeypatch.setattr(registry.platform, "machine", lambda: machine)
    assert registry.this_platform() == name


@pytest.mark.parametrize(
    ("broken", "told"),
    [
        (5, "agent 1: it is no object"),
        (agent(id=None), "agent 1: its 'id' is no name"),
        (agent(id="../x"), "agent ../x: its 'id' is no name"),
        (agent(id="two", distribution=None), "agent two: it has no 'distribution'"),
        (agent(id="two", distribution={}), "agent two: none of its distributions is known here"),
        (agent(id="two", distribution={"brew": {}}), "agent two: none of its distributions"),
        (agent(id="two", distribution={"npx": {}}), "agent two: npx: it has no 'package'"),
        (agent(id="two", distribution={"npx": {"package": "--call=x"}}), "'--call=x' is no name"),
        (agent(id="two", distribution={"uvx": {"package": "a", "cmd": "-c"}}), "'-c' is no name"),
        (agent(id="two", distribution={"npx": {"package": "a", "args": "x"}}), "its 'args'"),
        (agent(id="two", distribution={"npx": {"package": "a", "args": ["\0"]}}), "its 'args'"),
        (agent(id="two", distribution={"npx": {"package": "a", "env": {"A=": ""}}}), "its 'env'"),
        (agent(id="two", distribution={"npx": {"package": "a", "env": {"A": 1}}}), "its 'env'"),
        (agent(id="two", distribution={"binary": {LINUX: {"cmd": "x"}}}), "lacks 'archive'"),
        (agent(id="two", distribution={"binary": {LINUX: binary(cmd="./")}}), "names no program"),
        (agent(), "agent one: it is there twice"),
    ],
)
def test_an_agent_that_cannot_be_read_costs_itself_only(broken: Any, told: str) -> None:
    last = agent(id="last", future={"field": 1})
    found, problems = parse(content(agent(), broken, last))
    assert [one.id for one in found] == ["one", "last"]
    assert len(problems) == 1
    assert told in problems[0]


def test_one_broken_way_leaves_the_others() -> None:
    ways = {"npx": {"package": ""}, "uvx": {"package": "u"}, "binary": {LINUX: None, "x": 5}}
    assert only(ways).command == "uvx"


@pytest.mark.parametrize("data", [b"", b"<html>", b"[]", b"{}", b'{"agents": {}}', b"\xff" * 9])
def test_what_is_no_registry_is_refused(data: bytes) -> None:
    with pytest.raises(RegistryUnreadable, match="it "):
        parse(data)
    with pytest.raises(RegistryUnreadable, match="MiB"):
        parse(b" " * (registry.LARGEST + 1))
    with pytest.raises(RegistryUnreadable):
        parse(b"[" * 100_000)


def test_built_in_agents_and_settings_win_over_the_registry() -> None:
    found, _ = parse(content(agent(id="gemini"), agent(id="own"), agent(id="new")))

    class Setting:
        command, args, env, cwd = "/opt/own", (), {}, None

    known = catalog({"own": Setting()}, [one.entry() for one in found])
    sources = {name: known[name].source for name in ("gemini", "own", "new", "demo")}
    assert sources == {
        "gemini": "built-in",
        "own": "settings",
        "new": "registry",
        "demo": "built-in",
    }


# --- where it comes from -----------------------------------------------------------------------


def test_a_file_is_read_where_it_lies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "registry.json").write_bytes(content(agent()))
    (entry,), problems = registries.entries("~/registry.json", ["one"], tmp_path / "cache")
    assert (entry.name, entry.needs_consent, problems) == ("one", None, [])
    with pytest.raises(RegistryUnreadable, match="there is no file"):
        registries.entries(str(tmp_path / "none"), [], tmp_path)
    with pytest.raises(RegistryUnreadable, match="cannot be read"):
        registries.entries(str(tmp_path), [], tmp_path)


class Server:
    """An https server of ours; ``answer`` is what it does with a request."""

    def __init__(self, certificate: Path) -> None:
        self.asked: list[str] = []
        self.answer: Any = None
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.asked.append(self.path)
                with contextlib.suppress(OSError):
                    outer.answer(self)

            def log_message(self, *args: Any) -> None:
                """Quiet."""

        self._server = ThreadingHTTPServer(("localhost", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.address = f"https://localhost:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def gives(self, data: bytes) -> None:
        def answer(request: BaseHTTPRequestHandler) -> None:
            request.send_response(200)
            request.end_headers()
            request.wfile.write(data)

        self.answer = answer

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    certificate = tmp_path / "server.pem"
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost"
    try:
        subprocess.run(
            [
                *command.split(),
                "-addext",
                "subjectAltName=DNS:localhost",
                "-keyout",
                str(tmp_path / "key.pem"),
                "-out",
                str(certificate),
            ],
            check=True,
            capture_output=True,
        )
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no openssl to make a certificate with: {error}")
    certificate.write_bytes(certificate.read_bytes() + (tmp_path / "key.pem").read_bytes())
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    for name in ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    running = Server(certificate)
    yield running
    running.stop()


def test_an_address_is_asked_only_when_told_to_and_then_kept(
    server: Server, tmp_path: Path
) -> None:
    source, cache = f"{server.address}/registry.json", tmp_path / "cache"
    server.gives(content(agent()))
    with pytest.raises(RegistryUnreadable, match=f"acp-sidecar agents --registry {source}"):
        registries.entries(source, [], cache)
    assert server.asked == []
    (entry,), _ = registries.entries(source, [], cache, fetching=True)
    assert entry.name == "one"
    assert len(server.asked) == 1
    (entry,), _ = registries.entries(source, [], cache)
    assert (entry.name, len(server.asked)) == ("one", 1)
    # What comes later and is no registry does not replace it.
    server.gives(b"<html>Log in to the hotel's network</html>")
    (entry,), problems = registries.entries(source, [], cache, fetching=True)
    assert entry.name == "one"
    assert "it is no JSON" in problems[0]
    assert "fetched before" in problems[0]
    (entry,), _ = registries.entries(source, [], cache)
    assert entry.name == "one"


def test_only_https_is_asked_also_where_a_server_sends_us_on(
    server: Server, tmp_path: Path
) -> None:
    for address in ("http://localhost/x", "file:///etc/passwd", "ftp://localhost/x", "https:///x"):
        with pytest.raises(RegistryUnreadable, match="no https address"):
            download.fetch(address)

    def sent_on(target: str) -> Any:
        def answer(request: BaseHTTPRequestHandler) -> None:
            request.send_response(302)
            request.send_header("Location", target)
            request.end_headers()

        return answer

    for target in ("http://localhost/x", "file:///etc/passwd"):
        server.answer = sent_on(target)
        with pytest.raises(RegistryUnreadable):
            download.fetch(f"{server.address}/a")
    server.asked.clear()
    server.answer = sent_on(f"{server.address}/again")
    with pytest.raises(RegistryUnreadable):
        download.fetch(f"{server.address}/a")
    assert len(server.asked) <= 11


def test_a_server_that_gives_too_much_or_too_slowly_is_left(server: Server) -> None:
    server.gives(b" " * (registry.LARGEST + 1))
    with pytest.raises(RegistryUnreadable, match="more than 4 MiB"):
        download.fetch(server.address)

    left, dripped = threading.Event(), threading.Event()

    def drip(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.end_headers()
        for _ in range(1200):
            request.wfile.write(b" ")
            request.wfile.flush()
            if left.wait(0.05):
                return
        dripped.set()

    server.answer = drip
    with pytest.raises(RegistryUnreadable, match=r"within 0\.5 s"):
        download.fetch(server.address, seconds=0.5)
    assert not dripped.is_set(), "what was still to come was not waited for"
    left.set()

    def silent(request: BaseHTTPRequestHandler) -> None:
        answered.wait(60)

    answered = threading.Event()
    server.answer = silent
    with pytest.raises(RegistryUnreadable, match="could not be fetched"):
        download.fetch(server.address, seconds=0.5)
    answered.set()


def test_a_server_that_is_not_who_it_says_is_refused(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE")
    server.gives(content(agent()))
    with pytest.raises(RegistryUnreadable, match=r"(?i)certificate"):
        download.fetch(server.address)
    assert server.asked == []


@pytest.mark.parametrize("code", [404, 500])
def test_an_error_of_the_server_is_told(code: int, server: Server) -> None:
    server.answer = lambda request: request.send_error(code)
    with pytest.raises(RegistryUnreadable, match=str(code)):
        download.fetch(server.address)
