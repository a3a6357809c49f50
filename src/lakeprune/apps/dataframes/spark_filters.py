"""Expressions of the JVM as JSON that says everything: what `toJSON` leaves out is asked of the expression itself.

Timestamps are printed in the zone of the thread's active session, so UTC is made active while printing: in the user's own zone an
hour may come twice. The active session is put back.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

from pyspark.sql import SparkSession

from lakeprune.apps.dataframes.scan import Filter
from lakeprune.engines.spark.engine import clone
from lakeprune.engines.spark.nodes import full_class_name
from lakeprune.engines.spark.session import active
from lakeprune.predicate.read.catalyst.types import PRINTING_ZONE
from lakeprune.values.names import quote_name


def filters_of(spark: SparkSession, expressions: Sequence[Any]) -> tuple[Filter, ...]:
    """Each expression with its text, in which columns stand without the table's name, and its nodes."""
    texts = [str(expression.sql()) for expression in expressions]
    with _printing(spark):
        printed = [json.loads(expression.toJSON()) for expression in expressions]
    return tuple(
        Filter(_unqualified(text, nodes), tuple(_completed(nodes, expression)))
        for text, nodes, expression in zip(texts, printed, expressions, strict=True)
    )


def _unqualified(text: str, nodes: list[dict[str, Any]]) -> str:
    """Spark's text of an expression, for reading: columns without the name or path of their table."""
    qualifiers = {node["qualifier"] for node in nodes if isinstance(node.get("qualifier"), str)}  # "[catalog, schema, table]"
    for qualifier in sorted(qualifiers, key=len, reverse=True):
        text = text.replace("".join(f"{_quoted(part)}." for part in qualifier[1:-1].split(", ")), "")
    return text


def _quoted(part: str) -> str:
    is_plain = re.fullmatch(r"[a-zA-Z0-9_]+", part) and not re.fullmatch(r"\d+", part)
    return part if is_plain else quote_name(part)


@contextmanager
def _printing(spark: SparkSession) -> Iterator[None]:
    printer = clone(spark)
    printer.conf.set("spark.sql.session.timeZone", PRINTING_ZONE)
    with active(printer):
        yield


def _completed(nodes: list[dict[str, Any]], expression: Any) -> Iterator[dict[str, Any]]:
    # A subquery's own nodes are counted by `apply` and not by `toJSON`: after one, positions would not agree.
    has_subquery = any("plan" in node for node in nodes)
    for index, node in enumerate(nodes):
        wanted = _left_out(node)
        if wanted is None or has_subquery:
            yield node
            continue
        found = expression.apply(index)
        assert full_class_name(found) == node["class"], "both count nodes in pre-order"
        yield {**node, **_asked(wanted, found)}


def _left_out(node: dict[str, Any]) -> str | None:
    """The field that `toJSON` names without its value."""
    if node.get("dataType") == "binary" and str(node["class"]).endswith(".Literal"):
        return "value" if node.get("value") is not None else None
    return next((name for name in ("hset", "evalContext", "evalMode", "escapeChar") if name in node), None)


def _values(values: Any) -> list[str | None]:
    """The texts of a set's values, in one call for all of them; dates and timestamps are numbers."""
    separator = f"|{uuid4().hex}|"
    found = str(values.mkString(separator)).split(separator)
    if not values.contains(None):
        return [*found]
    found.remove("null")
    return [*found, None]


def _asked(wanted: str, expression: Any) -> dict[str, Any]:
    match wanted:
        case "hset":
            return {"hset": _values(expression.hset()), "dataType": json.loads(expression.child().dataType().json())}
        case "value":
            return {"value": bytes(expression.value()).hex()}
        case "escapeChar":
            return {"escapeChar": str(expression.escapeChar())}
        case "evalContext":
            return {"evalMode": str(expression.evalContext().evalMode().toString())}
        case _:
            return {"evalMode": str(expression.evalMode().toString())}
