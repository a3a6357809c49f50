"""The rows of a plan as a stream of Arrow record batches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lakeprune.apps.scan.files import check_arrow

if TYPE_CHECKING:
    from lakeprune.apps.scan.model import ScanPlan
    from lakeprune.apps.scan.options import ScanOptions


def hand_off(plan: ScanPlan, *, options: ScanOptions) -> Any:
    """A pyarrow.RecordBatchReader; files are opened one after the other as it is read."""
    check_arrow()
    import pyarrow as pa

    from lakeprune.apps.scan.handoff.reader import RowReader
    from lakeprune.apps.scan.handoff.record import remember

    reader = RowReader(plan, options)
    remember(plan, "arrow", "a stream of record batches", options)
    return pa.RecordBatchReader.from_batches(reader.output.schema, reader.batches())
