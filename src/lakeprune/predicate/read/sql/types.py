"""Spark type names in casts and typed literals.

In: sqlglot's types. Out: `DataType`, None for what has no scalar values. A typed literal (`DATE '2024-01-01'`) is read here.
"""

from __future__ import annotations

from decimal import Decimal

from sqlglot import exp

from lakeprune.errors import PredicateError
from lakeprune.predicate.read.sql.functions import Unsupported
from lakeprune.predicate.tree import Literal
from lakeprune.values.floats import to_float32
from lakeprune.values.literals import depends_on_clock, parse_as
from lakeprune.values.types import INTEGER_RANGES, INTEGRAL_KINDS, TIME_KINDS, DataType, Kind

_T = exp.DType
_KINDS = {
    _T.BOOLEAN: Kind.BOOLEAN, _T.TINYINT: Kind.BYTE, _T.SMALLINT: Kind.SHORT, _T.INT: Kind.INT, _T.BIGINT: Kind.LONG,
    _T.FLOAT: Kind.FLOAT, _T.DOUBLE: Kind.DOUBLE, _T.TEXT: Kind.STRING, _T.BINARY: Kind.BINARY, _T.VARBINARY: Kind.BINARY,
    _T.DATE: Kind.DATE, _T.TIMESTAMP: Kind.TIMESTAMP, _T.TIMESTAMPTZ: Kind.TIMESTAMP, _T.TIMESTAMPLTZ: Kind.TIMESTAMP,
    _T.TIMESTAMPNTZ: Kind.TIMESTAMP_NTZ,
}  # fmt: skip


def data_type(node: exp.Expr) -> DataType | None:
    """The type a cast names; None for CHAR and VARCHAR (which truncate and pad), nested types and anything unknown."""
    if not isinstance(node, exp.DataType):
        return None
    if node.this is _T.DECIMAL:
        sizes = [int(size.name) for size in node.expressions]
        precision, scale, *_ = [*sizes, 0] if sizes else [10, 0]
        return DataType(Kind.DECIMAL, precision, scale) if 0 < precision <= 38 and 0 <= scale <= precision else None
    kind = _KINDS.get(node.this)
    return None if kind is None or node.expressions else DataType(kind)


def cast_literal(value: Literal, type_: DataType, zone: str, *, strict: bool) -> Literal | None:
    """`DATE '...'`, `1L`, `CAST('1' AS INT)` as a literal of that type; None when the cast is left to be evaluated.

    Only casts that change nothing are folded: one that rounds or overflows gives another answer under Spark's ANSI mode.
    """
    if isinstance(value.value, bool):
        return None
    if isinstance(value.value, str):
        return _text(value.value, type_, zone, strict=strict)
    return _number(value.value, type_) if isinstance(value.value, int | float | Decimal) else None


def _text(text: str, type_: DataType, zone: str, *, strict: bool) -> Literal | None:
    try:
        value = parse_as(text, type_, zone)
    except ValueError as error:
        if not strict:
            return None
        if depends_on_clock(text, type_):
            raise Unsupported(f"'{text}' depends on the clock") from error
        raise PredicateError("LP106", f"'{text}' is not a {type_}", fix="write it as '2024-01-31'") from error
    if type_.kind in TIME_KINDS:
        return Literal(value, type_)
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return _number(value, type_)
    return Literal(value, type_)


def _number(value: int | float | Decimal, type_: DataType) -> Literal | None:
    if type_.kind in (Kind.FLOAT, Kind.DOUBLE):
        if isinstance(value, int) and abs(value) > 2**53:
            return None
        return Literal(to_float32(float(value)) if type_.kind is Kind.FLOAT else float(value), type_)
    if type_.kind in INTEGRAL_KINDS and isinstance(value, int):
        low, high = INTEGER_RANGES[type_.kind]
        return Literal(value, type_) if low <= value <= high else None
    if type_.kind is Kind.DECIMAL and isinstance(value, int | Decimal):
        exact = Decimal(value)
        _, digits, exponent = exact.as_tuple()
        whole = max(0, len(digits) + int(exponent))
        fits = -int(exponent) <= type_.scale and whole <= type_.precision - type_.scale
        return Literal(exact, type_) if fits else None
    return None
