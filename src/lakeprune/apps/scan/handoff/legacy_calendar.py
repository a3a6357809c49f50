"""Days of the Julian calendar: what Spark 2 and Spark's legacy mode may have written, and Spark moves when it reads them.

In: the footer of a file and the columns that are read. A file that is marked so and holds a day from before the calendars agree
is refused (LP374): only Spark's own tables of time zones say which moment is meant. Most marked files hold no such day; where
the footer's statistics do not say so, the values that are read do. INT96, which Databricks writes, has no statistics. What is
marked is what Spark takes for it: files of a version before 3.0.0, of INT96 before 3.1.0, and those with a mark.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lakeprune.apps.scan.handoff.shape import Leaf, ListOf, MapOf, Member, Shape, StructOf
from lakeprune.errors import TableError
from lakeprune.values.types import Kind

_MARKS = {
    Kind.DATE: (b"org.apache.spark.legacyDateTime",),
    Kind.TIMESTAMP: (b"org.apache.spark.legacyDateTime", b"org.apache.spark.legacyINT96"),
}
_SPARK, _CORRECTED, _CORRECTED_INT96 = b"org.apache.spark.version", b"3.0.0", b"3.1.0"  # Spark compares versions as text
_AGREE_DAYS, _AGREE_MICROS = -141_427, -2_208_988_800_000_000  # 1582-10-15; 1900-01-01, from when zones have whole offsets
_PER_MICRO = {"milliseconds": 1 / 1000, "microseconds": 1, "nanoseconds": 1000}


class Calendar:
    """Looks at the columns of one file that may hold such days."""

    def __init__(self, footer: Any, members: Sequence[Member], uri: str) -> None:
        self._uri = uri
        self._suspects = {member.name for member in members if _is_marked(footer, member)}
        for member in members:
            if member.name in self._suspects:
                known = [_is_early(footer, leaf) for leaf in _leaves_of(footer, member.physical)]
                if True in known:
                    raise self._refusal(member.name)
                if known and None not in known:
                    self._suspects.remove(member.name)

    def check(self, columns: Mapping[str, Any]) -> None:
        """LP374 when a column, by its logical name, has a value from before the calendars agree."""
        for name in self._suspects & columns.keys():
            if any(_has_early(array) for array in _arrays(columns[name])):
                raise self._refusal(name)

    def _refusal(self, name: str) -> TableError:
        return TableError(
            "LP374",
            f"column `{name}` of a data file holds days of the Julian calendar",
            where=self._uri,
            why="Spark 2 or Spark's legacy mode wrote it, and Spark moves such days when it reads them",
            fix="use plan.to_spark(spark), or write the file again with Spark 3 or later",
        )


def _is_marked(footer: Any, member: Member) -> bool:
    metadata, kinds = footer.metadata or {}, _kinds(member.shape) & _MARKS.keys()
    version = metadata.get(_SPARK, _CORRECTED_INT96)
    if version < _CORRECTED or any(mark in metadata for kind in kinds for mark in _MARKS[kind]):
        return bool(kinds)
    return Kind.TIMESTAMP in kinds and version < _CORRECTED_INT96 and _has_int96(footer, member.physical)


def _has_int96(footer: Any, physical: str) -> bool:
    leaves = _leaves_of(footer, physical) or range(footer.num_columns)  # found by its id: any may be it
    return any(footer.schema.column(leaf).physical_type == "INT96" for leaf in leaves)


def _kinds(shape: Shape) -> set[Kind]:
    match shape:
        case Leaf(type_):
            return {type_.kind}
        case StructOf(members):
            return {kind for member in members for kind in _kinds(member.shape)}
        case ListOf(element):
            return _kinds(element)
        case MapOf(key, value):
            return _kinds(key) | _kinds(value)
        case _:
            return set()


def _leaves_of(footer: Any, physical: str) -> Sequence[int]:
    """The columns of a file that belong to a column of the table."""
    paths = [footer.schema.column(index).path for index in range(footer.num_columns)]
    return [index for index, path in enumerate(paths) if path == physical or path.startswith(f"{physical}.")]


def _is_early(footer: Any, leaf: int) -> bool | None:
    """Whether the statistics say that such a day is there, None when they do not tell."""
    limit = _limit(footer.schema.column(leaf))
    if limit is None:
        return None
    every = [footer.row_group(group).column(leaf).statistics for group in range(footer.num_row_groups)]
    known = [statistics for statistics in every if statistics is not None and statistics.has_min_max]
    if any(statistics.min_raw < limit for statistics in known):
        return True  # also where others tell nothing: its row group may not be read, by bounds of the other calendar
    return False if len(known) == len(every) else None


def _limit(column: Any) -> float | None:
    """From where on the calendars agree, in the unit of a column of a file; None when its statistics are not comparable."""
    kind = json.loads(column.logical_type.to_json())
    if column.physical_type == "INT32" and kind.get("Type") == "Date":
        return _AGREE_DAYS
    if column.physical_type == "INT64" and kind.get("Type") == "Timestamp":
        return _AGREE_MICROS * _PER_MICRO[kind["timeUnit"]]
    return None


def _arrays(array: Any) -> Iterable[Any]:
    """The dates and times of an array, also inside structs, lists and maps."""
    import pyarrow as pa

    kind = array.type
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        yield array
    elif pa.types.is_struct(kind):
        for child in array.flatten():
            yield from _arrays(child)
    elif pa.types.is_map(kind):
        yield from _arrays(array.keys)
        yield from _arrays(array.items)
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
        yield from _arrays(array.flatten())


def _has_early(array: Any) -> bool:
    import pyarrow as pa
    import pyarrow.compute as pc

    is_date = pa.types.is_date(array.type)
    least = pc.min(array.cast(pa.date32() if is_date else pa.timestamp("us", array.type.tz))).value
    return least is not None and least < (_AGREE_DAYS if is_date else _AGREE_MICROS)
