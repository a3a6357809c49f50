"""Two reports compared, as text: one line per number that a reader asks for, unchanged ones said once."""

from __future__ import annotations

from collections.abc import Iterator

from lakeprune.render.printable import printable, shortened
from lakeprune.report.amount import bytes_text, percent_text, rows_text
from lakeprune.report.diff import Diff
from lakeprune.report.document import View
from lakeprune.report.model import Report


def text_chunks(diff: Diff, _: View) -> Iterator[str]:
    """The comparison at once: it is short."""
    before, after = diff.before, diff.after
    lines = [
        f"Table:       {_both(printable(before.table), printable(after.table))}",
        f"Version:     {_both(str(before.version), str(after.version))}",
        f"Predicate:   {_both(_predicate(before), _predicate(after))}",
        "",
        f"  files to read  {_both(_read(before), _read(after))}",
        f"  bytes to read  {_both(_bytes(before), _bytes(after))}",
        f"  rows to read   {_both(rows_text(before.numbers.kept), rows_text(after.numbers.kept))}",
    ]
    engines = dict.fromkeys(engine.name for report in (before, after) for engine in report.engines)
    lines += [f"  {name} reads  {_both(_by(before, name), _by(after, name))}" for name in engines]
    if diff.diagnoses_gone:
        lines.append(f"  no longer      {', '.join(diff.diagnoses_gone)}")
    if diff.diagnoses_new:
        lines.append(f"  new            {', '.join(diff.diagnoses_new)}")
    lines += ["", "Reads a larger share than before" if diff.is_worse else "Reads no larger share than before"]
    yield "\n".join(lines) + "\n"


def _both(before: str, after: str) -> str:
    return before if before == after else f"{before} -> {after}"


def _predicate(report: Report) -> str:
    return "-" if report.predicate is None else shortened(report.predicate)


def _read(report: Report) -> str:
    return f"{report.kept_files:,} of {report.total_files:,} ({percent_text(report.dropped_files, report.total_files)} pruned)"


def _bytes(report: Report) -> str:
    """To a tenth of a percent: a share of bytes changes where a share of files does not."""
    return f"{bytes_text(report.numbers.kept)} ({report.bytes_pruning_pct:.1f}% pruned)"


def _by(report: Report, name: str) -> str:
    return next((f"{engine.files:,} of {report.total_files:,}" for engine in report.engines if engine.name == name), "?")
