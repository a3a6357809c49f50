"""What every command that changes a table has in common: guards, --execute, the session, the output."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from lakeprune.cli.output import show, tell
from lakeprune.cli.question import SESSION, Parser, add_session, parsed
from lakeprune.cli.spark_flags import add_spark_flags, delta_session_of, shown_progress
from lakeprune.cli.values import count, size
from lakeprune.errors import EXIT_GATE_FAILED, EXIT_OK, UsageError
from lakeprune.render.registry import formats

if TYPE_CHECKING:
    from lakeprune.apps.statements.plan import StatementPlan

    Planner = Callable[[argparse.Namespace, dict[str, Any]], StatementPlan]  # from the flags, and the options among them

EXIT_CODES = """\
exit codes: 0 planned, or done as planned, or nothing matches; 1 a guard refused it, a conflict, or the commit differs from the
plan; 2 usage, condition or statement error; 3 the table cannot be read
"""
_GUARDS = ("max_rewrite_bytes", "max_files", "max_rows")


def add_statement_flags(parser: Parser) -> None:
    """All flags but those that say what the statement is."""
    run = parser.add_argument_group("running it")
    run.add_argument("--execute", action="store_true", help="do it; without this flag nothing is changed")
    run.add_argument("--retry", metavar="N", type=count, default=0, help="after a conflict, plan afresh and try again N times")
    run.add_argument("--no-strengthen", action="store_true", help="execute the condition as written, with nothing beside it")
    guards = parser.add_argument_group("guards: exit 1 before anything is written")
    guards.add_argument("--max-rewrite-bytes", metavar="SIZE", type=size, help="bytes of the files that are written again")
    guards.add_argument("--max-files", metavar="N", type=count, help="files that are rewritten, removed or get a deletion vector")
    guards.add_argument("--max-rows", metavar="N", type=count, help="rows that change")
    guards.add_argument("--require-partition-filter", action="store_true", help="the condition must bound a partition column")
    add_session(parser, "Spark's")
    output = parser.add_argument_group("output")
    output.add_argument("--format", choices=formats("statement"), default="text", help="default: text")
    output.add_argument("--output", metavar="FILE", help="write the document to FILE instead of stdout")
    add_spark_flags(parser.add_argument_group("where Spark runs"))


def run_statement(parser: Parser, argv: Sequence[str], planner: Planner) -> int:
    """Plan one statement, and carry it out if that was asked for; the exit code."""
    given = parsed(parser, argv)
    if isinstance(given, int):
        return given
    spark = delta_session_of(given)
    with shown_progress(spark):
        return _finish(planner(given, {"spark": spark, **_options(given)}), given)


def _options(given: argparse.Namespace) -> dict[str, Any]:
    """The flags as options of the library."""
    options = {name: value for name in (*SESSION, *_GUARDS) if (value := getattr(given, name)) is not None}
    return {**options, "require_partition_filter": given.require_partition_filter, "strengthen": not given.no_strengthen}


def _finish(plan: StatementPlan, given: argparse.Namespace) -> int:
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
