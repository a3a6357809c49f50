"""The application behind `explain`: open, parse, bind, split, plan, evaluate, attribute.

In: a table and predicates. Out: reports, from one read of the metadata. An unreadable table and a wrong predicate are
exceptions, a failed gate is a value. Never opens a data file, never writes.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from lakeprune.engines.engine import Engine, EngineError
from lakeprune.errors import PredicateError, TableError, UsageError
from lakeprune.planning.session import NAN_POLICIES, Session, SessionOptions, among, instant, profile_of, session_of
from lakeprune.predicate.tree import Expr, Profile
from lakeprune.programs.patterns import Evaluation, Order, Pattern
from lakeprune.report.attribution import Attribution, attribute
from lakeprune.report.gates import Gates, check_gates, gates_of, judge
from lakeprune.report.model import ClauseReport, Diagnosis, FileReport, Report
from lakeprune.skipping.plan import Plan, plan_clauses
from lakeprune.storage.access import AccessOptions

if TYPE_CHECKING:
    from datetime import datetime
    from typing import Protocol, Unpack

    from lakeprune.predicate.condition import Condition
    from lakeprune.report.pictures.model import Picture

    class DeltaTable(Protocol):
        """What is used of deltalake's `DeltaTable`."""

        @property
        def table_uri(self) -> str: ...
        def version(self) -> int: ...

    from pyspark.sql import SparkSession

    Table = str | os.PathLike[str] | DeltaTable


class Options(SessionOptions, Gates, AccessOptions, total=False):
    """How a predicate is read, the gates, how an object store is reached; named like the command's flags."""

    spark: SparkSession  # reads the metadata instead of this process
    explain_why: bool


def explain(
    table: Table,
    where: str | None = None,
    *,
    version: int | None = None,
    timestamp: str | datetime | None = None,
    **options: Unpack[Options],
) -> Report:
    """What `where` must read of the table, and why; without a predicate, the table's totals.

    `table` is a path, a URL of an object store or a deltalake `DeltaTable`, whose loaded version is taken.
    """
    if where is not None:
        _check_text(where, "the predicate")
    (report,) = _explained(table, [where], version, timestamp, dict(options))
    return report


def explain_many(
    table: Table,
    wheres: Sequence[str],
    *,
    version: int | None = None,
    timestamp: str | datetime | None = None,
    **options: Unpack[Options],
) -> list[Report]:
    """One report per predicate, in order, from one read of the metadata and one pass over it."""
    if isinstance(wheres, str):
        raise UsageError("LP218", "one predicate was given where a list is wanted", fix="give a list, or use `explain`")
    predicates = list(wheres)
    for number, where in enumerate(predicates, 1):
        _check_text(where, f"predicate {number} of {len(predicates)}")
    return _explained(table, predicates, version, timestamp, dict(options))


def _explained(
    table: Table, wheres: list[str | None] | list[str], version: int | None, timestamp: Any, options: dict[str, Any]
) -> list[Report]:
    job = Job.begin(table, version, timestamp, options)
    # A program may keep a thousand reports: each must not keep a database with its threads.
    with job.evaluation.engine.awake():
        return job.reports(wheres) if wheres else []


class Job(Struct, frozen=True):
    """One opened table and the session its predicates are read in."""

    table: str
    evaluation: Evaluation
    profile: Profile
    session: Session
    gates: Gates
    started: float
    explain_why: bool = False

    @classmethod
    def begin(cls, table: Table, version: int | None, timestamp: str | datetime | None, options: dict[str, Any]) -> Job:
        from lakeprune.formats.registry import open_table

        started = time.perf_counter()
        if unknown := sorted(options.keys() - Options.__annotations__.keys()):
            raise TypeError(f"explain() has no option {unknown[0]!r}; it has {', '.join(sorted(Options.__annotations__))}")
        profile, session = profile_of(**among(options, SessionOptions))
        gates = gates_of(options)
        location, version = located(table, _whole(version))
        if version is not None and timestamp is not None:
            raise UsageError("LP213", "both a version and a timestamp were given", fix="choose one of the two")
        moment = None if timestamp is None else instant(str(timestamp), profile.zone, "--at-timestamp")
        access = {**_own_access(table), **among(options, AccessOptions)}
        engine = _engine(options.get("spark"))
        snapshot = open_table(location, engine, version=version, timestamp=moment, access=access)
        evaluation = Evaluation(engine, snapshot, profile)
        asked = bool(options.get("explain_why"))
        return cls(snapshot.facts.location, evaluation, profile, session, gates, started, asked)

    def close(self) -> None:
        """Remove what was fetched for this job alone; for a program that ends without cleaning up after itself."""
        self.evaluation.snapshot.close()

    def reports(self, wheres: Sequence[str | Condition | None]) -> list[Report]:
        check_gates(self.gates, has_predicate=wheres != [None])
        asked = [self._asked(where, index, len(wheres)) for index, where in enumerate(wheres)]
        plans = [plan for _, plan in asked]
        try:
            found = self.evaluation.patterns(plans)
        except EngineError as error:
            raise self.evaluation.snapshot.failure(error) from error
        self._check_expected(found[0])
        return [self._report(condition, plan, patterns) for (condition, plan), patterns in zip(asked, found, strict=True)]

    def plan(self, where: str | None) -> Plan:
        """What has to be asked of every file to explain this predicate."""
        return self._asked(where, 0, 1)[1]

    def read(self, where: str | Condition) -> Condition:
        """The predicate as a tree, whichever front-end it comes from."""
        from lakeprune.predicate.read.sql.parse import read_condition

        return read_condition(where, self.profile) if isinstance(where, str) else where

    def bound(self, where: str | Condition) -> Expr:
        """A predicate with its columns found and its literals typed."""
        from lakeprune.predicate.bind.bind import bind

        condition = self.read(where)
        return bind(condition.tree, self.evaluation.snapshot.facts.schema, self.profile, condition.text)

    def _asked(self, where: str | Condition | None, index: int, count: int) -> tuple[Condition | None, Plan]:
        from lakeprune.predicate.passes.split import split

        if where is None:
            return None, plan_clauses(())
        try:
            condition = self.read(where)
            return condition, plan_clauses(split(self.bound(condition), self.profile))
        except PredicateError as error:
            if count == 1:
                raise
            what = f"predicate {index + 1} of {count}: {error.what}"
            raise PredicateError(error.code, what, where=error.where, why=error.why, fix=error.fix) from error

    def _report(self, where: Condition | None, plan: Plan, patterns: Sequence[Pattern]) -> Report:
        numbers = attribute(plan, patterns if where is not None else [_unpruned(pattern) for pattern in patterns])
        clauses = tuple(ClauseReport(clause, credit) for clause, credit in zip(plan.clauses, numbers.clauses, strict=True))
        diagnoses = self._diagnoses(where, plan, patterns, numbers) if self.explain_why else None
        undecided = [clause.clause.text for clause in clauses if not clause.is_attributable]
        return Report(
            table=self.table,
            predicate=None if where is None else where.text,
            facts=self.evaluation.snapshot.facts,
            session=session_of(self.session, self.profile, where, plan),
            numbers=numbers,
            clauses=clauses,
            assertions=judge(self.gates, numbers, undecided, has_predicate=where is not None),
            elapsed_ms=round((time.perf_counter() - self.started) * 1000),
            listing=lambda limit: self._listing(plan, limit, Order.PATH, has_predicate=where is not None),
            picture=lambda: self._picture(plan, numbers, has_predicate=where is not None),
            traffic=self.evaluation.snapshot.traffic(),
            diagnoses=diagnoses,
        )

    def _diagnoses(
        self, where: Condition | None, plan: Plan, patterns: Sequence[Pattern], numbers: Attribution
    ) -> tuple[Diagnosis, ...]:
        from lakeprune.report.diagnosis.diagnose import diagnose

        if where is None:
            return ()
        try:
            return diagnose(self.evaluation, self.bound(where), plan, list(patterns), numbers)
        except EngineError as error:
            raise self.evaluation.snapshot.failure(error) from error

    def _listing(self, plan: Plan, limit: int | None, order: Order, *, has_predicate: bool) -> Iterator[FileReport]:
        from lakeprune.report.listing import Lister

        if limit is not None and limit < 0:
            raise UsageError("LP218", f"the limit is {limit}", fix="give 0 or more, or None for every file")
        lister = Lister(plan, self.evaluation.snapshot.facts, self.profile, has_predicate=has_predicate)
        with self.evaluation.engine.awake():
            try:
                for outcome in self.evaluation.files(plan, limit, order):
                    yield lister.file_report(outcome)
            except EngineError as error:
                raise self.evaluation.snapshot.failure(error) from error

    def _picture(self, plan: Plan, numbers: Attribution, *, has_predicate: bool) -> Picture:
        from lakeprune.report.pictures.compose import compose
        from lakeprune.report.pictures.model import MOST_FILES

        with self.evaluation.engine.awake():
            largest = list(self._listing(plan, MOST_FILES, Order.LARGEST, has_predicate=has_predicate))
            by_verdict = (numbers.total.files - numbers.kept.files, numbers.kept.files - numbers.full.files, numbers.full.files)
            try:
                return compose(self.evaluation, plan, by_verdict, largest, has_predicate=has_predicate)
            except EngineError as error:
                raise self.evaluation.snapshot.failure(error) from error

    def _check_expected(self, patterns: Sequence[Pattern]) -> None:
        """Refuse a snapshot that disagrees with what the table says about itself: an answer from it could drop a live file."""
        expected = self.evaluation.snapshot.facts.expected
        for unit, told, found in (
            ("files", expected.files, sum(pattern.files for pattern in patterns)),
            ("bytes", expected.bytes, sum(pattern.bytes for pattern in patterns)),
        ):
            if told is not None and told != found:
                raise TableError(
                    "LP320",
                    f"the log of {self.table} gives {found} {unit}, its checksum {told}",
                    where=expected.source or None,
                    why="a checkpoint or commit is damaged or incomplete, so any answer could be wrong",
                    fix="check the log, or explain another version with --at-version",
                )


def _unpruned(pattern: Pattern) -> Pattern:
    """Without a predicate nothing is pruned, not even a file without live rows."""
    return replace(pattern, signature=replace(pattern.signature, is_empty=False))


def located(table: Table, version: int | None) -> tuple[str, int | None]:
    """Where a table lies, and the version that was asked for or that a deltalake table has loaded."""
    if isinstance(table, str):
        return table, version
    if isinstance(table, os.PathLike):
        return os.fsdecode(table), version
    if hasattr(table, "table_uri") and hasattr(table, "version"):
        return table.table_uri, table.version() if version is None else version
    fix = "use lakeprune.spark.explain" if hasattr(table, "sparkSession") else "give a path or a deltalake DeltaTable"
    raise UsageError("LP214", f"a {type(table).__name__} is no table", fix=fix)


def _own_access(table: Table) -> dict[str, Any]:
    """How a deltalake table reaches its store: its own options, and like delta-rs whatever the machine offers."""
    if isinstance(table, str | os.PathLike):
        return {}
    return {"storage_options": getattr(table, "_storage_options", None) or {}, "env_creds": True}


def _check_text(where: object, what: str) -> None:
    if not isinstance(where, str):
        raise UsageError("LP218", f"{what} is of type {type(where).__name__}", fix="give an SQL condition as text")


def _whole(version: Any) -> int | None:
    """The version as a plain integer, also of the kinds that other libraries have."""
    if version is None:
        return None
    if isinstance(version, bool) or not hasattr(version, "__index__"):
        raise UsageError("LP218", f"{version!r} is no version", fix="give a whole number")
    return int(version)


def _engine(spark: SparkSession | None) -> Engine:
    if spark is None:
        from lakeprune.engines.duckdb.engine import DuckDBEngine

        return DuckDBEngine()
    from lakeprune.engines.spark.engine import SparkEngine

    return SparkEngine(spark)


__all__ = ["NAN_POLICIES", "explain", "explain_many"]
