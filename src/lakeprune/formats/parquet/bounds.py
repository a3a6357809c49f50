"""Footer statistics as bounds that really hold, in SQL.

In: the row groups of a column, as Footers.chunks lists them. Out: one row per file with the columns of formats/relation.py.
A file has a bound when each of its row groups has one, or has no value that it would be about. Only `min_value` and `max_value`
under the order that the type defines are used: the deprecated `min` and `max` compare bytes as signed (T59), and INT96 has no
order (T15).
"""

from __future__ import annotations

from lakeprune.engines.dialect import Dialect
from lakeprune.formats.relation import Relation
from lakeprune.predicate.tree import Column
from lakeprune.values.types import INTEGER_RANGES, DataType, Family, Kind

_DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
_CLOCK = r"^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?$"
_NUMBER = r"^-?[0-9]+(\.[0-9]+)?$"
_UTC = "+00"  # how the engine prints an instant: in UTC, and with this at its end


def carrier(data_type: DataType) -> str:
    """The SQL type of a bound."""
    names = {Family.INTEGER: "BIGINT", Family.REAL: "DOUBLE", Family.BOOLEAN: "BOOLEAN", Family.BYTES: "BINARY"}
    if data_type.family is Family.DECIMAL:
        return f"DECIMAL(38,{data_type.scale})"
    return names.get(data_type.family, "STRING") if data_type.family else "STRING"


def bound(dialect: Dialect, text: str, data_type: DataType) -> str:
    """The value that the text of a statistic stands for, NULL when that is not certain."""
    kind = data_type.kind
    match data_type.family:
        case Family.BOOLEAN:
            return f"CASE {text} WHEN 'true' THEN TRUE WHEN 'false' THEN FALSE END"
        case Family.TEXT:
            return f"CASE WHEN {is_text(text)} THEN {text} END"
        case Family.BYTES:
            return dialect.try_cast(text, "BINARY")
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
            return f"CASE WHEN {dialect.regexp_matches(text, _CLOCK)} THEN {dialect.micros_of_plain_timestamp(text)} END"
        case Family.INTEGER if kind is Kind.TIMESTAMP:
            clock = f"replace({text}, '{_UTC}', '')"
            matches = f"{text} LIKE '%{_UTC}' AND {dialect.regexp_matches(clock, _CLOCK)}"
            return f"CASE WHEN {matches} THEN {dialect.micros_of_plain_timestamp(clock)} END"
        case Family.INTEGER:
            low, high = INTEGER_RANGES[kind]
            value = dialect.try_cast(text, "BIGINT")
            return f"CASE WHEN {value} BETWEEN {low} AND {high} THEN {value} END"
        case _:
            return "CAST(NULL AS STRING)"


def is_text(text: str) -> str:
    """Whether the text of a statistic is the string itself: a byte that is not UTF-8 is printed as `\\xFF`, like that string."""
    return f"strpos({text}, chr(92)) = 0"


def files_sql(dialect: Dialect, column: Column, names: Relation, chunks: str) -> str:
    """The domain of a column in each file, from a FROM item over its chunks with the number of the file in `file`."""
    is_text_family = column.type.family is Family.TEXT
    low, high = (bound(dialect, f"{side}_text", column.type) for side in ("min", "max"))
    if column.type.family is Family.BYTES:
        high = f"CASE WHEN is_max_exact THEN {high} END"  # a truncated maximum of bytes is not known to be an upper bound
    trusted = "has_type_order"
    if column.type.family is Family.REAL:
        trusted += " AND coalesce(lower(min_text), '') NOT LIKE '%nan' AND coalesce(lower(max_text), '') NOT LIKE '%nan'"  # T2
    groups = (
        f"SELECT file, rows, nulls, nans, coalesce(is_max_exact, FALSE) AS is_exact, "
        "coalesce(nulls >= 0 AND nulls <= num_values AND num_values = rows, FALSE) AS counted, "
        "coalesce(nulls = num_values AND num_values = rows, FALSE) AND min_text IS NULL AND max_text IS NULL AS empty, "
        f"CASE WHEN {trusted} THEN {low} END AS lo, CASE WHEN {trusted} THEN {high} END AS hi "
        f"FROM {chunks} AS chunks WHERE rows > 0"
    )
    sane = "coalesce(lo <= hi, TRUE)"  # otherwise both are discarded (T24)
    groups = (
        f"SELECT *, CASE WHEN {sane} THEN lo END AS low, CASE WHEN {sane} THEN hi END AS high, "
        f"max(CASE WHEN {sane} THEN hi END) OVER (PARTITION BY file) AS top FROM ({groups})"
    )
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
    return f"(SELECT {', '.join(items)} FROM ({groups}) GROUP BY file)"


def _all(condition: str) -> str:
    return f"(sum(CASE WHEN {condition} THEN 0 ELSE 1 END) = 0)"
