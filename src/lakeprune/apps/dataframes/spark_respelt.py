"""What Delta Spark plans for another spelling of a scan's condition, asked of Delta itself. Nothing is executed."""

from __future__ import annotations

from lakeprune.apps.dataframes.scan import DeltaPlan, DeltaScan
from lakeprune.apps.dataframes.spark_plans import Planned, plan_of_frame, query_errors
from lakeprune.apps.dataframes.spark_scans import delta_plans
from lakeprune.errors import LakepruneError


def planned_with(planned: Planned, scan: DeltaScan, where: str) -> DeltaPlan | None:
    """Delta's plan of the table at the scan's version with this condition; None when it cannot be had."""
    table = planned.spark.read.format("delta").option("versionAsOf", scan.version)
    place = f"file://{scan.location}" if scan.location.startswith("/") else scan.location
    try:
        with query_errors(where):
            found = delta_plans(plan_of_frame(table.load(place).where(where)))
    except LakepruneError:
        return None  # a spelling that Spark does not take is no proposal
    return found[0] if len(found) == 1 else None
