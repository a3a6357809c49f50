"""What is known of the rows that a scan gives, from the statistics of its files: one aggregate in the engine.

In: a `ScanSql`. Out: counts of files, bytes and rows, which clauses are left to filter somewhere, and per column the bounds and
null counts of all files together, as far as every file records them. Bounds are text, as scan_forms.py writes them.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from lakeprune.engines.engine import Engine
from lakeprune.programs.scan import ScanSql, bound_type
from lakeprune.programs.typed_sql import as_text


class ColumnSummary(Struct, frozen=True):
    """A bound is None when some file has values and does not record it, or there is no value."""

    low: str | None
    high: str | None
    nulls: int | None


class ScanSummary(Struct, frozen=True):
    files: int
    bytes: int
    rows: int
    files_without_rows: int
    files_with_vector: int
    residual: tuple[bool, ...]  # per clause: whether some file has it left to filter
    partitions: tuple[ColumnSummary, ...] = ()
    columns: tuple[ColumnSummary, ...] = ()


def counts_of(engine: Engine, scan: ScanSql) -> ScanSummary:
    """The counts alone."""
    return _read(engine, scan, [])


def summary_of(engine: Engine, scan: ScanSql, *, is_null_known: bool) -> ScanSummary:
    """The counts, and what is known of columns; `is_null_known`: a partition value that is NULL is known to be."""
    dialect, items = engine.dialect, []
    for k, column in enumerate(scan.asked.partitions):
        is_known = "TRUE" if is_null_known else f"count(p{k}) = count(*)"
        ends = (as_text(dialect, f"{pick}(p{k})", column.type) for pick in ("min", "max"))
        items += [f"CASE WHEN {is_known} THEN {end} END" for end in ends]
        is_counted = f"{is_known} AND count(CASE WHEN p{k} IS NULL AND live IS NULL THEN 1 END) = 0"
        items.append(f"CASE WHEN {is_counted} THEN coalesce(sum(CASE WHEN p{k} IS NULL THEN live ELSE 0 END), 0) END")
    for k, column in enumerate(scan.asked.statistics):
        is_all_null = f"coalesce(nulls{k} = physical, FALSE)"
        for pick, end in (("min", f"lo{k}"), ("max", f"hi{k}")):
            unknown = f"count(CASE WHEN {end} IS NULL AND NOT {is_all_null} THEN 1 END)"
            text = as_text(dialect, f"{pick}({end})", bound_type(column.type))
            items.append(f"CASE WHEN {unknown} = 0 THEN {text} END")
        items.append(f"CASE WHEN count(nulls{k}) = count(*) THEN coalesce(sum(nulls{k}), 0) END")
    return _read(engine, scan, items)


def _read(engine: Engine, scan: ScanSql, items: list[str]) -> ScanSummary:
    total = engine.dialect.total
    counts = ["count(*)", f"coalesce({total('size')}, 0)", f"coalesce({total('live')}, 0)", "count(*) - count(live)"]
    counts.append("count(CASE WHEN has_dv THEN 1 END)")
    left = [f"coalesce(max(CASE WHEN n{k} THEN 1 ELSE 0 END), 0)" for k in range(len(scan.plan.positions))]
    (row,) = engine.query(f"SELECT {', '.join([*counts, *left, *items])} FROM {scan.source}")
    files, size, rows, without_rows, with_vector = (int(number) for number in row[:5])
    after = 5 + len(left)
    found = [ColumnSummary(low, high, None if nulls is None else int(nulls)) for low, high, nulls in _threes(row[after:])]
    several = len(scan.asked.partitions)
    residual = tuple(bool(flag) for flag in row[5:after])
    columns = tuple(found[:several]), tuple(found[several:])
    return ScanSummary(files, size, rows, without_rows, with_vector, residual, *columns)


def _threes(values: tuple[Any, ...]) -> list[tuple[Any, Any, Any]]:
    return list(zip(values[::3], values[1::3], values[2::3], strict=True))
