"""Tables that this project did not write: every one opens, or is refused for the right reason."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import unquote

import pytest
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

from lakeprune.errors import TableError, TableRefused
from tests.formats.delta.relation import columns, files, opened
from tests.golden import GOLDEN

FOLDERS = [GOLDEN / "delta", GOLDEN / "delta-kernel"]

pytestmark = [pytest.mark.golden, pytest.mark.skipif(not GOLDEN.is_dir(), reason="the golden tables are not beside the project")]

REFUSED = {
    "deltalog-invalid-protocol-version": "reader version 99",
    "deltalog-state-reconstruction-from-checkpoint-missing-metadata": "no metadata",
    "deltalog-state-reconstruction-from-checkpoint-missing-protocol": "no protocol",
    "deltalog-state-reconstruction-without-metadata": "no metadata",
    "data-reader-absolute-paths-escaped-chars": "no metadata",
    "log-store-listFrom": "not a Delta table",
    "log-store-read": "not a Delta table",
}
# Their metadata records no schema: Spark sees no columns, deltalake refuses.
WITHOUT_SCHEMA = {
    "canonicalized-paths-normal-a": 0,
    "canonicalized-paths-normal-b": 0,
    "canonicalized-paths-special-a": 0,
    "corrupted-last-checkpoint": 11,
    "deltalog-commit-info": 1,
}


def tables() -> list[Path]:
    found = [Path(place) for folder in FOLDERS for place, inside, _ in os.walk(folder) if "_delta_log" in inside]
    return sorted(path for path in found if path.name not in REFUSED and path.name not in WITHOUT_SCHEMA)


@pytest.mark.parametrize("path", tables(), ids=lambda path: path.relative_to(GOLDEN).as_posix())
def test_live_files_are_those_of_the_official_reader(path: Path) -> None:
    snapshot = opened(path)
    ours = sorted(unquote(file["path"]) for file in files(snapshot))
    try:
        table = DeltaTable(path)
    except DeltaError as error:
        pytest.skip(f"the official reader cannot open it: {error}")
    assert snapshot.facts.version == table.version()
    assert ours == sorted(uri.removeprefix(f"{path}/") for uri in table.file_uris())
    assert [field.name for field in snapshot.facts.schema.fields] == [field.name for field in table.schema().fields]
    assert list(snapshot.facts.partition_columns) == table.metadata().partition_columns


@pytest.mark.parametrize("name", REFUSED)
def test_tables_that_must_be_refused_are(name: str) -> None:
    with pytest.raises(TableError, match=REFUSED[name]) as error:
        opened(GOLDEN / "delta" / name)
    assert error.value.exit_code == 3
    assert isinstance(error.value, TableRefused) == (error.value.code == "LP310")


def test_parquet_files_without_a_log_are_read_as_what_they_are() -> None:
    facts = opened(GOLDEN / "delta" / "no-delta-log-folder").facts
    assert (facts.format, facts.version) == ("parquet", None)


@pytest.mark.parametrize("name", WITHOUT_SCHEMA)
def test_tables_without_a_schema_have_files_and_no_columns(name: str) -> None:
    snapshot = opened(GOLDEN / "delta" / name)
    assert (len(files(snapshot)), snapshot.facts.schema.fields) == (WITHOUT_SCHEMA[name], ())


def test_checksums_agree_with_the_replay() -> None:
    checked = 0
    for path in tables():
        snapshot = opened(path)
        if snapshot.facts.expected.files is not None and path.name != "crc-full":  # whose checksum is of another table
            found = files(snapshot)
            assert (snapshot.facts.expected.files, snapshot.facts.expected.bytes) == (
                len(found),
                sum(file["size"] for file in found),
            )
            checked += 1
    assert checked >= 10


@pytest.mark.parametrize("name", [
    "v1-multi-part-struct-stats-only",
    "v1-single-part-struct-stats-only",
    "v2-classic-parquet-struct-stats-only",
    "v2-parquet-sidecars-struct-stats-only",
])  # fmt: skip
def test_statistics_that_exist_only_as_structs_are_read(name: str) -> None:
    found = files(opened(GOLDEN / "delta-kernel" / name))
    assert [(file["id"]["lo"], file["id"]["hi"], file["rows"]) for file in sorted(found, key=lambda f: f["id"]["lo"])] == [
        (i, i, 1) for i in range(1, 6)
    ]


def test_collated_columns_are_told_apart() -> None:
    kinds = {column.path[0]: column.type.collation for column in columns(opened(GOLDEN / "delta" / "collations-preview-table"))}
    assert kinds == {"id": None, "utf8_binary_col": None, "utf8_lcase_col": "spark.UTF8_LCASE", "unicode_col": "icu.UNICODE"}


def test_every_version_of_a_table_can_be_read() -> None:
    path = GOLDEN / "delta" / "snapshot-data2-deleted"
    for version in range(5):
        ours = sorted(file["path"] for file in files(opened(path, version=version)))
        assert ours == sorted(uri.removeprefix(f"{path}/") for uri in DeltaTable(path, version=version).file_uris())
