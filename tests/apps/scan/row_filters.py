"""Rows as Arrow columns, and the two ways a filter is applied to them: an expression of Arrow, DuckDB's SQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import duckdb
import pyarrow as pa
import pyarrow.dataset as ds

from lakeprune.apps.scan.filters.arrow_rows import arrow_filter
from lakeprune.apps.scan.filters.arrow_types import arrow_type
from lakeprune.apps.scan.filters.duckdb_rows import duckdb_filter
from lakeprune.predicate.tree import Column, Expr
from lakeprune.values.types import Scalar

Truths = list[bool | None]


def arrow_table(columns: Sequence[Column], rows: Sequence[Mapping[Column, Scalar]]) -> pa.Table:
    """Top-level columns of canonical values; dates and timestamps are integers, which Arrow takes for these types."""
    arrays = [pa.array([row[column] for row in rows], arrow_type(column.type)) for column in columns]
    return pa.Table.from_arrays(arrays, names=[column.path[0] for column in columns])


def by_expression(predicates: Sequence[Expr], table: pa.Table) -> list[Truths]:
    """The truths of each predicate on every row."""
    asked = {f"t{i}": arrow_filter(predicate) for i, predicate in enumerate(predicates)}
    return [column.to_pylist() for column in ds.dataset(table).to_table(columns=asked).columns]


def by_duckdb(predicates: Sequence[Expr], table: pa.Table) -> list[Truths]:
    asked = ", ".join(f"{duckdb_filter(predicate)} AS t{i}" for i, predicate in enumerate(predicates))
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute("SET TimeZone = 'Asia/Kolkata'")  # a filter must not depend on it
        connection.register("rows", table)
        found = connection.execute(f"SELECT {asked} FROM rows").fetchall()
    return [list(truths) for truths in zip(*found, strict=True)]
