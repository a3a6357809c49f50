"""Environments with an older line of Spark each, below build/spark-lines, from hashed requirements."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tools.repository import ROOT


@cache
def line_python(line: str) -> Path:
    """The interpreter of an environment with this line of PySpark and its Delta; a skip when it cannot be made."""
    folder = ROOT / "build" / "spark-lines" / line
    python, done = folder / "bin" / "python", folder / ".installed"
    if not done.exists():
        install = ["install", "-q", "--disable-pip-version-check", "--no-compile", "--require-hashes", "--timeout", "10"]
        steps = [
            [sys.executable, "-m", "venv", "--clear", str(folder)],
            [str(python), "-m", "pip", *install, "-r", str(ROOT / "requirements" / f"pyspark-{line}.txt")],
        ]
        for step in steps:
            made = subprocess.run(step, capture_output=True, text=True, check=False)
            if made.returncode:
                pytest.skip(f"PySpark {line} cannot be installed: {made.stderr.strip().splitlines()[-1:]}")
        done.touch()
    return python
