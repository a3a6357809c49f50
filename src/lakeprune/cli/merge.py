"""`lakeprune merge`: the plan of a MERGE, and with --execute the MERGE itself."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lakeprune.cli.question import Parser, add_table
from lakeprune.cli.statement import EXIT_CODES, add_statement_flags, run_statement
from lakeprune.cli.values import predicate

if TYPE_CHECKING:
    from lakeprune.apps.statements.plan import StatementPlan

_EXAMPLES = f"""\
In ON, conditions and assignments the target is called t, the source s.

examples:
  lakeprune merge ./orders --source ./changes --on "t.id = s.id" --when-matched-update all --when-not-matched-insert all
  lakeprune merge ./orders --source "SELECT * FROM parquet.`./changes` WHERE day > '2025-01-01'" \\
    --on "t.id = s.id AND t.day = s.day" --when-matched-delete "AND s.op = 'd'" \\
    --when-matched-update "price = s.price, n = t.n + 1" --execute
  lakeprune merge ./orders --source ./today --on "t.id = s.id" --when-not-matched-insert "AND s.price > 0 THEN all" --max-files 50

{EXIT_CODES}"""
_SET = "all, or assignments; after a condition: \"AND s.op = 'u' THEN all\""
_CLAUSES = {
    "when-matched-update": f"rows of both: set columns ({_SET})",
    "when-matched-delete": "rows of both: delete them",
    "when-not-matched-insert": "rows of the source alone: insert them, as above",
    "when-not-matched-by-source-update": "rows of the target alone: set columns",
    "when-not-matched-by-source-delete": "rows of the target alone: delete them",
}


def run(argv: Sequence[str]) -> int:
    """Plan one MERGE, and carry it out if that was asked for."""
    return run_statement(_parser(), argv, _planned)


def _planned(given: argparse.Namespace, options: dict[str, Any]) -> StatementPlan:
    from lakeprune.apps.statements.merge.merge import merge

    return merge(given.table, given.source, on=given.on, clauses=given.clauses, **options)


class _Clause(argparse.Action):
    """A WHEN clause: the order of the flags is the order in which the clauses are tried."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:  # noqa: ARG002
        name = str(option_string).removeprefix("--").replace("-", "_")
        namespace.clauses = [*namespace.clauses, (name, values)]


def _parser() -> Parser:
    what = "Show what a MERGE touches and costs, in seven steps; with --execute, do it through Delta's own transaction."
    parser = Parser("merge", what, _EXAMPLES)
    add_table(parser)
    source = "path or URL of a Delta table or of Parquet files, or a query (SELECT, WITH, VALUES, TABLE); it is read once"
    parser.add_argument("--source", metavar="SOURCE", type=predicate, required=True, help=source)
    parser.add_argument("--on", metavar="CONDITION", type=predicate, required=True, help="which rows match: t.id = s.id")
    clauses = parser.add_argument_group("what becomes of the rows: the first clause that applies, in the order given")
    for name, told in _CLAUSES.items():
        is_delete = name.endswith("delete")
        more: dict[str, Any] = {"nargs": "?", "const": True, "metavar": "CONDITION"} if is_delete else {"metavar": "SET"}
        clauses.add_argument(f"--{name}", action=_Clause, dest="clauses", default=[], help=told, **more)
    add_statement_flags(parser)
    return parser
