"""Reports on tables made of Python rows, through the same steps as `explain`."""

from __future__ import annotations

from typing import Any

from lakeprune.apps.explain.explainer import Explainer
from lakeprune.engines.duckdb.engine import DuckDBEngine
from lakeprune.planning.planner import Planner
from lakeprune.planning.session import profile_of
from lakeprune.programs.patterns import Evaluation
from lakeprune.report.gates import Gates
from lakeprune.report.model import Report
from lakeprune.values.types import DOUBLE, INT, STRING
from tests.builders.snapshot import File, RowsSnapshot

COLUMNS = {"country": STRING, "age": INT, "price": DOUBLE, "name": STRING}
USERS = (
    File("a", 700, 3, 0, {"country": "IT"}, {"age": (41, 65, 0)}),
    File("b", 800, 5, 0, {"country": "IT"}, {"age": (22, 38, 0)}),
    File("c", 700, 3, 0, {"country": "US"}, {"age": (31, 55, 0)}),
    File("d", 750, 4, 0, {"country": "US"}, {"age": (18, 29, 0)}),
    File("e", 750, 4, 0, {"country": "DE"}, {"age": (40, 60, 0)}),
    File("f", 800, 5, 0, {"country": "DE"}, {"age": (20, 35, 0)}),
)


def snapshot(*files: File, **facts: Any) -> RowsSnapshot:
    return RowsSnapshot(COLUMNS, files, partition_by=["country"], **facts)


def report_on(table: RowsSnapshot, where: str | None, gates: Gates | None = None, **session: Any) -> Report:
    """The report of one predicate."""
    (report,) = reports_on(table, [where], gates, **session)
    return report


def reports_on(table: RowsSnapshot, wheres: list[str | None], gates: Gates | None = None, **session: Any) -> list[Report]:
    profile, shown = profile_of(**session)
    engine = DuckDBEngine()
    explainer = Explainer(Planner(Evaluation(engine, table, profile)), shown, gates or Gates(), 0.0)
    with engine.awake():
        return explainer.reports(wheres)
