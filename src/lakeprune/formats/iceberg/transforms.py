"""Partition fields as evidence about their source columns, spec by spec.

In: the specs of live files. Out: SQL of the domain that a file's tuple proves for a column. Each file is judged by its own
spec (T50). Several fields of one column are merged; a transform that is not known, or a value that cannot be read, proves
nothing (T49, T41).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from msgspec import Struct

from lakeprune.engines.dialect import Dialect, carrier
from lakeprune.formats.iceberg.specs import SpecField
from lakeprune.formats.lifting.bucket import Bucket
from lakeprune.formats.lifting.day import Day
from lakeprune.formats.lifting.hour import Hour
from lakeprune.formats.lifting.identity import Identity
from lakeprune.formats.lifting.month import Month
from lakeprune.formats.lifting.transform import SqlRange, Transform
from lakeprune.formats.lifting.truncate import Truncate
from lakeprune.formats.lifting.void import Void
from lakeprune.formats.lifting.year import Year
from lakeprune.formats.relation import Relation
from lakeprune.predicate.schema import Role
from lakeprune.predicate.tree import Column
from lakeprune.skipping.ladder import Bucketed, Seen
from lakeprune.values.types import INT, DataType, Family

_WIDTH = re.compile(r"(bucket|truncate)\[(\d{1,10})\]", re.ASCII)
_TIMES: dict[str, type[Year | Month | Day | Hour]] = {"year": Year, "month": Month, "day": Day, "hour": Hour}
_INFINITY = "CAST('Infinity' AS DOUBLE)"


def transform_of(declared: str, source: DataType, earlier: Collection[str] = ()) -> Transform:
    """The transform of a partition field; void when it is not known, or of a width that is not one.

    `earlier` are the types that the source had before, or may have had.
    """
    name = declared.lower()
    if name == "identity":
        return Identity(source)
    if name in _TIMES:
        return _TIMES[name](source, may_be_next=True)
    match = _WIDTH.fullmatch(name)
    if match is None or int(match[2]) < 1:
        return Void(source)
    width = int(match[2])
    return Bucket(source, width) if match[1] == "bucket" else Truncate(source, width, was_int="int" in earlier)


def value_type(field: SpecField, source: DataType) -> str:
    """The SQL type of a field's values: that of the source, or whole numbers."""
    return carrier(source) if keeps_type(field) else "BIGINT"


def keeps_type(field: SpecField) -> bool:
    return field.transform.lower().startswith(("identity", "truncate"))


def raw_name(spec: int, field: SpecField) -> str:
    """The raw column with the tuple value of a field, in files of a spec; field ids may repeat in others."""
    return f"t{spec}_{field.field_id}"


def buckets_of(column: Column, specs: Iterable[Sequence[SpecField]]) -> tuple[Bucketed, ...]:
    """The columns of bucket numbers that these specs have for a column."""
    if column.statistics_unusable is not None and not column.has_nanoseconds:  # a bucket is that of the microseconds
        return ()
    source = int(column.physical[-1])
    declared = {
        field.transform.lower(): None for fields in specs for field in fields if field.tells and field.source_id == source
    }
    found = []
    for name in declared:
        transform = transform_of(name, column.type)
        if isinstance(transform, Bucket):
            physical = (name, column.physical[-1])
            found.append(Bucketed(Column((f"{name} of {'.'.join(column.path)}",), physical, INT, Role.DATA), transform))
    return tuple(found)


def is_bucket(column: Column) -> bool:
    """Whether it is a column of bucket numbers."""
    return _WIDTH.fullmatch(column.physical[0]) is not None


def fields_of(column: Seen, specs: Mapping[int, Sequence[SpecField]]) -> list[tuple[int, SpecField]]:
    """The fields of the specs that prove something about a column."""
    source = int(column.column.physical[-1])
    found = [(spec, field) for spec, fields in specs.items() for field in fields if field.tells and field.source_id == source]
    if is_bucket(column.column):
        return [(spec, field) for spec, field in found if field.transform.lower() == column.column.physical[0]]
    return found


def domain_items(dialect: Dialect, names: Relation, seen: Seen, specs: Mapping[int, Sequence[SpecField]]) -> list[str]:
    """The columns of the relation for a column, by the tuples of its files."""
    found = {spec: _proven(dialect, seen, fields) for spec, fields in by_spec(seen, specs).items()}
    return items_of(names, seen, found)


def _proven(dialect: Dialect, seen: Seen, fields: Sequence[tuple[str, Transform]]) -> Proven:
    range_ = lifted_range(dialect, seen, [(value, value, transform) for value, transform in fields])
    value, identity = fields[0][0], identity_of(fields)  # all fields of one column are NULL together
    is_null = f"CASE WHEN {value}_known THEN {value} IS NULL END"
    has_nan = None if identity is None else f"CASE WHEN {identity}_known THEN coalesce({identity} > {_INFINITY}, FALSE) END"
    return Proven(range_, no_null=f"NOT ({is_null})", all_null=is_null, has_nan=has_nan)


class Proven(Struct, frozen=True):
    """What the fields of one spec prove about a column, as SQL that may be NULL: not known."""

    range: SqlRange
    no_null: str
    all_null: str
    has_nan: str | None  # None: no field speaks of NaN


def items_of(names: Relation, seen: Seen, found: Mapping[int, Proven]) -> list[str]:
    """The columns of the relation for a column, each file or manifest by its own spec."""

    def each(part: Callable[[Proven], str | None]) -> str:
        return case_of({spec: sql for spec, proven in found.items() if (sql := part(proven)) is not None})

    def flag(sql: str) -> str:
        return f"coalesce({sql}, FALSE)"

    no_null, all_null, has_nan = each(lambda p: p.no_null), each(lambda p: p.all_null), each(lambda p: p.has_nan)
    items = [
        f"{each(lambda p: p.range.lo)} AS {names.lo(seen)}",
        f"{each(lambda p: p.range.hi)} AS {names.hi(seen)}",
        f"{flag(no_null)} AS {names.no_null(seen)}",
        f"{flag(all_null)} AS {names.all_null(seen)}",
        f"({flag(no_null)} OR {flag(all_null)}) AS {names.is_counted(seen)}",
    ]
    if seen.type.family is Family.TEXT:
        items.append(f"{flag(each(lambda p: p.range.is_truncated))} AS {names.is_truncated(seen)}")
    if seen.type.family is Family.REAL:
        items.append(f"{flag(f'NOT ({has_nan})')} AS {names.nan_free(seen)}")
        items.append(f"{flag(has_nan)} AS {names.has_nan(seen)}")
    return items


def identity_of(fields: Sequence[tuple[str, Transform]]) -> str | None:
    """The raw name of the field that holds the values themselves."""
    return next((name for name, transform in fields if isinstance(transform, Identity)), None)


def by_spec(seen: Seen, specs: Mapping[int, Sequence[SpecField]]) -> dict[int, list[tuple[str, Transform]]]:
    """The fields of each spec that prove something about a column: their raw names and transforms."""
    found: dict[int, list[tuple[str, Transform]]] = {}
    for spec, field in fields_of(seen, specs):
        transform = (
            Identity(INT) if is_bucket(seen.column) else transform_of(field.transform, seen.type, field.earlier | field.possible)
        )
        found.setdefault(spec, []).append((raw_name(spec, field), transform))
    return found


def lifted_range(dialect: Dialect, seen: Seen, fields: Sequence[tuple[str, str, Transform]]) -> SqlRange:
    """What several fields together prove about a column, from the least and the greatest value of each."""
    ranges = [transform.sql(dialect, lower, upper) for lower, upper, transform in fields]
    if seen.type.family in (Family.TEXT, Family.BYTES):
        ranges = [_narrowest([transform for _, _, transform in fields], ranges)]
    low, high = _merged("greatest", [each.lo for each in ranges]), _merged("least", [each.hi for each in ranges])
    if len(ranges) > 1:
        is_sane = f"coalesce({low} <= {high}, TRUE)"  # T24
        low, high = (f"CASE WHEN {is_sane} THEN {end} END" for end in (low, high))
    return SqlRange(low, high, ranges[0].is_truncated)


def _narrowest(transforms: Sequence[Transform], ranges: Sequence[SqlRange]) -> SqlRange:
    """Of several prefixes of one text the longest, or the text itself."""

    def length(place: int) -> float:
        transform = transforms[place]
        return float("inf") if isinstance(transform, Identity) else transform.width if isinstance(transform, Truncate) else 0

    return ranges[max(range(len(ranges)), key=length)]


def _merged(function: str, ends: Sequence[str]) -> str:
    return ends[0] if len(ends) == 1 else f"{function}({', '.join(ends)})"


def case_of(by_spec: Mapping[int, str]) -> str:
    """What holds for the spec of each row, NULL for others."""
    if not by_spec:
        return "CAST(NULL AS BOOLEAN)"
    return "CASE spec " + " ".join(f"WHEN {spec} THEN {value}" for spec, value in by_spec.items()) + " END"
