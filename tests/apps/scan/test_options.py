"""Projections, overriding types, partition filters, typed partition values, and what is refused of them."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable, write_deltalake

import lakeprune
from lakeprune import TableError, UsageError
from lakeprune.apps.scan.model import Pushdown
from lakeprune.cli.main import main
from tests.builders.delta import PROTOCOL, add, metadata, statistics, users, write_log


def one_partition(root: Path, kind: str, text: str | None) -> Path:
    return write_log(root, [[PROTOCOL, metadata({"p": kind, "x": "integer"}, ("p",)), add("a", partition={"p": text})]])


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("integer", "7", 7),
        ("long", None, None),
        ("string", "", ""),
        ("boolean", "true", True),
        ("decimal(10,2)", "1.50", Decimal("1.50")),
        ("date", "2024-02-29", dt.date(2024, 2, 29)),
        ("timestamp", "2024-02-29T10:00:00Z", dt.datetime(2024, 2, 29, 10, tzinfo=dt.UTC)),
        ("timestamp_ntz", "2024-02-29 10:00:00", dt.datetime(2024, 2, 29, 10)),
        ("double", "-0.5", -0.5),
        ("binary", "ab", b"ab"),
    ],
)
def test_partition_values_have_their_own_types(tmp_path: Path, kind: str, text: str | None, value: Any) -> None:
    (file,) = lakeprune.plan(one_partition(tmp_path / "t", kind, text)).files.to_pylist()
    assert file["partition"] == {"p": value}


@pytest.mark.parametrize(
    ("kind", "text"), [("integer", "007"), ("integer", "a: b"), ("date", "2024-1-5"), ("timestamp", "2024-01-01 00:00:00")]
)
def test_a_partition_value_that_cannot_be_typed_is_an_error(tmp_path: Path, kind: str, text: str) -> None:
    plan = lakeprune.plan(one_partition(tmp_path / "t", kind, text))
    with pytest.raises(TableError) as error:
        _ = plan.files
    assert (error.value.code, error.value.exit_code) == ("LP370", 3)
    assert f"the value {text!r} of partition column `p`" in error.value.what
    if kind == "timestamp":
        (file,) = lakeprune.plan(tmp_path / "t", timezone="+01:00").files.to_pylist()
        assert file["partition"]["p"] == dt.datetime(2023, 12, 31, 23, tzinfo=dt.UTC)


def test_columns_that_only_the_filter_needs_stand_apart_and_in_the_order_of_the_table(tmp_path: Path) -> None:
    users(tmp_path / "users")
    plan = lakeprune.plan(tmp_path / "users", "age > 40 AND country = 'DE'", columns=["COUNTRY", "name"])
    assert [column.name for column in plan.columns] == ["name", "country"]
    assert [column.name for column in plan.filter_columns] == ["age"]  # the clause on country is exact
    assert [column.name for column in plan.columns if column.is_partition] == ["country"]


def test_types_are_overridden_by_wider_ones_only(tmp_path: Path) -> None:
    users(tmp_path / "users")
    plan = lakeprune.plan(tmp_path / "users", schema={"age": "long"})
    assert [column.type for column in plan.columns] == ["string", "long", "string"]
    for schema in ({"age": "short"}, {"age": "string"}, {"name": "integer"}, {"age": "nonsense"}):
        with pytest.raises(UsageError) as error:
            lakeprune.plan(tmp_path / "users", schema=schema)
        assert (error.value.code, bool(error.value.why), bool(error.value.fix)) == ("LP271", True, True)


def test_an_opaque_clause_is_unsupported_and_an_empty_result_is_a_plan(tmp_path: Path) -> None:
    table = write_log(tmp_path / "t", [[PROTOCOL, metadata({"x": "integer"}), add("a", statistics(3, x=(1, 9, 0)))]])
    (clause,) = lakeprune.plan(table, "x % 7 = 3").clauses
    assert clause.pushdown is Pushdown.UNSUPPORTED
    empty = lakeprune.plan(table, "x > 100", groups=4)
    assert (empty.files.num_rows, empty.totals.files_pruned, empty.uris, empty.statistics.rows.value) == (0, 1, [], 0)
    assert lakeprune.ScanPlan.from_json(empty.to_json()).files.schema.equals(empty.files.schema)


@pytest.mark.parametrize(
    "filters",
    [
        [("day", "=", "a")],
        [("day", "!=", "a")],
        [("day", "=", "")],
        [("day", "!=", "")],
        [("day", "in", ["a", "b"])],
        [("day", "not in", ["a", "b"])],
        [("day", "in", ["a", "b"]), ("day", "!=", "b")],
    ],
)
def test_partition_filters_choose_what_deltalake_chooses(tmp_path: Path, filters: Any) -> None:
    import pyarrow as pa

    rows = pa.table({"day": ["a", "b", "it's", None], "x": [1, 2, 3, 4]})
    write_deltalake(str(tmp_path / "t"), rows, partition_by=["day"])
    theirs = {uri.removeprefix("file://") for uri in DeltaTable(str(tmp_path / "t")).file_uris(file_pruning_predicate=filters)}
    assert {Path(uri).name for uri in lakeprune.plan(tmp_path / "t", partition_filters=filters).uris} == {
        Path(uri).name for uri in theirs
    }
    either = lakeprune.plan(tmp_path / "t", "x < 4", partition_filters=[filters, [("day", "=", "it's")]])
    assert all(clause.pushdown is Pushdown.EXACT for clause in either.clauses[1:])


@pytest.mark.parametrize(
    "filters", ["day = 1", [("x", "=", "1")], [("day", "~", "1")], [("day", "in", "a")], [("day", "=")], [("day", "in", 5)]]
)
def test_a_wrong_partition_filter_is_refused(tmp_path: Path, filters: Any) -> None:
    table = write_log(tmp_path / "t", [[PROTOCOL, metadata({"day": "string", "x": "integer"}, ("day",))]])
    with pytest.raises(UsageError) as error:
        lakeprune.plan(table, partition_filters=filters)
    assert (error.value.code, bool(error.value.fix)) == ("LP272", True)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"where": 5}, "LP218"),
        ({"columns": 5}, "LP270"),
        ({"schema": {5: "long"}}, "LP270"),
        ({"schema": {"age": 5}}, "LP271"),
        ({"limit": True}, "LP218"),
    ],
)
def test_an_option_of_another_type_is_refused(tmp_path: Path, options: Any, code: str) -> None:
    users(tmp_path / "users")
    with pytest.raises(UsageError) as error:
        lakeprune.plan(tmp_path / "users", **options)
    assert (error.value.code, bool(error.value.fix)) == (code, True)


@pytest.mark.parametrize(
    ("flags", "exit_code", "word"),
    [
        (["--columns", "nam"], 2, "did you mean name?"),
        (["--columns", "a,,b"], 2, "is not a list of names"),
        (["--raw"], 2, "add --uris"),
        (["--uris", "--format", "json"], 2, "do not go together"),
        (["--format", "parquet"], 2, "--output FILE"),
        (["--groups", "0"], 2, "give a whole number, 1 or more"),
        (["--at-version", "99"], 3, "available versions"),
        (["--format", "parquet", "--output", "missing/x.parquet"], 2, "name a writable file"),
    ],
)
def test_the_command_says_what_is_wrong(
    tmp_path: Path, flags: list[str], exit_code: int, word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    users(tmp_path / "users")
    assert main(["plan", str(tmp_path / "users"), *flags]) == exit_code
    said = capsys.readouterr()
    assert (said.out, word in said.err, "Traceback" in said.err) == ("", True, False)
