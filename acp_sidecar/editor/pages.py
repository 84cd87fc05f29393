"""A page of the web in the user's browser: ``window/showDocument`` with ``external``.

LSP 3.17, "Show Document Request". An editor that cannot is told of the address instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from acp_sidecar.editor.server import ClientError, ClientGone

if TYPE_CHECKING:
    from acp_sidecar.editor.capabilities import ClientFeatures
    from acp_sidecar.editor.server import SidecarServer

_ANSWER_SECONDS: Final = 30


class Pages:
    """The browser, as one editor reaches it."""

    def __init__(
        self, server: SidecarServer, features: ClientFeatures, tell: Callable[[str], None]
    ) -> None:
        self._server = server
        self._features = features
        self._tell = tell

    async def open(self, url: str) -> None:
        """Open an address to which the user has agreed; say it where that does not work."""
        if self._features.show_document and await self._shown(url):
            return
        self._tell(f"Open this address in your browser: {url}")

    async def _shown(self, url: str) -> bool:
        params = {"uri": url, "external": True, "takeFocus": True}
        try:
            answer = await self._server.request(
                "window/showDocument", params, timeout=_ANSWER_SECONDS
            )
        except ClientGone:
            return True
        except (ClientError, TimeoutError):
            return False
        return not (isinstance(answer, Mapping) and answer.get("success") is False)
