"""What is filled into a form is judged as a JSON Schema validator would, for any form."""

from __future__ import annotations

from typing import Any

import jsonschema
from hypothesis import given
from hypothesis import strategies as st

from acp_sidecar.acp.elicitation import elicitation
from acp_sidecar.acp.filling import misfits

NAMES = ["a", "b", "c"]
WORDS = st.text(alphabet="ab😀 ", max_size=4)
SMALL = st.integers(min_value=0, max_value=3)
BOUNDS = st.integers(min_value=-2, max_value=2)


def _some(**each: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """An object with any of these."""
    return st.fixed_dictionaries({}, optional=each)


STRINGS = _some(minLength=SMALL, maxLength=SMALL).map(lambda more: {"type": "string", **more})
PATTERNS = st.sampled_from(["^a", "b$", "a.b", "[ab]+"]).map(
    lambda pattern: {"type": "string", "pattern": pattern}
)
CHOICES = st.lists(WORDS, min_size=1, max_size=3).map(
    lambda values: {"type": "string", "enum": values}
)
TITLED = st.lists(WORDS, min_size=1, max_size=3).map(
    lambda values: {"type": "string", "oneOf": [{"const": v, "title": "t"} for v in set(values)]}
)
NUMBERS = st.builds(
    lambda kind, more: {"type": kind, **more},
    st.sampled_from(["number", "integer"]),
    _some(minimum=BOUNDS, maximum=BOUNDS),
)
MANY = st.builds(
    lambda values, more: {
        "type": "array",
        "items": {"type": "string", "enum": values},
        "uniqueItems": True,
        **more,
    },
    st.lists(WORDS, min_size=1, max_size=3),
    _some(minItems=SMALL, maxItems=SMALL),
)
FIELDS = st.one_of(STRINGS, PATTERNS, CHOICES, TITLED, NUMBERS, MANY, st.just({"type": "boolean"}))
FORMS = st.builds(
    lambda properties, required: {
        "type": "object",
        "properties": properties,
        "required": [name for name in required if name in properties],
        "additionalProperties": False,
    },
    st.dictionaries(st.sampled_from(NAMES), FIELDS, max_size=3),
    st.lists(st.sampled_from(NAMES), unique=True),
)
VALUES = st.one_of(
    WORDS,
    BOUNDS,
    st.floats(min_value=-3, max_value=3),
    st.booleans(),
    st.none(),
    st.lists(WORDS, max_size=3),
    st.just({}),
)
CONTENTS = st.dictionaries(st.sampled_from([*NAMES, "z"]), VALUES, max_size=3)


@given(FORMS, CONTENTS)
def test_as_json_schema_has_it(schema: dict[str, Any], content: dict[str, Any]) -> None:
    request = {"sessionId": "S", "message": "?", "mode": "form", "requestedSchema": schema}
    form = elicitation(request).form
    assert form is not None
    found = misfits(form, content)
    errors = list(jsonschema.Draft202012Validator(schema).iter_errors(content))
    assert (found == []) is (errors == []), (found, errors)
    named = {str(error.path[0]) for error in errors if error.path}
    assert named <= {each.field for each in found}
