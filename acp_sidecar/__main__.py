"""``python -m acp_sidecar``: the same as the command ``acp-sidecar``."""

import sys

from acp_sidecar.cli import main

sys.exit(main())
