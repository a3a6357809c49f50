"""Partition values as column domains, in SQL. `partition_values.py` states the same rules in Python; a test holds them together.

In: the recorded text of a value. Out: the columns of formats/relation.py for a partition column. Text that not every reader would
understand alike is unknown, never NULL (T46). Values come from `partitionValues` only, never from paths (T43) or from
statistics (T45).
"""

from __future__ import annotations

import re

from msgspec import Struct

from lakeprune.engines.dialect import Dialect, carrier
from lakeprune.formats.delta.bounds import CLOCK, INSTANT, ZONE_MARGIN, strict_date, strict_integer
from lakeprune.formats.relation import Relation
from lakeprune.predicate.tree import Profile
from lakeprune.skipping.ladder import Seen
from lakeprune.values.time.calendar import DAY
from lakeprune.values.time.zones import local_of
from lakeprune.values.types import INTEGER_RANGES, DataType, Family, Kind

ASCII = r"^[\x01-\x5B\x5D-\x7F]*$"  # without the backslash: some writers escape bytes with it
REAL_TEXT = r"^-?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?$"
ZONE_FIRST, ZONE_LAST = "1972-02-01", "2037-12-01"  # where time zone databases agree
_FIXED = re.compile(r"(?:Z|UTC|GMT|UT)?(?:[+-].*)?", re.IGNORECASE)
_LARGEST = {Kind.FLOAT: "3.4028234663852886e38", Kind.DOUBLE: "1.7976931348623157e308"}


def fixed_offset(zone: str) -> int | None:
    """The offset of a zone that has only one, in microseconds; None when it follows rules."""
    return local_of(0, zone) if _FIXED.fullmatch(zone.strip()) else None


class PartitionSql(Struct, frozen=True):
    """Column k of the files relation, when its evidence is the partition value in `t{k}` (absent when `t{k}_missing`)."""

    dialect: Dialect
    k: int | str
    type: DataType
    profile: Profile

    def values(self) -> list[str]:
        """Layer 2: the bounds; both NULL when the text is NULL, empty or not understood."""
        k = self.k
        low, high = self._bounds(f"t{k}")
        items = [f"{low} AS b{k}_lo", f"{high} AS b{k}_hi"]
        if self.type.family is Family.REAL:
            items.append(f"coalesce(t{k} = 'NaN', FALSE) AS b{k}_nan")
        return items

    def domains(self, column: Seen, names: Relation) -> list[str]:
        """Layer 3: the domain."""
        k = self.k
        items = [
            f"b{k}_lo AS {names.lo(column)}",
            f"b{k}_hi AS {names.hi(column)}",
            f"{self.no_null} AS {names.no_null(column)}",
            f"{self.all_null} AS {names.all_null(column)}",
            f"NOT t{k}_missing AND ({self._is_null} OR {self._is_known}) AS {names.is_counted(column)}",
        ]
        if self.type.family is Family.TEXT:
            items.append(f"FALSE AS {names.is_truncated(column)}")
        if self.type.family is Family.REAL:
            items += [f"b{k}_lo IS NOT NULL AS {names.nan_free(column)}", f"b{k}_nan AS {names.has_nan(column)}"]
        return items

    @property
    def no_null(self) -> str:
        # "" of a text column is NULL to the protocol and '' to Spark: it is both (T44).
        value = f"{self._is_known} AND t{self.k} <> ''" if self._is_text else self._is_known
        return f"coalesce({value}, FALSE)"

    @property
    def all_null(self) -> str:
        return f"(NOT t{self.k}_missing AND {self._is_null})"

    @property
    def _is_text(self) -> bool:
        return self.type.kind in (Kind.STRING, Kind.BINARY)

    @property
    def _is_null(self) -> str:
        return f"t{self.k} IS NULL" if self._is_text else f"coalesce(t{self.k} = '', TRUE)"

    @property
    def _is_known(self) -> str:
        if self.type.family is None:
            return f"(t{self.k} IS NOT NULL)"
        nan = f" OR b{self.k}_nan" if self.type.family is Family.REAL else ""
        return f"(b{self.k}_lo IS NOT NULL OR b{self.k}_hi IS NOT NULL{nan})"

    def _bounds(self, text: str) -> tuple[str, str]:
        if self.type.kind is Kind.TIMESTAMP:
            return self._instants(text)
        value = self._value(text)
        return value, value

    def _value(self, text: str) -> str:
        dialect, kind = self.dialect, self.type.kind
        match self.type.family:
            case Family.BOOLEAN:
                return f"CASE {text} WHEN 'true' THEN TRUE WHEN 'false' THEN FALSE END"
            case Family.TEXT:
                return text
            case Family.BYTES:
                return f"CASE WHEN {dialect.regexp_matches(text, ASCII)} THEN {dialect.utf8_bytes(text)} END"
            case Family.REAL:
                return self._real(text)
            case Family.DECIMAL:
                whole = self.type.precision - self.type.scale
                shape = rf"^-?0*[0-9]{{0,{whole}}}(\.[0-9]{{0,{self.type.scale}}})?$"
                fits = f"{dialect.regexp_matches(text, shape)} AND {dialect.regexp_matches(text, '[0-9]')}"
                return f"CASE WHEN {fits} THEN {dialect.try_cast(text, carrier(self.type))} END"
            case Family.INTEGER if kind is Kind.DATE:
                return strict_date(dialect, text)
            case Family.INTEGER if kind is Kind.TIMESTAMP_NTZ:
                return f"CASE WHEN {dialect.regexp_matches(text, CLOCK)} THEN {dialect.micros_of_timestamp(text)} END"
            case Family.INTEGER:
                low, high = INTEGER_RANGES[kind]
                value = strict_integer(dialect, text)
                return f"CASE WHEN {value} BETWEEN {low} AND {high} THEN {value} END"
            case _:
                return "CAST(NULL AS STRING)"

    def _real(self, text: str) -> str:
        value = self.dialect.try_cast(text, "DOUBLE")
        if self.type.kind is Kind.FLOAT:
            value = f"CAST({self.dialect.try_cast(text, 'FLOAT')} AS DOUBLE)"
        largest = f"CAST('{_LARGEST[self.type.kind]}' AS DOUBLE)"
        number = f"{self.dialect.regexp_matches(text, REAL_TEXT)} AND {value} BETWEEN -{largest} AND {largest}"
        return f"CASE WHEN {number} OR {text} IN ('Infinity', '-Infinity') THEN {value} END"

    def _instants(self, text: str) -> tuple[str, str]:
        """The first and last instant the text can stand for (T9)."""
        dialect = self.dialect
        micros = dialect.micros_of_timestamp(text)
        stated = f"WHEN {dialect.regexp_matches(text, INSTANT)} THEN {micros}"
        clock = dialect.regexp_matches(text, CLOCK)
        anywhere = [f"({micros}) {sign} {ZONE_MARGIN}" for sign in "-+"]
        if not self.profile.zone_is_given:
            low, high = anywhere
            return f"CASE {stated} WHEN {clock} THEN {low} END", f"CASE {stated} WHEN {clock} THEN {high} END"
        offset = fixed_offset(self.profile.zone)
        if offset is not None:
            one = f"CASE {stated} WHEN {clock} THEN ({micros}) - ({offset}) END"
            return one, one
        # Near a change of the clocks either offset may be meant; a day before and a day after tell both.
        local = dialect.try_cast(text, "TIMESTAMP")
        shifted = [(days, f"{local} + INTERVAL '{days}' DAY") for days in (-1, 0, 1)]
        around = [f"{dialect.micros_in_zone(clock, self.profile.zone)} - ({days * DAY})" for days, clock in shifted]
        modern = f"{clock} AND {text} BETWEEN '{ZONE_FIRST}' AND '{ZONE_LAST}'"
        sides = [
            f"CASE {stated} WHEN {modern} THEN {pick}({', '.join(around)}) WHEN {clock} THEN {wide} END"
            for pick, wide in zip(("least", "greatest"), anywhere, strict=True)
        ]
        return sides[0], sides[1]
