"""`lakeprune update`, `delete` and `merge`: the plan of a statement, and with --execute the statement itself."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import lakeprune
from lakeprune.cli.output import shown, tell
from lakeprune.cli.parser import check_early, chosen, parsed
from lakeprune.cli.spark_session import delta_session_of
from lakeprune.errors import EXIT_GATE_FAILED, EXIT_OK, UsageError

if TYPE_CHECKING:
    from lakeprune.apps.statements.execution import Execution
    from lakeprune.apps.statements.planning import PlannedStatement

_WHAT = "Show what the {} touches and costs, in seven steps; with --execute, do it through Delta's own transaction."
_EXAMPLES = {
    "update": """\
examples:
  lakeprune update ./orders --set "status = 'archived'" -w "created_at < '2025-01-01'"
  lakeprune update ./orders --set "price = price * 1.1, note = NULL" -w "year(day) = 2024" --max-files 100 --execute
  lakeprune update s3a://lake/orders --set "a = 1" -w "day = '2025-01-01'" --require-partition-filter --execute --retry 2
""",
    "delete": """\
examples:
  lakeprune delete ./orders -w "tenant = 'x'"
  lakeprune delete ./orders -w "year(day) = 2019 AND month(day) = 3" --max-rows 100000 --execute
  lakeprune delete ./orders -w "tenant = 'x'" --execute --format json
""",
    "merge": """\
In ON, conditions and assignments the target is called t, the source s.

examples:
  lakeprune merge ./orders --source ./changes --on "t.id = s.id" --when-matched-update all --when-not-matched-insert all
  lakeprune merge ./orders --source "SELECT * FROM parquet.`./changes` WHERE day > '2025-01-01'" \\
    --on "t.id = s.id AND t.day = s.day" --when-matched-delete "AND s.op = 'd'" \\
    --when-matched-update "price = s.price, n = t.n + 1" --execute
  lakeprune merge ./orders --source ./today --on "t.id = s.id" --when-not-matched-insert "AND s.price > 0 THEN all" --max-files 50
""",
}
_EXIT_CODES = """
exit codes: 0 planned, or done as planned, or nothing matches; 1 a guard refused it, a conflict, or the commit differs from the
plan; 2 usage, condition or statement error; 3 the table cannot be read
"""


def run(command: str, argv: Sequence[str]) -> int:
    """Plan the statement, and carry it out if that was asked for; the exit code."""
    from inspect import signature

    from lakeprune.apps.statements.statement import StatementOptions

    given = parsed(command, _WHAT.format(command.upper()), _EXAMPLES[command] + _EXIT_CODES, argv)
    plan = getattr(lakeprune, command)
    options = chosen(given, (*signature(plan).parameters, *StatementOptions.__annotations__, "clauses"))
    _check_early(command, given)
    with delta_session_of(given) as spark:
        planned: PlannedStatement = plan(spark=spark, **options)
        execution = planned.execute(given.retry) if given.execute else None
    return _delivered(planned, execution, given)


def _delivered(plan: PlannedStatement, execution: Execution | None, given: argparse.Namespace) -> int:
    """Print the plan, or what came of it; the exit code."""
    from lakeprune.render.text.statement import result_text

    document = plan if execution is None else execution
    result = result_text(document)
    try:
        shown(document, given)()
    except UsageError:
        tell(result)  # what was done to the table must be known even when nobody can read the document
        raise
    passed = (plan.passed or plan.is_empty) if execution is None else execution.passed
    if not passed:
        tell(result)
    return EXIT_OK if passed else EXIT_GATE_FAILED


def _check_early(command: str, given: argparse.Namespace) -> None:
    """Refuse what needs no Spark, which takes its time to start: wrong texts, no table, a file that cannot be written."""
    if command == "merge":
        from lakeprune.apps.statements.merge.clauses import clauses_of
        from lakeprune.apps.statements.merge.merge import Merge

        Merge(given.source, given.on, clauses_of(given.clauses))
    check_early(given)
    if command == "update":
        from lakeprune.apps.statements.assignments import assignments_of

        assignments_of(given.set_)
    folder = None if given.output is None else os.path.dirname(os.path.abspath(given.output))
    if given.execute and folder is not None and not os.access(folder, os.W_OK):
        raise UsageError("LP217", f"cannot write {given.output}", where="--output", fix="name a writable file")
