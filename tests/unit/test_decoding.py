"""The table of fields: what each declaration does with what comes over the wire."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
import orjson
import pytest
from attrs import define, field
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_sidecar.acp import model
from acp_sidecar.acp.decoding import (
    DecodeError,
    Dialect,
    decoder,
    displayable,
    free_form,
    make_converter,
)
from acp_sidecar.acp.encoding import encode
from acp_sidecar.acp.model import UNSET, Json, JsonObject, Patch
from acp_sidecar.acp.values import frozen, wire

V1 = Dialect(null_clears=False, open_enums=False, keep_unknown_types=False)
V2 = Dialect(null_clears=True, open_enums=True, keep_unknown_types=True)

COLOURS = frozenset({"red", "green"})


@define
class Part:
    label: str
    size: int = field(default=0, metadata=wire(natural=True))
    unknown: JsonObject = field(factory=dict)


@frozen
class Thing:
    """One field of each kind."""

    thing_id: str
    count: int
    title: str | None = None
    colour: Patch[str] = field(default=UNSET, metadata=wire(choices=COLOURS))
    note: Patch[str] = field(default=UNSET, metadata=wire(null_clears=True))
    parts: tuple[Part, ...] = ()
    exact: tuple[str, ...] = field(default=(), metadata=wire(strict=True))
    env: Mapping[str, str] = field(factory=dict, metadata=wire(strict=True))
    raw: Patch[Json] = UNSET
    ratio: float | None = None
    flag: bool = False
    block: model.ContentBlock | None = None
    meta: JsonObject | None = None
    unknown: JsonObject = field(factory=dict)


def read(value: Any, dialect: Dialect = V1) -> Thing:
    return make_converter(dialect).structure(value, Thing)


OKAY = {"thingId": "t", "count": 1}


def test_stock_cattrs_faults_do_not_occur() -> None:
    """5 is not made "5", null not "None", and no unknown key is dropped."""
    assert read({**OKAY, "title": 5}).title is None
    assert read({**OKAY, "title": None}).title is None
    assert read({**OKAY, "colour": 5}).colour is UNSET
    assert read({**OKAY, "x": {"y": [1]}, "z": None}).unknown == {"x": {"y": [1]}, "z": None}
    with pytest.raises(DecodeError):
        read({"thingId": 5, "count": 1})
    with pytest.raises(DecodeError):
        read({"thingId": None, "count": 1})
    with pytest.raises(DecodeError):
        read({"thingId": "t", "count": "1"})


@pytest.mark.parametrize("value", [True, False, "1", 1.5, None, [], {}])
def test_an_integer_is_an_integer(value: Any) -> None:
    with pytest.raises(DecodeError, match="count"):
        read({"thingId": "t", "count": value})


def test_json_knows_one_kind_of_number() -> None:
    read_count = read({"thingId": "t", "count": 3.0}).count
    assert read_count == 3 and isinstance(read_count, int)
    assert read({**OKAY, "ratio": 1}).ratio == 1
    assert read({**OKAY, "ratio": True}).ratio is None


@pytest.mark.parametrize("value", [None, 5, "junk", [], [5], 1.5])
def test_what_is_no_object_is_refused(value: Any) -> None:
    with pytest.raises(DecodeError, match="expected an object"):
        read(value)


def test_the_error_names_the_path_and_never_the_value() -> None:
    with pytest.raises(DecodeError) as caught:
        make_converter(V1).structure(
            {"content": {"type": "text", "text": ["secret"]}}, model.Content
        )
    assert str(caught.value) == "content.text: expected a string, got an array"
    with pytest.raises(DecodeError) as caught:
        read({"thingId": "secret"})
    assert str(caught.value) == "count: missing, expected an integer"


def test_three_states_and_what_null_means() -> None:
    assert read(OKAY).colour is UNSET
    assert read({**OKAY, "colour": "red"}).colour == "red"
    assert read({**OKAY, "colour": None}).colour is UNSET
    assert read({**OKAY, "colour": None}, V2).colour is None
    assert read({**OKAY, "note": None}).note is None
    assert read({**OKAY, "raw": None}).raw is UNSET
    assert read({**OKAY, "raw": None}, V2).raw is None


@pytest.mark.parametrize("value", [False, 0, "", [], {}, [None], {"a": None}, 1.5, "x"])
def test_any_json_value_is_kept_as_it_is(value: Any) -> None:
    for dialect in (V1, V2):
        kept = read({**OKAY, "raw": value}, dialect).raw
        assert kept == value and type(kept) is type(value)


def test_a_closed_enumeration_is_open_in_version_2() -> None:
    assert read({**OKAY, "colour": "mauve"}).colour is UNSET
    assert read({**OKAY, "colour": "mauve"}, V2).colour == "mauve"
    assert read({**OKAY, "colour": 7}, V2).colour is UNSET


def test_invalid_items_are_skipped_and_the_others_kept_in_order() -> None:
    items = [{"label": "a"}, None, {"label": 5}, 7, {"label": "b", "size": -1, "more": 1}]
    parts = read({**OKAY, "parts": items}).parts
    assert [(part.label, part.size) for part in parts] == [("a", 0), ("b", 0)]
    assert parts[1].unknown == {"more": 1}
    assert read({**OKAY, "parts": {"label": "a"}}).parts == ()


def test_strict_fields_fall_back_on_null_alone() -> None:
    assert read({**OKAY, "exact": None, "env": None}).exact == ()
    with pytest.raises(DecodeError, match="exact"):
        read({**OKAY, "exact": ["a", 5]})
    with pytest.raises(DecodeError, match=r"env\.A"):
        read({**OKAY, "env": {"A": 1}})


def test_a_block_of_unknown_type() -> None:
    """Version 1 takes it for invalid, version 2 keeps it as it came."""
    hologram = {"type": "hologram", "depth": 3}
    assert read({**OKAY, "block": hologram}).block is None
    kept = read({**OKAY, "block": hologram}, V2).block
    assert kept == model.UnknownBlock(hologram)
    assert encode(kept) == hologram
    assert read({**OKAY, "block": {"type": ["text"], "text": "x"}}, V2).block is None
    assert read({**OKAY, "block": {"text": "x"}}, V2).block is None


def test_a_field_required_here_and_optional_there() -> None:
    converter = make_converter(V1)
    lax = decoder(model.ToolCallUpsert, converter, V1, constants={"announces": False})
    strict = decoder(
        model.ToolCallUpsert, converter, V1, constants={"announces": True}, require=("title",)
    )
    assert lax({"toolCallId": "t"}).title is UNSET
    with pytest.raises(DecodeError, match="title"):
        strict({"toolCallId": "t"})
    assert strict({"toolCallId": "t", "title": ""}).announces is True


def test_unknown_fields_do_not_hide_behind_a_missing_tag() -> None:
    """A class read without its tag still keeps every field it does not know."""
    read_block = make_converter(V1).structure({"text": "x", "extra": 1}, model.TextContent)
    assert read_block.unknown == {"extra": 1}


def test_a_class_that_cannot_be_filled_is_refused_at_once() -> None:
    """Not with the first message, in the middle of a session."""

    @attrs.frozen
    class Ice:
        name: str

    with pytest.raises(TypeError, match="Ice"):
        make_converter(V1).structure({"name": "x"}, Ice)


# --- text that cannot be encoded -----------------------------------------------------------


def test_F18_lone_surrogates_are_replaced_in_what_is_shown() -> None:
    """Titles, free-form values and unknown fields alike; a pair is a character."""
    thing = read(
        {
            **OKAY,
            "title": "x\ud800y",
            "raw": {"k\udc00": ["\ud83d\ude00", "\ud800"]},
            "env": {"A\ud800": "\udfff"},
            "extra": "\ud800",
            "_meta": {"m": "\ud800"},
        }
    )
    assert thing.title == "x\ufffdy"
    assert thing.raw == {"k\ufffd": ["😀", "\ufffd"]}
    assert thing.env == {"A\ufffd": "\ufffd"}
    assert thing.unknown == {"extra": "\ufffd"}
    assert thing.meta == {"m": "\ufffd"}
    orjson.dumps(encode(thing))


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=())))
def test_what_is_displayable_can_be_encoded(text: str) -> None:
    shown = displayable(text)
    shown.encode()
    if not any("\ud800" <= character <= "\udfff" for character in text):
        assert shown == text


def test_a_value_too_deep_to_be_written_is_cut() -> None:
    deep: Any = "bottom"
    for _ in range(900):
        deep = [deep]
    orjson.dumps(free_form(deep))
    assert free_form({"n": 2**70}) == {"n": 2**70}


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from([*"ab", "thingId", "count", "parts", "raw"]), json_values))
def test_anything_is_read_or_refused(value: Any) -> None:
    """Nothing but DecodeError ever comes out, and what is read can be written."""
    try:
        thing = read(value)
    except DecodeError:
        return
    written = encode(thing)
    assert written["thingId"] == value["thingId"]
    assert read(written) == thing
