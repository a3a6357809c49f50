"""Step 6: the statement through Delta's own API and transaction, under a mark that finds its commit again.

In: a session and the parts of a statement, each an expression of its own. Out: nothing; a conflict with another commit is a
`Conflict`, everything else that goes wrong a `StatementError` in one line. Nothing is written but by Delta.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from lakeprune.apps.statements.assignments import Assignment
from lakeprune.apps.statements.execution import Conflict
from lakeprune.apps.statements.spark_analysis import in_one_line, sentence_of
from lakeprune.apps.statements.spark_target import jvm_of
from lakeprune.engines.spark.engine import clone
from lakeprune.engines.spark.lines import unlogged
from lakeprune.engines.spark.session import active
from lakeprune.errors import StatementError

USER_METADATA = "spark.databricks.delta.commitInfo.userMetadata"
_CONFLICT = re.compile(r"\b(Concurrent\w*Exception|ProtocolChangedException|MetadataChangedException)\b")
_TASK_FAILED = "[TASK_WRITE_FAILED]"


@contextmanager
def marked(spark: SparkSession, mark: str) -> Iterator[SparkSession]:
    """A session whose commits carry the mark, beside what the user's session writes there."""
    own = clone(spark)
    theirs = spark.conf.get(USER_METADATA, None)
    own.conf.set(USER_METADATA, f"{theirs} {mark}" if theirs else mark)
    with active(own), unlogged():
        try:
            yield own
        except (PySparkException, Py4JError) as error:
            raise _failure(error) from error


def expressions(spark: SparkSession, assignments: Sequence[Assignment]) -> Any:
    """A Java map from columns to expressions."""
    given = jvm_of(spark).java.util.LinkedHashMap()
    for assignment in assignments:
        given.put(assignment.target, assignment.expression)
    return given


def _failure(error: PySparkException | Py4JError) -> Conflict | StatementError:
    causes = list(_causes(error))
    message = in_one_line(error)
    # Once a program has imported `delta`, conflicts arrive as classes of its own, without their Java exception.
    kinds = [*(kind.__name__ for kind in type(error).__mro__), *(str(cause.getClass().getName()) for cause in causes)]
    conflict = _CONFLICT.search(" ".join(kinds))
    if conflict is not None:
        return Conflict(conflict[1], message)
    if _TASK_FAILED in message:  # where it failed; why is in what caused it
        others = [sentence_of(str(cause.getMessage())) for cause in causes]
        message = next((text for text in others if text.startswith("[") and _TASK_FAILED not in text), message)
    return StatementError("LP410", "the statement failed, and nothing was changed", why=message)


def _causes(error: PySparkException | Py4JError) -> Iterator[Any]:
    cause: Any = error.java_exception if isinstance(error, Py4JJavaError) else getattr(error, "_origin", None)
    for _ in range(10):
        if cause is None:
            return
        yield cause
        cause = cause.getCause()
