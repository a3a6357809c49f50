"""Predicates of the generator as bound trees, and rows for them: for tests in which `evaluate` is the judge.

Hypothesis gives the seeds: numbers of its own are not spread evenly, and rare functions would never come. There is a column of
every type, named by one letter, and partition columns of some, named `p_` and the letter.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from hypothesis import assume, reject
from hypothesis import strategies as st

from lakeprune.errors import PredicateError
from lakeprune.predicate.bind.bind import bind
from lakeprune.predicate.read.sql.parse import parse_predicate
from lakeprune.predicate.schema import Field, Schema
from lakeprune.predicate.tree import Column, Expr, IsNull, Profile
from lakeprune.values.types import Scalar
from tests.generator.columns import ColumnSpec, data_type
from tests.generator.functions import function_of
from tests.generator.nodes import say
from tests.generator.predicates import random_predicate
from tests.generator.values import DAY, DECIMALS, INTEGERS, NAN, neighbours, pool, scaled, to_float32

_NAMES = {
    "b": "boolean",
    "h": "short",
    "i": "integer",
    "l": "long",
    "f": "float",
    "x": "double",
    "m": "decimal(10,2)",
    "s": "string",
    "y": "binary",
    "d": "date",
    "t": "timestamp",
    "n": "timestamp_ntz",
}
ZONES = ("UTC", "America/St_Johns", "America/New_York", "Pacific/Apia", "+05:30")
_ST_JOHNS = 1_289_097_000_000_000  # 2010-11-07T02:30Z: clocks in St. John's go from 00:01 back to 23:01
_APIA = 1_325_239_200_000_000  # the night Samoa skipped a day
_CLOCK_CHANGES = [at + hours * DAY // 24 for at in (_ST_JOHNS, _APIA) for hours in (-30, -24, -3, -1, 0, 1, 3, 21, 24)]
_LETTERS = "ab%_\\aé\ud7ff\ue000\U0001f33c\U0010ffff"


def _spec(name: str, type_: str, *, partition: bool) -> ColumnSpec:
    """A column whose pool is wider than that of a generated table."""
    values = {value for seed in range(4) for value in pool(type_, Random(seed))}
    if type_ in ("timestamp", "timestamp_ntz"):
        values |= {*_CLOCK_CHANGES}
    elif type_ == "date":
        values |= {at // DAY for at in _CLOCK_CHANGES}
    label = f"p_{name}" if partition else name
    return ColumnSpec((label,), (label,), type_, partition, tuple(sorted(values)))


DATA = tuple(_spec(name, type_, partition=False) for name, type_ in _NAMES.items())
EVERY = (*DATA, *(_spec(name, _NAMES[name], partition=True) for name in "bixsdt"))
COLUMNS = {spec.path[0]: spec.bound for spec in DATA}
TYPES = {name: data_type(type_) for name, type_ in _NAMES.items()}
_SCHEMA = Schema(tuple(Field(spec.path[0], spec.path[0], spec.bound.type, spec.bound.role) for spec in EVERY))


RANDOMS = st.integers(0, 2**64).map(Random)


class Asked(NamedTuple):
    """A predicate, or a value, as a session reads it."""

    tree: Expr
    profile: Profile


@st.composite
def predicates(draw: st.DrawFn, columns: Sequence[ColumnSpec], depth: int = 2) -> Asked:
    rng = draw(RANDOMS)
    return _bound(say(random_predicate(columns, "UTC", rng, depth, judged=False)).spark, draw(st.sampled_from(ZONES)))


@st.composite
def values(draw: st.DrawFn, columns: Sequence[ColumnSpec]) -> Asked:
    """A function of a column, or a function of that."""
    rng = draw(RANDOMS)
    domain = function_of(rng.choice(columns), "UTC", rng, judged=False)
    assume(domain is not None)
    assert domain is not None
    test, profile = _bound(f"({domain.column.spark}) IS NULL", draw(st.sampled_from(ZONES)))
    assume(isinstance(test, IsNull))
    assert isinstance(test, IsNull)
    return Asked(test.part, profile)


def _bound(text: str, zone: str) -> Asked:
    profile = Profile(now=0, zone=zone)
    try:
        return Asked(bind(parse_predicate(text, profile), _SCHEMA, profile, text), profile)
    except PredicateError:
        reject()  # some patterns are errors


@st.composite
def rows(draw: st.DrawFn, columns: Sequence[ColumnSpec]) -> dict[Column, Scalar]:
    rng = draw(RANDOMS)
    return {spec.bound: None if rng.random() < 0.2 else value_of(spec.type, rng, spec.pool) for spec in columns}


def value_of(type_: str, rng: Random, near: Sequence[Scalar]) -> Scalar:
    """A value of the pool or beside it, or any that the type has."""
    found: Scalar = rng.choice(near)
    if rng.random() < 0.8:
        beside: Scalar = rng.choice(neighbours(found, type_))
        return beside if _is_valid(beside, type_) else found
    if type_ in INTEGERS:
        top = 2 ** INTEGERS[type_]
        return rng.randint(-top, top - 1)
    if type_ in DECIMALS:
        precision, scale = DECIMALS[type_]
        return scaled(rng.randint(1 - 10**precision, 10**precision - 1), scale)
    if type_ in ("float", "double"):
        drawn: float = NAN if rng.random() < 0.4 else struct.unpack("d", struct.pack("Q", rng.getrandbits(64)))[0]
        return to_float32(drawn) if type_ == "float" else drawn
    if type_ == "string":
        return "".join(rng.choice(_LETTERS) for _ in range(rng.randint(0, 4)))
    if type_ == "date":
        return rng.choice([rng.randint(-800_000, 3_000_000), -(2**31), 2**31 - 1])
    if type_ in ("timestamp", "timestamp_ntz"):
        return rng.randint(-200, 22_000) * DAY + rng.randint(0, 23) * DAY // 24
    return found


def _is_valid(value: Scalar, type_: str) -> bool:
    if type_ in INTEGERS:
        top: int = 2 ** INTEGERS[type_]
        return isinstance(value, int) and -top <= value < top
    if type_ in DECIMALS:
        precision, scale = DECIMALS[type_]
        units = value * 10**scale if not isinstance(value, str | bytes | None) else 0
        return units == int(units) and abs(units) < 10**precision
    if type_ == "float":
        return isinstance(value, float) and (math.isnan(value) or to_float32(value) == value)
    return True
