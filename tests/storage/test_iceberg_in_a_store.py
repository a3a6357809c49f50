"""Iceberg tables from a store, by folder and by metadata file: a copy records other paths, and gives the local document."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

import lakeprune
from tests.formats.iceberg.tables import Entry, SpecField, column, encoded, listed, manifest_list, write_table
from tests.storage.running import comparable, explain_in_a_process
from tests.storage.servers import Server


@pytest.mark.parametrize("server", ["s3"], indirect=True)
def test_a_table_of_several_manifests_gives_the_document_of_the_local_run(server: Server, tmp_path: Path) -> None:
    specs = {0: [SpecField(2, "day", "ts_day", 1000, "int")], 1: []}
    entries = []
    for number in range(20):
        metrics: dict[str, dict[int, Any]] = {
            "null_value_counts": {1: 0},
            "lower_bounds": {1: encoded(number * 10, "long")},
            "upper_bounds": {1: encoded(number * 10 + 9, "long")},
        }
        spec = number % 2
        path = f"{tmp_path}/t/data/{number:03}.parquet"
        entries.append(Entry(path, 10, spec=spec, tuple={} if spec else {1000: 19_723 + number}, metrics=metrics))
    write_table(tmp_path / "t", [column(1, "id", "long"), column(2, "ts", "timestamp")], entries, specs)
    url = server.upload(tmp_path / "t", "iceberg")
    where = "id >= 40 AND ts < '2024-01-09'"
    local = lakeprune.explain(tmp_path / "t", where)
    remote = lakeprune.explain(url, where, storage_options=server.options, no_cache=True)
    assert [file.path for file in remote.files if file.kept] == [file.path for file in local.files if file.kept]
    assert comparable(remote.to_dict(verbose=True)) == comparable(local.to_dict(verbose=True))


def ids(number: int) -> dict[str, dict[int, Any]]:
    return {
        "null_value_counts": {1: 0},
        "lower_bounds": {1: encoded(number, "long")},
        "upper_bounds": {1: encoded(number, "long")},
    }


@pytest.mark.parametrize("name", ["v1.metadata.json", "00001-ab.gz.metadata.json"])
def test_a_metadata_file_by_its_url(server: Server, tmp_path: Path, name: str) -> None:
    """The copy records paths of this machine."""
    place = write_table(
        tmp_path, [column(1, "id", "long")], [Entry(f"{tmp_path}/data/{n}", 10, metrics=ids(n)) for n in range(3)]
    )
    if ".gz" in name:
        place.with_name(name).write_bytes(gzip.compress(place.read_bytes()))
    url = server.upload(tmp_path, "by_file")
    report = lakeprune.explain(f"{url}/metadata/{name}", "id = 2", storage_options=server.options, no_cache=True)
    assert [file.path for file in report.files if file.kept] == ["data/2"]
    assert report.table == f"{url}/metadata/{name}"


@pytest.mark.parametrize("folder", ["metadata", "deep/metadata"])
def test_a_metadata_file_of_a_table_that_was_written_there(s3: Server, tmp_path: Path, folder: str) -> None:
    """Its manifests lie at their recorded places, below the location and elsewhere in the bucket."""
    entries = [Entry("x", metrics=ids(1))]
    place = write_table(tmp_path, [column(1, "id", "long")], entries)
    manifest = tmp_path / "metadata/0-0-m0.avro"
    location = s3.url("original")
    written = place.read_text().replace(f"{tmp_path}/metadata/snap-7.avro", f"{location}/lists/snap-7.avro")
    s3.put(f"original/{folder}/v1.metadata.json", written.replace(str(tmp_path), location).encode())
    moved = {**listed(manifest, entries, 0, (), 0, 1), "manifest_path": f"{s3.url('elsewhere')}/m0.avro"}
    s3.put("original/lists/snap-7.avro", manifest_list([moved]))
    s3.put("elsewhere/m0.avro", manifest.read_bytes())
    url = f"{location}/{folder}/v1.metadata.json"
    assert [file.path for file in lakeprune.explain(url, "id = 1", storage_options=s3.options, no_cache=True).files] == ["x"]


def test_a_metadata_file_that_is_not_there(s3: Server) -> None:
    with pytest.raises(lakeprune.TableError) as caught:
        lakeprune.explain(s3.url("nowhere/metadata/v9.metadata.json"), storage_options=s3.options, no_cache=True)
    assert caught.value.code == "LP301"
    assert "nowhere/metadata/v9.metadata.json" in caught.value.what


def test_a_pyiceberg_table_brings_its_endpoint_and_its_keys(s3: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the table itself, and by its name in a catalog that PyIceberg's own variables configure; with no option of ours."""
    import pyarrow as pa
    from pyiceberg import types as t
    from pyiceberg.catalog.sql import SqlCatalog
    from pyiceberg.schema import Schema

    settings = {
        "uri": f"sqlite:///{tmp_path}/catalog.db",
        "warehouse": s3.url("warehouse"),
        "s3.endpoint": f"http://127.0.0.1:{s3.port}",
        "s3.access-key-id": "testing",
        "s3.secret-access-key": "testing-secret",
        "s3.region": "us-east-1",
    }
    with SqlCatalog("lake", **settings) as catalog:
        catalog.create_namespace("db")
        table = catalog.create_table("db.t", Schema(t.NestedField(1, "x", t.LongType())))
        for values in ([1, 2], [100, 200]):
            table.append(pa.table({"x": values}))
    report = lakeprune.explain(table, "x > 50", no_cache=True)
    assert (report.table, sum(file.kept for file in report.files)) == (table.metadata_location, 1)
    groups = lakeprune.explain(table, "x > 150", no_cache=True, row_groups=True).to_dict()["summary"]  # footers by the same keys
    assert (groups["row_groups_total"], groups["row_groups_kept"]) == (1, 1)
    for name, value in settings.items():
        monkeypatch.setenv(f"PYICEBERG_CATALOG__LAKE__{name.upper().replace('.', '__').replace('-', '_')}", value)
    ran = explain_in_a_process("db.t", "--catalog", "lake", "-w", "x > 50", "--no-cache")
    assert (ran.code, ran.err) == (0, "")
    assert "Total reduction: 2 -> 1 files" in ran.out
    ran = explain_in_a_process("db.t", "--catalog", "lake", "--no-cache", "--option", "aws_endpoint_url=http://127.0.0.1:9")
    assert ran.code == 3  # an option that is given wins, and the catalog's others stay
    assert "testing-secret" not in ran.err


def test_a_name_in_a_glue_catalog(s3: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another kind of catalog, with the store's keys under the names that it has for all of AWS."""
    import pyarrow as pa
    from pyiceberg import types as t
    from pyiceberg.catalog.glue import GlueCatalog
    from pyiceberg.schema import Schema

    settings = {
        "type": "glue",
        "glue.endpoint": f"http://127.0.0.1:{s3.port}",
        "s3.endpoint": f"http://127.0.0.1:{s3.port}",
        "client.access-key-id": "testing",
        "client.secret-access-key": "testing-secret",
        "client.region": "us-east-1",
    }
    catalog = GlueCatalog("aws", **{**settings, "warehouse": s3.url("glue")})
    catalog.create_namespace("db")
    catalog.create_table("db.t", Schema(t.NestedField(1, "x", t.LongType()))).append(pa.table({"x": [1, 2]}))
    for name, value in settings.items():
        monkeypatch.setenv(f"PYICEBERG_CATALOG__AWS__{name.upper().replace('.', '__').replace('-', '_')}", value)
    ran = explain_in_a_process("db.t", "--catalog", "aws", "-w", "x > 50", "--no-cache")
    assert (ran.code, ran.err) == (0, "")
    assert "Total reduction: 1 -> 0 files" in ran.out
    ran = explain_in_a_process("db.u", "--catalog", "aws")
    assert (ran.code, "did you mean db.t?" in ran.err) == (3, True)
