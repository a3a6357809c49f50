"""What really holds, row by row: DuckDB over the table's real Parquet files.

In: a written table and predicates in DuckDB's language. Out: per predicate and file, which of TRUE, FALSE and NULL its live rows
produce. Where a recorded partition value is ambiguous, the rows appear once per reading: keeping must cover every reading.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import duckdb

from tests.generator.columns import DUCKDB, ColumnSpec
from tests.generator.literals import FIRST, LAST, duckdb_text, duckdb_value
from tests.generator.texts import instant_of_local
from tests.soundness.partition_texts import Recorded
from tests.soundness.tables import FileSpec, Table

_READER_OFFSETS = (0, 16 * 3_600_000_000 - 1_000_000, -(16 * 3_600_000_000) + 1_000_000, 5 * 3_600_000_000)


@dataclass(frozen=True)
class Seen:
    """What the live rows of one file produce; all False for a file without live rows."""

    true: bool = False
    false: bool = False
    null: bool = False


class Truth:
    """The rows of one table, ready to be asked."""

    def __init__(self, table: Table, root: Path) -> None:
        self._files = len(table.files)
        self._connection = duckdb.connect(config={"threads": 1})
        self._connection.execute("PRAGMA disable_optimizer")
        self._connection.execute(f"SET TimeZone = '{table.zone}'")
        selects = [part for number, file in enumerate(table.files) for part in _selects(table, file, number, root)]
        self._connection.execute("CREATE TABLE rows AS " + " UNION ALL ".join(selects))

    def seen(self, predicates: Sequence[str]) -> list[list[Seen] | None]:
        """Per predicate the outcome for every file; None when DuckDB cannot evaluate the predicate (overflow in a cast)."""
        if not predicates:
            return []
        asked = ", ".join(
            f"coalesce(bool_or(p{i}), FALSE), coalesce(bool_or(NOT p{i}), FALSE), bool_or(p{i} IS NULL)"
            for i in range(len(predicates))
        )
        defined = ", ".join(f"({text}) AS p{i}" for i, text in enumerate(predicates))
        try:
            rows = self._connection.execute(f"SELECT fid, {asked} FROM (SELECT fid, {defined} FROM rows) GROUP BY fid").fetchall()
        except duckdb.Error:
            if len(predicates) == 1:
                return [None]
            half = len(predicates) // 2
            return [*self.seen(predicates[:half]), *self.seen(predicates[half:])]
        found: list[list[Seen]] = [[Seen()] * self._files for _ in predicates]
        for fid, *flags in rows:
            for i in range(len(predicates)):
                found[i][fid] = Seen(*flags[3 * i : 3 * i + 3])
        return list(found)

    def why_not(self, predicate: str) -> str:
        """DuckDB's words about a predicate it cannot evaluate."""
        try:
            self._connection.execute(f"SELECT {predicate} FROM rows").fetchall()
        except duckdb.Error as problem:
            return str(problem)
        return ""

    def close(self) -> None:
        self._connection.close()


def _selects(table: Table, file: FileSpec, number: int, root: Path) -> list[str]:
    tops = list(dict.fromkeys((c.path[0], c.physical[0]) for c in table.data_columns))
    data = [f"{_renamed(table, physical)} AS {_quoted(name)}" for name, physical in tops]
    where = f" WHERE file_row_number NOT IN ({', '.join(map(str, sorted(file.deleted)))})" if file.deleted else ""
    source = f"read_parquet({duckdb_text(str(root / file.name))}, file_row_number = true)"
    selects = []
    for reading in product(*(_readings(c, r, table) for c, r in file.partition.items())):
        partition = [
            f"CAST({value} AS {DUCKDB[c.type]}) AS {_quoted(c.path[0])}" for c, value in zip(file.partition, reading, strict=True)
        ]
        picked = ", ".join([f"{number} AS fid", *data, *partition])
        selects.append(f"SELECT {picked} FROM {source}{where}")
    return selects


def _renamed(table: Table, physical: str) -> str:
    """A column under logical names all the way down; a NULL struct stays NULL."""
    leaves = [c for c in table.data_columns if c.physical[0] == physical]
    return _level(leaves, 0, _quoted(physical))


def _level(leaves: Sequence[ColumnSpec], depth: int, source: str) -> str:
    if len(leaves[0].path) == depth + 1:
        return source
    inner: dict[tuple[str, str], list[ColumnSpec]] = {}
    for leaf in leaves:
        inner.setdefault((leaf.path[depth + 1], leaf.physical[depth + 1]), []).append(leaf)
    parts = [
        f"{_quoted(name)} := {_level(ls, depth + 1, f'{source}.{_quoted(physical)}')}" for (name, physical), ls in inner.items()
    ]
    return f"CASE WHEN {source} IS NULL THEN NULL ELSE struct_pack({', '.join(parts)}) END"


def _readings(column: ColumnSpec, recorded: Recorded, table: Table) -> list[str]:
    if recorded.empty_is_ambiguous:
        return ["NULL", "''"]
    if not recorded.local:
        return [duckdb_value(recorded.value, column.type)]
    if table.zone_is_given:
        return [duckdb_value(instant_of_local(recorded.value, table.zone), column.type)]
    moments = [recorded.value + offset for offset in _READER_OFFSETS]
    return [duckdb_value(moment, column.type) for moment in moments if FIRST <= moment <= LAST]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
