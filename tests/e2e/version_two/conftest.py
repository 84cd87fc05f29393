"""Version 2 of the protocol, where it is switched on."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.puppet import Puppet

CAPABILITIES = {"session": {"prompt": {"embeddedContext": {}}, "delete": {}}}


@pytest.fixture
def settings(puppet: Puppet) -> dict[str, Any]:
    puppet.answers["initialize"] = lambda params: {
        "protocolVersion": 2,
        "info": puppet.info,
        "capabilities": CAPABILITIES,
    }
    return {
        "agents": {"puppet": puppet.setting},
        "defaultAgent": "puppet",
        "protocolVersions": [1, 2],
    }
