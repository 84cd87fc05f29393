"""What holds for each version of the protocol."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest
from attrs import field, frozen

from acp_sidecar.acp import model, v1, v2
from tests.schema.case import Case
from tests.schema.reading import ON_ERROR, SKIP, Reading, foreign, get, put, without
from tests.schema.v1 import cases as v1_cases
from tests.schema.v2 import cases as v2_cases


@frozen
class Version:
    """A version, what is received in it, and what is sent."""

    name: str
    module: ModuleType
    cases: dict[str, Case] = field(repr=False)
    written: list[tuple[str, Any]] = field(repr=False)


VERSIONS = (
    Version("v1", v1, v1_cases.CASES, v1_cases.WRITTEN),
    Version("v2", v2, v2_cases.CASES, v2_cases.WRITTEN),
)
RECEIVED = [
    pytest.param(version.name, case, id=f"{version.name} {name}")
    for version in VERSIONS
    for name, case in version.cases.items()
]
WRITTEN = [
    pytest.param(version.name, *each, id=f"{version.name} {each[0]} {number}")
    for version in VERSIONS
    for number, each in enumerate(version.written)
]
each_version = pytest.mark.parametrize("version", VERSIONS, ids=lambda version: version.name)


@pytest.fixture(scope="session")
def readings(v1_schema: dict[str, Any], v2_schema: dict[str, Any]) -> dict[str, Reading]:
    return {"v1": Reading(v1_schema), "v2": Reading(v2_schema)}


@pytest.mark.parametrize(("version", "case"), RECEIVED)
def test_a_valid_message_comes_through_whole(
    version: str, case: Case, readings: dict[str, Reading]
) -> None:
    """Decoded and encoded again, a message says the same: ``_meta`` and unknown fields too."""
    reading = readings[version]
    found = case.samples(reading)
    assert found
    for sample in found:
        reading.validate(case.definition, sample)
        case.says_the_same(sample, sample)
        written = case.encode(case.decode(sample))
        reading.validate(case.definition, written)
        assert written.get("x-unknown") == sample.get("x-unknown")


@pytest.mark.parametrize(("version", "case"), RECEIVED)
def test_an_invalid_item_costs_itself_only(
    version: str, case: Case, readings: dict[str, Reading]
) -> None:
    """Breaking exactly one item of an array that the schema marks as skip-invalid-items."""
    reading = readings[version]
    for sample in case.samples(reading):
        for mark in reading.marks(reading.of(case.definition), sample):
            if mark.kind != SKIP:
                continue
            items = get(sample, mark.path)
            about = reading.flat(mark.about)["items"]
            for junk in reading.junk_for(about):
                case.says_the_same(put(sample, mark.path, [junk, *items, junk]), sample)


@each_version
def test_a_broken_capability_is_one_the_agent_does_not_have(
    version: Version, readings: dict[str, Reading]
) -> None:
    """Every field of the answer to ``initialize`` that may be left out, broken: the others stay."""
    reading = readings[version.name]

    def facts(answer: Any) -> Any:
        info: model.AgentInfo = version.module.initialize_result(answer)
        read = version.module.encode(info)
        del read["raw"]
        return read

    (sample, *_) = reading.samples(reading.of("InitializeResponse"))
    untouched = facts(sample)
    broken = 0
    for mark in reading.marks(reading.of("InitializeResponse"), sample):
        for junk in reading.junk_for(mark.about):
            if mark.kind == ON_ERROR:
                read = facts(put(sample, mark.path, junk))
                assert read == facts(without(sample, mark.path)), (mark.path, junk)
                broken += read != untouched
    assert broken > 20


@pytest.mark.parametrize(("version", "definition", "written"), WRITTEN)
def test_what_we_write_fits_the_schema(
    version: str, definition: str, written: Any, readings: dict[str, Reading]
) -> None:
    readings[version].validate(definition, written)


@each_version
def test_what_we_write_has_no_field_the_schema_does_not_know(
    version: Version, readings: dict[str, Reading]
) -> None:
    """A misspelt optional field would fit the schema too."""
    reading = readings[version.name]
    for definition, written in version.written:
        assert foreign(reading, reading.of(definition), written) == [], definition
