"""Random hints with their meaning: the JSON or the SQL that a client sends, and the condition that it filters by, for DuckDB.

What is sent is what clients send: timestamps without microseconds, columns in any case, casts as another valueType.
"""

from __future__ import annotations

import datetime as dt
import math
from random import Random
from typing import Any

import pyarrow as pa
from msgspec import Struct

from tests.soundness.sharing.tables import EPOCH, PARTITIONS, TYPES, random_value

_OPS = {"equal": "=", "lessThan": "<", "lessThanOrEqual": "<=", "greaterThan": ">", "greaterThanOrEqual": ">="}
_MIRRORED = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<=", "<>": "<>"}
_OWN = {
    pa.string(): "string",
    pa.date32(): "date",
    pa.timestamp("us", "UTC"): "timestamp",
    pa.int32(): "int",
    pa.int64(): "long",
    pa.float64(): "double",
    pa.float32(): "float",
    pa.bool_(): "bool",
}
_DUCK = {"string": "VARCHAR", "date": "DATE", "int": "INTEGER", "long": "BIGINT", "double": "DOUBLE", "float": "FLOAT"}


class Hinting(Struct, frozen=True):
    hint: Any  # a JSON object, or SQL text
    condition: str  # for DuckDB


def random_json(random: Random, depth: int = 3) -> Hinting:
    roll = random.random()
    if depth == 0 or roll < 0.45:
        return _json_leaf(random)
    if roll < 0.6:
        inside = random_json(random, depth - 1)
        return Hinting({"op": "not", "children": [inside.hint]}, f"(NOT {inside.condition})")
    op = random.choice(["and", "or"])
    parts = [random_json(random, depth - 1) for _ in range(random.randint(2, 3))]
    return Hinting({"op": op, "children": [part.hint for part in parts]}, _joined(op, parts))


def random_sql(random: Random, depth: int = 2, *, is_sent: bool = True) -> Hinting:
    """As a client sends it, or, without `is_sent`, as a user writes it: with its microseconds."""
    roll = random.random()
    if depth == 0 or roll < 0.5:
        return _sql_leaf(random, is_sent=is_sent)
    if roll < 0.65:
        inside = random_sql(random, depth - 1, is_sent=is_sent)
        return Hinting(f"NOT ({inside.hint})", f"(NOT {inside.condition})")
    op = random.choice(["AND", "OR"])
    parts = [random_sql(random, depth - 1, is_sent=is_sent) for _ in range(random.randint(2, 3))]
    return Hinting(f" {op} ".join(f"({part.hint})" for part in parts), _joined(op, parts))


def _joined(op: str, parts: list[Hinting]) -> str:
    return "(" + f" {op.upper()} ".join(part.condition for part in parts) + ")"


def _json_leaf(random: Random) -> Hinting:
    name = random.choice(list(TYPES))
    own = _OWN[TYPES[name]]
    if random.random() < 0.2:
        hint = {"op": "isNull", "children": [{"op": "column", "name": _cased(random, name), "valueType": own}]}
        return Hinting(hint, f'("{name}" IS NULL)')
    if name == "b" and random.random() < 0.5:
        return Hinting({"op": "column", "name": name, "valueType": "bool"}, '"b"')
    declared, side, value = own, f'"{name}"', random_value(random, name)
    if random.random() < 0.25 and (other := _other_type(random, name)) is not None:
        declared, side, value = other  # a cast: what it gives is what the client compares
    op = random.choice(list(_OPS))
    children = [
        {"op": "column", "name": _cased(random, name), "valueType": declared},
        {"op": "literal", "value": _json_text(value, declared), "valueType": declared},
    ]
    operands = [side, _duck(value, declared)]
    if random.random() < 0.3:
        children.reverse()
        operands.reverse()
    condition = f"({operands[0]} {_OPS[op]} {operands[1]})"
    if declared == "string" and value == "null":
        condition = "NULL"  # never judged: the text is sent as NULL is
        return Hinting({"op": "literal", "value": "true", "valueType": "bool"}, "TRUE")
    return Hinting({"op": op, "children": children}, condition)


def _other_type(random: Random, name: str) -> tuple[str, str, Any] | None:
    """A declared type that is not the column's, the cast that it stands for, and a value of it."""
    kind = TYPES[name]
    if kind in (pa.int32(), pa.int64()):
        if random.random() < 0.5:
            return "string", f'CAST("{name}" AS VARCHAR)', random.choice(["5", "10", "3", "05", "a"])
        if kind == pa.int32():
            return "long", f'"{name}"', random_value(random, "l")
        return "int", f'TRY_CAST("{name}" AS INTEGER)', random_value(random, "i")
    if kind == pa.date32():
        return "string", f'CAST("{name}" AS VARCHAR)', random.choice(["1970-01-01", "2021-04-29", "2021-4-9", "x"])
    if kind == pa.string():
        if random.random() < 0.5:
            return "int", f'TRY_CAST("{name}" AS INTEGER)', random_value(random, "i")
        return "date", f'TRY_CAST("{name}" AS DATE)', random_value(random, "d")
    if kind == pa.float32():
        return "double", f'CAST("{name}" AS DOUBLE)', random_value(random, "x")
    return None


def _json_text(value: Any, declared: str) -> str:
    if isinstance(value, dt.datetime):
        micros = round((value - EPOCH) / dt.timedelta(microseconds=1))
        millis = int(micros / 1000)  # toward zero, as Spark does
        return (EPOCH + dt.timedelta(milliseconds=millis)).strftime("%Y-%m-%dT%H:%M:%S.") + f"{millis % 1000:03d}Z"
    if isinstance(value, dt.date):
        return value.isoformat()
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else str(value).replace("inf", "Infinity")
    del declared
    return str(value)


def _duck(value: Any, declared: str) -> str:
    """The value that the client itself compares with, microseconds and all."""
    if isinstance(value, dt.datetime):
        micros = round((value - EPOCH) / dt.timedelta(microseconds=1))
        return f"make_timestamptz({micros})"
    if isinstance(value, dt.date):
        return f"DATE '{value.isoformat()}'"
    if isinstance(value, bool):
        return str(value).upper()
    text = str(value).replace("'", "''")
    return f"CAST('{text}' AS {_DUCK[declared]})"


def _sql_leaf(random: Random, *, is_sent: bool) -> Hinting:
    name = random.choice(list(TYPES))
    own = _OWN[TYPES[name]]
    written = random.choice([name, f"`{name}`", name.upper()])
    if name in PARTITIONS and random.random() < 0.5:
        cast = {"string": "STRING", "date": "DATE", "timestamp": "TIMESTAMP"}[own]
        written = f"CAST(partitionValues.{name} AS {cast})"
        if name == "p" and random.random() < 0.3:
            day = random_value(random, "d")
            return Hinting(
                f"(CAST({written} AS DATE) = DATE '{day.isoformat()}')", f"(TRY_CAST(\"p\" AS DATE) = DATE '{day.isoformat()}')"
            )
    if random.random() < 0.25:
        is_not = random.choice(["", "NOT "])
        return Hinting(f"({written} IS {is_not}NULL)", f'("{name}" IS {is_not}NULL)')
    values = [value for _ in range(3) if (value := random_value(random, name)) is not None and not _is_special(value)]
    if not values:
        return Hinting(f"{written} IS NULL", f'("{name}" IS NULL)')
    texts, ducks = [_sql_text(value, own, is_sent=is_sent) for value in values], [_duck(value, own) for value in values]
    roll = random.random()
    if roll < 0.2:
        return Hinting(f"{written} IN ({', '.join(texts)})", f'("{name}" IN ({", ".join(ducks)}))')
    if roll < 0.35 and len(values) > 1:
        return Hinting(f"{written} BETWEEN {texts[0]} AND {texts[1]}", f'("{name}" BETWEEN {ducks[0]} AND {ducks[1]})')
    if 0.35 <= roll < 0.45:
        text, duck = ("NULL", "NULL") if roll < 0.4 else (texts[0], ducks[0])
        return Hinting(f"{written} <=> {text}", f'("{name}" IS NOT DISTINCT FROM {duck})')
    op = random.choice([*_OPS.values(), "<>"])
    condition = f'("{name}" {op} {ducks[0]})'
    if random.random() < 0.3:
        return Hinting(f"{texts[0]} {_MIRRORED[op]} {written}", condition)
    return Hinting(f"({written} {op} {texts[0]})", condition)


def _is_special(value: Any) -> bool:
    """What has no plain literal in SQL."""
    return (isinstance(value, float) and not math.isfinite(value)) or (isinstance(value, str) and "'" in value)


def _sql_text(value: Any, own: str, *, is_sent: bool) -> str:
    if isinstance(value, dt.datetime) and not is_sent:
        return f"TIMESTAMP '{value.isoformat()}'"
    if isinstance(value, dt.datetime):
        return f"TIMESTAMP '{_json_text(value, own)}'"
    if isinstance(value, dt.date):
        return f"DATE '{value.isoformat()}'"
    if isinstance(value, bool):
        return str(value).upper()
    if own in ("double", "float"):
        return f"CAST({value!r} AS {own.upper()})" if own == "float" else f"{value!r}D"
    return f"'{value}'" if own == "string" else str(value)


def _cased(random: Random, name: str) -> str:
    return random.choice([name, name.upper(), name.lower()])
