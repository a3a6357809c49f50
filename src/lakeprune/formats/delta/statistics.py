"""File statistics as column domains, in layers of one SELECT.

In: a relation with the statistics of each file as JSON text and, from checkpoints, as typed fields. Out: per column the stored
values (layer 1), a strict second reading where they are odd (2), bounds (3) and the domain engines/engine.py describes (4). JSON
wins over typed fields, file by file (T73). A statistic that is missing or senseless proves nothing (T24, T29, T30).

Numbers are read as doubles, twice as fast as text. Where that could be wrong (true is 1, 3.7 of an integer, more than 2^53,
infinity, NaN) the whole file is read again as text, strictly.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from lakeprune.engines.dialect import Dialect, Shape, carrier
from lakeprune.formats.delta.bounds import (
    Side,
    Stored,
    number_bound,
    strict_integer,
    text_bound,
    typed_bound,
    unsaturated,
)
from lakeprune.formats.relation import Relation
from lakeprune.skipping.ladder import Seen
from lakeprune.values.types import FLOATING_KINDS, INTEGRAL_KINDS, Family, Kind

_TIE_BREAKERS = "\x7f\ufffd\U0010ffff"  # what writers append to a truncated maximum


class StatisticsColumn(Struct, frozen=True):
    """Column number k of the files relation, when its evidence is file statistics."""

    k: int
    seen: Seen
    stored: Stored
    has_bounds: bool
    has_counts: bool

    @property
    def physical(self) -> tuple[str, ...]:
        return self.seen.column.physical

    @property
    def is_number(self) -> bool:
        """Whether JSON holds its bounds as numbers that a double can carry."""
        return self.stored.type.kind in INTEGRAL_KINDS | FLOATING_KINDS


def statistics_column(k: int, seen: Seen, stored: Stored) -> StatisticsColumn:
    column = seen.column
    trusted = column.statistics_unusable is None
    ordered = column.type.family not in (None, Family.BYTES)
    return StatisticsColumn(k, seen, stored, trusted and ordered, trusted and column.type.kind is not Kind.STRUCT)


class StatisticsSql(Struct, frozen=True):
    """The SQL of some statistics columns. `typed` says whether any source has typed statistics."""

    dialect: Dialect
    columns: tuple[StatisticsColumn, ...]
    typed: bool
    nan_aware: str  # SQL: whether the recorded maximum of a file would show NaN

    def parsed(self) -> str:
        """The struct of every needed leaf, from the column `stats`."""
        return self.dialect.parse_json(self._json(), self._shape("STRING" if self._is_quoted() else "DOUBLE"))

    def stored(self) -> list[str]:
        """Layer 1, over the parsed struct `s`: numbers as doubles, everything else as text."""
        items = [f"{self._number(self.dialect.field('s', _ROWS))} AS s_rows"]
        for column in self.columns:
            for part, name, wanted in _parts(column):
                value = self.dialect.field("s", (name, *column.physical)) if wanted and self._is_read(column) else "NULL"
                typed = self._number(value) if part == "n" or column.is_number else f"CAST({value} AS STRING)"
                items.append(f"{typed} AS s{column.k}_{part}")
        return items

    def _number(self, leaf: str) -> str:
        return self.dialect.try_cast(leaf, "DOUBLE") if self._is_quoted() else f"CAST({leaf} AS DOUBLE)"

    def strict(self) -> str:
        """Layer 2, over layer 1: the same leaves as text, of odd files only."""
        numbers, doubts = ["s_rows"], [_is_no_count("s_rows")]
        for column in self.columns:
            numbers.append(f"s{column.k}_n")
            doubts.append(_is_no_count(numbers[-1]))
            if column.is_number:
                bounds = [f"s{column.k}_{side.value}" for side in Side]
                numbers += bounds
                doubts += map(_is_no_count if column.stored.type.family is Family.INTEGER else _is_infinite, bounds)
        # Few files have a 1 to be in doubt about: the text of the others is not searched.
        doubts.append(f"({' OR '.join(f'{number} = 0' for number in numbers)}) AND contains(stats, 'false')")
        is_one = " OR ".join(f"{number} = 1" for number in numbers)
        doubts.append(f"({is_one}) AND contains(stats, 'true') AND contains({_TIGHT}, 'true')")
        # The CASE is outside: Spark interprets whatever stands inside its from_json.
        return f"CASE WHEN {' OR '.join(doubts)} THEN {self.dialect.parse_json(self._json(), self._shape('STRING'))} END"

    def _is_quoted(self) -> bool:
        """Whether numbers are put into quotes before they are read."""
        return any(column.stored.quotes_numbers for column in self.columns)

    def _json(self) -> str:
        if not self._is_quoted():
            return "stats"
        # Digits beyond a double survive only inside quotes. Inside a string value the inserted quote ends the string before a
        # digit, which is not JSON: such text becomes unknown, never wrong.
        return self.dialect.regexp_replace("stats", r'("\s*:\s*)(-?[0-9][0-9.eE+-]*)', r'\1"\2"')

    def typed_items(self, fields: Any, struct: str) -> dict[str, str]:
        """The typed statistics of a source, by name: fields as its schema has them, NULL where it has none."""

        def read(path: Sequence[str], kinds: Sequence[str], type_name: str, *, wanted: bool = True) -> str:
            is_known = wanted and _leaf_type(fields, path) in kinds
            return f"CAST({self.dialect.field(struct, path) if is_known else 'NULL'} AS {type_name})"

        items = {"q_rows": read(_ROWS, _COUNTS, "BIGINT")}
        for column in self.columns:
            k, stored = column.k, column.stored
            for side, name in ((Side.LOW, "minValues"), (Side.HIGH, "maxValues")):
                path = (name, *column.physical)
                kind = _leaf_type(fields, path)
                value = f"CAST(NULL AS {carrier(stored.type)})"
                if kind is not None and column.has_bounds:
                    value = typed_bound(self.dialect, self.dialect.field(struct, path), kind, stored, side)
                items[f"q{k}_{side.value}"] = value
            if stored.type.family is Family.REAL:
                items[f"q{k}_raw"] = read(("maxValues", *column.physical), ("FLOAT", "DOUBLE"), "DOUBLE")
            items[f"q{k}_n"] = read(("nullCount", *column.physical), _COUNTS, "BIGINT", wanted=column.has_counts)
        return items

    def values(self) -> list[str]:
        """Layer 3, over layers 1 and 2: the bounds, from JSON or from typed fields."""
        rows = self._count("s_rows", _ROWS, is_read=True)
        items = [f"{self._either(rows, 'q_rows')} AS recorded_rows"]
        for column in self.columns:
            k, stored, is_read = column.k, column.stored, self._is_read(column)
            for side in Side:
                bound = self._bound(column, side, is_read=is_read and column.has_bounds)
                items.append(f"{self._either(bound, f'q{k}_{side.value}')} AS b{k}_{side.value}")
            if stored.type.family is Family.REAL:
                items.append(f"{self._either(f's{k}_hi', f'q{k}_raw')} AS b{k}_raw")
            count = self._count(f"s{k}_n", ("nullCount", *column.physical), is_read=is_read and column.has_counts)
            items.append(f"{self._either(count, f'q{k}_n')} AS b{k}_n")
        return items

    def _bound(self, column: StatisticsColumn, side: Side, *, is_read: bool) -> str:
        plain = f"s{column.k}_{side.value}"
        if not column.is_number:
            return text_bound(self.dialect, plain, column.stored, side)
        fast = number_bound(self.dialect, plain, column.stored, side)
        if not is_read:
            return fast
        again = self.dialect.field("z", ("minValues" if side is Side.LOW else "maxValues", *column.physical))
        return f"CASE WHEN z IS NULL THEN {fast} ELSE {text_bound(self.dialect, again, column.stored, side)} END"

    def _count(self, plain: str, path: Sequence[str], *, is_read: bool) -> str:
        fast = f"CAST({plain} AS BIGINT)"
        again = strict_integer(self.dialect, self.dialect.field("z", path))
        return f"CASE WHEN z IS NULL THEN {fast} ELSE {again} END" if is_read else fast

    def domains(self, column: StatisticsColumn, names: Relation) -> list[str]:
        """Layer 3, over layer 2: the columns of the files relation."""
        k, named = column.k, column.seen
        sane = f"coalesce(b{k}_lo <= b{k}_hi, TRUE)"  # otherwise both are discarded (T24)
        high, truncated = self._high(column)
        if column.stored.type.family is Family.TEXT and column.has_bounds:
            untruncated = self._untruncated(f"b{k}_hi")
            # "aaa?" for half a surrogate pair sorts below the minimum "aaaa": what both begin with decides, not the rest.
            # A CASE, since engines evaluate both sides of an OR: the regular expressions are for the few truncated values only.
            begins = f"coalesce({self.dialect.starts_with(f'b{k}_lo', untruncated)}, TRUE)"
            sane = f"CASE WHEN {sane} THEN TRUE WHEN {truncated} THEN {begins} ELSE FALSE END"
        count = f"b{k}_n"
        counted = f"coalesce({count} >= 0 AND (recorded_rows IS NULL OR {count} <= recorded_rows), FALSE)"
        items = [
            f"CASE WHEN {sane} THEN {unsaturated(f'b{k}_lo', column.stored.type, Side.LOW)} END AS {names.lo(named)}",
            f"CASE WHEN {sane} THEN {unsaturated(high, column.stored.type, Side.HIGH)} END AS {names.hi(named)}",
            f"{counted} AND {count} = 0 AS {names.no_null(named)}",
            f"{counted} AND coalesce({count} = recorded_rows, FALSE) AS {names.all_null(named)}",
            f"{counted} AS {names.is_counted(named)}",
        ]
        if column.stored.type.family is Family.TEXT:
            items.append(f"{truncated} AS {names.is_truncated(named)}")
        if column.stored.type.family is Family.REAL:
            seen = f"coalesce(b{k}_raw <= CAST('Infinity' AS DOUBLE), FALSE)"  # NaN is above infinity
            items.append(f"{f'{self.nan_aware} AND {seen}' if column.has_bounds else 'FALSE'} AS {names.nan_free(named)}")
            items.append(f"coalesce(b{k}_raw > CAST('Infinity' AS DOUBLE), FALSE) AS {names.has_nan(named)}")
        return items

    def recorded(self, column: StatisticsColumn, names: Relation) -> list[str]:
        """Layer 3, over layer 2: what the log states, before it is judged."""
        k, named, high = column.k, column.seen, self._high(column)[0]
        return [f"b{k}_lo AS {names.first(named)}", f"{high} AS {names.last(named)}", f"b{k}_n AS {names.nulls(named)}"]

    def _high(self, column: StatisticsColumn) -> tuple[str, str]:
        """The maximum without what truncation left at its end, and whether it may be truncated."""
        high = f"b{column.k}_hi"
        if column.stored.type.family is not Family.TEXT or not column.has_bounds:
            return high, "FALSE"
        truncated = f"coalesce({self.dialect.octet_length(high)} >= {column.stored.prefix_length}, FALSE)"
        return f"CASE WHEN {truncated} THEN {self._untruncated(high)} ELSE {high} END", truncated

    def _either(self, from_json: str, from_typed: str) -> str:
        return f"CASE WHEN is_json THEN {from_json} ELSE {from_typed} END" if self.typed else from_json

    def _untruncated(self, text: str) -> str:
        """A possibly truncated maximum without what truncation left at its end (T16); NULL, unbounded, when nothing is left."""
        bare = self.dialect.regexp_replace(text, rf"[{_TIE_BREAKERS}]\z", "")
        bare = self.dialect.regexp_replace(bare, r"\?\z", "")
        return f"NULLIF({bare}, '')"

    def _shape(self, number: str) -> Shape:
        shape: dict[str, Any] = {"numRecords": number}
        for column in self.columns:
            for part, name, wanted in _parts(column):
                if wanted and self._is_read(column):
                    _put(shape, (name, *column.physical), number if part == "n" or column.is_number else "STRING")
        return shape

    def _is_read(self, column: StatisticsColumn) -> bool:
        """Whether the leaf has a place of its own in the shape."""
        return not any(other.k < column.k and _clash(column.physical, other.physical) for other in self.columns)


_ROWS = ("numRecords",)
_COUNTS = ("BIGINT", "INTEGER")  # the types of counts in a checkpoint
_TIGHT = "replace(stats, '\"tightBounds\":true', '')"  # the one boolean that statistics have


def _parts(column: StatisticsColumn) -> tuple[tuple[str, str, bool], ...]:
    """The leaves of a column: what they are called here and in the statistics, and whether they are wanted."""
    return ("lo", "minValues", column.has_bounds), ("hi", "maxValues", column.has_bounds), ("n", "nullCount", column.has_counts)


def _is_no_count(value: str) -> str:
    """Not a whole number that a double holds exactly; NaN is above every number."""
    return f"{value} <> floor({value}) OR abs({value}) > 9007199254740991"


def _is_infinite(value: str) -> str:
    return f"abs({value}) > CAST('1.7976931348623157e308' AS DOUBLE)"


def _put(shape: dict[str, Any], path: Sequence[str], kind: str) -> None:
    *above, last = path
    for name in above:
        shape = shape.setdefault(name, {})
    shape[last] = kind


def _clash(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether two leaves cannot sit in one shape: names that differ only by case, or one leaf inside the other."""
    for a, b in zip(one, other, strict=False):
        if a != b:
            return a.lower() == b.lower()
    return len(one) != len(other)


def _leaf_type(fields: Any, path: Sequence[str]) -> str | None:
    for name in path:
        fields = fields.get(name) if isinstance(fields, dict) else None
    return fields if isinstance(fields, str) else None
