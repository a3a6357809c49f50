"""`lakeprune.open`: a table whose metadata is read once, for programs that ask it many questions.

In: a table, and how it is reached. Out: an opened table that `explain`, `explain_many`, `plan`, `verify`, `audit` and the
statements take. Never opens a data file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lakeprune.planning.opened import OpenedTable
from lakeprune.planning.opening import At, open_planner
from lakeprune.planning.session import among, check_options, profile_of
from lakeprune.storage.access import AccessOptions

if TYPE_CHECKING:
    from datetime import datetime
    from typing import Unpack

    from pyspark.sql import SparkSession

    from lakeprune.planning.opening import Table


class Options(AccessOptions, total=False):
    """Which version of the table, and how it is reached."""

    version: int
    timestamp: str | datetime
    ref: str
    timezone: str  # of the timestamp
    spark: SparkSession  # reads the metadata instead of this process
    catalog: str  # of PyIceberg's, where the table is a name


def open(table: Table, **options: Unpack[Options]) -> OpenedTable:  # noqa: A001  # as users call it: lakeprune.open
    """The table at one version, read now and kept until it is closed."""
    given: dict[str, Any] = dict(options)
    check_options("open", given, Options)
    profile, _ = profile_of(given.get("timezone"))
    at = At(given.get("version"), given.get("timestamp"), given.get("ref"))
    access, catalog = among(given, AccessOptions), given.get("catalog")
    planner = open_planner(table, at, profile, access=access, spark=given.get("spark"), catalog=catalog)
    opened = OpenedTable(planner.engine, planner.snapshot)
    try:
        with planner.reading():
            planner.snapshot.keep(planner.engine)
    except BaseException:
        opened.close()
        raise
    return opened
