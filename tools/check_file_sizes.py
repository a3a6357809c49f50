"""No Python file above 400 lines: one idea per file. Two ideas are two files, and a longer limit is never the fix."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from tools.repository import ROOT, conclude, repository_files

MOST_LINES = 400


def oversized(root: Path) -> Iterator[str]:
    """Every Python file above the limit, with its length."""
    for path in repository_files(root):
        if path.suffix == ".py":
            lines = len((root / path).read_text(encoding="utf-8").splitlines())
            if lines > MOST_LINES:
                yield f"{path}: {lines} lines, at most {MOST_LINES}"


if __name__ == "__main__":
    sys.exit(conclude("file sizes", oversized(ROOT)))
