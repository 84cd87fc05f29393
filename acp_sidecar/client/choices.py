"""The options of a permission request as buttons that cannot be mistaken for one another.

An option's kind is a hint for its place and its title, it decides nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from attrs import frozen

from acp_sidecar.acp.model import PermissionOption
from acp_sidecar.client.visible import likeness, visible

# How far an option's kind goes. Lower is safer; kinds nobody knows count as the furthest.
_REACH: Final[Mapping[str | None, int]] = {
    "reject_once": 0,
    "reject_always": 1,
    "allow_once": 2,
    "allow_always": 3,
}
_UNKNOWN_REACH: Final = 4

# Commands and patterns that a name quotes are not its own words: `git stop`, Bash(rm:*).
_QUOTED: Final = re.compile(r"`[^`]*`|\"[^\"]*\"|“[^”]*”|«[^»]*»|(?<=\w)\([^()]*\)")
_APOSTROPHES: Final = str.maketrans("’‘´ʼ′＇", "''''''")
_UNASKED: Final = re.compile(
    r"\b(?:don't|dont|do not|not|never|no longer|stop|without) (?:ask|prompt|confirm)(?:ing|s)?\b"
)
_YES: Final = re.compile(
    r"\b(?:yes|yep|yeah|yup|sure|ok|okay|run|continue|go ahead|(?:allow|approv|accept|proceed"
    r"|grant|permit|confirm|trust|agree|authori[sz])[a-z]*)\b"
)
_NO: Final = re.compile(
    r"\b(?:no|nope|nah|not|never|nothing|none|cannot|dont|[a-z]+n't|den(?:y|ied|ies|ying)|quit"
    r"|halt|(?:reject|declin|refus|disallow|disapprov|disagree|abort|cancel|forbid|prohibit"
    r"|prevent|block|stop|skip|dismiss)[a-z]*)\b"
)
_ONCE: Final = re.compile(
    r"\b(?:once|one time|this time|just now|for now|only this|single|temporar(?:y|ily))\b"
)
_ALWAYS: Final = re.compile(
    r"\b(?:always|forever|permanent(?:ly)?|every ?time|from now on|in (?:the )?future|remember"
    r"|session|all)\b"
)


@frozen
class Choice:
    """One button. ``title`` is unique within its question and begins with ``name``."""

    option_id: str
    name: str
    kind: str | None
    title: str


def choices(options: Iterable[PermissionOption]) -> tuple[Choice, ...]:
    """The agent's options as buttons: rejecting ones first, else in the agent's order.

    Of options with one id the safest is kept, in the first one's place. A title is the
    option's name, followed by its kind where two names look alike or a name says other
    than its kind, and by a number where that is not enough.
    """
    kept: dict[str, PermissionOption] = {}
    for option in options:
        other = kept.get(option.option_id)
        if other is None or _reach(option) < _reach(other):
            kept[option.option_id] = option
    ordered = sorted(kept.values(), key=lambda option: not _rejects(option))
    names = [_shown_name(option) for option in ordered]
    times = Counter(map(likeness, names))
    titles: list[str] = []
    for option, name in zip(ordered, names, strict=True):
        unclear = times[likeness(name)] > 1 or contradicts(option.name, option.kind or "")
        titles.append(f"{name} ({visible(option.kind)})" if option.kind and unclear else name)
    return tuple(
        Choice(option.option_id, option.name, option.kind, title)
        for option, title in zip(ordered, _numbered(titles), strict=True)
    )


def refusable(options: Iterable[PermissionOption]) -> bool:
    """Whether none of the agent's options is a sure no, so that to give no answer is to be
    offered beside them. An id that is also offered as something else is no sure one.
    """
    ids: dict[str, bool] = {}
    for option in options:
        ids[option.option_id] = ids.get(option.option_id, True) and _rejects(option)
    return not any(ids.values())


def distinct(names: Iterable[str]) -> list[str]:
    """Titles for names of anything: visible, and none like another one."""
    return _numbered([visible(name).strip() or "(nameless)" for name in names])


def contradicts(name: str, kind: str) -> bool:
    """Whether an option's name says yes, no, once or always where its kind says otherwise.

    A name that says yes and no at a time contradicts a kind that allows: nobody may take
    for a no what is none.
    """
    if kind not in _REACH:
        return False
    said = likeness(_QUOTED.sub(" ", _hiding_nothing(name)).translate(_APOSTROPHES))
    said = re.sub(r"[_/-]+", " ", said)
    unasked = _UNASKED.search(said) is not None
    once, always = _ONCE.search(said), unasked or _ALWAYS.search(said)
    if (once and kind.endswith("_always")) or (always and kind.endswith("_once")):
        return True
    said = _UNASKED.sub(" ", said)
    yes, no = _YES.search(said), _NO.search(said)
    if kind.startswith("allow"):
        return no is not None
    return yes is not None and (no is None or yes.start() < no.start())


def _hiding_nothing(name: str) -> str:
    return "".join(character for character in name if character.isprintable())


def _shown_name(option: PermissionOption) -> str:
    return visible(option.name).strip() or visible(option.option_id)


def _numbered(titles: list[str]) -> list[str]:
    taken: set[str] = set()
    result: list[str] = []
    for title in titles:
        unique, number = title, 2
        while likeness(unique) in taken:
            unique, number = f"{title} ({number})", number + 1
        taken.add(likeness(unique))
        result.append(unique)
    return result


def _reach(option: PermissionOption) -> int:
    return _REACH.get(option.kind, _UNKNOWN_REACH)


def _rejects(option: PermissionOption) -> bool:
    return _reach(option) <= _REACH["reject_always"]
