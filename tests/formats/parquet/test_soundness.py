"""Random rows in plain Parquet files, random predicates, every verdict against what the rows say; and guards switched off."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lakeprune.formats.parquet.bounds as bounds
from tests.formats.parquet.files import verdicts
from tests.formats.parquet.random_files import know_less, texts_of, write_rows
from tests.generator.columns import ColumnSpec
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
    """Each file by pyarrow or by DuckDB; some footers know less than they might."""
    for file in table.files:
        write_rows(arrow_rows(table, file), root / file.name, rng)
        if rng.random() < 0.4:
            know_less(root / file.name, texts_of(table), rng)


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
