"""Every test, in two processes side by side: those on Spark, and everything else.

In: nothing. Out: both reports, one after the other; 1 when either failed, or when DuckDB reports at the end of a process that
something was never closed. Each half takes about one core.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SPARK = "tests/spark"
LEAK = "nanobind: leaked"  # printed by the library that binds DuckDB to Python, when Python exits
_LOG = Path("build") / "tests-on-spark.txt"


def main() -> int:
    """The exit code: 0 when all passed and nothing leaked."""
    pytest = [sys.executable, "-m", "pytest", "-q"]
    _LOG.parent.mkdir(exist_ok=True)
    with _LOG.open("wb") as log:
        on_spark = subprocess.Popen([*pytest, SPARK], stdout=log, stderr=log)
        code, leaks = watched([*pytest, f"--ignore={SPARK}"])
        print(f"and now those on Spark, which have been running beside: {SPARK}", flush=True)
        on_spark.wait()
    report = _LOG.read_text(errors="replace")
    sys.stdout.write(report)
    if leaks or LEAK in report:
        print("a DuckDB connection was open at the end: use the engine inside `with engine.awake()`", file=sys.stderr)
        return 1
    return 1 if code or on_spark.returncode else 0


def watched(command: list[str]) -> tuple[int, bool]:
    """Run with output passed through: the exit code, and whether the leak report was in it."""
    leaks = False
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, errors="replace") as process:
        assert process.stderr is not None
        for line in process.stderr:
            leaks = leaks or LEAK in line
            sys.stderr.write(line)
    return process.returncode, leaks


if __name__ == "__main__":
    sys.exit(main())
