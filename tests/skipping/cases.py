"""The CASES tables in the docstrings of skipping/leaves, read as data.

predicate | type | min max nulls rows nan | mask | verdict | because
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from lakeprune.engines.reference import Domain
from lakeprune.values.types import FLOATING_KINDS, DataType, Kind

LEAVES = ("membership", "nulls", "columns")
_TYPES = {"int": Kind.INT, "double": Kind.DOUBLE, "string": Kind.STRING, "boolean": Kind.BOOLEAN}


@dataclass(frozen=True)
class Case:
    leaf: str
    predicate: str
    types: dict[str, DataType]
    domains: dict[str, Domain]
    mask: frozenset[str]
    verdict: str
    because: str

    def __str__(self) -> str:
        return f"{self.leaf}: {self.predicate} because {self.because}"


def all_cases() -> list[Case]:
    """Every row of every table."""
    return [case for leaf in LEAVES for case in _cases(leaf)]


def _cases(leaf: str) -> list[Case]:
    docstring = importlib.import_module(f"lakeprune.skipping.leaves.{leaf}").__doc__ or ""
    rows = [line.strip().split("|") for line in docstring.splitlines() if line.count("|") >= 5]
    header, *body = [[cell.strip() for cell in row] for row in rows]
    read = _two_columns if any(cell.startswith("a:") for cell in header) else _one_column
    return [read(leaf, cells) for cells in body]


def _one_column(leaf: str, cells: list[str]) -> Case:
    predicate, type_name, statistics, mask, verdict, because = cells
    type_ = DataType(_TYPES[type_name])
    low, high, nulls, rows, nan = statistics.split()
    name = "".join(c if c.isalnum() else " " for c in predicate.replace("NOT", "")).split()[0]
    domain = _domain(type_, (low, high), nulls, rows, nan)
    return Case(leaf, predicate, {name: type_}, {name: domain}, frozenset(mask), verdict, because)


def _two_columns(leaf: str, cells: list[str]) -> Case:
    predicate, type_name, left, right, shared, mask, verdict, because = cells
    type_ = DataType(_TYPES[type_name])
    rows, nan = shared.split()
    domains = {}
    for name, statistics in (("a", left), ("b", right)):
        low, high, nulls = statistics.split()
        domains[name] = _domain(type_, (low, high), nulls, rows, nan)
    return Case(leaf, predicate, dict.fromkeys(domains, type_), domains, frozenset(mask), verdict, because)


def _domain(type_: DataType, bounds: tuple[str, str], nulls: str, rows: str, nan: str) -> Domain:
    low, high = (None if text in "?-" else _value(text, type_) for text in bounds)
    return Domain(
        low,
        high,
        no_null=nulls == "0",
        all_null=nulls != "?" and rows != "?" and nulls == rows,
        nan_free=nan == "-" or type_.kind not in FLOATING_KINDS,
        counted=nulls != "?",
    )


def _value(text: str, type_: DataType) -> Any:
    match type_.kind:
        case Kind.INT:
            return int(text)
        case Kind.DOUBLE:
            return float(text)
        case Kind.BOOLEAN:
            return text == "true"
        case Kind.DECIMAL:
            return Decimal(text)
        case _:
            return text
