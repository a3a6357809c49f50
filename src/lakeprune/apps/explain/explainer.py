"""Reports on an opened table: questions asked of its planner, attributed, judged by the gates.

In: a planner, the session as it is shown, the gates. Out: `Report`s, from one read of the metadata. Listings and pictures are
made when somebody asks a report for them.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from lakeprune.apps.explain.source import OpenedSource
from lakeprune.formats.snapshot import SnapshotFacts
from lakeprune.planning.planner import Planner
from lakeprune.planning.question import Question
from lakeprune.planning.session import Session, session_of
from lakeprune.predicate.reasons import Reason, ReasonCode
from lakeprune.programs.patterns import Pattern
from lakeprune.report.attribution import Attribution, ClauseCredit, attribute
from lakeprune.report.buckets import EXACT_BUCKETS, Bucket, bucket_of
from lakeprune.report.engines import EngineRead, pair
from lakeprune.report.gates import Gates, check_gates, demanded, judge
from lakeprune.report.model import ClauseReport, Diagnosis, Report
from lakeprune.report.verdict import Keeps
from lakeprune.skipping.ladder import Level

if TYPE_CHECKING:
    from lakeprune.apps.explain.below import Below, QuestionGroups
    from lakeprune.formats.snapshot import Note
    from lakeprune.predicate.condition import Condition
    from lakeprune.predicate.tree import Clause
    from lakeprune.programs.row_groups import Asked


class Explainer(Struct, frozen=True):
    planner: Planner
    session: Session
    gates: Gates
    started: float
    explain_why: bool = False
    row_groups: Asked | None = None  # None: nobody asks for them

    def close(self) -> None:
        """Remove what was fetched for this table alone; for a program that ends without cleaning up after itself."""
        self.planner.snapshot.close()

    def reports(self, wheres: Sequence[str | Condition | None]) -> list[Report]:
        """One report per predicate, in order."""
        check_gates(self.gates, has_predicate=list(wheres) != [None])
        return self.answers(self.planner.ask_all(wheres))

    def answers(self, questions: Sequence[Question], planned: Sequence[EngineRead | None] | None = None) -> list[Report]:
        """One report per question, in order, with what the format's own engine reads: as it planned it, where that is known."""
        engine = self.planner.snapshot.own_skipping(self.planner.profile)
        pairs = [pair(question, engine) for question in questions]
        asked = [question if two is None else two.both for question, two in zip(questions, pairs, strict=True)]
        planner = self.planner if self.row_groups is None else self.planner.asking_again()
        found = planner.patterns(asked)
        mine = [patterns if two is None else two.ours(patterns) for two, patterns in zip(pairs, found, strict=True)]
        below = None if self.row_groups is None else _below(planner, questions, self.row_groups)
        reports = []
        for index, (two, patterns) in enumerate(zip(pairs, found, strict=True)):
            read = None if two is None else two.read(patterns)
            if planned is not None and (seen := planned[index]) is not None:
                read = replace(seen, why=seen.why if read is None else read.why or seen.why)
            elif planned is not None:
                read = None
            groups = None if below is None else below.of(index)
            reports.append(self.report(questions[index], mine[index], () if read is None else (read,), groups))
        return reports

    def report(
        self,
        question: Question,
        patterns: Sequence[Pattern],
        engines: tuple[EngineRead, ...] = (),
        groups: QuestionGroups | None = None,
    ) -> Report:
        """The report of one question whose patterns are known."""
        planning_ms = self._elapsed_ms()
        has_predicate = question.condition is not None
        self.planner.check_computable(question, patterns)
        by_files = attribute(question.plan, patterns if has_predicate else [_unpruned(pattern) for pattern in patterns])
        numbers = by_files if groups is None else groups.numbers(patterns)
        clauses = tuple(
            self._clause(clause, bucket_of(clause, question.plan.evidence), credit)
            for clause, credit in zip(question.plan.clauses, numbers.clauses, strict=True)
        )
        engines = tuple(_limited(engine, clauses) for engine in engines)
        wants_why = self.explain_why or bool(self.gates.get("fail_on"))
        # A gate that passes because nothing is left says what the table does hold.
        is_vacuous = has_predicate and not numbers.kept.files and any(demanded(self.gates))
        # Diagnoses and pictures are about what evidence about files does.
        diagnoses = self._diagnoses(question, patterns, by_files, engines) if wants_why or is_vacuous else None
        report = Report(
            table=self.planner.facts.location,
            predicate=question.text,
            facts=self._facts(patterns, [*(() if groups is None else groups.notes), *self._served(question, by_files)]),
            session=session_of(self.session, self.planner.profile, question.condition, question.plan),
            numbers=numbers,
            clauses=clauses,
            condition=question.bound,
            engines=engines,
            elapsed_ms=self._elapsed_ms(),
            planning_ms=planning_ms,
            source=OpenedSource(self, question, groups, by_files),
            traffic=self.planner.snapshot.traffic(),
            diagnoses=diagnoses,
            row_groups=None if groups is None else groups.report,
            manifest_clauses=self._manifest_clauses(question),
            reads=self.planner.snapshot.reads(),
        )
        judged = judge(self.gates, report)
        return judged if wants_why else replace(judged, diagnoses=None)

    def _clause(self, clause: Clause, bucket: Bucket, credit: ClauseCredit) -> ClauseReport:
        """The clause, which is not evaluated where lakeprune has no value of it for some partition value."""
        why = self.planner.why_not_evaluated(clause) if credit.kept[Keeps.EVALUATION_FAILED].files else None
        if why is not None:
            reason = Reason(ReasonCode.NOT_EVALUATED, f"lakeprune cannot evaluate it ({why}); Spark does, exactly")
            clause = replace(clause, reasons=(*clause.reasons, reason))
            bucket = Bucket.NOT_EVALUATED if bucket in EXACT_BUCKETS else bucket
        return ClauseReport(clause, bucket, credit)

    def _manifest_clauses(self, question: Question) -> tuple[str, ...]:
        """The clauses that something is known of above files."""
        groups = self.planner.snapshot.groups()
        if groups is None:
            return ()
        from lakeprune.programs.groups import group_plan, speaks

        plan = group_plan(question.plan, groups.facts.evidence)
        clauses = zip(plan.clauses, speaks(plan), strict=True)
        return tuple(clause.text for index, (clause, can_drop) in enumerate(clauses) if can_drop and not plan.is_constant(index))

    def _served(self, question: Question, numbers: Attribution) -> Sequence[Note]:
        """What a sharing server itself does with the predicate."""
        if "#" not in self.planner.facts.location:
            return ()
        from lakeprune.apps.explain.shared import server_note

        note = server_note(self.planner, question, numbers.kept.files)
        return () if note is None else (note,)

    def _elapsed_ms(self) -> int:
        return round((time.perf_counter() - self.started) * 1000)

    def _facts(self, patterns: Sequence[Pattern], more: Sequence[Note]) -> SnapshotFacts:
        """What the table says of itself, with what is worth a note now that its files are counted."""
        vectors = [pattern for pattern in patterns if pattern.signature.has_dv]
        counts = sum(pattern.files for pattern in vectors), sum(pattern.files_without_rows for pattern in vectors)
        notes, facts = [*self.planner.snapshot.counted_notes(*counts), *more], self.planner.facts
        return replace(facts, notes=(*facts.notes, *notes)) if notes else facts

    def _diagnoses(
        self, question: Question, patterns: Sequence[Pattern], numbers: Attribution, engines: tuple[EngineRead, ...]
    ) -> tuple[Diagnosis, ...]:
        from lakeprune.report.diagnosis.diagnose import diagnose

        if question.condition is None:
            return ()
        counted = [pattern for pattern in patterns if pattern.level is Level.FILE or pattern.files]
        with self.planner.reading():
            return diagnose(self.planner.evaluation, question, counted, numbers, engines)


def _limited(engine: EngineRead, clauses: Sequence[ClauseReport]) -> EngineRead:
    """What a model says where lakeprune cannot evaluate what the engine can: an upper limit, which says so."""
    unknown = [clause.clause.text for clause in clauses if clause.bucket is Bucket.NOT_EVALUATED]
    if engine.basis != "modelled" or not unknown:
        return engine
    return replace(engine, why=[*engine.why, f"at most: it evaluates what lakeprune cannot, {' AND '.join(unknown)}"])


def _below(planner: Planner, questions: Sequence[Question], asked: Asked) -> Below:
    from lakeprune.apps.explain.below import Below  # most explanations end at files

    return Below(planner, questions, asked)


def _unpruned(pattern: Pattern) -> Pattern:
    """Without a predicate nothing is pruned, not even a file without live rows."""
    return replace(pattern, signature=replace(pattern.signature, is_empty=False))
