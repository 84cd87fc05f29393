"""An agent that wants a login, and the methods that it offers."""

from __future__ import annotations

from typing import Any

from tests.e2e.puppet import Puppet

WANTED = {"code": -32000, "message": "Authentication required"}
OAUTH = {"id": "oauth", "name": "Sign in", "description": "in a browser"}
KEY = {"id": "api-key", "name": "API key", "description": None}
TTY = {
    "id": "tty",
    "name": "Terminal",
    "type": "terminal",
    "args": ["--login", "two words"],
    "env": {"LOGIN_MODE": "device"},
}
VARS = {
    "id": "vars",
    "name": "Environment",
    "type": "env_var",
    "link": "https://example.com/keys",
    "vars": [
        {"name": "PUPPET_CODE", "label": "Code"},
        {"name": "PUPPET_REGION", "optional": True, "secret": False},
    ],
}


class Login:
    """A puppet that wants a login until it has had one."""

    def __init__(self, puppet: Puppet, *methods: dict[str, Any]) -> None:
        self.puppet = puppet
        self.methods = list(methods)
        puppet.answers["initialize"] = self.initialize
        self.new_session = puppet.answers.pop("session/new")

    def initialize(self, params: dict[str, Any]) -> Any:
        return {**self.puppet._initialize(params), "authMethods": self.methods}

    async def refuse(self, method: str = "session/new") -> dict[str, Any]:
        asked = await self.puppet.incoming(method)
        self.puppet.send({"id": asked["id"], "error": WANTED})
        return asked

    async def let_in(self, method: str = "session/new") -> None:
        asked = await self.puppet.incoming(method)
        self.puppet.answer(asked, self.new_session(asked["params"]))

    def sent(self, method: str) -> int:
        return sum(message.get("method") == method for message in self.puppet.seen)
