"""Rows as Arrow columns, and filters applied to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.dataset as ds

from lakeprune.apps.scan.filters.arrow_rows import arrow_filter
from lakeprune.apps.scan.filters.arrow_types import arrow_type
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
