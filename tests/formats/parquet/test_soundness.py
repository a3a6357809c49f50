"""Random rows in plain Parquet files, random predicates, every verdict against what the rows say; and guards switched off."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lakeprune.formats.parquet.bounds as bounds
from tests.formats.parquet.files import verdicts
from tests.formats.parquet.thrift import (
    BYTES,
    MAX,
    MAX_IS_EXACT,
    MIN,
    MIN_IS_EXACT,
    NULLS,
    Fields,
    deprecated,
    patch,
    statistics_in,
    without,
    without_column_orders,
)
from tests.generator.columns import ColumnSpec
from tests.generator.literals import duckdb_text
from tests.soundness.delta_log import arrow_rows
from tests.soundness.every_file import check_every_file
from tests.soundness.partition_texts import Recorded
from tests.soundness.tables import Table, random_table

TABLES = max(6, int(os.environ.get("LAKEPRUNE_SOUNDNESS_CASES", "3000")) // 500)
_HIVE = {
    "integer": [Recorded("3", 3), Recorded("03", 3), Recorded("-7", -7), Recorded(None, None)],
    "string": [Recorded("a b", "a b"), Recorded("x/y", "x/y"), Recorded("50%", "50%"), Recorded(None, None)],
    "date": [Recorded("2024-01-05", 19727), Recorded("1969-12-31", -1), Recorded(None, None)],
}


def test_no_matching_file_is_dropped_and_no_full_file_has_another_row(tmp_path: Path) -> None:
    check_every_file(tmp_path, range(TABLES), hive_table, write)


def hive_table(rng: Random) -> Table:
    """A random table without what plain files cannot have: deleted rows, column mapping, a log; with one partition column."""
    table = random_table(rng)
    kind = rng.choice(list(_HIVE))
    partition = ColumnSpec(("p0",), ("p0",), kind, True, tuple(r.value for r in _HIVE[kind] if r.value is not None))
    columns = tuple(replace(c, physical=c.path) for c in table.columns if not c.is_partition)
    recorded = _HIVE[kind][: rng.randint(1, 4)]
    if all(each.text is None for each in recorded):
        recorded = _HIVE[kind]
    files = []
    for number, file in enumerate(table.files):
        value = recorded[0] if number == 0 else rng.choice(recorded)
        files.append(replace(file, name=f"{_folder(value)}/{file.name}", deleted=frozenset(), partition={partition: value}))
    return replace(table, columns=(*columns, partition), files=tuple(files), mapped=False, nan_aware=False)


def write(table: Table, root: Path, rng: Random) -> None:
    """Each file by pyarrow or by DuckDB, in row groups of one to three rows."""
    texts = {".".join(column.physical) for column in table.data_columns if column.type == "string"}
    for file in table.files:
        place = root / file.name
        place.parent.mkdir(parents=True, exist_ok=True)
        rows = arrow_rows(table, file)
        if rng.random() < 0.3 and len(rows):
            _write_by_duckdb(rows, place)
        else:
            pq.write_table(rows, place, row_group_size=rng.randint(1, 3), store_decimal_as_integer=rng.random() < 0.5)
        if rng.random() < 0.4:
            _know_less(place, texts, rng)


def _know_less(place: Path, texts: set[str], rng: Random) -> None:
    """Some of what the footer records is taken out, or recorded as older writers do; nothing in it becomes wrong."""

    def change(footer: Fields) -> None:
        for name, statistics in statistics_in(footer):
            if rng.random() < 0.6:
                rng.choice([*_LESS, _cut, _cut, _cut] if name in texts else _LESS)(statistics)
        if rng.random() < 0.15:
            without_column_orders(footer)

    patch(place, change)


def _cut(statistics: Fields) -> None:
    """Bounds of text as prefixes, marked as such: the empty maximum stands for every text."""
    for bound in (MIN, MAX):
        if bound in statistics:
            statistics[bound] = (BYTES, _prefix(statistics[bound][1]))
    statistics[MAX_IS_EXACT] = statistics[MIN_IS_EXACT] = (2, None)


def _prefix(text: bytes) -> bytes:
    """Its first half, cut where a character ends."""
    letters = text.decode()
    return letters[: len(letters) // 2 + 1].encode()


_NANS = 9
_LESS = (
    without(NULLS),
    without(MIN),
    without(MAX),
    without(MIN, MAX),
    without(MAX_IS_EXACT, MIN_IS_EXACT),
    without(_NANS),
    deprecated,
)


def _write_by_duckdb(rows: pa.Table, place: Path) -> None:
    with duckdb.connect() as connection:
        connection.register("rows", rows)
        connection.execute(f"COPY rows TO {duckdb_text(str(place))} (FORMAT parquet)")


def _folder(recorded: Recorded) -> str:
    return "p0=" + (
        "__HIVE_DEFAULT_PARTITION__" if recorded.text is None else recorded.text.replace("%", "%25").replace("/", "%2F")
    )


def _bytes_that_are_not_text(place: Path) -> None:
    """Strings that are not UTF-8, whose statistics are printed with backslashes."""
    several = [b"\xe2\x82", b"\xf0"]
    raw = pa.array(several, pa.binary())
    pq.write_table(pa.table({"x": pa.Array.from_buffers(pa.string(), len(several), raw.buffers())}), place)


def _trust_text(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(bounds, "is_text", lambda _text: "TRUE")


def _nan(place: Path) -> None:
    pq.write_table(pa.table({"x": pa.array([1.0, float("nan")])}), place)


def _trust_missing_nan_count(patch: pytest.MonkeyPatch) -> None:
    printed = bounds._all
    patch.setattr(bounds, "_all", lambda condition: "TRUE" if "nans" in condition else printed(condition))


@pytest.mark.parametrize(
    ("write_file", "where", "switch_off"),
    [(_bytes_that_are_not_text, "x > 'zzz'", _trust_text), (_nan, "x > 5", _trust_missing_nan_count)],
)
def test_each_guard_is_needed(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    write_file: Callable[[Path], None],
    where: str,
    switch_off: Callable[[pytest.MonkeyPatch], None],
) -> None:
    write_file(tmp_path / "f.parquet")
    assert verdicts(tmp_path, where) == {"f.parquet": "KEEP"}
    switch_off(monkeypatch)
    assert verdicts(tmp_path, where) == {"f.parquet": "DROP"}
