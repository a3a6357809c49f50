"""Column metrics and partition values as bounds that really hold, in SQL.

In: the names of a table's raw columns. Out: the columns of formats/relation.py. A bound may be wider than the values, never
narrower: both are discarded when they contradict each other (T24) or one is NaN (T2); a maximum in whole milliseconds may have
lost microseconds (T5); a long maximum of text may be a prefix (T16).
"""

from __future__ import annotations

from msgspec import Struct

from lakeprune.engines.dialect import carrier
from lakeprune.formats.relation import Needs, Relation
from lakeprune.skipping.ladder import Seen
from lakeprune.values.types import Family, Kind

_SHORTEST_CUT = 16  # code points or bytes: writers cut bounds there unless the table says otherwise
_INFINITY = "CAST('Infinity' AS DOUBLE)"
_LAST, _FIRST = 2**63 - 1, -(2**63)


class Raw(Struct, frozen=True):
    """The raw columns of one table column: what the manifests record of it."""

    lo: str
    hi: str
    values: str
    nulls: str
    nans: str

    @classmethod
    def of(cls, field_id: int) -> Raw:
        return cls(*(f"m{field_id}_{name}" for name in ("lo", "hi", "values", "nulls", "nans")))


class MetricsSql(Struct, frozen=True):
    """The domain of one column from its metrics. `cut` is the length from which text may be a prefix."""

    column: Seen
    raw: Raw
    cut: int = _SHORTEST_CUT

    def items(self, names: Relation, needs: Needs) -> list[str]:
        column, raw, family = self.column, self.raw, self.column.type.family
        counted = f"coalesce({raw.nulls} >= 0 AND {raw.nulls} <= rows AND {self._counts_every_row()}, FALSE)"
        lo, hi = self._bounds()
        items = [
            f"{lo} AS {names.lo(column)}",
            f"{hi} AS {names.hi(column)}",
            f"{counted} AND {raw.nulls} = 0 AS {names.no_null(column)}",
            f"{counted} AND {raw.nulls} = rows AS {names.all_null(column)}",
            f"{counted} AS {names.is_counted(column)}",
        ]
        if family is Family.TEXT:
            items.append(f"coalesce(length({raw.hi}) >= {self.cut}, FALSE) AS {names.is_truncated(column)}")
        if family is Family.REAL:
            items.append(f"coalesce({raw.nans} = 0, FALSE) AS {names.nan_free(column)}")
            is_nan = " OR ".join(f"coalesce({bound} > {_INFINITY}, FALSE)" for bound in (raw.lo, raw.hi))
            items.append(f"coalesce({raw.nans} > 0, FALSE) OR {is_nan} AS {names.has_nan(column)}")
        if needs.recorded:
            items += [f"{raw.lo} AS {names.first(column)}", f"{raw.hi} AS {names.last(column)}"]
            items.append(f"{raw.nulls} AS {names.nulls(column)}")
        return items

    def _counts_every_row(self) -> str:
        """A nested field is NULL wherever a struct above it is, which not every writer counts (T34)."""
        is_nested = len(self.column.column.path) > 1
        return f"{self.raw.values} = rows" if is_nested else f"coalesce({self.raw.values} = rows, TRUE)"

    def _bounds(self) -> tuple[str, str]:
        lo, hi = self.raw.lo, self.raw.hi
        sane = f"coalesce({lo} <= {hi}, TRUE)"
        if self.column.type.family is Family.REAL:
            sane += "".join(f" AND coalesce({bound} <= {_INFINITY}, TRUE)" for bound in (lo, hi))  # NaN is above infinity
        if self.column.type.kind in (Kind.TIMESTAMP, Kind.TIMESTAMP_NTZ):
            lo = f"CASE WHEN {lo} < 0 AND {lo} % 1000 = 0 AND {lo} > {_FIRST + 1000} THEN {lo} - 999 ELSE {lo} END"
            hi = f"CASE WHEN {hi} % 1000 = 0 AND {hi} < {_LAST - 1000} THEN {hi} + 999 ELSE {hi} END"
        if self.column.type.family is Family.BYTES:
            hi = f"CASE WHEN octet_length({hi}) < {self.cut} THEN {hi} END"
        return f"CASE WHEN {sane} THEN {lo} END", f"CASE WHEN {sane} THEN {hi} END"


def unknown_items(column: Seen, names: Relation, needs: Needs) -> list[str]:
    """The domain of a column that nothing is known about."""
    bounds = [names.lo(column), names.hi(column), *([names.first(column), names.last(column)] if needs.recorded else [])]
    flags = [names.no_null(column), names.all_null(column), names.is_counted(column)]
    if column.type.family is Family.TEXT:
        flags.append(names.is_truncated(column))
    if column.type.family is Family.REAL:
        flags += [names.nan_free(column), names.has_nan(column)]
    items = [f"CAST(NULL AS {carrier(column.type)}) AS {name}" for name in bounds] + [f"FALSE AS {flag}" for flag in flags]
    return [*items, f"CAST(NULL AS BIGINT) AS {names.nulls(column)}"] if needs.recorded else items


def value_items(column: Seen, names: Relation, needs: Needs) -> list[str]:
    """The domain of a column whose value is known: `v{id}` has it, `v{id}_known` whether it could be read."""
    value = f"v{column.column.physical[-1]}"
    known = f"{value}_known"
    bound = value
    items = []
    if column.type.family is Family.REAL:
        bound = f"CASE WHEN {value} <= {_INFINITY} THEN {value} END"
        items.append(f"coalesce({value} <= {_INFINITY}, FALSE) AS {names.nan_free(column)}")
        items.append(f"coalesce({value} > {_INFINITY}, FALSE) AS {names.has_nan(column)}")
    if column.type.family is Family.TEXT:
        items.append(f"FALSE AS {names.is_truncated(column)}")
    items += [
        f"{bound} AS {names.lo(column)}",
        f"{bound} AS {names.hi(column)}",
        f"{known} AND {value} IS NOT NULL AS {names.no_null(column)}",
        f"{known} AND {value} IS NULL AS {names.all_null(column)}",
        f"{known} AS {names.is_counted(column)}",
    ]
    if needs.recorded:
        items += [
            f"{value} AS {names.first(column)}",
            f"{value} AS {names.last(column)}",
            f"CAST(NULL AS BIGINT) AS {names.nulls(column)}",
        ]
    return items
