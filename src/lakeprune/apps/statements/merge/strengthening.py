"""Step 6's condition of a MERGE: ON with the keys of the source beside it, as far as Delta's own plan gets smaller by them.

In: a `MergeRead`. Out: a `Strengthening`. Every added condition is TRUE for every pair of rows that ON matches. Nothing is run.
"""

from __future__ import annotations

from collections.abc import Sequence

from lakeprune.apps.statements.merge.keys import delta_condition
from lakeprune.apps.statements.merge.on import TARGET
from lakeprune.apps.statements.merge.reading import MergeRead
from lakeprune.apps.statements.plan import Strengthening
from lakeprune.apps.statements.spark_target import speaking
from lakeprune.apps.statements.strengthen import strengthened
from lakeprune.formats.delta.spark_scan import DeltaScan, scan_of
from lakeprune.predicate.schema import Role


def strengthening_of(read: MergeRead, candidates: int) -> Strengthening:
    """ON with the keys of the source beside it, each that makes Delta's own plan smaller."""
    is_wanted = bool(read.asked.options.get("strengthen", True))
    as_written = scan_with(read, ())
    smallest = as_written
    added: list[str] = []
    beside: list[str] = []
    # Partition values first: by them alone Delta tells that somebody else's commit does not concern this one.
    by_role = sorted(read.bounds, key=lambda found: found.key.column.role is not Role.PARTITION)
    for found in by_role if is_wanted else ():
        if smallest.files <= candidates:
            break
        alone = delta_condition(found, None, read.zone)
        scanned = scan_with(read, (*beside, alone))
        if scanned.files < smallest.files:
            smallest = scanned
            beside.append(alone)
            added.append(delta_condition(found, TARGET, read.zone))
    if not added:
        return Strengthening(as_written, None, (), None, read.zone, is_wanted)
    return Strengthening(as_written, strengthened(read.on, added), tuple(added), smallest, read.zone, is_wanted)


def scan_with(read: MergeRead, beside: Sequence[str]) -> DeltaScan:
    """What Delta scans of the target: by the conditions on the target alone, and by nothing else."""
    where = " AND ".join(f"({part})" for part in (*read.alone, *beside)) or "TRUE"
    with speaking(read.target.location):
        return scan_of(read.target.spark, read.target.location, read.target.version, where)
