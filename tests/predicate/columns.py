"""A table of columns that covers every type, for tests of binding and showing."""

from __future__ import annotations

from lakeprune.predicate.schema import Field, Role, Schema
from lakeprune.predicate.tree import Profile
from lakeprune.values.types import BOOLEAN, DATE, DOUBLE, INT, LONG, STRING, TIMESTAMP, TIMESTAMP_NTZ, DataType, Kind

NOW = 1_700_000_000_000_123
PROFILE = Profile(now=NOW)

SCHEMA = Schema(
    (
        Field("country", "country", STRING, Role.PARTITION),
        Field("day", "day", DATE, Role.PARTITION),
        Field("age", "age", INT),
        Field("total", "total", LONG),
        Field("price", "col-9", DataType(Kind.DECIMAL, 10, 2)),
        Field("ratio", "ratio", DataType(Kind.FLOAT)),
        Field("score", "score", DOUBLE),
        Field("name", "name", STRING),
        Field("active", "active", BOOLEAN),
        Field("ts", "ts", TIMESTAMP),
        Field("wall", "wall", TIMESTAMP_NTZ),
        Field("raw", "raw", DataType(Kind.BINARY)),
        Field("a.b", "dotted", INT),
        Field(
            "address", "col-1", DataType(Kind.STRUCT),
            children=(
                Field("zip", "col-2", INT),
                Field("lines", "col-3", DataType(Kind.ARRAY)),
                Field("geo", "col-4", DataType(Kind.STRUCT), children=(Field("lat", "col-5", DOUBLE),)),
            ),
        ),
        Field("tags", "tags", DataType(Kind.MAP)),
        Field("payload", "payload", DataType(Kind.VARIANT)),
        Field("twin", "twin-1", INT),
        Field("TWIN", "twin-2", INT),
    )
)  # fmt: skip
