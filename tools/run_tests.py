"""Every test, in six processes side by side: two on Spark, one that waits for servers, applications, formats, and the rest.

In: nothing. Out: the reports, one after the other; 1 when one failed, or when DuckDB reports at the end of a process that
something was never closed. That keeps two cores busy until the end: Spark waits a lot, and servers leave little to do.
"""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tools.spark_classes import archived

APART = ("tests/spark", "tests/storage", "tests/apps", "tests/formats")  # what runs beside the rest
ON_SPARK = 2  # processes, each with a session of its own
LEAK = "nanobind: leaked"  # printed by the library that binds DuckDB to Python, when Python exits
_LOGS = Path("build")


def main() -> int:
    """The exit code: 0 when all passed and nothing leaked."""
    pytest = [sys.executable, "-m", "pytest", "-q"]
    _LOGS.mkdir(exist_ok=True)
    with ThreadPoolExecutor(1) as pool:
        rest = pool.submit(watched, [*pytest, *(f"--ignore={folder}" for folder in APART)])
        environment = archived(_LOGS)
        beside = []
        for name, files in parts().items():
            log = _LOGS / f"{name}.txt"
            with log.open("wb") as file:
                process = subprocess.Popen([*pytest, *files], stdout=file, stderr=file, env=environment)
            beside.append((name, log, process))
        code, leaks = rest.result()
    for name, log, process in beside:
        print(f"and now those that have been running beside: {name}", flush=True)
        code = process.wait() or code
        report = log.read_text(errors="replace")
        leaks = leaks or LEAK in report
        sys.stdout.write(report)
    if leaks:
        print("a DuckDB connection was open at the end: use the engine inside `with engine.awake()`", file=sys.stderr)
    return 1 if code or leaks else 0


def parts() -> dict[str, list[str]]:
    """What runs beside the rest, by the name of its log: every file of `APART` once."""
    spark, *others = APART
    files = sorted(map(str, Path(spark).glob("test_*.py")))
    return {
        **{f"tests-spark-{k + 1}": files[k::ON_SPARK] for k in range(ON_SPARK)},
        **{folder.replace("/", "-"): [folder] for folder in others},
    }


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
