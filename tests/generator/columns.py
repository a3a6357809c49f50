"""The columns of a generated table, and how each is named in Spark text, in DuckDB text and in the table's metadata."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

import pyarrow as pa

from lakeprune.predicate.schema import Role
from lakeprune.predicate.tree import Column
from lakeprune.values.types import DataType, Kind
from tests.generator.values import DECIMALS, TYPES, pool

PARTITION_TYPES = (
    "string",
    "integer",
    "long",
    "date",
    "timestamp",
    "timestamp_ntz",
    "boolean",
    "double",
    "decimal(5,2)",
    "string",
)
_ODD_NAMES = ("select", "a.b", "we ird", "Größe", "x`y", "order", "Date")

ARROW: dict[str, pa.DataType] = {
    "boolean": pa.bool_(),
    "byte": pa.int8(),
    "short": pa.int16(),
    "integer": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "string": pa.string(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "timestamp_ntz": pa.timestamp("us"),
    **{name: pa.decimal128(*size) for name, size in DECIMALS.items()},
}
DUCKDB: dict[str, str] = {
    "boolean": "BOOLEAN",
    "byte": "TINYINT",
    "short": "SMALLINT",
    "integer": "INTEGER",
    "long": "BIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "string": "VARCHAR",
    "binary": "BLOB",
    "date": "DATE",
    "timestamp": "TIMESTAMPTZ",
    "timestamp_ntz": "TIMESTAMP",
    **{name: name.upper() for name in DECIMALS},
}


@dataclass(frozen=True)
class ColumnSpec:
    """One leaf column: a path of logical names, the same path of physical names, and the values it may take."""

    path: tuple[str, ...]
    physical: tuple[str, ...]
    type: str
    is_partition: bool = False
    pool: tuple[Any, ...] = field(default=(), compare=False)

    @property
    def spark(self) -> str:
        return ".".join(
            "`" + part.replace("`", "``") + "`" if not part.isidentifier() or part in _ODD_NAMES else part for part in self.path
        )

    @property
    def duckdb(self) -> str:
        return ".".join('"' + part.replace('"', '""') + '"' for part in self.path)

    @property
    def bound(self) -> Column:
        role = Role.PARTITION if self.is_partition else Role.DATA
        return Column(self.path, self.physical, data_type(self.type), role)


def data_type(name: str) -> DataType:
    if name in DECIMALS:
        return DataType(Kind.DECIMAL, *DECIMALS[name])
    return DataType(Kind(name))


def random_columns(rng: Random, *, mapped: bool) -> list[ColumnSpec]:
    """One to three partition columns or none, some plain columns of every kind, and often a struct with nested fields."""
    odd = list(_ODD_NAMES)
    rng.shuffle(odd)
    columns = []
    for number, type_ in enumerate(rng.sample(PARTITION_TYPES, rng.choice([0, 1, 1, 2, 3]))):
        columns.append(_column((f"p{number}",), type_, rng, mapped=mapped, partition=True))
    for number, type_ in enumerate(rng.sample(TYPES, rng.randint(5, 10))):
        name = odd.pop() if odd and rng.random() < 0.08 else f"c{number}"
        columns.append(_column((name,), type_, rng, mapped=mapped))
        if rng.random() < 0.3:
            columns.append(_column((f"d{number}",), type_, rng, mapped=mapped))
    if rng.random() < 0.5:
        columns.append(_column(("st", "a"), rng.choice(TYPES), rng, mapped=mapped))
        columns.append(_column(("st", "inner", "b"), rng.choice(TYPES), rng, mapped=mapped))
    return columns


def _column(path: tuple[str, ...], type_: str, rng: Random, *, mapped: bool, partition: bool = False) -> ColumnSpec:
    physical = tuple(f"col-{part.encode().hex()}" for part in path) if mapped else path
    return ColumnSpec(path, physical, type_, partition, tuple(pool(type_, rng)))
