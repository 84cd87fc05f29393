from __future__ import annotations

from pathlib import Path

import pytest

from acp_sidecar.settings import AgentSetting, Settings, load, merge


def test_an_empty_configuration_is_the_contract_s_default() -> None:
    settings, problems = merge(Settings(), {})
    assert problems == ()
    assert settings.default_agent == "demo"
    assert settings.protocol_versions == (1,)
    assert settings.follow_per_second == 4
    assert settings.initialize_timeout == 60
    assert settings.line_bytes == 268435456


def test_later_sources_win_and_leave_the_rest() -> None:
    first, _ = merge(Settings(), {"follow": {"maxPerSecond": 8}, "defaultAgent": "a"})
    second, problems = merge(first, {"follow": {"enabled": False}, "defaultAgent": None})
    assert problems == ()
    assert (second.follow_per_second, second.follow_enabled) == (8, False)
    assert second.default_agent == "a"


def test_lua_s_empty_tables_are_empty_objects() -> None:
    agent = {"command": "x", "env": []}
    for values in ([], {"follow": [], "agents": []}, {"agents": {"a": agent}}):
        merged, problems = merge(Settings(), values)
        assert problems == ()
        assert merged.follow_enabled
    assert dict(merged.agents["a"].env) == {}


def test_P06_a_workspace_cannot_choose_a_command() -> None:
    user, _ = merge(Settings(), {"agents": {"mine": {"command": "mine"}}})
    values = {
        "agents": {"mine": {"command": "./evil.sh"}, "other": {"command": "./evil.sh"}},
        "permissions": {"default": "allow"},
        "follow": {"enabled": False},
    }
    settings, problems = merge(user, values, user=False)
    assert settings.agents == {"mine": AgentSetting("mine")}
    assert settings.permission_default == "ask"
    assert settings.follow_enabled is False
    assert {problem.setting for problem in problems} == {"agents", "permissions"}


def test_C10_a_workspace_may_forbid_more_and_allow_nothing() -> None:
    strict, _ = merge(Settings(), {"terminals": {"enabled": False, "outsideRoots": "ask"}})
    loose = {"terminals": {"enabled": True, "outsideRoots": "allow"}}
    settings, problems = merge(strict, loose, user=False)
    assert settings == strict
    assert [one.setting for one in problems] == ["terminals.enabled", "terminals.outsideRoots"]
    loosened, problems = merge(strict, loose)
    assert (loosened.terminals_enabled, loosened.terminals_outside_roots) == (True, "allow")
    forbidding = {"terminals": {"enabled": False, "outsideRoots": "deny"}}
    settings, more = merge(loosened, forbidding, user=False)
    assert (settings.terminals_enabled, settings.terminals_outside_roots) == (False, "deny")
    assert (problems, more) == ((), ())


@pytest.mark.parametrize(
    ("values", "setting"),
    [
        ({"follow": {"maxPerSecond": 0}}, "follow.maxPerSecond"),
        ({"follow": {"maxPerSecond": True}}, "follow.maxPerSecond"),
        ({"follow": {"maxPerSecond": float("nan")}}, "follow.maxPerSecond"),
        ({"follow": 4}, "follow"),
        ({"folow": {}}, "folow"),
        ({"timeouts": {"cancel": "10"}}, "timeouts.cancel"),
        ({"protocolVersions": [1, 3]}, "protocolVersions"),
        ({"review": {"mode": "never"}}, "review.mode"),
        ({"permissions": {"default": "allow"}}, "permissions.default"),
        ({"permissions": {"rules": [{"kind": "read"}]}}, "permissions.rules"),
        ({"agents": {"x": {"args": []}}}, "agents.x"),
        ({"agents": {"x": {"command": "x", "env": {"A=B": "1"}}}}, "agents.x"),
        ({"agents": {"x": {"command": "x", "args": "acp"}}}, "agents.x"),
        ({"limits": {"lineBytes": 1.5}}, "limits.lineBytes"),
        ({"terminals": {"enabled": "yes"}}, "terminals.enabled"),
        ({"terminals": {"outsideRoots": "always"}}, "terminals.outsideRoots"),
        ({"terminals": {"maxOutputBytes": 0}}, "terminals.maxOutputBytes"),
    ],
)
def test_a_value_that_does_not_fit_is_named_and_left_out(
    values: dict[str, object], setting: str
) -> None:
    settings, problems = merge(Settings(), values)
    assert [problem.setting for problem in problems] == [setting]
    assert settings == Settings()


def test_the_user_s_file(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('defaultAgent = "o"\n[agents.o]\ncommand = "opencode"\nargs = ["acp"]\n')
    settings, problems = load(path)
    assert problems == ()
    assert settings.agents["o"] == AgentSetting("opencode", ("acp",))


@pytest.mark.parametrize("content", [b"not toml = =", b"\xff\xfe"])
def test_a_broken_file_of_the_user_names_itself_and_costs_nothing(
    tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(content)
    settings, problems = load(path)
    assert settings == Settings()
    assert str(path) in str(problems[0])
