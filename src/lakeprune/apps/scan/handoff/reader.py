"""The rows of a plan as Arrow record batches: what every hand-off outside Spark is made of.

In: a plan and its options. Out: batches in the table's own schema: physical names are logical ones, widened types are wide,
columns that a file does not have are NULL, deleted rows are gone, changes have their kind, partition values have their types, and
what is left of the predicate is applied. Opens the planned files, their deletion vectors and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lakeprune.apps.scan.handoff.change_rows import Part
from lakeprune.apps.scan.handoff.conform import DoesNotFit, conformed, found_in, has_ids
from lakeprune.apps.scan.handoff.legacy_calendar import Calendar
from lakeprune.apps.scan.handoff.opening import DataFiles, missing
from lakeprune.apps.scan.handoff.output import Output
from lakeprune.apps.scan.handoff.planned_file import PlannedFile, planned_files
from lakeprune.apps.scan.handoff.residual import Residual, Residuals
from lakeprune.apps.scan.handoff.row_groups import wanted_row_groups
from lakeprune.apps.scan.handoff.shape import Member, arrow_of
from lakeprune.apps.scan.handoff.table import ScannedTable
from lakeprune.errors import LakepruneError, TableError
from lakeprune.formats.delta.changes import CHANGE_TYPE
from lakeprune.predicate.walk import columns_of
from lakeprune.values.types import Scalar

if TYPE_CHECKING:
    from lakeprune.apps.scan.model import ScanPlan
    from lakeprune.apps.scan.options import ScanOptions

BATCH_ROWS = 1 << 16


class RowReader:
    """Reads the rows of a plan, as often as somebody asks."""

    def __init__(self, plan: ScanPlan, options: ScanOptions) -> None:
        self.table = ScannedTable.of(plan)
        self.output = Output(plan, options)
        self._plan, self._options = plan, options
        self.failure: LakepruneError | None = None  # what ended the last reading: engines only tell that something did
        self._residuals = Residuals(plan.clauses, self.table.planner.profile)
        if options.pushdown:
            import pyarrow.compute as pc

            used = pc.unique(pc.list_flatten(plan.files.column("residual"))).to_pylist()
            self._residuals.check(sorted(used))

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[Any]:
        """The rows of all planned files, of these columns or of all. A limit ends it."""
        left = self._plan.limit if self._options.pushdown else None  # unfiltered rows: whoever filters also limits
        files = DataFiles(self.table.storage, self._options.data_options)
        try:
            for file in planned_files(self._plan.files):
                for batch in self._file_batches(files, file, columns):
                    if left is not None and batch.num_rows >= left:
                        yield batch.slice(0, left)
                        return
                    left = None if left is None else left - batch.num_rows
                    if batch.num_rows:
                        yield batch
        except LakepruneError as error:
            self.failure = error
            raise
        finally:
            files.close()

    def _file_batches(self, files: DataFiles, file: PlannedFile, columns: Sequence[str] | None) -> Iterator[Any]:
        import pyarrow as pa

        partition = self.table.partition_scalars(file)
        residual = self._residuals.of(file.residual, partition) if self._options.pushdown else None
        filtered = () if residual is None else tuple(column.path[0] for column in columns_of(residual.predicate))
        wanted = self.output.names if columns is None else [name for name in self.output.names if name in columns]
        needed = [self.table.members[name] for name in dict.fromkeys((*wanted, *filtered))]
        try:
            for part in self.table.parts(file, files):
                stated = {} if part.kind is None else {CHANGE_TYPE: pa.scalar(part.kind)}
                in_file = [member for member in needed if member.name not in stated]
                for start, batch in self._raw_batches(files, file, in_file, residual):
                    rows = _picked(self._conformed(batch, needed, {**file.partition, **stated}), part, start)
                    if residual is not None:
                        rows = rows.filter(residual.expression)
                    yield self.output.finished(rows, wanted, file.uri, columns)
        except DoesNotFit as problem:
            raise unreadable(file.uri, str(problem)) from problem
        except (pa.ArrowException, OSError) as error:
            raise unreadable(file.uri, str(error).splitlines()[0]) from error

    def _raw_batches(
        self, files: DataFiles, file: PlannedFile, needed: Sequence[Member], residual: Residual | None
    ) -> Iterator[tuple[int, Any]]:
        """Batches of the file's own columns, each with the position of its first row in the file."""
        import pyarrow.parquet as pq

        try:
            source = files.source(file.uri, file.size)
            opened = pq.ParquetFile(source, coerce_int96_timestamp_unit="us", arrow_extensions_enabled=False, pre_buffer=True)
        except FileNotFoundError as error:
            raise missing(file.uri) from error
        with opened:
            schema, footer = opened.schema_arrow, opened.metadata
            fields = list(schema)
            if self.table.is_by_ids_alone and not has_ids(fields):
                raise DoesNotFit("its columns have no ids, and are found by a mapping of names")
            places = {
                member.name: place
                for member in needed
                if self.table.is_in_files(member) and (place := found_in(fields, member, by_id=self.table.by_id)) is not None
            }
            absent = {
                member.name: value
                for member in needed
                if member.name not in places and (value := self.table.absent_value(member)) is not None
            }
            names = [fields[place].name for place in places.values()]
            calendar = Calendar(footer, [member for member in needed if member.name in places], file.uri)
            groups = range(footer.num_row_groups)
            wanted = set(groups if residual is None else wanted_row_groups(residual.predicate, footer, schema, places))
            start = 0
            for group in groups:
                rows, at = footer.row_group(group).num_rows, start
                start += rows
                if group not in wanted or not rows:
                    continue
                if not names:
                    yield at, _Rows(rows, {}, absent)
                    continue
                for batch in opened.iter_batches(BATCH_ROWS, row_groups=[group], columns=names):
                    found = {
                        name: batch.column(batch.schema.get_field_index(fields[place].name)) for name, place in places.items()
                    }
                    calendar.check(found)
                    yield at, _Rows(batch.num_rows, found, absent)
                    at += batch.num_rows

    def _conformed(self, rows: _Rows, needed: Sequence[Member], stated: Mapping[str, Any]) -> Any:
        """`stated` are the values that every row of the file has, by the plan."""
        import pyarrow as pa

        arrays, fields = [], []
        for member in needed:
            target = arrow_of(member.shape)
            if member.name in rows.found:
                array = conformed(rows.found[member.name], member.shape, by_id=self.table.by_id)
            elif member.name in stated:
                array = pa.repeat(stated[member.name].cast(target), rows.count)
            elif member.name in rows.absent:
                array = pa.repeat(pa.scalar(rows.absent[member.name], target), rows.count)
            else:
                array = pa.nulls(rows.count, target)
            arrays.append(array)
            fields.append(pa.field(member.name, target))
        if not arrays:  # an Arrow batch without columns has no number of rows
            return pa.RecordBatch.from_arrays([pa.nulls(rows.count)], names=[""])
        return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))


class _Rows:
    """Some rows of a file: how many, its columns by logical name, and the values of columns that it lacks, NULL apart."""

    def __init__(self, count: int, found: dict[str, Any], absent: Mapping[str, Scalar]) -> None:
        self.count, self.found, self.absent = count, found, absent


def _picked(batch: Any, part: Part, start: int) -> Any:
    """The rows of a batch that belong to a part; the batch begins at position `start` of its file."""
    import pyarrow as pa

    end = start + batch.num_rows
    if part.only is None:
        if part.deleted is None or not part.deleted.range_cardinality(start, end):
            return batch
        chosen = part.deleted.flip(start, end)
    else:
        chosen = part.only
    first, last = chosen.rank(start - 1) if start else 0, chosen.rank(end - 1)
    kept = pa.array(list(chosen[first:last]), pa.int64())
    return batch.take(pa.compute.subtract(kept, start) if start else kept)


def unreadable(uri: str, why: str) -> TableError:
    fix = "check the file with another reader; a file that is not what the table says has to be written again"
    return TableError("LP373", "a data file of the plan cannot be read", where=uri, why=why, fix=fix)
