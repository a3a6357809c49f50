"""Every function lakeprune knows, by canonical name, and the module of this package that defines it.

A module is imported when its function is first asked for, so that a plain comparison pays for none of them. To add a
function: write its module with a `FUNCTIONS` table, and add one line here.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lakeprune.predicate.functions.function import ArgTypes, Function
    from lakeprune.values.types import DataType

REGISTRY: dict[str, str] = {
    **dict.fromkeys(("+", "-", "*", "/", "%", "negate", "pmod"), "arithmetic"),
    **dict.fromkeys(("cast", "try_cast", "to_date", "to_timestamp"), "cast"),
    **dict.fromkeys(("year", "quarter", "month", "day", "dayofweek", "dayofyear", "weekofyear"), "date_fields"),
    **dict.fromkeys(("hour", "minute", "second"), "time_fields"),
    **dict.fromkeys(("date_trunc", "trunc"), "truncation"),
    **dict.fromkeys(("date_add", "date_sub", "add_months", "datediff", "last_day", "make_date"), "date_arithmetic"),
    "add_interval": "add_interval",
    **dict.fromkeys(("unix_timestamp", "unix_date"), "epoch"),
    "date_format": "date_format",
    **dict.fromkeys(("substring", "right"), "substring"),
    **dict.fromkeys(("lower", "upper"), "letter_case"),
    **dict.fromkeys(("trim", "ltrim", "rtrim", "concat", "length", "replace"), "text"),
    **dict.fromkeys(("startswith", "endswith", "contains"), "affixes"),
    **dict.fromkeys(("coalesce", "if", "case", "nullif"), "conditional"),
    **dict.fromkeys(("greatest", "least"), "extremes"),
    **dict.fromkeys(("floor", "ceil", "abs", "round", "sign"), "rounding"),
}


@cache
def lookup(name: str) -> Function | None:
    """The function of that canonical name, None when lakeprune does not know it."""
    module = REGISTRY.get(name)
    if module is None:
        return None
    from importlib import import_module

    table: dict[str, Function] = import_module(f"lakeprune.predicate.functions.{module}").FUNCTIONS
    return table[name]


def result_type(name: str, types: ArgTypes) -> DataType | None:
    """The type of a call, None when it is not known."""
    found = lookup(name)
    return None if found is None else found.result_type(types)
