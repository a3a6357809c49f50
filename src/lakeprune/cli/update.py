"""`lakeprune update`: the plan of an UPDATE, and with --execute the UPDATE itself."""

from __future__ import annotations

from collections.abc import Sequence

from lakeprune.cli.statement import run_statement

_EXAMPLES = """\
examples:
  lakeprune update ./orders --set "status = 'archived'" -w "created_at < '2025-01-01'"
  lakeprune update ./orders --set "price = price * 1.1, note = NULL" -w "year(day) = 2024" --max-files 100 --execute
  lakeprune update s3a://lake/orders --set "a = 1" -w "day = '2025-01-01'" --require-partition-filter --execute --retry 2
"""


def run(argv: Sequence[str]) -> int:
    """Plan one UPDATE, and carry it out if that was asked for."""
    return run_statement("an UPDATE", _EXAMPLES, argv)
