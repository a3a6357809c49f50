"""Recorded statistics confronted with the values: which files promise what their rows do not keep.

In: columns, and a relation of the truth with one row per file that has live rows: `file` (its path as the snapshot compares
them), `live`, and per column k `t{k}_n` NULLs, `t{k}_lo` and `t{k}_hi` the least and greatest value that is neither NULL nor NaN,
`t{k}_nan` NaNs. Out: numbers, and the faults by name. A bound that is merely loose is no fault: what writers are known to lose
(milliseconds, the tails of strings) is granted by the files relation itself, so a fault is a promise that loses rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any

from msgspec import Struct

from lakeprune.engines.dialect import Dialect
from lakeprune.engines.engine import Engine, Needs, Row
from lakeprune.predicate.tree import Column
from lakeprune.programs.patterns import Evaluation
from lakeprune.values.types import Family

_AT_ONCE = 64  # columns whose statistics are looked for in one query


class Fault(Enum):
    """What is wrong with a file's statistics."""

    ROWS = "num_records"  # the number of rows
    MINIMUM = "min"  # a live value lies below
    MAXIMUM = "max"  # a live value lies above
    NULLS = "null_count"
    NAN = "nan"  # said to be free of NaN, which it holds


class FoundFault(Struct, frozen=True):
    path: str
    column: Column | None  # None: the file's number of rows
    fault: Fault
    recorded: str | None
    found: str | None


class FaultCount(Struct, frozen=True):
    """How many files have this fault."""

    column: Column | None
    fault: Fault
    files: int


class Recorded(Struct, frozen=True):
    """What the log promises about the files that are looked into, read once and kept as long as the engine is awake."""

    evaluation: Evaluation
    source: str  # a FROM item: the files relation of these columns, and the key `file`
    columns: dict[int, Column]  # by their number in the relation: those for which some file records anything

    def paths(self) -> list[str]:
        """The files, as the log records them."""
        return [path for (path,) in self.evaluation.engine.query(f"SELECT path FROM {self.source}")]

    def strangers(self, truth: str) -> int:
        """Files of the truth that are not among these."""
        sql = f"SELECT count(*) FROM {truth} AS truth ANTI JOIN (SELECT file FROM {self.source}) AS known USING (file)"
        return int(self.evaluation.engine.query(sql)[0][0])


def recorded_statistics(evaluation: Evaluation, columns: Sequence[Column], is_checked: str) -> Recorded:
    """The statistics of these columns; `is_checked` is SQL over `path`: which files are looked into."""
    engine, snapshot = evaluation.engine, evaluation.snapshot
    asked = columns if len(columns) <= _AT_ONCE else _with_statistics(evaluation, columns)
    files = snapshot.files_sql(engine, Needs(tuple(asked), paths=True, recorded=True), evaluation.profile)
    kept = engine.kept(f"SELECT *, {snapshot.file_key(engine, 'path')} AS file FROM ({files}) WHERE {is_checked}")
    found = _told(engine, kept, len(asked))
    return Recorded(evaluation, kept, {k: column for k, column in enumerate(asked) if found[k]})


class Compared(Struct, frozen=True):
    """The recorded statistics beside the truth, each file once; kept as long as the engine is awake."""

    recorded: Recorded
    source: str  # a FROM item: what is recorded, what is true, and `is_wrong`, 1 where they disagree

    def files(self) -> tuple[int, int]:
        """How many files were looked into, and how many of them have a fault."""
        ((files, wrong),) = self._query(f"SELECT count(*), coalesce(sum(is_wrong), 0) FROM {self.source}")
        return int(files), int(wrong)

    def counts(self) -> list[FaultCount]:
        """Every fault with the number of its files, in the order of the columns."""
        rows = self._query(f"SELECT k, fault, count(*) FROM {self._faults()} GROUP BY k, fault ORDER BY k, fault")
        return [FaultCount(self._column(k), Fault(fault), int(files)) for k, fault, files in rows]

    def named(self, limit: int) -> list[FoundFault]:
        """The first faults by path."""
        rows = self._query(f"SELECT path, k, fault, said, held FROM {self._faults()} ORDER BY path, k, fault LIMIT {limit}")
        return [FoundFault(path, self._column(k), Fault(fault), said, held) for path, k, fault, said, held in rows]

    def _query(self, sql: str) -> list[Row]:
        return self.recorded.evaluation.engine.query(sql)

    def _column(self, k: Any) -> Column | None:
        return self.recorded.columns.get(int(k))

    def _faults(self) -> str:
        names = ("k", "fault", "is_fault", "said", "held")
        dialect = self.recorded.evaluation.engine.dialect
        rows = [
            [str(k), f"'{fault.value}'", f"coalesce({test}, FALSE)", f"CAST({said} AS STRING)", f"CAST({held} AS STRING)"]
            for k, fault, test, said, held in _tests(dialect, self.recorded.columns)
        ]
        unfolded = dialect.unfolded(names, rows)
        return f"(SELECT * FROM (SELECT path, {unfolded} FROM {self.source} WHERE is_wrong = 1) WHERE is_fault)"


def compare(recorded: Recorded, truth: str) -> Compared:
    """The promises confronted with the truth."""
    counts = ["coalesce(truth.live, 0) AS live"]
    for k, column in recorded.columns.items():
        counts.append(f"coalesce(truth.t{k}_n, 0) AS t{k}_n")
        if column.type.family not in (None, Family.BYTES):
            counts += [f"truth.t{k}_lo", f"truth.t{k}_hi"]
        if column.type.family is Family.REAL:
            counts.append(f"truth.t{k}_nan")
    engine = recorded.evaluation.engine
    joined = f"{recorded.source} AS files LEFT JOIN {truth} AS truth ON truth.file = files.file"
    wrong = " OR ".join(f"({test})" for _, _, test, _, _ in _tests(engine.dialect, recorded.columns))
    beside = f"SELECT files.*, {', '.join(counts)} FROM {joined}"
    # Kept, since an optimiser that finds all these tests in a filter of the join takes half a minute to look through them.
    return Compared(recorded, engine.kept(f"SELECT *, CASE WHEN {wrong} THEN 1 ELSE 0 END AS is_wrong FROM ({beside})"))


def _tests(dialect: Dialect, columns: dict[int, Column]) -> list[tuple[int, Fault, str, str, str]]:
    """Column, fault, the SQL of "this is wrong", what is recorded and what is there."""
    tests = [(-1, Fault.ROWS, "rows - deleted <> live", "rows - deleted", "live")]
    for k, column in columns.items():
        said, held = f"c{k}_nulls", f"t{k}_n"
        # Under a deletion vector the count may be that of all physical rows, unless it says none or all.
        few = f"CASE WHEN {said} = 0 THEN {held} > 0 WHEN {said} = rows THEN {held} < live ELSE FALSE END"
        tests.append((k, Fault.NULLS, f"CASE WHEN has_dv THEN {few} ELSE {said} <> {held} END", said, held))
        if column.type.family in (None, Family.BYTES):
            continue
        tests.append((k, Fault.MINIMUM, f"t{k}_lo < c{k}_first", f"c{k}_first", f"t{k}_lo"))
        beyond = f"t{k}_hi > c{k}_last"
        if column.type.family is Family.TEXT:
            cut = f"c{k}_cut AND {dialect.starts_with(f't{k}_hi', f'c{k}_last')}"
            beyond = f"{beyond} AND NOT coalesce({cut}, FALSE)"
        tests.append((k, Fault.MAXIMUM, beyond, f"c{k}_last", f"t{k}_hi"))
        if column.type.family is Family.REAL:
            tests.append((k, Fault.NAN, f"c{k}_nf AND t{k}_nan > 0", "0", f"t{k}_nan"))
    return tests


def _with_statistics(evaluation: Evaluation, columns: Sequence[Column]) -> list[Column]:
    """Those of many columns for which some file records anything, found without reading all of them at once."""
    found: list[Column] = []
    for start in range(0, len(columns), _AT_ONCE):
        some = columns[start : start + _AT_ONCE]
        files = evaluation.snapshot.files_sql(evaluation.engine, Needs(tuple(some), recorded=True), evaluation.profile)
        told = _told(evaluation.engine, f"({files})", len(some))
        found += [column for column, number in zip(some, told, strict=True) if number]
    return found


def _told(engine: Engine, source: str, columns: int) -> Row:
    """For each column how many statistics the files of this FROM item record."""
    counts = [f"count(c{k}_first) + count(c{k}_last) + count(c{k}_nulls)" for k in range(columns)]
    (row,) = engine.query(f"SELECT {', '.join(['count(*)', *counts])} FROM {source}")
    return row[1:]
