"""The table of a plan, as far as a reader of its data files has to know it.

In: a plan. Out: the shapes of its columns, how they are found in files, the storage of its files, the deleted rows of each.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from lakeprune.apps.scan.handoff.change_rows import Part, parts_of
from lakeprune.apps.scan.handoff.conform import DoesNotFit
from lakeprune.apps.scan.handoff.iceberg_deletes import deleted_rows
from lakeprune.apps.scan.handoff.opening import DataFiles
from lakeprune.apps.scan.handoff.planned_file import PlannedFile
from lakeprune.apps.scan.handoff.shape import Member, shape_of
from lakeprune.errors import UsageError
from lakeprune.formats.delta.changes import FORMAT as CHANGES
from lakeprune.formats.delta.changes import ChangesSnapshot
from lakeprune.formats.iceberg.snapshot import IcebergSnapshot
from lakeprune.formats.snapshot import Absent, SnapshotFacts
from lakeprune.planning.planner import Planner
from lakeprune.predicate.schema import Field, leaf_paths
from lakeprune.predicate.tree import Column
from lakeprune.storage.storage import Storage
from lakeprune.values.types import Scalar

if TYPE_CHECKING:
    from lakeprune.apps.scan.model import ScanPlan

_DELTA, _PARQUET, _ICEBERG = "delta", "parquet", "iceberg"


class ScannedTable(Struct, frozen=True):
    planner: Planner
    storage: Storage
    members: dict[str, Member]  # every column that a hand-off can need, by logical name
    partitions: frozenset[str]
    by_id: bool  # columns are found in files by their ids, not by their names
    absent: Callable[[Column], Absent | None] | None = (
        None  # what a column is in a file that lacks it; NULL where that is not said
    )

    @classmethod
    def of(cls, plan: ScanPlan) -> ScannedTable:
        planner = plan.opened().planner  # of a plan that came as JSON, the table is opened and compared now
        assert planner is not None, "an opened plan has its table"
        facts = planner.facts
        snapshot = planner.snapshot
        files = snapshot.change_files() if isinstance(snapshot, ChangesSnapshot) else snapshot.parquet_files()
        if files is None or facts.format not in (_DELTA, _PARQUET, _ICEBERG, CHANGES):
            raise _refused(facts, "how its rows lie in its files is not known")
        _check_padding(facts.schema.fields, {column.name for column in (*plan.columns, *plan.filter_columns)})
        declared = {column.name: column for column in (*plan.columns, *plan.filter_columns)}
        if isinstance(snapshot, IcebergSnapshot):
            _check_iceberg(snapshot, declared)
        members = {}
        for name, column in declared.items():
            text = facts.declared[name].type if name in facts.declared else column.type
            members[name] = Member(name, column.physical, column.field_id, shape_of(text, name))
        partitions = frozenset(column.name for column in declared.values() if column.is_partition)
        return cls(planner, files.storage, members, partitions, files.field_ids is not None, files.absent)

    def absent_value(self, member: Member) -> Scalar:
        """What a column is in every row of a file that lacks it: NULL, or its default. DoesNotFit where that is not certain."""
        if self.absent is None or member.name in self.partitions:
            return None
        column = Column.at(tuple(field for field in self.planner.facts.schema.fields if field.name == member.name))
        found = self.absent(column)
        if found is None or found.lo != found.hi:
            raise DoesNotFit(f"it lacks column `{member.name}`, whose values there are the partition's, or a default")
        return found.lo

    @property
    def is_by_ids_alone(self) -> bool:
        """Whether a file without ids says nothing about its columns."""
        return self.planner.facts.format == _ICEBERG

    def is_in_files(self, member: Member) -> bool:
        """Whether the values of a column lie in data files; those of partition columns are the log's."""
        return member.name not in self.partitions or self.planner.facts.has_partition_values_in_files

    def partition_scalars(self, file: PlannedFile) -> dict[str, Scalar]:
        """The partition values of a file in canonical form."""
        return {name: canonical(value) for name, value in file.partition.items()}

    def parts(self, file: PlannedFile, files: DataFiles) -> list[Part]:
        """The rows of a file that are the table's; of a change data feed, with the kind of their change."""
        if self.planner.facts.format == CHANGES:
            return parts_of(file, files)
        if file.vector is None:
            return [Part()]
        if self.planner.facts.format == _ICEBERG:
            return [Part(deleted=deleted_rows(file, files, self.planner.snapshot.file_of))]
        from lakeprune.formats.delta.deletion_vectors import deleted_positions

        return [Part(deleted=deleted_positions(file.vector, file.uri, files.read))]


def _check_iceberg(snapshot: IcebergSnapshot, names: Collection[str]) -> None:
    """LP283 for columns that are not found in files by their ids alone."""
    for name in names:
        if name not in snapshot.facts.declared:
            raise _refused(snapshot.facts, f"`{name}` is not a column of its files")
        if snapshot.has_defaults_inside(name):
            raise _refused(snapshot.facts, f"a field inside column `{name}` has a default for files that lack it")


def _refused(facts: SnapshotFacts, why: str) -> UsageError:
    what = f"rows of the {facts.title} cannot be handed over outside Spark"
    return UsageError("LP283", what, where=facts.location, why=why, fix="use plan.to_spark(spark)")


def _check_padding(fields: Sequence[Field], names: Collection[str]) -> None:
    """LP281 for a CHAR column: Spark pads its values with spaces when it reads them."""
    for field in fields:
        inside = [field, *(path[-1] for path in leaf_paths(field.children))]
        if field.name in names and any(each.type.collation == "CHAR" for each in inside):
            raise UsageError(
                "LP281",
                f"column `{field.name}` cannot be handed over",
                why="it is of type CHAR, whose values Spark pads with spaces when it reads them",
                fix="leave it out of `columns` and of the predicate, or use plan.to_spark(spark)",
            )


def canonical(value: Any) -> Scalar:
    """An Arrow scalar as the Python value that stands for it in lakeprune: days, microseconds, numbers, text."""
    import pyarrow as pa

    if not value.is_valid:
        return None
    if isinstance(value, pa.Date32Scalar | pa.TimestampScalar):
        return int(value.value)
    found: Scalar = value.as_py()
    return found
