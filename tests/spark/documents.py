"""The same question asked of both engines, as documents that can be compared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

import lakeprune
from tests.builders.untimed import untimed


def both(table: Path | str, where: str | None, spark: SparkSession, **options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The whole document with every file, of the embedded engine and of Spark; in one zone, for Spark's session has its own."""
    options = {"timezone": "UTC", **options}
    return _document(lakeprune.explain(table, where, **options)), _document(
        lakeprune.explain(table, where, spark=spark, **options)
    )


def _document(report: lakeprune.Report) -> dict[str, Any]:
    found: dict[str, Any] = untimed(report.to_dict(verbose=True))
    return found
