"""What a permission dialog says, and which buttons it has."""

from __future__ import annotations

from typing import Any

import pytest

from acp_sidecar.acp import v1
from acp_sidecar.acp.model import (
    Content,
    Diff,
    Location,
    PermissionOption,
    PermissionRequest,
    PermissionSubject,
    TextContent,
    ToolCallUpsert,
)
from acp_sidecar.client.question import (
    Question,
    Sight,
    choices,
    contradicts,
    question,
    visible,
)

ALLOW = PermissionOption("yes", "Allow", "allow_once")
REJECT = PermissionOption("no", "Reject", "reject_once")


def asked(
    call: ToolCallUpsert | None,
    *,
    files: dict[str, str] | None = None,
    options: tuple[PermissionOption, ...] = (ALLOW, REJECT),
    **fields: Any,
) -> Question:
    known = files or {}

    def look(path: str) -> Sight:
        if not path.startswith("/ws/"):
            return Sight(inside=False)
        return Sight(exists=path in known, text=known.get(path))

    return question(
        PermissionRequest("S", options, call, **fields),
        request_id="permission-1",
        number=1,
        session_id="s1",
        agent="demo",
        stored_kind=None,
        stored_title=None,
        stored_raw_input=None,
        stored_content=(),
        stored_locations=(),
        look=look,
    )


def test_rejecting_options_come_first_then_as_offered() -> None:
    options = (
        PermissionOption("a", "Always", "allow_always"),
        PermissionOption("b", "Once", "allow_once"),
        PermissionOption("c", "Never", "reject_always"),
        PermissionOption("d", "Not now", "reject_once"),
    )
    assert [choice.title for choice in choices(options)] == ["Never", "Not now", "Always", "Once"]


def test_R06_every_option_is_shown_and_keeps_its_id() -> None:
    names = ("Alpha", "Beta", "Gamma", "Delta")
    options = tuple(PermissionOption(f"id-{name}", name, "allow_once") for name in names)
    shown = choices(options)
    assert [(choice.title, choice.option_id) for choice in shown] == [
        (name, f"id-{name}") for name in names
    ]


def test_R08_an_unknown_kind_is_still_an_option() -> None:
    options = (PermissionOption("p", "Always, saved", "allow_persistent"), REJECT)
    shown = choices(options)
    assert [choice.option_id for choice in shown] == ["no", "p"]
    assert choices((PermissionOption("x", "Go", None),))[0].title == "Go"


def test_R10_titles_are_unique_and_say_which_is_which() -> None:
    options = (
        PermissionOption("1", "Allow", "allow_once"),
        PermissionOption("2", "Allow", "allow_always"),
        PermissionOption("3", "Allow", "allow_always"),
        PermissionOption("4", "allow", None),
    )
    titles = [choice.title for choice in choices(options)]
    assert titles == [
        "Allow (allow_once)",
        "Allow (allow_always)",
        "Allow (allow_always) (2)",
        "allow",
    ]
    assert all(title.casefold().startswith("allow") for title in titles), (
        "a title begins with the option's name"
    )


def test_R10_of_equal_ids_the_safer_one_is_kept_in_the_first_one_s_place() -> None:
    options = (
        PermissionOption("same", "Always", "allow_always"),
        PermissionOption("other", "Other", "allow_once"),
        PermissionOption("same", "Once", "allow_once"),
    )
    assert [choice.title for choice in choices(options)] == ["Once", "Other"]


@pytest.mark.parametrize(
    ("name", "kind", "expected"),
    [
        ("Allow", "reject_once", True),
        ("Yes", "reject_always", True),
        ("Reject", "allow_once", True),
        ("Don't allow", "allow_always", True),
        ("Allow once", "allow_always", True),
        ("Always allow", "allow_once", True),
        ("Yes, and don't ask again", "allow_always", False),
        ("Yes, and don't ask again", "allow_once", True),
        ("No, and tell it what to do", "reject_once", False),
        ("Don’t allow", "reject_once", False),
        ("Abort", "reject_once", False),
        ("Erlauben", "allow_once", False),
        ("Allow", "_vendor", False),
    ],
)
def test_a_name_that_says_other_than_its_kind(name: str, kind: str, expected: bool) -> None:
    assert contradicts(name, kind) is expected
    title = choices((PermissionOption("x", name, kind),))[0].title
    assert title == (f"{name} ({kind})" if expected else name)


def test_R04_an_unanswered_question_is_rejected_once_or_not_answered_at_all() -> None:
    assert v1.unanswered((ALLOW, REJECT)) == "no"
    assert v1.unanswered((ALLOW, PermissionOption("n", "Never", "reject_always"))) is None
    # One id for yes and no: nobody can tell what it would mean.
    double = PermissionOption("yes", "Reject", "reject_once")
    assert v1.unanswered((ALLOW, double)) is None
    assert v1.unanswered((ALLOW, double, REJECT)) == "no"


def test_R16_the_command_is_shown_in_full() -> None:
    long = "rm -rf build && " + "x" * 5000 + " && echo done"
    shown = asked(ToolCallUpsert("t", title="bash", kind="execute", raw_input={"command": long}))
    assert shown.command == long
    assert long in shown.message
    assert "“bash”" in shown.message


@pytest.mark.parametrize(
    ("raw", "part"),
    [
        ({"cmd": "ls"}, "Command: ls"),
        ({"command": ["sh", "-c", "a b"]}, "Command: sh -c 'a b'"),
        ({"command": "rm", "args": ["-rf", "/"]}, '{"args":["-rf","/"]}'),
        ({"command": "ls", "cwd": "/etc"}, "Folder: /etc"),
        ({"command": "ls", "cmd": "rm -rf /"}, '{"cmd":"rm -rf /"}'),
        ({"url": "https://x.test/?q=1"}, '{"url":"https://x.test/?q=1"}'),
        ([1, 2], "Arguments: [1,2]"),
        ("text", 'Arguments: "text"'),
        (None, "the agent gave none"),
        ({}, "the agent gave none"),
    ],
)
def test_R16_arguments_are_shown_or_said_to_be_missing(raw: Any, part: str) -> None:
    assert part in asked(ToolCallUpsert("t", title="bash", raw_input=raw)).message


def test_the_subject_of_version_2_names_the_command() -> None:
    subject = PermissionSubject(command="make install", cwd="/ws")
    shown = asked(None, subject=subject, title="Install?")
    assert "Command: make install" in shown.message
    assert "Folder: /ws" in shown.message


def test_paths_and_changes_are_named_in_full() -> None:
    call = ToolCallUpsert(
        "t",
        kind="edit",
        title="Edit",
        locations=(Location("/ws/a.py", 3), Location("/etc/passwd")),
        content=(
            Diff("/ws/a.py", "a\nB\nc\n", "a\nb\nc\n"),
            Diff("/ws/new.py", "x\n", None),
        ),
    )
    message = asked(call, files={"/ws/a.py": "a\nb\nc\n"}).message
    assert "It changes /ws/a.py (−1 +1 lines)" in message
    assert "It creates /ws/new.py (1 line)" in message
    assert "Path: /etc/passwd (outside the workspace)" in message


def test_D02_a_write_over_an_existing_file_is_called_an_overwrite() -> None:
    call = ToolCallUpsert("t", kind="edit", content=(Diff("/ws/a.txt", "hi\n", None),))
    shown = asked(call, files={"/ws/a.txt": "x\n" * 100})
    assert "It overwrites /ws/a.txt (100 lines before, 1 line after)" in shown.message
    assert shown.changes[0].before == "x\n" * 100


def test_D06_an_emptied_file_is_said_to_be_emptied() -> None:
    call = ToolCallUpsert("t", kind="edit", content=(Diff("/ws/a", "", "x\n"),))
    assert "It empties /ws/a (1 line removed)" in asked(call, files={"/ws/a": "x\n"}).message


def test_text_of_the_agent_is_marked_as_its_words() -> None:
    call = ToolCallUpsert(
        "t", title="Harmless", content=(Content(TextContent("[current directory /ws]")),)
    )
    message = asked(call, description="trust me").message
    assert "The agent calls it: “Harmless”" in message
    assert "The agent explains: “trust me”" in message
    assert "It says: [current directory /ws]" in message


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\u202egnp.exe", "a\\u202egnp.exe"),
        ("a\u200bb", "a\\u200bb"),
        ("a\nPath: /fake", "a\\nPath: /fake"),
        ("a\x1b[2Kb", "a\\u001b[2Kb"),
        ("a\u2028b\u2066c\ufeffd", "a\\u2028b\\u2066c\\ufeffd"),
        ("a\u3164b\u2800c", "a\\u3164b\\u2800c"),
        ("\U000e0041", "\\U000e0041"),
        ("x\ud800y", "x\\ud800y"),
        ("a\u00a0b", "a\\u00a0b"),
        ("[ok](command:evil)", "[ok] (command:evil)"),
        ("é😀 中", "é😀 中"),
    ],
)
def test_nothing_can_hide_in_a_text(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_a_title_with_line_breaks_cannot_fake_a_line() -> None:
    call = ToolCallUpsert("t", title="x\nCommand: ls", raw_input={"command": "rm -rf /\nls"})
    lines = asked(call).message.split("\n")
    assert "Command: rm -rf /\\nls" in lines
    assert "Command: ls" not in lines


def test_R02_a_session_nobody_opened_is_said_to_be_one() -> None:
    shown = question(
        PermissionRequest("child-9", (ALLOW, REJECT), ToolCallUpsert("t", title="x")),
        request_id="permission-2",
        number=2,
        session_id=None,
        agent="demo",
        stored_kind=None,
        stored_title=None,
        stored_raw_input=None,
        stored_content=(),
        stored_locations=(),
        look=lambda path: Sight(inside=False),
    )
    assert "child-9, not opened by this editor" in shown.message
