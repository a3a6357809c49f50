"""Whether the files of a plan can be read by themselves, by a tool that knows nothing of tables.

In: a plan. Out: nothing, or an error that says what such a reader would get wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeprune.errors import UsageError

if TYPE_CHECKING:
    from lakeprune.apps.scan.model import ScanPlan


def check_raw(plan: ScanPlan) -> None:
    """LP273 where reading the files alone would give wrong rows."""
    if faults := raw_faults(plan):
        raise UsageError(
            "LP273",
            "the files cannot be read by themselves",
            where=plan.table.location,
            why="; ".join(faults),
            fix="hand the plan over (to_arrow, to_duckdb, to_polars, to_spark), or ask for raw URIs (raw_uris, --raw)",
        )


def raw_faults(plan: ScanPlan) -> list[str]:
    """What a raw read would get wrong, in sentences."""
    faults = []
    vectors = plan.files.num_rows - plan.files.column("vector").null_count
    if vectors and plan.table.since is not None:
        faults.append(f"{vectors} of {plan.files.num_rows} files do not say which of their rows changed, and how")
    elif vectors:
        faults.append(f"deleted rows would come back in {vectors} of {plan.files.num_rows} files")
    renamed = [column for column in plan.columns if column.physical != column.name and not column.is_partition]
    if renamed:
        faults.append(f"column `{renamed[0].name}` is called `{renamed[0].physical}` in files (column mapping)")
    return faults
