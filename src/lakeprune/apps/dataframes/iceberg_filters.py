"""Filters that Iceberg took over from Spark, as SQL.

In: an expression of Iceberg as its own parser writes it, the table's schema. Out: SQL text of the same condition, None for what
is not understood. Spark leaves a condition out of its plan once partition values decide it, so only Iceberg still has it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lakeprune.predicate.schema import Field, Schema
from lakeprune.predicate.tree import Profile
from lakeprune.values.literals import format_value
from lakeprune.values.names import quote_name
from lakeprune.values.types import DataType, Family, Kind

_COMPARISONS = {"lt": "<", "lt-eq": "<=", "gt": ">", "gt-eq": ">=", "eq": "=", "not-eq": "<>"}
_TESTS = {"is-null": "IS NULL", "not-null": "IS NOT NULL"}
_TIMES = (Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMP_NTZ)


def sql_of(expression: Any, schema: Schema, profile: Profile) -> str | None:
    """The condition in SQL."""
    if not isinstance(expression, Mapping):
        return None
    kind = str(expression.get("type"))
    if kind in ("and", "or"):
        parts = [sql_of(expression.get(side), schema, profile) for side in ("left", "right")]
        return None if None in parts else f"({parts[0]} {kind.upper()} {parts[1]})"
    if kind == "not":
        inner = sql_of(expression.get("child"), schema, profile)
        return None if inner is None else f"(NOT {inner})"
    return _predicate(kind, expression, schema, profile)


def _predicate(kind: str, expression: Mapping[str, Any], schema: Schema, profile: Profile) -> str | None:
    term = expression.get("term")
    field = _field(schema, term) if isinstance(term, str) else None
    if field is None:
        return None
    name = ".".join(quote_name(part) for part in str(term).split("."))
    if kind in _TESTS:
        return f"{name} {_TESTS[kind]}"
    values = expression.get("values") if kind in ("in", "not-in") else [expression.get("value")]
    texts = [_literal(value, field.type, profile) for value in values or ()]
    if not texts or None in texts:
        return None
    if kind in _COMPARISONS:
        return f"{name} {_COMPARISONS[kind]} {texts[0]}"
    if kind in ("in", "not-in"):
        return f"{name} {'IN' if kind == 'in' else 'NOT IN'} ({', '.join(map(str, texts))})"
    return f"startswith({name}, {texts[0]})" if kind == "starts-with" else None


def _field(schema: Schema, term: str) -> Field | None:
    fields, found = schema.fields, None
    for part in term.split("."):
        found = next((field for field in fields if field.name.lower() == part.lower()), None)
        if found is None:
            return None
        fields = found.children
    return found


def _literal(value: Any, data_type: DataType, profile: Profile) -> str | None:
    """Dates and times are numbers in what Spark hands over."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if data_type.kind in _TIMES:
        return format_value(value, data_type, profile.zone) if isinstance(value, int) else None
    if isinstance(value, int | float):
        return repr(value)
    is_text = isinstance(value, str) and data_type.family is Family.TEXT and not set(value) & {"\\", "'"}
    return f"'{value}'" if is_text and str(value).isprintable() else None
