"""Every test, in three processes side by side: those on Spark, those that wait for servers, and everything else.

In: nothing. Out: the reports, one after the other; 1 when one failed, or when DuckDB reports at the end of a process that
something was never closed. Spark and the rest take about one core each; who waits takes hardly any.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

APART = ("tests/spark", "tests/storage")  # what runs beside the rest
LEAK = "nanobind: leaked"  # printed by the library that binds DuckDB to Python, when Python exits
_LOGS = Path("build")


def main() -> int:
    """The exit code: 0 when all passed and nothing leaked."""
    pytest = [sys.executable, "-m", "pytest", "-q"]
    _LOGS.mkdir(exist_ok=True)
    beside = []
    for folder in APART:
        log = _LOGS / f"{folder.replace('/', '-')}.txt"
        with log.open("wb") as file:
            beside.append((folder, log, subprocess.Popen([*pytest, folder], stdout=file, stderr=file)))
    code, leaks = watched([*pytest, *(f"--ignore={folder}" for folder in APART)])
    for folder, log, process in beside:
        print(f"and now those that have been running beside: {folder}", flush=True)
        code = process.wait() or code
        report = log.read_text(errors="replace")
        leaks = leaks or LEAK in report
        sys.stdout.write(report)
    if leaks:
        print("a DuckDB connection was open at the end: use the engine inside `with engine.awake()`", file=sys.stderr)
    return 1 if code or leaks else 0


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
