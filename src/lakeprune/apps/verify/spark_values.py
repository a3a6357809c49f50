"""What values the files of a table hold: per file and column the least, the greatest, the NULLs and the NaNs, by Spark.

In: the rows to read and the columns. Out: a relation with one row per file: its key, live, and the columns t{k}_... that
programs/audit.py describes, in the carriers that bounds have. Only these columns are read, each file once.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager

from pyspark.sql import functions as sql

from lakeprune.apps.verify.spark_truth import Rows, found_in
from lakeprune.engines.spark.dialect import SparkDialect
from lakeprune.predicate.tree import Column
from lakeprune.programs.compare import Logged
from lakeprune.values.types import Family, Kind


def values_found(rows: Rows, columns: Mapping[int, Column], files: Logged) -> AbstractContextManager[str]:
    """The relation; it lasts as long as the block. The rows' zone is UTC, in which local times are counted."""
    items = [f"{_field(column)} AS v{k}" for k, column in columns.items()]
    totals = {name: total for k, column in columns.items() for name, total in _totals(k, column).items()}
    return found_in(rows, items, [sql.expr(total).alias(name) for name, total in totals.items()], files)


def _totals(k: int, column: Column) -> dict[str, str]:
    found = {f"t{k}_n": f"count_if(v{k} IS NULL)"}
    if column.type.family in (None, Family.BYTES):
        return found
    value = _carried(f"v{k}", column)
    found.update({f"t{k}_lo": f"min({value})", f"t{k}_hi": f"max({value})"})
    if column.type.family is Family.REAL:
        found[f"t{k}_nan"] = f"count_if(isnan(v{k}))"
    return found


def _carried(value: str, column: Column) -> str:
    """A value as bounds have it: dates and times as whole numbers, no NaN."""
    match column.type.kind:
        case Kind.DATE:
            return f"CAST(unix_date({value}) AS BIGINT)"
        case Kind.TIMESTAMP | Kind.TIMESTAMP_NTZ:
            return f"unix_micros(CAST({value} AS TIMESTAMP))"
        case Kind.FLOAT | Kind.DOUBLE:
            return f"CASE WHEN NOT isnan({value}) THEN CAST({value} AS DOUBLE) END"
        case Kind.DECIMAL:
            return f"CAST({value} AS DECIMAL(38,{column.type.scale}))"
        case Kind.STRING | Kind.BOOLEAN:
            return value
        case _:
            return f"CAST({value} AS BIGINT)"


def _field(column: Column) -> str:
    dialect = SparkDialect()
    return ".".join(dialect.identifier(part) for part in column.path)
