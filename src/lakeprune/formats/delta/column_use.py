"""Which columns of a Parquet checkpoint are read.

In: a column, by its names from the root to the leaf. Out: whether it is always read, never, or only for some predicates. What is
not listed here is always fetched: a reader that asks for more must find it.
"""

from __future__ import annotations

from collections.abc import Callable

from lakeprune.formats.delta.statistics import StatisticsSql
from lakeprune.storage.storage import Column, ColumnUse

_PARSED = ("add", "stats_parsed")


def column_use(column: Column) -> ColumnUse:
    """
    >>> column_use(("add", "path")), column_use(("remove", "path")), column_use(("add", "stats_parsed", "minValues", "x"))
    (<ColumnUse.ALWAYS: 'always'>, <ColumnUse.NEVER: 'never'>, <ColumnUse.PERHAPS: 'perhaps'>)
    """
    if column[0] in ("remove", "txn") or column[:2] == ("add", "tags"):
        return ColumnUse.NEVER  # tombstones and the like, which a snapshot has no use for
    return ColumnUse.PERHAPS if column[:2] == _PARSED else ColumnUse.ALWAYS


def needed_for(statistics: StatisticsSql) -> Callable[[Column], bool]:
    """Whether a typed statistic takes part in answering about these columns."""
    names = {_joined((*_PARSED, "numRecords"))}
    for column in statistics.columns:
        names |= {_joined((*_PARSED, part, *column.physical)) for part in ("minValues", "maxValues", "nullCount")}

    def is_needed(column: Column) -> bool:
        name = _joined(column)
        return len(column) == len(_PARSED) or name in names or any(name.startswith(f"{other}, ") for other in names)

    return lambda column: column[:2] == _PARSED and is_needed(column)


def _joined(column: Column) -> str:
    """As footers are described: joined by what a name may hold too; without case, which an engine may not look at."""
    return ", ".join(column).lower()
