"""A second reading of the schema's leniency marks, written from the schema alone.

:func:`lenient` does to a JSON value what the marks say: ``x-deserialize-default-on-error``
leaves a field out, ``x-deserialize-skip-invalid-items`` leaves an array item out,
``x-deserialize-default-on-null`` takes null for absent, and only a required field that is
missing or invalid costs the object it is in. :func:`samples` writes values that use
every field and every alternative of a definition, and :func:`marks` lists where in such a
value a mark stands.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import jsonschema
from attrs import frozen

ON_ERROR = "x-deserialize-default-on-error"
ON_NULL = "x-deserialize-default-on-null"
SKIP = "x-deserialize-skip-invalid-items"

Schema = dict[str, Any]
JUNK: tuple[Any, ...] = (5, -1, 1.5, "junk", "", True, None, [], [7], {}, {"a": 1})


class InvalidValue(Exception):
    """A value does not fit, and nothing says that it may be left out."""


def _is(value: Any, kind: str) -> bool:
    if kind == "null":
        return value is None
    if kind == "boolean":
        return isinstance(value, bool)
    if kind == "string":
        return isinstance(value, str)
    if kind == "array":
        return isinstance(value, list)
    if kind == "object":
        return isinstance(value, dict)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return kind == "number" or isinstance(value, int) or value.is_integer()


def _laid(under: Schema, over: Schema) -> Schema:
    """Two lists of fields as one. What is said twice of a field counts together; what is said
    once stays the same object, by which its marks are known."""
    twice = {key: {**under[key], **about} for key, about in over.items() if key in under}
    return {**under, **over, **twice}


def _says(known: Schema, value: Any) -> bool:
    """Whether a value has the discriminators that ``known`` names."""
    consts = {key: about["const"] for key, about in known["properties"].items()}
    return isinstance(value, dict) and all(value.get(key) == is_ for key, is_ in consts.items())


class Reading:
    def __init__(self, root: Schema) -> None:
        self.defs: dict[str, Schema] = root["$defs"]
        # By the identity of a schema, which is kept here so that no other gets the same.
        self._flat: dict[int, tuple[Schema, Schema]] = {}
        self._alternatives: dict[int, tuple[Schema, list[Schema]]] = {}

    def of(self, name: str) -> Schema:
        return self.defs[name]

    def validate(self, name: str, value: Any) -> None:
        """Fails where a value does not fit a definition, by a validator of somebody else's."""
        schema = {"$ref": f"#/$defs/{name}", "$defs": self.defs}
        jsonschema.Draft202012Validator(schema).validate(value)

    def flat(self, schema: Schema) -> Schema:
        """``schema`` with references and ``allOf`` laid into it."""
        if id(schema) not in self._flat:
            self._flat[id(schema)] = schema, self._flattened(schema)
        return self._flat[id(schema)][1]

    def _flattened(self, schema: Schema) -> Schema:
        merged: Schema = {}
        parts = [self.defs[schema["$ref"].rsplit("/", 1)[1]]] if "$ref" in schema else []
        for part in [*parts, *schema.get("allOf", ())]:
            for key, value in self.flat(part).items():
                if key == "properties":
                    merged["properties"] = _laid(merged.get("properties", {}), value)
                elif key == "required":
                    merged["required"] = [*merged.get("required", ()), *value]
                else:
                    merged.setdefault(key, value)
        for key, value in schema.items():
            if key == "properties":
                merged["properties"] = _laid(merged.get("properties", {}), value)
            elif key == "required":
                merged["required"] = [*merged.get("required", ()), *value]
            elif key not in ("$ref", "allOf"):
                merged[key] = value
        return merged

    def alternatives(self, schema: Schema) -> list[Schema]:
        """What a union says, each alternative with the fields that stand beside it."""
        if id(schema) not in self._alternatives:
            self._alternatives[id(schema)] = schema, self._choices(schema)
        return self._alternatives[id(schema)][1]

    def _choices(self, schema: Schema) -> list[Schema]:
        schema = self.flat(schema)
        choices = schema.get("oneOf") or schema.get("anyOf")
        if not choices:
            return [schema]
        beside = {key: value for key, value in schema.items() if key not in ("oneOf", "anyOf")}
        return [
            found
            for choice in choices
            for found in self.alternatives({**choice, "allOf": [*choice.get("allOf", ()), beside]})
        ]

    # --- reading leniently -------------------------------------------------------------

    def lenient(self, schema: Schema, value: Any) -> Any:
        """``value`` without what the marks allow to leave out, or InvalidValue."""
        fault: InvalidValue | None = None
        for alternative in self.alternatives(schema):
            try:
                return self._one(alternative, value)
            except InvalidValue as error:
                fault = error
        raise fault or InvalidValue("no alternative")

    def _one(self, schema: Schema, value: Any) -> Any:
        if "const" in schema and value != schema["const"]:
            raise InvalidValue("const")
        kinds = schema.get("type", [])
        kinds = [kinds] if isinstance(kinds, str) else kinds
        if kinds and not any(_is(value, kind) for kind in kinds):
            raise InvalidValue(f"not {kinds}")
        if "minimum" in schema and _is(value, "number") and value < schema["minimum"]:
            raise InvalidValue("minimum")
        if "maximum" in schema and _is(value, "number") and value > schema["maximum"]:
            raise InvalidValue("maximum")
        if "minItems" in schema and isinstance(value, list) and len(value) < schema["minItems"]:
            raise InvalidValue("minItems")
        if "not" in schema and any(_says(part, value) for part in schema["not"]["anyOf"]):
            raise InvalidValue("a known discriminator")
        if "minLength" in schema and isinstance(value, str) and len(value) < schema["minLength"]:
            raise InvalidValue("minLength")
        if isinstance(value, dict) and "properties" in schema:
            return self._object(schema, value)
        if isinstance(value, dict) and isinstance(schema.get("additionalProperties"), dict):
            extra = schema["additionalProperties"]
            return {key: self.lenient(extra, item) for key, item in value.items()}
        if isinstance(value, list) and "items" in schema:
            return self._array(schema, value)
        return value

    def _object(self, schema: Schema, value: dict[str, Any]) -> dict[str, Any]:
        read = dict(value)
        for key, about in schema["properties"].items():
            required = key in schema.get("required", ())
            if key not in value:
                if required:
                    raise InvalidValue(f"{key} is missing")
                continue
            if value[key] is None and about.get(ON_NULL):
                read[key] = [] if self.flat(about).get("type") == "array" else {}
                continue
            try:
                read[key] = self.lenient(about, value[key])
            except InvalidValue:
                if not about.get(ON_ERROR):
                    raise
                if not required:
                    del read[key]
                elif self.flat(about).get("type") == "array":
                    read[key] = []
                else:
                    raise
        return read

    def _array(self, schema: Schema, value: list[Any]) -> list[Any]:
        read = []
        for item in value:
            try:
                read.append(self.lenient(schema["items"], item))
            except InvalidValue:
                if not schema.get(SKIP):
                    raise
        return read

    # --- writing samples -----------------------------------------------------------------

    def samples(self, schema: Schema, depth: int = 0) -> list[Any]:
        """Values that together use every field and every alternative of ``schema``."""
        return [
            sample
            for alternative in self.alternatives(schema)
            for sample in self._samples(alternative, depth)
        ]

    def _samples(self, schema: Schema, depth: int) -> list[Any]:
        if "const" in schema:
            return [schema["const"]]
        kinds = schema.get("type")
        kind = kinds[0] if isinstance(kinds, list) else kinds
        if kind == "object" or "properties" in schema:
            return self._objects(schema, depth)
        if kind == "array":
            return [self.samples(schema["items"], depth + 1)]
        return {
            "string": ["some text"],
            "integer": [12],
            "number": [0.5],
            "boolean": [True],
            "null": [None],
            None: [{"any": ["json", 1, False]}],
        }[kind]

    def _objects(self, schema: Schema, depth: int) -> list[Any]:
        fields: dict[str, list[Any]] = {}
        for key, about in schema.get("properties", {}).items():
            if key == "_meta":
                fields[key] = [{"from": "a test"}]
            else:
                found = [item for item in self.samples(about, depth + 1) if item is not None]
                if found:
                    fields[key] = found
        if not fields:
            return [{"NAME": "value"}] if "additionalProperties" in schema else [{}]
        many = max(len(found) for found in fields.values())
        written = [
            {key: found[turn % len(found)] for key, found in fields.items()} for turn in range(many)
        ]
        for item in written:
            item["x-unknown"] = {"kept": True}
        return copy.deepcopy(written)

    # --- finding marks -------------------------------------------------------------------

    def marks(self, schema: Schema, value: Any, path: tuple[Any, ...] = ()) -> Iterator[Mark]:
        """Every marked field in ``value``."""
        alternative = self._fitting(schema, value)
        if isinstance(value, dict):
            for key, about in alternative.get("properties", {}).items():
                if key not in value:
                    continue
                here = (*path, key)
                required = key in alternative.get("required", ())
                for mark in (ON_ERROR, ON_NULL, SKIP):
                    if about.get(mark):
                        yield Mark(mark, here, about, required)
                yield from self.marks(about, value[key], here)
        elif isinstance(value, list) and "items" in alternative:
            for index, item in enumerate(value):
                yield from self.marks(alternative["items"], item, (*path, index))

    def _fitting(self, schema: Schema, value: Any) -> Schema:
        for alternative in self.alternatives(schema):
            try:
                self._one(alternative, value)
            except InvalidValue:
                continue
            return alternative
        raise AssertionError("a sample does not fit its own schema")

    def junk_for(self, about: Schema) -> list[Any]:
        """Values that are invalid for a field."""
        found = []
        for value in JUNK:
            try:
                self.lenient(about, value)
            except InvalidValue:
                found.append(value)
        return found


@frozen
class Mark:
    """A leniency mark and the place of its field in a sample."""

    kind: str
    path: tuple[Any, ...]
    about: Schema
    required: bool


def put(value: Any, path: tuple[Any, ...], item: Any) -> Any:
    """A copy of ``value`` with ``item`` at ``path``."""
    made = copy.deepcopy(value)
    target = made
    for step in path[:-1]:
        target = target[step]
    target[path[-1]] = item
    return made


def get(value: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        value = value[step]
    return value


def without(value: Any, path: tuple[Any, ...]) -> Any:
    """A copy of ``value`` without the field at ``path``."""
    made = copy.deepcopy(value)
    del get(made, path[:-1])[path[-1]]
    return made


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The place of everything inside ``value``."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield (*path, key)
            yield from paths(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield (*path, index)
            yield from paths(item, (*path, index))


def foreign(reading: Reading, schema: Any, value: Any) -> list[str]:
    """Keys in ``value`` that no alternative of ``schema`` names."""
    alternatives = reading.alternatives(schema)
    found: list[str] = []
    if isinstance(value, dict):
        for key, item in value.items():
            about = [a["properties"][key] for a in alternatives if key in a.get("properties", {})]
            if not about:
                found.append(key)
            elif key != "_meta":
                found += min((foreign(reading, part, item) for part in about), key=len)
    elif isinstance(value, list):
        arrays = [a["items"] for a in alternatives if "items" in a]
        for item in value:
            found += min((foreign(reading, part, item) for part in arrays), key=len)
    return found


_EMPTY_IS_ABSENT = frozenset(
    {"additionalDirectories", "args", "availableCommands", "configOptions", "env", "icons", "sizes"}
)


def without_nulls(value: Any) -> Any:
    """``value`` without fields that are null, which version 1 takes for absent, and without
    the lists of which it says that an empty one is the same as none.
    """
    if isinstance(value, dict):
        return {
            key: without_nulls(item)
            for key, item in value.items()
            if item is not None and not (item == [] and key in _EMPTY_IS_ABSENT)
        }
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    return value
