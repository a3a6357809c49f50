"""One small document of every kind, made by hand: what renderers and schemas must do needs neither Spark nor a table."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
from msgspec import Raw
from msgspec.structs import replace

import lakeprune
import lakeprune.sharing
from lakeprune.apps.compare.model import ClauseRow, Comparison, EngineRow
from lakeprune.apps.compare.model import Status as EngineStatus
from lakeprune.apps.dataframes.model import DataFrameReport, Section
from lakeprune.apps.dataframes.scan import Filter, Planned, Scan, Unexplained
from lakeprune.apps.scan.model import Pushdown, ScanClause, ScanColumn, ScanPlan, TableIdentity, Totals
from lakeprune.apps.scan.received import ReceivedFiles
from lakeprune.apps.scan.statistics import Bound, ColumnStatistics, Count, ScanStatistics
from lakeprune.apps.statements.execution import Execution
from lakeprune.apps.statements.merge.model import MergeKey, MergePart, Obstacle, ObstacleKind
from lakeprune.apps.statements.model import Effects, Fate, Operation, Status, Touched
from lakeprune.apps.statements.plan import Clause, SetColumn, Skipping, StatementPlan, StatementText, Strengthening
from lakeprune.apps.statements.reconcile import Check, Reconciliation
from lakeprune.apps.verify.model import FalseAssumption
from lakeprune.errors import UsageError
from lakeprune.formats.commit import Commit
from lakeprune.planning.session import Session
from lakeprune.predicate.tree import TRUE
from lakeprune.report.amount import Amount
from lakeprune.report.diff import Diff
from lakeprune.report.document import Document
from lakeprune.report.failure import Failure
from lakeprune.report.gates import Assertion, Gates
from tests.builders.reports import USERS, report_on, snapshot
from tests.builders.verifications import audit, fault, unsound, verification

CLAUSES = (Clause("year(day) = 2024", "day >= '2024-01-01'"), Clause("id > 3", None))
REPORT = report_on(snapshot(*USERS), "country = 'DE' AND age > 40", Gates(max_files=2))


def frame() -> DataFrameReport:
    """A query over a Delta table, of which Delta Spark reads two files, and over plain Parquet."""
    plan = Planned(2, 1500, 6, 4500, "filter", ("name <> 'x'",))
    delta = Scan("delta", "users", ("/lake/users",), 3, (Filter("age > 40", ()),), False, plan)
    listed = Planned(4, 100, 8, 300, partition_filters=("p = 1",), pushed_filters="In(x)")
    parquet = Scan("parquet", None, ("/lake/raw",), None, (Filter("x > 3", ()),), True, listed)
    gate = Assertion("max_files", False, {"threshold": 2, "actual": 4}, "4 file(s) to read are above the limit of 2")
    sections = (Section(delta, REPORT, REPORT.assertions), Section(parquet, None, (gate,)))
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
        "statement": StatementText(operation, "year(day) = 2024", "year(day) = 2024", "UTC", clauses=CLAUSES),
        "skipping": Skipping(Amount(9, 90, 45, 1), one, Amount(3, 30, 15)),
        "read_columns": ("day",),
        "touched": files,
        "effects": Effects(Amount(3, 30, 15), one, one, one, deleted=6, copied=2),
        "is_empty": False,
        "strengthening": Strengthening(None, "year(day) = 2024 AND id > 3", ("id > 3",), None, True),
        "guards": (Assertion("max_rows", True, {"threshold": 20, "actual": 6}, ""),),
        "elapsed_ms": 31,
    }
    return StatementPlan(**{**found, **changes})


def scan_plan() -> ScanPlan:
    """A plan that reads one file of two, as it comes back from JSON."""
    country, age = (
        ScanColumn("country", "country", "string", True, True, None),
        ScanColumn("age", "a1", "integer", True, False, 2),
    )
    line = {
        "path": "country=D%C3%89/1",
        "uri": "s3://lake/users/country=DÉ/1",
        "size": 10,
        "modified": None,
        "rows": 3,
        "verdict": "partial",
        "residual": [1],
        "partition": {"country": "DÉ"},
        "vector": None,
        "group": 0,
        "stats": {"age": {"min": "1", "max": None, "nulls": 0}},
    }
    bounds = ColumnStatistics("age", "integer", Bound("1", False), Bound(None, False), Count(0, False))
    statistics = ScanStatistics(Count(3, False), Count(10, False), (bounds,))
    clauses = ((Pushdown.EXACT, "country = 'DÉ'"), (Pushdown.INEXACT, "age > 2"))
    return ScanPlan(
        table=TableIdentity("delta", "s3://lake/users", 3, "id", "0123456789abcdef"),
        session=Session(None, "2024-01-31 00:00:00", "strict"),
        columns=(age,),
        filter_columns=(),
        partition_columns=(country,),
        clauses=tuple(ScanClause(text, pushdown, TRUE, TRUE) for pushdown, text in clauses),
        totals=Totals(2, 1, 1, 20, 10, 3),
        elapsed_ms=1,
        source=ReceivedFiles([Raw(json.dumps(line).encode())], statistics, (country,)),
        planner=None,
        predicate="country = 'DÉ' AND age > 2",
        limit=None,
        groups=1,
    )


def comparison() -> Comparison:
    """An engine that opens more than it needs, one that fails, one that is not there."""
    return Comparison(
        table="./users",
        version=7,
        predicate="age + 1 > 40",
        files_total=6,
        files_needed=2,
        clauses=(ClauseRow("age + 1 > 40", "Inexact"),),
        engines=(
            EngineRow("delta-rs", EngineStatus.RAN, "1.6.6", 6, 3, ("age + 1 > 40",)),
            EngineRow("duckdb", EngineStatus.FAILED, "2.0.0", message="no such function"),
            EngineRow("polars", EngineStatus.MISSING, message="not installed: pip install polars"),
        ),
        elapsed_ms=5,
    )


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
        Diff(REPORT, report_on(snapshot(), None)),
        report_on(snapshot(), None),
        frame(),
        scan_plan(),
        verification(),
        unsound(audit=audit(fault())),
        verification(false_assumptions=(FalseAssumption("part-1.parquet", "score", 3),)),
        audit(),
        plan(),
        plan(guards=refused),
        plan(Operation.UPDATE, statement=StatementText(Operation.UPDATE, "id = 1", "id = 1", "UTC", (SetColumn("x", "x + 1"),))),
        plan(Operation.MERGE, merge=merge_part()),
        nothing,
        replace(execution(Status.NOTHING_MATCHES), plan=nothing),
        *(execution(status) for status in (Status.COMMITTED, Status.GUARDED, Status.CONFLICT)),
        execution(differs=True),
        comparison(),
        Failure(UsageError("LP201", "unknown command `explian`", fix="did you mean explain?"), 3),
        lakeprune.sharing.hints("age > 4 AND name LIKE '%x%'", pa.schema({"age": pa.int32(), "name": pa.string()})),
        lakeprune.sharing.hints("price > 4", pa.schema({"price": pa.decimal128(5, 2)})),
        Failure(UsageError("LP101", "no such column", where="where", fix="name another"), 3),
    ]
