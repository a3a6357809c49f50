"""Records recognised by their shape: a fast way past the decoder, which correctness never depends on.

In: a record. Out: a `Template`, a pattern that matches every record with the same branches of unions, the same numbers of items
and keys in maps, and the same lengths of long texts. Avro says at each byte what follows, so a pattern that matches has read the
record as the decoder would. What does not match is left to the decoder, and of a record that is damaged nothing is learned.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any

from msgspec import Struct

from lakeprune.formats.iceberg.avro.container import EMPTY_RECORDS, read_long
from lakeprune.formats.iceberg.avro.decoder import decoder_of, read_value
from lakeprune.formats.iceberg.avro.schema import (
    NULL,
    Array,
    AvroError,
    AvroType,
    Enumeration,
    Fixed,
    Map,
    Primitive,
    Record,
    Union,
    least_size,
)
from lakeprune.formats.iceberg.avro.wanted import NOTHING, Node, check_entries

_REPEATED = 4  # from so many times on that a number is there, it is read once
MOST_PARTS = 2000  # of a pattern; a record with more goes the plain way
_SHORT = 16  # bytes: up to here a pattern allows any length; writers truncate bounds there
_NUMBERS = (4, 8)  # bytes of a bound that is a number, and has as many in every record
_EVEN = bytes(range(0, 256, 2))
_SAMPLE = 64  # values that show whether there are few different ones
_NUMBER = b"[\x80-\xff]*+."  # every byte but the last has its high bit: what follows all of those is the last
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
        found = self.pattern.findall(block, place)
        if not found or not found[-1][-1]:
            return found, len(block)
        found.pop()
        return found, next(islice(self.pattern.finditer(block, place), len(found), None)).start() if found else place

    def each(self, blocks: Sequence[bytes]) -> list[Groups | None]:
        """The groups of the one record that each block is; None for a block that is not."""
        other = self.pattern.groups
        found = map(self.pattern.fullmatch, blocks)
        return [None if match is None or match.lastindex == other else match.groups() for match in found]

    def columns(self, rows: Sequence[Groups], width: int) -> list[list[Any]]:
        """The values of every column in the records that matched, given by their groups."""
        found: list[list[Any]] = [[None] * len(rows)] * width
        groups = list(zip(*rows, strict=True))
        for slot in self.slots:
            found[slot.column] = slot.convert(groups[slot.group])
        return found


def learn(schema: AvroType, node: Node, block: bytes, place: int, *, is_first: bool) -> Template | None:
    """The template of the record at this place; None when it is damaged, or its pattern would be too long.

    A record without any byte has no template: wherever its pattern looks, it matches. The first template takes every bound of the
    size of a number for one, which is matched and compiled faster; the next ones allow it any size, for it may be a text.
    """
    tracer = _Tracer(block, knows_numbers=is_first)
    try:
        end = tracer.trace(schema, node, place)
    except (AvroError, IndexError):
        return None
    if end == place:
        return None
    pattern = b"".join((*tracer.parts, b"|(.).*+"))
    if not tracer.slots:
        pattern = b"()" + pattern  # of one group alone `findall` makes no tuples
    return Template(re.compile(pattern, re.DOTALL), tuple(tracer.slots))


class _Tracer:
    """Walks one record, and writes down the pattern of its shape. AvroError or IndexError where the record cannot be read."""

    def __init__(self, block: bytes, *, knows_numbers: bool) -> None:
        self._block = block
        self._knows_numbers = knows_numbers
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
                size, start = self._length(place)
                if not self._has_one_size(type_, size):
                    return self._add(_short(size), start + size)
                self._literal(place, start)
                return self._fixed(size, start)
            case Fixed(size):
                return self._fixed(size, place)
            case Union():
                branch, start = self._branch(type_, place)
                return self.trace(branch, node, start)
            case Record(fields):
                for number, field in enumerate(fields):
                    place = self.trace(field.type, node.fields.get(number, NOTHING), place)
                return place
            case Array(items):
                value = check_entries(type_)[1].type if node.keys else None
                if value is None:
                    return self._items(items, place, lambda at: self.trace(items, NOTHING, at))
                return self._items(items, place, lambda at: self._entry(items, value, node, at))
            case Map(values):
                key = Primitive("string")
                return self._items(key, place, lambda at: self.trace(values, NOTHING, self.trace(key, NOTHING, at)))

    def _capture(self, type_: AvroType, column: int, place: int) -> int:
        if isinstance(type_, Union):
            branch, start = self._branch(type_, place)
            return start if branch == NULL else self._capture(branch, column, start)
        convert, size = _converter(type_), None
        if type_ in (Primitive("bytes"), Primitive("string")):
            size, start = self._length(place)
            if self._has_one_size(type_, size):  # then its length is part of the shape
                place = self._literal(place, start)
                convert = _texts if type_ == Primitive("string") else list
            else:
                size = None
        self.parts.append(b"(")
        end = self.trace(type_, NOTHING, place) if size is None else self._fixed(size, place)
        self.parts.append(b")")
        self.slots.append(Slot(column, len(self.slots), convert))
        return end

    def _entry(self, items: AvroType, value: AvroType, node: Node, place: int) -> int:
        if isinstance(items, Union):
            branch, place = self._branch(items, place)
            if branch == NULL:
                return place
        key, start = read_long(self._block, place)
        return self.trace(value, Node((node.keys[key],)) if key in node.keys else NOTHING, self._literal(place, start))

    def _items(self, items: AvroType, place: int, trace: Callable[[int], int]) -> int:
        least = least_size(items)
        while True:
            start = place
            left, place = read_long(self._block, start)
            if left < 0:
                _, place = read_long(self._block, place)
            self._literal(start, place)
            if left == 0:
                return place
            if abs(left) > ((len(self._block) - place) // least if least else EMPTY_RECORDS):
                raise AvroError("more values than bytes")
            for _ in range(abs(left)):
                place = trace(place)

    def _length(self, place: int) -> tuple[int, int]:
        size, place = read_long(self._block, place)
        if size < 0 or place + size > len(self._block):
            raise AvroError("a text is longer than its block")
        return size, place

    def _branch(self, union: Union, place: int) -> tuple[AvroType, int]:
        """The branch of the value at this place, and where the value begins."""
        branch, start = read_long(self._block, place)
        if branch < 0:
            raise AvroError("no such branch of a union")
        return union.branches[branch], self._literal(place, start)

    def _has_one_size(self, type_: AvroType, size: int) -> bool:
        """Whether the texts of other records are taken to be as long as this one."""
        return size > _SHORT or (self._knows_numbers and type_ == Primitive("bytes") and size in _NUMBERS)

    def _add(self, pattern: bytes, end: int) -> int:
        self.parts.append(pattern)
        if len(self.parts) > MOST_PARTS:
            raise AvroError("a record has too many parts for a pattern")
        return end

    def _fixed(self, size: int, place: int) -> int:
        return self._add(b".{%d}+" % size, place + size)

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
    if values.count(values[0]) == len(values):
        return [read_long(values[0], 0)[0]] * len(values)
    sizes, sample = set(map(len, values)), values[:_SAMPLE]
    if len(sizes) > 1 or len(set(sample)) * _REPEATED < len(sample):
        return list(map(_Known().__getitem__, values))
    (size,) = sizes
    # All of one size: their first bytes, their second bytes, ... every byte but the last has a high bit that says so. The lowest
    # bit is the sign, 0 here, so everything is shifted by one less.
    data = b"".join(values)
    high = sum(64 << 7 * place for place in range(size - 1))
    columns = [data[place::size] for place in range(size)]
    if size > 4 or columns[0].translate(None, _EVEN):
        return list(map(_Known().__getitem__, values))
    match columns:
        case [first, second]:
            return [(a >> 1) + (b << 6) - high for a, b in zip(first, second, strict=True)]
        case [first, second, third]:
            return [(a >> 1) + (b << 6) + (c << 13) - high for a, b, c in zip(first, second, third, strict=True)]
        case [first, second, third, fourth]:
            rows = zip(first, second, third, fourth, strict=True)
            return [(a >> 1) + (b << 6) + (c << 13) + (d << 20) - high for a, b, c, d in rows]
    return [number >> 1 for number in data]


class _Known(dict[bytes, int]):
    """Numbers by their bytes, each read once."""

    def __missing__(self, value: bytes) -> int:
        self[value] = found = read_long(value, 0)[0]
        return found


def _texts(values: Sequence[bytes]) -> list[Any]:
    texts = b"\n".join(values).decode().split("\n")  # a break between two: no character begins in one and ends in the other
    return texts if len(texts) == len(values) else [str(value, "utf-8") for value in values]


def _short_bytes(values: Sequence[bytes]) -> list[Any]:
    return [value[1:] for value in values]


def _short_texts(values: Sequence[bytes]) -> list[Any]:
    return [str(value[1:], "utf-8") for value in values]
