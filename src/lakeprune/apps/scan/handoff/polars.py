"""The rows of a plan as a lazy frame of Polars.

In: a plan. Out: a `LazyFrame`. Polars pushes its projection and its row limit down; its own predicate is applied to each batch
by Polars' own rules, before batches are put together.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from lakeprune.apps.scan.files import check_arrow
from lakeprune.errors import UsageError

if TYPE_CHECKING:
    from lakeprune.apps.scan.model import ScanPlan
    from lakeprune.apps.scan.options import ScanOptions


def hand_off(plan: ScanPlan, *, options: ScanOptions) -> Any:
    """A lazy frame: nothing is read before it is collected."""
    check_arrow()
    if find_spec("polars") is None:
        raise UsageError("LP286", "polars is not installed", fix="pip install polars")
    import polars as pl
    from polars.io.plugins import register_io_source

    from lakeprune.apps.scan.handoff.reader import RowReader
    from lakeprune.apps.scan.handoff.record import remember

    reader = RowReader(plan, options)
    empty = _frame(reader.output.schema.empty_table())

    def read(
        with_columns: list[str] | None, predicate: pl.Expr | None, n_rows: int | None, batch_size: int | None
    ) -> Iterator[pl.DataFrame]:
        del batch_size  # a hint: batches have the sizes of row groups
        needed = None if with_columns is None else {*with_columns, *(() if predicate is None else predicate.meta.root_names())}
        left = n_rows
        for batch in reader.batches(None if needed is None else sorted(needed)):
            frame = _frame(batch)
            frame = frame if predicate is None else frame.filter(predicate)
            frame = frame if with_columns is None else frame.select(with_columns)
            if left is not None and frame.height >= left:
                yield frame.head(left)
                return
            left = None if left is None else left - frame.height
            yield frame

    remember(plan, "polars", "a lazy frame that reads the planned files", options)
    return register_io_source(read, schema=empty.schema)


def _frame(rows: Any) -> Any:
    import polars as pl
    import pyarrow as pa

    table = pa.Table.from_batches([rows]) if isinstance(rows, pa.RecordBatch) else rows
    return pl.from_arrow(table, rechunk=False)
