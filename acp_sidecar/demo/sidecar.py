"""``python -m acp_sidecar.demo.sidecar LOCK``: the sidecar of the demonstration.

It holds the lock for as long as it runs. It ends a moment after its editor, and the
demonstration has to know when: what it writes last would be left behind.
"""

from __future__ import annotations

import sys
from pathlib import Path

from acp_sidecar import cli
from acp_sidecar.workspace.lockfile import hold

if __name__ == "__main__":
    hold(Path(sys.argv[1]))
    sys.exit(cli.main(["serve"]))
