"""Footer statistics as bounds that really hold, in SQL.

In: the row groups of a column, as Footers.chunks lists them. Out: one row per row group, or per file, with the columns of
formats/relation.py: the same rules for both. A file has a bound when each of its row groups has one, or has no value that it
would be about. Only `min_value` and `max_value` under the order that the type defines are used, and not those of writers that are
known to be wrong (T59); the deprecated `min` and `max` compare bytes as signed, so they count only for types whose order is that
one (T17, T28); INT96 has no order (T15); days of the Julian calendar are widened (T95).
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from lakeprune.engines.dialect import Dialect, carrier
from lakeprune.formats.parquet.legacy_calendar import moved
from lakeprune.formats.relation import Relation
from lakeprune.skipping.ladder import Seen
from lakeprune.values.types import INTEGER_RANGES, INTEGRAL_KINDS, DataType, Family, Kind

_DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
_CLOCK = r"^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?$"
_NUMBER = r"^-?[0-9]+(\.[0-9]+)?$"
_MICROS_A_DAY = 86_400_000_000
# parquet-mr before 1.8.1 found minima and maxima of bytes by a wrong order (PARQUET-251).
_DENIED = r"^parquet-mr( version)? (0\.|1\.[0-7](\.|[^0-9]|$)|1\.8\.0)"
_UTC = "+00"  # how the engine prints an instant: in UTC, and with this at its end


def bound(dialect: Dialect, text: str, data_type: DataType) -> str:
    """The value that the text of a statistic stands for, NULL when that is not certain."""
    kind = data_type.kind
    match data_type.family:
        case Family.BOOLEAN:
            return f"CASE {text} WHEN 'true' THEN TRUE WHEN 'false' THEN FALSE END"
        case Family.TEXT:
            return f"CASE WHEN {is_text(text)} THEN {text} END"
        case Family.BYTES:
            return dialect.bytes_of_bound(text)
        case Family.REAL:
            value = dialect.try_cast(text, "DOUBLE")
            if kind is Kind.FLOAT:
                value = f"CAST({dialect.try_cast(text, 'FLOAT')} AS DOUBLE)"
            return f"CASE WHEN {value} <= CAST('Infinity' AS DOUBLE) THEN {value} END"  # NaN is above infinity
        case Family.DECIMAL:
            return f"CASE WHEN {dialect.regexp_matches(text, _NUMBER)} THEN {dialect.try_cast(text, carrier(data_type))} END"
        case Family.INTEGER if kind is Kind.DATE:
            return f"CASE WHEN {dialect.regexp_matches(text, _DATE)} THEN {dialect.days_of_date(text)} END"
        case Family.INTEGER if kind is Kind.TIMESTAMP_NTZ:
            return f"CASE WHEN {dialect.regexp_matches(text, _CLOCK)} THEN {dialect.micros_of(text)} END"
        case Family.INTEGER if kind is Kind.TIMESTAMP:
            clock = f"replace({text}, '{_UTC}', '')"
            matches = f"{text} LIKE '%{_UTC}' AND {dialect.regexp_matches(clock, _CLOCK)}"
            return f"CASE WHEN {matches} THEN {dialect.micros_of(clock)} END"
        case Family.INTEGER:
            low, high = INTEGER_RANGES[kind]
            value = dialect.try_cast(text, "BIGINT")
            return f"CASE WHEN {value} BETWEEN {low} AND {high} THEN {value} END"
        case _:
            return "CAST(NULL AS STRING)"


def is_text(text: str) -> str:
    """Whether the text of a statistic is the string itself: a byte that is not UTF-8 is printed as `\\xFF`, like that string."""
    return f"instr({text}, chr(92)) = 0"


def is_denied(dialect: Dialect, created_by: str) -> str:
    """Whether the statistics of this writer are not to be trusted."""
    return f"coalesce({dialect.regexp_matches(created_by, _DENIED)}, FALSE)"


class Stored(Struct, frozen=True, cache_hash=True):
    """How a file stores a column: its type there, which may be narrower, and whether deprecated bounds have its order."""

    type: DataType
    has_signed_order: bool = False


def is_readable(stored: DataType, data_type: DataType) -> bool:
    """Whether bounds of the stored type are bounds of the table's type, which it was promoted to.

    >>> is_readable(DataType(Kind.INT), DataType(Kind.LONG)), is_readable(DataType(Kind.LONG), DataType(Kind.INT))
    (True, False)
    """
    before, after = stored.kind, data_type.kind
    if stored == data_type or (before is after and before is not Kind.DECIMAL):
        return data_type.family is not None
    integers = (Kind.BYTE, Kind.SHORT, Kind.INT, Kind.LONG)
    if before in INTEGRAL_KINDS:
        if after in INTEGRAL_KINDS:
            return integers.index(before) <= integers.index(after)
        return after is Kind.DECIMAL or (after is Kind.DOUBLE and before is not Kind.LONG)
    if before is Kind.DECIMAL and after is Kind.DECIMAL:
        return data_type.scale >= stored.scale and data_type.precision - data_type.scale >= stored.precision - stored.scale
    return (before, after) in ((Kind.FLOAT, Kind.DOUBLE), (Kind.DATE, Kind.TIMESTAMP_NTZ))


def stored_bound(dialect: Dialect, text: str, stored: DataType, data_type: DataType) -> str:
    """The same for a file that stores a narrower type: read as that, then widened."""
    value = bound(dialect, text, stored)
    if stored.kind is Kind.DATE and data_type.kind is Kind.TIMESTAMP_NTZ:
        return f"({value} * {_MICROS_A_DAY})"
    if stored.family is data_type.family and (stored.family is not Family.DECIMAL or stored.scale == data_type.scale):
        return value
    return dialect.try_cast(value, carrier(data_type))


def judged_items(dialect: Dialect, created_by: str, has_signed_order: str) -> list[str]:
    """The bounds of a chunk that may be used, and whether they may: deprecated ones where there are no others."""
    is_old = f"({has_signed_order} AND min_text IS NULL AND max_text IS NULL)"
    return [
        f"CASE WHEN {is_old} THEN old_min_text ELSE min_text END AS min_text",
        f"CASE WHEN {is_old} THEN old_max_text ELSE max_text END AS max_text",
        f"({is_old} OR has_type_order) AND NOT {is_denied(dialect, created_by)} AS has_type_order",
    ]


def groups_sql(dialect: Dialect, column: Seen, names: Relation, chunks: str, stored: Sequence[Stored]) -> str:
    """The domain of a column in each row group, from a FROM item over its chunks with `file`, `row_group` and `stored`.

    `stored` is a place among the ways in which files store the column.
    """
    groups = _groups_sql(dialect, column, chunks, stored, "file, row_group, stored")
    items = [
        "file",
        "row_group",
        f"low AS {names.lo(column)}",
        f"high AS {names.hi(column)}",
        f"(counted AND nulls = 0) AS {names.no_null(column)}",
        f"(counted AND empty) AS {names.all_null(column)}",
        f"counted AS {names.is_counted(column)}",
    ]
    if column.type.family is Family.TEXT:
        items.append(f"(NOT is_exact AND high IS NOT NULL) AS {names.is_truncated(column)}")
    if column.type.family is Family.REAL:
        whole_numbers = ", ".join(str(place) for place, each in enumerate(stored) if each.type.family is not Family.REAL)
        proven = "coalesce(nans = 0, FALSE)" + (f" OR stored IN ({whole_numbers})" if whole_numbers else "")
        items.append(f"({proven}) AS {names.nan_free(column)}")
        items.append(f"coalesce(nans > 0, FALSE) AS {names.has_nan(column)}")
    return f"(SELECT {', '.join(items)} FROM ({groups}))"


def files_sql(dialect: Dialect, column: Seen, names: Relation, chunks: str) -> str:
    """The domain of a column in each file, from a FROM item over its chunks with the number of the file in `file`."""
    is_text_family = column.type.family is Family.TEXT
    groups = _groups_sql(dialect, column, chunks, [Stored(column.type)], "file")
    groups = f"SELECT *, max(high) OVER (PARTITION BY file) AS top FROM ({groups})"
    # Where the last maximum continues a truncated one, the truncated one is what all values stay below or continue.
    open_end = f"min(CASE WHEN NOT is_exact AND {dialect.starts_with('top', 'high')} THEN high END)"
    last = f"coalesce({open_end}, max(high))" if is_text_family else "max(high)"
    items = [
        "file",
        "sum(rows) AS rows",
        f"CASE WHEN {_all('empty OR low IS NOT NULL')} THEN min(low) END AS {names.lo(column)}",
        f"CASE WHEN {_all('empty OR high IS NOT NULL')} THEN {last} END AS {names.hi(column)}",
        f"{_all('counted AND nulls = 0')} AS {names.no_null(column)}",
        f"{_all('counted AND empty')} AS {names.all_null(column)}",
        f"{_all('counted')} AS {names.is_counted(column)}",
        f"CASE WHEN {_all('counted')} THEN sum(nulls) END AS {names.nulls(column)}",
    ]
    if is_text_family:
        items.append(f"{open_end} IS NOT NULL AS {names.is_truncated(column)}")
    if column.type.family is Family.REAL:
        items.append(f"{_all('coalesce(nans = 0, FALSE)')} AS {names.nan_free(column)}")
        items.append(f"coalesce(max(nans) > 0, FALSE) AS {names.has_nan(column)}")
    return f"(SELECT {', '.join(items)} FROM ({groups}) GROUP BY file)"


def _groups_sql(dialect: Dialect, column: Seen, chunks: str, stored: Sequence[Stored], keys: str) -> str:
    """What is known of the column in each row group: `low` and `high` that hold, counts, and whether it has no value at all."""
    low, high = (_bound_of(dialect, f"{side}_text", column.type, stored) for side in ("min", "max"))
    if column.type.family is Family.BYTES:
        high = f"CASE WHEN is_max_exact THEN {high} END"  # a truncated maximum of bytes is not known to be an upper bound
    trusted = "has_type_order"
    if column.type.family is Family.REAL:
        # A NaN among the bounds discards both (T2): the engine leaves it out, so that one bound alone may stand beside a NaN.
        trusted += " AND min_text IS NOT NULL AND max_text IS NOT NULL"
    groups = (
        f"SELECT {keys}, rows, nulls, nans, is_julian, coalesce(is_max_exact, FALSE) AS is_exact, "
        "coalesce(nulls >= 0 AND nulls <= num_values AND num_values = rows, FALSE) AS counted, "
        "coalesce(nulls = num_values AND num_values = rows, FALSE) AND min_text IS NULL AND max_text IS NULL AS empty, "
        f"CASE WHEN {trusted} THEN {low} END AS lo, CASE WHEN {trusted} THEN {high} END AS hi "
        f"FROM {chunks} AS chunks WHERE rows > 0"
    )
    sane = "coalesce(lo <= hi, TRUE)"  # otherwise both are discarded (T24)
    first, last = (moved(side, column.type, is_upper=side == "hi") for side in ("lo", "hi"))
    return f"SELECT *, CASE WHEN {sane} THEN {first} END AS low, CASE WHEN {sane} THEN {last} END AS high FROM ({groups})"


def _bound_of(dialect: Dialect, text: str, data_type: DataType, stored: Sequence[Stored]) -> str:
    bounds = [stored_bound(dialect, text, each.type, data_type) for each in stored]
    if len(set(bounds)) == 1:
        return bounds[0]
    return "CASE stored " + " ".join(f"WHEN {place} THEN {value}" for place, value in enumerate(bounds)) + " END"


def _all(condition: str) -> str:
    return f"(sum(CASE WHEN {condition} THEN 0 ELSE 1 END) = 0)"
