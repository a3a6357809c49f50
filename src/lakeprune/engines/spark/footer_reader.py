"""Footers of Parquet files, read on executors: what DuckDB's reader shows of them, in the same words.

In: paths, as Arrow batches. Out: Arrow batches with the rows of engines/engine.py's `ReadFooters`: one per file, whose `leaf` is
NULL, and one per column chunk. Sent to executors as it stands, which have pyarrow and may have nothing else: imports nothing of
lakeprune. Reads the end of a file, never a page. Bounds that cannot be shown as DuckDB shows them are left out.
"""

from __future__ import annotations

import datetime as dt
import json
import struct
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

SCHEMA = (
    "file STRING, problem STRING, file_rows BIGINT, created_by STRING, elements STRING, row_group BIGINT, leaf BIGINT, "
    "rows BIGINT, num_values BIGINT, min_text STRING, max_text STRING, is_max_exact BOOLEAN, old_min_text STRING, "
    "old_max_text STRING, nulls BIGINT, nans BIGINT, has_type_order BOOLEAN, start_byte BIGINT, "
    "end_byte BIGINT, has_bloom BOOLEAN, bloom_start BIGINT, bloom_end BIGINT, "
    "column_path STRING, is_julian BOOLEAN"
)
_NAMES = [item.split()[0] for item in SCHEMA.split(", ")]
_TAIL = 64 << 10
_MAGIC = b"PAR1"
_PHYSICAL = ("BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY")
_REPETITION = ("REQUIRED", "OPTIONAL", "REPEATED")
_EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001  # of clocks, whatever their zone
_BY_WIDTH = {8: "TINYINT", 16: "SMALLINT", 32: "INTEGER", 64: "BIGINT"}
# Converted types that say as much as a logical one.
_CONVERTED = {0: "STRING", 4: "STRING", 6: "DATE", 9: "TIMESTAMP WITH TIME ZONE", 10: "TIMESTAMP WITH TIME ZONE",
              11: "UTINYINT", 12: "USMALLINT", 13: "UINTEGER", 14: "UBIGINT",
              15: "TINYINT", 16: "SMALLINT", 17: "INTEGER", 18: "BIGINT"}  # fmt: skip
_PLAIN = {"BOOLEAN": "BOOLEAN", "INT32": "INTEGER", "INT64": "BIGINT", "INT96": "INT96", "FLOAT": "FLOAT", "DOUBLE": "DOUBLE",
          "BYTE_ARRAY": "BINARY", "FIXED_LEN_BYTE_ARRAY": "BINARY"}  # fmt: skip
_OTHER = "OTHER"
_MARKS = {b"org.apache.spark.legacyDateTime", b"org.apache.spark.legacyINT96"}
_VERSION = b"org.apache.spark.version"

Fields = dict[int, Any]


def read_batches(batches: Iterable[Any]) -> Iterator[Any]:
    """For `mapInArrow`: a batch of paths becomes batches of footers."""
    import pyarrow as pa

    kinds = {"STRING": pa.string(), "BIGINT": pa.int64(), "BOOLEAN": pa.bool_()}
    schema = pa.schema([(name, kinds[kind]) for name, kind in (item.split() for item in SCHEMA.split(", "))])
    for batch in batches:
        for path, url in zip(batch.column(0).to_pylist(), batch.column(1).to_pylist(), strict=True):
            try:
                rows = list(footer_rows(path, _footer(url)))
            except (OSError, ValueError, IndexError, KeyError, struct.error, pa.ArrowException) as error:
                rows = [(path, f"{type(error).__name__}: {error}", *[None] * (len(_NAMES) - 2))]
            columns = zip(*rows, strict=True)
            arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def footer_rows(path: str, footer: bytes) -> Iterator[tuple[Any, ...]]:
    """The rows of one footer."""
    found = _Reader(footer).fields()
    schema = [_element(fields) for fields in found[2]]
    leaves = [element for element in schema if element["physical_type"] is not None]
    paths = list(_leaf_paths(iter(schema)))
    orders = found.get(7, [])
    created_by = found[6].decode("utf-8", "replace") if 6 in found else None
    shown = [{name: value for name, value in element.items() if name not in ("unit", "scale")} for element in schema]
    nothing = [None] * (len(_NAMES) - 6)
    yield (path, None, found[3], created_by, json.dumps(shown), *nothing, _is_julian(found.get(5, [])))
    for row_group, group in enumerate(found.get(4, [])):
        for leaf, chunk in enumerate(group[1]):
            about = _chunk(chunk[3], leaves[leaf], orders, leaf)
            yield (path, None, None, None, None, row_group, leaf, group[3], *about, paths[leaf], None)


def _is_julian(entries: list[Fields]) -> bool:
    """Whether early days may be of the Julian calendar; Spark itself compares versions as text."""
    about = {entry[1]: entry.get(2, b"") for entry in entries}
    return not _MARKS.isdisjoint(about) or about.get(_VERSION, b"3.0.0") < b"3.0.0"


def _leaf_paths(walk: Iterator[dict[str, Any]], above: tuple[str, ...] | None = None) -> Iterator[str]:
    """The names of each leaf from the root down, joined as DuckDB joins them; the root has none."""
    element = next(walk)
    path = () if above is None else (*above, element["name"])
    if element["physical_type"] is not None:
        yield ", ".join(path)
    for _ in range(element["children"] or 0):
        yield from _leaf_paths(walk, path)


def _chunk(about: Fields, element: dict[str, Any], orders: list[Fields], leaf: int) -> tuple[Any, ...]:
    statistics: Fields = about.get(12, {})
    low, high, old_low, old_high = (_text(statistics.get(number), element) for number in (6, 5, 2, 1))
    first = min(about[11], about[9]) if about.get(11, 0) > 0 else about[9]
    has_order = leaf < len(orders) and list(orders[leaf]) == [1]
    exact, nulls, nans = statistics.get(7), statistics.get(3), statistics.get(9)
    bloom, length = about.get(14), about.get(15)
    filter_ = (bloom is not None, bloom, None if bloom is None or length is None else bloom + length)
    return (about[5], low, high, exact, old_low, old_high, nulls, nans, has_order, first, first + about[7], *filter_)


def _element(fields: Fields) -> dict[str, Any]:
    physical = _PHYSICAL[fields[1]] if 1 in fields else None
    type_name, unit = _named(fields, physical)
    return {
        "name": fields[4].decode("utf-8", "replace"),
        "physical_type": physical,
        "type_name": type_name,
        "repetition": _REPETITION[fields[3]] if 3 in fields else None,
        "children": fields.get(5),
        "field_id": fields.get(9),
        "unit": unit,
        "scale": fields.get(7, 0),
    }


def _named(fields: Fields, physical: str | None) -> tuple[str, int]:
    """The SQL type of a node as DuckDB names it where that matters, and how many of its units are a second."""
    logical, converted = fields.get(10), fields.get(6)
    if physical is None:
        return (_OTHER if logical or converted is not None else "STRUCT()"), 0
    if physical == "INT96":
        return "INT96", 0
    if logical:
        ((kind, about),) = logical.items()
        return _logical(kind, about)
    if converted == 5:
        return f"DECIMAL({fields.get(8, 0)},{fields.get(7, 0)})", 0
    if converted is not None:
        return _CONVERTED.get(converted, _OTHER), 1_000 if converted == 9 else 1_000_000
    return _PLAIN[physical], 0


def _logical(kind: int, about: Fields) -> tuple[str, int]:
    match kind:
        case 1 | 4:
            return "STRING", 0
        case 5:
            return f"DECIMAL({about[2]},{about[1]})", 0
        case 6:
            return "DATE", 0
        case 8:
            unit = {1: 1_000, 2: 1_000_000}.get(next(iter(about[2])))
            return ("TIMESTAMP WITH TIME ZONE" if about[1] else "TIMESTAMP", unit) if unit else (_OTHER, 0)
        case 10:
            return ("" if about[2] else "U") + _BY_WIDTH[about[1]], 0
    return _OTHER, 0


def _text(value: bytes | None, element: dict[str, Any]) -> str | None:
    """A bound as DuckDB prints it; bytes in hexadecimal digits, which the dialect of Spark reads."""
    if value is None:
        return None
    kind, name = element["physical_type"], element["type_name"]
    if kind == "BOOLEAN":
        return "true" if value[0] else "false"
    if kind in ("FLOAT", "DOUBLE"):
        (number,) = struct.unpack("<f" if kind == "FLOAT" else "<d", value)
        return repr(number) if number - number == 0 else None
    if name == "STRING":
        return _utf8(value)
    if name == "BINARY":
        return value.hex()
    if kind in ("INT32", "INT64"):
        number = int.from_bytes(value, "little", signed=not name.startswith("U"))
    elif name.startswith("DECIMAL"):
        number = int.from_bytes(value, "big", signed=True)
    else:
        return None
    if name.startswith("DECIMAL"):
        scale = int(name.rstrip(")").split(",")[1])
        digits = f"{abs(number):0{scale + 1}}"
        whole, rest = (digits[:-scale], f".{digits[-scale:]}") if scale else (digits, "")
        return f"{'-' if number < 0 else ''}{whole}{rest}"
    if name == "DATE":
        shown = _moment(number * 86_400)
        return None if shown is None else shown[:10]
    if name.startswith("TIMESTAMP"):
        seconds, rest_of = divmod(number, element["unit"])
        shown = _moment(seconds)
        micros = rest_of * (1_000_000 // element["unit"])
        fraction = f".{micros:06}".rstrip("0") if micros else ""
        return None if shown is None else f"{shown}{fraction}{'+00' if 'ZONE' in name else ''}"
    return str(number) if name != _OTHER else None


def _moment(seconds: int) -> str | None:
    try:
        return (_EPOCH + dt.timedelta(seconds=seconds)).isoformat(" ", "seconds")
    except OverflowError:  # before the year 1, or after 9999
        return None


def _utf8(value: bytes) -> str:
    """Bytes that are not text have a backslash, which no bound that is used has."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return "\\x"


def _footer(url: str) -> bytes:
    """The footer of a file; only the end of the file is read."""
    with _opened(url) as file:
        size = file.seek(0, 2)
        start = max(0, size - _TAIL)
        file.seek(start)
        end = file.read()
        if end[-4:] != _MAGIC:
            raise ValueError("it does not end as Parquet files do whose footer is plain")
        length = int.from_bytes(end[-8:-4], "little") + 8
        if length > size:
            raise ValueError("its footer is longer than the file")
        if length > len(end):
            file.seek(size - length)
            end = file.read(length - len(end)) + end
        return end[-length:-8]


def _opened(url: str) -> BinaryIO:
    if url.startswith("file://"):
        return open(url[7:], "rb")
    from pyarrow import fs

    system, path = fs.FileSystem.from_uri(url.replace("s3a://", "s3://", 1))
    found: BinaryIO = system.open_input_file(path)
    return found


class _Reader:
    """Thrift's compact protocol: structs as dictionaries by field number."""

    def __init__(self, content: bytes) -> None:
        self._content, self._at = content, 0

    def fields(self) -> Fields:
        found: Fields = {}
        number = 0
        while (head := self._byte()) != 0:
            number = number + (head >> 4) if head >> 4 else self._zigzag()
            found[number] = self._value(head & 15)
        return found

    def _value(self, kind: int) -> Any:
        if kind in (1, 2):
            return kind == 1
        if kind == 8:
            return self._taken(self._varint())
        if kind in (4, 5, 6):
            return self._zigzag()
        if kind == 12:
            return self.fields()
        if kind in (9, 10):
            head = self._byte()
            count, inner = head >> 4, head & 15
            if count == 15:
                count = self._varint()
            return [self._byte() == 1 if inner in (1, 2) else self._value(inner) for _ in range(count)]
        if kind == 3:
            return self._byte()
        if kind == 7:
            return self._taken(8)
        raise ValueError(f"a field of type {kind}")

    def _byte(self) -> int:
        self._at += 1
        return self._content[self._at - 1]

    def _taken(self, count: int) -> bytes:
        self._at += count
        if self._at > len(self._content):
            raise ValueError("it ends in the middle of a value")
        return self._content[self._at - count : self._at]

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._content[self._at]
            self._at += 1
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7

    def _zigzag(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)
