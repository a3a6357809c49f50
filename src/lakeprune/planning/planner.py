"""The one way to ask a table: a predicate is read, bound, split and lowered once, and everything else follows from that.

In: a snapshot, an engine, the session of a predicate. Out: questions, their verdict patterns, the containers they select and
the residual predicate of each. Explain, verify, statements and DataFrames all live on it. Never opens a data file.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from lakeprune.engines.engine import Engine, EngineError, Typed
from lakeprune.errors import LakepruneError, PredicateError, TableError
from lakeprune.formats.snapshot import Snapshot, SnapshotFacts
from lakeprune.planning.question import Question
from lakeprune.predicate.condition import Condition
from lakeprune.predicate.tree import TRUE, Clause, Exact, Expr, NanPolicy, Opaque, Profile
from lakeprune.predicate.walk import nodes
from lakeprune.programs.exact import failures
from lakeprune.programs.patterns import Evaluation, Pattern
from lakeprune.programs.select import KEPT, Container, Fields, Order, Selection, select
from lakeprune.skipping.plan import Lift, plan_clauses
from lakeprune.skipping.verdict import Verdict

T = TypeVar("T")


class Planner(Struct, frozen=True):
    evaluation: Evaluation

    @property
    def snapshot(self) -> Snapshot:
        return self.evaluation.snapshot

    @property
    def engine(self) -> Engine:
        return self.evaluation.engine

    @property
    def profile(self) -> Profile:
        return self.evaluation.profile

    @property
    def facts(self) -> SnapshotFacts:
        return self.evaluation.snapshot.facts

    def with_nan_policy(self, policy: NanPolicy) -> Planner:
        """The same planner with another reading of statistics that may hide NaN."""
        return Planner(replace(self.evaluation, profile=replace(self.profile, nan_policy=policy)))

    def asking_again(self) -> Planner:
        """The same planner for several programs about the same questions: the metadata of a small table is read once for all."""
        from lakeprune.programs.held_relation import HeldRelation

        return Planner(replace(self.evaluation, relations=self.evaluation.relations or HeldRelation()))

    def ask(self, where: str | Condition | None) -> Question:
        """The question that a condition is, ready for everything below; None asks for every container."""
        if where is None:
            return Question(None, TRUE, (), plan_clauses((), self.facts.evidence))
        condition = read(where, self.profile)
        return self.ask_bound(condition, self.bound(condition))

    def bound(self, where: str | Condition) -> Expr:
        """The tree of a condition with its names found in the table's schema."""
        from lakeprune.predicate.bind.bind import bind

        condition = read(where, self.profile)
        try:
            return bind(condition.tree, self.facts.schema, self.profile, condition.text)
        except PredicateError as error:
            from lakeprune.predicate.read.sql.repair import followed

            def accept(text: str) -> Expr:
                return bind(read(text, self.profile).tree, self.facts.schema, self.profile, text)

            raise followed(error, condition.text, accept) from error

    def ask_bound(self, condition: Condition, bound: Expr) -> Question:
        """The question of a tree that is bound already; the condition is what is shown of it."""
        from lakeprune.predicate.passes.split import written_clauses

        parts = written_clauses(self._evaluated(bound), self.profile)
        clauses = [clause for _, clause in parts if clause.predicate != TRUE]
        return Question(condition, bound, parts, plan_clauses(clauses, self.facts.evidence, self.profile.nan_policy))

    def _evaluated(self, bound: Expr) -> Expr:
        """The predicate, with what the engine evaluates over partition values where lakeprune cannot."""
        if not any(isinstance(node, Opaque) for node in nodes(bound)):
            return bound
        from lakeprune.programs.engine_truths import evaluated_by

        return evaluated_by(self.engine, bound, self.profile)

    def ask_all(self, wheres: Sequence[str | Condition | None]) -> list[Question]:
        """One question per condition; an error names the condition it is about."""
        return _numbered(self.ask, wheres)

    def patterns(self, questions: Sequence[Question]) -> list[list[Pattern]]:
        """The verdict patterns of each question, from one read of the metadata. Refuses a snapshot that is not whole."""
        with self.reading():
            found = self.evaluation.patterns([question.plan for question in questions])
        self._check_expected(found[0])
        self.snapshot.check_counted(sum(pattern.files for pattern in found[0]))
        return found

    def select(
        self,
        question: Question,
        verdicts: Collection[Verdict],
        fields: Fields = Fields(),  # noqa: B008  # frozen
        *,
        order: Order = Order.PATH,
        limit: int | None = None,
        with_empty: bool = False,
    ) -> Iterator[Container]:
        """The containers with one of these verdicts; `with_empty` keeps those without a live row, which are dropped otherwise."""
        selection = Selection(verdicts, with_empty or question.condition is None, order, limit)
        with self.engine.awake(), self.reading():
            yield from select(self.evaluation, question.plan, selection, fields)

    def selected(self, question: Question, selection: Selection) -> Iterator[Container]:
        """The containers of a selection that is made already."""
        with self.engine.awake(), self.reading():
            yield from select(self.evaluation, question.plan, selection)

    def needed(self, question: Question, rows: int, fields: Fields = Fields()) -> Iterator[Container]:  # noqa: B008  # frozen
        """The containers that somebody needs who reads so many rows of the answer, by path."""
        with self.engine.awake(), self.reading():
            yield from select(self.evaluation, question.plan, Selection(KEPT, rows=rows), fields)

    def residual(self, question: Question, container: Container) -> Expr:
        """What is left to filter in a container: the conjuncts that metadata does not prove there. TRUE when fully matched."""
        from lakeprune.predicate.passes.rebuild import all_of

        outcomes = container.signature.outcomes
        return all_of([conjunct for conjunct, outcome in zip(question.conjuncts, outcomes, strict=True) if outcome.not_true])

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Inside, an engine that cannot read the metadata is a TableError that says what is wrong with the table.

        A table that was closed is refused, also where some of it could still be read.
        """
        if self.snapshot.is_closed:
            raise self.failure(EngineError("closed"))
        try:
            yield
        except EngineError as error:
            raise self.failure(error) from error

    def failure(self, error: EngineError) -> LakepruneError:
        """What an engine that cannot read the metadata means; LP276 for a table that was closed meanwhile."""
        from lakeprune.planning.opened import closed

        return closed(self.facts.location) if self.snapshot.is_closed else self.snapshot.failure(error)

    def check_computable(self, question: Question, patterns: Sequence[Pattern]) -> None:
        """LP106 for a predicate on which Spark's ANSI mode fails: one clause over partition columns, computed for each value."""
        predicates = [clause.predicate for clause in question.plan.clauses]
        failed = any(Lift.FAILED in outcome.kept_for for pattern in patterns for outcome in pattern.signature.outcomes)
        if len(predicates) != 1 or not isinstance(predicates[0], Exact) or not failed or not self.profile.ansi:
            return
        with self.reading():
            why = failures(self.engine, self.snapshot, self.profile, predicates[0]).certain
        if why is not None:
            from lakeprune.predicate.bind.refusals import fails_in_spark

            raise fails_in_spark(predicates[0].predicate, why, self.profile)

    def why_not_evaluated(self, clause: Clause) -> str | None:
        """Why lakeprune has no value of a clause for some partition value, where Spark may have one and was not asked."""
        if self.engine.evaluates(Typed("TRUE", (), self.profile.zone)):
            return None
        exacts = [node for node in nodes(clause.predicate) if isinstance(node, Exact)]
        with self.reading():
            found = (failures(self.engine, self.snapshot, self.profile, exact).doubtful for exact in exacts)
            return next((why for why in found if why is not None), None)

    def _check_expected(self, patterns: Sequence[Pattern]) -> None:
        """Refuse a snapshot that disagrees with what the table records about itself: an answer from it could drop a live file."""
        expected = self.facts.expected
        for unit, recorded, found in (
            ("files", expected.files, sum(pattern.files for pattern in patterns)),
            ("bytes", expected.bytes, sum(pattern.bytes for pattern in patterns)),
        ):
            if recorded is not None and recorded != found:
                raise TableError(
                    "LP320",
                    f"the log of {self.facts.location} gives {found} {unit}, its checksum {recorded}",
                    where=expected.source or None,
                    why="a checkpoint or commit is damaged or incomplete, so any answer could be wrong",
                    fix="check the log, or explain another version with --at-version",
                )


def read(where: str | Condition, profile: Profile) -> Condition:
    """A condition from its text, before any table is known."""
    if isinstance(where, Condition):
        return where
    from lakeprune.predicate.read.sql.parse import read_condition

    return read_condition(where, profile)


def read_all(wheres: Sequence[str | Condition | None], profile: Profile) -> list[Condition | None]:
    """One condition per text; an error names the text it is about."""
    return _numbered(lambda where: None if where is None else read(where, profile), wheres)


def _numbered(make: Callable[[str | Condition | None], T], wheres: Sequence[str | Condition | None]) -> list[T]:
    found = []
    for number, where in enumerate(wheres, 1):
        try:
            found.append(make(where))
        except PredicateError as error:
            if len(wheres) == 1:
                raise
            what = f"predicate {number} of {len(wheres)}: {error.what}"
            raise PredicateError(error.code, what, where=error.where, why=error.why, fix=error.fix) from error
    return found
