"""What an agent wants to know, in words for a person: who wants what, and all to look at first.

Everything an agent wrote is made visible, so that no text can hide or fake a line.
"""

from __future__ import annotations

from typing import Final

from acp_sidecar.acp.elicitation import Form
from acp_sidecar.client.question import Fact, beginning
from acp_sidecar.client.visible import visible

_MOST: Final = 2_000
"""Characters shown of one text of the agent's."""


def headline(agent: str, url: str | None) -> str:
    """Who wants what: a page is opened, or something said."""
    what = "know something" if url is None else "open a page in your browser"
    return f"{visible(agent)} wants to {what}"


def short(agent: str, message: str, url: str | None, host: str | None) -> str:
    """The same in one line with what it is about, for a list of what waits."""
    if url is not None:
        return beginning(f"{visible(agent)} wants to open a page of {visible(host or '')}")
    first = message.partition("\n")[0]
    return beginning(f"{visible(agent)} wants to know: {cut(first)}")


def facts(message: str, form: Form | None, url: str | None, host: str | None) -> tuple[Fact, ...]:
    """What there is to look at: where a browser would go and what to be warned of there, what
    the agent says, and what it calls the form."""
    said = Fact(f"It says: {cut(message)}", "message", message)
    if url is not None:
        return (
            Fact(f"Host: {visible(host or '')}", "host", host),
            Fact(f"Address: {visible(url)}", "address", url),
            *_warnings(url),
            said,
        )
    lines = []
    if form is not None and form.title:
        lines.append(f"Form: {cut(form.title)}")
    if form is not None and form.description:
        lines.append(cut(form.description))
    return (said, *map(Fact, lines))


def _warnings(url: str) -> list[Fact]:
    if url.lower().startswith("http:"):
        return [Fact("It is not encrypted (http)", "warning")]
    return []


def cut(text: str) -> str:
    """A text of the agent's, safe to show, and not too much of it."""
    return visible(text[:_MOST]) + ("…" if len(text) > _MOST else "")
