"""The same question asked of both engines, as documents that can be compared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

import lakeprune


def both(table: Path | str, where: str | None, spark: SparkSession, **options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The whole document with every file, of the embedded engine and of Spark."""
    return _document(lakeprune.explain(table, where, **options)), _document(
        lakeprune.explain(table, where, spark=spark, **options)
    )


def _document(report: lakeprune.Report) -> dict[str, Any]:
    document = report.to_dict(verbose=True)
    del document["elapsed_ms"]
    return document
