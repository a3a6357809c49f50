"""Step 1 on Spark: the statement analysed as Delta would, without being run.

In: a target, a condition, assignments. Out: nothing, or a `StatementError` in one line: an expression that is not deterministic,
a subquery, a type that does not fit, a function nobody knows, a clock that goes on. Nothing is read or written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from lakeprune.apps.statements.assignments import Assignment
from lakeprune.apps.statements.spark_target import Target, jvm_of
from lakeprune.engines.spark.failures import words_of
from lakeprune.engines.spark.lines import seq_of_list
from lakeprune.engines.spark.nodes import class_name, elements
from lakeprune.engines.spark.session import active
from lakeprune.errors import StatementError
from lakeprune.predicate.clock import CATALYST_CLOCKS
from lakeprune.predicate.functions.randomness import random_call

_NUMBER = "GenerateIdentityValues"  # Delta's own, for a new row of a table with an identity column
_INTERNAL = "INTERNAL_ERROR"
_LONGEST = 400  # characters of Spark's message


def logical(target: Target) -> Any:
    return jvm_of(target.spark).org.apache.spark.sql.catalyst.plans.logical


def scala_seq(target: Target, things: Sequence[Any]) -> Any:
    listed = jvm_of(target.spark).java.util.ArrayList()
    for thing in things:
        listed.add(thing)
    return seq_of_list(listed, jvm_of(target.spark))


def assigned(target: Target, assignment: Assignment) -> Any:
    key = parsed(target, assignment.target, assignment.where)
    return logical(target).Assignment(key, parsed(target, assignment.expression, assignment.where))


def parsed(target: Target, text: str, where: str) -> Any:
    """One expression and nothing beside it: neither a clause nor a name for it."""
    try:
        found = target.spark._jsparkSession.sessionState().sqlParser().parseExpression(text)  # noqa: SLF001
    except (PySparkException, Py4JError) as error:
        raise StatementError("LP401", "Spark cannot read this as one expression", where=where, why=in_one_line(error)) from error
    if class_name(found) == "Alias":
        raise StatementError("LP401", "Spark cannot read this as one expression", where=where, why="a name stands behind it")
    return found


def analysed(target: Target, plan: Any, where: str, assignments: Sequence[Assignment], fixes: Mapping[str, str]) -> Any:
    """The plan as Spark understands it; `fixes` are what to do about Spark's errors, by their names."""
    skip = jvm_of(target.spark).org.apache.spark.sql.execution.CommandExecutionMode.SKIP()
    try:
        with active(target.spark):
            execution = target.spark._jsparkSession.sessionState().executePlan(plan, skip)  # noqa: SLF001
            execution.assertAnalyzed()
            return execution.analyzed()
    except (PySparkException, Py4JError) as error:
        why = in_one_line(error)
        fix = unquoted(why, assignments) or next((fix for name, fix in fixes.items() if f"[{name}" in why), None)
        raise StatementError("LP406", "Spark does not accept the statement", where=where, why=why, fix=fix) from error


def unquoted(why: str, assignments: Sequence[Assignment]) -> str | None:
    """What helps where a column that nobody has is assigned as it is: it was meant as a text.

    >>> unquoted("[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column with name `open` ...", [Assignment(("a",), "open", "")])
    "did you mean the text?  a = 'open'"
    """
    unknown = re.search(r"\[UNRESOLVED_COLUMN\b.*?`([^`]+)`", why)
    for assignment in assignments:
        name = assignment.expression.strip("`")
        if unknown[1] == name if unknown else "DELTA_MERGE_UNRESOLVED_EXPRESSION" in why:  # Delta's message has no name in it
            return f"did you mean the text?  {assignment.target} = '{name}'"
    return None


def check_random(texts: dict[str, str]) -> None:
    for where, text in texts.items():
        if (name := random_call(text)) is not None:
            raise _random(f"{name}() gives another answer every time", where)


def check_condition(target: Target, condition: Any, text: str) -> None:
    if not condition.deterministic():
        raise _random("the condition gives another answer every time it is asked", text)
    # Asked of the whole first: a list of 100,000 values has as many nodes, and each costs several calls.
    clock = jvm_of(target.spark).org.apache.spark.sql.catalyst.trees.TreePattern.CURRENT_LIKE()
    nodes = _nodes(condition) if condition.containsPattern(clock) else ()
    if clocks := sorted({node.sql() for node in nodes if class_name(node) in CATALYST_CLOCKS}):
        why = f"{clocks[0]} would give one answer to the plan and another to the execution"
        fix = "use current_timestamp() or current_date(), which are pinned, or write the moment"
        raise StatementError("LP411", "this clock cannot be pinned", where=text, why=why, fix=fix)


def check_value(target: Target, value: Any, where: str) -> None:
    if not value.deterministic():
        if any(class_name(node) == _NUMBER for node in _nodes(value)):
            return
        raise _random("an assigned expression gives another answer every time it is asked", where)
    if jvm_of(target.spark).org.apache.spark.sql.catalyst.expressions.SubqueryExpression.hasSubquery(value):
        raise StatementError("LP405", "a subquery cannot be assigned", where=where, fix="use MERGE, which takes another table")
    if value.foldable():
        try:
            value.eval(None)
        except (PySparkException, Py4JError) as error:
            if (why := in_one_line(error)).startswith("[") and _INTERNAL not in why:
                raise StatementError("LP406", "Spark does not accept the statement", where=where, why=why) from error


def _random(what: str, where: str) -> StatementError:
    why = "the rows that are counted would not be the rows that are changed"
    return StatementError("LP404", what, where=where, why=why, fix="use an expression of the row's own columns")


def in_one_line(error: PySparkException | Py4JError) -> str:
    """Spark's own message without the plan, the position and the class that come with it."""
    return sentence_of(words_of(error)) or type(error).__name__


def sentence_of(message: str) -> str:
    """
    >>> sentence_of("org.apache.spark.SparkException: [DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012\\n== SQL ==")
    '[DIVIDE_BY_ZERO] Division by zero.'
    """
    lines = [line for line in message.strip().splitlines() if line.strip()]
    first = re.sub(r"^[\w.$]+(?:Exception|Error): ", "", lines[0]) if lines else ""
    first = re.sub(r"\s*SQLSTATE: \w+;?.*$", "", first).rstrip(";")
    if first.endswith(":"):  # what it announces stands on the lines that follow, each behind a dash
        first += "".join(f" {line.strip()}" for line in takewhile(lambda line: line.lstrip().startswith("-"), lines[1:]))
    return first if len(first) <= _LONGEST else first[:_LONGEST] + "..."


def _nodes(expression: Any) -> Iterator[Any]:
    yield expression
    for child in elements(expression.children()):
        yield from _nodes(child)
