"""`lakeprune delete`: the plan of a DELETE, and with --execute the DELETE itself."""

from __future__ import annotations

from collections.abc import Sequence

from lakeprune.cli.statement import run_statement

_EXAMPLES = """\
examples:
  lakeprune delete ./orders -w "tenant = 'x'"
  lakeprune delete ./orders -w "year(day) = 2019 AND month(day) = 3" --max-rows 100000 --execute
  lakeprune delete ./orders -w "tenant = 'x'" --execute --format json
"""


def run(argv: Sequence[str]) -> int:
    """Plan one DELETE, and carry it out if that was asked for."""
    return run_statement("a DELETE", _EXAMPLES, argv)
