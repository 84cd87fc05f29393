"""Runs every measurement, or those named: ``python -m bench [wire session ...]``."""

from __future__ import annotations

import importlib
import pkgutil
import sys

import bench


def main() -> None:
    names = sorted(module.name for module in pkgutil.iter_modules(bench.__path__))
    for name in sys.argv[1:] or [name for name in names if name != "__main__"]:
        module = importlib.import_module(f"bench.{name}")
        if hasattr(module, "main"):
            print(f"\n# {name}: {(module.__doc__ or '').strip().splitlines()[0]}", flush=True)
            module.main()


if __name__ == "__main__":
    main()
