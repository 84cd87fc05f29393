"""Logins: offered where the agent wants one, done by their kind, tried again once."""

from __future__ import annotations

import pytest

from tests.e2e.login.methods import KEY, OAUTH, Login
from tests.e2e.puppet import Puppet


@pytest.fixture
def login(puppet: Puppet) -> Login:
    return Login(puppet, OAUTH, KEY)
