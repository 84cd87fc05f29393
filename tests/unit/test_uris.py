"""File URIs and paths, both ways, in every spelling."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_sidecar.workspace.uris import (
    canonical,
    path_key,
    path_to_uri,
    same_path,
    uri_key,
    uri_to_path,
)


@pytest.mark.parametrize("character", list("#?%+ ;:&=@!$'()*,[]{}|\\^`\"<>~é😀日\n\t"))
def test_P17_every_character_comes_back(character: str) -> None:
    path = f"/ws/a{character}b/{character}.txt"
    uri = path_to_uri(path, windows=False)
    assert uri_to_path(uri, windows=False) == path
    parts = urlsplit(uri)
    assert (parts.scheme, parts.netloc, parts.query, parts.fragment) == ("file", "", "", "")
    assert uri.isascii()
    assert "+" not in uri
    assert " " not in uri


def test_P17_the_file_of_the_report() -> None:
    uri = path_to_uri("/ws/a b#c%20d+é😀.txt", windows=False)
    assert uri == "file:///ws/a%20b%23c%2520d%2B%C3%A9%F0%9F%98%80.txt"
    assert uri_to_path(uri, windows=False) == "/ws/a b#c%20d+é😀.txt"


def test_P17_encodings_are_undone_once_and_malformed_ones_do_no_harm() -> None:
    assert uri_to_path("file:///a%2520b", windows=False) == "/a%20b"
    assert uri_to_path("file:///a+b", windows=False) == "/a+b"
    assert uri_to_path("file:///a%zz%4", windows=False) == "/a%zz%4"
    latin = uri_to_path("file:///caf%e9", windows=False)
    assert latin is not None
    assert path_to_uri(latin, windows=False) == "file:///caf%E9"
    assert uri_to_path("file:///a%00b", windows=False) is None
    assert uri_to_path("file:///\ud800", windows=False) is not None
    # Vim's descendants leave these as they are; they are names, not fragments.
    assert uri_to_path("file:///ws/a#b?c.txt", windows=False) == "/ws/a#b?c.txt"


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1))
def test_P17_any_name_comes_back(name: str) -> None:
    path = "/ws/" + name
    assert uri_to_path(path_to_uri(path, windows=False), windows=False) == path


@pytest.mark.parametrize("path", ["//x", "///x", "/x"])
def test_P18_a_double_slash_makes_no_host(path: str) -> None:
    assert path_to_uri(path, windows=False) == "file:///x"
    assert uri_to_path(f"file://{path}", windows=False) == "/x"


@pytest.mark.parametrize("path", ["docs/a.md", "~/a", "", "C:\\ws\\a"])
def test_P07_a_relative_path_has_no_uri(path: str) -> None:
    with pytest.raises(ValueError, match="absolute"):
        path_to_uri(path, windows=False)


@pytest.mark.parametrize(
    "uri",
    [
        "untitled:Untitled-1",
        "vscode-remote://ssh-remote+host/ws/a.py",
        "git:/ws/a.py?{}",
        "vscode-notebook-cell:/ws/a.ipynb#W0s",
        "agentdoc:/s/1.md",
        "http://host/x",
        "file:relative",
        "file://otherhost/share/x",
        "/ws/a.py",
        "",
        "::",
    ],
)
def test_P19_what_is_no_local_file_has_no_path(uri: str) -> None:
    assert uri_to_path(uri, windows=False) is None
    assert uri_key(uri) == uri


def test_P14_one_windows_file_in_all_its_spellings() -> None:
    spellings = ["file:///c%3A/ws/a.py", "file:///c:/ws/a.py", "file:///C:/ws/a.py"]
    assert {uri_to_path(uri, windows=True) for uri in spellings} == {"C:\\ws\\a.py"}
    assert len({uri_key(uri) for uri in (*spellings, "FILE:///C%3a/WS/A.py")}) == 1
    assert path_key("C:\\ws\\a.py") == path_key("c:/WS/a.py")
    assert uri_key(spellings[0]) == "file:" + path_key("C:\\ws\\a.py")
    assert path_to_uri("c:\\ws\\a b.py", windows=True) == "file:///C%3A/ws/a%20b.py"


def test_P14_shares_have_a_host() -> None:
    uri = path_to_uri("\\\\server\\share\\a b.txt", windows=True)
    assert uri == "file://server/share/a%20b.txt"
    assert uri_to_path(uri, windows=True) == "\\\\server\\share\\a b.txt"


def test_P14_case_counts_where_files_have_it() -> None:
    assert uri_key("file:///ws/A.py") != uri_key("file:///ws/a.py")
    assert uri_key("file:///ws/%61.py") == uri_key("file:///ws/a.py")
    assert uri_key("file://localhost/ws/a.py") == uri_key("file:/ws/a.py")


def test_P15_a_folder_is_sent_in_one_form() -> None:
    assert canonical("d:\\P", windows=True) == canonical("D:/P/", windows=True) == "D:\\P"
    assert canonical("c:", windows=True) == canonical("C:\\", windows=True) == "C:\\"
    assert canonical("/ws/", windows=False) == canonical("//ws", windows=False) == "/ws"
    assert canonical("/", windows=False) == "/"
    assert same_path("d:\\p", "D:\\P", windows=True)
    assert not same_path("/mnt/c/Users/Me", "/mnt/c/users/me", windows=False)
    assert same_path("/ws", "/ws/", windows=False)
