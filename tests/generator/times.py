"""Functions of dates and timestamps, in both languages wherever the two can be made to agree exactly."""

from __future__ import annotations

from random import Random

from tests.generator.literals import Domain, Value, date, integer, timestamp, timestamp_ntz
from tests.generator.nodes import UNJUDGED, Said
from tests.generator.texts import date_text
from tests.generator.values import DAY

TIMES = ("date", "timestamp", "timestamp_ntz")
SQL_NAMES = {"date": "DATE", "timestamp": "TIMESTAMP", "timestamp_ntz": "TIMESTAMP_NTZ"}
_UNITS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
_SIZES = {"DAY": DAY, "HOUR": DAY // 24, "MINUTE": 60_000_000, "SECOND": 1_000_000, "MONTH": 30 * DAY, "YEAR": 365 * DAY}


def is_roomy(value: Value) -> bool:
    """Whether moving it a little stays inside the years that all languages know."""
    return min(_days(value)) > -700_000 and max(_days(value)) < 2_900_000


def year(value: Value, _zone: str, rng: Random) -> Domain:
    def literal() -> Said:
        return integer(max(1, int(date_text(rng.choice(_days(value)))[:4]) + rng.choice([0, 0, -1, 1])))

    return Domain(Said(f"year({value.spark})", f"year({value.duckdb})"), literal, "integer")


def month(value: Value, _zone: str, rng: Random) -> Domain:
    return Domain(Said(f"month({value.spark})", f"month({value.duckdb})"), lambda: integer(rng.randint(1, 12)), "integer")


def date_field(value: Value, _zone: str, rng: Random) -> Domain:
    word, top = rng.choice(
        [("quarter", 4), ("day", 31), ("dayofmonth", 31), ("dayofweek", 7), ("dayofyear", 366), ("weekofyear", 53)]
    )
    duck = f"(dayofweek({value.duckdb}) + 1)" if word == "dayofweek" else f"{word}({value.duckdb})"
    return Domain(Said(f"{word}({value.spark})", duck), lambda: integer(rng.randint(1, top)), "integer")


def time_field(value: Value, _zone: str, rng: Random) -> Domain:
    word = rng.choice(["hour", "minute", "second"])
    duck = UNJUDGED if value.type == "date" else f"{word}({value.duckdb})"
    return Domain(Said(f"{word}({value.spark})", duck), lambda: integer(rng.randint(0, 59)), "integer")


def truncated(value: Value, zone: str, rng: Random) -> Domain:
    if value.type == "date":
        unit = rng.choice(["year", "quarter", "month", "week"])
        word = {"year": "YEAR", "quarter": "QUARTER", "month": "MM", "week": "WEEK"}[unit]
        made = Said(f"trunc({value.spark}, '{word}')", f"CAST(date_trunc('{unit}', {value.duckdb}) AS DATE)")
        return Domain(made, lambda: _start_of(rng.choice(_days(value)), unit, rng), "date")
    unit = rng.choice(_UNITS)
    said = Said(f"date_trunc('{unit.upper()}', {value.spark})", f"date_trunc('{unit}', {value.duckdb})")
    if value.type == "timestamp_ntz":
        return Domain(said, lambda: timestamp_ntz(_whole(rng.choice(value.pool), unit, rng), rng), "timestamp_ntz")
    return Domain(said, lambda: timestamp(_whole(rng.choice(value.pool), unit, rng), zone, rng), "timestamp")


def truncated_otherwise(value: Value, zone: str, rng: Random) -> Domain:
    """TRUNC of a timestamp, DATE_TRUNC of a date, and a unit that does not exist: NULL."""
    unit = rng.choice([*(word.upper() for word in _UNITS), "week", "nonsense"])
    days = [max(-700_000, min(2_900_000, day)) for day in _days(value)]
    if rng.random() < 0.5:
        return Domain(Said(f"trunc({value.spark}, '{unit}')", UNJUDGED), lambda: date(rng.choice(days), rng), "date")
    said = Said(f"date_trunc('{unit}', {value.spark})", UNJUDGED)
    return Domain(said, lambda: timestamp(rng.choice(days) * DAY, zone, rng), "timestamp")


def day(value: Value, _zone: str, rng: Random) -> Domain:
    spark = rng.choice(["to_date({})", "date({})", "cast({} as date)"]).format(value.spark)
    said = Said(spark, f"CAST({value.duckdb} AS DATE)")
    return Domain(said, lambda: date(rng.choice(_days(value)) + rng.choice([0, 0, 1, -1]), rng), "date")


def as_another_time(value: Value, zone: str, rng: Random) -> Domain:
    kind = rng.choice([name for name in TIMES if name != value.type])
    said = Said(f"CAST({value.spark} AS {SQL_NAMES[kind]})", UNJUDGED)
    if kind == "date":
        return Domain(said, lambda: date(rng.choice(_days(value)), rng), kind)
    if kind == "timestamp":
        return Domain(said, lambda: timestamp(rng.choice(_days(value)) * DAY, zone, rng), kind)
    return Domain(said, lambda: timestamp_ntz(rng.choice(_days(value)) * DAY, rng), kind)


def shifted_day(value: Value, _zone: str, rng: Random) -> Domain | None:
    if value.type == "date" and not is_roomy(value):
        return None
    days = rng.randint(-40, 40)
    spark = rng.choice([f"date_add({value.spark}, {days})", f"date_sub({value.spark}, {-days})"])
    duck = f"({value.duckdb} + ({days}))" if value.type == "date" else f"(CAST({value.duckdb} AS DATE) + ({days}))"
    return Domain(Said(spark, duck), lambda: date(rng.choice(_days(value)) + days + rng.choice([0, 1, -1]), rng), "date")


def shifted_month(value: Value, _zone: str, rng: Random) -> Domain:
    months = rng.randint(-40, 40)
    said = Said(f"add_months({value.spark}, {months})", UNJUDGED)
    return Domain(said, lambda: date(rng.choice(_days(value)) + 30 * months + rng.randint(-3, 3), rng), "date")


def moved(value: Value, zone: str, rng: Random) -> Domain | None:
    if not is_roomy(value):
        return None
    units = ["DAY", "MONTH", "YEAR"] if value.type == "date" else ["DAY", "HOUR", "MINUTE", "MONTH", "SECOND"]
    unit, count, sign = rng.choice(units), rng.choice([1, 2, 13, 31]), rng.choice(["+", "-"])
    spark = rng.choice([f"INTERVAL {count} {unit}", f"INTERVAL '{count}' {unit}"])
    said = Said(f"{value.spark} {sign} {spark}", f"({value.duckdb} {sign} INTERVAL {count} {unit})")
    shift = _SIZES[unit] * count * (1 if sign == "+" else -1)
    if value.type == "date":
        there = Said(said.spark, f"CAST({said.duckdb} AS DATE)")
        return Domain(there, lambda: date((rng.choice(value.pool) * DAY + shift) // DAY + rng.randint(-2, 2), rng), "date")

    def near() -> int:
        return int(rng.choice(value.pool)) + shift + rng.choice([0, 0, 1, DAY])

    if value.type == "timestamp":
        return Domain(said, lambda: timestamp(near(), zone, rng), "timestamp")
    return Domain(said, lambda: timestamp_ntz(near(), rng), "timestamp_ntz")


def days_between(value: Value, _zone: str, rng: Random) -> Domain:
    days = _days(value)
    base = date_text(rng.choice(days))
    said = Said(f"datediff({value.spark}, DATE '{base}')", f"(CAST({value.duckdb} AS DATE) - DATE '{base}')")
    return Domain(said, lambda: integer(rng.choice(days) - rng.choice(days) + rng.randint(-1, 1)), "integer")


def last_day(value: Value, _zone: str, rng: Random) -> Domain | None:
    if not is_roomy(value):
        return None
    said = Said(f"last_day({value.spark})", f"last_day({value.duckdb})")
    return Domain(said, lambda: date(rng.choice(_days(value)) + rng.randint(0, 30), rng), "date")


def unix_time(value: Value, _zone: str, rng: Random) -> Domain:
    micros = f"epoch_us({value.duckdb})"
    seconds = f"CAST(({micros} - ((({micros} % 1000000) + 1000000) % 1000000)) // 1000000 AS HUGEINT)"
    spark = rng.choice(["unix_timestamp({})", "unix_timestamp({})", "cast({} as bigint)"]).format(value.spark)
    said = Said(spark, seconds) if value.type == "timestamp" else Said(f"unix_timestamp({value.spark})", UNJUDGED)
    moments = [moment * 86_400 if value.type == "date" else moment // 1_000_000 for moment in value.pool]
    return Domain(said, lambda: integer(rng.choice(moments) + rng.choice([0, 0, 1, -1])), "long")


def _days(value: Value) -> list[int]:
    return [v if value.type == "date" else v // DAY for v in value.pool]


def _start_of(days: int, unit: str, rng: Random) -> Said:
    text = date_text(days)
    start = {"year": f"{text[:4]}-01-01", "month": f"{text[:7]}-01"}.get(unit, text)
    return Said(f"DATE '{start}'", f"DATE '{start}'") if rng.random() < 0.7 else date(days, rng)


def _whole(micros: int, unit: str, rng: Random) -> int:
    size = _SIZES.get(unit.upper(), DAY) if unit in ("day", "hour", "minute", "second") else DAY
    return micros // size * size if rng.random() < 0.7 else micros
