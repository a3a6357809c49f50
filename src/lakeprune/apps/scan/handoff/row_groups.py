"""Which row groups of a Parquet file can hold a row that the filter wants, by the bounds in its footer.

In: a filter, a footer. Out: numbers of row groups. Only bounds that no writer gets wrong are used: those of integers, dates,
timestamps in microseconds and text. Doubles are not among them: a bound hides NaN.
"""

from __future__ import annotations

from typing import Any

from lakeprune.predicate.passes.rebuild import conjuncts
from lakeprune.predicate.tree import Column, Expr, Member
from lakeprune.values.intervals import Interval, IntervalSet
from lakeprune.values.types import INTEGRAL_KINDS, Kind

_INTEGERS = ("INT32", "INT64")


def wanted_row_groups(predicate: Expr, footer: Any, schema: Any, places: dict[str, int]) -> list[int]:
    """The row groups to read; `places` are the positions of top-level columns in the file's Arrow schema, by logical name."""
    tests = []
    for part in conjuncts(predicate):
        if isinstance(part, Member) and len(part.column.path) == 1 and part.column.path[0] in places:
            field = schema.field(places[part.column.path[0]])
            leaf = _leaf_of(footer, field.name)
            if leaf is not None and _is_trusted(part.column, field.type, footer.schema.column(leaf).physical_type):
                tests.append((leaf, part.values))
    return [group for group in range(footer.num_row_groups) if _may_match(footer.row_group(group), tests)]


def _leaf_of(footer: Any, name: str) -> int | None:
    found = [i for i in range(footer.num_columns) if footer.schema.column(i).path == name]
    return found[0] if len(found) == 1 else None


def _is_trusted(column: Column, type_: Any, physical: str) -> bool:
    """Whether the recorded bounds are values of the column, in their order."""
    import pyarrow as pa

    match column.type.kind:
        case kind if kind in INTEGRAL_KINDS:
            return physical in _INTEGERS and bool(pa.types.is_signed_integer(type_))
        case Kind.DATE:
            return physical == "INT32" and bool(pa.types.is_date32(type_))
        case Kind.TIMESTAMP | Kind.TIMESTAMP_NTZ:
            return physical == "INT64" and bool(pa.types.is_timestamp(type_)) and type_.unit == "us"
        case Kind.STRING:
            return physical == "BYTE_ARRAY" and bool(pa.types.is_string(type_)) and column.type.collation is None
        case _:
            return False


def _may_match(group: Any, tests: list[tuple[int, IntervalSet]]) -> bool:
    return all(_can_be_in(group.column(leaf), values) for leaf, values in tests)


def _can_be_in(chunk: Any, values: IntervalSet) -> bool:
    statistics = chunk.statistics
    if statistics is None:
        return True
    if statistics.has_null_count and statistics.null_count == chunk.num_values:
        return False  # every value is NULL, which is in no set
    if not statistics.has_min_max:
        return True
    low, high = statistics.min_raw, statistics.max_raw
    if isinstance(low, bytes) and isinstance(high, bytes):
        try:
            low, high = low.decode(), high.decode()
        except UnicodeDecodeError:
            return True  # a bound that was cut within a character
    if type(low) is not type(high) or low > high:
        return True
    return not values.intersect(IntervalSet((Interval(low, high),), None, values.step)).is_empty()
