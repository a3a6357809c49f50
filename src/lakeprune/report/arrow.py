"""Listed files as an Arrow table, whose columns are the fields of `files[]` in the JSON document. The home of PyArrow.

In: file reports. Out: a `pyarrow.Table`, made in batches. Partition values and bounds are maps from column names to
texts: the columns of a predicate have many types.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING, Any

from lakeprune.errors import UsageError

if TYPE_CHECKING:
    import pyarrow as pa

    from lakeprune.report.model import FileReport

_BATCH = 10_000


def table_of(files: Iterable[FileReport]) -> pa.Table:
    """One row per file, in the order given."""
    try:
        import pyarrow as pa
    except ImportError as error:
        raise UsageError("LP259", "an Arrow table needs PyArrow, which is not installed", fix="pip install pyarrow") from error

    schema = _schema(pa)
    waiting, batches = iter(files), []
    while some := list(islice(waiting, _BATCH)):
        batches.append(pa.RecordBatch.from_pylist([_row(file) for file in some], schema=schema))
    return pa.Table.from_batches(batches, schema=schema)


def _schema(pa: Any) -> Any:
    text, number, flag = pa.string(), pa.int64(), pa.bool_()
    bounds = pa.struct([("min", text), ("max", text)])
    return pa.schema(
        [
            pa.field("path", text, nullable=False),
            pa.field("kept", flag, nullable=False),
            ("pruned_by", text),
            pa.field("has_stats", flag, nullable=False),
            ("num_records", number),
            ("live_rows", number),
            ("size_bytes", number),
            ("partition_values", pa.map_(text, text)),
            ("bounds", pa.map_(text, bounds)),
            ("verdict", text),
            ("credit", text),
            ("clause", text),
            ("reason", text),
            ("assumes", pa.list_(text)),
        ]
    )


def _row(file: FileReport) -> dict[str, Any]:
    return {
        "path": file.path,
        "kept": file.kept,
        "pruned_by": file.pruned_by,
        "has_stats": file.has_stats,
        "num_records": file.num_records,
        "live_rows": file.live_rows,
        "size_bytes": file.size_bytes,
        "partition_values": list(file.partition_values.items()),
        "bounds": [(name, {"min": _text(known.min), "max": _text(known.max)}) for name, known in file.bounds.items()],
        "verdict": file.verdict.value,
        "credit": file.credit,
        "clause": file.clause,
        "reason": None if file.reason is None else file.reason.value,
        "assumes": file.assumes,
    }


def _text(value: object) -> str | None:
    return None if value is None else str(value)
