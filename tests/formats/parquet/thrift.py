"""The footer of a Parquet file, taken apart and put together again: for footers that no writer at hand produces.

A struct is a dictionary from field number to (type, value), as Thrift's compact protocol has it; nothing is interpreted but the
places of the statistics. A footer that is not patched comes out byte for byte as it was.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

BYTES = 8
I64 = 6
_TRUE, _FALSE, _BYTE, _INTS, _DOUBLE, _LISTS, _MAP, _STRUCT = 1, 2, 3, (4, 5, 6), 7, (9, 10), 11, 12
Fields = dict[int, tuple[int, Any]]

# FileMetaData
_ROW_GROUPS, _COLUMN_ORDERS, _CREATED_BY = 4, 7, 6
# RowGroup and ColumnChunk and ColumnMetaData
_COLUMNS, _META_DATA, _PATH, _STATISTICS = 1, 3, 3, 12
# Statistics
OLD_MAX, OLD_MIN, NULLS, DISTINCT, MAX, MIN, MAX_IS_EXACT, MIN_IS_EXACT = range(1, 9)


def patch(place: Path, change: Callable[[Fields], None]) -> None:
    """The file with its footer, a FileMetaData, changed."""
    content = place.read_bytes()
    (length,) = struct.unpack("<I", content[-8:-4])
    footer = _Reader(content[-8 - length : -8]).struct()
    change(footer)
    made = bytes(_written(footer))
    place.write_bytes(content[: -8 - length] + made + struct.pack("<I", len(made)) + content[-4:])


def patch_statistics(place: Path, change: Callable[[Fields], None], path: str | None = None) -> None:
    """The same for the statistics of each chunk of a column, or of all columns."""

    def each(footer: Fields) -> None:
        for name, statistics in statistics_in(footer):
            if path is None or name == path:
                change(statistics)

    patch(place, each)


def statistics_in(footer: Fields) -> Iterator[tuple[str, Fields]]:
    for group in footer[_ROW_GROUPS][1][1]:
        for chunk in group[_COLUMNS][1][1]:
            metadata = chunk[_META_DATA][1]
            if _STATISTICS in metadata:
                yield b".".join(metadata[_PATH][1][1]).decode(), metadata[_STATISTICS][1]


def without_column_orders(footer: Fields) -> None:
    """As written before Parquet defined them: nobody knows by which order the bounds were found."""
    footer.pop(_COLUMN_ORDERS, None)


def deprecated(statistics: Fields) -> None:
    """`min` and `max` instead of `min_value` and `max_value`, as parquet-mr wrote them before 1.10."""
    for new, old in ((MAX, OLD_MAX), (MIN, OLD_MIN)):
        if new in statistics:
            statistics[old] = statistics.pop(new)
    _ordered(statistics)


def without(*fields: int) -> Callable[[Fields], None]:
    def change(statistics: Fields) -> None:
        for field in fields:
            statistics.pop(field, None)

    return change


def setting(field: int, kind: int, value: Any) -> Callable[[Fields], None]:
    def change(statistics: Fields) -> None:
        statistics[field] = (kind, value)
        _ordered(statistics)

    return change


def _ordered(fields: Fields) -> None:
    items = sorted(fields.items())
    fields.clear()
    fields.update(items)


class _Reader:
    def __init__(self, content: bytes) -> None:
        self._content, self._at = content, 0

    def struct(self) -> Fields:
        found: Fields = {}
        number = 0
        while (head := self._byte()) != 0:
            number = number + (head >> 4) if head >> 4 else self._zigzag()
            found[number] = (head & 15, self._value(head & 15))
        return found

    def _value(self, kind: int) -> Any:
        if kind in (_TRUE, _FALSE):
            return None
        if kind == _BYTE:
            return self._byte()
        if kind in _INTS:
            return self._zigzag()
        if kind == _DOUBLE:
            return self._taken(8)
        if kind == BYTES:
            return self._taken(self._varint())
        if kind in _LISTS:
            head = self._byte()
            count = head >> 4 if head >> 4 < 15 else self._varint()
            return head & 15, [self._element(head & 15) for _ in range(count)]
        assert kind == _STRUCT, f"no footer has a field of type {kind}"
        return self.struct()

    def _element(self, kind: int) -> Any:
        return self._byte() if kind in (_TRUE, _FALSE) else self._value(kind)

    def _byte(self) -> int:
        self._at += 1
        return self._content[self._at - 1]

    def _taken(self, count: int) -> bytes:
        self._at += count
        return self._content[self._at - count : self._at]

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7

    def _zigzag(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)


def _written(fields: Fields) -> Iterator[int]:
    last = 0
    for number, (kind, value) in fields.items():
        if 0 < number - last < 16:
            yield (number - last) << 4 | kind
        else:
            yield kind
            yield from _varint(_zigzag(number))
        last = number
        yield from _value(kind, value)
    yield 0


def _value(kind: int, value: Any) -> Iterator[int]:
    if kind in (_TRUE, _FALSE):
        return
    if kind == _BYTE:
        yield value
    elif kind in _INTS:
        yield from _varint(_zigzag(value))
    elif kind == _DOUBLE:
        yield from value
    elif kind == BYTES:
        yield from _varint(len(value))
        yield from value
    elif kind in _LISTS:
        of, items = value
        yield (min(15, len(items))) << 4 | of
        if len(items) >= 15:
            yield from _varint(len(items))
        for item in items:
            yield from (item,) if of in (_TRUE, _FALSE) else _value(of, item)
    else:
        yield from _written(value)


def _zigzag(value: int) -> int:
    return (value << 1) ^ (value >> 63)


def _varint(value: int) -> Iterator[int]:
    value &= 2**64 - 1
    while value > 127:
        yield value & 127 | 128
        value >>= 7
    yield value
