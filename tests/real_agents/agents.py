"""How each real agent is started: a home of its own, our model, nothing else to talk to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from tests.real_agents.install import environment, program

AGENTS: Final = ("opencode", "gemini")

_PROXIES: Final = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


def setting(agent: str, home: Path, port: int, **env: str) -> dict[str, Any]:
    """The ``agents`` entry of the sidecar's settings.

    :param home: the agent's home folder, where its own settings are put
    :param port: where the model is served on loopback
    :param env: put into the agent's environment besides
    """
    folders = {
        "HOME": home,
        "XDG_CONFIG_HOME": home / ".config",
        "XDG_DATA_HOME": home / ".local" / "share",
        "XDG_STATE_HOME": home / ".local" / "state",
        "XDG_CACHE_HOME": home / ".cache",
    }
    blank = {name: "" for proxy in _PROXIES for name in (proxy, proxy.upper())}
    arguments, own = _OWN[agent](home, f"http://127.0.0.1:{port}")
    return {
        "command": str(program(agent)),
        "args": arguments,
        "env": {
            "PATH": environment()["PATH"],
            **{name: str(folder) for name, folder in folders.items()},
            **blank,
            **own,
            **env,
        },
    }


def _opencode(home: Path, model: str) -> tuple[list[str], dict[str, str]]:
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Lab",
        "options": {"baseURL": f"{model}/v1", "apiKey": "x"},
        "models": {
            "scripted": {
                "name": "Scripted",
                "limit": {"context": 200_000, "output": 8_000},
                "tool_call": True,
                "reasoning": True,
            }
        },
    }
    _write(
        home / ".config" / "opencode" / "opencode.json",
        {
            "autoupdate": False,
            "share": "disabled",
            "model": "lab/scripted",
            "small_model": "lab/scripted",
            "enabled_providers": ["lab"],
            "provider": {"lab": provider},
            "permission": dict.fromkeys(("edit", "bash", "webfetch", "external_directory"), "ask"),
        },
    )
    off = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS")
    return ["acp"], {f"OPENCODE_DISABLE_{name}": "1" for name in off}


def _gemini(home: Path, model: str) -> tuple[list[str], dict[str, str]]:
    _write(
        home / ".gemini" / "settings.json",
        {
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "model": {"name": "gemini-2.5-pro"},
            "general": {"disableAutoUpdate": True, "enableAutoUpdate": False},
            "privacy": {"usageStatisticsEnabled": False},
            "telemetry": {"enabled": False},
        },
    )
    own = {
        "GEMINI_API_KEY": "x",
        "GOOGLE_GEMINI_BASE_URL": model,
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
    }
    return ["--acp"], own


_OWN: Final = {"opencode": _opencode, "gemini": _gemini}


def _write(path: Path, settings: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(settings, indent=2))
