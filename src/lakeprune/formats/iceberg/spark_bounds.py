"""Bounds of Iceberg's metrics as values, in Spark SQL: what bounds.py does in Python, for Spark's executors.

In: SQL of the bytes. Out: SQL of the value, NULL where the bytes are not a value of the type. Spark has no function that takes
bytes for a number, so numbers are made of their hexadecimal digits, and floating-point numbers of sign, exponent and fraction.
"""

from __future__ import annotations

from lakeprune.formats.iceberg.bounds import DAY, LAST_DAY
from lakeprune.values.types import DataType, Family, Kind

_WIDEST_DECIMAL = 17  # bytes
_PART = 7  # bytes of a decimal that are taken at once: as a whole number they have no sign


def decoded_sql(value: str, data_type: DataType) -> str:
    """The value that a bound is."""
    kind = data_type.kind
    match data_type.family:
        case Family.INTEGER if kind is Kind.TIMESTAMP:
            return _by_length(value, {8: _whole(value, 8)})
        case Family.INTEGER if kind is Kind.TIMESTAMP_NTZ:
            return _by_length(value, {8: _whole(value, 8), 4: _of_days(_whole(value, 4))})
        case Family.INTEGER:
            sizes = (8, 4) if kind is Kind.LONG else (4,)
            return _by_length(value, {size: _whole(value, size) for size in sizes})
        case Family.REAL:
            sizes = (4,) if kind is Kind.FLOAT else (8, 4)
            return _by_length(value, {size: _real(_whole(value, size), size) for size in sizes})
        case Family.BOOLEAN:
            return _by_length(value, {1: f"{value} <> X'00'"})
        case Family.TEXT:
            return f"try_validate_utf8(CAST({value} AS STRING))"
        case Family.BYTES:
            return value
        case Family.DECIMAL:
            return _decimal(value, data_type.scale)
        case _:
            return "CAST(NULL AS STRING)"


def _by_length(value: str, forms: dict[int, str]) -> str:
    return f"CASE octet_length({value}) " + " ".join(f"WHEN {size} THEN {form}" for size, form in forms.items()) + " END"


def _whole(value: str, size: int) -> str:
    """The signed number of so many bytes, the least first."""
    digits = f"hex(concat({', '.join(f'substring({value}, {place}, 1)' for place in range(size, 0, -1))}))"
    number = f"CAST(conv({digits}, 16, -10) AS BIGINT)"
    if size == 8:
        return number
    # Shifted up and down again: the upper half is filled with the sign.
    return f"shiftright(shiftleft({number}, {64 - 8 * size}), {64 - 8 * size})"


def _of_days(days: str) -> str:
    return f"CASE WHEN {days} BETWEEN {-LAST_DAY} AND {LAST_DAY} THEN {days} * {DAY} END"


def _real(bits: str, size: int) -> str:
    """The floating-point number of these bits (IEEE 754). Powers of two and their products are exact."""
    width, bias = (52, 1023) if size == 8 else (23, 127)
    exponent = f"(shiftright({bits}, {width}) & {2 * bias + 1})"
    fraction = f"(({bits}) & {(1 << width) - 1})"
    part = f"(CAST({fraction} AS DOUBLE) * pow(2D, {-width}))"
    size_of = (
        f"CASE WHEN {exponent} = {2 * bias + 1} THEN CASE WHEN {fraction} = 0 THEN double('Infinity') ELSE double('NaN') END "
        f"WHEN {exponent} = 0 THEN {part} * pow(2D, {1 - bias}) "
        f"ELSE (1D + {part}) * pow(2D, {exponent} - {bias}) END"
    )
    return f"CASE WHEN {bits} < 0 THEN -({size_of}) ELSE {size_of} END"


def _decimal(value: str, scale: int) -> str:
    """The greatest byte comes first; a number of more than 38 digits is NULL."""
    filled = f"lpad({value}, {_WIDEST_DECIMAL}, CASE WHEN hex(substring({value}, 1, 1)) >= '80' THEN X'FF' ELSE X'00' END)"
    top = _WIDEST_DECIMAL - 2 * _PART
    unsigned = f"CAST(conv(hex(substring({filled}, 1, {top})), 16, -10) AS BIGINT)"
    first = f"shiftright(shiftleft({unsigned}, {64 - 8 * top}), {64 - 8 * top})"
    parts = [f"CAST(conv(hex(substring({filled}, {top + 1 + _PART * n}, {_PART})), 16, -10) AS BIGINT)" for n in range(2)]
    # A negative number is taken from the next multiple above it: the one below may have 39 digits.
    is_negative = f"CASE WHEN {first} < 0 THEN 1 ELSE 0 END"
    top_power, power = (f"CAST('{1 << (8 * _PART * n)}' AS DECIMAL(38,0))" for n in (2, 1))
    rest = f"CAST({parts[0]} AS DECIMAL(38,0)) * {power} + CAST({parts[1]} AS DECIMAL(38,0)) - {is_negative} * {top_power}"
    total = f"CAST({first} + {is_negative} AS DECIMAL(38,0)) * {top_power} + ({rest})"
    smallest = "0." + "0" * (scale - 1) + "1" if scale else "1"
    scaled = f"CAST(({total}) * CAST('{smallest}' AS DECIMAL(38,{scale})) AS DECIMAL(38,{scale}))"
    return f"CASE WHEN octet_length({value}) BETWEEN 1 AND {_WIDEST_DECIMAL} THEN {scaled} END"
