"""Stored minima and maxima as bounds that really hold.

In: SQL of a stored value, as JSON text or as a typed checkpoint field. Out: SQL of the bound in the carrier of the column's
family, NULL wherever the text is not exactly what a writer of that type produces. Every bound is widened by what writers are
known to lose: milliseconds (T5), offset seconds (T8), string tails (T16), decimal digits (T25, T93), float digits.
"""

from __future__ import annotations

from decimal import Context, Decimal
from enum import Enum

from msgspec import Struct

from lakeprune.engines.dialect import Dialect, carrier
from lakeprune.values.types import DataType, Family, Kind

INT64_MAX = 2**63 - 1
INT64_MIN = -(2**63)
ZONE_MARGIN = 18 * 3600 * 1_000_000  # sessions of Spark may be in any zone from -18:00 to +18:00 (T9)
_FEBRUARY_1972 = 65_750_400_000_000
_WIDE = Context(prec=60)
_LARGEST_DOUBLE = "CAST('1.7976931348623157e308' AS DOUBLE)"
# Casts would also take 24:00, year 0 and offsets of 99 hours, which readers do not agree on.
_DATE = r"(\d{3}[1-9]|\d{2}[1-9]0|\d[1-9]00|[1-9]000)-\d{2}-\d{2}"
_TIME = r"[T ]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,6})?"
_OFFSET = r"[+-](0\d|1[0-8]):[0-5]\d(:[0-5]\d)?"
INSTANT = rf"^{_DATE}{_TIME}(Z|{_OFFSET})$"
CLOCK = rf"^{_DATE}{_TIME}$"
_LOCAL = rf"^{_DATE}({_TIME}Z?)?$"
_PLAIN = "____-__-__T__:__:__.___"  # a LIKE pattern: many times cheaper than a regular expression
_NUMERIC_OFFSET = rf"{_OFFSET}$"
_INTEGER_TYPES = frozenset({"TINYINT", "SMALLINT", "INTEGER", "BIGINT"})


class Side(Enum):
    LOW = "lo"
    HIGH = "hi"


class Stored(Struct, frozen=True):
    """A column whose bounds are stored: its type, and what may have been lost on the way."""

    type: DataType
    once_float: bool = False  # now double, but older files hold floats
    prefix_length: int = 32  # strings of this length or more may be truncated

    @property
    def quotes_numbers(self) -> bool:
        """Whether reading its numbers from JSON as doubles would lose digits."""
        return self.type.kind is Kind.DECIMAL and self.type.precision > 15


def strict_integer(dialect: Dialect, text: str) -> str:
    """The 64-bit integer that is written exactly so; `3.7`, `1e3`, `007` and ` 7` are none."""
    value = dialect.try_cast(text, "BIGINT")
    return f"CASE WHEN CAST({value} AS STRING) = {text} THEN {value} END"


def strict_date(dialect: Dialect, text: str) -> str:
    """Days of a date written as yyyy-mm-dd."""
    written = f"CAST({dialect.try_cast(text, 'DATE')} AS STRING)"
    return f"CASE WHEN {dialect.octet_length(text)} = 10 AND {written} = {text} THEN {dialect.days_of_date(text)} END"


def text_bound(dialect: Dialect, text: str, column: Stored, side: Side) -> str:
    """The bound that JSON text states."""
    kind = column.type.kind
    match column.type.family:
        case Family.BOOLEAN:
            return f"CASE {text} WHEN 'true' THEN TRUE WHEN 'false' THEN FALSE END"
        case Family.REAL:
            return _real_text(dialect, text, column, side)
        case Family.DECIMAL:
            return decimal_bound(dialect, text, column.type, side)
        case Family.TEXT:
            return text
        case Family.INTEGER if kind is Kind.DATE:
            return strict_date(dialect, text)
        case Family.INTEGER if kind is Kind.TIMESTAMP:
            return _instant_text(dialect, text, side)
        case Family.INTEGER if kind is Kind.TIMESTAMP_NTZ:
            micros = dialect.micros_of_timestamp(text)
            other = f"WHEN {dialect.regexp_matches(text, _LOCAL)} THEN {widened(micros, side)} END"
            return f"CASE WHEN {text} LIKE '{_PLAIN}' THEN {_in_milliseconds(dialect, text, side)} {other}"
        case Family.INTEGER:
            return strict_integer(dialect, text)
        case _:
            return f"CAST(NULL AS {carrier(column.type)})"


def number_bound(dialect: Dialect, value: str, column: Stored, side: Side) -> str:
    """The bound that a JSON number states, given as a double that holds it exactly."""
    if column.type.family is Family.INTEGER:
        return f"CAST({value} AS BIGINT)"
    as_float = f"CAST({dialect.try_cast(value, 'FLOAT')} AS DOUBLE)"
    if column.type.kind is Kind.FLOAT:
        return f"CASE WHEN {_is_number(as_float)} THEN {as_float} END"
    return _once_float(value, as_float, side) if column.once_float else value


def typed_bound(dialect: Dialect, value: str, stored_type: str, column: Stored, side: Side) -> str:
    """The bound that a typed field of a checkpoint states; its type may be that of an older schema."""
    unknown = f"CAST(NULL AS {carrier(column.type)})"
    kind = column.type.kind
    match column.type.family:
        case Family.BOOLEAN:
            return value if stored_type == "BOOLEAN" else unknown
        case Family.TEXT:
            return value if stored_type == "STRING" else unknown
        case Family.REAL:
            # A 64-bit integer may not survive the step to a double.
            known = stored_type in ("FLOAT", "DOUBLE") or stored_type in _INTEGER_TYPES - {"BIGINT"}
            return f"CASE WHEN {_is_number(f'CAST({value} AS DOUBLE)')} THEN CAST({value} AS DOUBLE) END" if known else unknown
        case Family.DECIMAL:
            known = stored_type.startswith("DECIMAL") or stored_type == "DOUBLE" or stored_type in _INTEGER_TYPES
            return decimal_bound(dialect, f"CAST({value} AS STRING)", column.type, side) if known else unknown
        case Family.INTEGER if kind is Kind.DATE:
            days = dialect.days_of_date(value)
            return f"CASE WHEN {days} BETWEEN -2147483646 AND 2147483646 THEN {days} END" if stored_type == "DATE" else unknown
        case Family.INTEGER if kind in (Kind.TIMESTAMP, Kind.TIMESTAMP_NTZ):
            known = stored_type.startswith("TIMESTAMP") or stored_type == "DATE"
            return widened(dialect.micros_of(value), side) if known else unknown
        case Family.INTEGER:
            return f"CAST({value} AS BIGINT)" if stored_type in _INTEGER_TYPES else unknown
        case _:
            return unknown


def widened(micros: str, side: Side) -> str:
    """A timestamp bound, moved outwards by the microseconds that a writer of milliseconds cut off (T5), without overflow (T6)."""
    if side is Side.HIGH:
        return (
            f"CASE WHEN ({micros}) % 1000 <> 0 THEN {micros} WHEN ({micros}) > {INT64_MAX - 999} THEN {INT64_MAX} "
            f"ELSE ({micros}) + 999 END"
        )
    # Before 1970 cutting towards zero moves a minimum up, at most to 1970 itself.
    is_floored = f"({micros}) % 1000 = 0 AND ({micros}) <= 0 AND ({micros}) > {INT64_MIN + 999}"
    return f"CASE WHEN {is_floored} THEN ({micros}) - 999 ELSE {micros} END"


def decimal_bound(dialect: Dialect, text: str, data_type: DataType, side: Side) -> str:
    """An exact decimal; one that may have passed through a double is moved outwards by the digits a double loses (T25).

    A double prints at most 17 significant digits, or as an integer, which beyond 17 digits is a multiple of 16: 18 or more other
    digits are exact. What is not exact may stand for its neighbours: 999999999999999999 becomes 1e18. Four units of 2^-52 cover
    conversion, division by the scale and printing; for values small enough that this is less than half a unit of the scale
    nothing moves.
    """
    value = dialect.try_cast(text, f"DECIMAL(38,{data_type.scale})")
    if data_type.precision <= 15:
        return value
    digits = dialect.regexp_replace(dialect.regexp_replace(text, "[eE].*$", ""), "^[^1-9]+|[^0-9]", "")
    significant = dialect.octet_length(dialect.regexp_replace(digits, "0+$", ""))
    whole = dialect.try_cast(digits, "DECIMAL(38,0)")
    is_exact = f"{significant} > 17 AND coalesce({whole} % 16 <> 0, FALSE) AND NOT {_is_at_limit(value, data_type)}"
    margin = f"CAST(abs(CAST({value} AS DOUBLE)) * {2.0**-50!r} AS DECIMAL(38,{data_type.scale}))"
    moved = dialect.try_add(value, margin if side is Side.HIGH else f"-{margin}")
    return f"CASE WHEN {is_exact} THEN {value} ELSE {moved} END"


def unsaturated(bound: str, data_type: DataType, side: Side) -> str:
    """A decimal bound, unbounded where 64-bit integers end and values may go on (T93).

    deltalake records DECIMAL(p > 18, 0) as 64-bit integers: 9223372036854775807 stands for every value from there on.
    """
    if data_type.family is not Family.DECIMAL or data_type.precision <= 18:
        return bound
    beyond = f"{bound} {'>' if side is Side.HIGH else '<'} 0 AND {_is_at_limit(bound, data_type)}"
    return f"CASE WHEN {beyond} THEN NULL ELSE {bound} END"


def _is_at_limit(value: str, data_type: DataType) -> str:
    """Whether the value, or its digits without the point, is as near to the end of 64-bit integers as a double can tell."""
    tests = ["FALSE"]
    for scale in sorted({0, data_type.scale}):
        if data_type.precision - data_type.scale + scale > 18:
            least, most = (Decimal(2**63 + margin).scaleb(-scale, _WIDE) for margin in (-(2**16), 2**16))
            # Not abs: Spark rounds what it negates to 34 digits, and fails where the result has 39.
            for low, high in ((least, most), (most.copy_negate(), least.copy_negate())):
                ends = [f"CAST('{end:f}' AS DECIMAL(38,{data_type.scale}))" for end in (low, high)]
                tests.append(f"{value} BETWEEN {ends[0]} AND {ends[1]}")
    return f"coalesce({' OR '.join(tests)}, FALSE)"


def _real_text(dialect: Dialect, text: str, column: Stored, side: Side) -> str:
    as_double = dialect.try_cast(text, "DOUBLE")
    as_float = f"CAST({dialect.try_cast(text, 'FLOAT')} AS DOUBLE)"
    if column.type.kind is Kind.FLOAT:
        value = as_float
    elif column.once_float:
        value = _once_float(as_double, as_float, side)
    else:
        value = as_double
    return f"CASE WHEN {_is_number(value)} OR {text} IN ('Infinity', '-Infinity') THEN {value} END"


def _once_float(as_double: str, as_float: str, side: Side) -> str:
    """Both readings: "3.4" of a file written when the column was float stands for 3.4000000953674316."""
    return f"{'greatest' if side is Side.HIGH else 'least'}({as_double}, {as_float})"


def _is_number(value: str) -> str:
    """Neither NaN (above every number) nor infinite: text like 1e400 states nothing."""
    return f"{value} BETWEEN -{_LARGEST_DOUBLE} AND {_LARGEST_DOUBLE}"


def _in_milliseconds(dialect: Dialect, text: str, side: Side) -> str:
    """`widened`, for the form nearly every writer uses: whole milliseconds, no offset, a year of four digits."""
    micros = dialect.micros_of(text)
    if side is Side.HIGH:
        return f"{micros} + 999"
    # In this form text sorts like time, so the text tells which side of 1970 it is on and is converted once.
    return f"{micros} - CASE WHEN {text} < '1970-01-01T00:00:00.001' THEN 999 ELSE 0 END"


def _instant_text(dialect: Dialect, text: str, side: Side) -> str:
    """Text with an offset is an instant; without one it was written in a zone nobody recorded."""
    sign = "+" if side is Side.HIGH else "-"
    micros = dialect.micros_of_timestamp(text)
    old = f"{dialect.regexp_matches(text, _NUMERIC_OFFSET)} AND ({micros}) < {_FEBRUARY_1972}"
    # Some writers cut the seconds off an offset; the last zone with such an offset gave it up in January 1972 (T8).
    exact = f"CASE WHEN {old} THEN ({micros}) {sign} 59000000 ELSE {micros} END"
    return (
        f"CASE WHEN {text} LIKE '{_PLAIN}Z' THEN {_in_milliseconds(dialect, text, side)} "
        f"WHEN {dialect.regexp_matches(text, INSTANT)} THEN {widened(exact, side)} "
        f"WHEN {dialect.regexp_matches(text, CLOCK)} THEN ({micros}) {sign} {ZONE_MARGIN} END"
    )
