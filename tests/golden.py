"""Where the golden tables lie: beside the checkout, absent on most machines."""

from __future__ import annotations

from pathlib import Path

GOLDEN = (Path(__file__).parents[2] / "shared" / "golden").resolve()  # readers resolve links too
