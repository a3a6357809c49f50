"""Footer statistics as bounds that really hold, in SQL.

In: column chunks and what their footers record of them. Out: what is known of each chunk, or of a column in each file with the
columns of formats/relation.py: the same rules for both. A file has a bound when each of its row groups has one, or has no value
that it would be about. Only `min_value` and `max_value` under the order that the type defines are used, and not those of writers
that are known to be wrong (T59); the deprecated `min` and `max` compare bytes as signed, so they count only for types whose order
is that one (T17, T28); INT96 has no order (T15); days of the Julian calendar are widened (T95).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

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
            value = dialect.try_cast(text, "BIGINT")
            if kind is Kind.LONG:
                return value
            low, high = INTEGER_RANGES[kind]
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


class Form(Struct, frozen=True, cache_hash=True):
    """What a column is in the table, and how a file stores it: chunks of one form are read alike."""

    type: DataType
    stored: Stored


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


def usable_items(has_signed_order: str, is_trusted: str) -> list[str]:
    """The bounds of a chunk that may be used, and whether they may: deprecated ones where there are no others."""
    is_old = f"({has_signed_order} AND min_text IS NULL AND max_text IS NULL)"
    return [
        f"CASE WHEN {is_old} THEN old_min_text ELSE min_text END AS min_text",
        f"CASE WHEN {is_old} THEN old_max_text ELSE max_text END AS max_text",
        f"({is_old} OR has_type_order) AND {is_trusted} AS has_type_order",
    ]


def files_sql(dialect: Dialect, column: Seen, names: Relation, chunks: str) -> str:
    """The domain of a column in each file, from a FROM item over its chunks with the number of the file in `file`."""
    is_text_family = column.type.family is Family.TEXT
    form, kind = Form(column.type, Stored(column.type)), carrier(column.type)
    groups = judged_sql(dialect, [form], [kind], f"(SELECT * FROM {chunks} WHERE rows > 0)")
    groups = f"SELECT *, low0 AS low, high0 AS high, max(high0) OVER (PARTITION BY file) AS top FROM ({groups})"
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


def judged_sql(dialect: Dialect, forms: Sequence[Form], kinds: Sequence[str], chunks: str) -> str:
    """What is known of each chunk, beside its columns: bounds that hold, counts, and whether it has no value at all.

    Of a bound's SQL type among `kinds` the first are `low0` and `high0`. The `form` of a chunk is a place among the forms.
    """
    facts = [
        "coalesce(is_max_exact, FALSE) AS is_exact",
        "coalesce(nulls >= 0 AND nulls <= num_values AND num_values = rows, FALSE) AS counted",
        "coalesce(nulls = num_values AND num_values = rows, FALSE) AND min_text IS NULL AND max_text IS NULL AS empty",
    ]
    ends = []
    for number, kind in enumerate(kinds):
        own = {place: form for place, form in enumerate(forms) if carrier(form.type) == kind}
        sane = f"coalesce(lo{number} <= hi{number}, TRUE)"  # otherwise both are discarded (T24)
        for side, end, text in (("lo", "low", "min_text"), ("hi", "high", "max_text")):
            is_upper = side == "hi"
            read = {place: _read(dialect, text, form, is_upper=is_upper) for place, form in own.items()}
            facts.append(f"{_of_form(read, len(forms), kind)} AS {side}{number}")
            far = {place: moved(f"{side}{number}", form.type, is_upper=is_upper) for place, form in own.items()}
            ends.append(f"CASE WHEN {sane} THEN {_of_form(far, len(forms), kind)} END AS {end}{number}")
    return f"SELECT {', '.join(['*', *ends])} FROM (SELECT *, {', '.join(facts)} FROM {chunks} AS chunks)"


def _read(dialect: Dialect, text: str, form: Form, *, is_upper: bool) -> str:
    """The bound that a chunk of this form has, NULL when it may not be used."""
    value = stored_bound(dialect, text, form.stored.type, form.type)
    if is_upper and form.type.family is Family.BYTES:
        value = f"CASE WHEN is_max_exact THEN {value} END"  # a truncated maximum of bytes is not known to be an upper bound
    trusted = "has_type_order"
    if form.type.family is Family.REAL:
        # A NaN among the bounds discards both (T2): the engine leaves it out, so that one bound alone may stand beside a NaN.
        trusted += " AND min_text IS NOT NULL AND max_text IS NOT NULL"
    return f"CASE WHEN {trusted} THEN {value} END"


def _of_form(values: Mapping[int, str], forms: int, kind: str) -> str:
    """The value for each form, each written once; a form without one has NULL."""
    places: dict[str, list[int]] = {}
    for place, value in values.items():
        places.setdefault(value, []).append(place)
    if not places:
        return f"CAST(NULL AS {kind})"
    if len(places) == 1 and len(values) == forms:
        return next(iter(places))
    return f"CASE {' '.join(f'WHEN form IN ({listed(own)}) THEN {value}' for value, own in places.items())} END"


def listed(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, sorted(numbers)))


def _all(condition: str) -> str:
    return f"(sum(CASE WHEN {condition} THEN 0 ELSE 1 END) = 0)"
