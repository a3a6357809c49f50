"""One small document of every kind, made by hand: what renderers and schemas must do needs neither Spark nor a table."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from lakeprune.apps.dataframes.model import DataFrameReport, DeltaSection, ParquetSection
from lakeprune.apps.dataframes.scan import DeltaPlan, DeltaScan, Filter, ParquetScan, Unexplained
from lakeprune.apps.statements.execution import Execution
from lakeprune.apps.statements.merge.model import MergeKey, MergePart, Obstacle, ObstacleKind
from lakeprune.apps.statements.model import Effects, Fate, Operation, Status, Touched
from lakeprune.apps.statements.plan import Skipping, StatementPlan, StatementText, Strengthening
from lakeprune.apps.statements.reconcile import Check, Reconciliation
from lakeprune.formats.commit import Commit
from lakeprune.report.amount import Amount
from lakeprune.report.document import Document
from lakeprune.report.gates import Assertion, Gates
from tests.builders.reports import USERS, report_on, snapshot
from tests.builders.verifications import audit, fault, unsound, verification

REPORT = report_on(snapshot(*USERS), "country = 'DE' AND age > 40", Gates(max_files=2))


def frame() -> DataFrameReport:
    """A query over a Delta table, of which Delta Spark reads two files, and over plain Parquet."""
    plan = DeltaPlan(2, 1500, 6, 4500, "filter", ("name <> 'x'",))
    delta = DeltaScan("users", "/lake/users", 3, (Filter("age > 40", ()),), {}, False, plan)
    parquet = ParquetScan(None, ("/lake/raw",), ("x > 3",), ("p = 1",), "In(x)", True, 4, 100, 8, 300)
    gate = Assertion("max_files", False, {"threshold": 2, "actual": 4}, "4 file(s) to read are above the limit of 2")
    sections = (DeltaSection(delta, REPORT), ParquetSection(parquet, (gate,)))
    return DataFrameReport(sections, ("/lake/empty",), (Unexplained("csv", "no statistics"),), "UTC", "SELECT 1", 12)


def plan(operation: Operation = Operation.DELETE, **changes: Any) -> StatementPlan:
    """A statement that rewrites one file, removes another and hides rows of a third."""
    files = (
        Touched("part-1", "part-1", 10, 5, 3, Fate.REWRITE),
        Touched("part-2", "part-2", 10, None, None, Fate.REMOVE),
        Touched("part-3", "part-3", 10, 5, 3, Fate.VECTOR),
    )
    one = Amount(1, 10, 5)
    found: dict[str, Any] = {
        "table": "./users",
        "version": 7,
        "statement": StatementText(operation, "year(day) = 2024", "year(day) = 2024"),
        "skipping": Skipping(
            Amount(9, 90, 45, 1), one, Amount(3, 30, 15), False, (("year(day) = 2024", "day >= '2024-01-01'"), ("id > 3", None))
        ),
        "read_columns": ("day",),
        "touched": files,
        "effects": Effects(Amount(3, 30, 15), one, one, one, deleted=6, copied=2),
        "is_empty": False,
        "strengthening": Strengthening(None, "year(day) = 2024 AND id > 3", ("id > 3",), None, "UTC", True),
        "guards": (Assertion("max_rows", True, {"threshold": 20, "actual": 6}, ""),),
        "elapsed_ms": 31,
    }
    return StatementPlan(**{**found, **changes})


def merge_part() -> MergePart:
    key = MergeKey("t.id = s.id", "id", 4, True, 1, "id IN (1, 2, 3, 4)")
    obstacle = Obstacle(ObstacleKind.NO_LAYOUT_KEY, "ON has no equality on day", "add t.day = s.day", 9, 3)
    return MergePart("./changes", 5, ("WHEN MATCHED THEN DELETE",), ("note",), (key,), (obstacle,))


def execution(status: Status = Status.COMMITTED, *, differs: bool = False) -> Execution:
    """A statement as it ended."""
    commit = Commit(8, "DELETE", 7, {"numDeletedRows": "6"}, (), (), 0) if status is Status.COMMITTED else None
    check = Check("files removed", 2, 2, True)
    if differs:
        check = Check("files removed", 2, 1, False, ("expected, not found: part-1",))
    conflict = "ConcurrentAppendException: files were added" if status is Status.CONFLICT else None
    checked = None if commit is None else Reconciliation((check,))
    return Execution(plan(), status, 1, ("the table moved",), conflict, commit, checked, 40)


def every_document() -> list[Document]:
    """At least one document of every kind, and every way in which a statement ends."""
    refused = (Assertion("partition_filter", False, {}, "no partition column is bounded"),)
    nothing = plan(touched=(), effects=Effects(Amount(), Amount(), Amount(), Amount()), is_empty=True)
    return [
        REPORT,
        report_on(snapshot(), None),
        frame(),
        verification(),
        unsound(audit=audit(fault())),
        audit(),
        plan(),
        plan(guards=refused),
        plan(Operation.UPDATE, statement=StatementText(Operation.UPDATE, "id = 1", "id = 1", (("x", "x + 1"),))),
        plan(Operation.MERGE, merge=merge_part()),
        nothing,
        replace(execution(Status.NOTHING_MATCHES), plan=nothing),
        *(execution(status) for status in (Status.COMMITTED, Status.GUARDED, Status.CONFLICT)),
        execution(differs=True),
    ]
