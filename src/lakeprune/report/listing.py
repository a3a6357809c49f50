"""One file's outcome as the report shows it: names instead of numbers, values a reader knows instead of canonical ones."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from lakeprune.formats.row_groups.rung import ROW_GROUP
from lakeprune.formats.snapshot import SnapshotFacts
from lakeprune.predicate.tree import Column, Profile
from lakeprune.programs.patterns import Signature
from lakeprune.programs.select import Container
from lakeprune.report.attribution import assumed_columns
from lakeprune.report.model import CONSTANT_PHASE, Bounds, FileReport
from lakeprune.report.row_groups import RowGroupFile
from lakeprune.report.verdict import CONSTANT, Keeps, blocking_clause, clause_needs, credit_of, crediting_clause
from lakeprune.skipping.plan import Plan
from lakeprune.skipping.verdict import Verdict
from lakeprune.values.literals import format_value
from lakeprune.values.types import TIME_KINDS

if TYPE_CHECKING:
    from lakeprune.programs.row_groups import RowGroup


class _Judgement(Struct, frozen=True):
    """What files of one signature have in common; holds the signature, whose identity is its key."""

    signature: Signature
    verdict: Verdict
    credit: str | None
    phase: str | None
    clause: str | None
    keeps: Keeps | None
    assumes: list[str]


class Lister:
    """Turns outcomes of one plan into file reports."""

    def __init__(self, plan: Plan, facts: SnapshotFacts, profile: Profile, *, has_predicate: bool) -> None:
        self._plan = plan
        self._needs = clause_needs(plan)
        self._names = {field.physical: field.name for field in facts.schema.fields}
        self._profile = profile
        self._has_predicate = has_predicate
        self._judged: dict[int, _Judgement] = {}
        self._phases = {CONSTANT: CONSTANT_PHASE, **{rung.name: rung.phase for rung in (*plan.ladder, ROW_GROUP)}}

    def row_group(self, group: RowGroup) -> RowGroupFile:
        """The same for a row group; the plan is one of row groups."""
        judged = self._judged.get(id(group.signature)) or self._judge(group.signature)
        is_kept = judged.verdict is not Verdict.DROP
        place = (group.number, is_kept, group.start, group.end, group.size, group.needed, group.rows)
        return RowGroupFile(*place, judged.verdict, judged.credit, judged.clause, judged.keeps)

    def file_report(self, outcome: Container) -> FileReport:
        """The file with its verdict, and its credit or what stood in the way."""
        judged = self._judged.get(id(outcome.signature)) or self._judge(outcome.signature)
        rows, deleted = outcome.rows, outcome.deleted
        # By position: a listing may have a million files, and naming the fields doubles the cost of each.
        return FileReport(
            outcome.path,
            judged.verdict is not Verdict.DROP,
            judged.phase,
            judged.signature.has_stats,
            rows,
            None if rows is None or deleted is None else rows - deleted,
            outcome.size,
            self._partition(outcome.partition),
            self._bounds(outcome),
            judged.verdict,
            judged.credit,
            judged.clause,
            judged.keeps,
            judged.assumes,
        )

    def _judge(self, signature: Signature) -> _Judgement:
        # Without a predicate nothing is pruned, not even a file without live rows.
        verdict = signature.verdict if self._has_predicate else Verdict.FULL
        dropped = verdict is Verdict.DROP
        index, keeps = (crediting_clause(signature, self._plan), None) if dropped else blocking_clause(signature, self._needs)
        clause = None if index is None else self._plan.clauses[index].text
        credit = credit_of(signature, self._plan) if dropped else None
        phase = None if credit is None else self._phases.get(credit, self._plan.ladder[-1].phase)
        assumes = assumed_columns(self._plan, signature) if dropped else []
        judged = _Judgement(signature, verdict, credit, phase, clause, keeps, assumes)
        self._judged[id(signature)] = judged
        return judged

    def _partition(self, text: str | None) -> dict[str, str | None]:
        """Recorded partition values under the columns' logical names."""
        recorded: dict[str, str | None] = json.loads(text) if text else {}
        return {self._names.get(key, key): value for key, value in recorded.items()}

    def _bounds(self, outcome: Container) -> dict[str, Bounds]:
        return {
            ".".join(column.path): Bounds(shown(lo, column, self._profile), shown(hi, column, self._profile))
            for column, (lo, hi) in zip(self._plan.columns, outcome.bounds, strict=True)
            if not self._plan.evidence.is_exact(column) and not (lo is None and hi is None)
        }


def shown(value: Any, column: Column, profile: Profile) -> Any:
    """Numbers as numbers, everything else as the text a user would write, without quotes."""
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int) and column.type.kind not in TIME_KINDS:
        return value
    if isinstance(value, float):
        return value if value - value == 0 else str(value)  # JSON has neither NaN nor infinities
    text = format_value(value, column.type, profile.zone)
    return text[1:-1] if text.startswith("'") else text
