"""One file's outcome as the report shows it: names instead of numbers, values a reader knows instead of canonical ones."""

from __future__ import annotations

import json
from typing import Any

from lakeprune.engines.evaluate import FileOutcome
from lakeprune.predicate.literals import format_value
from lakeprune.predicate.schema import Role
from lakeprune.predicate.tree import Column, Profile
from lakeprune.report.model import FileReport
from lakeprune.report.verdict import Verdict, blocking_clause, clause_needs, credit_of, crediting_clause, verdict_of
from lakeprune.skipping.plan import Plan
from lakeprune.tables.snapshot import SnapshotFacts


class Lister:
    """Turns outcomes of one plan into file reports."""

    def __init__(self, plan: Plan, facts: SnapshotFacts, profile: Profile) -> None:
        self._plan = plan
        self._needs = clause_needs(plan)
        self._names = {field.physical: field.name for field in facts.schema.fields}
        self._profile = profile

    def file_report(self, outcome: FileOutcome) -> FileReport:
        """The file with its verdict, and its credit or what stood in the way."""
        signature = outcome.signature
        verdict = verdict_of(signature)
        dropped = verdict is Verdict.DROP
        index, keeps = (crediting_clause(signature), None) if dropped else blocking_clause(signature, self._needs)
        return FileReport(
            path=outcome.path,
            size=outcome.size,
            records=outcome.rows,
            live_rows=None if outcome.rows is None or outcome.deleted is None else outcome.rows - outcome.deleted,
            has_stats=signature.has_stats,
            partition=self._partition(outcome.partition),
            bounds=self._bounds(outcome),
            verdict=verdict,
            credit=credit_of(signature) if dropped else None,
            clause=None if index is None else self._plan.clauses[index].text,
            keeps=keeps,
        )

    def _partition(self, text: str | None) -> dict[str, str | None]:
        """Recorded partition values under the columns' logical names."""
        recorded: dict[str, str | None] = json.loads(text) if text else {}
        return {self._names.get(key, key): value for key, value in recorded.items()}

    def _bounds(self, outcome: FileOutcome) -> dict[str, tuple[Any, Any]]:
        return {
            ".".join(column.path): (_shown(lo, column, self._profile), _shown(hi, column, self._profile))
            for column, (lo, hi) in zip(self._plan.columns, outcome.bounds, strict=True)
            if column.role is Role.DATA and not (lo is None and hi is None)
        }


def _shown(value: Any, column: Column, profile: Profile) -> Any:
    """Numbers as numbers, everything else as the text a user would write, without quotes."""
    if value is None or isinstance(value, str | bool):
        return value
    text = format_value(value, column.type, profile.zone)
    if text.startswith("'"):
        return text[1:-1]
    if isinstance(value, int) or (isinstance(value, float) and value - value == 0):  # neither NaN nor infinite
        return value
    return str(value) if isinstance(value, float) else text
