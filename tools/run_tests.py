"""Every test, in two processes side by side: what starts servers, browsers and Spark, and everything else.

In: nothing. Out: both reports, one after the other; 1 when either failed. Tests of the first kind wait for other processes most
of the time, and only one of them has a Spark session.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

BESIDE = ("tests/spark", "tests/stores", "tests/browser")
_LOG = Path("build") / "tests-with-servers.txt"


def main() -> int:
    """The exit code: 0 when all passed."""
    pytest = [sys.executable, "-m", "pytest", "-q"]
    _LOG.parent.mkdir(exist_ok=True)
    with _LOG.open("wb") as log:
        beside = subprocess.Popen([*pytest, *BESIDE], stdout=log, stderr=log)
        rest = subprocess.run([*pytest, *(f"--ignore={folder}" for folder in BESIDE)], check=False)
        print(f"and now those with servers, browsers and Spark: {', '.join(BESIDE)}", flush=True)
        beside.wait()
    sys.stdout.write(_LOG.read_text(errors="replace"))
    return 1 if rest.returncode or beside.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
