"""Every test, in two processes side by side: those on Spark, and everything else.

In: nothing. Out: both reports, one after the other; 1 when either failed. Each half takes about one core.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SPARK = "tests/spark"
_LOG = Path("build") / "tests-on-spark.txt"


def main() -> int:
    """The exit code: 0 when all passed."""
    pytest = [sys.executable, "-m", "pytest", "-q"]
    _LOG.parent.mkdir(exist_ok=True)
    with _LOG.open("wb") as log:
        on_spark = subprocess.Popen([*pytest, SPARK], stdout=log, stderr=log)
        rest = subprocess.run([*pytest, f"--ignore={SPARK}"], check=False)
        print(f"and now those on Spark, which have been running beside: {SPARK}", flush=True)
        on_spark.wait()
    sys.stdout.write(_LOG.read_text(errors="replace"))
    return 1 if rest.returncode or on_spark.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
