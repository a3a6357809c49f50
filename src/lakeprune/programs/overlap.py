"""How much the ranges of one column overlap, file against file: one query of sorts and running sums, O(F log F).

In: a subset of files and a column. Out: `Overlap`. The depth at a value is the number of files whose range holds it; the overlap
depth is the depth that a lookup of one existing value meets on average. Values are taken as their ranks among the distinct
bounds, so that any ordered type will do, and a file's values as spread evenly over the ranks it spans; files weigh by live rows.
1 is ideal, the number of files is worst. Bounds are compared by the engine; no row of files passes through Python.
"""

from __future__ import annotations

from msgspec import Struct

from lakeprune.engines.dialect import Dialect
from lakeprune.engines.engine import Engine
from lakeprune.formats.relation import LIVE, Relation
from lakeprune.skipping.ladder import Seen


class Overlap(Struct, frozen=True):
    """The ranges of a column; `files` have both bounds, `unbounded` may hold any value (files all NULL are neither)."""

    files: int
    unbounded: int
    constant: int  # of `files`: one value only
    depth: float  # files that a lookup of one existing value reads, on average; 0 without files
    deepest: int  # files that share one value, at most


def overlap_of(engine: Engine, subset: Relation, column: Seen) -> Overlap:
    """The overlap of one column over the files of the subset, which must have been asked for the column's domain."""
    return overlaps_of(engine, subset, column, "''").get("", Overlap(0, 0, 0, 0.0, 0))


def overlaps_of(engine: Engine, subset: Relation, column: Seen, key: str) -> dict[str, Overlap]:
    """The overlap of one column within each group of files; `key` is SQL that names the group of a file and is never NULL."""
    return {
        group: Overlap(int(files), int(unbounded), int(constant), float(depth or 0), int(deepest or 0))
        for group, files, unbounded, constant, depth, deepest in engine.query(_overlap_sql(engine.dialect, subset, column, key))
    }


def _overlap_sql(dialect: Dialect, subset: Relation, column: Seen, key: str) -> str:
    lo, hi = subset.lo(column), subset.hi(column)
    # A truncated maximum may sort below the minimum it belongs to; the range then is at least the minimum.
    high = f"CASE WHEN {hi} < {lo} THEN {lo} WHEN {lo} IS NOT NULL THEN {hi} END"
    low = f"CASE WHEN {hi} IS NOT NULL THEN {lo} END"
    # Sums are cast back: some engines widen them to 128 bits, which doubles the memory of everything after.
    steps = {
        "files": (
            f"SELECT {key} AS g, {low} AS low, {high} AS high, {LIVE} AS live FROM {subset.source} AS subset "
            f"WHERE NOT {subset.all_null(column)}"
        ),
        # Files without both bounds are the one group of NULL and NULL.
        "ranges": (
            "SELECT g, low, high, count(*) AS files, count(live) AS telling, CAST(sum(live) AS BIGINT) AS live "
            "FROM files GROUP BY g, low, high"
        ),
        # A file that does not tell its rows weighs as much as the average of those that do.
        "average": "SELECT coalesce(sum(live) / sum(telling), 1) AS live FROM ranges WHERE low IS NOT NULL AND telling > 0",
        "ends": (
            "SELECT g, low AS value, files AS starting, 0 AS ending FROM ranges WHERE low IS NOT NULL "
            "UNION ALL SELECT g, high AS value, 0 AS starting, files AS ending FROM ranges WHERE low IS NOT NULL"
        ),
        "points": (
            "SELECT g, value, CAST(sum(starting) AS BIGINT) AS starting, CAST(sum(ending) AS BIGINT) AS ending "
            "FROM ends GROUP BY g, value"
        ),
        # A range still holds the value it ends at: what ends there counts once more.
        "depths": (
            "SELECT g, value, starting, ending, row_number() OVER (PARTITION BY g ORDER BY value) AS place, "
            "CAST(sum(starting - ending) OVER (PARTITION BY g ORDER BY value) + ending AS DOUBLE) AS depth FROM points"
        ),
        "sums": (
            "SELECT g, value, starting, ending, place, depth, sum(depth) OVER (PARTITION BY g ORDER BY value) AS through "
            "FROM depths"
        ),
        "starts": "SELECT g, value, place, depth, through - depth AS before FROM sums WHERE starting > 0",
        "stops": "SELECT g, value, place, through FROM sums WHERE ending > 0",
        "means": (
            "SELECT ranges.g AS g, ranges.files AS files, ranges.low = ranges.high AS is_constant, starts.depth AS depth, "
            "coalesce(ranges.live, 0) + (ranges.files - ranges.telling) * average.live AS weight, "
            "(stops.through - starts.before) / (stops.place - starts.place + 1) AS mean FROM ranges "
            "JOIN starts ON starts.g = ranges.g AND starts.value = ranges.low "
            "JOIN stops ON stops.g = ranges.g AND stops.value = ranges.high CROSS JOIN average"
        ),
        "unbounded": "SELECT g, sum(files) AS files FROM ranges WHERE low IS NULL GROUP BY g",
        "groups": (
            "SELECT g, sum(files) AS files, sum(CASE WHEN is_constant THEN files ELSE 0 END) AS constant, "
            # The depth is greatest where some range begins.
            "sum(weight * mean) / sum(weight) AS depth, max(depth) AS deepest FROM means GROUP BY g"
        ),
    }
    shared = ("ranges", "sums")  # read more than once
    texts = [f"{name} {dialect.computed_once if name in shared else 'AS'} ({step})" for name, step in steps.items()]
    picked = (
        "coalesce(groups.g, unbounded.g), coalesce(groups.files, 0), coalesce(unbounded.files, 0), coalesce(constant, 0), "
        "depth, deepest"
    )
    return f"WITH {', '.join(texts)} SELECT {picked} FROM groups FULL JOIN unbounded ON groups.g = unbounded.g"
