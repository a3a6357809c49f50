"""Records recognised by their shape: a fast way past the decoder, which correctness never depends on.

In: a record that the decoder has read. Out: a `Template`, a pattern that matches every record with the same branches of unions,
the same numbers of items and keys in maps, and the same lengths of long texts. Avro says at each byte what follows, so a pattern
that matches has read the record as the decoder would. What does not match is left to the decoder.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from msgspec import Struct

from lakeprune.formats.iceberg.avro.container import read_long
from lakeprune.formats.iceberg.avro.decoder import decoder_of, read_value
from lakeprune.formats.iceberg.avro.schema import (
    NULL,
    Array,
    AvroType,
    Enumeration,
    Fixed,
    Map,
    Primitive,
    Record,
    Union,
)
from lakeprune.formats.iceberg.avro.wanted import NOTHING, Node, check_entries

_REPEATED = 4  # from so many times on that a number is there, it is read once
_LONGEST_TOGETHER = 5  # bytes of a number up to which many are read at once
MOST_PARTS = 2000  # of a pattern; a record with more goes the plain way
_SHORT = 16  # bytes: up to here a pattern allows any length; writers truncate bounds there
_NUMBER = rb"[\x80-\xff]{0,9}+[\x00-\x7f]"
_SIZES = tuple(re.escape(bytes([2 * size])) + b".{%d}" % size for size in range(_SHORT + 1))

Groups = tuple[bytes, ...]  # of a match
Convert = Callable[[Sequence[bytes]], list[Any]]


class Slot(Struct, frozen=True):
    """Where a template finds a column: the group of its pattern, and what makes values of its bytes."""

    column: int
    group: int
    convert: Convert


class Template(Struct, frozen=True):
    """`pattern` matches a record, or else, as its last group, whatever is there: so matches follow each other without gaps."""

    pattern: re.Pattern[bytes]
    slots: tuple[Slot, ...]

    def run(self, block: bytes, place: int) -> tuple[list[Groups], int]:
        """The groups of the records from this place on that match, and the place behind them."""
        found = list(self.pattern.finditer(block, place))
        if found and found[-1].lastindex == self.pattern.groups:
            end = found.pop().start()
        else:
            end = len(block)
        return [match.groups() for match in found], end

    def only(self, block: bytes) -> Groups | None:
        """The groups of the record that the whole block is."""
        found = self.pattern.fullmatch(block)
        return None if found is None or found.lastindex == self.pattern.groups else found.groups()

    def columns(self, rows: Sequence[Groups], width: int) -> list[list[Any]]:
        """The values of every column in the records that matched, given by their groups."""
        found: list[list[Any]] = [[None] * len(rows)] * width
        groups = list(zip(*rows, strict=True))
        for slot in self.slots:
            found[slot.column] = slot.convert(groups[slot.group])
        return found


def learn(schema: AvroType, node: Node, block: bytes, place: int) -> Template | None:
    """The template of the record at this place, which is known to be sound; None when its pattern would be too long.

    A record without any byte has no template: wherever its pattern looks, it matches.
    """
    tracer = _Tracer(block)
    end = tracer.trace(schema, node, place)
    if len(tracer.parts) > MOST_PARTS or end == place:
        return None
    return Template(re.compile(b"".join((*tracer.parts, b"|(.).*+")), re.DOTALL), tuple(tracer.slots))


class _Tracer:
    """Walks one record, and writes down the pattern of its shape."""

    def __init__(self, block: bytes) -> None:
        self._block = block
        self.parts: list[bytes] = []
        self.slots: list[Slot] = []

    def trace(self, type_: AvroType, node: Node, place: int) -> int:
        if node.columns:
            return self._capture(type_, node.columns[0], place)
        match type_:
            case Primitive("null"):
                return place
            case Primitive("boolean"):
                return self._add(rb"[\x00\x01]", place + 1)
            case Primitive("int" | "long") | Enumeration():
                return self._add(_NUMBER, read_long(self._block, place)[1])
            case Primitive("float" | "double" as kind):
                return self._fixed(4 if kind == "float" else 8, place)
            case Primitive():
                size, start = read_long(self._block, place)
                if size <= _SHORT:
                    return self._add(_short(size), start + size)
                self._literal(place, start)
                return self._fixed(size, start)
            case Fixed(size):
                return self._fixed(size, place)
            case Union(branches):
                branch, start = read_long(self._block, place)
                self._literal(place, start)
                return self.trace(branches[branch], node, start)
            case Record(fields):
                for number, field in enumerate(fields):
                    place = self.trace(field.type, node.fields.get(number, NOTHING), place)
                return place
            case Array(items):
                value = check_entries(type_)[1].type if node.keys else None
                return self._items(
                    place, lambda at: self.trace(items, NOTHING, at) if value is None else self._entry(items, value, node, at)
                )
            case Map(values):
                return self._items(place, lambda at: self.trace(values, NOTHING, self.trace(Primitive("string"), NOTHING, at)))

    def _capture(self, type_: AvroType, column: int, place: int) -> int:
        if isinstance(type_, Union):
            branch, start = read_long(self._block, place)
            self._literal(place, start)
            return start if type_.branches[branch] == NULL else self._capture(type_.branches[branch], column, start)
        is_long_text = False
        if type_ in (Primitive("bytes"), Primitive("string")):
            size, start = read_long(self._block, place)
            if is_long_text := size > _SHORT:  # its length is part of the shape
                self._literal(place, start)
                place, type_ = start, Fixed(size) if type_ == Primitive("bytes") else type_
        self.parts.append(b"(")
        end = self._fixed(size, place) if is_long_text else self.trace(type_, NOTHING, place)
        self.parts.append(b")")
        self.slots.append(
            Slot(column, len(self.slots), _texts if is_long_text and type_ == Primitive("string") else _converter(type_))
        )
        return end

    def _entry(self, items: AvroType, value: AvroType, node: Node, place: int) -> int:
        start = place
        if isinstance(items, Union):
            branch, place = read_long(self._block, place)
            if items.branches[branch] == NULL:
                return self._literal(start, place)
        key, place = read_long(self._block, place)
        self._literal(start, place)
        return self.trace(value, Node((node.keys[key],)) if key in node.keys else NOTHING, place)

    def _items(self, place: int, trace: Callable[[int], int]) -> int:
        while True:
            start = place
            left, place = read_long(self._block, start)
            if left < 0:
                _, place = read_long(self._block, place)
            self._literal(start, place)
            if left == 0 or len(self.parts) > MOST_PARTS:
                return place
            for _ in range(abs(left)):
                place = trace(place)

    def _add(self, pattern: bytes, end: int) -> int:
        self.parts.append(pattern)
        return end

    def _fixed(self, size: int, place: int) -> int:
        return self._add(b".{%d}" % size, place + size)

    def _literal(self, start: int, end: int) -> int:
        return self._add(re.escape(self._block[start:end]), end)


@lru_cache
def _short(size: int) -> bytes:
    """Any short text; this size is tried first, for bounds of one column are mostly of one size."""
    return b"(?>" + b"|".join((re.escape(bytes([2 * size])) + b"." * size, *_SIZES)) + b")"


def _converter(type_: AvroType) -> Convert:
    match type_:
        case Primitive("int" | "long"):
            return _numbers
        case Primitive("bytes"):
            return _short_bytes
        case Primitive("string"):
            return _short_texts
        case Fixed():
            return list
        case _:
            decode = decoder_of(type_, Node((0,)), 1)
            return lambda values: [read_value(value, decode) for value in values]


def _numbers(values: Sequence[bytes]) -> list[Any]:
    distinct = set(values)
    if len(distinct) == 1:
        return [read_long(values[0], 0)[0]] * len(values)
    sizes = set(map(len, values))
    if len(sizes) > 1 or len(distinct) * _REPEATED < len(values):
        known = {value: read_long(value, 0)[0] for value in distinct}
        return list(map(known.__getitem__, values))
    (size,) = sizes
    if size > _LONGEST_TOGETHER:
        return [read_long(value, 0)[0] for value in values]
    # All of one size: their first bytes, their second bytes, ... every byte but the last has a high bit that says so.
    data = b"".join(values)
    raws: Sequence[int] = data[::size]
    for place in range(1, size):
        shift, bit = 7 * place, 128 << 7 * (place - 1)
        raws = [raw + (byte << shift) - bit for raw, byte in zip(raws, data[place::size], strict=True)]
    return [raw >> 1 ^ -(raw & 1) for raw in raws]


def _texts(values: Sequence[bytes]) -> list[Any]:
    return [str(value, "utf-8") for value in values]


def _short_bytes(values: Sequence[bytes]) -> list[Any]:
    return [value[1:] for value in values]


def _short_texts(values: Sequence[bytes]) -> list[Any]:
    return [str(value[1:], "utf-8") for value in values]
