"""The rows of a plan as a relation of a DuckDB connection.

In: a plan, a connection of the caller. Out: a relation, which may be queried and registered as often as wanted; each scan reads
the planned files again. DuckDB pushes its projections down to the files.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lakeprune.apps.scan.files import check_arrow
from lakeprune.errors import UsageError

if TYPE_CHECKING:
    from lakeprune.apps.scan.model import ScanPlan
    from lakeprune.apps.scan.options import ScanOptions


def hand_off(plan: ScanPlan, con: Any, *, options: ScanOptions) -> Any:
    """A relation; `relation.create_view("name")` gives it a name in SQL."""
    check_arrow()
    from lakeprune.apps.scan.handoff.arrow_dataset import ScanDataset
    from lakeprune.apps.scan.handoff.reader import RowReader
    from lakeprune.apps.scan.handoff.record import remember

    if not hasattr(con, "from_arrow"):
        fix = "give a connection of DuckDB: plan.to_duckdb(duckdb.connect())"
        raise UsageError("LP285", f"{type(con).__name__} is not a connection of DuckDB", fix=fix)
    reader = RowReader(plan, options)
    if not reader.output.schema.names:
        fix = "name a column in `columns`, or use plan.to_arrow()"
        raise UsageError("LP285", "a relation of DuckDB has at least one column, and the plan has none", fix=fix)
    check_names(reader.output.schema.names)
    relation = con.from_arrow(ScanDataset(reader))
    remember(plan, "duckdb", "a relation over an Arrow dataset of the planned files", options)
    return relation


def check_names(names: Sequence[str]) -> None:
    """LP285 for columns that DuckDB would call by other names: it does not tell names apart by case."""
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(name.lower(), name)
        if other != name:
            what = f"DuckDB does not tell the columns `{other}` and `{name}` apart"
            raise UsageError("LP285", what, fix="leave one of them out of `columns`, or use plan.to_arrow()")
