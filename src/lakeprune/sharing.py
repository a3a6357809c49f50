"""Delta Sharing from the reading side.

    >>> import lakeprune
    >>> rows = lakeprune.sharing.read("profile.share#sales.public.orders", where="region = 'EU'")  # doctest: +SKIP
    >>> rows.offer.files, rows.read_all()  # doctest: +SKIP
    >>> lakeprune.sharing.read("profile.share#sales.public.orders", where="region = 'EU'", spark=spark)  # doctest: +SKIP

Hints are what a client sends so that a server leaves files out; see docs/concepts/sharing-hints.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypedDict, overload

if TYPE_CHECKING:
    from datetime import datetime
    from typing import Unpack

    from pyspark.sql import DataFrame, SparkSession

    from lakeprune.apps.sharing.hints.written import Hints
    from lakeprune.apps.sharing.reading.read import ArrowRows, Offer

__all__ = ["hints", "read"]


def hints(predicate: str, schema: Any, *, timezone: str | None = None, now: str | datetime | None = None) -> Hints:
    """A predicate as JSON and SQL hints, and what they cannot express; the schema is Delta's JSON, deltalake's or pyarrow's."""
    from lakeprune.apps.sharing.hints.written import hints_of, schema_of
    from lakeprune.planning.session import profile_of

    profile, _ = profile_of(timezone, now)
    return hints_of(predicate, schema_of(schema), profile)


class ReadOptions(TypedDict, total=False):
    columns: Sequence[str] | None
    limit: int | None
    timezone: str | None
    now: str | datetime | None
    on_offer: Callable[[Offer], None] | None


@overload
def read(table: str, where: str | None = None, *, spark: None = None, **options: Unpack[ReadOptions]) -> ArrowRows: ...


@overload
def read(table: str, where: str | None = None, *, spark: SparkSession, **options: Unpack[ReadOptions]) -> DataFrame: ...


def read(
    table: str, where: str | None = None, *, spark: SparkSession | None = None, **options: Unpack[ReadOptions]
) -> ArrowRows | DataFrame:
    """The rows of `profile.share#share.schema.table`: Arrow batches, or a DataFrame when a session is given.

    The predicate goes to the server as a hint and is always applied to the rows, and so is the limit. `on_offer` is called with
    the number of files and bytes that the server offered; Arrow rows have it as `offer`.
    """
    from lakeprune.apps.sharing.reading.read import Request, read_rows
    from lakeprune.planning.session import check_options

    check_options("read", options, ReadOptions)
    session = {name: value for name in ("timezone", "now") if (value := options.get(name)) is not None}
    request = Request(table, where, options.get("columns"), options.get("limit"), session, options.get("on_offer"))
    if spark is None:
        return read_rows(request)
    from lakeprune.apps.sharing.reading.spark_rows import read_frame

    return read_frame(spark, request)
