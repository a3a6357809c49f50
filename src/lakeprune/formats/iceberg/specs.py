"""Partition specs: which fields a tuple has, and which columns it knows by value.

In: the specs of the metadata. Out: `SpecField` per field, with the ids that old writers left out. A column is known by value in a
whole table only when every spec with a live file has it by `identity`: a spec that came later says nothing about older
files (T50).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from msgspec import Struct

from lakeprune.formats.iceberg.entries import Tuple
from lakeprune.formats.iceberg.metadata import PartitionSpec, TableMetadata

_TELLING = re.compile(r"identity|year|month|day|hour|(bucket|truncate)\[0*[1-9]\d{0,9}\]", re.ASCII)
_FIRST_ID = 1000  # of partition fields; old writers number them in their order


class SpecField(Struct, frozen=True):
    name: str
    transform: str  # "identity", "bucket[16]", "day"
    source_id: int | None  # None for a transform of several columns
    field_id: int

    @property
    def item(self) -> Tuple:
        return Tuple(self.field_id, self.name)

    @property
    def tells(self) -> bool:
        """Whether its values prove something about one column."""
        return self.source_id is not None and _TELLING.fullmatch(self.transform.lower()) is not None

    @property
    def is_identity(self) -> bool:
        return self.transform.lower() == "identity" and self.source_id is not None


def spec_fields(spec: PartitionSpec) -> tuple[SpecField, ...]:
    return tuple(
        SpecField(
            field.name,
            field.transform,
            field.source_id if field.source_id is not None else field.source_ids[0] if len(field.source_ids) == 1 else None,
            field.field_id if field.field_id is not None else _FIRST_ID + place,
        )
        for place, field in enumerate(spec.fields)
    )


def specs_of(metadata: TableMetadata, spec_ids: Iterable[int]) -> dict[int, tuple[SpecField, ...]]:
    """The fields of these specs."""
    return {spec_id: spec_fields(metadata.spec(spec_id)) for spec_id in dict.fromkeys(spec_ids)}


def identity_columns(specs: Iterable[Sequence[SpecField]]) -> frozenset[int]:
    """The columns that every one of these specs has by identity."""
    several = [{field.source_id for field in fields if field.is_identity} for fields in specs]
    common = set.intersection(*several) if several else set()
    return frozenset(source for source in common if source is not None)
