"""The rows as the caller wants them: the projection, its types, the column with the file.

In: batches in the table's own types, with the columns of the filter. Out: batches in the schema of the hand-off.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lakeprune.apps.scan.handoff.shape import arrow_of, shape_of
from lakeprune.errors import UsageError

if TYPE_CHECKING:
    from lakeprune.apps.scan.model import ScanPlan
    from lakeprune.apps.scan.options import ScanOptions


class Output:
    def __init__(self, plan: ScanPlan, options: ScanOptions) -> None:
        import pyarrow as pa

        self.names = [column.name for column in plan.columns]
        if not options.pushdown:  # whoever applies the filter needs its columns
            self.names += [column.name for column in plan.filter_columns]
        self._file_column = options.file_column
        if options.file_column in self.names:
            fix = "give `file_column` a name that the table does not have"
            raise UsageError("LP284", f"the table has a column `{options.file_column}` already", fix=fix)
        fields = [
            pa.field(column.name, _type_of(column, options), nullable=True)
            for column in (*plan.columns, *plan.filter_columns)
            if column.name in self.names
        ]
        if options.file_column is not None:
            fields.append(pa.field(options.file_column, pa.string()))
        self.schema = pa.schema(fields)

    def finished(self, rows: Any, wanted: Sequence[str], uri: str, columns: Sequence[str] | None) -> Any:
        """A batch with these columns, in the order and the types of the hand-off."""
        import pyarrow as pa

        fields = [self.schema.field(name) for name in wanted]
        arrays = [self._cast(rows.column(field.name), field.type) for field in fields]
        if self._file_column is not None and (columns is None or self._file_column in columns):
            fields.append(self.schema.field(self._file_column))
            arrays.append(pa.repeat(pa.scalar(uri, fields[-1].type), rows.num_rows))
        if not arrays:
            return _counted(rows.num_rows)
        return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))

    def _cast(self, array: Any, target: Any) -> Any:
        import pyarrow as pa

        if array.type == target:
            return array
        return array.dictionary_encode().cast(target) if pa.types.is_dictionary(target) else array.cast(target)


def _counted(count: int) -> Any:
    """A batch of so many rows without columns."""
    import pyarrow as pa

    return pa.RecordBatch.from_struct_array(pa.array([{}] * count, pa.struct([])))


def _type_of(column: Any, options: ScanOptions) -> Any:
    import pyarrow as pa

    type_ = arrow_of(shape_of(column.type, column.name))
    if options.view_types:
        type_ = pa.string_view() if pa.types.is_string(type_) else pa.binary_view() if pa.types.is_binary(type_) else type_
    if options.dictionary_partitions and column.is_partition:
        type_ = pa.dictionary(pa.int32(), arrow_of(shape_of(column.type, column.name)))
    return type_
