"""What a plan remembers of a hand-off: the path that was taken, and who applies which clause."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeprune.apps.scan.model import HandOff, Pushdown

if TYPE_CHECKING:
    from lakeprune.apps.scan.model import ScanPlan
    from lakeprune.apps.scan.options import ScanOptions


def remember(plan: ScanPlan, engine: str, path: str, options: ScanOptions, reader: str = "lakeprune, row by row") -> None:
    """Clauses that the plan guarantees need nobody; the others are the reader's, or the caller's without pushdown."""
    applied = {
        clause.text: "the plan" if clause.pushdown is Pushdown.EXACT else reader if options.pushdown else "the caller"
        for clause in plan.clauses
    }
    plan.memo.handoff = HandOff(engine, path, applied)
