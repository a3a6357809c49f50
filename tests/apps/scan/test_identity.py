"""Plans that travel as JSON, and the tables that they are refused by."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path

import pytest

import lakeprune
from lakeprune import ScanPlan, TableError, UsageError
from tests.builders.delta import PROTOCOL, add, deletion_vector, featured, field, mapping, metadata, statistics, users, write_log


def table(root: Path, *more: dict[str, object], columns: dict[str, object] | None = None) -> Path:
    return write_log(root, [[PROTOCOL, metadata(columns or {"x": "integer"}), add("a", statistics(3, x=(1, 9, 0))), *more]])


def code(error: pytest.ExceptionInfo[lakeprune.LakepruneError]) -> str:
    assert error.value.fix
    return error.value.code


def test_a_worker_opens_the_table_of_a_plan_and_binds_its_clauses_again(tmp_path: Path) -> None:
    plan = lakeprune.plan(table(tmp_path / "t"), "x > 5 AND x % 2 = 0")
    worker = ScanPlan.from_json(plan.to_json(), table=tmp_path / "t")
    assert worker.clauses == plan.clauses
    assert (worker.totals, worker.statistics, worker.table) == (plan.totals, plan.statistics, plan.table)
    assert ScanPlan.from_json(plan.to_json()).opened().clauses == plan.clauses


def test_a_pickled_plan_is_read_by_the_process_that_gets_it(tmp_path: Path) -> None:
    users(tmp_path / "users")
    plan = lakeprune.plan(tmp_path / "users", "country = 'DE' AND age > 40", columns=["name"], groups=2)
    for travelled in (pickle.loads(pickle.dumps(plan)), copy.deepcopy(plan)):  # noqa: S301  # our own bytes
        assert (travelled.to_json(), travelled.totals, travelled.session) == (plan.to_json(), plan.totals, plan.session)
        assert travelled.files.equals(plan.files)
        assert travelled.to_arrow().read_all().equals(plan.to_arrow().read_all())
    with lakeprune.open(tmp_path / "users") as opened:
        unread = lakeprune.plan(opened)
    with pytest.raises(UsageError) as error:
        pickle.dumps(unread)
    assert code(error) == "LP276"


def test_no_secret_is_in_a_pickled_plan(tmp_path: Path) -> None:
    users(tmp_path / "users")
    plan = lakeprune.plan(tmp_path / "users", storage_options={"aws_secret_access_key": "hush-hush"})
    assert b"hush" not in pickle.dumps(plan)


def test_a_plan_of_another_table_or_version_is_refused(tmp_path: Path) -> None:
    users(tmp_path / "users")
    plan = lakeprune.plan(tmp_path / "users", version=3)
    text = plan.to_json()
    assert ScanPlan.from_json(text, table=tmp_path / "users").planner is not None  # at its own version
    with lakeprune.open(tmp_path / "users") as newest, pytest.raises(TableError) as error:
        ScanPlan.from_json(text, table=newest)
    assert code(error) == "LP372"
    with pytest.raises(TableError) as error:
        ScanPlan.from_json(text, table=table(tmp_path / "other"))
    assert code(error) == "LP371"  # which has no version 3 either
    for commit in (tmp_path / "users" / "_delta_log").glob("*[345].json"):
        commit.unlink()
    with pytest.raises(TableError) as error:
        ScanPlan.from_json(text, table=tmp_path / "users")
    assert code(error) == "LP312"  # the same table, and the version is gone
    with lakeprune.open(tmp_path / "other") as other, pytest.raises(TableError) as error:
        ScanPlan.from_json(text, table=other)
    assert code(error) == "LP371"


def test_a_table_written_anew_under_the_same_version_is_refused(tmp_path: Path) -> None:
    text = lakeprune.plan(table(tmp_path / "t")).to_json()
    table(tmp_path / "u", columns={"x": "long"})
    with pytest.raises(TableError) as error:
        ScanPlan.from_json(text, table=tmp_path / "u")
    assert code(error) == "LP372"


def test_parquet_files_that_changed_are_refused(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    (tmp_path / "p").mkdir()
    pq.write_table(pa.table({"x": [1, 2]}), tmp_path / "p" / "a.parquet")
    text = lakeprune.plan(tmp_path / "p", "x > 1").to_json()
    assert ScanPlan.from_json(text, table=tmp_path / "p").planner is not None
    pq.write_table(pa.table({"x": [3]}), tmp_path / "p" / "b.parquet")
    with pytest.raises(TableError) as error:
        ScanPlan.from_json(text, table=tmp_path / "p")
    assert code(error) == "LP372"


def test_text_that_is_not_a_plan_is_refused(tmp_path: Path) -> None:
    document = json.loads(lakeprune.plan(table(tmp_path / "t")).to_json())
    for text in ("{}", "nonsense", json.dumps({**document, "files": []}), json.dumps({**document, "schema_version": "2.0.0"})):
        with pytest.raises(UsageError) as error:
            ScanPlan.from_json(text)
        assert code(error) == "LP274"


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("files",), [99]),
        (("files", 0), "text"),
        (("files", 0, "uri"), None),
        (("files", 0, "size"), "large"),
        (("files", 0, "residual"), [99]),
        (("files", 0, "residual"), [-1]),
        (("files", 0, "verdict"), "whole"),
        (("limit",), -1),
        (("groups",), 0),
        (("columns", 0, "type"), "nonsense"),
    ],
)
def test_a_damaged_plan_is_refused_before_a_row_is_read(tmp_path: Path, place: tuple[str | int, ...], value: object) -> None:
    users(tmp_path / "users")
    plan = lakeprune.plan(tmp_path / "users", "country = 'DE' AND age > 40")
    document = json.loads(plan.to_json())
    inside = document
    for step in place[:-1]:
        inside = inside[step]
    inside[place[-1]] = value
    with pytest.raises(lakeprune.LakepruneError) as error:
        ScanPlan.from_json(json.dumps(document)).to_arrow().read_all()
    assert code(error) in ("LP274", "LP281")


def test_raw_uris_are_refused_where_deleted_rows_would_come_back_or_columns_have_other_names(tmp_path: Path) -> None:
    dv = featured("deletionVectors")
    vector = add("b", statistics(3, x=(1, 9, 0)), dv=deletion_vector(1))
    write_log(tmp_path / "dv", [[dv, metadata({"x": "integer"}), vector]])
    renamed = metadata({"x": field("x", "integer", mapping(1, "col-1"))}, configuration={"delta.columnMapping.mode": "name"})
    write_log(tmp_path / "cm", [[featured("columnMapping"), renamed, add("a")]])
    inside = {"type": "struct", "fields": [field("y", "integer", mapping(3, "col-3"))]}
    nested = {"s": field("s", inside, mapping(2, "s")), "x": field("x", "integer", mapping(1, "x"))}
    by_name = metadata(nested, configuration={"delta.columnMapping.mode": "name"})
    write_log(tmp_path / "nested", [[featured("columnMapping"), by_name, add("a")]])
    for name, word in (("dv", "deleted rows"), ("cm", "col-1"), ("nested", "`s.y` is called `col-3`")):
        plan = lakeprune.plan(tmp_path / name)
        with pytest.raises(UsageError) as error:
            _ = plan.uris
        assert code(error) == "LP273"
        assert word in str(error.value)
        assert len(plan.raw_uris) == 1
    assert lakeprune.plan(table(tmp_path / "t")).uris == [str(tmp_path / "t" / "a")]
