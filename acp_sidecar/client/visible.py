"""What an agent wrote, made fit to be read by a person who decides by it."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_SHORT: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
# Printable by category, yet they show nothing: Hangul fillers, the Braille blank, joiners.
_BLANK: Final = re.compile("[\u115f\u1160\u2800\u3164\uffa0\u034f\u17b4\u17b5]")
# They choose between forms of the character before them and show nothing themselves.
_SELECTOR: Final = re.compile("[\ufe00-\ufe0f\u180b-\u180d\u180f\U000e0100-\U000e01ef]")
_EMOJI_SELECTORS: Final = "\ufe0e\ufe0f"

# Letters of other scripts that look like Latin ones in most fonts.
_LOOKS_LATIN: Final = str.maketrans(
    "аеорсухіјѕһԁԛԝьАВЕКМНОРСТУХЅІЈαορνιΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "aeopcyxijshdqwbABEKMHOPCTYXSIJaopviABEZHIKMNOPTYX",
)


def visible(text: str) -> str:
    """``text`` with every character that could hide or fake something shown as an escape.

    Control, format (bidi, zero-width, tag), surrogate, private-use and separator
    characters, blanks other than the plain space and variation selectors (but for those of
    an emoji) become ``\\n``, ``\\t``, ``\\u202e`` and the like; Markdown links are defused,
    since editors render them in dialogs.
    """
    shown = text if text.isprintable() else "".join(map(_visible, text))
    if not shown.isascii():
        shown = _SELECTOR.sub(_selector, _BLANK.sub(lambda blank: _escaped(blank[0]), shown))
    return shown.replace("](", "] (")


def likeness(text: str) -> str:
    """What ``text`` has in common with all texts that a person might take for it: without
    regard to case, blanks, composition, width, and scripts that share letters' shapes."""
    shown = unicodedata.normalize("NFKC", _SELECTOR.sub("", text)).translate(_LOOKS_LATIN)
    return " ".join(shown.casefold().split())


def _visible(character: str) -> str:
    if character.isprintable():
        return character
    return _SHORT.get(character) or _escaped(character)


def _selector(match: re.Match[str]) -> str:
    before = match.string[max(match.start() - 1, 0) : match.start()]
    of_emoji = before and unicodedata.category(before) in ("So", "Sm")
    return match[0] if of_emoji and match[0] in _EMOJI_SELECTORS else _escaped(match[0])


def _escaped(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
