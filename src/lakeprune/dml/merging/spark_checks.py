"""Step 1 of a MERGE on Spark: the whole statement analysed as Delta would, without being run.

In: a target, a source, ON, clauses. Out: nothing, or a `StatementError` in one line. Nothing is read or written.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from lakeprune.dml.assignments import Assignment
from lakeprune.dml.merging.clauses import Action, MergeClause, Rows
from lakeprune.dml.merging.conjuncts import SOURCE, TARGET
from lakeprune.dml.merging.spark_source import Source
from lakeprune.dml.spark_analysis import analysed, check_condition, check_random, check_value, logical, parsed
from lakeprune.dml.spark_target import Target, speaking
from lakeprune.engines.spark_files import active
from lakeprune.engines.spark_nodes import elements


def check_merge(target: Target, source: Source, on: str, clauses: Sequence[MergeClause]) -> None:
    """Refuse a MERGE that Spark or Delta would refuse, or that would not mean the same twice."""
    texts = {on: on} | {clause.text: clause.condition for clause in clauses if clause.condition is not None}
    check_random(texts | {a.where: a.expression for clause in clauses for a in clause.assignments or ()})
    with speaking(target.location), active(target.spark):
        jvm: Any = target.spark._jvm  # noqa: SLF001  # PySpark has no other way
        table = jvm.io.delta.tables.DeltaTable.forPath(target.spark._jsparkSession, target.location)  # noqa: SLF001
        ours = table.toDF().alias(TARGET).queryExecution().analyzed()
        theirs = source.rows.alias(SOURCE)._jdf.queryExecution().analyzed()  # noqa: SLF001
    actions = {rows: _seq(target, [_action(target, c) for c in clauses if c.kind.rows is rows]) for rows in Rows}
    plan = logical(target).MergeIntoTable(
        ours,
        theirs,
        parsed(target, on, on),
        actions[Rows.MATCHED],
        actions[Rows.SOURCE_ONLY],
        actions[Rows.TARGET_ONLY],
        False,  # the schema changes only where the session's own setting says so
    )
    said = " ".join([f"ON {on}", *(clause.text for clause in clauses)])
    _check_analysed(target, analysed(target, plan, said), on, said)


def _check_analysed(target: Target, command: Any, on: str, said: str) -> None:
    check_condition(target, command.condition(), on)
    for clause in _clauses(command):
        if clause.condition().isDefined():
            check_condition(target, clause.condition().get(), said)
        for action in elements(clause.resolvedActions()):
            check_value(target, action.expr(), said)


def _clauses(command: Any) -> Iterable[Any]:
    for name in ("matchedClauses", "notMatchedClauses", "notMatchedBySourceClauses"):
        yield from elements(getattr(command, name)())


def _action(target: Target, clause: MergeClause) -> Any:
    plans, scala = logical(target), target.spark._jvm.scala  # type: ignore[union-attr]  # noqa: SLF001
    none = getattr(getattr(scala, "None$"), "MODULE$")
    condition = none if clause.condition is None else scala.Some(parsed(target, clause.condition, clause.text))
    if clause.kind.action is Action.DELETE:
        return plans.DeleteAction(condition)
    is_update = clause.kind.action is Action.UPDATE
    if clause.assignments is None:
        return plans.UpdateStarAction(condition) if is_update else plans.InsertStarAction(condition)
    parts = _seq(target, [_assignment(target, assignment) for assignment in clause.assignments])
    return plans.UpdateAction(condition, parts, False) if is_update else plans.InsertAction(condition, parts)


def _assignment(target: Target, assignment: Assignment) -> Any:
    key = parsed(target, assignment.target, assignment.where)
    return logical(target).Assignment(key, parsed(target, assignment.expression, assignment.where))


def _seq(target: Target, things: Sequence[Any]) -> Any:
    jvm: Any = target.spark._jvm  # noqa: SLF001
    listed = jvm.java.util.ArrayList()
    for thing in things:
        listed.add(thing)
    return jvm.scala.jdk.javaapi.CollectionConverters.asScala(listed).toSeq()
