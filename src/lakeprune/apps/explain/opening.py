"""A table and predicates, ready to be explained: for `explain` and everybody who builds on it.

In: a table, predicates, options by the names of the command's flags. Out: an `Explainer`, and the predicates as they were read.
Knows nothing of signatures: the command comes here without importing what describes functions to people.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from lakeprune.apps.explain.explainer import Explainer
from lakeprune.errors import UsageError
from lakeprune.planning.opening import At, open_planner
from lakeprune.planning.planner import read_all
from lakeprune.planning.session import Session, SessionOptions, among, check_options, profile_of
from lakeprune.report.gates import Gates, gates_of
from lakeprune.storage.access import AccessOptions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lakeprune.planning.opening import Table
    from lakeprune.predicate.condition import Condition
    from lakeprune.predicate.tree import Profile
    from lakeprune.programs.row_groups import Asked

DEFAULTS = {"nan_policy": "assume"}  # of explaining: counts as every engine has them, with a mark; what acts on rows is strict


class Options(SessionOptions, Gates, AccessOptions, total=False):
    """How a predicate is read, the gates, how an object store is reached; named like the command's flags."""

    spark: SparkSession  # reads the metadata instead of this process
    catalog: str  # of PyIceberg's, where the table is a name
    explain_why: bool
    row_groups: bool  # reads the footers of the files that are left
    bloom: bool  # consults their Bloom filters, too
    sample: int  # of that many files only
    footer_progress: Callable[[int, int], None]  # called with the footers read and the footers to read
    exhaustive: bool  # reads every manifest of an Iceberg table, and counts the files of each clause one by one


def opened(
    table: Table, wheres: Sequence[str | None], at: At, options: dict[str, Any], *, reads_here: bool = False
) -> tuple[Explainer, list[Condition | None]]:
    """The table, ready to be asked, and the predicates as they were read: first these, then the table.

    With `reads_here` this process reads the metadata, also where a session is given, whose time zone is taken.
    """
    started = time.perf_counter()
    check_options("explain", options, Options)
    asked = _row_groups(options, wheres)
    spark = options.get("spark")
    profile, session = _session(among(options, SessionOptions), spark)
    conditions = read_all(wheres, profile)
    access, catalog = among(options, AccessOptions), options.get("catalog")
    planner = open_planner(table, at, profile, access=access, spark=None if reads_here else spark, catalog=catalog)
    # A share of the bytes is known only when the bytes of all files are.
    if options.get("exhaustive") or options.get("min_bytes_pruning") is not None:
        planner = replace(planner, evaluation=replace(planner.evaluation, is_exhaustive=True))
    explain_why = bool(options.get("explain_why"))
    return Explainer(planner, session, gates_of(options), started, explain_why, asked), conditions


def _session(options: dict[str, Any], spark: SparkSession | None) -> tuple[Profile, Session]:
    """How the predicates are read. A session that is given has a time zone, which is the default as it is for its own queries."""
    if spark is None or options.get("timezone") is not None:
        return profile_of(**options)
    profile, session = profile_of(**{**options, "timezone": str(spark.conf.get("spark.sql.session.timeZone"))})
    return replace(profile, zone_is_given=False), replace(session, timezone=None)


def _row_groups(options: dict[str, Any], wheres: Sequence[str | None]) -> Asked | None:
    """How row groups are asked for, None when they are not."""
    sample, bloom = options.get("sample"), bool(options.get("bloom"))
    if not options.get("row_groups"):
        if sample is not None or bloom:
            flag = "--bloom" if bloom else "--sample"
            raise UsageError("LP257", f"{flag} is about row groups, which were not asked for", fix="add --row-groups")
        return None
    if None in wheres:
        fix = "give a predicate with --where"
        raise UsageError("LP258", "--row-groups needs a predicate", why="without one every row group is read", fix=fix)
    if sample is not None and (isinstance(sample, bool) or not isinstance(sample, int) or not 1 <= sample < 2**63):
        raise UsageError("LP218", f"the sample is {sample!r}", fix="give the number of files, 1 or more")
    from lakeprune.programs.row_groups import Asked

    return Asked(sample, bloom, options.get("footer_progress"))
