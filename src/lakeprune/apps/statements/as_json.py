"""A plan, and what came of it, as the JSON document whose shape document.py states."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

from lakeprune import __version__
from lakeprune.apps.statements.execution import Execution
from lakeprune.apps.statements.merge.as_json import merge_document
from lakeprune.apps.statements.model import Status
from lakeprune.apps.statements.plan import StatementPlan
from lakeprune.apps.statements.reconcile import Reconciliation
from lakeprune.render.json.report import quantity
from lakeprune.report.document import View
from lakeprune.report.gates import Assertion

if TYPE_CHECKING:
    from lakeprune.apps.statements import document as shape
    from lakeprune.formats.delta.spark_scan import DeltaScan


def json_chunks(statement: StatementPlan | Execution, _: View) -> Iterator[str]:
    yield json.dumps(document(*statement.parts), indent=2) + "\n"


def document(plan: StatementPlan, execution: Execution | None) -> dict[str, Any]:
    """The whole document as Python values."""
    whole: shape.StatementDocument = {
        "schema_version": plan.schema_version,
        "lakeprune_version": __version__,
        "table": plan.table,
        "version": plan.version,
        "result": _result(plan, execution),
        "statement": _statement(plan),
        "plan": _plan(plan),
        "execution": None if execution is None else _execution(execution),
        "reconciliation": None
        if execution is None or execution.reconciliation is None
        else _reconciliation(execution.reconciliation),
    }
    return cast("dict[str, Any]", whole)


def _result(plan: StatementPlan, execution: Execution | None) -> shape.ResultName:
    if plan.is_empty:
        return "nothing_matches"
    if execution is None:
        return "planned" if plan.passed else "guarded"
    if execution.status is Status.COMMITTED:
        return "committed" if execution.passed else "differs"
    return "guarded" if execution.status is Status.GUARDED else "conflict"


def _statement(plan: StatementPlan) -> shape.Statement:
    statement = plan.statement
    return {
        "operation": statement.operation.value,
        "condition": statement.condition,
        "executed": statement.executed,
        "assignments": [{"column": column, "expression": expression} for column, expression in statement.assignments],
        "clauses": [{"text": text, "rewritten": rewritten} for text, rewritten in plan.skipping.clauses],
        "partition_only": plan.skipping.is_partition_only,
        "timezone": plan.strengthening.zone,
    }


def _plan(plan: StatementPlan) -> shape.Plan:
    undecided = plan.skipping.undecided.files
    return {
        "merge": None if plan.merge is None else merge_document(plan.merge),
        "skipping": {
            "total": quantity(plan.skipping.total),
            "full": quantity(plan.skipping.full),
            "undecided": quantity(plan.skipping.undecided),
        },
        "verification": {
            "files_read": undecided,
            "columns": list(plan.read_columns),
            "files_without_match": undecided + plan.skipping.full.files - plan.effects.touched.files,
        },
        "effects": _effects(plan),
        "strengthening": {
            "wanted": plan.strengthening.is_wanted,
            "condition": plan.strengthening.condition,
            "added": list(plan.strengthening.added),
            "delta_scan_as_written": _scan(plan.strengthening.as_written),
            "delta_scan_strengthened": _scan(plan.strengthening.scanned),
        },
        "guards": list(map(_guard, plan.guards)),
        "files": [
            {
                "path": file.path,
                "bytes": file.size,
                "live_rows": file.live,
                "matching_rows": file.matching,
                "fate": file.fate.value,
            }
            for file in plan.touched
        ],
        "elapsed_ms": plan.elapsed_ms,
    }


def _effects(plan: StatementPlan) -> shape.Effects:
    effects = plan.effects
    return {
        "touched": quantity(effects.touched),
        "rewritten": quantity(effects.rewritten),
        "removed_whole": quantity(effects.removed),
        "deletion_vectors": quantity(effects.vectors),
        "rows_updated": effects.updated,
        "rows_deleted": effects.deleted,
        "rows_inserted": effects.inserted,
        "rows_copied": effects.copied,
        "write_amplification": effects.write_amplification,
    }


def _scan(scan: DeltaScan | None) -> shape.Scan | None:
    return None if scan is None else {"files": scan.files, "bytes": scan.bytes}


def _guard(guard: Assertion) -> shape.Guard:
    details = cast("dict[str, int]", guard.details)
    return {
        "name": cast("Any", guard.name),
        "result": "pass" if guard.passed else "fail",
        "threshold": details.get("threshold"),
        "actual": details.get("actual"),
        "message": None if guard.passed else guard.message,
    }


def _execution(execution: Execution) -> shape.Execution:
    commit = execution.commit
    return {
        "status": execution.status.value,
        "version": None if commit is None else commit.version,
        "read_version": None if commit is None else commit.read_version,
        "attempts": execution.attempts,
        "notes": list(execution.notes),
        "conflict": execution.conflict,
        "operation_metrics": {} if commit is None else dict(commit.metrics),
        "elapsed_ms": execution.elapsed_ms,
    }


def _reconciliation(reconciliation: Reconciliation) -> shape.Reconciliation:
    return {
        "result": "pass" if reconciliation.passed else "fail",
        "checks": [
            {
                "name": check.name,
                "expected": check.expected,
                "found": check.found,
                "result": "pass" if check.passed else "fail",
                "details": list(check.details),
            }
            for check in reconciliation.checks
        ],
    }
