"""A call of the agent's, as the handler gets it."""

from __future__ import annotations

import logging
from collections.abc import Callable

from attrs import define, field

from acp_sidecar.acp import jsonrpc
from acp_sidecar.acp.model import UNSET, Json, Unset

log = logging.getLogger(__name__)


@define(eq=False)
class IncomingRequest:
    """A call of the agent's. It is answered exactly once: later answers are dropped."""

    id: jsonrpc.JsonId
    method: str
    params: Json
    """As received, ``None`` for none."""
    _answer: Callable[[IncomingRequest, jsonrpc.Response], None]
    answered: bool = False
    """True once an answer was given, or nobody is left to take one."""
    cancelled: bool = False
    """True once the agent has withdrawn the request or is gone."""
    _on_cancel: list[Callable[[], None]] = field(factory=list)

    def result(self, value: Json) -> bool:
        """Answers with a result, any JSON value. False if it was answered before."""
        return self._respond(jsonrpc.Response(self.id, value))

    def error(self, code: int, message: str, data: Json | Unset = UNSET) -> bool:
        """Answers with an error. False if it was answered before."""
        return self._respond(jsonrpc.Response(self.id, UNSET, jsonrpc.Error(code, message, data)))

    def on_cancel(self, callback: Callable[[], None]) -> None:
        """Calls back once, as soon as the answer is no longer wanted.

        That is when the agent sends ``$/cancel_request`` (the request still wants an answer,
        ``-32800`` or what was found so far: ACP, Cancellation) or when the agent is gone. On a
        request that is withdrawn already it calls at once; on an answered one never.
        """
        if self.cancelled:
            callback()
        elif not self.answered:
            self._on_cancel.append(callback)

    def _respond(self, response: jsonrpc.Response) -> bool:
        if self.answered:
            return False
        self.answered = True
        self._on_cancel.clear()
        self._answer(self, response)
        return True

    def withdraw(self) -> None:
        """The connection's word that the answer is no longer wanted."""
        self.cancelled = True
        callbacks, self._on_cancel = self._on_cancel, []
        for callback in callbacks:
            try:
                callback()
            except Exception:  # boundary: one listener must not cost the others
                log.exception("a listener to the withdrawal of %s failed", self.method)
