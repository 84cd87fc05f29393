"""What a permission dialog says, and which buttons it has."""

from __future__ import annotations

import json
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
from acp_sidecar.client.choices import choices, contradicts
from acp_sidecar.client.question import Fact, Question, question
from acp_sidecar.client.summary import summarise
from acp_sidecar.client.target import Target
from acp_sidecar.client.visible import likeness, visible

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

    def look(path: str) -> Target:
        if not path.startswith("/ws/"):
            return Target(inside=False)
        return Target(exists=path in known, text=known.get(path))

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
        ("Nope", "allow_once", True),
        ("Do NOT allow", "allow_once", True),
        ("I don´t agree", "allow_once", True),
        ("Keep blocked", "allow_once", True),
        ("Allow? No", "allow_once", True),
        ("Yes — reject it", "allow_once", True),
        ("❌ deny_once", "allow_once", True),
        ("Allow (reject_once)", "allow_always", True),
        ("Go ahead", "reject_once", True),
        ("✅ Confirm", "reject_always", True),
        ("Ａｌｌｏｗ", "reject_once", True),
        ("\u0410llow", "reject_once", True),
        ("Al\u200blow", "reject_once", True),
        ("allow_always", "allow_once", True),
        ("allow-once", "allow_always", True),
        ("Allow for this session", "allow_once", True),
        ("Allow for this session", "allow_always", False),
        ("Permanently allow", "allow_once", True),
        ("Yes to all", "allow_once", True),
        ("Yes, stop asking", "allow_once", True),
        ("Yes, stop asking", "allow_always", False),
        ("Just this time", "allow_always", True),
        ("No, keep planning", "reject_once", False),
        ("Never allow this", "reject_always", False),
        ("Yes, and auto-accept edits", "allow_always", False),
        ("Yes, and manually approve edits", "allow_once", False),
        ("Always allow Bash(npm run stop:*)", "allow_always", False),
        ("Allow `git stash --all`", "allow_once", False),
    ],
)
def test_a_name_that_says_other_than_its_kind(name: str, kind: str, expected: bool) -> None:
    assert contradicts(name, kind) is expected
    title = choices((PermissionOption("x", name, kind),))[0].title
    assert title == (f"{visible(name)} ({kind})" if expected else name)


@pytest.mark.parametrize(
    "names",
    [
        ("Allow", "Allow ", "allow"),
        ("Allow once", "Allow  once"),
        ("Caf\u00e9", "Cafe\u0301"),
        ("Allow", "Ａｌｌｏｗ", "\u0410llow"),
        ("✅", "✅\ufe0f"),
        ("Allow", "Allow", "Allow (allow_once)", "Allow (allow_once) (2)"),
        ("Go",) * 30,
        ("x" * 10_000, "x" * 10_000),
    ],
)
def test_R10_what_looks_alike_is_told_apart(names: tuple[str, ...]) -> None:
    options = tuple(
        PermissionOption(str(number), name, "allow_once") for number, name in enumerate(names)
    )
    shown = choices(options)
    assert [choice.option_id for choice in shown] == [option.option_id for option in options]
    assert len({likeness(choice.title) for choice in shown}) == len(names)
    assert all(choice.title.startswith(choice.name.strip()) for choice in shown)


def test_R04_an_unanswered_question_is_rejected_once_or_not_answered_at_all() -> None:
    assert v1.unanswered((ALLOW, REJECT)) == "no"
    assert v1.unanswered((ALLOW, PermissionOption("n", "Never", "reject_always"))) is None
    # One id for yes and no: nobody can tell what it would mean.
    double = PermissionOption("yes", "Reject", "reject_once")
    assert v1.unanswered((ALLOW, double)) is None
    assert v1.unanswered((ALLOW, double, REJECT)) == "no"


@pytest.mark.parametrize(
    ("options", "refusable"),
    [
        ((ALLOW, REJECT), False),
        ((ALLOW, PermissionOption("never", "Never", "reject_always")), False),
        ((ALLOW, PermissionOption("hm", "Hm", None)), True),
        ((ALLOW, PermissionOption("off", "Reject", "rejecting")), True),
        ((ALLOW, PermissionOption("yes", "Reject", "reject_once")), True),
    ],
)
def test_no_answer_is_offered_where_no_option_is_surely_a_no(
    options: tuple[PermissionOption, ...], refusable: bool
) -> None:
    assert asked(None, options=options).refusable is refusable


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
        ("", "the agent gave none"),
        (False, "Arguments: false"),
        (0, "Arguments: 0"),
        ({"command": 5, "cmd": "rm -rf /"}, '{"command":5}'),
        ({"command": {"program": "rm"}, "cmd": "ls"}, '{"command":{"program":"rm"}}'),
        ({"command": ["rm", 5]}, '{"command":["rm",5]}'),
        ({"command": "  "}, '{"command":"  "}'),
        ({"command": "ls", "cwd": "/etc", "workdir": "/x"}, '{"workdir":"/x"}'),
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


FOLDER = Target(exists=True, regular=False)
UNREADABLE = Target(exists=True)


@pytest.mark.parametrize(
    ("target", "old", "new", "said"),
    [
        (Target(True, "a\r\nb\r\n"), "a\nb\n", "a\nB\n", "changes /f (−1 +1 lines)"),
        (Target(True, "a\r\nb\r\n"), "b\n", "B\n", "changes /f (−1 +1 lines, in a part of it)"),
        (Target(True, "a\nb\n"), "b", "B", "changes /f (−1 +1 lines, in a part of it)"),
        (
            Target(True, "a\n"),
            "z\n",
            "B\n",
            "changes /f (−1 +1 lines, in a text that it does not have)",
        ),
        (Target(True, "a\n"), None, "a\n", "leaves /f as it is"),
        (Target(True, "a\n"), "", "b\nc\n", "overwrites /f (1 line before, 2 lines after)"),
        (Target(), "a\n", "b\n", "changes /f (−1 +1 lines, but nothing is there now)"),
        (Target(), None, "", "creates /f (0 lines)"),
        (FOLDER, None, "x\n", "takes /f for a file, which it is not, and writes 1 line"),
        (UNREADABLE, None, "x\n", "overwrites /f with 1 line"),
        (UNREADABLE, "a\n", "x\n", "changes /f (−1 +1 lines, as the agent has it)"),
        (Target(None), None, "x\n", "writes /f (1 line)"),
        (
            Target(True, inside=False),
            "a\n",
            "x\n",
            "changes /f, outside the workspace, (−1 +1 lines, as the agent has it)",
        ),
    ],
)
def test_a_change_is_summed_up_by_what_is_there(
    target: Target, old: str | None, new: str, said: str
) -> None:
    assert summarise(Diff("/f", new, old), lambda path: target).text == said


def test_D04_a_part_that_is_there_more_than_once_is_said_to_be() -> None:
    text = "if a {\n}\n" * 9
    told = summarise(Diff("/f", "};\n", "}\n"), lambda path: Target(True, text))
    assert told.text == (
        "changes /f (−1 +1 lines, in one of 9 places of this text, it is not said which)"
    )
    assert not told.whole


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


@pytest.mark.parametrize("title", ["/ws/a", "ws/a"])
def test_a_title_that_is_only_the_path_is_not_said_twice(title: str) -> None:
    call = ToolCallUpsert("t", title=title, kind="read", locations=(Location("/ws/a"),))
    message = asked(call).message
    assert "Path: /ws/a" in message
    assert "The agent calls it" not in message


def test_a_title_that_is_only_the_command_is_not_said_twice() -> None:
    def told(title: str) -> str:
        call = ToolCallUpsert("t", title=title, kind="execute", raw_input={"command": "rm -rf x"})
        return asked(call).message

    assert "Command: rm -rf x" in told("rm -rf x")
    assert "The agent calls it" not in told("rm -rf x")
    assert "The agent calls it: “rm -rf”" in told("rm -rf")


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
        ("❤\ufe0f", "❤\ufe0f"),
        ("x\ufe0fy\U000e0100z\u180b", "x\\ufe0fy\\U000e0100z\\u180b"),
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
        look=lambda path: Target(inside=False),
    )
    assert "child-9, not opened by this editor" in shown.message


# --- the lines of a change -----------------------------------------------------------------

GREET = "def greet():\n    return 1\n\n\nprint(greet())\n"
GREETED = GREET.replace("return 1", "x = 2\n    return x").replace("print(greet())", "greet()")
PATCH = """\
Index: /ws/a.py
===================================================================
--- /ws/a.py
+++ /ws/a.py
@@ -1,5 +1,6 @@
 def greet():
-    return 1
+    x = 2
+    return x
 
 
-print(greet())
+greet()
"""  # noqa: W293 - a patch has such lines


def edit(raw_input: Any, *diffs: Diff) -> Question:
    content = diffs or (Diff("/ws/a.py", GREETED, GREET),)
    call = ToolCallUpsert("t", kind="edit", raw_input=raw_input, content=content)
    return asked(call, files={"/ws/a.py": GREET})


def test_a_dialog_of_nothing_but_text_shows_the_lines_of_a_change() -> None:
    shown = edit(None)
    assert shown.in_full.splitlines() == [
        "demo wants to change files (edit, request 1)",
        "It changes /ws/a.py (−2 +3 lines)",
        "@@ line 2 @@",
        "-    return 1",
        "+    x = 2",
        "+    return x",
        "@@ line 5 @@",
        "-print(greet())",
        "+greet()",
    ]
    assert shown.message.splitlines() == shown.in_full.splitlines()[:2]


@pytest.mark.parametrize(
    ("call", "short"),
    [
        (
            ToolCallUpsert("t", kind="execute", raw_input={"command": "make \u202e\u200btest"}),
            "demo wants to run: make \\u202e\\u200btest",
        ),
        (
            ToolCallUpsert("t", kind="edit", content=(Diff("/ws/a.py", GREETED, GREET),)),
            "demo wants to change a.py",
        ),
        (
            ToolCallUpsert(
                "t", kind="edit", content=(Diff("/ws/a.py", "1", None), Diff("C:\\b\n", "2", None))
            ),
            "demo wants to change 2 files: a.py, b\\n",
        ),
        (
            ToolCallUpsert("t", kind="fetch", title="A page"),
            "demo wants to fetch from outside: A page",
        ),
        (ToolCallUpsert("t", kind="think"), "demo wants to think"),
    ],
)
def test_a_question_is_told_in_one_line(call: ToolCallUpsert, short: str) -> None:
    assert asked(call).short == short


def test_that_line_is_never_long() -> None:
    long = asked(ToolCallUpsert("t", kind="execute", raw_input={"command": "x" * 100_000})).short
    assert len(long) == 300 and long.endswith("x…")
    many = tuple(Diff(f"/ws/{number}", "new", None) for number in range(500))
    assert asked(ToolCallUpsert("t", kind="edit", content=many)).short.startswith(
        "demo wants to change 500 files: 0, 1, "
    )


def test_headline_command_changes_and_facts_are_all_of_a_text() -> None:
    call = ToolCallUpsert(
        "t",
        kind="execute",
        title="Build it",
        raw_input={"command": "make", "cwd": "/elsewhere", "force": True},
        content=(Diff("/ws/a.py", GREETED, GREET),),
        locations=(Location("/ws/b.py", 3),),
    )
    shown = asked(call, files={"/ws/a.py": GREET})
    assert shown.headline == "demo wants to run a command"
    assert shown.facts == (
        Fact(
            "Folder: /elsewhere (outside the workspace)",
            "folder",
            "/elsewhere",
            " (outside the workspace)",
        ),
        Fact("Path: /ws/b.py", "path", "/ws/b.py"),
        Fact('Arguments: {"force":true}', "arguments", {"force": True}),
        Fact("The agent calls it: “Build it”"),
    )
    assert sorted(shown.message.splitlines()) == sorted(
        [
            f"{shown.headline} (execute, request 1)",
            "Command: make",
            *(f"It {change.text}" for change in shown.changes),
            *(fact.text for fact in shown.facts),
        ]
    )


@pytest.mark.parametrize(
    "raw",
    [
        {"filepath": "/ws/a.py", "diff": PATCH},
        {"file_path": "/ws/a.py", "content": GREETED},
        {"path": "/ws/a.py", "old_string": GREET, "new_string": GREETED},
        {"diff": PATCH.partition("=\n")[2].lstrip("=")},
    ],
)
def test_what_the_change_tells_is_not_told_again_as_arguments(raw: Any) -> None:
    shown = edit(raw)
    assert "Arguments" not in shown.in_full
    assert "Arguments" not in shown.message
    assert shown.raw_input == raw


@pytest.mark.parametrize(
    "raw",
    [
        {"filepath": "/ws/b.py"},
        {"diff": PATCH.replace("+greet()", "+greet(0)")},
        {"diff": PATCH.replace("/ws/a.py", "/ws/b.py")},
        {"diff": f"rm -rf /\n{PATCH}"},
        {"diff": PATCH + "@@ -9,1 +9,1 @@\n-a\n+b\n"},
        {"content": GREETED + "more\n"},
        {"diff": [PATCH]},
        {"replace_all": True},
        {"command": "rm -rf /"},
        "/ws/a.py",
    ],
)
def test_what_the_change_does_not_tell_is_shown(raw: Any) -> None:
    shown = edit(raw)
    part = "rm -rf /" if raw == {"command": "rm -rf /"} else f"Arguments: {json.dumps(raw)[:9]}"
    for text in (shown.in_full, shown.message):
        assert part.replace('": ', '":') in text


def test_of_what_is_told_and_what_is_not_only_the_latter_is_shown() -> None:
    shown = edit({"filepath": "/ws/a.py", "diff": PATCH, "replace_all": False})
    assert shown.message.splitlines()[-1] == 'Arguments: {"replace_all":false}'


def test_a_part_of_a_file_has_no_line_numbers() -> None:
    part = Diff("/ws/a.py", "    return 2", "    return 1")
    assert edit(None, part).in_full.splitlines()[2:] == ["@@", "-    return 1", "+    return 2"]


def test_a_line_end_that_goes_is_shown_and_others_are_not() -> None:
    change = Diff("/ws/a.py", GREET.removesuffix("\n"), GREET)
    assert edit(None, change).in_full.splitlines()[2:] == [
        "@@ line 5 @@",
        "-print(greet())",
        "+print(greet()) (without a line end)",
    ]


def test_no_line_of_a_change_can_fake_another() -> None:
    new = GREET + "a\u2028The agent calls it: \x1b[2J\u202eb\n"
    assert edit(None, Diff("/ws/a.py", new, GREET)).in_full.splitlines()[2:] == [
        "@@ line 6 @@",
        "+a\\u2028The agent calls it: \\u001b[2J\\u202eb",
    ]


def test_a_long_change_is_cut_and_says_so() -> None:
    new = "".join(f"{n}\n" for n in range(500)) + "x" * 5000 + "\n"
    lines = edit(None, Diff("/ws/new.py", new, None)).in_full.splitlines()
    assert lines[1:4] == ["It creates /ws/new.py (501 lines)", "@@ line 1 @@", "+0"]
    assert lines[-1] == "… and 442 more lines, not shown here"
    assert len(lines) == 2 + 60 + 1
    shown = edit(None, Diff("/ws/new.py", "x" * 5000 + "\n", None)).in_full
    assert "+" + "x" * 399 + "… and 4601 more characters, not shown here" in shown
