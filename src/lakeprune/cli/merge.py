"""`lakeprune merge`: the plan of a MERGE, and with --execute the MERGE itself."""

from __future__ import annotations

from collections.abc import Sequence

from lakeprune.cli.statement import run_statement

_EXAMPLES = """\
In ON, conditions and assignments the target is called t, the source s.

examples:
  lakeprune merge ./orders --source ./changes --on "t.id = s.id" --when-matched-update all --when-not-matched-insert all
  lakeprune merge ./orders --source "SELECT * FROM parquet.`./changes` WHERE day > '2025-01-01'" \\
    --on "t.id = s.id AND t.day = s.day" --when-matched-delete "AND s.op = 'd'" \\
    --when-matched-update "price = s.price, n = t.n + 1" --execute
  lakeprune merge ./orders --source ./today --on "t.id = s.id" --when-not-matched-insert "AND s.price > 0 THEN all" --max-files 50
"""


def run(argv: Sequence[str]) -> int:
    """Plan one MERGE, and carry it out if that was asked for."""
    return run_statement("a MERGE", _EXAMPLES, argv)
