"""Recorded statistics compared with the values: files whose recorded statistics do not match their rows.

In: columns, and a relation of what was found with one row per file that has live rows: `file` (its path as the snapshot compares
them), `live`, and per column k `t{k}_n` NULLs, `t{k}_lo` and `t{k}_hi` the least and greatest value that is neither NULL nor NaN,
`t{k}_nan` NaNs. Out: numbers, and the faults by name. A bound that is merely loose is not a fault: what writers are known to lose
(milliseconds, the tails of strings) is granted by the files relation itself, so a fault is a promise that loses rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from lakeprune.engines.dialect import Dialect
from lakeprune.engines.engine import Engine, Row
from lakeprune.formats.relation import LIVE, Needs, Relation
from lakeprune.predicate.tree import Column
from lakeprune.programs.compare import Logged
from lakeprune.programs.patterns import Evaluation
from lakeprune.skipping.ladder import Seen
from lakeprune.values.types import Family

_AT_ONCE = 64  # columns whose statistics are looked for in one query


class Fault(Enum):
    """What is wrong with a file's statistics."""

    ROWS = "num_records"  # the number of rows
    MINIMUM = "min"  # a live value lies below
    MAXIMUM = "max"  # a live value lies above
    NULLS = "null_count"
    NAN = "nan"  # recorded as free of NaN, which it holds


class FoundFault(Struct, frozen=True):
    path: str
    column: Column | None  # None: the file's number of rows
    fault: Fault
    recorded: str | None
    found: str | None


class FaultyFiles(Struct, frozen=True):
    """How many files have one kind of fault in one column; no column for the number of rows."""

    column: str | None
    fault: Fault
    files: int


class Recorded(Struct, frozen=True):
    """What the log records about the files that are checked."""

    logged: Logged
    relation: Relation  # what the columns of `logged` are called
    columns: dict[int, Column]  # by their number: those for which some file records anything


def recorded_statistics(evaluation: Evaluation, columns: Sequence[Column], is_checked: str) -> Recorded:
    """The statistics of these columns; `is_checked` is SQL over `path`: which files are checked."""
    asked = columns if len(columns) <= _AT_ONCE else _with_statistics(evaluation, columns)
    files = _recorded_by(evaluation, asked, paths=True)
    logged = Logged.kept(evaluation, f"SELECT * FROM {files.source} WHERE {is_checked}", "TRUE")
    relation = replace(files, source=logged.source)
    counts = _recorded_counts(evaluation.engine, relation)
    return Recorded(logged, relation, {k: column for k, column in enumerate(asked) if counts[k]})


class Compared(Struct, frozen=True):
    """The recorded statistics beside what was found, each file once; kept as long as the engine is awake."""

    recorded: Recorded
    engine: Engine
    source: str  # a FROM item: what is recorded, what was found, and `is_wrong`, 1 where they disagree

    def files(self) -> tuple[int, int]:
        """How many files were checked, and how many of them have a fault."""
        ((files, wrong),) = self.engine.query(f"SELECT count(*), coalesce(sum(is_wrong), 0) FROM {self.source}")
        return int(files), int(wrong)

    def counts(self) -> list[FaultyFiles]:
        """Every fault with the number of its files, in the order of the columns."""
        rows = self.engine.query(f"SELECT k, fault, count(*) FROM {self._faults()} GROUP BY k, fault ORDER BY k, fault")
        return [FaultyFiles(name_of(self._column(k)), Fault(fault), int(files)) for k, fault, files in rows]

    def named(self, limit: int) -> list[FoundFault]:
        """The first faults by path."""
        picked = f"SELECT path, k, fault, recorded, found FROM {self._faults()} ORDER BY path, k, fault LIMIT {limit}"
        return [FoundFault(path, self._column(k), Fault(fault), *values) for path, k, fault, *values in self.engine.query(picked)]

    def _column(self, k: Any) -> Column | None:
        return self.recorded.columns.get(int(k))

    def _faults(self) -> str:
        names = ("k", "fault", "is_fault", "recorded", "found")
        rows = [
            [str(k), f"'{fault.value}'", f"coalesce({test}, FALSE)", f"CAST({recorded} AS STRING)", f"CAST({found} AS STRING)"]
            for k, fault, test, recorded, found in _tests(self.engine.dialect, self.recorded)
        ]
        unfolded = self.engine.dialect.unfolded(names, rows)
        return f"(SELECT * FROM (SELECT path, {unfolded} FROM {self.source} WHERE is_wrong = 1) WHERE is_fault)"


def compare(recorded: Recorded, found: str) -> Compared:
    """The recorded statistics compared with what was found."""
    items = ["coalesce(found.live, 0) AS live"]
    for k, column in recorded.columns.items():
        items.append(f"coalesce(found.t{k}_n, 0) AS t{k}_n")
        if column.type.family not in (None, Family.BYTES):
            items += [f"found.t{k}_lo", f"found.t{k}_hi"]
        if column.type.family is Family.REAL:
            items.append(f"found.t{k}_nan")
    engine = recorded.logged.evaluation.engine
    wrong = " OR ".join(f"({test})" for _, _, test, _, _ in _tests(engine.dialect, recorded))
    # Kept, since an optimiser that finds all these tests in a filter of the join takes half a minute to look through them.
    beside = recorded.logged.beside(found, items)
    return Compared(recorded, engine, engine.kept(f"SELECT *, CASE WHEN {wrong} THEN 1 ELSE 0 END AS is_wrong FROM {beside}"))


def name_of(column: Column | None) -> str | None:
    return None if column is None else ".".join(column.path)


def _tests(dialect: Dialect, logged: Recorded) -> list[tuple[int, Fault, str, str, str]]:
    """Column, fault, the SQL of "this is wrong", what is recorded and what was found."""
    relation, tests = logged.relation, [(-1, Fault.ROWS, f"{LIVE} <> live", LIVE, "live")]
    for k, column in enumerate(relation.domains):
        if k not in logged.columns:
            continue
        recorded, found = relation.nulls(column), f"t{k}_n"
        # Under a deletion vector the count may be that of all physical rows, unless it is none or all of them.
        few = f"CASE WHEN {recorded} = 0 THEN {found} > 0 WHEN {recorded} = rows THEN {found} < live ELSE FALSE END"
        tests.append((k, Fault.NULLS, f"CASE WHEN has_dv THEN {few} ELSE {recorded} <> {found} END", recorded, found))
        if column.type.family in (None, Family.BYTES):
            continue
        first, last = relation.first(column), relation.last(column)
        tests.append((k, Fault.MINIMUM, f"t{k}_lo < {first}", first, f"t{k}_lo"))
        beyond = f"t{k}_hi > {last}"
        if column.type.family is Family.TEXT:
            truncated = f"{relation.is_truncated(column)} AND {dialect.starts_with(f't{k}_hi', last)}"
            beyond = f"{beyond} AND NOT coalesce({truncated}, FALSE)"
        tests.append((k, Fault.MAXIMUM, beyond, last, f"t{k}_hi"))
        if column.type.family is Family.REAL:
            tests.append((k, Fault.NAN, f"{relation.nan_free(column)} AND t{k}_nan > 0", "0", f"t{k}_nan"))
    return tests


def _with_statistics(evaluation: Evaluation, columns: Sequence[Column]) -> list[Column]:
    """Those of many columns for which some file records anything, found without reading all of them at once."""
    found: list[Column] = []
    for start in range(0, len(columns), _AT_ONCE):
        some = columns[start : start + _AT_ONCE]
        counts = _recorded_counts(evaluation.engine, _recorded_by(evaluation, some, paths=False))
        found += [column for column, count in zip(some, counts, strict=True) if count]
    return found


def _recorded_by(evaluation: Evaluation, columns: Sequence[Column], *, paths: bool) -> Relation:
    """The columns as the last rung shows them: statistics, and nothing that partition values say about them."""
    seen = (Seen(column, frozenset({evaluation.snapshot.facts.evidence.ladder[-1]})) for column in columns)
    return evaluation.snapshot.relation(evaluation.engine, Needs(tuple(seen), paths=paths, recorded=True), evaluation.profile)


def _recorded_counts(engine: Engine, files: Relation) -> Row:
    """For each column how many statistics the files record."""
    parts = [(files.first(column), files.last(column), files.nulls(column)) for column in files.domains]
    counts = [" + ".join(f"count({part})" for part in several) for several in parts]
    (row,) = engine.query(f"SELECT {', '.join(['count(*)', *counts])} FROM {files.source} AS files")
    return row[1:]
