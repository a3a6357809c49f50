"""Environments with one version of the official Python client each, below build/clients (`make clients` makes all of them).

A version whose environment is not there is installed from its hashed requirements; where no registry is reachable, tests skip.
"""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tools.repository import ROOT

VERSIONS = ("1.0.5", "1.2.0", "1.4.2")


@cache
def client_python(version: str) -> Path:
    """The interpreter of an environment that has this version; a skip with the reason when it cannot be made."""
    folder = ROOT / "build" / "clients" / f"delta-sharing-{version}"
    python, done = folder / "bin" / "python", folder / ".installed"
    if not done.exists():
        requirements = ROOT / "requirements" / f"delta-sharing-{version}.txt"
        install = ["install", "-q", "--disable-pip-version-check", "--no-compile", "--require-hashes", "--timeout", "10"]
        steps = [
            [sys.executable, "-m", "venv", "--clear", str(folder)],
            [str(python), "-m", "pip", *install, "-r", str(requirements)],
        ]
        for step in steps:
            made = subprocess.run(step, capture_output=True, text=True, check=False)
            if made.returncode:
                pytest.skip(f"delta-sharing {version} cannot be installed: {made.stderr.strip().splitlines()[-1:]}")
        done.touch()
    return python


if __name__ == "__main__":
    try:
        for each in VERSIONS:
            client_python(each)
    except pytest.skip.Exception as skipped:
        sys.exit(str(skipped))
