"""The span of a change data feed that a plan is of, and the table of it.

In: options, an opened table. Out: a planner over the files of the feed. Versions at both ends belong to the span.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from lakeprune.errors import UsageError
from lakeprune.planning.opening import At
from lakeprune.planning.session import instant

if TYPE_CHECKING:
    from lakeprune.formats.snapshot import Snapshot
    from lakeprune.planning.planner import Planner

_ENDS = ("from_version", "to_version", "from_timestamp", "to_timestamp")


class Span(Struct, frozen=True):
    """From a version or a time to the version that is opened."""

    first: int | None
    since: str | None
    last: At


def span_of(given: Mapping[str, Any]) -> Span | None:
    """The span that was asked for; None where the table itself is."""
    ends = [name for name in _ENDS if given.get(name) is not None]
    if not given.get("changes"):
        if ends:
            fix = "add --changes (changes=True)"
            raise UsageError("LP267", f"{_flag(ends[0])} is about changes, which were not asked for", fix=fix)
        return None
    for name in ("version", "timestamp", "ref"):
        if given.get(name) is not None:
            fix = "the last version is given by --to-version or --to-timestamp"
            raise UsageError("LP267", "changes have a first and a last version, not one", fix=fix)
    for side in ("from", "to"):
        if {f"{side}_version", f"{side}_timestamp"} <= set(ends):
            raise UsageError("LP267", f"both --{side}-version and --{side}-timestamp were given", fix="choose one of the two")
    if not {"from_version", "from_timestamp"} & set(ends):
        raise UsageError("LP267", "changes need a beginning", fix="add --from-version or --from-timestamp")
    first, since = given.get("from_version"), given.get("from_timestamp")
    if first is not None and (isinstance(first, bool) or not isinstance(first, int) or first < 0):
        raise UsageError("LP267", f"the first version is {first!r}", fix="give a whole number, 0 or more")
    return Span(first, None if since is None else str(since), At(given.get("to_version"), given.get("to_timestamp")))


def over_changes(planner: Planner, span: Span) -> Planner:
    """The planner over the changes up to the version that it has opened."""
    from lakeprune.formats.delta.changes import open_changes, version_since
    from lakeprune.formats.delta.demand import delta_version
    from lakeprune.formats.delta.snapshot import DeltaSnapshot

    delta_version(planner.facts, "a change data feed")
    snapshot = planner.snapshot
    assert isinstance(snapshot, DeltaSnapshot), "the format says so"
    first = span.first
    if first is None:
        moment = instant(str(span.since), planner.profile.zone, "--from-timestamp")
        first = version_since(snapshot, moment)
    found = open_changes(snapshot, planner.engine, first)
    return replace(planner, evaluation=replace(planner.evaluation, snapshot=found))


def first_version(snapshot: Snapshot) -> int | None:
    """The first version of a change data feed, None for a table."""
    from lakeprune.formats.delta.changes import ChangesSnapshot

    return snapshot.first if isinstance(snapshot, ChangesSnapshot) else None


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"
