"""The domains of columns in row groups: kept as a row per column chunk, asked for as a row per row group.

In: chunks, as footers.py makes them of what an engine has read. Out: SQL. Chunks cost as many rows as there are, however many
columns and predicates; each bound is read once. What is true of a chunk is packed into one number, so that a row group needs
three values of a column, not a join of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from enum import IntFlag

from lakeprune.engines.dialect import Dialect, carrier
from lakeprune.formats.parquet.bounds import Form, judged_sql, listed
from lakeprune.formats.relation import Relation, flags_of
from lakeprune.predicate.tree import Column
from lakeprune.skipping.ladder import Seen
from lakeprune.values.types import Family

_PLACE = ("file", "row_group", "wanted", "needed_bytes", "blooms", "bloom_start", "bloom_end")


class _Flag(IntFlag):
    """What is true of a chunk."""

    NO_NULL = 1
    ALL_NULL = 2
    COUNTED = 4
    TRUNCATED = 8
    NAN_FREE = 16
    HAS_NAN = 32


def kinds_of(columns: Sequence[Column]) -> list[str]:
    """The SQL types that bounds of these columns have."""
    return list(dict.fromkeys(carrier(column.type) for column in columns))


def domains_sql(dialect: Dialect, forms: Sequence[Form], kinds: Sequence[str], chunks: str) -> str:
    """A row per chunk with its domain; one whose `rows` are NULL proves nothing."""
    flags = {_Flag.NO_NULL: "counted AND nulls = 0", _Flag.ALL_NULL: "counted AND empty", _Flag.COUNTED: "counted"}
    if text := next((form.type for form in forms if form.type.family is Family.TEXT), None):
        flags[_Flag.TRUNCATED] = f"NOT is_exact AND high{kinds.index(carrier(text))} IS NOT NULL"
    if any(form.type.family is Family.REAL for form in forms):
        whole_numbers = [place for place, form in enumerate(forms) if form.stored.type.family is not Family.REAL]
        flags[_Flag.NAN_FREE] = "nans = 0" + (f" OR form IN ({listed(whole_numbers)})" if whole_numbers else "")
        flags[_Flag.HAS_NAN] = "nans > 0"
    packed = " + ".join(f"CASE WHEN {fact} THEN {flag.value} ELSE 0 END" for flag, fact in flags.items())
    ends = [f"{end}{number}" for number in range(len(kinds)) for end in ("low", "high")]
    items = [*_PLACE, f"CASE WHEN rows IS NULL THEN 0 ELSE {packed} END AS flags", *ends]
    return f"SELECT {', '.join(items)} FROM ({judged_sql(dialect, forms, kinds, chunks)})"


def pivot_sql(chunks: str, columns: Mapping[int, int], needed: AbstractSet[int]) -> str:
    """A FROM item with a row per row group: `needed_bytes` and `blooms` of the needed chunks, and the packed domains of columns.

    Chunks go by what they are `wanted` for; `columns` says which bounds a column has among those of all SQL types.
    """
    total = "sum({})" if needed >= columns.keys() else f"sum(CASE WHEN wanted IN ({listed(needed)}) THEN {{}} ELSE 0 END)"
    sums = [f"CAST({total.format(name)} AS BIGINT) AS {name}" for name in ("needed_bytes", "blooms")] if needed else []
    packed = [
        f"max(CASE WHEN wanted = {number} THEN {value} END) AS {name}{number}"
        for number, kind in columns.items()
        for name, value in (("low", f"low{kind}"), ("high", f"high{kind}"), ("flags", "flags"))
    ]
    return f"(SELECT {', '.join(['file', 'row_group', *sums, *packed])} FROM {chunks} GROUP BY file, row_group)"


def unpacked(names: Relation, seen: Seen, number: int) -> dict[str, str]:
    """The columns of a domain in a relation, from those of a pivot."""
    flags = {
        names.no_null(seen): _Flag.NO_NULL,
        names.all_null(seen): _Flag.ALL_NULL,
        names.is_counted(seen): _Flag.COUNTED,
        names.is_truncated(seen): _Flag.TRUNCATED,
        names.nan_free(seen): _Flag.NAN_FREE,
        names.has_nan(seen): _Flag.HAS_NAN,
    }
    ends = {names.lo(seen): f"low{number}", names.hi(seen): f"high{number}"}
    return ends | {name: f"(coalesce(flags{number}, 0) & {flags[name].value}) > 0" for name in flags_of(names, seen)}
