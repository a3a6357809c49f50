"""`lakeprune delete`: the plan of a DELETE, and with --execute the DELETE itself."""

from __future__ import annotations

from collections.abc import Sequence

from lakeprune.cli.question import Parser, add_condition, parsed
from lakeprune.cli.spark_flags import delta_session_of, shown_progress
from lakeprune.cli.statement import EXIT_CODES, add_statement_flags, finish, statement_options

_EXAMPLES = f"""\
examples:
  lakeprune delete ./orders -w "tenant = 'x'"
  lakeprune delete ./orders -w "year(day) = 2019 AND month(day) = 3" --max-rows 100000 --execute
  lakeprune delete ./orders -w "tenant = 'x'" --execute --format json

{EXIT_CODES}"""


def run(argv: Sequence[str]) -> int:
    """Plan one DELETE, and carry it out if that was asked for."""
    given = parsed(_parser(), argv)
    if isinstance(given, int):
        return given
    spark = delta_session_of(given)
    from lakeprune.dml.delete import delete

    with shown_progress(spark):
        plan = delete(given.table, where=given.where, spark=spark, **statement_options(given))
        return finish(plan, given)


def _parser() -> Parser:
    what = "Show what a DELETE touches and costs, in seven steps; with --execute, do it through Delta's own transaction."
    parser = Parser("delete", what, _EXAMPLES)
    add_condition(parser, is_required=True)
    add_statement_flags(parser)
    return parser
