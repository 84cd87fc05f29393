"""A ledger in the first turn of a session."""

from __future__ import annotations

import pytest

from acp_sidecar.workspace.files import Files
from acp_sidecar.workspace.ledger import Ledger
from tests.workspace.hand import Hand


@pytest.fixture
def files(hand: Hand) -> Files:
    return hand.files()


@pytest.fixture
def ledger(files: Files) -> Ledger:
    ledger = Ledger(files, within=lambda path: True)
    ledger.begin_turn()
    return ledger
