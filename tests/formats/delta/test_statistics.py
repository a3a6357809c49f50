"""What stored statistics prove, trap by trap: every text a writer may leave, and what must not be concluded from it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from lakeprune.engines.engine import EngineError
from lakeprune.predicate.tree import NanPolicy, Profile
from tests.builders.delta import PROTOCOL, Log, add, bounds, metadata
from tests.formats.delta.relation import columns, files, opened

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NAN_AWARE = Profile(now=0, nan_policy=NanPolicy.SPARK_WRITERS)


def domain(tmp_path: Path, kind: Any, stats: Any, profile: Profile = NAN_AWARE, **configuration: str) -> dict[str, Any]:
    """The domain of column x of a one-file table with these statistics."""
    head = metadata({"x": kind}, configuration={key.replace("_", "."): value for key, value in configuration.items()})
    log = Log(tmp_path / f"t{len(list(tmp_path.iterdir()))}").commit(0, PROTOCOL, head, add("a", stats))
    found: dict[str, Any] = files(opened(log.path), profile)[0]["x"]
    return found


def limits(tmp_path: Path, kind: Any, low: Any, high: Any) -> tuple[Any, Any]:
    found = domain(tmp_path, kind, bounds(low, high))
    return found["lo"], found["hi"]


def micros(text: str) -> int:
    return (datetime.fromisoformat(text).replace(tzinfo=UTC) - EPOCH) // timedelta(microseconds=1)


@pytest.mark.parametrize("stats", [None, "", "{}", '{"numRecords":10,"minVal', "null", "[]", '"text"', "7", "NaN", "{'x':1}"])
def test_missing_or_broken_statistics_prove_nothing(tmp_path: Path, stats: str | None) -> None:  # T30
    found = domain(tmp_path, "long", stats)
    assert found == {"lo": None, "hi": None, "no_null": False, "all_null": False, "counted": False}


def test_missing_null_count_is_not_zero(tmp_path: Path) -> None:  # T29
    found = domain(tmp_path, "long", {"numRecords": 2, "minValues": {"x": 1}, "maxValues": {"x": 1}})
    assert (found["no_null"], found["all_null"], found["counted"], found["lo"]) == (False, False, False, 1)


@pytest.mark.parametrize(("nulls", "rows", "nn", "an"), [
    (0, 10, True, False),
    (10, 10, False, True),
    (3, 10, False, False),
    (0, 0, True, True),
    (0, None, True, False),
    (10, None, False, False),
    (11, 10, False, False),
    (-1, 10, False, False),
    (0.4, 10, False, False),
    (False, 10, False, False),
    ("abc", 10, False, False),
    ([0], 10, False, False),
    (5, -5, False, False),
    (0, 2**70, True, False),
])  # fmt: skip
def test_null_counts_prove_only_what_they_say(tmp_path: Path, nulls: Any, rows: Any, nn: bool, an: bool) -> None:  # T24, T31
    found = domain(tmp_path, "long", bounds(0, 0, nulls, rows))
    assert (found["no_null"], found["all_null"]) == (nn, an)


@pytest.mark.parametrize(("low", "high", "expected"), [
    (1, 9, (1, 9)),
    (-(2**63), 2**63 - 1, (-(2**63), 2**63 - 1)),
    (3.7, 9, (None, 9)),
    ("007", "x", (7, None)),
    (2**63, 2**64, (None, None)),
    (True, {"y": 1}, (None, None)),
    (9, 1, (None, None)),
    ("7", "8", (7, 8)),
])  # fmt: skip
def test_integer_bounds_are_exact_or_unknown(tmp_path: Path, low: Any, high: Any, expected: Any) -> None:  # T24, T46
    assert limits(tmp_path, "long", low, high) == expected


def test_large_integers_are_exact_even_as_exponents(tmp_path: Path) -> None:
    text = '{"numRecords":1,"minValues":{"x":1e3},"maxValues":{"x":9007199254740993},"nullCount":{"x":0}}'
    found = domain(tmp_path, "long", text)
    assert (found["lo"] in (None, 1000), found["hi"]) == (True, 9007199254740993)
    text = '{"numRecords":1,"minValues":{"x":9.007199254740995e15},"maxValues":{"x":9.1e15},"nullCount":{"x":0}}'
    assert domain(tmp_path, "long", text)["lo"] is None


@pytest.mark.parametrize(("low", "high", "expected", "clean"), [
    ("1.5", "2.5", (1.5, 2.5), True),
    ('"1.5"', '"Infinity"', (1.5, float("inf")), True),
    ("-Infinity", "Infinity", (float("-inf"), float("inf")), True),
    ("1", "NaN", (1.0, None), False),
    ("1", '"NaN"', (1.0, None), False),
    ("NaN", "NaN", (None, None), False),
    ("1", "1e400", (1.0, None), True),
    ("-0.0", "0.0", (0.0, 0.0), True),
    ("1", "null", (1.0, None), False),
    ("true", '"x"', (None, None), False),
])  # fmt: skip
def test_float_bounds_and_nan(tmp_path: Path, low: str, high: str, expected: Any, clean: bool) -> None:  # T1, T2, T3, T4
    text = f'{{"numRecords":2,"minValues":{{"x":{low}}},"maxValues":{{"x":{high}}},"nullCount":{{"x":0}}}}'
    found = domain(tmp_path, "double", text)
    assert ((found["lo"], found["hi"]), found["nan_free"]) == (expected, clean)
    assert domain(tmp_path, "double", text, Profile(now=0))["nan_free"] is False


def test_float_bounds_are_those_of_single_precision(tmp_path: Path) -> None:
    assert limits(tmp_path, "float", 3.4, 0.1 + 3.4) == (3.4000000953674316, 3.5)


def test_double_that_was_float_is_widened_to_both_readings(tmp_path: Path) -> None:  # T57
    change = {"delta.typeChanges": [{"fromType": "float", "toType": "double"}]}
    found = domain(tmp_path, {"name": "x", "type": "double", "nullable": True, "metadata": change}, bounds(3.4, 3.4))
    assert (found["lo"], found["hi"]) == (3.4, 3.4000000953674316)


def test_quoting_numbers_never_turns_a_string_into_a_bound(tmp_path: Path) -> None:
    head = metadata({"x": "decimal(38,2)", "s": "string"})
    stats = {"numRecords": 1, "minValues": {"x": 1, "s": 'a":5'}, "maxValues": {"x": 1, "s": 'a":5,"x":9'}, "nullCount": {}}
    log = Log(tmp_path / "t").commit(0, PROTOCOL, head, add("a", stats))
    (file,) = files(opened(log.path))
    assert file["x"]["lo"] in (None, Decimal(1))
    assert file["s"]["hi"] in (None, 'a":5,"x":9')


@pytest.mark.parametrize(("text", "days"), [
    ("2024-01-05", 19727),
    ("1969-12-31", -1),
    ("2024-1-5", None),
    ("infinity", None),
    ("2024-02-30", None),
    ("2024-01-05T00:00:00", None),
    ("epoch", None),
    (19727, None),
])  # fmt: skip
def test_dates_are_read_strictly(tmp_path: Path, text: Any, days: int | None) -> None:
    assert limits(tmp_path, "date", text, text) == (days, days)


@pytest.mark.parametrize("kind", ["timestamp", "timestamp_ntz"])
def test_millisecond_maximum_admits_the_microseconds_cut_off(tmp_path: Path, kind: str) -> None:  # T5
    zone = "Z" if kind == "timestamp" else ""
    low, high = limits(tmp_path, kind, f"2024-01-01T12:00:00.000{zone}", f"2024-01-01T12:00:00.123{zone}")
    assert (low, high) == (micros("2024-01-01T12:00:00"), micros("2024-01-01T12:00:00.123999"))
    low, high = limits(tmp_path, kind, f"2024-01-01T12:00:00.000001{zone}", f"2024-01-01T12:00:00.123456{zone}")
    assert (low, high) == (micros("2024-01-01T12:00:00.000001"), micros("2024-01-01T12:00:00.123456"))
    low, _ = limits(tmp_path, kind, f"1969-12-31T23:59:59.999{zone}", f"2024-01-01T12:00:00.123{zone}")
    assert low == -1000 - 999


@pytest.mark.parametrize(("text", "expected"), [
    ("2024-01-01T12:00:00.000001+02:00", "2024-01-01T10:00:00.000001"),
    ("2024-01-01 12:00:00.000001-08:30", "2024-01-01T20:30:00.000001"),
])  # fmt: skip
def test_offsets_are_honoured(tmp_path: Path, text: str, expected: str) -> None:
    assert limits(tmp_path, "timestamp", text, text) == (micros(expected), micros(expected))


def test_offset_without_its_seconds_is_widened(tmp_path: Path) -> None:  # T8
    true = micros("1850-01-01T01:01:01") - (53 * 60 + 28) * 1_000_000  # local mean time, +00:53:28
    low, high = limits(tmp_path, "timestamp", "1850-01-01T01:01:01.000+00:53", "1850-01-01T01:01:01.000+00:53")
    assert low <= true <= high
    assert high - low < 120_000_000


def test_timestamp_without_offset_may_be_of_any_zone(tmp_path: Path) -> None:
    low, high = limits(tmp_path, "timestamp", "2024-01-01T12:00:00.000001", "2024-01-01T12:00:00.000001")
    assert high - low == 36 * 3600 * 1_000_000


@pytest.mark.parametrize(
    "text", ["+294247-01-10T04:00:54.775Z", "infinity", "2024-01-01", "12:00:00", "now", 5, "2024-13-01T00:00:00Z"]
)
def test_odd_timestamps_are_unknown(tmp_path: Path, text: Any) -> None:  # T6
    assert limits(tmp_path, "timestamp", text, text) == (None, None)


def test_date_stored_before_widening_to_timestamp_is_its_midnight(tmp_path: Path) -> None:  # T57
    low, high = limits(tmp_path, "timestamp_ntz", "2024-09-09", "2024-09-09")
    assert low == micros("2024-09-09T00:00:00")
    assert high == low + 999


@pytest.mark.parametrize(("high", "expected", "cut"), [
    ("b" * 31, "b" * 31, False),
    ("b" * 32, "b" * 32, True),
    ("b" * 32 + "\ufffd", "b" * 32, True),
    ("b" * 32 + "\x7f", "b" * 32, True),
    ("b" * 32 + "\U0010ffff", "b" * 32, True),
    ("b" * 31 + "?\ufffd", "b" * 31, True),
    ("b" * 31 + "?", "b" * 31, True),
    ("ü" * 16, "ü" * 16, True),
    ("b", "b", False),
    ("b?" * 16, "b?" * 15 + "b", True),
])  # fmt: skip
def test_cut_maximum_stands_for_everything_that_starts_with_it(
    tmp_path: Path, high: str, expected: str, cut: bool
) -> None:  # T16
    found = domain(tmp_path, "string", bounds("a", high))
    assert (found["lo"], found["hi"], found["truncated"]) == ("a", expected, cut)


def test_configured_prefix_length_is_honoured_when_smaller(tmp_path: Path) -> None:
    key = {"delta_dataSkippingStringPrefixLength": "4"}
    assert domain(tmp_path, "string", bounds("a", "bbbb"), NAN_AWARE, **key)["truncated"] is True
    assert domain(tmp_path, "string", bounds("a", "b" * 40), delta_dataSkippingStringPrefixLength="100")["truncated"] is True


def test_lone_surrogate_in_statistics_makes_them_unknown(tmp_path: Path) -> None:
    text = '{"numRecords":1,"minValues":{"x":"a\\ud800"},"maxValues":{"x":"a\\ud800"},"nullCount":{"x":0}}'
    assert domain(tmp_path, "string", text)["hi"] is None


def test_collated_and_padded_strings_have_no_bounds_but_counts(tmp_path: Path) -> None:  # T19, T20
    for extra in ({"__COLLATIONS": {"x": "icu.UNICODE"}}, {"__CHAR_VARCHAR_TYPE_STRING": "char(3)"}):
        field = {"name": "x", "type": "string", "nullable": True, "metadata": extra}
        found = domain(tmp_path, field, bounds("a", "b"))
        assert (found["lo"], found["hi"], found["no_null"]) == (None, None, True)
    field = {"name": "x", "type": "string", "nullable": True, "metadata": {"__CHAR_VARCHAR_TYPE_STRING": "varchar(3)"}}
    assert domain(tmp_path, field, bounds("a", "b"))["hi"] == "b"


def test_boolean_and_binary(tmp_path: Path) -> None:
    assert limits(tmp_path, "boolean", False, True) == (False, True)
    assert limits(tmp_path, "boolean", 0, "TRUE") == (None, None)
    assert limits(tmp_path, "binary", "a", "b") == (None, None)


def test_nested_columns_are_found_by_their_physical_path(tmp_path: Path) -> None:  # T52, T53
    inner = {"name": "b", "type": "long", "nullable": True, "metadata": {"delta.columnMapping.physicalName": "col-2"}}
    outer = {
        "name": "a",
        "type": {"type": "struct", "fields": [inner]},
        "nullable": True,
        "metadata": {"delta.columnMapping.physicalName": "col-1"},
    }
    dotted = {"name": "a.b", "type": "long", "nullable": True, "metadata": {"delta.columnMapping.physicalName": "a.b"}}
    head = metadata({"a": outer, "a.b": dotted}, configuration={"delta.columnMapping.mode": "name"})
    low = {"col-1": {"col-2": 5}, "a": {"b": 7}, "a.b": 9, "b": 11}
    stats = {"numRecords": 1, "minValues": low, "maxValues": low, "nullCount": {"col-1": {"col-2": 0}, "a.b": 1}}
    log = Log(tmp_path / "t").commit(0, PROTOCOL, head, add("f", stats))
    snapshot = opened(log.path)
    assert [column.physical for column in columns(snapshot)] == [("col-1", "col-2"), ("a.b",)]
    (file,) = files(snapshot)
    # Both are written a.b when joined: the relation keeps them apart by number, the dictionary keeps the last.
    assert (file["a.b"]["lo"], file["a.b"]["all_null"]) == (9, True)


def test_renamed_column_does_not_inherit_the_statistics_of_its_new_name(tmp_path: Path) -> None:  # T52
    def field(name: str, physical: str) -> dict[str, Any]:
        return {"name": name, "type": "long", "nullable": True, "metadata": {"delta.columnMapping.physicalName": physical}}

    head = metadata({"b": field("b", "a"), "a": field("a", "col-9")}, configuration={"delta.columnMapping.mode": "name"})
    log = Log(tmp_path / "t").commit(0, PROTOCOL, head, add("f", bounds(1, 2, column="a")))
    (file,) = files(opened(log.path))
    assert (file["b"]["hi"], file["a"]["hi"], file["a"]["counted"]) == (2, None, False)


def test_names_that_differ_only_by_case_do_not_mix(tmp_path: Path) -> None:  # T54
    log = Log(tmp_path / "t").commit(0, PROTOCOL, metadata({"x": "long", "X": "long"}), add("f", bounds(1, 2, column="X")))
    (file,) = files(opened(log.path))
    assert file["x"]["hi"] is None


@pytest.mark.parametrize("name", ['we"ird', "it's", "ü x", "a.b", "$", "min\\Values", "select", "x\ty"])
def test_any_column_name_can_be_read(tmp_path: Path, name: str) -> None:
    head = metadata({name: {"name": name, "type": "long", "nullable": True, "metadata": {}}})
    log = Log(tmp_path / "t").commit(0, PROTOCOL, head, add("f", bounds(1, 2, column=name)))
    assert files(opened(log.path))[0][name]["hi"] == 2


def test_unknown_type_change_makes_statistics_unusable(tmp_path: Path) -> None:
    for change in ({"fromType": "string", "toType": "long"}, {"fromType": "long", "toType": "double"}, {"toType": "long"}):
        field = {"name": "x", "type": "long", "nullable": True, "metadata": {"delta.typeChanges": [change]}}
        found = domain(tmp_path, field, bounds(1, 2))
        assert (found["lo"], found["no_null"]) == (None, False)
    field = {
        "name": "x",
        "type": "long",
        "nullable": True,
        "metadata": {"delta.typeChanges": [{"fromType": "integer", "toType": "long"}]},
    }
    assert domain(tmp_path, field, bounds(1, 2))["hi"] == 2


def test_statistics_as_an_object_are_read_like_text(tmp_path: Path) -> None:
    log = Log(tmp_path / "t").commit(0, PROTOCOL, metadata({"x": "long"}))
    action = add("a")
    action["add"]["stats_parsed"] = bounds(1, 2)
    log.commit(1, action)
    assert files(opened(log.path))[0]["x"]["hi"] == 2


@pytest.mark.parametrize("hostile", [-5, None, 2**70])
def test_absurd_sizes_are_an_error(tmp_path: Path, hostile: Any) -> None:
    log = Log(tmp_path / "t").commit(0, PROTOCOL, metadata({"x": "long"}), add("a", size=hostile))
    snapshot = opened(log.path)
    with pytest.raises(EngineError) as error:
        files(snapshot)
    assert snapshot.failure(error.value).exit_code == 3


def test_negative_row_count_is_unknown(tmp_path: Path) -> None:
    log = Log(tmp_path / "t").commit(0, PROTOCOL, metadata({"x": "long"}), add("a", bounds(1, 2, rows=-1)))
    (file,) = files(opened(log.path))
    assert (file["rows"], file["x"]["all_null"]) == (None, False)
