"""How much the ranges of one column overlap, file against file: one query of sorts and running sums, O(F log F).

In: a subset of files and a column. Out: `Overlap`. The depth at a value is the number of files whose range holds it; the overlap
depth is the depth that a lookup of one existing value meets on average. Values are taken as their ranks among the distinct
bounds, so that any ordered type will do, and a file's values as spread evenly over the ranks it spans; files weigh by live rows.
1 is ideal, the number of files is worst. Bounds are compared by the engine; no row of files passes through Python.
"""

from __future__ import annotations

from lakeprune.engines.engine import Engine
from lakeprune.engines.evaluate import Subset
from lakeprune.predicate.tree import Column
from lakeprune.record import record


@record
class Overlap:
    """The ranges of a column; `files` have both bounds, `unbounded` may hold any value (files all NULL are neither)."""

    files: int
    unbounded: int
    constant: int  # of `files`: one value only
    depth: float  # files that a lookup of one existing value reads, on average; 0 without files
    deepest: int  # files that share one value, at most


def overlap_of(engine: Engine, subset: Subset, column: Column) -> Overlap:
    """The overlap of one column over the files of the subset, which must have been asked for the column's domain."""
    k = subset.domains[column]
    bounded = f"c{k}_lo IS NOT NULL AND c{k}_hi IS NOT NULL"
    counts = (
        f"SELECT count(*) AS files, coalesce(sum(CASE WHEN {bounded} THEN 0 ELSE 1 END), 0) AS unbounded "
        f"FROM {subset.source} AS files WHERE NOT c{k}_an"
    )
    ((total, unbounded),) = engine.query(counts)
    ((depth, deepest, constant),) = engine.query(_depth_sql(subset.source, k, f"{bounded} AND NOT c{k}_an"))
    return Overlap(int(total) - int(unbounded), int(unbounded), int(constant or 0), float(depth or 0), int(deepest or 0))


def _depth_sql(source: str, k: int, bounded: str) -> str:
    # A cut maximum may sort below the minimum it belongs to; the range then is at least the minimum.
    high = f"CASE WHEN c{k}_hi < c{k}_lo THEN c{k}_lo ELSE c{k}_hi END"
    # A file that does not tell its rows weighs as much as the average of those that do.
    weight = "CAST(coalesce(rows - deleted, avg(rows - deleted) OVER (), 1) AS DOUBLE)"
    steps = {
        "files": f"SELECT c{k}_lo AS low, {high} AS high, {weight} AS weight FROM {source} AS files WHERE {bounded}",
        "ranges": "SELECT low, high, count(*) AS files, sum(weight) AS weight FROM files GROUP BY low, high",
        "ends": (
            "SELECT low AS value, files AS starting, 0 AS ending FROM ranges "
            "UNION ALL SELECT high AS value, 0 AS starting, files AS ending FROM ranges"
        ),
        "points": "SELECT value, sum(starting) AS starting, sum(ending) AS ending FROM ends GROUP BY value",
        # A range still holds the value it ends at: what ends there is subtracted from the next value on.
        "depths": (
            "SELECT value, row_number() OVER (ORDER BY value) AS place, CAST("
            "sum(starting) OVER (ORDER BY value) - sum(ending) OVER (ORDER BY value) + ending AS DOUBLE) AS depth FROM points"
        ),
        "sums": "SELECT value, place, depth, sum(depth) OVER (ORDER BY value) AS through FROM depths",
        "means": (
            "SELECT ranges.files AS files, ranges.weight AS weight, ranges.low = ranges.high AS is_constant, "
            "first.depth AS depth, "
            "(last.through - first.through + first.depth) / (last.place - first.place + 1) AS mean "
            "FROM ranges JOIN sums AS first ON first.value = ranges.low JOIN sums AS last ON last.value = ranges.high"
        ),
    }
    # The greatest depth is met where a range begins.
    picked = "sum(weight * mean) / sum(weight), max(depth), sum(CASE WHEN is_constant THEN files ELSE 0 END)"
    return "WITH " + ", ".join(f"{name} AS ({step})" for name, step in steps.items()) + f" SELECT {picked} FROM means"
