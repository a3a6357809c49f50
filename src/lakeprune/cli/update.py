"""`lakeprune update`: the plan of an UPDATE, and with --execute the UPDATE itself."""

from __future__ import annotations

from collections.abc import Sequence

from lakeprune.cli.question import Once, Parser, add_condition, parsed
from lakeprune.cli.spark_flags import delta_session_of, shown_progress
from lakeprune.cli.statement import EXIT_CODES, add_statement_flags, finish, statement_options

_EXAMPLES = f"""\
examples:
  lakeprune update ./orders --set "status = 'archived'" -w "created_at < '2025-01-01'"
  lakeprune update ./orders --set "price = price * 1.1, note = NULL" -w "year(day) = 2024" --max-files 100 --execute
  lakeprune update s3a://lake/orders --set "a = 1" -w "day = '2025-01-01'" --require-partition-filter --execute --retry 2

{EXIT_CODES}"""


def run(argv: Sequence[str]) -> int:
    """Plan one UPDATE, and carry it out if that was asked for."""
    given = parsed(_parser(), argv)
    if isinstance(given, int):
        return given
    spark = delta_session_of(given)
    from lakeprune.dml.update import update

    with shown_progress(spark):
        plan = update(given.table, given.set, where=given.where, spark=spark, **statement_options(given))
        return finish(plan, given)


def _parser() -> Parser:
    what = "Show what an UPDATE touches and costs, in seven steps; with --execute, do it through Delta's own transaction."
    parser = Parser("update", what, _EXAMPLES)
    add_condition(parser, is_required=True)
    parser.add_argument(
        "--set", metavar="ASSIGNMENTS", required=True, action=Once, help="column = expression, with commas between"
    )
    add_statement_flags(parser)
    return parser
