"""The domain of a column as the values of the partition columns show it that are generated from it, in SQL.

In: a `Source`. Out: the columns of formats/relation.py. What a value v proves, by the clock of the writer:

    c                                c = v
    CAST(c AS DATE)                  the day; the hour beside HOUR(c)
    YEAR(c)                          the year; beside MONTH, DAY, HOUR the month, the day, the hour
    DATE_TRUNC, TRUNC                from v to one unit later
    DATE_FORMAT                      the upper end; none below, since the year 2000 before our era is `yyyy` 2000 too
    SUBSTRING(c, 1, n)               c begins with v, and is v where v is shorter than n

NULL gives NULL, and nothing else does: a value proves that there is no NULL, and NULL that there is nothing else. Text is the
exception, for writers store '' as NULL.

The writer's clock is that of its session, which nobody recorded: a TIMESTAMP may lie 18 hours to either side, and a clock that
was set back makes a unit longer. The tempting wrong answer is to take the reader's zone: a file for 2024-01-02 that was written
in Tokyo holds rows of 2024-01-01 in UTC. A DATE and a TIMESTAMP_NTZ have no zone, but DATE_FORMAT and DATE_TRUNC take them
through a TIMESTAMP, and a gap in the writer's clock then moves them by up to a day. Values that contradict each other prove
nothing.
"""

from __future__ import annotations

from msgspec import Struct

from lakeprune.engines.dialect import Dialect
from lakeprune.formats.delta.bounds import ZONE_MARGIN, strict_date
from lakeprune.formats.delta.generated_columns import LARGE_UNITS, SMALL_UNITS, Form, Generated, Source
from lakeprune.formats.delta.partition_sql import PartitionSql
from lakeprune.formats.lifting.day import Day
from lakeprune.formats.lifting.hour import Hour
from lakeprune.formats.lifting.month import Month
from lakeprune.formats.lifting.transform import SqlRange, unbounded
from lakeprune.formats.lifting.year import Year
from lakeprune.formats.relation import Relation
from lakeprune.predicate.tree import Profile
from lakeprune.skipping.ladder import Seen
from lakeprune.values.time.calendar import DAY
from lakeprune.values.types import DATE, Family, Kind

GAP = DAY  # no clock was ever moved further at once
_UNKNOWN_ZONE = Profile(0)
_DAYS = {  # of DATE_FORMAT: the shape of a value, its first day, and how many may follow, a gap of the clock included
    "yyyy-MM-dd": (r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$", "{0}", 1),
    "yyyyMMdd": (r"^[0-9]{8}$", "substr({0}, 1, 4) || '-' || substr({0}, 5, 2) || '-' || substr({0}, 7, 2)", 1),
    "yyyy-MM": (r"^[0-9]{4}-[0-9]{2}$", "{0} || '-01'", 31),
    "yyyyMM": (r"^[0-9]{6}$", "substr({0}, 1, 4) || '-' || substr({0}, 5, 2) || '-01'", 31),
    "yyyy": (r"^[0-9]{4}$", "{0} || '-01-01'", 366),
    "yyyy-MM-dd-HH": (r"^[0-9]{4}-[0-9]{2}-[0-9]{2}-[0-9]{2}$", "substr({0}, 1, 10)", 1),
}


class LiftedSql(Struct, frozen=True):
    """Column number k of the files relation, when its evidence is partition values that are generated from it."""

    dialect: Dialect
    k: int
    source: Source

    def values_of(self) -> list[tuple[Generated, PartitionSql]]:
        """The partition columns, each with the SQL of its own values; zones of readers say nothing about writers."""
        return [
            (column, PartitionSql(self.dialect, f"{self.k}_{number}", column.type, _UNKNOWN_ZONE))
            for number, column in enumerate(self.source.columns)
        ]

    def values(self) -> list[str]:
        """Layer 2: the bounds of the generated columns."""
        return [item for _, sql in self.values_of() for item in sql.values()]

    def steps(self) -> list[list[str]]:
        """Between layers 2 and 3: numbers of months, days and hours, then the ends. Each is used many times and computed once."""
        k, columns = self.k, [sql for _, sql in self.values_of()]
        all_null = " OR ".join(sql.all_null for sql in columns)
        known = [
            f"({' OR '.join(sql.no_null for sql in columns)}) AS l{k}_no_null",
            f"{'FALSE' if self._is_text else f'({all_null})'} AS l{k}_all_null",
        ]
        if self._is_text:
            return [[], [], [], known]
        months, days, hours, ranges = self._ranges()
        lows, highs = (", ".join(ends) for ends in zip(*((found.lo, found.hi) for found in ranges), strict=True))
        return [months, days, hours, [f"greatest({lows}) AS l{k}_lo", f"least({highs}) AS l{k}_hi", *known]]

    def domains(self, seen: Seen, names: Relation) -> list[str]:
        """Layer 3: the domain."""
        low, high, truncated = self._text() if self._is_text else (f"l{self.k}_lo", f"l{self.k}_hi", "FALSE")
        no_null, all_null = f"l{self.k}_no_null", f"l{self.k}_all_null"
        sane = f"(coalesce({low} <= {high}, TRUE) AND NOT ({no_null} AND {all_null}))"
        items = [
            f"CASE WHEN {sane} THEN {low} END AS {names.lo(seen)}",
            f"CASE WHEN {sane} THEN {high} END AS {names.hi(seen)}",
            f"{sane} AND {no_null} AS {names.no_null(seen)}",
            f"{sane} AND {all_null} AS {names.all_null(seen)}",
            f"{sane} AND ({no_null} OR {all_null}) AS {names.is_counted(seen)}",
        ]
        return [*items, f"{sane} AND {truncated} AS {names.is_truncated(seen)}"] if self._is_text else items

    @property
    def _is_text(self) -> bool:
        return self.source.type.family is Family.TEXT

    def _text(self) -> tuple[str, str, str]:
        """Bounds, and whether the upper one is a prefix: of the column that says most."""
        prefixes = [(int(column.argument or 0), f"b{sql.k}_lo") for column, sql in self.values_of()]
        length, value = min(prefixes, key=lambda prefix: (prefix[0] > 0, -prefix[0]))  # the whole value, or its longest prefix
        return value, value, "FALSE" if length == 0 else f"coalesce(length({value}) >= {length}, FALSE)"

    def _ranges(self) -> tuple[list[str], list[str], list[str], list[SqlRange]]:
        """The numbers that ranges need, step by step, and the ranges."""
        source, zone = self.source.type, ZONE_MARGIN if self.source.type.kind is Kind.TIMESTAMP else 0
        months: list[str] = []
        days: list[str] = []
        hours: list[str] = []
        fields: dict[Form, str] = {}
        found = [unbounded(source)]
        for column, sql in self.values_of():
            value, high = f"b{sql.k}_lo", f"b{sql.k}_hi"
            fields[column.form] = value
            match column.form:
                case Form.IDENTITY:
                    found.append(SqlRange(value, high))
                case Form.DATE:
                    found.append(Day(source, zone).sql(self.dialect, value, value))
                case Form.TRUNC:
                    last = f"({value} + {LARGE_UNITS[column.argument.upper()] - 1})"
                    found.append(Day(source, zone).sql(self.dialect, value, last))
                case Form.DATE_FORMAT:
                    shape, first, following = _DAYS[column.argument]
                    first_day = strict_date(self.dialect, f"({first.format(f't{sql.k}')})")
                    matches = self.dialect.regexp_matches(f"t{sql.k}", shape)
                    days.append(f"CASE WHEN {matches} THEN {first_day} END + {following} AS n{sql.k}_last")
                    last = f"n{sql.k}_last"
                    found.append(SqlRange(unbounded(source).lo, Day(source, zone).sql(self.dialect, last, last).hi))
                case Form.DATE_TRUNC:
                    unit = (LARGE_UNITS | SMALL_UNITS)[column.argument.upper()] * DAY
                    # The bounds of a timestamp without offset allow for every zone already.
                    margin = 0 if source.kind is Kind.TIMESTAMP else ZONE_MARGIN + GAP
                    found.append(SqlRange(f"({value} - {margin})", f"({high} + {unit + GAP + margin})"))
        # The year, and whatever follows it without a gap; an hour needs the day.
        day, hour = fields.get(Form.DATE), fields.get(Form.HOUR)
        year, month, number = (fields.get(form) for form in (Form.YEAR, Form.MONTH, Form.DAY))
        if year is not None:
            found.append(Year(source, zone).sql(self.dialect, f"({year} - 1970)", f"({year} - 1970)"))
        if year is not None and month is not None:
            since = f"n{self.k}_months"
            months.append(f"CASE WHEN {month} BETWEEN 1 AND 12 THEN ({year} - 1970) * 12 + {month} - 1 END AS {since}")
            found.append(Month(source, zone).sql(self.dialect, since, since))
            if number is not None:
                first_day, date = Month(DATE).sql(self.dialect, since, since).lo, f"n{self.k}_date"
                days.append(f"CASE WHEN {number} BETWEEN 1 AND 31 THEN {first_day} + {number} - 1 END AS {date}")
                found.append(Day(source, zone).sql(self.dialect, date, date))
                day = day or date
        if day is not None and hour is not None:
            since = f"n{self.k}_hours"
            hours.append(f"CASE WHEN {hour} BETWEEN 0 AND 23 THEN {day} * 24 + {hour} END AS {since}")
            found.append(Hour(source, zone).sql(self.dialect, since, since))
        return months, days, hours, found
