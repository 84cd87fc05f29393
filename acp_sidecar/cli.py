"""The command line. Each command imports what it needs, so that the quick ones are quick."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from acp_sidecar import __version__

Run = Callable[[argparse.Namespace], int]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code for the process. ``arguments`` default to ``sys.argv``."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    if given[:1] == ["demo-agent"]:
        # An agent of its own, with its own options: it starts without the rest.
        from acp_sidecar.demo import agent

        return agent.main(given[1:])
    parsed = _parser().parse_args(given)
    try:
        code = _RUN[parsed.run](parsed)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read what we print has read enough, as `head` does.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="acp-sidecar",
        description="Hosts coding agents (Agent Client Protocol) for editors that speak LSP.",
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND", dest="run")

    serve = commands.add_parser("serve", help="the language server, on stdin and stdout")
    serve.add_argument("--stdio", action="store_true", help="accepted; there is nothing else")
    serve.add_argument(
        "--clientProcessId", type=int, help=argparse.SUPPRESS
    )  # some clients append it
    serve.add_argument("--trace", type=Path, metavar="DIR", help="record both wires there")
    serve.add_argument("--log-file", type=Path, metavar="FILE", help="log there, not to stderr")
    serve.add_argument(
        "--log-level", choices=["debug", "info", "warning", "error"], default="warning"
    )

    demo = commands.add_parser("demo", help="watch the embedded agent work in a real Neovim")
    demo.add_argument("--headless", action="store_true", help="print what happens, a line each")
    demo.add_argument(
        "--protocol", type=int, choices=(1, 2), default=1, help="protocol version (default: 1)"
    )

    commands.add_parser("demo-agent", help="the embedded agent, on stdin and stdout")

    commands.add_parser("mcp", help="the editor tools, for an agent to start (mcpEditorTools)")

    agents = commands.add_parser("agents", help="the agents that are known, and where they are")
    agents.add_argument("--json", action="store_true", help="for programs")
    agents.add_argument(
        "--registry",
        metavar="FILE|URL",
        help="an ACP registry.json; an https address is fetched, and kept for later",
    )

    doctor = commands.add_parser("doctor", help="start an agent, shake hands, say what is wrong")
    doctor.add_argument("agent", nargs="?", help="its name; the default agent without")
    doctor.add_argument(
        "--registry", metavar="FILE|URL", help="look in this registry too; nothing is fetched"
    )
    doctor.add_argument(
        "--download",
        action="store_true",
        help="let an agent of the registry be fetched and run by its npx or uvx command",
    )

    doctor.add_argument(
        "--settings",
        metavar="FILE",
        help="an editor's settings as JSON, beyond those of config.toml; - for standard input",
    )

    replay = commands.add_parser("replay", help="a recorded trace, readable")
    replay.add_argument("trace", type=Path, metavar="TRACE")
    replay.add_argument("--state", action="store_true", help="the final session state as JSON")
    return parser


def _serve(arguments: argparse.Namespace) -> int:  # noqa: RET503 - leave() does not return
    # Thousands of classes come to be, and nothing of it is garbage: looking takes a tenth.
    gc.disable()
    from acp_sidecar import app, settings
    from acp_sidecar.editor.ending import leave
    from acp_sidecar.editor.logs import Logs
    from acp_sidecar.trace import Recorder

    gc.freeze()
    gc.enable()
    try:
        logs = Logs(arguments.log_level.upper(), arguments.log_file)
    except OSError as error:
        print(f"acp-sidecar: cannot log to {arguments.log_file}: {error}", file=sys.stderr)
        return 1
    loaded, problems = settings.load()
    try:
        recorder = Recorder(arguments.trace) if arguments.trace else None
        wire = recorder.editor() if recorder else None
    except OSError as error:
        print(f"acp-sidecar: cannot record in {arguments.trace}: {error}", file=sys.stderr)
        return 1
    code = app.serve(loaded, problems, recorder, wire)
    logs.stop()
    # Not a return: a thread that sits in a dead disk's read must not keep us alive.
    leave(code)


def _demo(arguments: argparse.Namespace) -> int:
    from acp_sidecar.demo import run

    headless = arguments.headless or not sys.stdout.isatty()
    return run.main(headless=headless, protocol=arguments.protocol)


def _demo_agent(arguments: argparse.Namespace) -> int:
    raise AssertionError("main() runs it before the others are parsed")


def _mcp(arguments: argparse.Namespace) -> int:
    from acp_sidecar import mcp

    return mcp.main()


def _agents(arguments: argparse.Namespace) -> int:
    from acp_sidecar import doctor

    return doctor.list_agents(as_json=arguments.json, registry=arguments.registry)


def _doctor(arguments: argparse.Namespace) -> int:
    from acp_sidecar import doctor

    return doctor.examine(
        arguments.agent,
        registry=arguments.registry,
        download=arguments.download,
        editor_settings=arguments.settings,
    )


def _replay(arguments: argparse.Namespace) -> int:
    from acp_sidecar import trace

    try:
        return trace.show(arguments.trace, state=arguments.state)
    except BrokenPipeError:
        # Whoever reads it has seen enough. Python flushes once more at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (OSError, ValueError) as error:
        print(f"acp-sidecar: cannot replay {arguments.trace}: {error}", file=sys.stderr)
        return 1


_RUN: Final[Mapping[str, Run]] = {
    "serve": _serve,
    "demo": _demo,
    "demo-agent": _demo_agent,
    "mcp": _mcp,
    "agents": _agents,
    "doctor": _doctor,
    "replay": _replay,
}
