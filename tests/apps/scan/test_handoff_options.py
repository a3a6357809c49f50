"""Options, limits, empty plans and refusals of the hand-offs outside Spark."""

from __future__ import annotations

from typing import Any

import datafusion
import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from deltalake import DeltaTable

import lakeprune
from demo.tables import users
from lakeprune.errors import UsageError
from tests.apps.scan.rows import WAYS, arrow, rows_of

WHERE = "country = 'DE' AND age > 40"


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("options") / "users"
    users(path)
    return str(path)


@pytest.mark.parametrize("way", WAYS)
def test_an_empty_plan_has_the_schema_and_no_rows(table: str, way: object) -> None:
    whole = lakeprune.plan(table).to_arrow().schema
    found = way(lakeprune.plan(table, "age > 1000"))  # type: ignore[operator]
    assert found.num_rows == 0
    assert found.cast(whole).schema == whole


@pytest.mark.parametrize("way", WAYS)
def test_a_limit_gives_that_many_matching_rows(table: str, way: object) -> None:
    made = lakeprune.plan(table, "country = 'DE'", limit=2)
    found = way(made)  # type: ignore[operator]
    assert found.num_rows == 2
    assert set(found.column("country").to_pylist()) == {"DE"}


@pytest.mark.parametrize("way", WAYS)
def test_an_older_version_gives_its_own_rows(table: str, way: Any) -> None:
    for version in range(DeltaTable(table).version() + 1):
        expected = DeltaTable(table, version=version).to_pyarrow_table().filter(pc.field("age") > 40)
        found = way(lakeprune.plan(table, "age > 40", version=version))
        assert rows_of(found, expected.schema) == rows_of(expected)


def test_the_file_of_each_row(table: str) -> None:
    made = lakeprune.plan(table, WHERE, columns=["age"])
    rows = arrow(made, lakeprune.ScanOptions(file_column="file"))
    assert set(rows.column("file").to_pylist()) == set(made.files.column("uri").to_pylist())
    with pytest.raises(UsageError, match="LP284"):
        arrow(made, lakeprune.ScanOptions(file_column="age"))


def test_without_pushdown_rows_come_unfiltered_with_the_columns_of_the_filter(table: str) -> None:
    made = lakeprune.plan(table, WHERE, columns=["name"])
    rows = arrow(made, lakeprune.ScanOptions(pushdown=False))
    assert rows.column_names == ["name", "age"]
    assert rows.num_rows == made.totals.rows_scanned
    assert made.handoff is not None
    assert made.handoff.applied == {"country = 'DE'": "the plan", "age > 40": "the caller"}


def test_types_as_the_caller_wants_them(table: str) -> None:
    made = lakeprune.plan(table, WHERE)
    rows = arrow(made, lakeprune.ScanOptions(view_types=True, dictionary_partitions=True))
    assert pa.types.is_dictionary(rows.schema.field("country").type)
    assert rows.schema.field("name").type == pa.string_view()


def test_a_clause_without_an_exact_form_is_refused_before_a_file_is_opened(table: str) -> None:
    made = lakeprune.plan(table, "upper(name) = 'X' AND age > 1")
    with pytest.raises(UsageError) as caught:
        made.to_arrow()
    assert (caught.value.code, caught.value.where) == ("LP280", "upper(name) = 'X'")


def test_a_plan_that_came_as_json_gives_the_same_rows(table: str) -> None:
    made = lakeprune.plan(table, WHERE)
    received = lakeprune.ScanPlan.from_json(made.to_json())
    assert rows_of(arrow(received)) == rows_of(arrow(made))


def test_what_engines_cannot_hold_is_refused(table: str) -> None:
    made, context = lakeprune.plan(table, columns=[]), datafusion.SessionContext()
    with duckdb.connect() as connection, pytest.raises(UsageError, match="at least one column"):
        made.to_duckdb(connection)
    for columns in (["name"], ["age"]):
        lakeprune.plan(table, columns=columns).register_datafusion(context, f"people_{columns[0]}")
        with pytest.raises(UsageError, match="already has a table"):
            lakeprune.plan(table, columns=columns).register_datafusion(context, f"people_{columns[0]}")


@pytest.mark.parametrize("options", [{"file_column": "f"}, lakeprune.ScanOptions(file_column=5)])  # type: ignore[arg-type]
def test_options_are_checked(table: str, options: Any) -> None:
    with pytest.raises(UsageError, match="LP284"):
        lakeprune.plan(table).to_arrow(options)


@pytest.mark.parametrize("taker", ["to_duckdb", "register_datafusion"])
def test_what_is_not_an_engine_is_refused(table: str, taker: str) -> None:
    made = lakeprune.plan(table)
    with pytest.raises(UsageError, match="LP285"):
        getattr(made, taker)(*((object(),) if taker == "to_duckdb" else (object(), "t")))
