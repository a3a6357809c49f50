"""The change data feed as a plan: which files of which commits, by whose evidence, and what is refused."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

import lakeprune
from lakeprune.apps.scan.model import ScanPlan
from lakeprune.errors import TableError, UsageError
from lakeprune.formats.delta.changes import COMMIT_TIMESTAMP, COMMIT_VERSION
from tests.apps.scan.rows import WAYS, rows_of
from tests.formats.delta.test_deletion_vectors import base85, bitmap

FEED = {"delta.enableChangeDataFeed": "true"}


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """0: ids 0 to 9 of p = 0; 1: ids 10 to 19 of p = 1; 2: an update, with cdc files; 3: a whole file deleted; 4: more."""
    place = tmp_path_factory.mktemp("feed") / "t"
    write_deltalake(place, rows(0, 10, 0), partition_by=["p"], configuration=FEED)
    write_deltalake(place, rows(10, 20, 1), mode="append")
    DeltaTable(place).update(updates={"v": "'new'"}, predicate="id = 3")
    DeltaTable(place).delete("p = 1")
    write_deltalake(place, rows(100, 110, 2), mode="append")
    return place


def rows(first: int, last: int, p: int) -> pa.Table:
    ids = list(range(first, last))
    return pa.table({"id": ids, "p": [p] * len(ids), "v": ["old"] * len(ids)})


def vector(deleted: set[int]) -> dict[str, Any]:
    data = bitmap(deleted)
    return {"storageType": "i", "pathOrInlineDv": base85(data), "sizeInBytes": len(data), "cardinality": len(deleted)}


def versions(found: ScanPlan) -> list[int]:
    return sorted(row["partition"][COMMIT_VERSION] for row in found.files.select(["partition"]).to_pylist())


def planned(table: Path, where: str | None = None, **options: Any) -> ScanPlan:
    return lakeprune.plan(table, where, changes=True, **{"from_version": 0, **options})


def test_every_commit_has_its_files_and_a_commit_with_cdc_files_only_these(table: Path) -> None:
    found = planned(table)
    assert found.totals.files_scanned == found.totals.files_total == found.files.num_rows
    assert set(versions(found)) == {0, 1, 2, 3, 4}
    assert all("_change_data" in path for version, path in pairs(found) if version == 2)
    assert [column.name for column in found.columns][-3:] == ["_change_type", "_commit_version", "_commit_timestamp"]


def pairs(found: ScanPlan) -> list[tuple[int, str]]:
    return [(row["partition"][COMMIT_VERSION], row["path"]) for row in found.files.select(["partition", "path"]).to_pylist()]


def test_both_ends_of_a_span_belong_to_it(table: Path) -> None:
    assert set(versions(planned(table, from_version=1, to_version=3))) == {1, 2, 3}
    assert set(versions(planned(table, from_version=4))) == {4}


def test_clauses_on_commits_and_partitions_are_exact_and_others_go_by_bounds(table: Path) -> None:
    found = planned(table, "_commit_version >= 3 AND p = 1")
    assert [clause.pushdown.value for clause in found.clauses] == ["Exact", "Exact"]
    assert set(versions(found)) == {3}
    by_bounds = planned(table, "id >= 100")
    assert set(versions(by_bounds)) == {2, 3, 4} if _remove_has_no_stats(table) else {2, 4}, "cdc files have no bounds"


def _remove_has_no_stats(table: Path) -> bool:
    return '"stats"' not in "".join(
        line for line in (table / f"_delta_log/{3:020}.json").read_text().splitlines() if '"remove"' in line
    )


@pytest.mark.parametrize("where", ["id = 3", "v = 'new'", "id > 12 AND p = 1", "_change_type = 'delete'", "p = 2 OR id = 5"])
def test_no_file_with_a_matching_change_is_dropped(where: str, table: Path) -> None:
    import duckdb

    con = duckdb.connect()
    con.register("changes", pa.table(DeltaTable(table).load_cdf(starting_version=0)))
    matching = con.execute(f"SELECT DISTINCT _commit_version FROM changes WHERE {where}").fetchall()
    assert matching
    assert {version for (version,) in matching} <= set(versions(planned(table, where)))


def test_times_are_those_of_the_commits(table: Path) -> None:
    """Without timestamps in the commits themselves a commit is as old as its file, to the millisecond, as Spark has it."""
    partitions = [row["partition"] for row in planned(table).files.select(["partition"]).to_pylist()]
    found = {each[COMMIT_VERSION]: each[COMMIT_TIMESTAMP] for each in partitions}
    clock = 0
    for version in range(5):
        clock = max((table / f"_delta_log/{version:020}.json").stat().st_mtime_ns // 1_000_000, clock + 1)
        assert found[version] == datetime.fromtimestamp(clock / 1000, UTC).replace(microsecond=clock % 1000 * 1000)
    second = found[2]
    assert min(versions(planned(table, from_version=None, from_timestamp=second.isoformat()))) == 2
    later = second + timedelta(milliseconds=1)
    assert min(versions(planned(table, from_version=None, from_timestamp=later.isoformat()))) == 3


def test_a_span_without_the_feed_is_refused(tmp_path: Path) -> None:
    write_deltalake(tmp_path / "t", rows(0, 3, 0))
    with pytest.raises(TableError, match="was off at version 0") as refused:
        planned(tmp_path / "t")
    assert refused.value.code == "LP356"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"from_version": None}, "need a beginning"),
        ({"version": 3}, "a first and a last version"),
        ({"from_timestamp": "2024-01-01"}, "both --from-version"),
        ({"changes": False}, "which were not asked for"),
    ],
)
def test_wrong_ends_are_refused(options: dict[str, Any], message: str, table: Path) -> None:
    with pytest.raises(UsageError, match=message):
        lakeprune.plan(table, **{"changes": True, "from_version": 0, **options})


def test_a_span_that_ends_before_it_begins_is_refused(table: Path) -> None:
    with pytest.raises(TableError, match="from version 3 to 1"):
        planned(table, from_version=3, to_version=1)


WHERES = (None, "id = 3", "v = 'new' AND p = 0", "_change_type = 'delete'", "_commit_version IN (1, 3)")


@pytest.mark.parametrize(("where", "way"), list(zip(WHERES, WAYS, strict=True)))
def test_rows_outside_spark_are_those_of_the_feed(where: str | None, way: Any, table: Path) -> None:
    import duckdb

    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.register("changes", pa.table(DeltaTable(table).load_cdf(starting_version=0)))
        columns = "id, p, v, _change_type, _commit_version"
        expected = connection.sql(f"SELECT {columns} FROM changes WHERE {where or 'TRUE'}").to_arrow_table()
    found = way(planned(table, where, columns=columns.split(", ")))
    assert expected.num_rows
    assert rows_of(found, expected.schema) == rows_of(expected)


def test_a_file_with_another_vector_gives_the_rows_in_which_they_differ(tmp_path: Path) -> None:
    """Rows 1 and 2 were deleted before; now 2 and 4 are: 4 was deleted, and 1 is back."""
    place = tmp_path / "t"
    write_deltalake(place, rows(0, 6, 0).drop_columns("p"), configuration=FEED)
    log = place / "_delta_log"
    actions = [json.loads(line) for line in (log / f"{0:020}.json").read_text().splitlines()]
    added = next(action["add"] for action in actions if "add" in action)
    remove = {"path": added["path"], "dataChange": True, "partitionValues": {}, "size": added["size"]}
    change = [
        {"remove": {**remove, "deletionVector": vector({1, 2})}},
        {"add": {**added, "deletionVector": vector({2, 4})}},
    ]
    (log / f"{1:020}.json").write_text("\n".join(map(json.dumps, change)))
    found = planned(place, from_version=1, columns=["id", "_change_type", "_commit_version"]).to_arrow().read_all()
    assert sorted((row["id"], row["_change_type"]) for row in found.to_pylist()) == [(1, "insert"), (4, "delete")]
    live = planned(place, "id > 1", from_version=1)
    assert live.to_arrow().read_all().column("id").to_pylist() == [4]


def test_a_feed_travels_as_json(table: Path) -> None:
    made = planned(table, "id >= 12 AND _commit_version < 4", from_version=1)
    received = ScanPlan.from_json(made.to_json(), table=table)
    assert (received.table.since, received.table.version) == (1, 4)
    assert rows_of(received.to_arrow().read_all()) == rows_of(made.to_arrow().read_all())


def test_files_of_a_feed_cannot_be_read_by_themselves(table: Path) -> None:
    with pytest.raises(UsageError, match="which of their rows changed") as refused:
        _ = planned(table).uris
    assert refused.value.code == "LP273"
