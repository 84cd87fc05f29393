"""How one definition of the schema is read, and how what was read is written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attrs import frozen

from tests.schema.reading import Reading, without_nulls


def _as_it_is(sample: Any) -> Any:
    return sample


@frozen
class Case:
    """A definition that we receive."""

    definition: str
    decode: Callable[[Any], Any]
    encode: Callable[[Any], Any]
    constants: dict[str, Any] | None = None
    completed: Callable[[Any], Any] = _as_it_is
    """Puts into a sample what the schema asks for in its prose only."""

    def samples(self, reading: Reading) -> list[Any]:
        """Values with each field and each alternative of the definition."""
        found = reading.samples(reading.of(self.definition))
        return [{**(self.constants or {}), **self.completed(sample)} for sample in found]

    def says_the_same(self, given: Any, wanted: Any) -> None:
        """``given`` is read as what ``wanted`` says."""
        assert without_nulls(self.encode(self.decode(given))) == without_nulls(wanted)


def usable_options(request: dict[str, Any]) -> list[str]:
    """The ids of the answers that can be given to a permission request, read from its JSON."""
    offered = request.get("options")
    return [
        option["optionId"]
        for option in (offered if isinstance(offered, list) else [])
        if isinstance(option, dict)
        and isinstance(option.get("optionId"), str)
        and option["optionId"]
    ]
