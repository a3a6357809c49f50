"""Every function lakeprune knows, by any of its SQL names: an index of the records in the modules of this package.

A module is imported when one of its functions is first asked for, so that a plain comparison pays for none of them. To add a
function: write its record into the `FUNCTIONS` of a module, and its names here. A test holds both equal.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lakeprune.predicate.functions.function import ArgTypes, Function
    from lakeprune.values.types import DataType

# A name that no SQL text has: `split(text, pattern, limit)[index]` is one function here.
ELEMENT_OF_SPLIT = "split[]"
MOVED = "timestampadd"  # `dateadd(DAY, 2, x)` and its other forms, until the type of x is known
ELEMENT = "[]"  # of a column: `tags[0]`, whose statistics nobody has
MODULES: dict[str, tuple[str, ...]] = {
    "arithmetic": ("+", "-", "*", "/", "%", "mod", "pmod", "negate", "negative"),
    "cast": ("cast", "try_cast", "to_date", "date", "to_timestamp"),
    "conditional": ("coalesce", "nvl", "ifnull", "nullif", "if", "iff", "case", "greatest", "least"),
    "date_arithmetic": (
        "date_add", "dateadd", "date_sub", "add_months", "datediff", "date_diff", "last_day", "months_between", "next_day",
        "make_date", "add_interval",
    ),
    "date_parts": (
        "year", "quarter", "month", "day", "dayofmonth", "dayofweek", "weekday", "dayofyear", "weekofyear", "hour", "minute",
        "second", "date_format",
    ),
    "digests": ("hash", "md5"),
    "epoch": ("unix_timestamp", "to_unix_timestamp", "unix_date"),
    "matching": ("regexp_replace", "regexp_extract"),
    "positions": ("instr", "locate", "position", "find_in_set", "split_part", ELEMENT_OF_SPLIT, "elt"),
    "rounding": ("floor", "ceil", "ceiling", "abs", "round", "sign", "signum"),
    "text": (
        "trim", "ltrim", "rtrim", "concat", "concat_ws", "reverse", "lpad", "rpad", "translate", "initcap", "length",
        "char_length", "character_length", "len", "replace", "lower", "lcase", "upper", "ucase", "substring", "substr",
        "right", "startswith", "endswith", "contains",
    ),
    "truncation": ("date_trunc", "trunc"),
}  # fmt: skip
_MODULE_OF = {name: module for module, names in MODULES.items() for name in names}


@cache
def lookup(name: str) -> Function | None:
    """The function of that SQL name, None when lakeprune does not know it.

    >>> lookup("ucase").name
    'upper'
    """
    module = _MODULE_OF.get(name)
    return None if module is None else next(found for found in functions_in(module) if name in found.names)


def functions_in(module: str) -> tuple[Function, ...]:
    """The records of one module of this package."""
    found: tuple[Function, ...] = import_module(f"lakeprune.predicate.functions.{module}").FUNCTIONS
    return found


def every_function() -> list[Function]:
    return [function for module in MODULES for function in functions_in(module)]


def result_type(name: str, types: ArgTypes) -> DataType | None:
    """The type of a call, None when it is not known."""
    found = lookup(name)
    return None if found is None else found.result_type(types)
