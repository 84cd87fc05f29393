"""What looks like a secret by its name is left out of logs and recordings, and nothing else is."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from acp_sidecar.agents.secrets import (
    LEFT_OUT,
    is_secret_name,
    may_hold_secrets,
    shown_arguments,
    without_secrets,
)


@pytest.mark.parametrize(
    "name",
    [
        "OPENAI_API_KEY",
        "GH_TOKEN",
        "token",
        "accessToken",
        "refresh_token",
        "Authorization",
        "X-Api-Key",
        "apiKey",
        "client_secret",
        "PASSWORD",
        "dbPassword",
        "Cookie",
        "GITHUB_PAT",
        "credentials",
        "privateKey",
    ],
)
def test_secret_names(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "path",
        "PATH",
        "HOME",
        "key",
        "keyboard",
        "tokens",
        "inputTokens",
        "maxTokens",
        "workDoneToken",
        "progressToken",
        "tokenizer",
        "monkey",
        "compat",
        "uri",
        "title",
        "secretary",
    ],
)
def test_other_names(name: str) -> None:
    assert not is_secret_name(name)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ({"apiKey": "x", "model": "m"}, {"apiKey": LEFT_OUT, "model": "m"}),
        ({"a": [{"token": "x"}]}, {"a": [{"token": LEFT_OUT}]}),
        (
            {"env": [{"name": "GH_TOKEN", "value": "x"}, {"name": "A", "value": "y"}]},
            {"env": [{"name": "GH_TOKEN", "value": LEFT_OUT}, {"name": "A", "value": "y"}]},
        ),
        ({"env": {"GH_TOKEN": "x", "A": "y"}}, {"env": {"GH_TOKEN": LEFT_OUT, "A": "y"}}),
        ({"token": "acp-sidecar/3"}, {"token": "acp-sidecar/3"}),
        ({"usedTokens": 5, "token": None}, {"usedTokens": 5, "token": None}),
        ({"password": ""}, {"password": ""}),
        ("token", "token"),
    ],
)
def test_what_stands_under_such_a_name_is_left_out(value: Any, shown: Any) -> None:
    assert without_secrets(value) == shown
    assert value == shown or may_hold_secrets(orjson.dumps(value))


def test_arguments_of_a_program() -> None:
    args = ["--api-key=x", "--token", "y", "--model", "m", "-p", "token"]
    shown = [f"--api-key={LEFT_OUT}", "--token", LEFT_OUT, "--model", "m", "-p", "token"]
    assert shown_arguments(args) == shown
