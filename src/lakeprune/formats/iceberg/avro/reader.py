"""Columns of an Avro file.

In: the bytes of a file, what is wanted of each record. Out: one list per column, all of one length, in the order of the records.
Values are Avro's: bytes for decimals, numbers for dates. Decoders and templates are made once per writer's schema.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from lakeprune.formats.iceberg.avro.container import EMPTY_RECORDS, Header, blocks_of, read_header
from lakeprune.formats.iceberg.avro.decoder import Append, Decode, damaged, decoder_of
from lakeprune.formats.iceberg.avro.schema import AvroError, AvroType, least_size, parse_schema
from lakeprune.formats.iceberg.avro.templates import Groups, Template, learn
from lakeprune.formats.iceberg.avro.wanted import Node, Wanted, find

MOST_TEMPLATES = 32
_BEFORE_LEARNING = 300  # records read by the decoder before a template is learned: compiling a pattern costs as much
_SCHEMAS = 64

Columns = list[list[Any]]


def read_columns(data: bytes, wanted: Sequence[Wanted]) -> Columns:
    """The wanted columns of the file. Raises AvroError when it is damaged or cannot be read here."""
    return columns_of(data, read_header(data), wanted)


def columns_of(data: bytes, header: Header, wanted: Sequence[Wanted]) -> Columns:
    """The same where the header is read already."""
    return _reader_of(header.schema, tuple(wanted)).read(blocks_of(data, header))


class Reader:
    """Reads records of one schema; what it has learned of their shapes serves the next file too."""

    def __init__(self, schema: AvroType, wanted: Sequence[Wanted], patience: int = _BEFORE_LEARNING) -> None:
        self._schema = schema
        self._node: Node = find(schema, wanted)
        self._width = len(wanted)
        self._decode: Decode = decoder_of(schema, self._node, self._width)
        self._least = least_size(schema)
        self._templates: list[Template] = []
        self._patience = patience
        self._until_next = patience
        self._last = 0  # the template of the record before

    def read(self, blocks: Iterator[tuple[int, bytes]]) -> Columns:
        try:
            return self._read(blocks)
        except (IndexError, UnicodeDecodeError) as error:
            raise damaged(error) from error

    def _read(self, blocks: Iterator[tuple[int, bytes]]) -> Columns:
        plain: Columns = [[] for _ in range(self._width)]
        appends = [column.append for column in plain]
        matched = _Matched()
        templates, ways = self._templates, matched.ways
        for count, block in blocks:
            if count == 1 and templates:  # as PyIceberg writes blocks
                row = templates[self._last].only(block)
                if row is not None:
                    matched.rows[self._last].append(row)
                    ways.append(self._last)
                    continue
            if count > (len(block) // self._least if self._least else EMPTY_RECORDS):
                raise AvroError("a block is damaged: it claims more records than it has bytes")
            if not templates and self._until_next > count:
                place = self._decode(block, 0, count, appends)
                ways += [-1] * count
                self._until_next -= count
            else:
                place = self._read_block(block, count, appends, matched)
            if place != len(block):
                raise AvroError("a block is damaged: its records do not fill it")
        return self._joined(plain, matched)

    def _read_block(self, block: bytes, count: int, appends: Sequence[Append], matched: _Matched) -> int:
        place, left = 0, count
        while left > 0:
            rows, end = self._run(block, place)
            if rows:
                matched.rows[self._last] += rows
                matched.ways += [self._last] * len(rows)
                left -= len(rows)
            else:
                end = self._decode(block, place, 1, appends)
                matched.ways.append(-1)
                left -= 1
                self._until_next -= 1
                if self._until_next <= 0 and len(self._templates) < MOST_TEMPLATES and end <= len(block):
                    self._learn(block, place)
            place = end
        if left < 0:
            raise AvroError("a block is damaged: it has more records than it claims")
        return place

    def _run(self, block: bytes, place: int) -> tuple[Sequence[Groups], int]:
        """The records from here on that match one template, the last one's if they can; and the place behind them."""
        for number in (self._last, *range(len(self._templates))) if self._templates else ():
            rows, end = self._templates[number].run(block, place)
            if rows:
                self._last = number
                return rows, end
        return (), place

    def _learn(self, block: bytes, place: int) -> None:
        self._until_next = self._patience
        template = learn(self._schema, self._node, block, place)
        if template is not None:
            self._templates.append(template)

    def _joined(self, plain: Columns, matched: _Matched) -> Columns:
        rows, ways = matched.rows, matched.ways
        if not rows:
            return plain
        by_way = {way: self._templates[way].columns(several, self._width) for way, several in rows.items()}
        if len(by_way) == 1 and len(ways) == len(next(iter(rows.values()))):
            return next(iter(by_way.values()))
        by_way[-1] = plain
        joined = []
        for number in range(self._width):
            values = {way: iter(columns[number]) for way, columns in by_way.items()}
            joined.append([next(values[way]) for way in ways])
        return joined


class _Matched:
    """What templates have read of a file: the groups of records by template, and how each record was read, in their order."""

    def __init__(self) -> None:
        self.rows: defaultdict[int, list[Groups]] = defaultdict(list)
        self.ways: list[int] = []  # the number of its template, -1 for the decoder


@lru_cache(_SCHEMAS)
def _reader_of(schema: bytes, wanted: tuple[Wanted, ...]) -> Reader:
    return Reader(parse_schema(schema), wanted)
