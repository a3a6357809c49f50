"""A comparison of engines as text: one line per engine, and what each says it pushed down."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakeprune.render.printable import printable, shortened
from lakeprune.render.text.report import about
from lakeprune.report.amount import files_text

if TYPE_CHECKING:
    from lakeprune.apps.compare.model import Comparison, EngineRow
    from lakeprune.report.document import View

_HEADS = ("engine", "version", "files opened", "rows", "conditions it gives to its scan")


def text_chunks(found: Comparison, _: View) -> Iterator[str]:
    """The text report."""
    lines = about(found.table, found.version, "Delta table")
    lines.append(f"Predicate:   {shortened(found.predicate)}")
    lines += [f"  {clause.pushdown:<12} {shortened(clause.text)}" for clause in found.clauses]
    lines += ["", f"Metadata asks for {found.files_needed:,} of {files_text(found.files_total)}.", ""]
    rows = [_HEADS, *(_cells(row) for row in found.engines)]
    widths = [max(len(row[place]) for row in rows) for place in range(len(_HEADS) - 1)]
    for row in rows:
        start = "  ".join(cell.ljust(width) for cell, width in zip(row[:-1], widths, strict=True))
        lines.append(f"{start}  {row[-1]}".rstrip())
    yield "\n".join(lines) + "\n"


def _cells(row: EngineRow) -> tuple[str, ...]:
    opened = "-" if row.files_opened is None else f"{row.files_opened:,}"
    rows = "-" if row.rows is None else f"{row.rows:,}"
    return row.engine, row.version or "-", opened, rows, said_by(row)


def said_by(row: EngineRow) -> str:
    """What an engine pushed down, or why it did not run."""
    if row.message is not None:
        return f"({row.status.value}) {printable(row.message)}"
    return shortened("; ".join(row.pushed)) if row.pushed else "none that it names"
