"""Files that our Avro reader does not recognise: fastavro reads them, and where it is not installed the refusal names it."""

from __future__ import annotations

import copy
import random
import sys
from pathlib import Path
from typing import Any

import pytest

import lakeprune
from lakeprune.extras import install_line
from lakeprune.formats.iceberg.avro.container import read_header
from lakeprune.formats.iceberg.avro.other import columns_by_fastavro, primitive_for_fastavro
from lakeprune.formats.iceberg.avro.reader import read_columns
from lakeprune.formats.iceberg.avro.schema import AvroError, UnknownSchema
from lakeprune.formats.iceberg.avro.wanted import Name, Wanted
from lakeprune.formats.iceberg.avro_file import AvroFile
from tests.formats.iceberg import tables
from tests.formats.iceberg.avro.writer import SYNC, avro_file, long
from tests.formats.iceberg.tables import Entry, SpecField, column, encoded, listed, manifest_list, write_table

_LIST = {"type": "record", "name": "link", "fields": [{"name": "next", "type": ["null", "link"]}]}
_SCHEMA = {
    "type": "record",
    "name": "row",
    "fields": [
        {"name": "number", "type": ["null", "long"], "field-id": 1},
        {"name": "day", "type": {"type": "int", "logicalType": "date"}, "field-id": 2},
        {"name": "amount", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}, "field-id": 3},
        {"name": "bounds", "type": ["null", {"type": "map", "values": "bytes"}], "field-id": 4},
        {"name": "pair", "type": {"type": "record", "name": "p", "fields": [{"name": "x", "type": "double", "field-id": 6}]},
         "field-id": 5},
        {"name": "chain", "type": _LIST, "field-id": 7},
    ],
}  # fmt: skip
_WANTED = [
    Wanted((Name(1, "number"),)),
    Wanted((Name(2, "day"),)),
    Wanted((Name(3, "amount"),)),
    Wanted((Name(4, "bounds"),), 9),
    Wanted((Name(5, "pair"), Name(6, "x"))),
    Wanted((Name(99, "missing"),)),
]


def rows(count: int) -> list[dict[str, Any]]:
    return [
        {
            "number": None if n % 3 == 0 else n,
            "day": n - 5,
            "amount": bytes([n % 100]),
            "bounds": None if n % 4 == 0 else {"9": bytes([n]), "8": b""},
            "pair": {"x": n / 2},
            "chain": {"next": {"next": None}},
        }
        for n in range(count)
    ]


def test_fastavro_gives_the_values_that_are_in_the_file() -> None:
    """Not dates and decimals: the caller decodes them by the table's own types."""
    data = avro_file(_SCHEMA, rows(7), codec="deflate")
    with pytest.raises(UnknownSchema, match="contains itself"):
        read_columns(data, _WANTED)
    numbers, days, amounts, bounds, pairs, missing = columns_by_fastavro(data, read_header(data), _WANTED)
    assert numbers == [None, 1, 2, None, 4, 5, None]
    assert days == [-5, -4, -3, -2, -1, 0, 1]
    assert amounts == [bytes([n]) for n in range(7)]
    assert bounds == [None, b"\x01", b"\x02", b"\x03", None, b"\x05", b"\x06"]
    assert pairs == [n / 2 for n in range(7)]
    assert missing == [None] * 7


def test_both_readers_agree_on_what_ours_recognises(tmp_path: Path) -> None:
    fields = [SpecField(3, "identity", "p", 1000, "int")]
    metrics: dict[str, dict[int, Any]] = {"lower_bounds": {1: encoded(5, "long")}, "null_value_counts": {1: 0}}
    entries = [Entry(f"{tmp_path}/{n}", n, tuple={1000: n}, metrics=metrics if n % 2 else {}) for n in range(9)]
    data = tables.manifest(entries, fields)
    file = Name(2, "data_file")
    wanted = [
        Wanted((Name(0, "status"),)),
        Wanted((file, Name(100, "file_path"))),
        Wanted((file, Name(102, "partition"), Name(1000, "p"))),
        Wanted((file, Name(125, "lower_bounds")), 1),
        Wanted((file, Name(110, "null_value_counts")), 1),
    ]
    assert columns_by_fastavro(data, read_header(data), wanted) == read_columns(data, wanted)


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        ("int", "int"),
        (["null", {"type": "int", "logicalType": "date"}], "int"),
        ({"type": "long", "logicalType": "timestamp-micros"}, "long"),
        (["null", "int", "long"], None),
        ({"type": "fixed", "name": "f", "size": 4}, None),
        ({"type": "record", "name": "s", "fields": []}, None),
    ],
)
def test_both_readers_agree_on_the_type_that_a_field_was_written_as(declared: Any, expected: str | None) -> None:
    """T96."""
    data = avro_file({"type": "record", "name": "row", "fields": [{"name": "p", "type": declared, "field-id": 1000}]}, [])
    header, path = read_header(data), (Name(1000, "p"),)
    assert AvroFile(data, header, "manifest", "here").primitive(Wanted(path)) == expected
    assert primitive_for_fastavro(header.schema, path) == expected
    assert primitive_for_fastavro(header.schema, (Name(1001, "q"),)) is None


def test_values_nested_without_end_are_damage() -> None:
    """fastavro's compiled reader ends the whole process on them."""
    head = avro_file({"type": "record", "name": "row", "fields": [{"name": "chain", "type": _LIST}]}, [])
    deep = b"\x02" * 20_000 + b"\x00"  # the second branch of the union again and again, then the first
    data = head + long(1) + long(len(deep)) + deep + SYNC
    with pytest.raises(AvroError, match="RecursionError"):
        columns_by_fastavro(data, read_header(data), [])


def test_cut_and_flipped_files_end_in_avro_errors_only() -> None:
    data = avro_file(_SCHEMA, rows(20), per_block=5)
    first, chance = read_header(data).length, random.Random(4)
    whole = columns_by_fastavro(data, read_header(data), _WANTED)
    for _ in range(300):
        broken = bytearray(data)
        place = chance.randrange(first, len(data))
        broken[place] ^= 1 << chance.randrange(8)
        try:
            found = columns_by_fastavro(bytes(broken), read_header(bytes(broken)), _WANTED)
        except AvroError:
            continue
        assert len(found[0]) == len(whole[0])
    for length in range(first + 1, len(data) - 1):
        try:
            found = columns_by_fastavro(data[:length], read_header(data), _WANTED)
        except AvroError:
            continue
        assert len(found[0]) % 5 == 0  # it ends with a block: counts of the manifest list show the loss


class TestTables:
    def table(self, root: Path) -> Path:
        """A table whose manifest has one field more, of a type that contains itself."""
        entries = [Entry("a", 10, metrics={"upper_bounds": {1: encoded(5, "long")}}), Entry("b", 10)]
        write_table(root, [column(1, "id", "long")], entries)
        schema = copy.deepcopy(tables._entry_schema(()))
        schema["fields"].append({"name": "lineage", "type": ["null", _LIST]})
        place = root / "metadata/0-0-m0.avro"
        records = [{**tables._record(entry, ()), "lineage": {"next": None}} for entry in entries]
        place.write_bytes(avro_file(schema, records))
        (root / "metadata/snap-7.avro").write_bytes(manifest_list([listed(place, entries, 0, (), 0, 1)]))
        return root

    def test_a_manifest_that_only_fastavro_takes_is_read(self, tmp_path: Path) -> None:
        report = lakeprune.explain(self.table(tmp_path), "id > 5")
        assert [file.path for file in report.files if file.kept] == ["b"]

    def test_without_fastavro_the_refusal_names_the_fix(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "fastavro", None)
        with pytest.raises(lakeprune.TableRefused) as caught:
            lakeprune.explain(self.table(tmp_path), "id > 5")
        assert (caught.value.code, caught.value.exit_code) == ("LP366", 3)
        assert caught.value.what == "a manifest has an Avro schema that is not recognised"
        assert "the type link of its Avro schema contains itself" in str(caught.value.why)
        assert caught.value.fix == f"{install_line('iceberg')} brings fastavro, which may read it"

    def test_a_codec_that_needs_one_more_library_is_refused_by_name(self, tmp_path: Path) -> None:
        self.table(tmp_path)
        place = tmp_path / "metadata/0-0-m0.avro"
        place.write_bytes(place.read_bytes().replace(b"avro.codec\x08null", b"avro.codec\x06lz4"))
        with pytest.raises(lakeprune.TableRefused, match="a manifest is compressed with lz4"):
            lakeprune.explain(tmp_path, "id > 5")
