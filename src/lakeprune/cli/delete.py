"""`lakeprune delete`: the plan of a DELETE, and with --execute the DELETE itself."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lakeprune.cli.question import Parser, add_condition
from lakeprune.cli.statement import EXIT_CODES, add_statement_flags, run_statement

if TYPE_CHECKING:
    from lakeprune.apps.statements.plan import StatementPlan

_EXAMPLES = f"""\
examples:
  lakeprune delete ./orders -w "tenant = 'x'"
  lakeprune delete ./orders -w "year(day) = 2019 AND month(day) = 3" --max-rows 100000 --execute
  lakeprune delete ./orders -w "tenant = 'x'" --execute --format json

{EXIT_CODES}"""


def run(argv: Sequence[str]) -> int:
    """Plan one DELETE, and carry it out if that was asked for."""
    return run_statement(_parser(), argv, _planned)


def _planned(given: argparse.Namespace, options: dict[str, Any]) -> StatementPlan:
    from lakeprune.apps.statements.delete.delete import delete

    return delete(given.table, where=given.where, **options)


def _parser() -> Parser:
    what = "Show what a DELETE touches and costs, in seven steps; with --execute, do it through Delta's own transaction."
    parser = Parser("delete", what, _EXAMPLES)
    add_condition(parser, is_required=True)
    add_statement_flags(parser)
    return parser
