"""Parquet files for tests: written by pyarrow, judged through the public `explain`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import lakeprune


def write(place: Path, columns: dict[str, Any], **options: Any) -> Path:
    """A file with these columns: lists of values, or Arrow arrays."""
    place.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), place, **options)
    return place


def verdicts(location: Path | str, where: str, **options: Any) -> dict[str, str]:
    """Path -> DROP, KEEP or FULL."""
    return {
        file.path: file.verdict.value for file in lakeprune.explain(location, where, **{"nan_policy": "strict", **options}).files
    }


def verdict(place: Path, values: Sequence[Any], kind: pa.DataType, where: str, **options: Any) -> str:
    """The verdict of one file whose column `x` has these values."""
    write(place / "f.parquet", {"x": pa.array(values, kind)}, **options)
    return verdicts(place / "f.parquet", where)["f.parquet"]
