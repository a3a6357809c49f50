"""`lakeprune hints`: the Delta Sharing hints of a predicate, and what they cannot express. No data file is opened."""

from __future__ import annotations

from collections.abc import Sequence

from lakeprune.cli.output import shown
from lakeprune.cli.parser import chosen, parsed
from lakeprune.errors import EXIT_OK

_WHAT = "Write a predicate as Delta Sharing hints: what a client sends so that a server leaves files out."
_EXAMPLES = """\
examples:
  lakeprune hints ./users -w "country = 'DE' AND age > 40"
  lakeprune hints ./users -w "age IN (1, 2) AND name LIKE '%x%'" --format json

exit codes: 0 fine, 2 usage or predicate error, 3 the table cannot be read
"""


def run(command: str, argv: Sequence[str]) -> int:
    """Write the hints of one predicate."""
    given = parsed(command, _WHAT, _EXAMPLES, argv)
    from lakeprune.apps.sharing.hints.written import hints_of
    from lakeprune.planning.opening import At, open_planner
    from lakeprune.planning.planner import read
    from lakeprune.planning.session import SessionOptions, profile_of
    from lakeprune.storage.access import AccessOptions

    profile, _ = profile_of(**chosen(given, SessionOptions.__annotations__))
    read(given.where, profile)  # what cannot be read is said before the table is opened
    at = At(given.version, given.timestamp, given.ref)
    planner = open_planner(given.table, at, profile, access=chosen(given, AccessOptions.__annotations__), catalog=given.catalog)
    with planner.engine.awake():
        found = hints_of(given.where, planner.facts.schema, profile)
    shown(found, given)()
    return EXIT_OK
