"""Small questions about a subset of files: what lacks a statistic, how partition values spread, what deletion vectors hide.

In: a subset of files. Out: a handful of numbers. Every question is one query; rows of files never pass through Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from lakeprune.engines.engine import Engine
from lakeprune.formats.relation import Relation
from lakeprune.predicate.tree import Column
from lakeprune.skipping.ladder import Seen


class Gap(Struct, frozen=True):
    """Files that lack a statistic; times are milliseconds since the epoch, None when no such file tells its time."""

    files: int
    bytes: int
    oldest: int | None
    oldest_path: str | None
    newest: int | None
    newest_path: str | None


class Spread(Struct, frozen=True):
    """How files spread over the values of a partition column."""

    values: int
    fewest: int  # files of the value that has fewest
    most: int
    most_text: str | None  # the recorded text of the value that has most
    most_missing: bool  # whether "the value" is that the file does not record one


class Hidden(Struct, frozen=True):
    """Files with deletion vectors and what they hide; rows only of those that tell."""

    files: int
    rows: int
    deleted: int


def gap_of(engine: Engine, subset: Relation, column: Seen, *, counts: bool) -> Gap:
    """The files without bounds (`counts`: without a null count) of a column; the subset needs paths and times."""
    known = subset.is_counted(column) if counts else subset.has_bounds(column)
    inside = (
        "SELECT size, path, modified, min(modified) OVER () AS oldest, max(modified) OVER () AS newest "
        f"FROM {subset.source} AS files WHERE NOT {known}"
    )
    picked = [
        "count(*)",
        "coalesce(sum(size), 0)",
        "min(oldest)",
        "min(CASE WHEN modified = oldest THEN path END)",
        "min(newest)",
        "min(CASE WHEN modified = newest THEN path END)",
    ]
    ((files, size, *ends),) = engine.query(f"SELECT {', '.join(picked)} FROM ({inside}) AS gap")
    return Gap(int(files), int(size), *ends)


def spread_of(engine: Engine, subset: Relation, column: Column) -> Spread:
    """The spread over a partition column's values; the subset needs the column's texts."""
    picked = f"{subset.text(column)} AS text, {subset.is_missing(column)} AS missing, count(*) AS files"
    counted = f"SELECT {picked} FROM {subset.source} AS files GROUP BY 1, 2"
    totals = "count(*) OVER () AS number, min(files) OVER () AS fewest"
    ordered = "ORDER BY files DESC, missing, text IS NULL, text LIMIT 1"
    rows = engine.query(f"SELECT {totals}, files, text, missing FROM ({counted}) AS counted {ordered}")
    if not rows:
        return Spread(0, 0, 0, None, False)
    number, fewest, most, text, missing = rows[0]
    return Spread(int(number), int(fewest), int(most), text, bool(missing))


def files_by_value(engine: Engine, subset: Relation, column: Column) -> dict[tuple[str | None, bool], int]:
    """How many files have each value of a partition column, or none recorded; the subset needs the column's texts."""
    picked = f"{subset.text(column)}, {subset.is_missing(column)}, count(*)"
    return {
        (text, bool(missing)): int(files)
        for text, missing, files in engine.query(f"SELECT {picked} FROM {subset.source} AS files GROUP BY 1, 2")
    }


def texts_of(engine: Engine, subset: Relation, column: Column, limit: int) -> list[str | None]:
    """The recorded values of a partition column, those with most files first; the subset needs the column's texts."""
    text = subset.text(column)
    counted = (
        f"SELECT {text} AS text, count(*) AS files FROM {subset.source} AS files WHERE NOT {subset.is_missing(column)} GROUP BY 1"
    )
    rows = engine.query(f"SELECT text FROM ({counted}) AS counted ORDER BY files DESC, text IS NULL, text LIMIT {limit}")
    return [text for (text,) in rows]


def ends_of(engine: Engine, subset: Relation, column: Seen) -> tuple[Any, Any]:
    """The least minimum and the greatest maximum of a column, None where no file has one; the subset needs its domain."""
    ((low, high),) = engine.query(f"SELECT min({subset.lo(column)}), max({subset.hi(column)}) FROM {subset.source} AS files")
    return low, high


def files_with_ends(engine: Engine, subset: Relation, column: Seen, ends: Sequence[str]) -> int:
    """How many files have one of these texts for their minimum or maximum; the subset needs the column's domain."""
    listed = ", ".join(engine.dialect.text(end) for end in ends)
    tests = f"{subset.lo(column)} IN ({listed}) OR {subset.hi(column)} IN ({listed})"
    ((files,),) = engine.query(f"SELECT count(*) FROM {subset.source} AS files WHERE {tests}")
    return int(files)


def hidden_of(engine: Engine, subset: Relation) -> Hidden:
    """What deletion vectors hide in the files of the subset."""
    sums = "count(*), coalesce(sum(CASE WHEN deleted IS NOT NULL THEN rows END), 0), coalesce(sum(deleted), 0)"
    ((files, rows, deleted),) = engine.query(f"SELECT {sums} FROM {subset.source} AS files WHERE has_dv")
    return Hidden(int(files), int(rows), int(deleted))
