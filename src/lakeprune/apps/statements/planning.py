"""The steps of every statement, once: check it, skip by metadata, count, strengthen, judge by the guards.

In: a `Statement` and a `Request`. Out: a `PlannedStatement`, which is a plan that can be executed. Reads metadata, then the
undecided files; writes nothing.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from msgspec.structs import replace

from lakeprune.apps.statements.candidates import find_candidates, keys_of
from lakeprune.apps.statements.execution import Execution, execute
from lakeprune.apps.statements.guards import guards_of, judge
from lakeprune.apps.statements.model import Candidate, Certainty, amount_of
from lakeprune.apps.statements.plan import Skipping, StatementPlan
from lakeprune.apps.statements.spark_target import Target, open_target
from lakeprune.apps.statements.spark_writer import marked
from lakeprune.apps.statements.statement import Checked, Request, Statement
from lakeprune.apps.statements.strengthen import strengthening_of
from lakeprune.engines.spark.lines import unlogged
from lakeprune.formats.commit import Commit
from lakeprune.planning.session import SessionOptions, among, for_rows
from lakeprune.report.attribution import total_of


class PlannedStatement(StatementPlan, frozen=True, kw_only=True):
    """A plan, bound to the statement and the table it was made for. Looking at it changes nothing; `execute` does it."""

    checked: Checked
    target: Target
    request: Request

    def execute(self, retry: int = 0) -> Execution:
        """Do it, through Delta's own transaction, and check the commit. `retry` plans afresh that many times after a conflict."""
        return execute(self, retry)

    def again(self, version: int | None = None) -> PlannedStatement:
        """The same statement planned afresh: at the latest version, or at an older one that a commit is checked against."""
        options = {**self.request.options, "now": self.target.moment}
        return plan_statement(self.checked.again, replace(self.request, options=options), version)

    def newest_version(self) -> int | None:
        return self.target.planner.snapshot.newest_version()

    def write(self, mark: str) -> None:
        """Run it once, with a mark that its commit can be found by. `Conflict` when another commit came first."""
        with marked(self.target.spark, mark) as spark:
            self.checked.write(spark, self.condition)

    def commit_marked(self, mark: str) -> Commit | None:
        return self.target.planner.snapshot.commit_marked(mark)

    def keys_of(self, paths: Sequence[str]) -> dict[str, str]:
        return keys_of(self.target.planner, paths)


def plan_statement(statement: Statement, request: Request, version: int | None = None) -> PlannedStatement:
    """The plan at the latest version, or at an older one."""
    started = time.perf_counter()
    options = request.options
    guards = guards_of(options)
    target = open_target(request.table, request.spark, for_rows(among(options, SessionOptions), "a statement"), version)
    planner = target.planner
    with planner.engine.awake(), unlogged():
        checked = statement.check(target)
        question = checked.question
        total = total_of(planner.patterns([question])[0])
        candidates = find_candidates(planner, question, checked.decides)
        full, undecided = (amount_of(_of(candidates, certainty)) for certainty in (Certainty.FULL, Certainty.UNDECIDED))
        outcome = checked.count(candidates)
        strengthening = strengthening_of(checked, outcome, len(candidates), is_wanted=bool(options.get("strengthen", True)))
        scanned = strengthening.scanned or strengthening.as_written
        return PlannedStatement(
            table=planner.facts.location,
            version=target.version,
            statement=checked.text,
            skipping=Skipping(total, full, undecided),
            read_columns=checked.read_columns if undecided.files else (),
            touched=outcome.touched,
            effects=outcome.effects,
            is_empty=outcome.is_empty,
            strengthening=strengthening,
            guards=judge(guards, outcome.effects, question.plan),
            merge=checked.part(None if scanned is None else scanned.files),
            elapsed_ms=round((time.perf_counter() - started) * 1000),
            checked=checked,
            target=target,
            request=request,
        )


def _of(candidates: Sequence[Candidate], certainty: Certainty) -> list[Candidate]:
    return [file for file in candidates if file.certainty is certainty]
