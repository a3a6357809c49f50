"""The facts a reader needs to place the numbers: date, processor, memory, versions. Never a host or user name."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

PACKAGES = ("duckdb", "sqlglot", "deltalake", "delta-explain")


def machine_facts() -> list[str]:
    """One line each, ready to print."""
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    return [
        f"date: {datetime.now(UTC):%Y-%m-%d}",
        f"machine: {os.cpu_count()} cores, {_memory()}, {platform.machine()}, {platform.system()}",
        f"versions: Python {platform.python_version()}, {packages}",
    ]


def load() -> float:
    """How many processes want a core, over the last minute."""
    return os.getloadavg()[0]


def _memory() -> str:
    """The memory of the machine, where the kernel tells."""
    file = Path("/proc/meminfo")
    if not file.exists():
        return "memory unknown"
    (line,) = (line for line in file.read_text(encoding="utf-8").splitlines() if line.startswith("MemTotal:"))
    return f"{int(line.split()[1]) / 1024**2:.0f} GB of memory"
