"""Whether the files of a plan can be read by themselves, by a tool that knows nothing of tables.

In: a plan. Out: nothing, or an error that says what such a reader would get wrong.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lakeprune.errors import UsageError

if TYPE_CHECKING:
    from lakeprune.apps.scan.model import ScanColumn, ScanPlan


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
    for column in plan.columns:
        renamed = None if column.is_partition else _renamed(column)
        if renamed is not None:
            faults.append(f"column `{renamed[0]}` is called `{renamed[1]}` in files (column mapping)")
            break
    return faults


def _renamed(column: ScanColumn) -> tuple[str, str] | None:
    """The first name, of the column or inside it, that is another one in files; None when all are the same."""
    if column.physical != column.name:
        return column.name, column.physical
    return _renamed_inside(column.name, json.loads(column.type)) if column.type.startswith("{") else None


def _renamed_inside(path: str, declared: Any) -> tuple[str, str] | None:
    if not isinstance(declared, dict):
        return None
    for field in declared.get("fields", ()):
        below = f"{path}.{field['name']}"
        physical = (field.get("metadata") or {}).get("delta.columnMapping.physicalName", field["name"])
        found = (below, physical) if physical != field["name"] else _renamed_inside(below, field["type"])
        if found is not None:
            return found
    parts = (declared.get(name) for name in ("elementType", "keyType", "valueType"))
    return next((found for part in parts if (found := _renamed_inside(path, part)) is not None), None)
