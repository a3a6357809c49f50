"""A plan as text: what is read, who guarantees which clause, what comes out; with `verbose` every file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from lakeprune.render.printable import printable, shortened
from lakeprune.render.text.report import about
from lakeprune.report.amount import counted, files_text, size_text

if TYPE_CHECKING:
    from lakeprune.apps.scan.model import ScanColumn, ScanPlan
    from lakeprune.apps.scan.statistics import Bound, ColumnStatistics, Count
    from lakeprune.report.document import View

_TITLES = {"delta": "Delta table", "iceberg": "Iceberg table", "parquet": "Parquet files"}


def plan_chunks(plan: ScanPlan, view: View) -> Iterator[str]:
    """The text report."""
    yield "\n".join([*_head(plan), *_clauses(plan), *_statistics(plan)]) + "\n"
    if view.verbose and plan.totals.files_scanned:
        yield "\nFiles:\n"
        for line in islice(plan.source.lines(), view.limit):
            yield _file(json.loads(line))


def _head(plan: ScanPlan) -> list[str]:
    lines = about(plan.location, plan.table.version, _TITLES.get(plan.table.format, plan.table.format))
    if plan.predicate is not None:
        lines.append(f"Predicate:   {shortened(plan.predicate)}")
    lines.append(f"Columns:     {_names(plan.columns)}")
    if plan.filter_columns:
        lines.append(f"Filter only: {_names(plan.filter_columns)}")
    if plan.limit is not None:
        lines.append(f"Limit:       {counted(plan.limit, 'row')}")
    totals = plan.totals
    lines.append(f"Files:       {totals.files_scanned} of {files_text(totals.files_total)} to read, {totals.files_pruned} pruned")
    lines.append(f"Bytes:       {size_text(totals.bytes_scanned)}{_of(totals.bytes_total)}")
    lines.append(f"Rows:        {_rows(plan.statistics.rows)}")
    if plan.groups is not None:
        lines.append(f"Groups:      {plan.groups}, balanced by bytes")
    return lines


def _of(total: int | None) -> str:
    return "" if total is None else f" of {size_text(total)}"


def _rows(rows: Count) -> str:
    if rows.value is None:
        return "unknown"
    return counted(rows.value, "row") if rows.exact else f"at most {counted(rows.value, 'row')}"


def _names(columns: tuple[ScanColumn, ...]) -> str:
    return ", ".join(printable(column.name) + (" (partition)" if column.is_partition else "") for column in columns) or "none"


def _clauses(plan: ScanPlan) -> list[str]:
    if not plan.clauses:
        return []
    rows = [f"  {k}: {clause.pushdown.value:<12} {shortened(clause.text)}" for k, clause in enumerate(plan.clauses)]
    return ["", "Clauses:", *rows]


def _statistics(plan: ScanPlan) -> list[str]:
    columns = plan.statistics.columns
    if not columns:
        return []
    rows = [("column", "min", "max", "nulls"), *map(_row, columns)]
    widths = [max(len(row[k]) for row in rows) for k in range(4)]
    return ["", "Result (~: not exact):", *("  " + "  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)]


def _row(column: ColumnStatistics) -> tuple[str, str, str, str]:
    return printable(column.name), _bound(column.min), _bound(column.max), _mark(column.nulls.value, is_exact=column.nulls.exact)


def _bound(bound: Bound) -> str:
    return _mark(None if bound.value is None else shortened(bound.value), is_exact=bound.exact)


def _mark(value: object, *, is_exact: bool) -> str:
    return "?" if value is None else f"{'' if is_exact else '~'}{value}"


def _file(file: dict[str, object]) -> str:
    residual = file["residual"]
    left = f", clauses {', '.join(map(str, residual))} left" if isinstance(residual, list) and residual else ""
    group = "" if file["group"] is None else f", group {file['group']}"
    size = file["size"]
    assert isinstance(size, int), "every file has a size"
    return f"  {printable(str(file['path']))}  {size_text(size)}, {file['verdict']}{left}{group}\n"
