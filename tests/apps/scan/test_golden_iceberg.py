"""Rows of Iceberg tables of other projects, by every hand-off outside Spark: those of PyIceberg, or a refusal with its reason."""

from __future__ import annotations

from itertools import cycle
from pathlib import Path
from typing import Any

import duckdb
import pytest
from pyiceberg.exceptions import ResolveError, ValidationError
from pyiceberg.table import StaticTable

import lakeprune
from lakeprune.errors import LakepruneError, UsageError
from tests.apps.scan.rows import WAYS, duckdb_relation, rows_of
from tests.golden import GOLDEN

FOLDER = GOLDEN / "iceberg"
REFUSED = {
    "add_columns_with_defaults/default.db/add_columns_with_defaults": "LP281",  # a time of day; and defaults are of version 3
    "partition_time/default.db/partition_time": "LP281",
    "equality_deletes/warehouse/mydb/mytable": "LP283",
    "equality_deletes/warehouse/mydb/mytable_partitioned": "LP283",
    "big_query_error": "LP378",  # metadata without data, as the next
    "column_mapping/warehouse/default.db/my_table": "LP378",
    "hive_partitioned_table": "LP373",  # its files lack a column that only partitions have
}
MANY = 1000
pytestmark = [pytest.mark.golden, pytest.mark.skipif(not FOLDER.is_dir(), reason="the golden tables are not beside the project")]


def tables() -> list[Path]:
    return sorted({place.parent.parent for place in FOLDER.glob("**/metadata/*.metadata.json")})


@pytest.fixture
def beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder that locations in the metadata are relative to."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "persistent").symlink_to(FOLDER)
    for name in ("lineitem_iceberg", "lineitem_iceberg_gz"):
        (tmp_path / name).symlink_to(FOLDER / "iceberg" / name)
    monkeypatch.chdir(tmp_path)


def each() -> list[tuple[Path, Any]]:
    """Every table, and one of the ways to hand its rows over."""
    return list(zip(tables(), cycle(WAYS), strict=False))


@pytest.mark.usefixtures("beside")
@pytest.mark.parametrize(("table", "way"), each(), ids=[table.relative_to(FOLDER).as_posix() for table in tables()])
def test_rows_are_those_of_pyiceberg(table: Path, way: Any) -> None:
    name = table.relative_to(FOLDER).as_posix()
    code = REFUSED.get(name)
    plan = lakeprune.plan(table)
    if code is not None:
        with pytest.raises(LakepruneError, match=code):
            plan.to_arrow().read_all()
        return
    schema = plan.to_arrow().schema
    if way is duckdb_relation and len({name.lower() for name in schema.names}) < len(schema.names):
        with duckdb.connect() as connection, pytest.raises(UsageError, match="LP285"):
            plan.to_duckdb(connection)
        return
    rows, expected = way(plan), judged(table)
    if expected is not None and rows.num_rows > MANY:  # one by one they take half a minute
        order = [(column, "ascending") for column in schema.names]
        assert rows.cast(schema).sort_by(order).equals(expected.cast(schema).sort_by(order))
    elif expected is not None:
        assert rows_of(rows, schema) == rows_of(expected, schema)
    assert rows.num_rows or not plan.totals.files_scanned


def judged(table: Path) -> Any:
    """What PyIceberg reads; None where it refuses metadata of version 1, or a column that only partitions have."""
    newest = max((table / "metadata").glob("*.metadata.json"), key=lambda place: (len(place.name), place.name))
    try:
        return StaticTable.from_metadata(str(newest)).scan().to_arrow()
    except (ValidationError, ResolveError):
        return None
