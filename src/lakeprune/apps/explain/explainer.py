"""Reports on an opened table: questions asked of its planner, attributed, judged by the gates.

In: a planner, the session as it is shown, the gates. Out: `Report`s, from one read of the metadata. Listings and pictures are
made when somebody asks a report for them.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from lakeprune.errors import UsageError
from lakeprune.planning.planner import Planner
from lakeprune.planning.question import Question
from lakeprune.planning.session import Session, session_of
from lakeprune.programs.patterns import Pattern
from lakeprune.programs.select import Order
from lakeprune.report.attribution import Attribution, attribute
from lakeprune.report.buckets import bucket_of
from lakeprune.report.gates import Gates, check_gates, judge
from lakeprune.report.model import ClauseReport, Diagnosis, FileReport, Report
from lakeprune.skipping.verdict import Verdict

if TYPE_CHECKING:
    from lakeprune.predicate.condition import Condition
    from lakeprune.report.pictures.model import Picture


class Explainer(Struct, frozen=True):
    planner: Planner
    session: Session
    gates: Gates
    started: float
    explain_why: bool = False

    def close(self) -> None:
        """Remove what was fetched for this table alone; for a program that ends without cleaning up after itself."""
        self.planner.snapshot.close()

    def reports(self, wheres: Sequence[str | Condition | None]) -> list[Report]:
        """One report per predicate, in order."""
        check_gates(self.gates, has_predicate=list(wheres) != [None])
        questions = self.planner.ask_all(wheres)
        found = self.planner.patterns(questions)
        return [self.report(question, patterns) for question, patterns in zip(questions, found, strict=True)]

    def report(self, question: Question, patterns: Sequence[Pattern]) -> Report:
        """The report of one question whose patterns are known."""
        has_predicate = question.condition is not None
        numbers = attribute(question.plan, patterns if has_predicate else [_unpruned(pattern) for pattern in patterns])
        clauses = tuple(
            ClauseReport(clause, bucket_of(clause, question.plan.evidence), credit)
            for clause, credit in zip(question.plan.clauses, numbers.clauses, strict=True)
        )
        undecided = [clause.clause.text for clause in clauses if not clause.is_attributable]
        return Report(
            table=self.planner.facts.location,
            predicate=question.text,
            facts=self.planner.facts,
            session=session_of(self.session, self.planner.profile, question.condition, question.plan),
            numbers=numbers,
            clauses=clauses,
            assertions=judge(self.gates, numbers, undecided, has_predicate=has_predicate),
            elapsed_ms=round((time.perf_counter() - self.started) * 1000),
            listing=lambda limit: self._listing(question, Order.PATH, limit),
            picture=lambda: self._picture(question, numbers),
            traffic=self.planner.snapshot.traffic(),
            diagnoses=self._diagnoses(question, patterns, numbers) if self.explain_why else None,
        )

    def _diagnoses(self, question: Question, patterns: Sequence[Pattern], numbers: Attribution) -> tuple[Diagnosis, ...]:
        from lakeprune.report.diagnosis.diagnose import diagnose

        if question.condition is None:
            return ()
        with self.planner.reading():
            return diagnose(self.planner.evaluation, question, list(patterns), numbers)

    def _listing(self, question: Question, order: Order, limit: int | None) -> Iterator[FileReport]:
        from lakeprune.report.listing import Lister

        if limit is not None and limit < 0:
            raise UsageError("LP218", f"the limit is {limit}", fix="give 0 or more, or None for every file")
        has_predicate = question.condition is not None
        lister = Lister(question.plan, self.planner.facts, self.planner.profile, has_predicate=has_predicate)
        for container in self.planner.select(question, frozenset(Verdict), order=order, limit=limit):
            yield lister.file_report(container)

    def _picture(self, question: Question, numbers: Attribution) -> Picture:
        from lakeprune.report.pictures.compose import compose
        from lakeprune.report.pictures.model import MOST_FILES

        with self.planner.engine.awake(), self.planner.reading():
            largest = list(self._listing(question, Order.LARGEST, MOST_FILES))
            by_verdict = (numbers.total.files - numbers.kept.files, numbers.kept.files - numbers.full.files, numbers.full.files)
            has_predicate = question.condition is not None
            return compose(self.planner.evaluation, question.plan, by_verdict, largest, has_predicate=has_predicate)


def _unpruned(pattern: Pattern) -> Pattern:
    """Without a predicate nothing is pruned, not even a file without live rows."""
    return replace(pattern, signature=replace(pattern.signature, is_empty=False))
