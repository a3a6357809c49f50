"""What only Delta tables can be asked: statements, an audit of their statistics, a change data feed."""

from __future__ import annotations

from lakeprune.errors import TableError
from lakeprune.formats.snapshot import SnapshotFacts


def delta_version(facts: SnapshotFacts, what: str) -> int:
    """The version of a Delta table; LP347 for any other, whose message `what` begins."""
    if facts.format != "delta" or facts.version is None:
        fix = "give a Delta table; `lakeprune explain` reads other formats too"
        raise TableError("LP347", f"{what} needs a Delta table", where=f"{facts.title}: {facts.location}", fix=fix)
    return facts.version
