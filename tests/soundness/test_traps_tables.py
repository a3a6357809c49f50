"""The traps of tables: partition values, column identity, deletion vectors and log replay."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pytest

import lakeprune
from tests.builders.checkpoint import write_checkpoint
from tests.builders.delta import Action, add, field, mapping, metadata, protocol, remove, statistics, write_log
from tests.generator.values import NAN
from tests.soundness.judging import MODERN, judge, one_column, partition_verdict, with_vector
from tests.soundness.scenes import Scene, complaints
from tests.soundness.tables import Layout
from tests.soundness.writers import Bounds, Writer

LIVE = statistics(4, x=(0, 10, 0))


def test_t42_plans_made_in_many_threads_are_those_made_in_one(tmp_path: Path) -> None:
    files = [add(f"f{n}", stats=statistics(1, x=(n, n, 0))) for n in range(20)]
    table = one_column(tmp_path, "integer", files)
    wheres = [f"x > {n}" for n in range(20)]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda where: judge(table, where), wheres)) == [judge(table, where) for where in wheres]


@pytest.mark.parametrize("value", ["A/A", "B B", "R&D", "x%20y", "$", "a=b", "ü", "__HIVE_DEFAULT_PARTITION__", "null"])
def test_t43_partition_values_come_from_the_log_as_they_stand(tmp_path: Path, value: str) -> None:
    table = tmp_path / "table"
    head = [MODERN, metadata({"x": "integer", "p": "string"}, ["p"])]
    write_log(table, [[*head, add("p=elsewhere/f%2520.parquet", partition={"p": value}, stats=LIVE)]])
    assert list(judge(table, f"p = '{value}'").values()) == ["FULL"]
    assert list(judge(table, "p = 'elsewhere'").values()) == ["DROP"]


@pytest.mark.parametrize("where", ["p = ''", "p IS NULL", "p <> 'a'", "length(p) = 0", "p IS NOT NULL"])
def test_t44_an_empty_partition_string_may_be_null_or_empty(tmp_path: Path, where: str) -> None:
    assert partition_verdict(tmp_path, "string", "", where) == "KEEP"


def test_t44_an_empty_partition_text_of_another_type_is_null(tmp_path: Path) -> None:
    assert partition_verdict(tmp_path, "integer", "", "p IS NULL") == "FULL"


def test_t45_a_null_partition_never_consults_statistics(tmp_path: Path) -> None:
    assert partition_verdict(tmp_path, "string", None, "p IS NULL") == "FULL"
    assert partition_verdict(tmp_path, "string", None, "p = 'a'") == "DROP"


def test_t45_a_partition_column_the_file_does_not_record_is_unknown(tmp_path: Path) -> None:
    head = [MODERN, metadata({"x": "integer", "p": "string"}, ["p"])]
    table = write_log(tmp_path / "table", [[*head, add("f", partition={}, stats=LIVE)]])
    for where in ("p IS NULL", "p IS NOT NULL", "p = 'a'", "lower(p) = 'a'"):
        assert judge(table, where)["f"] == "KEEP"


@pytest.mark.parametrize(("type_", "text", "literal"), [
    ("integer", "007", "7"), ("integer", " 7", "7"), ("integer", "7.0", "7"), ("date", "2024-1-5", "DATE '2024-01-05'"),
    ("boolean", "TRUE", "true"), ("integer", "abc", "1"), ("double", "1d", "1"),
])  # fmt: skip
def test_t46_unreadable_partition_text_is_unknown_not_null(tmp_path: Path, type_: str, text: str, literal: str) -> None:
    for where in (f"p = {literal}", f"p <> {literal}", f"NOT (p = {literal})"):
        assert partition_verdict(tmp_path, type_, text, where) == "KEEP"


def _mapped(columns: list[tuple[str, str, int]]) -> Action:
    fields = {name: field(name, "integer", mapping(number, physical)) for name, physical, number in columns}
    return metadata(fields, configuration={"delta.columnMapping.mode": "name", "delta.columnMapping.maxColumnId": "9"})


@pytest.mark.parametrize(("type_", "recorded", "printed", "others"), [
    ("decimal(10,2)", "7.5", "7.50", ("7.5", "7.500", "7")),
    ("decimal(10,2)", "100", "100.00", ("100", "1E+2")),
    ("decimal(10,2)", "-0", "0.00", ("-0.00", "0", "-0")),
    ("decimal(10,0)", "7.", "7", ("7.", "7.0")),
    ("double", "1e10", "1.0E10", ("1e10", "10000000000", "1E10")),
    ("double", "100", "100.0", ("100",)),
    ("double", "-0.0", "-0.0", ("0.0", "-0", "0")),
    ("double", "Infinity", "Infinity", ("inf",)),
    ("float", "0.1", "0.1", ("0.10000000149011612",)),
    ("boolean", "true", "true", ("TRUE", "1")),
    ("date", "2024-01-05", "2024-01-05", ("2024-1-5",)),
    ("timestamp", "2024-01-05T00:00:00.120000Z", "2024-01-05 01:00:00.12", ("2024-01-05 00:00:00.12",)),
    ("timestamp_ntz", "2024-01-05 00:00:00.000000", "2024-01-05 00:00:00", ("2024-01-05 00:00:00.0",)),
])  # fmt: skip
def test_t94_a_partition_value_is_printed_as_its_type(
    tmp_path: Path, type_: str, recorded: str, printed: str, others: tuple[str, ...]
) -> None:
    texts = ("cast(p AS string)", "concat(p, '')", "p || ''", "replace(p, '', '')")
    full = [f"{text} = '{printed}'" for text in texts]
    full += [f"length(p) = {len(printed)}", f"cast(p AS string) LIKE '{printed[:-1]}_'"]
    full += [f"substring(cast(p AS string), 1, 2) = '{printed[:2]}'"]
    dropped = [f"{text} = '{other}'" for text in texts for other in others]
    assert partition_verdict(tmp_path, type_, recorded, "p IS NOT NULL") == "FULL"
    asked = lakeprune.explain_many(tmp_path / "table", [*full, *dropped], timezone="Europe/Berlin")
    found = dict(zip([*full, *dropped], [report.files[0].verdict.value for report in asked], strict=True))
    assert found == {**dict.fromkeys(full, "FULL"), **dict.fromkeys(dropped, "DROP")}


@pytest.mark.parametrize(("type_", "recorded"), [("double", "816075259554e7"), ("float", "33.333332"), ("decimal(38,20)", "0")])
def test_t94_what_versions_and_modes_print_differently_has_no_answer(tmp_path: Path, type_: str, recorded: str) -> None:
    assert partition_verdict(tmp_path, type_, recorded, "cast(p AS string) = 'x'") == "KEEP"


def test_t52_statistics_belong_to_physical_names(tmp_path: Path) -> None:
    """Column a was renamed to b, and a new a was added: the old statistics under `a` are those of b."""
    stats = statistics(3, a=(1, 5, 0))
    table = write_log(tmp_path / "table", [[MODERN, _mapped([("b", "a", 1), ("a", "col-2", 2)]), add("f", stats=stats)]])
    assert judge(table, "b > 7")["f"] == "DROP"
    assert judge(table, "a > 7")["f"] == "KEEP"


def test_t53_a_dotted_name_is_not_a_path(tmp_path: Path) -> None:
    struct = {"type": "struct", "fields": [{"name": "b", "type": "integer", "nullable": True, "metadata": {}}]}
    stats = {
        "numRecords": 1,
        "minValues": {"a.b": 1, "a": {"b": 100}},
        "maxValues": {"a.b": 1, "a": {"b": 100}},
        "nullCount": {"a.b": 0, "a": {"b": 0}},
    }
    table = write_log(tmp_path / "table", [[MODERN, metadata({"a.b": "integer", "a": struct}), add("f", stats=stats)]])
    assert judge(table, "`a.b` = 1")["f"] == "FULL"
    assert judge(table, "a.b = 1")["f"] == "DROP"
    assert judge(table, "a.b = 100")["f"] == "FULL"


def test_t54_names_are_found_whatever_their_case(tmp_path: Path) -> None:
    table = write_log(
        tmp_path / "table", [[MODERN, metadata({"Value": "integer"}), add("f", stats=statistics(1, Value=(1, 1, 0)))]]
    )
    assert judge(table, "value = 2")["f"] == "DROP"


def test_t57_bounds_of_a_widened_type_are_read_as_the_new_one(tmp_path: Path) -> None:
    table = one_column(tmp_path, "long", [add("f", stats=statistics(1, x=(2147483647, 2147483647, 0)))])
    assert judge(table, "x > 2147483647")["f"] == "DROP"
    assert judge(table, "x = 2147483647")["f"] == "FULL"


def test_t64_a_fully_deleted_file_is_dropped_and_counts_are_physical(tmp_path: Path) -> None:
    files = [with_vector(add("half", stats=LIVE), 2), with_vector(add("gone", stats=LIVE), 4, offset=99)]
    table = one_column(tmp_path, "integer", files)
    assert judge(table, "x >= 0") == {"half": "FULL", "gone": "DROP"}


def test_t65_null_count_of_live_rows_does_not_prove_all_null(tmp_path: Path) -> None:
    """4 rows, 2 deleted, 2 NULL: whether the NULL rows are the live ones is not known."""
    stats = {**statistics(4, x=(1, 1, 2)), "tightBounds": False}
    table = one_column(tmp_path, "integer", [with_vector(add("f", stats=stats), 2)])
    assert judge(table, "x = 1")["f"] == "KEEP"
    assert judge(table, "x IS NULL")["f"] == "KEEP"


def test_t65_a_deletion_vector_that_shrank_makes_bounds_unknown(tmp_path: Path) -> None:
    """Values 0..10; the first vector hid 0 and bounds said 10..10; the second hides another row, and 0 is back."""
    old = with_vector(add("f", stats={**statistics(4, x=(10, 10, 0)), "tightBounds": True}), 3)
    new = with_vector(add("f", stats={**statistics(4, x=(10, 10, 0)), "tightBounds": False}), 1, offset=99)
    gone = remove("f", deletionVector=old["add"]["deletionVector"])
    table = write_log(tmp_path / "table", [[MODERN, metadata({"x": "integer"}), old], [gone, new]])
    assert judge(table, "x < 5")["f"] == "KEEP"


def test_t70_the_newest_add_wins_before_anything_is_pruned(tmp_path: Path) -> None:
    old, new = add("f"), add("f", stats=statistics(1, x=(0, 0, 0)))
    table = write_log(tmp_path / "table", [[MODERN, metadata({"x": "integer"}), old], [new]])
    assert judge(table, "x > 5") == {"f": "DROP"}


def test_t70_a_removed_file_never_comes_back(tmp_path: Path) -> None:
    table = write_log(tmp_path / "table", [[MODERN, metadata({"x": "integer"}), add("f"), add("g")], [remove("f")]])
    assert judge(table, "x > 5") == {"g": "KEEP"}


@pytest.mark.parametrize("remove_first", [True, False])
def test_t71_files_are_keyed_by_path_and_deletion_vector(tmp_path: Path, *, remove_first: bool) -> None:
    new = with_vector(add("f", stats=LIVE), 1)
    actions = [remove("f"), new] if remove_first else [new, remove("f")]
    table = write_log(tmp_path / "table", [[MODERN, metadata({"x": "integer"}), add("f", stats=LIVE)], actions])
    assert judge(table, "x > 5") == {"f": "KEEP"}


def _checkpoint(table: Path, version: int, adds: list[Action], part: tuple[int, int] | None = None) -> None:
    bounds = pa.struct([("x", pa.timestamp("us", tz="UTC"))])
    parsed = pa.struct([("numRecords", pa.int64()), ("minValues", bounds), ("maxValues", bounds)])
    name = f"{version:020d}.checkpoint" + (f".{part[0]:010d}.{part[1]:010d}" if part else "") + ".parquet"
    write_checkpoint(table / "_delta_log" / name, [metadata({"x": "timestamp"}), protocol(), *adds], parsed=parsed)


def _add(path: str, stats: str | None, parsed: Action | None) -> Action:
    return {"add": {**add(path, stats)["add"], "stats_parsed": parsed}}


def test_t72_an_incomplete_checkpoint_and_a_stale_hint_are_ignored(tmp_path: Path) -> None:
    table = write_log(tmp_path / "table", [[protocol(), metadata({"x": "timestamp"}), add("f")], [add("g")]])
    _checkpoint(table, 1, [], part=(1, 3))
    (table / "_delta_log" / "_last_checkpoint").write_text('{"version":1,"size":1,"parts":3}')
    assert set(judge(table, "x IS NULL")) == {"f", "g"}


def test_t73_json_statistics_win_and_typed_ones_are_widened(tmp_path: Path) -> None:
    table = write_log(tmp_path / "table", [[protocol(), metadata({"x": "timestamp"})]])
    moment = 1705320000123
    whole = {"x": moment * 1000}
    exact = json.dumps(statistics(1, x=("2024-01-15T12:00:00.123456Z", "2024-01-15T12:00:00.123456Z", 0)))
    parsed = {"numRecords": 1, "minValues": whole, "maxValues": whole}
    _checkpoint(table, 0, [_add("json", exact, parsed), _add("typed", None, parsed), _add("neither", None, None)])
    (table / "_delta_log" / f"{0:020d}.json").unlink()
    assert judge(table, "x = TIMESTAMP '2024-01-15 12:00:00.123456Z'") == {"json": "FULL", "typed": "KEEP", "neither": "KEEP"}
    assert judge(table, "x > TIMESTAMP '2024-01-15 12:00:01Z'") == {"json": "DROP", "typed": "DROP", "neither": "KEEP"}


def test_t02_t74_footers_of_a_checkpoint_leave_nan_out(tmp_path: Path) -> None:
    """An engine that trusts them takes a NaN bound for a number: the file of {NaN, 1, 2} was dropped for x < 3."""
    stated = {1: Bounds(NAN, NAN, '"NaN"', '"NaN"')}
    scene = Scene("double", [[1.0], [NAN, 1.0, 2.0], [2.0]], Writer.FOOTER, stated=stated, layout=Layout.CHECKPOINT_STRUCT)
    for where in ("x < 3", "x = 1", "x > 100", "x <> 5", "x IS NULL"):
        assert complaints(scene, where, tmp_path / "table") == []


def test_t74_one_add_without_statistics_among_many_is_kept(tmp_path: Path) -> None:
    table = write_log(tmp_path / "table", [[protocol(), metadata({"x": "timestamp"})]])
    moment = {"x": 1705320000123456}
    parsed = {"numRecords": 1, "minValues": moment, "maxValues": moment}
    _checkpoint(table, 0, [_add(f"f{n}", None, parsed if n != 77 else None) for n in range(1000)])
    found = judge(table, "x > TIMESTAMP '2030-01-01 00:00:00Z'")
    assert [path for path, one in found.items() if one != "DROP"] == ["f77"]
