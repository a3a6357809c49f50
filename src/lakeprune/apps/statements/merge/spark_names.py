"""Whose column a name of a MERGE is, asked of Spark's analyser and never guessed; and ON sorted by it.

In: a target, a source, the conjuncts of conditions. Out: a `MergeOn`, keys, conditions on the target alone. A conjunct that
cannot be used is kept with the reason. Nothing is run.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.types import DataType as SparkType
from pyspark.sql.types import StringType, StructType

from lakeprune.apps.statements.merge.keys import Key, compares_exactly
from lakeprune.apps.statements.merge.on import SOURCE, TARGET, Conjunct, MergeOn, conjuncts_of
from lakeprune.apps.statements.merge.spark_source import Source
from lakeprune.apps.statements.spark_target import Target
from lakeprune.errors import PredicateError
from lakeprune.predicate.bind.names import Resolver
from lakeprune.predicate.read.catalyst.types import data_type
from lakeprune.predicate.tree import Column, Name
from lakeprune.values.names import quote_name
from lakeprune.values.types import NESTED_KINDS, DataType, Kind


class _Side(Enum):
    """Whose columns an expression asks for. One without any counts as the target's."""

    TARGET = "target"
    SOURCE = "source"
    BOTH = "both"


class Names:
    """Target and source side by side, where names mean what they mean in the statement."""

    def __init__(self, target: Target, source: Source) -> None:
        table, rows = target.frame().alias(TARGET), source.rows.alias(SOURCE)
        self._target, self._source = target, source
        self._ours: Any = table._jdf.queryExecution().analyzed().outputSet()  # noqa: SLF001  # PySpark has no other way
        self._theirs: Any = rows._jdf.queryExecution().analyzed().outputSet()  # noqa: SLF001
        self._joined = table.crossJoin(rows)
        self._is_unclear = TARGET in (name.lower() for name in table.columns)

    def sort(self, on: Sequence[Conjunct]) -> MergeOn:
        """Every conjunct of ON, in its class."""
        keys: list[Key] = []
        ours: list[Conjunct] = []
        theirs: list[str] = []
        unusable: list[tuple[str, str]] = []
        for conjunct in on:
            if self._is_unclear:
                unusable.append((conjunct.text, f"the target has a column named {TARGET}, like the target itself"))
            elif (side := self._side_of(conjunct.text)) is _Side.TARGET:
                ours.append(conjunct)
            elif side is _Side.SOURCE:
                theirs.append(conjunct.text)
            elif isinstance(found := self._key(conjunct), Key):
                keys.append(found)
            else:
                unusable.append((conjunct.text, found))
        return MergeOn(tuple(keys), tuple(ours), tuple(theirs), tuple(unusable))

    def on_target(self, conditions: Sequence[Sequence[Conjunct]]) -> str | None:
        """What these conditions, of which one applies, demand of the target alone; None for nothing. Delta takes it alike."""
        sides = []
        for condition in conditions:
            parts = () if self._is_unclear else condition
            ours = [conjunct.unaliased for conjunct in parts if self._side_of(conjunct.text) is _Side.TARGET]
            if not ours:
                return None
            sides.append(" AND ".join(f"({text})" for text in ours))
        return " OR ".join(f"({side})" for side in sides)

    def same_named(self, column: Column) -> Key | None:
        """What `t.column = s.column` would be, if the source has a column of this name and of a type that compares."""
        if not _has(self._source.rows.schema, column.path):
            return None
        name = ".".join(quote_name(part) for part in column.path)
        (conjunct,) = conjuncts_of(f"{TARGET}.{name} = {SOURCE}.{name}")
        key = self._key(conjunct)
        return key if isinstance(key, Key) else None

    def _key(self, conjunct: Conjunct) -> Key | str:
        """The key that a conjunct is, or why it is not one."""
        equality = conjunct.equality
        if equality is None:
            return "it is not an equality"
        for ours, theirs in ((equality.left, equality.right), (equality.right, equality.left)):
            if self._side_of(theirs.text) is not _Side.SOURCE or self._side_of(ours.text) is not _Side.TARGET:
                continue
            if ours.path is None:
                return "the target's side is an expression, not a column"
            column, type_ = column_of(self._target, ours.path), self._type_of(theirs.text)
            if column is None or column.type.kind in NESTED_KINDS:
                return "the target's side is not a column with minimum and maximum"
            if not compares_exactly(column.type, type_):
                return f"{column.type} and {type_} are compared after a cast, so that values of one do not bound the other"
            return Key(conjunct.text, column, theirs.text, equality.is_null_safe)
        return "it is not an equality between a column of the target and an expression of the source"

    def _side_of(self, expression: str) -> _Side:
        asked = self._picked(expression)._jdf.queryExecution().analyzed().references()  # noqa: SLF001
        if asked.subsetOf(self._ours):
            return _Side.TARGET
        return _Side.SOURCE if asked.subsetOf(self._theirs) else _Side.BOTH

    def _type_of(self, expression: str) -> DataType:
        spark = self._picked(expression).schema[0].dataType
        if isinstance(spark, StringType) and spark.simpleString() != "string":
            return DataType(Kind.STRING, collation=spark.simpleString())
        return data_type(spark.jsonValue()) or DataType(Kind.OTHER)

    def _picked(self, expression: str) -> DataFrame:
        return self._joined.selectExpr(f"({expression})")


def column_of(target: Target, path: tuple[str, ...]) -> Column | None:
    """The column of the target at this path; None when there is none with statistics of its own."""
    try:
        return Resolver(target.planner.facts.schema, ".".join(path)).column(Name(path))
    except PredicateError:
        return None


def _has(type_: SparkType, path: tuple[str, ...]) -> bool:
    """Whether there is a field at this path, below structs alone."""
    if not path:
        return True
    fields = type_.fields if isinstance(type_, StructType) else []
    return any(field.name.lower() == path[0].lower() and _has(field.dataType, path[1:]) for field in fields)
