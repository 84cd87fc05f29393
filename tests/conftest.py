"""For all tests: the same examples in every run of CI, new ones on a developer's machine;
nothing of the demo agent's in the user's own folders."""

from __future__ import annotations

import os

from hypothesis import settings

# The demo agent keeps its sessions in the user's state folder. Not those of tests.
os.environ["ACP_DEMO_STATE"] = ""

settings.register_profile("ci", derandomize=True, deadline=None, print_blob=True)
if os.environ.get("CI"):
    settings.load_profile("ci")
