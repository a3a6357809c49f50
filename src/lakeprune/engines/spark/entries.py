"""The entries of an Iceberg snapshot's manifests, read by Iceberg's own Spark runtime on the executors.

In: a session, a metadata file, a snapshot. Out: a DataFrame with the columns of `ManifestEntries`. It is Iceberg's `entries`
metadata table by path: no catalog is asked. `readable_metrics` is never selected, for it decodes every column of every file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import DataType

from lakeprune.engines.engine import EngineError
from lakeprune.engines.spark.packages import iceberg_package
from lakeprune.errors import UsageError

_OWN = ("status", "snapshot_id", "sequence_number")
_OF_FILE = (
    "spec_id", "content", "file_path", "file_format", "record_count", "file_size_in_bytes", "referenced_data_file",
    "value_counts", "null_value_counts", "nan_value_counts", "lower_bounds", "upper_bounds",
)  # fmt: skip
_WHOLE = ("byte", "short", "integer", "long")


def entries_of(
    spark: SparkSession, metadata: str, snapshot_id: int, fields: Mapping[int, str]
) -> tuple[DataFrame, dict[int, str]]:
    """The entries, and the types of the partition fields."""
    table = spark.read.format("iceberg").option("versionAsOf", snapshot_id).load(f"{metadata}#entries")
    file: Any = table.schema["data_file"].dataType
    parts = file["partition"].dataType.fields if "partition" in file.names else ()  # it is not there where there are no fields
    shown: list[tuple[str, DataType]] = [(field.name, field.dataType) for field in parts]
    if [name for name, _ in shown] != list(fields.values()):
        raise EngineError(f"the runtime shows the partition fields {[name for name, _ in shown]}, not {list(fields.values())}")
    types = {number: kind.typeName() for number, (_, kind) in zip(fields, shown, strict=True)}
    items = [*_OWN, *(f"data_file.{name}" for name in _OF_FILE if name in file.names)]
    items += [f"CAST(NULL AS STRING) AS {name}" for name in _OF_FILE if name not in file.names]
    return table.selectExpr(*items, *_values(fields, shown)), types


def no_runtime(why: str) -> UsageError:
    """The session cannot read Iceberg tables."""
    fix = f"give --packages {iceberg_package()}, or a session or server that has it; or explain without Spark"
    return UsageError("LP227", "this Spark session has no Iceberg runtime", why=why, fix=fix)


def _values(fields: Mapping[int, str], shown: list[tuple[str, DataType]]) -> Iterator[str]:
    """The partition fields by their ids: their names need not be unique, and SQL finds fields of a struct by name only."""
    if not shown:
        return
    numbered = [(number, kind) for number, (_, kind) in zip(fields, shown, strict=True)]
    kinds = ", ".join(f"f{number}: {kind.simpleString()}" for number, kind in numbered)
    for number, kind in numbered:
        value = f"CAST(data_file.partition AS STRUCT<{kinds}>).f{number}"
        yield f"{_canonical(value, kind.typeName())} AS p{number}"


def _canonical(value: str, kind: str) -> str:
    if kind == "date":
        return f"CAST(unix_date({value}) AS BIGINT)"
    if kind in ("timestamp", "timestamp_ntz"):
        return f"unix_micros(CAST({value} AS TIMESTAMP))"
    if kind in _WHOLE:
        return f"CAST({value} AS BIGINT)"
    return f"CAST({value} AS DOUBLE)" if kind == "float" else value
