"""The keys of the source, measured: one aggregation over its rows, and the values themselves where they are few.

In: a source that was read, keys. Out: `KeyValues` for each, and how often whole keys repeat. Values are canonical (see
values/types.py), computed by Spark, so that no calendar, zone or encoding of this process comes between.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace
from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as sql

from lakeprune.apps.statements.merge.keys import LONGEST_TEXT, MOST_VALUES, Key, KeyValues
from lakeprune.apps.statements.merge.on import SOURCE
from lakeprune.apps.statements.merge.spark_source import Source, reading_source
from lakeprune.values.types import FLOATING_KINDS, INTEGRAL_KINDS, Kind

_SLACK = 1.2  # of an estimate of distinct values


class SourceFacts(Struct, frozen=True):
    rows: int
    keys: tuple[KeyValues, ...]
    repeated: int  # whole keys that more than one row has
    example: str | None  # of a repeated key


def measure(source: Source, keys: Sequence[Key], where: Sequence[str] = ()) -> SourceFacts:
    """What the source has for these keys, which together are the whole key, in the rows that can match at all."""
    with reading_source(source.name):
        if not keys:
            return SourceFacts(source.rows.count(), (), 0, None)
        rows = source.rows.alias(SOURCE)
        for condition in where:
            rows = rows.where(condition)
        picked = rows.selectExpr(*(f"{_canonical(key)} AS k{i}" for i, key in enumerate(keys)))
        row = _aggregated(picked, keys)
        found = [_values(row, i, key) for i, key in enumerate(keys)]
        listed = _listed(picked, found)
        count = source.rows.count() if where else row["rows"] or 0
    example = None if row["example"] is None else ", ".join(f"{key.text}: {row['example'][i]}" for i, key in enumerate(keys))
    return SourceFacts(count, tuple(listed), row["repeated"], example)


def _canonical(key: Key) -> str:
    expression = f"({key.expression})"
    match key.column.type.kind:
        case kind if kind in INTEGRAL_KINDS:
            return f"CAST({expression} AS BIGINT)"
        case Kind.DATE:
            return f"CAST(unix_date({expression}) AS BIGINT)"
        case Kind.TIMESTAMP:
            return f"unix_micros({expression})"
        case Kind.TIMESTAMP_NTZ:
            clock = f"hour({expression}) * 3600000000L + minute({expression}) * 60000000L"
            second = f"CAST(extract(SECOND FROM {expression}) * 1000000 AS BIGINT)"
            return f"unix_date(CAST({expression} AS DATE)) * 86400000000L + {clock} + {second}"
        case _:
            return expression


def _aggregated(picked: DataFrame, keys: Sequence[Key]) -> Row:
    """One row about all keys; the rows of one whole key are counted first, so that repeated ones show."""
    unmatchable = " OR ".join(f"k{i} IS NULL" for i, key in enumerate(keys) if not key.is_null_safe) or "FALSE"
    repeats = f"n > 1 AND NOT ({unmatchable})"
    grouped = picked.groupBy(*picked.columns).agg(sql.count(sql.lit(1)).alias("n"))
    whole = f"array({', '.join(f'CAST({name} AS STRING)' for name in picked.columns)})"
    asked = ["sum(n) AS rows", f"count_if({repeats}) AS repeated", f"first({whole}) FILTER (WHERE {repeats}) AS example"]
    for i, key in enumerate(keys):
        name = f"k{i}"
        kind = key.column.type.kind
        asked += [f"min({name}) AS least{i}", f"max({name}) AS greatest{i}", f"approx_count_distinct({name}) AS distinct{i}"]
        asked.append(f"coalesce(sum(CASE WHEN {name} IS NULL THEN n END), 0) AS nulls{i}")
        asked.append(f"count_if(isnan({name})) AS nans{i}" if kind in FLOATING_KINDS else f"0 AS nans{i}")
        odd = f"NOT is_valid_utf8({name}) OR length({name}) > {LONGEST_TEXT}"
        asked.append(f"count_if({odd}) AS odd{i}" if kind is Kind.STRING else f"0 AS odd{i}")
    return grouped.selectExpr(*asked).collect()[0]


def _values(row: Row, index: int, key: Key) -> KeyValues:
    names = ("nulls", "nans", "odd", "distinct", "least", "greatest")  # as the fields of KeyValues
    return KeyValues(key, *(row[f"{name}{index}"] for name in names))


def _listed(picked: DataFrame, found: Sequence[KeyValues]) -> list[KeyValues]:
    """The same with the values themselves, of those keys that have few."""
    short = [i for i, values in enumerate(found) if values.distinct <= MOST_VALUES * _SLACK and values.refusal is None]
    if not short:
        return list(found)
    sets = picked.selectExpr(*(f"sort_array(collect_set(k{i})) AS k{i}" for i in short)).collect()[0]
    listed = list(found)
    for i in short:
        items = tuple(sets[f"k{i}"])
        if len(items) <= MOST_VALUES:
            listed[i] = replace(found[i], distinct=len(items), listed=items)
    return listed
