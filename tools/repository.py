"""The files a check looks at: what git tracks or would track, from the root of the checkout."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parent.parent


def repository_files(root: Path) -> list[Path]:
    """Every file that is or could be committed, relative to the root and sorted; what git ignores is not there."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout
    return sorted(Path(name) for name in listed.split("\0") if name and (root / name).is_file())


def conclude(title: str, problems: Iterable[str]) -> int:
    """Print the outcome; the exit code."""
    found = sorted(problems)
    print(title if not found else f"{title}: {len(found)} problem{'s' if len(found) > 1 else ''}")
    for problem in found:
        print(f"  {problem}", file=sys.stderr)
    return 1 if found else 0
