"""The CASES tables in the docstrings of formats/lifting, read as data."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from lakeprune.formats.lifting.bucket import Bucket
from lakeprune.formats.lifting.day import Day
from lakeprune.formats.lifting.hour import Hour
from lakeprune.formats.lifting.identity import Identity
from lakeprune.formats.lifting.month import Month
from lakeprune.formats.lifting.transform import Range, Transform
from lakeprune.formats.lifting.truncate import Truncate
from lakeprune.formats.lifting.void import Void
from lakeprune.formats.lifting.year import Year
from lakeprune.values.literals import parse_as
from lakeprune.values.time.calendar import HOUR, days_of
from lakeprune.values.types import DataType, Kind

_KINDS = {"int": Kind.INT, **{kind.value: kind for kind in Kind}}
_MADE: dict[str, Callable[[DataType, dict[str, str]], Transform]] = {
    "identity": lambda source, _: Identity(source),
    "void": lambda source, _: Void(source),
    "truncate": lambda source, row: Truncate(source, int(row["width"]), was_int=row["type"].endswith("was int")),
    "year": lambda source, row: Year(source, 0, row["next"] == "yes"),
    "month": lambda source, row: Month(source, 0, row["next"] == "yes"),
    "day": lambda source, row: Day(source, int(row["margin"].split()[0]) * HOUR, row["next"] == "yes"),
    "hour": lambda source, row: Hour(source, 0, row["next"] == "yes"),
}


@dataclass(frozen=True)
class Case:
    name: str
    transform: Transform
    source: DataType
    lower: Any
    upper: Any
    range: Range
    because: str

    def __str__(self) -> str:
        return f"{self.name} {self.source} {self.lower} to {self.upper}: {self.because}"


def all_cases() -> list[Case]:
    return [_case(name, row) for name in _MADE for row in rows(name)]


def hash_cases() -> list[tuple[Bucket, Any, int | None]]:
    """Buckets, a source value and its hash."""
    found = []
    for row in rows("bucket"):
        source = type_of(row["type"])
        found.append((Bucket(source, 16), value(row["source"], source), value(row["hash"], DataType(Kind.INT))))
    return found


def rows(module: str) -> list[dict[str, str]]:
    text = importlib.import_module(f"lakeprune.formats.lifting.{module}").__doc__ or ""
    header, *body = [[cell.strip() for cell in line.split("|")] for line in text.splitlines() if line.count("|") >= 3]
    return [dict(zip(header, cells, strict=True)) for cells in body]


def type_of(text: str) -> DataType:
    if found := re.fullmatch(r"decimal\((\d+),(\d+)\)", text):
        return DataType(Kind.DECIMAL, int(found[1]), int(found[2]))
    return DataType(_KINDS[text.split(",")[0]])


def value(text: str, type_: DataType) -> Any:
    if text in ("NULL", "?"):
        return None
    match type_.kind:
        case Kind.STRING:
            return text
        case Kind.BINARY:
            return bytes.fromhex(text.removeprefix("0x"))
        case Kind.DOUBLE:
            return float(text)
        case Kind.DECIMAL:
            return Decimal(text)
        case Kind.DATE if found := re.fullmatch(r"(\d{4})-(\d\d)-(\d\d)", text):
            return days_of(*map(int, found.groups()))
        case Kind.TIMESTAMP | Kind.TIMESTAMP_NTZ if "T" in text:
            return parse_as(text, DataType(Kind.TIMESTAMP_NTZ), "UTC")
        case _:
            return int(text)


def _case(name: str, row: dict[str, str]) -> Case:
    source = type_of(row["type"])
    given = source if name in ("identity", "truncate", "void") else DataType(Kind.INT)
    lower, _, upper = row["value"].partition(" to ")
    high = row["hi"]
    found = Range(value(row["lo"], source), value(high.removesuffix("..."), source), high.endswith("..."))
    return Case(name, _MADE[name](source, row), source, value(lower, given), value(upper or lower, given), found, row["because"])
