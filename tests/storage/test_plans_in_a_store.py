"""Rows of plans whose files lie in stores: planned files alone are fetched, with their own credentials where they have some."""

from __future__ import annotations

from pathlib import Path

import pytest

import lakeprune
from lakeprune.errors import TableError
from tests.apps.scan.rows import WAYS, rows_of
from tests.storage.proxy import Fate, Proxy, Request
from tests.storage.servers import Server

PREDICATE = "country = 'DE' AND age > 40"


def test_data_is_reached_by_its_own_options(server: Server, proxy: Proxy, local_users: Path) -> None:
    """The way to the log is closed for data files, as it is with credentials that may read the log alone."""
    url = server.upload(local_users, "two-ways")

    def log_alone(request: Request) -> Fate:
        return Fate.SERVE if "two-ways/_delta_log/" in request.path else Fate.FORBIDDEN

    proxy.rule = log_alone
    made = lakeprune.plan(url, PREDICATE, storage_options={**server.behind(proxy.port).options, "max_retries": "0"})
    with pytest.raises(TableError):
        made.to_arrow().read_all()
    proxy.forget()
    options = lakeprune.ScanOptions(data_options=server.options)
    expected = rows_of(lakeprune.plan(local_users, PREDICATE).to_arrow().read_all())
    for way in WAYS:
        assert rows_of(way(made, options), made.to_arrow(options).schema) == expected
    assert not proxy.seen


def test_only_planned_files_are_fetched(server: Server, proxy: Proxy, local_users: Path) -> None:
    url = server.upload(local_users, "planned")
    made = lakeprune.plan(url, PREDICATE, storage_options=server.behind(proxy.port).options)
    planned = {str(uri).rsplit("/", 1)[-1] for uri in made.files.column("uri").to_pylist()}
    proxy.forget()
    assert made.to_arrow().read_all().num_rows == 3
    assert len(planned) == 1
    assert proxy.seen
    assert all(any(name in request.path for name in planned) for request in proxy.seen)


def test_tables_of_several_stores_are_joined(server: Server, s3: Server, local_users: Path) -> None:
    tables = {
        "here": lakeprune.plan(local_users, "country = 'DE'"),
        "there": lakeprune.plan(server.upload(local_users, "joined"), "age > 40", storage_options=server.options),
        "elsewhere": lakeprune.plan(s3.upload(local_users, "joined-too"), storage_options=s3.options),
    }
    query = "SELECT count(*) AS n FROM here JOIN there USING (name, age, country) JOIN elsewhere USING (name, age, country)"
    assert lakeprune.sql(tables, query).read_all().to_pylist() == [{"n": 3}]
    assert {plan.table.location.partition(":")[0] for plan in tables.values()} >= {"s3", server.scheme}
