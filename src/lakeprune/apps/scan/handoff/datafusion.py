"""The rows of a plan as a table of a DataFusion session.

In: a plan, a session context of the caller, a name. Out: the table is registered. With a column of floats the rows are read at
once and held in memory: a filter that DataFusion gives to an Arrow dataset drops NaN, which DataFusion itself keeps (`x > 1`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lakeprune.apps.scan.files import check_arrow
from lakeprune.errors import UsageError

if TYPE_CHECKING:
    from lakeprune.apps.scan.model import ScanPlan
    from lakeprune.apps.scan.options import ScanOptions


def hand_off(plan: ScanPlan, ctx: Any, name: str, *, options: ScanOptions) -> Any:
    """The session's table of that name."""
    check_arrow()
    from lakeprune.apps.scan.handoff.arrow_dataset import ScanDataset
    from lakeprune.apps.scan.handoff.reader import RowReader
    from lakeprune.apps.scan.handoff.record import remember

    if not hasattr(ctx, "register_dataset"):
        fix = "give a context of DataFusion: plan.register_datafusion(datafusion.SessionContext(), 'name')"
        raise UsageError("LP285", f"{type(ctx).__name__} is not a session of DataFusion", fix=fix)
    if ctx.table_exist(name):
        fix = "give another name, or deregister that table first"
        raise UsageError("LP285", f"the session already has a table `{name}`", fix=fix)
    reader = RowReader(plan, options)
    schema = reader.output.schema
    if any(_has_floats(field.type) for field in schema):
        import pyarrow as pa

        batches = list(reader.batches()) or [pa.RecordBatch.from_pylist([], schema=schema)]
        ctx.register_record_batches(name, [batches])
        remember(plan, "datafusion", "record batches in memory, because floats are among the columns", options)
    else:
        ctx.register_dataset(name, ScanDataset(reader))
        remember(plan, "datafusion", "an Arrow dataset of the planned files", options)
    return ctx.table(name)


def _has_floats(type_: Any) -> bool:
    import pyarrow as pa

    if pa.types.is_dictionary(type_):
        return _has_floats(type_.value_type)
    return bool(pa.types.is_floating(type_)) or any(_has_floats(type_.field(i).type) for i in range(type_.num_fields))
