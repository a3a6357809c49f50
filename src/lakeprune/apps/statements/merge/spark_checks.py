"""Step 1 of a MERGE on Spark: the whole statement analysed as Delta would, without being run.

In: a target, a source, ON, clauses. Out: the columns that it would add to the table, or a `StatementError` in one line. Nothing
is read or written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from pyspark.sql.types import ArrayType, DataType, MapType, StructType

from lakeprune.apps.statements import spark_analysis as analysis
from lakeprune.apps.statements.assignments import Assignment
from lakeprune.apps.statements.merge.clauses import Action, MergeClause, Rows
from lakeprune.apps.statements.merge.on import SOURCE, TARGET
from lakeprune.apps.statements.merge.spark_source import Source
from lakeprune.apps.statements.spark_target import Target, jvm_of, scala_object
from lakeprune.engines.spark.failures import row_errors
from lakeprune.engines.spark.lines import built
from lakeprune.engines.spark.nodes import elements, option
from lakeprune.engines.spark.session import active
from lakeprune.errors import StatementError
from lakeprune.predicate.write.show import name_text

EVOLUTION = "spark.databricks.delta.schema.autoMerge.enabled"
_WORD = re.compile(r"(?i)(?!(?:null|true|false|default|current_\w+)$)[a-z_]\w*|`[^`]+`")
_AMBIGUOUS = {"AMBIGUOUS_REFERENCE": f"say whose column it is: {TARGET}.name for the target's, {SOURCE}.name for the source's"}
_FIXES = {
    "DELTA_MERGE_UNRESOLVED_EXPRESSION": "instead of `all`, set the columns that the source has (a = s.a, b = s.b); "
    f"or set {EVOLUTION}=true in the session, which leaves the others as they are"
}


def check_merge(target: Target, source: Source, on: str, clauses: Sequence[MergeClause]) -> tuple[str, ...]:
    """Refuse a MERGE that Spark or Delta would refuse, or that would not mean the same twice. The columns that it adds."""
    assigned = [each for clause in clauses for each in clause.assignments or ()]
    texts = {on: on} | {clause.text: clause.condition for clause in clauses if clause.condition is not None}
    analysis.check_random(texts | {each.where: each.expression for each in assigned})
    with row_errors(target.location), active(target.spark):
        ours = _relation(target)
        theirs = source.rows.alias(SOURCE)._jdf.queryExecution().analyzed()  # noqa: SLF001
    actions = {rows: analysis.scala_seq(target, [_action(target, c) for c in clauses if c.rows is rows]) for rows in Rows}
    plan = built(
        analysis.logical(target).MergeIntoTable,
        ours,
        theirs,
        analysis.parsed(target, on, on),
        actions[Rows.MATCHED],
        actions[Rows.SOURCE_ONLY],
        actions[Rows.TARGET_ONLY],
        False,  # the schema changes only where the session's own setting says so
    )
    where = " ".join([f"ON {on}", *(clause.text for clause in clauses)])
    fixes = _AMBIGUOUS | (_FIXES if any(clause.assignments is None for clause in clauses) else {})
    command = analysis.analysed(target, plan, where, _unknown(target, source, assigned), fixes)
    _check_analysed(target, command, on, where)
    return _added(command)


def _unknown(target: Target, source: Source, assigned: Sequence[Assignment]) -> list[Assignment]:
    """The assignments of a single word that neither side has as a column and SQL does not know."""
    names = (*(field.name for field in target.planner.facts.schema.fields), *source.rows.columns)
    known = {name.lower() for name in names}
    words = [(each, match[0].strip("`").lower()) for each in assigned if (match := _WORD.fullmatch(each.expression))]
    return [each for each, word in words if word not in known]


def may_evolve(target: Target) -> bool:
    """Whether the session lets a MERGE add the source's columns to the table."""
    return target.is_set(EVOLUTION, "false")


def _added(command: Any) -> tuple[str, ...]:
    schemas = (command.target().schema(), command.migratedSchema().get())
    before, after = (dict(_paths(StructType.fromJson(json.loads(schema.json())))) for schema in schemas)
    new = [path for folded, path in after.items() if folded not in before]
    return tuple(name_text(path) for path in new if path[:-1] not in new)


def _paths(type_: DataType, above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Every column and every field inside one, by its path in lower case."""
    match type_:
        case StructType():
            for field in type_.fields:
                path = (*above, field.name)
                yield tuple(name.lower() for name in path), path
                yield from _paths(field.dataType, path)
        case ArrayType():
            yield from _paths(type_.elementType, (*above, "element"))
        case MapType():
            yield from _paths(type_.keyType, (*above, "key"))
            yield from _paths(type_.valueType, (*above, "value"))


def _relation(target: Target) -> Any:
    """The table as SQL finds it. Delta resolves the assignments of it itself; those of a DataFrame Spark would change first."""
    jvm = jvm_of(target.spark)
    none, nothing = scala_object(jvm.scala, "None"), scala_object(jvm.scala.collection.immutable, "Map").empty()
    session, path = target.spark._jsparkSession, jvm.org.apache.hadoop.fs.Path(target.location)  # noqa: SLF001
    table = jvm.org.apache.spark.sql.delta.catalog.DeltaTableV2(session, path, none, none, none, nothing)
    relations = scala_object(jvm.org.apache.spark.sql.execution.datasources.v2, "DataSourceV2Relation")
    return scala_object(analysis.logical(target), "SubqueryAlias").apply(TARGET, relations.create(table, none, none))


def _check_analysed(target: Target, command: Any, on: str, where: str) -> None:
    analysis.check_condition(target, command.condition(), on)
    _check_truth(command.condition(), on, {"boolean"})
    kinds = (command.matchedClauses(), command.notMatchedClauses(), command.notMatchedBySourceClauses())
    for clause in (clause for kind in kinds for clause in elements(kind)):
        if (condition := option(clause.condition())) is not None:
            analysis.check_condition(target, condition, where)
            _check_truth(condition, where, {"boolean", "void"})  # NULL is one that never applies
        for action in elements(clause.resolvedActions()):
            analysis.check_value(target, action.expr(), where)


def _check_truth(condition: Any, where: str, kinds: set[str]) -> None:
    """Delta asks for the type of a condition only while it runs."""
    kind = condition.dataType().simpleString()
    if kind not in kinds:
        what = f"{condition.sql()} is of type {kind}, not a condition"
        raise StatementError("LP445", what, where=where, fix="compare it with something")


def _action(target: Target, clause: MergeClause) -> Any:
    plans, scala = analysis.logical(target), jvm_of(target.spark).scala
    given = clause.condition
    condition = scala_object(scala, "None") if given is None else scala.Some(analysis.parsed(target, given, clause.text))
    if clause.action is Action.DELETE:
        return plans.DeleteAction(condition)
    is_update = clause.action is Action.UPDATE
    if clause.assignments is None:
        return plans.UpdateStarAction(condition) if is_update else plans.InsertStarAction(condition)
    parts = analysis.scala_seq(target, [analysis.assigned(target, assignment) for assignment in clause.assignments])
    return built(plans.UpdateAction, condition, parts, False) if is_update else plans.InsertAction(condition, parts)
