"""`lakeprune compare`: what the engines of this machine open for a predicate, beside what metadata allows."""

from __future__ import annotations

from collections.abc import Sequence

from lakeprune.cli.output import spooled, terminal_width
from lakeprune.cli.parser import parsed
from lakeprune.errors import EXIT_OK, UsageError

_WHAT = "Ask every engine for the same rows of a Delta table, and count the data files that each opens."
_EXAMPLES = """\
examples:
  lakeprune compare ./users -w "country = 'DE' AND age > 40"
  lakeprune compare ./users -w "age > 40" --engines delta-rs,polars --format json
  lakeprune compare ./users -w "year(born) = 1980" --format html --output engines.html

exit codes: 0 fine (an engine that is missing or fails is a line of the answer), 2 usage or predicate error, 3 the table cannot
be read
"""


def run(command: str, argv: Sequence[str]) -> int:
    """Compare the engines on one predicate."""
    from lakeprune.render.registry import rendered
    from lakeprune.report.document import View

    given = parsed(command, _WHAT, _EXAMPLES, argv)
    if given.where is None:
        raise UsageError("LP248", "no predicate was named", where="lakeprune compare", fix="give -w PREDICATE")
    from lakeprune.apps.compare.compare import ENGINES, compare

    found = compare(given.table, given.where, engines=given.engines or tuple(ENGINES))
    width = terminal_width() if given.output is None else None
    spooled(rendered(found, given.format, View(width=width)), given.output)()
    return EXIT_OK
