"""SQL over several tables: the answers are DuckDB's over whole tables, and files that cannot matter are not opened."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from pathlib import Path
from random import Random

import duckdb
import pyarrow as pa
import pytest
from deltalake import DeltaTable

import lakeprune
from lakeprune.apps.sql.sql import pruned_plans
from lakeprune.errors import TableError, UsageError
from lakeprune.predicate.read.sql import query_filters as module
from lakeprune.predicate.schema import Field, Schema
from lakeprune.values.types import DATE, DOUBLE, LONG, STRING
from tests.builders import delta
from tests.formats.iceberg.tables import column
from tests.formats.iceberg.tables import write_table as write_iceberg
from tests.scope import IS_WHOLE

ORDERS = Schema((Field("id", "id", LONG), Field("user", "user", LONG), Field("d", "d", DATE), Field("x", "x", DOUBLE)))
USERS = Schema((Field("uid", "uid", LONG), Field("country", "country", STRING), Field("id", "id", LONG)))

# query | what it demands of orders | of users; a hyphen for nothing, a star where the table is not read
DEMANDS = """
SELECT * FROM orders WHERE d >= '2024-01-01' AND x > 1.5                                            | d >= and x >  | *
SELECT * FROM orders WHERE id = 5 UNION ALL SELECT * FROM orders WHERE id = 7                       | id = or id =  | *
SELECT * FROM orders WHERE id = 5 AND x IN (SELECT x FROM orders)                                   | -             | *
SELECT * FROM orders o JOIN users u ON o.user = u.uid AND u.country = 'DE' WHERE o.id < 3           | id <          | country =
SELECT * FROM orders o LEFT JOIN users u ON o.user = u.uid AND u.country = 'DE' WHERE u.uid IS NULL | -             | country =
SELECT * FROM orders o LEFT JOIN users u ON o.user = u.uid AND o.x > 3                              | -             | -
SELECT * FROM users u RIGHT JOIN orders o ON o.user = u.uid WHERE o.id = 3 AND u.country = 'x'      | id =          | -
SELECT * FROM orders o FULL JOIN users u ON o.user = u.uid WHERE o.id = 3                           | -             | -
SELECT * FROM orders o, users u WHERE user = uid AND country = 'a' AND id = 4                       | -             | country =
SELECT * FROM orders o SEMI JOIN users u ON o.user = u.uid WHERE o.id = 3                           | -             | -
SELECT * FROM orders o JOIN users u USING (id) WHERE o.id = 3                                       | -             | -
SELECT * FROM orders AS o(x, y, z, id) WHERE id = 3                                                 | -             | *
WITH orders AS (SELECT 1 AS id) SELECT * FROM orders WHERE id = 2                                   | -             | *
WITH orders AS (SELECT * FROM orders WHERE id = 2) SELECT * FROM orders                             | -             | *
SELECT count(*) FILTER (WHERE id > 4) FROM orders                                                   | -             | *
SELECT * FROM orders WHERE x > '1.5' AND d > 5 AND id > 1e3 AND abs(id) = 3                         | -             | *
SELECT * FROM orders WHERE EXISTS (SELECT 1 FROM users WHERE uid = user AND orders.id = 3)          | -             | -
SELECT * FROM orders TABLESAMPLE 10% WHERE id = 3                                                   | -             | *
"""


@pytest.mark.parametrize("line", DEMANDS.strip().splitlines())
def test_what_a_query_demands_of_each_table(line: str) -> None:
    query, *expected = (part.strip() for part in line.split(" | "))
    found = module.query_filters(query, {"orders": ORDERS, "users": USERS}, "duckdb", "Z")
    for name, words in zip(("orders", "users"), expected, strict=True):
        if words == "*":
            assert name not in found
        elif words == "-":
            assert found[name] is None
        else:
            parts = words.replace(" or ", " and ").split(" and ")
            assert all(part in (found[name] or "") for part in parts)


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Ten files of orders by id and day, five of users by number."""
    root, rng = tmp_path_factory.mktemp("sql"), Random(5)
    orders = []
    for number in range(10):
        ids = list(range(number * 10, number * 10 + 10))
        some = [rng.choice([None, 0.5, 2.5, float("nan"), -1.0]) for _ in ids]
        days = [date(2024, 1, 1) + timedelta(days=number) for _ in ids]
        users = [rng.choice([None, *range(60)]) for _ in ids]
        orders.append(pa.table({"id": ids, "user": pa.array(users, pa.int64()), "d": days, "x": pa.array(some, pa.float64())}))
    users = [
        pa.table({"uid": list(range(n * 10, n * 10 + 10)), "country": ["DE" if n < 2 else "FR"] * 10, "id": [n] * 10})
        for n in range(5)
    ]
    return {
        "orders": str(delta.write_table(root / "orders", orders)),
        "users": str(delta.write_table(root / "users", users)),
    }


QUERIES = (
    "SELECT id, x FROM orders WHERE id BETWEEN 15 AND 31 ORDER BY ALL",
    "SELECT o.id, u.country FROM orders o JOIN users u ON o.user = u.uid AND u.uid < 12 WHERE o.d >= '2024-01-04' ORDER BY ALL",
    "SELECT o.id FROM orders o LEFT JOIN users u ON o.user = uid AND u.uid < 12 WHERE u.uid IS NULL AND o.id < 25 ORDER BY ALL",
    "SELECT count(*) FROM orders WHERE x > 1 AND id >= 90",
    "SELECT d, count(*) FROM orders WHERE id IN (1, 55) OR d = DATE '2024-01-09' GROUP BY d ORDER BY d",
    "WITH l AS (FROM orders WHERE id >= 70) SELECT a.id FROM l a JOIN orders b ON a.id = b.id AND b.id > 75 ORDER BY 1",
    "SELECT (SELECT max(uid) FROM users WHERE uid < 7) AS top, id FROM orders WHERE id = 3",
)


@pytest.mark.parametrize("query", QUERIES)
def test_answers_are_those_over_whole_tables(tables: dict[str, str], query: str) -> None:
    plans = pruned_plans(tables, query, dialect="duckdb", options={})
    assert sum(plan.totals.files_pruned for plan in plans.values()) > 0
    with _only(plans):
        rows = lakeprune.sql(tables, query).read_all()
    with duckdb.connect() as connection:
        for name, path in tables.items():
            connection.register(name, DeltaTable(path).to_pyarrow_table())
        assert repr(rows.to_pylist()) == repr(connection.sql(query).to_arrow_table().to_pylist())


def test_a_cte_may_have_the_name_of_the_table_that_it_reads(tables: dict[str, str]) -> None:
    query = "WITH users AS (SELECT * FROM users WHERE uid < 12) SELECT count(*) AS n FROM users WHERE uid > 7"
    assert lakeprune.sql(tables, query).read_all().to_pylist() == [{"n": 4}]


@contextmanager
def _only(plans: dict[str, lakeprune.ScanPlan]) -> Iterator[None]:
    """Files that no plan has are away."""
    kept = {uri for plan in plans.values() for uri in plan.files.column("uri").to_pylist()}
    roots = {Path(plan.table.location) for plan in plans.values()}
    others = [path for root in roots for path in root.glob("*.parquet") if str(path) not in kept]
    assert others
    for path in others:
        path.rename(f"{path}.away")
    try:
        yield
    finally:
        for path in others:
            Path(f"{path}.away").rename(path)


def test_a_plan_is_a_table_of_its_rows(tables: dict[str, str]) -> None:
    late = lakeprune.plan(tables["orders"], "id >= 42", columns=["id", "d"])
    found = lakeprune.sql({"late": late}, "SELECT count(*) AS n, min(id) AS least FROM late WHERE d < '2024-01-07'")
    assert found.read_all().to_pylist() == [{"n": 18, "least": 42}]


def test_a_table_may_be_open_already_or_be_one_of_deltalake(tables: dict[str, str]) -> None:
    query = "SELECT count(*) AS n FROM orders WHERE id < 10"
    with lakeprune.open(tables["orders"]) as opened:
        for table in (opened, DeltaTable(tables["orders"])):
            assert lakeprune.sql({"orders": table}, query).read_all().to_pylist() == [{"n": 10}]
    with pytest.raises(UsageError, match="LP214"):
        lakeprune.sql({"orders": 5}, query)  # type: ignore[dict-item]
    with pytest.raises(TypeError, match="has no option 'versoin'"):
        lakeprune.sql(tables, query, versoin=3)  # type: ignore[call-overload]


def test_a_plan_keeps_its_types_and_columns(tables: dict[str, str]) -> None:
    wide = lakeprune.plan(tables["orders"], "id >= 5", columns=["id", "user"], schema={"user": "decimal(20,0)"})
    rows = lakeprune.sql({"wide": wide}, "SELECT * FROM wide WHERE id < 8").read_all()
    assert [str(field.type) for field in rows.schema] == ["int64", "decimal128(20, 0)"]
    assert rows.column("id").to_pylist() == [5, 6, 7]


def test_a_plan_with_a_limit_is_not_narrowed(tables: dict[str, str]) -> None:
    first = lakeprune.plan(tables["orders"], limit=5)
    found = lakeprune.sql({"first": first}, "SELECT count(*) AS n FROM first WHERE id >= 95")
    assert found.read_all().to_pylist()[0]["n"] in range(6)


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("SELECT nope FROM orders", "LP289"),
        ("SELECT * FROM strangers", "LP289"),
        ("SELEC 1", "LP289"),
        ("COPY orders TO 'orders.csv'", "LP289"),
        ("ATTACH 'other.duckdb' AS other", "LP289"),
        ("SELECT 1; SELECT 2", "LP289"),
        ("CREATE TABLE t AS SELECT 1", "LP289"),
        ("", "LP289"),
    ],
)
def test_what_the_engine_refuses_is_an_error_with_its_words(
    tables: dict[str, str], query: str, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError) as caught:
        lakeprune.sql(tables, query).read_all()
    assert caught.value.code == code
    assert caught.value.why
    assert not list(tmp_path.iterdir()), "a query writes nothing"


@pytest.mark.parametrize(
    "query", ["FROM orders LIMIT 1", "PIVOT (SELECT id % 2 AS k FROM orders) ON k USING count(*)", "VALUES (1)"]
)
def test_every_form_of_a_select_is_run(tables: dict[str, str], query: str) -> None:
    assert lakeprune.sql(tables, query).read_all().num_rows == 1


def test_columns_that_duckdb_does_not_tell_apart_are_refused(tmp_path: Path) -> None:
    """It would call the second one `X_1`, and `X` would mean the first."""
    names = {1: "x", 2: "X"}
    table = write_iceberg(tmp_path / "t", [column(number, name, "long") for number, name in names.items()], [])
    with pytest.raises(UsageError, match="tell the columns `x` and `X` apart"):
        lakeprune.sql({"t": table}, "SELECT X FROM t")
    assert lakeprune.sql({"t": lakeprune.plan(table, columns=["X"])}, "SELECT x FROM t").read_all().num_rows == 0


@pytest.mark.parametrize("rows", [1, 100_000], ids=["at once", "while it is read"])
def test_a_data_file_that_cannot_be_read_is_what_the_table_has(tmp_path: Path, rows: int) -> None:
    parts = [pa.table({"id": list(range(n * rows, (n + 1) * rows))}) for n in range(3)]
    table = delta.write_table(tmp_path / "t", parts)
    Path(lakeprune.plan(table).uris[-1]).write_bytes(b"PAR1")
    with pytest.raises(TableError) as caught:
        for _ in lakeprune.sql({"t": table}, "SELECT * FROM t"):
            pass
    assert caught.value.code == "LP373"
    assert "Traceback" not in str(caught.value)


def test_a_name_never_means_a_variable_of_the_program(tables: dict[str, str]) -> None:
    strangers = pa.table({"id": [1]})
    with pytest.raises(UsageError, match="cannot be run"):
        lakeprune.sql(tables, "SELECT * FROM strangers")
    assert strangers.num_rows == 1


def test_random_queries_have_the_answers_of_whole_tables(tables: dict[str, str]) -> None:
    rng = Random(11)
    with duckdb.connect() as connection:
        for name, path in tables.items():
            connection.register(name, DeltaTable(path).to_pyarrow_table())
        for _ in range(200 if IS_WHOLE else 8):
            query = _random_query(rng)
            found = lakeprune.sql(tables, query).read_all().to_pylist()
            assert repr(found) == repr(connection.sql(query).to_arrow_table().to_pylist()), query


def _random_query(rng: Random) -> str:
    def orders(alias: str) -> str:
        number, word = rng.randint(-1, 101), rng.choice(["<", ">", "=", "<>", ">="])
        return rng.choice([
            f"{alias}id {word} {number}", f"{alias}x > {rng.choice([1, -3, 0.5])}", f"{alias}d <= '2024-01-0{rng.randint(1, 9)}'",
            f"{alias}x IS NULL", f"NOT ({alias}id > {number} OR {alias}x = 2.5)",
        ])  # fmt: skip

    users = rng.choice([f"u.uid < {rng.randint(0, 60)}", "u.country = 'DE'", "u.uid IS NULL", "u.id IN (1, 3)"])
    join = rng.choice(["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"])
    on = rng.choice(["", f" AND {users}", f" AND {orders('o.')}"])
    where = rng.choice([users, orders("o."), f"{users} AND {orders('o.')}", f"({users} OR {orders('o.')})"])
    if rng.random() < 0.2:
        return f"SELECT * FROM orders WHERE {orders('')} AND {orders('')} ORDER BY ALL"
    return f"SELECT o.*, u.* FROM orders o {join} users u ON o.user = u.uid{on} WHERE {where} ORDER BY ALL"


def test_a_filter_pushed_below_an_outer_join_is_noticed(tables: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control: conditions of WHERE on the side that a join fills with NULL change the answer."""
    monkeypatch.setattr(module, "_demanded", lambda *_: ["uid < 0"])
    query = "SELECT count(*) AS n FROM users WHERE uid IS NOT NULL"
    assert lakeprune.sql({"users": tables["users"]}, query).read_all().to_pylist() == [{"n": 0}]
