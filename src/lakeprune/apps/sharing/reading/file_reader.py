"""One file of a shared table as Arrow batches: fetched by its signed URL, without the rows that a deletion vector hides.

In: a task, which is a dictionary of plain values. Out: batches of the logical columns. Sent by value to executors of Spark, which
need pyarrow and not lakeprune, so nothing of lakeprune is imported here. Messages hold no URL: its signature is a secret.
"""

from __future__ import annotations

import base64
import http.client
import json
import struct
import tempfile
import time
import zlib
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, BinaryIO
from urllib.parse import urlsplit

TIMEOUT = 60.0
ATTEMPTS = 4
MAX_VECTOR = 256 << 20
_CHUNK = 1 << 20
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_Z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
_B85 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"


class FileUnreadable(Exception):
    """A file of the share cannot be read; the message names it by its id."""


def spark_batches(batches: Iterable[Any], schema: bytes) -> Iterator[Any]:
    """For mapInArrow: each row is a task, as JSON."""
    for batch in batches:
        for text in batch.column(0).to_pylist():
            yield from read_task(json.loads(text), schema)


def read_task(task: dict[str, Any], schema: bytes) -> Iterator[Any]:
    """The batches of one file, in the columns of the schema (serialised, as Arrow does)."""
    import pyarrow as pa

    try:
        yield from _batches(task, schema)
    except (pa.ArrowException, OSError, LookupError, TypeError, ValueError, struct.error) as error:
        raise FileUnreadable(
            f"file {task['id']} is damaged, or not as the server describes it: {type(error).__name__}"
        ) from error


def _batches(task: dict[str, Any], schema: bytes) -> Iterator[Any]:
    import pyarrow as pa
    from pyarrow import parquet as pq

    wanted = pa.ipc.read_schema(pa.py_buffer(schema))
    deleted = deleted_rows(task["vector"], task["id"]) if task.get("vector") else []
    with tempfile.TemporaryFile() as file:
        size = _fetch(task["url"], file, task["id"])
        if size != task["size"]:
            raise FileUnreadable(f"file {task['id']} has {size} bytes, the server announced {task['size']}")
        file.seek(0)
        opened = pq.ParquetFile(file)
        names = _names(opened.schema_arrow, task["columns"])
        stored = sorted({name for name in names if name is not None})
        first = 0
        for batch in opened.iter_batches(columns=stored) if stored else _rows_only(opened):
            live = _live(first, batch.num_rows, deleted)
            first += batch.num_rows
            kept = batch if live is None else batch.take(live)
            arrays = [
                _column(kept, name, column, field, task)
                for name, column, field in zip(names, task["columns"], wanted, strict=True)
            ]
            if kept.num_rows:
                yield pa.RecordBatch.from_arrays(arrays, schema=wanted) if arrays else kept


def _rows_only(opened: Any) -> Iterator[Any]:
    """As many rows as the file has, when every column that is read is a partition's."""
    import pyarrow as pa

    rows = opened.metadata.num_rows
    for start in range(0, rows, 1 << 16):
        count = min(1 << 16, rows - start)
        yield pa.RecordBatch.from_arrays([pa.nulls(count)], names=["_"])


def _names(stored: Any, columns: list[dict[str, Any]]) -> list[str | None]:
    """What each column is called in the file; None for a partition's, and for one that the file does not have."""
    ids = {int((field.metadata or {}).get(b"PARQUET:field_id", b"-1")): field.name for field in stored}
    found: list[str | None] = []
    for column in columns:
        if column["is_partition"]:
            found.append(None)
        elif column.get("field_id") is not None:
            found.append(ids.get(column["field_id"]))
        else:
            found.append(_same_name(column["physical"], stored.names))
    return found


def _same_name(name: str, names: list[str]) -> str | None:
    """What a file calls a column: names are the same in any case, and a file may have been written in another one."""
    if name in names:
        return name
    return next((each for each in names if each.lower() == name.lower()), None)


def _column(batch: Any, name: str | None, column: dict[str, Any], field: Any, task: dict[str, Any]) -> Any:
    import pyarrow as pa

    if column["is_partition"]:
        value = partition_value(task["partition"].get(column["physical"]), field.type, task.get("zone"))
        return pa.array([value] * batch.num_rows, field.type)
    if name is None:
        return pa.nulls(batch.num_rows, field.type)
    found = batch.column(batch.schema.get_field_index(name))
    return _conformed(found, field.type, column.get("children"))


def _conformed(array: Any, target: Any, children: list[dict[str, Any]] | None) -> Any:
    """The array in the table's type; fields of structs by the names that they have in the file."""
    import pyarrow as pa

    if pa.types.is_struct(target) and pa.types.is_struct(array.type):
        names = [array.type.field(index).name for index in range(array.type.num_fields)]
        flat = array.flatten()
        parts = []
        known: list[dict[str, Any] | None] = [*children] if children else [None] * target.num_fields
        for child, field in zip(known, target, strict=True):
            name = _same_name(field.name if child is None else child["physical"], names)
            part = pa.nulls(len(array), field.type) if name is None else flat[names.index(name)]
            parts.append(_conformed(part, field.type, None if child is None else child.get("children")))
        return pa.StructArray.from_arrays(parts, fields=list(target), mask=array.is_null())
    if array.type == target:
        return array
    if pa.types.is_timestamp(target) and pa.types.is_timestamp(array.type) and array.type.tz != target.tz:
        array = array.cast(pa.timestamp(array.type.unit, target.tz))
    return array.cast(target, safe=not pa.types.is_timestamp(target))


def partition_value(text: str | None, kind: Any, zone: str | None = None) -> Any:
    """The value of a partition, from its recorded text; `zone` is where timestamps without an offset were written."""
    import pyarrow as pa

    if text is None or text == "":
        return None
    if pa.types.is_binary(kind):
        return text.encode()
    if pa.types.is_timestamp(kind):
        moment = datetime.fromisoformat(text)
        if kind.tz is None:
            return moment.replace(tzinfo=None)
        if moment.tzinfo is None and zone is None:
            raise FileUnreadable("a partition value is a timestamp without an offset: give timezone=, where it was written")
        if moment.tzinfo is None:
            from zoneinfo import ZoneInfo

            moment = moment.replace(tzinfo=ZoneInfo(str(zone)))
        return moment.astimezone(UTC)
    return pa.scalar(text, pa.string()).cast(kind).as_py()


def _live(first: int, count: int, deleted: list[int]) -> Any:
    """Which rows of a batch are live, None when all are."""
    import bisect

    import pyarrow as pa

    low, high = bisect.bisect_left(deleted, first), bisect.bisect_left(deleted, first + count)
    if low == high:
        return None
    hidden = {row - first for row in deleted[low:high]}
    return pa.array([row for row in range(count) if row not in hidden], pa.int64())


def deleted_rows(vector: dict[str, Any], file_id: str) -> list[int]:
    """The rows that a deletion vector hides, sorted."""
    kind, place, size = vector["storageType"], vector["pathOrInlineDv"], int(vector["sizeInBytes"])
    if kind == "i":
        content = base64.b85decode(place.translate(str.maketrans(_Z85, _B85)))[:size]
    elif kind == "p" and size <= MAX_VECTOR:
        content = _vector_in_file(place, int(vector.get("offset") or 0), size, file_id)
    else:
        raise FileUnreadable(f"the deletion vector of file {file_id} is stored in an unknown way")
    rows = _rows_of(content)
    if len(rows) != int(vector["cardinality"]):
        raise FileUnreadable(f"the deletion vector of file {file_id} has {len(rows)} rows, not {vector['cardinality']}")
    return rows


def _vector_in_file(url: str, offset: int, size: int, file_id: str) -> bytes:
    """Its size, its bytes and their checksum, at the offset."""
    with tempfile.TemporaryFile() as file:
        _fetch(url, file, file_id)
        file.seek(offset)
        (stored,) = struct.unpack(">I", file.read(4))
        content = file.read(size)
        (checksum,) = struct.unpack(">I", file.read(4))
    if stored != size or zlib.crc32(content) != checksum:
        raise FileUnreadable(f"the deletion vector of file {file_id} is damaged")
    return content


def _rows_of(content: bytes) -> list[int]:
    """The numbers of a 64-bit roaring bitmap: a 32-bit one for each upper half."""
    magic, count = struct.unpack_from("<IQ", content)
    if magic != 1681511377:
        raise FileUnreadable("a deletion vector has an unknown form")
    rows: list[int] = []
    at = 12
    for _ in range(count):
        (high,) = struct.unpack_from("<I", content, at)
        low, at = _bitmap(content, at + 4)
        rows.extend((high << 32) | value for value in low)
    return rows


def _bitmap(content: bytes, start: int) -> tuple[list[int], int]:
    """The numbers of a roaring bitmap in its portable form, and where it ends."""
    (cookie,) = struct.unpack_from("<I", content, start)
    at = start + 4
    runs = b""
    if cookie & 0xFFFF == 12347:
        count = (cookie >> 16) + 1
        runs = content[at : at + (count + 7) // 8]
        at += len(runs)
    elif cookie == 12346:
        (count,) = struct.unpack_from("<I", content, at)
        at += 4
    else:
        raise FileUnreadable("a deletion vector has an unknown form")
    keys = [struct.unpack_from("<HH", content, at + 4 * number) for number in range(count)]
    at += 4 * count
    if not runs or count >= 4:
        at += 4 * count  # offsets of the containers, which follow each other anyway
    rows: list[int] = []
    for number, (key, less_one) in enumerate(keys):
        base = key << 16
        if runs and runs[number // 8] >> number % 8 & 1:
            (pairs,) = struct.unpack_from("<H", content, at)
            values = struct.unpack_from(f"<{2 * pairs}H", content, at + 2)
            at += 2 + 4 * pairs
            for first, length in zip(values[::2], values[1::2], strict=True):
                rows.extend(range(base + first, base + first + length + 1))
        elif less_one < 4096:
            rows.extend(base + value for value in struct.unpack_from(f"<{less_one + 1}H", content, at))
            at += 2 * (less_one + 1)
        else:
            bits = enumerate(content[at : at + 8192])
            rows.extend(base + 8 * place + bit for place, byte in bits if byte for bit in range(8) if byte >> bit & 1)
            at += 8192
    return rows, at


def _fetch(url: str, into: BinaryIO, file_id: str) -> int:
    """The bytes behind a signed URL, written into a file; how many."""
    parts = urlsplit(url)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in _LOOPBACK):
        raise FileUnreadable(f"the URL of file {file_id} is not https")
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    problem = ""
    for attempt in range(ATTEMPTS):
        if attempt:
            time.sleep(0.25 * 4 ** (attempt - 1))
        into.seek(0)
        into.truncate()
        connection = kind(parts.hostname or "", parts.port, timeout=TIMEOUT)
        try:
            connection.request("GET", f"{parts.path}?{parts.query}" if parts.query else parts.path)
            response = connection.getresponse()
            if response.status == http.client.OK:
                size = 0
                while chunk := response.read(_CHUNK):
                    size += into.write(chunk)
                return size
            problem = f"status {response.status}"
            if response.status < 500 and response.status != http.client.TOO_MANY_REQUESTS:
                break
        except (OSError, http.client.HTTPException) as error:
            problem = type(error).__name__
        finally:
            connection.close()
    raise FileUnreadable(f"file {file_id} cannot be fetched: {problem}")
