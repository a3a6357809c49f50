"""Ways around a plan of the JVM: its nodes in order, subqueries and cached plans among them. Only looks, never changes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def elements(collection: Any) -> list[Any]:
    """The elements of a Scala or Java collection."""
    iterator, found = collection.iterator(), []
    while iterator.hasNext():
        found.append(iterator.next())
    return found


def class_name(thing: Any) -> str:
    return str(thing.getClass().getSimpleName())


def full_class_name(thing: Any) -> str:
    return str(thing.getClass().getName())


def is_a(spark: Any, thing: Any, name: str) -> bool:
    """Whether a Java object is of a class, or of one made from it."""
    return bool(spark._jvm.java.lang.Class.forName(name).isInstance(thing))  # noqa: SLF001


def option(found: Any) -> Any:
    """What a Scala Option holds, None when it is empty."""
    return found.get() if found.isDefined() else None


def descendants(plan: Any) -> Iterator[Any]:
    """A plan and all below it, in pre-order: through caches to the plans that fill them, through adaptive plans to the first."""
    waiting = [plan]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed([*_below(node), *elements(node.subqueries())]))


def _below(node: Any) -> list[Any]:
    match class_name(node):
        case "AdaptiveSparkPlanExec":
            return [node.initialPlan()]
        case "InMemoryTableScanExec":
            return [node.relation().cachedPlan()]
        case "InMemoryRelation":
            return [node.cachedPlan()]
        case name if name.endswith("QueryStageExec"):
            return [node.plan()]
        case _:
            return elements(node.children())
