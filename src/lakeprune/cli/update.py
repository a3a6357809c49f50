"""`lakeprune update`: the plan of an UPDATE, and with --execute the UPDATE itself."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lakeprune.cli.question import Once, Parser, add_condition
from lakeprune.cli.statement import EXIT_CODES, add_statement_flags, run_statement

if TYPE_CHECKING:
    from lakeprune.apps.statements.plan import StatementPlan

_EXAMPLES = f"""\
examples:
  lakeprune update ./orders --set "status = 'archived'" -w "created_at < '2025-01-01'"
  lakeprune update ./orders --set "price = price * 1.1, note = NULL" -w "year(day) = 2024" --max-files 100 --execute
  lakeprune update s3a://lake/orders --set "a = 1" -w "day = '2025-01-01'" --require-partition-filter --execute --retry 2

{EXIT_CODES}"""


def run(argv: Sequence[str]) -> int:
    """Plan one UPDATE, and carry it out if that was asked for."""
    return run_statement(_parser(), argv, _planned)


def _planned(given: argparse.Namespace, options: dict[str, Any]) -> StatementPlan:
    from lakeprune.apps.statements.update.update import update

    return update(given.table, given.set, where=given.where, **options)


def _parser() -> Parser:
    what = "Show what an UPDATE touches and costs, in seven steps; with --execute, do it through Delta's own transaction."
    parser = Parser("update", what, _EXAMPLES)
    add_condition(parser, is_required=True)
    parser.add_argument(
        "--set", metavar="ASSIGNMENTS", required=True, action=Once, help="column = expression, with commas between"
    )
    add_statement_flags(parser)
    return parser
