"""Partition specs: which fields a tuple has, and which columns it knows by value.

In: the specs of the metadata. Out: `SpecField` per field, with the ids that old writers left out. A column is known by value in a
whole table only when every spec with a live file has it by `identity`: a spec that came later says nothing about older
files (T50). Values that were computed before a column was promoted are those of its earlier type (T96): a date as days, in the
bucket of its days; an int near the least one, truncated, wraps around to the greatest int. The metadata may list the schema of
that type no more: then values are recognised by how they were written (widened.py, summaries.py). That says nothing of buckets,
which are ints of either type, nor of ints in a manifest that was written again, which are longs there: where a schema is missing,
buckets of a timestamp prove nothing, and any long may have been an int.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from lakeprune.formats.iceberg.entries import Tuple
from lakeprune.formats.iceberg.metadata import PartitionSpec, TableMetadata
from lakeprune.formats.iceberg.widened import Widened, widened

_TELLING = re.compile(r"identity|year|month|day|hour|(bucket|truncate)\[0*[1-9]\d{0,9}\]", re.ASCII)
_OF_DATES = re.compile(r"identity|bucket\[\d+\]", re.ASCII)  # which of a timestamp are others
_PROMOTED_DATES = 3  # the format version since which a date may become a timestamp
_FIRST_ID = 1000  # of partition fields; old writers number them in their order


class SpecField(Struct, frozen=True):
    name: str
    transform: str  # "identity", "bucket[16]", "day"
    source_id: int | None  # None for a transform of several columns
    field_id: int
    earlier: frozenset[str] = frozenset()  # types that its column had before it was promoted
    possible: frozenset[str] = frozenset()  # types that it may have had, in schemas that are listed no more
    widened: Widened | None = None  # how its values are distinguished from those of an earlier type

    @property
    def item(self) -> Tuple:
        return Tuple(self.field_id, self.name, self.widened)

    @property
    def tells(self) -> bool:
        """Whether its values prove something about one column."""
        name = self.transform.lower()
        is_other = "date" in self.earlier and _OF_DATES.fullmatch(name) is not None
        is_other |= "date" in self.possible and name.startswith("bucket")
        return self.source_id is not None and _TELLING.fullmatch(name) is not None and not is_other

    @property
    def is_identity(self) -> bool:
        return self.transform.lower() == "identity" and self.source_id is not None


def is_unpartitioned(fields: Sequence[SpecField]) -> bool:
    """Whether a spec has no partitions: equality deletes of such a spec are about all files. Dropped fields become void."""
    return all(field.transform.lower() == "void" for field in fields)


class Types(Struct, frozen=True):
    """The types of columns by field id: now, before, and possibly before."""

    now: Mapping[int, str]
    earlier: Mapping[int, frozenset[str]]
    possible: Mapping[str, frozenset[str]]  # by the type of now


def spec_fields(spec: PartitionSpec, types: Types) -> tuple[SpecField, ...]:
    found = []
    for place, field in enumerate(spec.fields):
        sources = field.source_ids if field.source_id is None else (field.source_id,)
        source = sources[0] if len(sources) == 1 else None
        number = field.field_id if field.field_id is not None else _FIRST_ID + place
        now = None if source is None else types.now.get(source)
        earlier = frozenset[str]() if source is None else types.earlier.get(source, frozenset())
        possible = frozenset[str]() if now is None else types.possible.get(now, frozenset())
        found.append(SpecField(field.name, field.transform, source, number, earlier, possible, widened(now, field.transform)))
    return tuple(found)


def specs_of(metadata: TableMetadata, spec_ids: Iterable[int], schema: Any) -> dict[int, tuple[SpecField, ...]]:
    """The fields of these specs, of a table that is read with this schema."""
    types = Types(dict(_primitives(schema)), earlier_types(metadata), possible_types(metadata))
    return {spec_id: spec_fields(metadata.spec(spec_id), types) for spec_id in dict.fromkeys(spec_ids)}


def as_shown(specs: Mapping[int, tuple[SpecField, ...]]) -> dict[int, tuple[SpecField, ...]]:
    """The same fields for whoever does not see how values were written: what may have been is taken for what was."""
    return {
        spec: tuple(replace(field, earlier=field.earlier | field.possible) for field in fields) for spec, fields in specs.items()
    }


def earlier_types(metadata: TableMetadata) -> dict[int, frozenset[str]]:
    """The types that columns had in some schema and have no more in another, by field id."""
    found: dict[int, set[str]] = {}
    for schema in metadata.schemas:
        for number, kind in _primitives(schema):
            found.setdefault(number, set()).add(kind)
    return {number: frozenset(kinds) for number, kinds in found.items() if len(kinds) > 1}


def possible_types(metadata: TableMetadata) -> dict[str, frozenset[str]]:
    """The types that columns of a type may have had in schemas that the metadata lists no more. Schemas are numbered from 0."""
    numbers = {number for schema in metadata.schemas if isinstance(number := schema.get("schema-id", 0), int)}
    if all(number in numbers for number in range(max(metadata.current_schema_id, *numbers, 0) + 1)):
        return {}
    found = {"long": frozenset({"int"})}
    if metadata.format_version >= _PROMOTED_DATES:
        names = ("timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns")
        found.update(dict.fromkeys(names, frozenset({"date"})))
    return found


def _primitives(schema: Any) -> Iterator[tuple[int, str]]:
    """Ids and types of the fields, also inside structs; what is not a schema is refused by whoever needs its columns."""
    left = [schema]
    while left:
        struct = left.pop()
        fields = struct.get("fields") if isinstance(struct, Mapping) else None
        for field in fields if isinstance(fields, list) else ():
            number, kind = (field.get("id"), field.get("type")) if isinstance(field, Mapping) else (None, None)
            if isinstance(number, int) and isinstance(kind, str):
                yield number, kind
            left.append(kind)


def identity_columns(specs: Iterable[Sequence[SpecField]]) -> frozenset[int]:
    """The columns that every one of these specs has by identity, as values of the type they have now."""
    several = [{field.source_id for field in fields if field.is_identity and field.tells} for fields in specs]
    common = set.intersection(*several) if several else set()
    return frozenset(source for source in common if source is not None)
