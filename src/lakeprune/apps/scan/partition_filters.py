"""Partition filters as deltalake takes them: `[("day", "=", "2024-01-01")]`, or a list of such lists, of which one must hold.

In: the filters. Out: a condition in SQL. Values are text as the log has it, and "" stands for NULL. As in SQL and in deltalake a
NULL is neither equal to a value nor different from it: `!=` and `not in` drop it.

    ("day", "=", "2024-01-01")     (`day` IN ('2024-01-01'))
    ("day", "!=", "2024-01-01")    (`day` NOT IN ('2024-01-01'))
    ("day", "=", "")               (`day` IS NULL)
    ("day", "in", ["a", ""])       (`day` IN ('a') OR `day` IS NULL)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from lakeprune.errors import UsageError
from lakeprune.formats.snapshot import SnapshotFacts
from lakeprune.planning.planner import Planner, read
from lakeprune.planning.question import Question
from lakeprune.predicate.condition import Condition
from lakeprune.predicate.tree import And
from lakeprune.values.literals import quote
from lakeprune.values.names import quote_name

Filter = tuple[str, str, str | Sequence[str]]
Filters = Sequence[Filter] | Sequence[Sequence[Filter]]
_ORDERS = ("<", "<=", ">", ">=")
_OPERATORS = ("=", "!=", "in", "not in", *_ORDERS)


def question_of(planner: Planner, condition: Condition | None, filters: Filters | None) -> Question:
    """The question of a condition and of partition filters, both of which must hold."""
    text = None if filters is None else filters_sql(filters, planner.facts)
    if text is None:
        return planner.ask(condition)
    other = read(text, planner.profile)
    if condition is None:
        return planner.ask(other)
    both = Condition(f"({condition.text}) AND ({text})", And((condition.tree, other.tree)), condition.asks_clock)
    return planner.ask_bound(both, And((planner.bound(condition), planner.bound(other))))


def filters_sql(filters: Filters, facts: SnapshotFacts) -> str | None:
    """The filters as SQL, None when there are none."""
    if isinstance(filters, str) or not isinstance(filters, Sequence):
        raise _wrong(filters)
    if not filters:
        return None
    if isinstance(filters[0], tuple):
        return _all(filters, facts)
    return " OR ".join(f"({_all(each, facts)})" for each in filters)


def _all(filters: Any, facts: SnapshotFacts) -> str:
    if not isinstance(filters, Sequence) or not filters:
        raise _wrong(filters)
    return " AND ".join(_one(each, facts) for each in filters)


def _one(filter_: Any, facts: SnapshotFacts) -> str:
    if not isinstance(filter_, tuple) or len(filter_) != 3:
        raise _wrong(filter_)
    name, operator, value = filter_
    if name not in facts.partition_columns:
        known = ", ".join(facts.partition_columns) or "the table has none"
        raise UsageError(
            "LP272", f"{name!r} is not a partition column", where="partition_filters", fix=f"partition columns: {known}"
        )
    column, is_list = quote_name(name), operator in ("in", "not in")
    is_text = isinstance(value, str)
    is_texts = isinstance(value, Iterable) and all(isinstance(each, str) for each in value)  # so is a text
    if operator not in _OPERATORS or is_list is is_text or not is_texts:
        raise _wrong(filter_)
    if operator in _ORDERS:
        return f"{column} {operator} {quote(value)}"
    values = [value] if is_text else list(value)
    return _inside(column, values) if operator in ("=", "in") else _outside(column, values)


def _inside(column: str, values: list[str]) -> str:
    """Whether the column is one of the values."""
    parts = [f"{column} IN ({', '.join(quote(value) for value in values if value)})"] if any(values) else []
    parts += [f"{column} IS NULL"] * ("" in values)
    return f"({' OR '.join(parts)})" if parts else "FALSE"


def _outside(column: str, values: list[str]) -> str:
    """Whether it is none of them."""
    parts = [f"{column} NOT IN ({', '.join(quote(value) for value in values if value)})"] if any(values) else []
    parts += [f"{column} IS NOT NULL"] * ("" in values)
    return f"({' AND '.join(parts)})" if parts else "TRUE"


def _wrong(given: Any) -> UsageError:
    return UsageError(
        "LP272",
        f"{given!r} is not a partition filter",
        where="partition_filters",
        fix='give tuples such as ("day", "=", "2024-01-01") or ("day", "in", ["a", "b"]); the operators are '
        + ", ".join(_OPERATORS),
    )
