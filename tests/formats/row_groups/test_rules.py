"""What the statistics of a row group prove, trap by trap, and guards switched off: the log says nothing about values here."""

from __future__ import annotations

import struct
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from demo.delta_log import add, featured, field, mapping
from lakeprune.formats.parquet import bounds
from lakeprune.formats.row_groups import domains, footers, leaves
from tests.formats.parquet.test_patched_footers import GUARDS, UNPROVEN, Change, Guard, both, each, whole
from tests.formats.parquet.thrift import BYTES, MAX, MIN, NULLS, OLD_MIN, Fields, deprecated, setting, without
from tests.formats.row_groups.delta import delta_of, groups, one_column

_CREATED_BY = 6
D = Decimal


def at(text: str) -> datetime:
    return datetime.fromisoformat(text)


def utc(year: int) -> datetime:
    return datetime(year, 1, 1, tzinfo=UTC)


# type | values, one row group each | predicate | verdicts
PROVEN: list[tuple[pa.DataType, list[Any], str, str]] = [
    (pa.int8(), [-1, 5, None], "x = 5", "DFD"),
    (pa.int16(), [-300, 300], "x < 0", "FD"),
    (pa.int32(), [1, 5, 9], "x >= 5", "DFF"),
    (pa.int64(), [2**62, -(2**62)], "x > 0", "FD"),
    (pa.float64(), [1.5, 2.5], "x BETWEEN 2 AND 3", "DK"),
    (pa.float32(), [0.1, 0.2], "x = CAST(0.1 AS FLOAT)", "KD"),
    (pa.string(), ["a", "é", None], "x = 'é'", "DFD"),
    (pa.string(), ["a", "b", None], "x IS NULL", "DDF"),
    (pa.binary(), [b"\x01", b"\xff"], "x = X'FF'", "DF"),
    (pa.bool_(), [True, False, None], "x", "FDD"),
    (pa.date32(), [date(1969, 12, 31), date(2024, 2, 29)], "x = DATE'2024-02-29'", "DF"),
    (pa.timestamp("us"), [at("1969-12-31T23:59:59.000001"), at("2024-01-01")], "x < TIMESTAMP_NTZ'1970-01-01'", "FD"),
    (pa.timestamp("ms"), [at("2020-01-01"), at("2024-01-01")], "x > TIMESTAMP_NTZ'2023-01-01'", "DF"),
    (pa.timestamp("us", "UTC"), [utc(2020), utc(2024)], "x > TIMESTAMP'2023-01-01 00:00:00Z'", "DF"),
    (pa.decimal128(9, 2), [D("-1.00"), D("1.50")], "x = 1.5", "DF"),
    (pa.decimal128(18, 3), [D("-1.000"), D("1.500")], "x < 0", "FD"),
    (pa.decimal128(38, 10), [D("-1"), D("12345678901234567890.5")], "x > 1", "DF"),
]  # fmt: skip


@pytest.mark.parametrize("as_integer", [False, True])
@pytest.mark.parametrize(("kind", "values", "where", "verdicts"), PROVEN, ids=[f"{case[0]} {case[2]}" for case in PROVEN])
def test_each_row_group_is_judged_by_its_own_bounds(
    tmp_path: Path, as_integer: bool, kind: pa.DataType, values: list[Any], where: str, verdicts: str
) -> None:
    table = one_column(tmp_path / "t", values, kind, row_group_size=1, store_decimal_as_integer=as_integer)
    assert groups(table, where) == verdicts


@pytest.mark.parametrize(("lacks", "values", "kind", "change", "wheres"), UNPROVEN, ids=[case[0] for case in UNPROVEN])
def test_a_row_group_whose_footer_lacks_something_is_kept(
    tmp_path: Path, lacks: str, values: list[Any], kind: pa.DataType, change: Change, wheres: list[str]
) -> None:
    table = one_column(tmp_path / "t", values, kind)
    change(table / "f.parquet")
    for where in wheres:
        assert groups(table, where) == "K", f"{where}, without {lacks}"


@pytest.mark.parametrize("case", GUARDS, ids=[case[0] for case in GUARDS])
def test_without_its_guard_the_row_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: Guard) -> None:
    guard, values, kind, change, where, switch = case
    table = one_column(tmp_path / "t", values, kind)
    change(table / "f.parquet")
    assert groups(table, where) == "K", guard
    whole_sql = bounds.judged_sql

    def unguarded(*arguments: Any) -> str:
        text = whole_sql(*arguments)
        assert switch[0] in text
        return text.replace(*switch)

    monkeypatch.setattr(domains, "judged_sql", unguarded)
    is_doubled = guard == "bounds in the wrong order are discarded"  # once more where evidence is merged
    assert groups(table, where) == ("K" if is_doubled else "D"), guard


def written_by(name: str) -> Change:
    return whole(lambda footer: footer.update({_CREATED_BY: (BYTES, name.encode())}))


@pytest.mark.parametrize(
    ("writer", "verdict"),
    [
        ("parquet-mr version 1.6.0 (build abc)", "K"),
        ("parquet-mr version 1.8.0", "K"),
        ("parquet-mr", "D"),  # no version that is known to be wrong
        ("parquet-mr version 1.8.1 (build abc)", "D"),
        ("parquet-mr version 1.13.1", "D"),
        ("parquet-cpp version 1.6.0", "D"),
    ],
)
def test_bounds_of_writers_that_are_known_to_be_wrong_are_not_used(tmp_path: Path, writer: str, verdict: str) -> None:  # T59
    table = one_column(tmp_path / "t", ["a", "b"], pa.string())
    written_by(writer)(table / "f.parquet")
    assert groups(table, "x = 'c'") == verdict


@pytest.mark.parametrize("kind", [pa.int32(), pa.int64(), pa.float64(), pa.date32()])
def test_deprecated_bounds_count_for_types_of_signed_order(tmp_path: Path, kind: pa.DataType) -> None:
    table = one_column(tmp_path / "t", pa.array([1, 5], pa.int32()).cast(kind).to_pylist() if kind != pa.date32() else
                       [date(2024, 1, 1), date(2024, 1, 5)], kind)  # fmt: skip
    each(deprecated)(table / "f.parquet")
    where = "x < DATE'2023-01-01'" if kind == pa.date32() else "x < 0"
    assert groups(table, where) == "D"


def test_deprecated_bounds_of_text_and_unsigned_numbers_do_not_count(tmp_path: Path) -> None:  # T17, T28
    text = one_column(tmp_path / "t", ["a", "b"], pa.string())
    each(deprecated)(text / "f.parquet")
    assert groups(text, "x = 'z'") == "K"
    place = tmp_path / "u" / "f.parquet"
    place.parent.mkdir()
    pq.write_table(pa.table({"x": pa.array([1, 3_000_000_000], pa.uint32())}), place)
    assert groups(place, "x > 2000000000 AND x < 2500000000") == "K"
    # As a writer that compares them as signed numbers records a group of 1 and 3,000,000,000 without a maximum.
    each(deprecated)(place)
    each(without(1))(place)
    assert groups(place, "x = 1") == "K"


@pytest.mark.parametrize(
    ("stored", "values", "declared", "where", "verdicts"),
    [
        (pa.int32(), [1, 5], "long", "x = 5", "DF"),
        (pa.int8(), [1, 5], "integer", "x = 5", "DF"),
        (pa.float32(), [0.1, 0.5], "double", "x = 0.5", "DK"),
        (pa.float32(), [0.1, 0.5], "double", "x = CAST(CAST(0.1 AS FLOAT) AS DOUBLE)", "KD"),
        (pa.int32(), [1, 5], "double", "x > 4", "DF"),
        (pa.int32(), [1, 5], "decimal(12,2)", "x = 5.00", "DF"),
        (pa.decimal128(9, 2), [D("1.00"), D("5.25")], "decimal(12,3)", "x = 5.25", "DF"),
        (pa.date32(), [date(2024, 1, 1), date(2024, 1, 5)], "timestamp_ntz", "x = TIMESTAMP_NTZ'2024-01-05 00:00:00'", "DF"),
        # What the table's type does not come from proves nothing.
        (pa.int64(), [1, 5], "integer", "x = 5", "KK"),
        (pa.string(), ["1", "5"], "integer", "x = 5", "KK"),
        (pa.timestamp("us"), [at("2024-01-01"), at("2024-01-05")], "timestamp", "x > TIMESTAMP'2025-01-01 00:00:00Z'", "KK"),
        (pa.timestamp("us", "UTC"), [utc(2024)] * 2, "timestamp_ntz", "x > TIMESTAMP_NTZ'2025-01-01'", "KK"),
        (pa.decimal128(9, 3), [D("1.000"), D("5.250")], "decimal(9,2)", "x = 9", "KK"),
        (pa.timestamp("ns", "UTC"), [utc(2024)] * 2, "timestamp", "x > TIMESTAMP'2025-01-01 00:00:00Z'", "KK"),
    ],
)  # fmt: skip
def test_a_narrower_type_in_the_file_is_read_as_what_it_is(
    tmp_path: Path, stored: pa.DataType, values: list[Any], declared: str, where: str, verdicts: str
) -> None:  # T14, T27
    table = one_column(tmp_path / "t", values, stored, declared, row_group_size=1)
    found = groups(table, where)
    assert all(there in (expected, "K") for there, expected in zip(found, verdicts, strict=True))
    assert found == verdicts or "ns" in str(stored)


def test_int96_proves_nothing(tmp_path: Path) -> None:  # T15
    table = one_column(tmp_path / "t", [utc(2024)], pa.timestamp("us", "UTC"), use_deprecated_int96_timestamps=True)
    assert groups(table, "x > TIMESTAMP'2030-01-01 00:00:00Z'") == "K"


def test_nan_is_kept_unless_the_footer_counts_none(tmp_path: Path) -> None:
    table = one_column(tmp_path / "t", [1.0, float("nan")], pa.float64())
    assert groups(table, "x > 5") == "K"
    plain = one_column(tmp_path / "u", [1.0, 2.0], pa.float64())
    assert groups(plain, "x > 5") == "K"
    each(setting(9, 6, 0))(plain / "f.parquet")
    assert groups(plain, "x > 5") == "D"
    each(setting(9, 6, 1))(plain / "f.parquet")
    assert groups(plain, "x > 5") == "K"


def test_a_drop_that_assumes_no_hidden_nan_says_so(tmp_path: Path) -> None:
    table = one_column(tmp_path / "t", [1.0, 2.0], pa.float64())
    import lakeprune

    report = lakeprune.explain(table, "x > 5", row_groups=True)
    assert [(each.column, each.files) for each in report.assumptions] == [("x", 1)]
    (file,) = report.files
    assert (file.credit, file.assumes) == ("row_group", ["x"])


def nested(root: Path) -> Path:
    """A column `a.b`, and one whose name is `a, b`: footers join names by a comma (T84)."""
    root.mkdir()
    pairs = pa.array([{"b": 1, "c": None}, {"b": 2, "c": None}], pa.struct([("b", pa.int64()), ("c", pa.int64())]))
    rows = pa.table({"a": pairs, "a, b": [100, 200], "l": [[1], [2]]})
    pq.write_table(rows, root / "f.parquet", row_group_size=1)
    element = {"type": "array", "elementType": "long", "containsNull": True}
    inner = {"type": "struct", "fields": [field("b", "long"), field("c", "long")]}
    return delta_of(root, {"a": inner, "a, b": "long", "l": element}, [add("f.parquet")])


def test_a_field_of_a_struct_is_found_by_its_path(tmp_path: Path) -> None:
    table = nested(tmp_path / "t")
    assert groups(table, "a.b = 2") == "DF"
    assert groups(table, "`a, b` = 200") == "DF"
    assert groups(table, "l IS NULL") == "KK"
    assert groups(table, "a.c IS NULL") == "FF"


def test_a_column_that_the_file_lacks_proves_nothing(tmp_path: Path) -> None:
    table = one_column(tmp_path / "t", [1, 2], pa.int64())
    delta = delta_of(tmp_path / "t" / "more", {"x": "long", "y": "long"}, [add("../f.parquet")])
    for where in ("y = 1", "y IS NULL", "y IS NOT NULL"):
        assert groups(delta, where, "../f.parquet") == "K"
    assert groups(table, "x = 7") == "D"


@pytest.mark.parametrize("mode", ["name", "id"])
def test_mapped_columns_are_found_by_physical_name_or_by_id(tmp_path: Path, mode: str) -> None:
    place = tmp_path / "t"
    place.mkdir()
    # Two columns that changed names: by name `a` is the second of the file, by id it is the first.
    schema = pa.schema([pa.field("p1", pa.int64(), metadata={"PARQUET:field_id": "1"}),
                        pa.field("p2", pa.int64(), metadata={"PARQUET:field_id": "2"})])  # fmt: skip
    pq.write_table(pa.table({"p1": [1, 2], "p2": [10, 20]}, schema=schema), place / "f.parquet", row_group_size=1)
    columns = {"a": field("a", "long", mapping(1, "p2"))}
    configuration = {"delta.columnMapping.mode": mode, "delta.columnMapping.maxColumnId": "2"}
    delta_of(place, columns, [add("f.parquet")], head=featured("columnMapping"), configuration=configuration)
    assert groups(place, "a = 20") == ("DF" if mode == "name" else "DD")
    assert groups(place, "a = 2") == ("DD" if mode == "name" else "DF")


def test_files_without_field_ids_prove_nothing_where_columns_are_found_by_id(tmp_path: Path) -> None:
    place = tmp_path / "t"
    place.mkdir()
    pq.write_table(pa.table({"p1": [1, 2]}), place / "f.parquet")
    configuration = {"delta.columnMapping.mode": "id", "delta.columnMapping.maxColumnId": "1"}
    delta_of(place, {"a": field("a", "long", mapping(1, "p1"))}, [add("f.parquet")], head=featured("columnMapping"),
             configuration=configuration)  # fmt: skip
    assert groups(place, "a = 7") == "K"


Patch = Callable[[Fields], None]


def test_a_contradiction_between_file_and_row_group_proves_nothing(tmp_path: Path) -> None:  # T24
    root = tmp_path / "t"
    root.mkdir()
    pq.write_table(pa.table({"x": [1, 2]}), root / "f.parquet")
    stats = {"numRecords": 2, "minValues": {"x": 100}, "maxValues": {"x": 200}, "nullCount": {"x": 0}}
    delta_of(root, {"x": "long"}, [add("f.parquet", stats)])
    assert groups(root, "x = 150") == "K"


def test_widening_a_bound_keeps_what_was_kept(tmp_path: Path) -> None:
    wider: Patch = lambda s: s.update({MIN: (BYTES, struct.pack("<q", 0)), MAX: (BYTES, struct.pack("<q", 10))})  # noqa: E731
    table = one_column(tmp_path / "t", [4, 5], pa.int64(), row_group_size=1)
    before = groups(table, "x = 5 OR x = 9")
    both(each(wider), each(without(NULLS)))(table / "f.parquet")
    assert (before, groups(table, "x = 5 OR x = 9")) == ("DF", "KK")


def _trust_every_writer(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(footers, "is_denied", lambda _dialect, _created_by: "FALSE")


def _trust_deprecated_text(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(leaves, "_SIGNED", (*leaves._SIGNED, "BYTE_ARRAY"))


def _wrong_bounds(statistics: Fields) -> None:
    """What parquet-mr 1.6 could record of 'a' and 'é'."""
    statistics[MIN] = statistics[MAX] = (BYTES, b"a")


@pytest.mark.parametrize(
    ("change", "switch_off"),
    [
        (both(each(_wrong_bounds), written_by("parquet-mr version 1.6.0")), _trust_every_writer),
        # Compared as signed bytes, 'a' is above 'é'.
        (both(each(_wrong_bounds), each(without(MIN)), each(deprecated), each(without(OLD_MIN))), _trust_deprecated_text),
    ],
    ids=["writers that are wrong", "deprecated bounds of text"],
)
def test_each_guard_of_writers_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Change, switch_off: Callable[[pytest.MonkeyPatch], None]
) -> None:
    table = one_column(tmp_path / "t", ["a", "é"], pa.string())
    change(table / "f.parquet")
    assert groups(table, "x = 'é'") == "K"
    switch_off(monkeypatch)
    assert groups(table, "x = 'é'") == "D"
