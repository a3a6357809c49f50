"""PyIceberg tables and names in PyIceberg's catalogs: real ones, in SQLite, configured as PyIceberg is."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyiceberg.catalog
import pytest
from pyiceberg import types as t
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.schema import Schema
from pyiceberg.utils.config import Config

import lakeprune
from lakeprune.cli.main import main
from lakeprune.extras import install_line
from lakeprune.formats.iceberg.catalogs import without_secrets_of
from lakeprune.formats.iceberg.file_io import access_of
from lakeprune.storage.object.storage import open_object_storage

_SCHEMA = Schema(t.NestedField(1, "x", t.LongType()))


@pytest.fixture
def catalog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SqlCatalog]:
    """The catalog `local` with the table `db.flights`: a file of small numbers, one of large ones."""
    settings = {"uri": f"sqlite:///{tmp_path}/catalog.db", "warehouse": f"file://{tmp_path}/warehouse"}
    catalog = SqlCatalog("local", **settings)
    catalog.create_namespace("db")
    table = catalog.create_table("db.flights", _SCHEMA)
    table.append(pa.table({"x": [1, 2]}))
    table.append(pa.table({"x": [100, 200]}))
    configure(monkeypatch, LOCAL__URI=settings["uri"])
    yield catalog
    catalog.close()


def configure(monkeypatch: pytest.MonkeyPatch, **variables: str) -> None:
    """PyIceberg's own variables, which it reads when it is first imported; no file of whoever runs the tests takes part."""
    monkeypatch.setenv("PYICEBERG_HOME", "/nowhere")
    for name, value in variables.items():
        monkeypatch.setenv(f"PYICEBERG_CATALOG__{name}", value)
    monkeypatch.setattr(pyiceberg.catalog, "_ENV_CONFIG", Config())


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = main(["explain", *arguments])
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "Traceback" not in shown.err
    return code, shown.err


def test_a_table_object_is_explained(catalog: SqlCatalog) -> None:
    table = catalog.load_table("db.flights")
    report = lakeprune.explain(table, where="x > 50")
    assert [file.kept for file in report.files].count(True) == 1
    assert report.table == table.metadata_location
    by_folder = lakeprune.explain(table.location(), "x > 50")
    assert [file.path for file in report.files] == [file.path for file in by_folder.files]


def test_a_table_object_is_read_as_it_was_loaded(catalog: SqlCatalog) -> None:
    table, newer = catalog.load_table("db.flights"), catalog.load_table("db.flights")
    newer.append(pa.table({"x": [5]}))
    assert len(list(lakeprune.explain(table).files)) == 2
    assert len(list(lakeprune.explain(newer).files)) == 3
    assert len(list(lakeprune.explain(table, version=table.snapshots()[0].snapshot_id).files)) == 1


def test_manifests_outside_of_the_location_are_read_where_they_are_recorded(catalog: SqlCatalog, tmp_path: Path) -> None:
    """Their folder was changed twice: some lie beside the metadata file, some in the former one, some in the table's own."""
    table = catalog.create_table("db.scattered", _SCHEMA, properties={"write.data.path": f"file://{tmp_path}/data"})
    table.append(pa.table({"x": [1, 2]}))
    for folder, value in (("first/m", 10), ("second", 100)):
        with table.transaction() as transaction:
            transaction.set_properties({"write.metadata.path": f"file://{tmp_path}/{folder}"})
        table.append(pa.table({"x": [value]}))
    report = lakeprune.explain(table, "x > 50")
    assert [file.kept for file in report.files].count(True) == 1
    assert len(list(report.files)) == 3
    for place in (tmp_path / "first/m").glob("*-m0.avro"):
        place.unlink()
    with pytest.raises(lakeprune.TableError) as caught:
        lakeprune.explain(table, "x > 50")
    assert caught.value.code == "LP363"


def test_a_name_is_found_through_the_catalog(catalog: SqlCatalog, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "db.flights", "--catalog", "local", "-w", "x > 50"]) == 0
    assert "Total reduction: 2 -> 1 files" in capsys.readouterr().out
    report = lakeprune.explain("db.flights", "x > 50", catalog="local")
    assert report.table == catalog.load_table("db.flights").metadata_location


def test_the_command_takes_pyicebergs_own_environment(catalog: SqlCatalog, tmp_path: Path) -> None:
    """In a process of its own, as a user starts it."""
    environment = {**os.environ, "PYICEBERG_CATALOG__LOCAL__URI": catalog.properties["uri"]}
    command = [sys.executable, "-m", "lakeprune", "explain", "db.flights", "--catalog", "local", "-w", "x > 50"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path, check=True)
    assert "Total reduction: 2 -> 1 files" in done.stdout
    assert done.stderr == ""


@pytest.mark.usefixtures("catalog")
def test_without_pyiceberg_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "pyiceberg.catalog", None)
    code, error = refused(capsys, "db.flights", "--catalog", "local")
    assert code == 2
    assert error.startswith("error[LP229] --catalog needs PyIceberg, which is not installed")
    assert f"fix:   {install_line('iceberg')}" in error


@pytest.mark.usefixtures("catalog")
def test_a_catalog_that_is_not_configured_lists_those_that_are(capsys: pytest.CaptureFixture[str]) -> None:
    code, error = refused(capsys, "db.flights", "--catalog", "pro-d")
    assert code == 2
    assert "error[LP229] PyIceberg has no catalog `pro-d` in its configuration" in error
    assert "PYICEBERG_CATALOG__PRO_D__URI; configured: local" in error


@pytest.mark.usefixtures("catalog")
@pytest.mark.parametrize(
    ("name", "fix"),
    [
        ("db.flihgts", "did you mean db.flights?"),
        ("db.x", "give NAMESPACE.TABLE; its tables: db.flights"),
        ("nowhere.flights", "give NAMESPACE.TABLE; its namespaces: db"),
        ("flights", "give NAMESPACE.TABLE; its namespaces: db"),
    ],
)
def test_a_table_that_does_not_exist_is_answered_with_what_does(name: str, fix: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, error = refused(capsys, name, "--catalog", "local")
    assert code == 3
    assert f"error[LP368] the catalog local has no table `{name}`" in error
    assert f"fix:   {fix}" in error


@pytest.mark.parametrize(
    "uri",
    [
        "sqlite:////nowhere/at/all.db",
        "http://127.0.0.1:9",
        "postgresql://me:hidden@127.0.0.1:9/db?sslkey=hidden",
        "mysql://me:hidden@127.0.0.1/db",
    ],
)
def test_a_catalog_that_cannot_be_reached_is_an_error_of_the_table(
    uri: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    configure(monkeypatch, FAR__URI=uri)
    code, error = refused(capsys, "db.flights", "--catalog", "far")
    assert code == 3
    assert error.startswith("error[LP368] the catalog far cannot")
    assert "hidden" not in error
    assert "  fix:   " in error


def test_a_table_that_pyiceberg_refuses_is_read_by_its_metadata_file(
    catalog: SqlCatalog, capsys: pytest.CaptureFixture[str]
) -> None:
    table = catalog.load_table("db.flights")
    place = Path(table.metadata_location.removeprefix("file://"))
    place.write_text(place.read_text().replace('"type":"long"', '"type":"variant"'))
    code, error = refused(capsys, "db.flights", "--catalog", "local")
    assert code == 3
    assert "error[LP368] the catalog local cannot load db.flights" in error
    assert "or give the table's metadata file" in error
    assert len(list(lakeprune.explain(place).files)) == 2


def test_a_catalog_needs_a_name(catalog: SqlCatalog, tmp_path: Path) -> None:
    for table in (tmp_path, catalog.load_table("db.flights")):
        with pytest.raises(lakeprune.UsageError, match="instead of the name of a table"):
            lakeprune.explain(table, catalog="local")


def test_words_of_a_catalog_have_no_secrets() -> None:
    assert without_secrets_of("GET https://k:s@host/v1?token=abc failed: client_secret=hidden,\n x") == (
        "GET https://...@host/v1 failed: client_secret=..., x"
    )


@pytest.mark.parametrize(
    ("location", "properties"),
    [
        ("s3://lake/t/metadata/v1.metadata.json", {
            "s3.endpoint": "http://127.0.0.1:9", "s3.access-key-id": "k", "s3.secret-access-key": "s", "s3.session-token": "t",
            "s3.region": "eu-west-1", "s3.force-virtual-addressing": "true", "s3.connect-timeout": "5.0",
            "s3.request-timeout": "10", "s3.proxy-uri": "http://127.0.0.1:8",
        }),
        ("s3a://lake/t/metadata/v1.metadata.json", {"s3.anonymous": "true", "client.region": "eu-west-1"}),
        ("abfss://lake@acme.dfs.core.windows.net/t/metadata/v1.metadata.json", {
            "adls.account-name": "acme", "adls.tenant-id": "x", "adls.client-id": "y", "adls.client-secret": "z",
        }),
        ("abfss://lake@acme.dfs.core.windows.net/t/metadata/v1.metadata.json", {"adls.sas-token": "sv=1&sig=2"}),
        ("abfss://lake@acme.dfs.core.windows.net/t/metadata/v1.metadata.json", {"adls.account-key": "a2V5"}),
        ("gs://lake/t/metadata/v1.metadata.json", {"gcs.oauth2.token": "t", "gcs.service.host": "http://127.0.0.1:9"}),
    ],
)  # fmt: skip
def test_every_property_of_a_file_io_is_an_option_that_the_store_takes(
    location: str, properties: dict[str, str], tmp_path: Path
) -> None:
    access = access_of(location, {**properties, "uri": "x", "hdfs.host": "y"})
    assert len(set(access["storage_options"]) - {"allow_http"}) == len(properties)
    open_object_storage(location, {**access, "cache_dir": tmp_path}).close()
