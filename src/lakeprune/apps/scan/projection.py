"""The columns of a scan: those that somebody wants, and those that only the filter needs.

In: the facts of a snapshot, names, types that override. Out: `ScanColumn`s in the order of the table. Names are found as Spark
finds them: without case where that is unambiguous.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from lakeprune.apps.scan.model import ScanColumn
from lakeprune.errors import UsageError
from lakeprune.formats.delta.schema import data_type, is_known_widening
from lakeprune.formats.snapshot import Declared, SnapshotFacts
from lakeprune.predicate.schema import Field, Role, leaf_paths
from lakeprune.predicate.tree import Column
from lakeprune.values.types import Kind


def projected(facts: SnapshotFacts, names: Sequence[str] | None) -> tuple[Field, ...]:
    """The fields with these names, in the order of the table; all of them for None."""
    if names is None:
        return _columns(facts)
    if isinstance(names, str) or not isinstance(names, Iterable) or not all(isinstance(name, str) for name in names):
        raise UsageError("LP270", f"the columns are {names!r}", fix="give a list of names")
    wanted = {_found(facts, name).name for name in names}
    return tuple(field for field in facts.schema.fields if field.name in wanted)


def needed_beside(facts: SnapshotFacts, fields: Sequence[Field], filtered: Iterable[Column]) -> tuple[Field, ...]:
    """The fields that only the filter needs."""
    names = {column.path[0] for column in filtered} - {field.name for field in fields}
    return tuple(field for field in facts.schema.fields if field.name in names)


def overridden(facts: SnapshotFacts, schema: Mapping[str, str] | None) -> dict[str, str]:
    """Types that replace those of the table, by the names of its columns: each holds every value of the one it replaces."""
    if schema is None:
        return {}
    if not isinstance(schema, Mapping):
        raise UsageError("LP271", f"the schema is of type {type(schema).__name__}", fix='give {"column": "type"}')
    found = {}
    for name, wanted in schema.items():
        field = _found(facts, name)
        before = declared_of(facts, field).type
        if wanted != before and not _holds(before, wanted):
            raise UsageError(
                "LP271",
                f"column `{field.name}` cannot be read as {wanted}",
                where=f"{facts.title} {facts.location}",
                why=f"it is of type {before}, whose values {wanted} does not all hold",
                fix="give its own type, or a wider one: long for integer, double for float, a decimal with more digits",
            )
        found[field.name] = wanted
    return found


def scan_column(facts: SnapshotFacts, field: Field, types: Mapping[str, str]) -> ScanColumn:
    declared = declared_of(facts, field)
    kind = types.get(field.name, declared.type)
    physical = declared.physical or field.physical
    return ScanColumn(field.name, physical, kind, declared.is_nullable, field.role is Role.PARTITION, declared.field_id)


def declared_of(facts: SnapshotFacts, field: Field) -> Declared:
    return facts.declared.get(field.name) or Declared(str(field.type))


def typed_column(field: Field, types: Mapping[str, str]) -> Column:
    """The column of a field, in the type that it is read as."""
    from msgspec.structs import replace

    column = Column.at((field,))
    return replace(column, type=data_type(types[field.name])) if field.name in types else column


def leaves(fields: Sequence[Field]) -> tuple[Column, ...]:
    """The columns of these fields that can have statistics."""
    found: dict[str, Column] = {}
    for path in leaf_paths(tuple(fields)):
        column = Column.at(path)
        if column.role is Role.DATA and column.type.family is not None and column.statistics_unusable is None:
            found.setdefault(".".join(column.path).lower(), column)  # `a.b` may also be a name by itself: the first has it
    return tuple(found.values())


def _holds(before: str, after: Any) -> bool:
    if not isinstance(after, str) or data_type(after).kind in (Kind.OTHER, Kind.STRUCT):
        return False
    return is_known_widening(before, after) or (before, after) == ("float", "double")


def _columns(facts: SnapshotFacts) -> tuple[Field, ...]:
    """The columns that the table declares; predicates may name others, such as Iceberg's row lineage."""
    return tuple(field for field in facts.schema.fields if not facts.declared or field.name in facts.declared)


def _found(facts: SnapshotFacts, name: str) -> Field:
    fields = _columns(facts)
    if not isinstance(name, str):
        raise UsageError("LP270", f"{name!r} is not the name of a column", fix="give names of columns as text")
    same = [field for field in fields if field.name == name] or [field for field in fields if field.name.lower() == name.lower()]
    if len(same) == 1:
        return same[0]
    close = get_close_matches(name, [field.name for field in fields], n=1)
    what = f"column `{name}` is not in the table" if not same else f"column `{name}` is ambiguous"
    fix = f"did you mean {close[0]}?" if close and not same else "the columns are: " + ", ".join(field.name for field in fields)
    nested = "a projection names whole columns, not fields of them" if "." in name else None
    raise UsageError("LP270", what, where=f"{facts.title} {facts.location}", why=nested, fix=fix)
