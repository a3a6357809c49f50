"""Expressions of the JVM as JSON that says everything: what `toJSON` leaves out is asked of the expression itself.

Timestamps are printed in the zone of the thread's active session, so UTC is made active while printing: in the user's own zone an
hour may come twice. The active session is put back.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from pyspark.sql import SparkSession

from lakeprune.dataframes.scan import Filter
from lakeprune.dataframes.spark_nodes import full_class_name
from lakeprune.engines.spark_engine import clone
from lakeprune.predicate.spark_types import PRINTING_ZONE


def filters_of(spark: SparkSession, expressions: Sequence[Any]) -> tuple[Filter, ...]:
    """Each expression with its text and its nodes."""
    texts = [str(expression.sql()) for expression in expressions]
    with _printing(spark):
        printed = [json.loads(expression.toJSON()) for expression in expressions]
    return tuple(
        Filter(text, tuple(_completed(nodes, expression)))
        for text, nodes, expression in zip(texts, printed, expressions, strict=True)
    )


@contextmanager
def _printing(spark: SparkSession) -> Iterator[None]:
    sessions = spark._jvm.org.apache.spark.sql.classic.SparkSession  # type: ignore[union-attr]  # noqa: SLF001
    printer = clone(spark)
    printer.conf.set("spark.sql.session.timeZone", PRINTING_ZONE)
    before = sessions.getActiveSession()
    sessions.setActiveSession(printer._jsparkSession)  # noqa: SLF001
    try:
        yield
    finally:
        if before.isDefined():
            sessions.setActiveSession(before.get())
        else:
            sessions.clearActiveSession()


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
        yield {**node, **_told(wanted, found)}


def _left_out(node: dict[str, Any]) -> str | None:
    """The field that `toJSON` names without its value."""
    if node.get("dataType") == "binary" and str(node["class"]).endswith(".Literal"):
        return "value" if node.get("value") is not None else None
    return next((name for name in ("evalContext", "evalMode", "escapeChar") if name in node), None)


def _told(wanted: str, expression: Any) -> dict[str, Any]:
    match wanted:
        case "value":
            return {"value": bytes(expression.value()).hex()}
        case "escapeChar":
            return {"escapeChar": str(expression.escapeChar())}
        case "evalContext":
            return {"evalMode": str(expression.evalContext().evalMode().toString())}
        case _:
            return {"evalMode": str(expression.evalMode().toString())}
