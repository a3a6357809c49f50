"""What every command that changes a table has in common: --execute, the session, the output."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import lakeprune
from lakeprune.cli.output import show, tell
from lakeprune.cli.parser import chosen, parsed
from lakeprune.cli.spark_session import delta_session_of
from lakeprune.errors import EXIT_GATE_FAILED, EXIT_OK, UsageError

if TYPE_CHECKING:
    from lakeprune.apps.statements.planning import PlannedStatement

_WHAT = "Show what {} touches and costs, in seven steps; with --execute, do it through Delta's own transaction."
_EXIT_CODES = """
exit codes: 0 planned, or done as planned, or nothing matches; 1 a guard refused it, a conflict, or the commit differs from the
plan; 2 usage, condition or statement error; 3 the table cannot be read
"""


def run_statement(statement: str, examples: str, argv: Sequence[str]) -> int:
    """Plan `an UPDATE`, `a DELETE` or `a MERGE`, and carry it out if that was asked for; the exit code."""
    from inspect import signature

    from lakeprune.apps.statements.statement import StatementOptions

    command = statement.split()[1].lower()
    given = parsed(command, _WHAT.format(statement), examples + _EXIT_CODES, argv)
    plan = getattr(lakeprune, command)
    options = chosen(given, (*signature(plan).parameters, *StatementOptions.__annotations__, "clauses"))
    with delta_session_of(given) as spark:
        return _finish(plan(spark=spark, **options), given)


def _finish(plan: PlannedStatement, given: argparse.Namespace) -> int:
    """Print the plan, or carry it out and print what came of it; the exit code."""
    from lakeprune.render.text.statement import result_text

    if given.execute:
        _check_output(given.output)
    execution = plan.execute(given.retry) if given.execute else None
    document = plan if execution is None else execution
    result = result_text(document)
    try:
        show(document, given)
    except UsageError:
        tell(result)  # what was done to the table must be known even when nobody can read the document
        raise
    passed = (plan.passed or plan.is_empty) if execution is None else execution.passed
    if not passed:
        tell(result)
    return EXIT_OK if passed else EXIT_GATE_FAILED


def _check_output(target: str | None) -> None:
    """Refuse a file that cannot be written before the table is changed, not after."""
    folder = None if target is None else os.path.dirname(os.path.abspath(target))
    if folder is not None and not os.access(folder, os.W_OK):
        raise UsageError("LP217", f"cannot write {target}", where="--output", fix="name a writable file")
