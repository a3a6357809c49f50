"""Our Avro reader against fastavro: golden manifests, and random schemas with records of all shapes."""

from __future__ import annotations

import io
import json
import random
from pathlib import Path
from typing import Any
from unittest.mock import patch

import fastavro
import fastavro.read
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakeprune.formats.iceberg.avro.container import blocks_of, read_header
from lakeprune.formats.iceberg.avro.reader import Reader, read_columns
from lakeprune.formats.iceberg.avro.schema import AvroError, parse_schema
from lakeprune.formats.iceberg.avro.wanted import Name, Wanted
from tests.formats.iceberg.avro.writer import CODECS, avro_file
from tests.golden import GOLDEN
from tests.scope import IS_WHOLE

_CASES = 10_000 if IS_WHOLE else 300
_MANIFESTS = sorted(GOLDEN.glob("iceberg/**/*.avro"))
_JUDGED_CODECS = [codec for codec in CODECS if codec != "zstandard"]  # for which fastavro needs one more library
_PLAIN, _EAGER = 1 << 30, 1  # records before a template is learned


def _judged(data: bytes) -> list[Any]:
    """The records as fastavro reads them, with the values that are in the file and not what their logical types make of them."""
    with patch.dict(fastavro.read.LOGICAL_READERS, clear=True):
        return list(fastavro.reader(io.BytesIO(data)))


def _records(data: bytes, patience: int) -> list[Any]:
    header = read_header(data)
    names = [field["name"] for field in json.loads(header.schema)["fields"]]
    reader = Reader(parse_schema(header.schema), [Wanted((Name(None, name),)) for name in names], patience)
    columns = reader.read(blocks_of(data, header))
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


@pytest.mark.golden
@pytest.mark.skipif(not _MANIFESTS, reason="the golden tables are not beside the project")
@pytest.mark.parametrize("patience", [_PLAIN, _EAGER], ids=["decoder", "templates"])
def test_every_golden_manifest_reads_as_fastavro_reads_it(patience: int) -> None:
    for path in _MANIFESTS:
        data = path.read_bytes()
        assert _records(data, patience) == _judged(data), path


def _named(names: list[Any], schema: dict[str, Any]) -> Any:
    schema["name"] = f"n{len(names)}"
    names.append(schema)
    return schema


@st.composite
def _types(draw: Any, names: list[Any], depth: int) -> Any:
    """A type; sometimes one that was defined before, by its name (T78)."""
    simple = ["boolean", "int", "long", "float", "double", "bytes", "string"]
    kinds = [*simple, "fixed", "enum", *(["name"] if names else []), *(["array", "map", "record", "entries"] if depth else [])]
    kind = draw(st.sampled_from(kinds))
    match kind:
        case "name":
            return draw(st.sampled_from(names))["name"]
        case "fixed":
            return _named(names, {"type": "fixed", "size": draw(st.integers(0, 20))})
        case "enum":
            return _named(names, {"type": "enum", "symbols": ["A", "B", "C"]})
        case "array":
            return {"type": "array", "items": draw(_fields_type(names, depth - 1))}
        case "map":
            return {"type": "map", "values": draw(_fields_type(names, depth - 1))}
        case "record":
            fields = [{"name": f"f{n}", "type": draw(_fields_type(names, depth - 1))} for n in range(draw(st.integers(0, 3)))]
            return _named(names, {"type": "record", "fields": fields})
        case "entries":
            fields = [{"name": "key", "type": "int"}, {"name": "value", "type": draw(st.sampled_from(["long", "bytes"]))}]
            item = _named(names, {"type": "record", "fields": fields})
            return {"type": "array", "items": draw(st.sampled_from([item, ["null", item]])), "logicalType": "map"}
        case _:
            return kind


@st.composite
def _fields_type(draw: Any, names: list[Any], depth: int) -> Any:
    inner = draw(_types(names, depth))
    return draw(st.sampled_from([inner, ["null", inner], [inner, "null"]]))


_STRINGS = st.text(st.characters(codec="utf-8"), max_size=40)


def _values(schema: Any, names: dict[str, Any]) -> st.SearchStrategy[Any]:
    if isinstance(schema, list):
        return st.one_of(*(_values(branch, names) for branch in schema))
    if isinstance(schema, str) and schema in names:
        schema = names[schema]
    kind = schema if isinstance(schema, str) else schema["type"]
    match kind:
        case "null":
            return st.none()
        case "boolean":
            return st.booleans()
        case "int":
            return st.integers(-(2**31), 2**31 - 1)
        case "long":
            return st.integers(-(2**63), 2**63 - 1)
        case "float" | "double":
            return st.floats(width=32 if kind == "float" else 64, allow_nan=False)
        case "bytes":
            return st.binary(max_size=40)
        case "string":
            return _STRINGS
        case "fixed":
            return st.binary(min_size=schema["size"], max_size=schema["size"])
        case "enum":
            return st.sampled_from(schema["symbols"])
        case "array":
            return st.lists(_values(schema["items"], names), max_size=4)
        case "map":
            return st.dictionaries(_STRINGS, _values(schema["values"], names), max_size=3)
        case _:
            return st.fixed_dictionaries({field["name"]: _values(field["type"], names) for field in schema["fields"]})


@st.composite
def _files(draw: Any) -> bytes:
    names: list[Any] = []
    fields = [{"name": f"c{n}", "type": draw(_fields_type(names, 3))} for n in range(draw(st.integers(1, 5)))]
    schema = {"type": "record", "name": "row", "fields": fields}
    records = draw(st.lists(_values(schema, {name["name"]: name for name in names}), max_size=12))
    chance = random.Random(draw(st.integers(0, 2**32))) if draw(st.booleans()) else None
    return avro_file(
        schema, records, codec=draw(st.sampled_from(_JUDGED_CODECS)), per_block=draw(st.integers(1, 5)), chance=chance
    )


@settings(max_examples=_CASES)
@given(data=_files())
def test_random_schemas_read_as_fastavro_reads_them_with_and_without_templates(data: bytes) -> None:
    expected = _judged(data)
    assert _records(data, _PLAIN) == expected
    assert _records(data, _EAGER) == expected


def _manifest(entries: list[dict[str, Any]], *, ids: bool = True, items: str = "record") -> bytes:
    def entry(name: str, value: str) -> Any:
        fields = [{"name": "key", "type": "int"}, {"name": "value", "type": value}]
        item: Any = {"type": "record", "name": f"item_{name}", "fields": fields}
        return ["null", {"type": "array", "logicalType": "map", "items": item if items == "record" else ["null", item]}]

    def field(name: str, number: int, declared: Any) -> dict[str, Any]:
        return {"name": name, "type": declared, **({"field-id": number} if ids else {})}

    file = {
        "type": "record",
        "name": "r2",
        "fields": [
            field("file_path", 100, "string"),
            field("lower_bounds", 125, entry("l", "bytes")),
            field("size", 104, "long"),
        ],
    }
    schema = {"type": "record", "name": "manifest_entry", "fields": [field("status", 0, "int"), field("data_file", 2, file)]}
    return avro_file(schema, entries, codec="deflate", per_block=4)


_FILE = Name(2, "data_file")
_WANTED = [
    Wanted((Name(0, "status"),)),
    Wanted((_FILE, Name(100, "file_path"))),
    Wanted((_FILE, Name(125, "lower_bounds")), 7),
    Wanted((_FILE, Name(125, "lower_bounds")), 3),
    Wanted((_FILE, Name(999, "of_a_later_version"))),
]


@pytest.mark.parametrize(("ids", "items"), [(True, "record"), (False, "record"), (True, "optional")])
def test_wanted_keys_of_maps_go_to_their_columns_whatever_their_order(ids: bool, items: str) -> None:
    """T86: keys in another order than they are asked for. T80: no field ids, optional items."""
    maps = [[(3, b"c"), (7, b"g")], [(7, b"G"), (5, b"e"), (3, b"C")], [(5, b"e")], None, [(3, b"x" * 40)]] * 3
    paths = ["s3://bucket/" + "p" * (30 + n % 3) for n in range(len(maps))]
    entries = [
        {
            "status": n % 3,
            "data_file": {
                "file_path": path,
                "lower_bounds": None if map_ is None else [{"key": key, "value": value} for key, value in map_],
                "size": n,
            },
        }
        for n, (path, map_) in enumerate(zip(paths, maps, strict=True))
    ]
    data = _manifest(entries, ids=ids, items=items)
    expected = [
        [n % 3 for n in range(len(maps))],
        paths,
        [dict(map_ or ()).get(7) for map_ in maps],
        [dict(map_ or ()).get(3) for map_ in maps],
        [None] * len(maps),
    ]
    header = read_header(data)
    for patience in (_PLAIN, _EAGER, 2):
        reader = Reader(parse_schema(header.schema), _WANTED, patience)
        assert reader.read(blocks_of(data, header)) == expected
        assert reader.read(blocks_of(data, header)) == expected  # what was learned serves the next file


def test_a_type_by_its_name_is_the_type_that_was_defined() -> None:
    """T78: the second of two partition fields of one decimal type is only a name."""
    decimal = {"type": "fixed", "name": "decimal_12_3", "size": 6, "logicalType": "decimal", "precision": 12, "scale": 3}
    fields = [{"name": "a", "type": ["null", decimal]}, {"name": "b", "type": ["null", "decimal_12_3"]}]
    data = avro_file({"type": "record", "name": "row", "fields": fields}, [{"a": b"\0\0\0\0\0\1", "b": b"\0\0\0\0\0\2"}])
    assert read_columns(data, [Wanted((Name(None, "b"),))]) == [[b"\0\0\0\0\0\2"]]


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ('{"type": "record", "name": "r", "fields": [{"name": "a", "type": ["null", "r"]}]}', "contains itself"),
        ('{"type": "record", "name": "r", "fields": [{"name": "a", "type": "x"}]}', "is not defined"),
        ('{"type": "record", "name": "r", "fields": [{"name": "a", "type": []}]}', "union of nothing"),
        ('{"type": "fixed", "name": "f", "size": 99999999}', "are the limit"),
        ('{"type": "array"}', "cannot be understood"),
        ("[" * 5000, "cannot be understood"),
        ('{"type":"array","items":' * 40 + '"int"' + "}" * 40, "nested deeper"),
        ("nonsense", "cannot be understood"),
    ],
)
def test_schemas_that_are_not_understood_are_refused(schema: str, words: str) -> None:
    with pytest.raises(AvroError, match=words):
        parse_schema(schema.encode())


def test_files_of_one_folder_are_read_once_each(tmp_path: Path) -> None:
    """The cache of decoders is by schema and columns: a file with other columns is not read by the decoder of the first."""
    for name, kind in (("a", "int"), ("b", "string")):
        schema = {"type": "record", "name": "row", "fields": [{"name": "x", "type": kind}]}
        (tmp_path / name).write_bytes(avro_file(schema, [{"x": 5 if kind == "int" else "five"}]))
    assert [read_columns((tmp_path / name).read_bytes(), [Wanted((Name(None, "x"),))]) for name in "aba"] == [
        [[5]],
        [["five"]],
        [[5]],
    ]


@pytest.mark.parametrize("per_block", [1, 3, 100])
@pytest.mark.parametrize("bits", [0, 6, 13, 20, 27, 34, 41, 62, 63])
def test_numbers_of_one_size_and_of_many_are_read_alike(bits: int, per_block: int) -> None:
    """Templates read numbers of one size at once; the limits of each size are among them."""
    ends = [sign * (1 << bits) + more for sign in (1, -1) for more in (-1, 0)]
    numbers = [end for end in ends if -(2**63) <= end < 2**63]
    records = [
        {"n": numbers[n % len(numbers)] if n < 30 else numbers[0] - n % 7 * (bits > 4), "s": "x" * (n % 3)} for n in range(60)
    ]
    fields = [{"name": "n", "type": "long"}, {"name": "s", "type": "string"}]
    data = avro_file({"type": "record", "name": "row", "fields": fields}, records, codec="deflate", per_block=per_block)
    assert _records(data, _EAGER) == _records(data, _PLAIN) == records


def test_records_of_mixed_shapes_stay_in_their_order() -> None:
    """Runs of one shape, single records of others, shapes that no template is learned of before the end."""
    shapes = [{"a": None, "b": None}, {"a": 1, "b": None}, *({"a": 2, "b": x * 40} for x in "xyz"), {"a": 3, "b": "x" * 41}]
    chance = random.Random(14)
    records = [shape for shape in shapes for _ in range(chance.randint(1, 9))]
    chance.shuffle(records)
    records = [*([shapes[1]] * 50), *records, *([shapes[0]] * 50)]
    fields = [{"name": "a", "type": ["null", "long"]}, {"name": "b", "type": ["null", "string"]}]
    for per_block in (1, 2, 17, 1000):
        data = avro_file({"type": "record", "name": "row", "fields": fields}, records, per_block=per_block)
        for patience in (_PLAIN, _EAGER, 5, 30):
            assert _records(data, patience) == records
