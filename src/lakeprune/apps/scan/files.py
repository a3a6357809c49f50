"""Where the files of a plan come from: the metadata of its table, by the engine, each time somebody asks.

In: a planner, a question, what is wanted of every file. Out: Arrow columns, lines of JSON, a summary. A partition value that
cannot be typed is a TableError: rows with it would be wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct
from msgspec.structs import replace

from lakeprune.apps.scan.statistics import ScanStatistics, statistics_of
from lakeprune.engines.engine import EngineError
from lakeprune.errors import TableError, UsageError
from lakeprune.extras import install_line
from lakeprune.planning.planner import Planner
from lakeprune.planning.question import Question
from lakeprune.predicate.tree import Column
from lakeprune.programs.scan import UNREADABLE, Asked, ScanSql, held, scan_sql
from lakeprune.programs.scan_forms import arrow_sql, lines_sql
from lakeprune.programs.scan_summary import ScanSummary, counts_of, summary_of

if TYPE_CHECKING:
    import pyarrow as pa

_LONGEST = 80  # characters of a text that is shown
_MOST_CELLS = 24_000_000  # that are held at once: a million files with the bounds of four columns, 300 MB
_ORDER = ("path", "uri", "size", "modified", "rows", "verdict", "residual", "partition", "vector", "group", "stats")


class Files(Protocol):
    """The files of a plan, in the forms that somebody may want; inside `at_once` they are read once for all of them."""

    def at_once(self) -> AbstractContextManager[Files]: ...
    def arrow(self) -> pa.Table: ...
    def lines(self) -> Iterator[str]: ...
    def statistics(self) -> ScanStatistics: ...


class PlannedFiles(Struct, frozen=True):
    planner: Planner
    question: Question
    asked: Asked
    projected: tuple[str, ...]
    count: int = 0
    held: ScanSql | None = None  # what was read already

    @contextmanager
    def at_once(self) -> Iterator[Files]:
        """The metadata is read once for several questions; again for each where that much is not held."""
        cells = self.count * (10 + len(self.asked.partitions) + 3 * len(self.asked.statistics))
        engine = self.planner.engine
        if self.held is not None or not engine.keeps_cheaply or cells > _MOST_CELLS:
            yield self
            return
        with engine.awake():
            with self._reading():
                kept, scan = held(self.planner.evaluation, self._scan())
                self.planner.snapshot.check_whole()
            try:
                yield replace(self, held=scan)
            finally:
                engine.drop(kept)

    def arrow(self) -> pa.Table:
        check_arrow()
        engine = self.planner.engine
        with engine.awake(), self._reading():
            table = engine.arrow(arrow_sql(engine.dialect, self._scan()))
            self.planner.snapshot.check_whole()
        return completed(table)

    def lines(self) -> Iterator[str]:
        """A JSON object per file."""
        engine = self.planner.engine
        with engine.awake(), self._reading():
            found = engine.stream(lines_sql(engine.dialect, self._scan()))
            first = next(found, None)  # where they are sorted, everything has been read now
            self.planner.snapshot.check_whole()
            if first is not None:
                yield str(first[0])
            yield from (row[0] for row in found)
            self.planner.snapshot.check_whole()

    def counts(self) -> ScanSummary:
        with self.planner.engine.awake(), self._reading():
            return counts_of(self.planner.engine, self._scan())

    def statistics(self) -> ScanStatistics:
        facts = self.planner.facts
        with self.planner.engine.awake(), self._reading():
            is_null_known = not facts.has_partition_values_in_files
            summary = summary_of(self.planner.engine, self._scan(), is_null_known=is_null_known)
        return statistics_of(summary, self.asked, self.projected, is_tight=facts.has_tight_bounds)

    def _scan(self) -> ScanSql:
        return self.held or scan_sql(self.planner.evaluation, self.question.plan, self.asked)

    @contextmanager
    def _reading(self) -> Iterator[None]:
        with self.planner.reading():
            try:
                yield
            except EngineError as error:
                if UNREADABLE not in str(error):
                    raise
                raise unreadable_partition(self.planner, self.asked.partitions, str(error)) from error


def check_arrow() -> None:
    """LP275 where pyarrow is not installed."""
    from importlib.util import find_spec

    if find_spec("pyarrow") is None:
        why = "the files of a plan are Arrow columns in Python"
        raise UsageError("LP275", "pyarrow is not installed", why=why, fix=f"{install_line('arrow')}, or use to_json()")


def completed(table: pa.Table) -> pa.Table:
    """The columns in their order, those without a field included."""
    import pyarrow as pa

    for name in ("partition", "stats"):
        if name not in table.column_names:
            empty = pa.array([{}] * table.num_rows, pa.struct([]))
            table = table.append_column(name, empty)
    residual = table.column("residual").cast(pa.list_(pa.int32()))  # engines name the items differently
    return table.set_column(table.column_names.index("residual"), "residual", residual).select(_ORDER)


def unreadable_partition(planner: Planner, columns: Sequence[Column], message: str) -> TableError:
    found = re.sub(r"\s*SQLSTATE: \w+$", "", message.partition(f"{UNREADABLE}: ")[2].splitlines()[0])  # Spark adds its code
    names = (".".join(column.path) for column in columns)
    name = max((name for name in names if found.startswith(f"{name}: ")), key=len)
    text = found[len(name) + 2 :]
    shown = f"{text!r}" if len(text) <= _LONGEST else f"{text[:_LONGEST]!r}..."
    return TableError(
        "LP370",
        f"the value {shown} of partition column `{name}` cannot be typed",
        where=planner.facts.location,
        why="the recorded text is missing, unreadable, or stands for several values, so rows with it would be wrong",
        fix="for a timestamp without an offset give its time zone (timezone=, --timezone); otherwise correct the text in the log",
    )
