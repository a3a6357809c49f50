"""Columns of an Avro file.

In: the bytes of a file, what is wanted of each record. Out: one list per column, all of one length, in the order of the records.
Values are Avro's: bytes for decimals, numbers for dates. Decoders and templates are made once per writer's schema.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from typing import Any

from lakeprune.formats.iceberg.avro.container import EMPTY_RECORDS, Header, blocks_of, read_header
from lakeprune.formats.iceberg.avro.decoder import Append, Decode, damaged, decoder_of
from lakeprune.formats.iceberg.avro.schema import AvroError, AvroType, least_size, parse_schema
from lakeprune.formats.iceberg.avro.templates import Groups, Template, learn
from lakeprune.formats.iceberg.avro.wanted import Node, Wanted, find

MOST_TEMPLATES = 32
_WORTH_LEARNING = 100  # records: compiling a pattern, or the decoder, takes as long as the decoder takes for so many
_SCHEMAS = 64

Columns = list[list[Any]]


def read_columns(data: bytes, wanted: Sequence[Wanted]) -> Columns:
    """The wanted columns of the file. Raises AvroError when it is damaged or cannot be read here."""
    return columns_of(data, read_header(data), wanted)


def columns_of(data: bytes, header: Header, wanted: Sequence[Wanted]) -> Columns:
    """The same where the header is read already."""
    return _reader_of(header.schema, tuple(wanted)).read(blocks_of(data, header))


class Reader:
    """Reads records of one schema; what it has learned of their shapes serves the next file too, also in another thread."""

    def __init__(self, schema: AvroType, wanted: Sequence[Wanted], patience: int = _WORTH_LEARNING) -> None:
        self._schema = schema
        self._node: Node = find(schema, wanted)
        self._width = len(wanted)
        self._least = least_size(schema)
        self._templates: list[Template] = []
        self._last = 0  # the template that has matched last
        self._patience = patience
        self._is_new = True  # nothing was tried to learn yet
        self._unlearned = 0  # records that the decoder has read since then

    @cached_property
    def _decode(self) -> Decode:
        """Made when it is needed: where all records have the shape of the first it is not."""
        return decoder_of(self._schema, self._node, self._width)

    def read(self, blocks: Iterable[tuple[int, Sequence[bytes]]]) -> Columns:
        """The columns of the records in blocks of so many each."""
        found = _Found(self._width)
        try:
            for count, several in blocks:
                if count == 1:
                    self._read_alone(several, found)
                    continue
                for block in several:
                    self._read_block(block, count, found)
            return found.columns(self._templates)
        except (IndexError, UnicodeDecodeError) as error:
            raise damaged(error) from error

    def _read_alone(self, blocks: Sequence[bytes], found: _Found) -> None:
        """Blocks of one record, as PyIceberg writes them."""
        if not self._templates:
            self._learn(blocks[0], 0, len(blocks))
        number = self._last
        rows = self._templates[number].each(blocks) if self._templates else [None] * len(blocks)
        if len(whole := [row for row in rows if row is not None]) == len(blocks):
            found.add(number, whole)
            return
        for block, row in zip(blocks, rows, strict=True):
            if row is None:
                self._read_block(block, 1, found)
            else:
                found.add(number, [row])

    def _read_block(self, block: bytes, count: int, found: _Found) -> None:
        if count > (len(block) // self._least if self._least else EMPTY_RECORDS):
            raise AvroError("a block is damaged: it claims more records than it has bytes")
        if not self._templates and self._unlearned + count < self._patience:
            place, left = self._decoded(block, 0, count, found), 0
        else:
            place, left = self._matched(block, count, found)
        if left < 0:
            raise AvroError("a block is damaged: it has more records than it claims")
        if place != len(block):
            raise AvroError("a block is damaged: its records do not fill it")

    def _decoded(self, block: bytes, place: int, count: int, found: _Found) -> int:
        self._unlearned += count
        found.ways += [-1] * count
        return self._decode(block, place, count, found.appends)

    def _matched(self, block: bytes, left: int, found: _Found) -> tuple[int, int]:
        """Reads records by templates, those of other shapes by the decoder: the place behind them, and how many are missing."""
        place = 0
        while left > 0:
            number, rows, end = self._run(block, place)
            if rows:
                found.add(number, rows)
                left -= len(rows)
                place = end
            elif not self._learn(block, place, left):
                place = self._decoded(block, place, 1, found)
                left -= 1
        return place, left

    def _run(self, block: bytes, place: int) -> tuple[int, list[Groups], int]:
        """The records from here on that match one template, the last one's if they can: its number, and the place behind them."""
        for number in (self._last, *range(len(self._templates))) if self._templates else ():
            rows, end = self._templates[number].run(block, place)
            if rows:
                self._last = number
                return number, rows, end
        return 0, [], place

    def _learn(self, block: bytes, place: int, waiting: int) -> bool:
        """Whether something was learned of the record at this place: it, or those that wait after it, should be worth it."""
        if self._unlearned + (waiting if self._is_new else 0) < self._patience or len(self._templates) >= MOST_TEMPLATES:
            return False
        template = learn(self._schema, self._node, block, place, is_first=not self._templates)
        self._is_new, self._unlearned = False, 0
        if template is not None:
            self._templates.append(template)
        return template is not None


class _Found:
    """What was read of a file: columns by the decoder, groups of records by template, and how each was read, in their order."""

    def __init__(self, width: int) -> None:
        self._plain: Columns = [[] for _ in range(width)]
        self._rows: defaultdict[int, list[Groups]] = defaultdict(list)
        self.appends: list[Append] = [column.append for column in self._plain]
        self.ways: list[int] = []  # the number of its template, -1 for the decoder

    def add(self, number: int, rows: Sequence[Groups]) -> None:
        """Records that the template with this number has matched."""
        self._rows[number] += rows
        self.ways += [number] * len(rows)

    def columns(self, templates: Sequence[Template]) -> Columns:
        if not self._rows:
            return self._plain
        width = len(self._plain)
        by_way = {way: templates[way].columns(several, width) for way, several in self._rows.items()}
        if len(by_way) == 1 and len(self.ways) == len(next(iter(self._rows.values()))):
            return next(iter(by_way.values()))
        by_way[-1] = self._plain
        joined = []
        for number in range(width):
            values = {way: iter(columns[number]) for way, columns in by_way.items()}
            joined.append([next(values[way]) for way in self.ways])
        return joined


@lru_cache(_SCHEMAS)
def _reader_of(schema: bytes, wanted: tuple[Wanted, ...]) -> Reader:
    return Reader(parse_schema(schema), wanted)
