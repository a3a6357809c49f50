"""lakeprune's own hand-off: the plan as a stream of Arrow batches."""

from __future__ import annotations

from lakeprune import __version__
from lakeprune.apps.compare.engines.ran import Asked, Ran
from lakeprune.errors import UsageError


def run(asked: Asked) -> Ran:
    from lakeprune.apps.scan.model import Pushdown
    from lakeprune.apps.scan.options import ScanOptions
    from lakeprune.apps.scan.plan import plan

    made = plan(asked.location, asked.predicate)
    rows: int | None
    try:
        rows = sum(batch.num_rows for batch in made.to_arrow())
    except UsageError:  # a clause has no exact form here: the files are read all the same, and rows are not counted
        rows = None if sum(batch.num_rows for batch in made.to_arrow(ScanOptions(pushdown=False))) else 0
    return Ran(__version__, rows, tuple(each.text for each in made.clauses if each.pushdown is not Pushdown.UNSUPPORTED))
