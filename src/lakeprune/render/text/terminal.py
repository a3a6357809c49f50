"""What a terminal shows beyond the plain text: the funnel as coloured bars. The only file that imports rich.

In: a report and the terminal's width. Out: lines with escape sequences.
"""

from __future__ import annotations

import io

from rich.bar import Bar
from rich.console import Console
from rich.table import Table

from lakeprune.formats.row_groups.rung import ROW_GROUP
from lakeprune.report.amount import bytes_text, percent_text
from lakeprune.report.model import CONSTANT_PHASE, Report

_WIDEST_BAR = 40


def funnel(report: Report, width: int) -> list[str]:
    """Files and bytes left after each phase, as bars; nothing without a predicate or without files."""
    total = report.numbers.total
    if report.predicate is None or not total.files:
        return []
    labels = {CONSTANT_PHASE: "constants", **{rung.phase: rung.label for rung in (*report.facts.evidence.ladder, ROW_GROUP)}}
    steps = [("in the table", total), *((f"after {labels[phase.name]}", phase.after) for phase in report.phases)]
    table = Table.grid(padding=(0, 2))
    table.add_column()
    table.add_column(ratio=1, max_width=_WIDEST_BAR)
    for _ in range(3):
        table.add_column(justify="right", no_wrap=True)
    for index, (name, amount) in enumerate(steps):
        colour = "bright_black" if index == 0 else "green" if index == len(steps) - 1 else "cyan"
        files = f"{amount.files:,} file{'' if amount.files == 1 else 's'}"
        bar = Bar(total.files, 0, amount.files, width=min(_WIDEST_BAR, max(10, width - 60)), color=colour)
        table.add_row(name, bar, files, percent_text(amount.files, total.files), bytes_text(amount))
    out = io.StringIO()
    Console(file=out, force_terminal=True, width=width, highlight=False).print(table)
    return [line.rstrip() for line in out.getvalue().splitlines()]
