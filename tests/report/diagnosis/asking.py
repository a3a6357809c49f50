"""Diagnoses of one code, and what an independent reader says about the same log."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable

import lakeprune
from lakeprune.report.model import Diagnosis, Report


def explained(table: Path, where: str, **options: Any) -> Report:
    return lakeprune.explain(table, where, explain_why=True, **options)


def found_diagnoses(table: Path, where: str, code: str, **options: Any) -> list[Diagnosis]:
    """The diagnoses of one code."""
    diagnoses = explained(table, where, **options).diagnoses
    assert diagnoses is not None
    return [diagnosis for diagnosis in diagnoses if diagnosis.code == code]


def one(table: Path, where: str, code: str, **options: Any) -> Diagnosis:
    found = found_diagnoses(table, where, code, **options)
    assert len(found) == 1, found
    return found[0]


def kept(table: Path, where: str, **options: Any) -> int:
    """How many files plain `explain` keeps."""
    return lakeprune.explain(table, where, **options).numbers.kept.files


def add_actions(table: Path) -> list[dict[str, Any]]:
    """The live files as deltalake reads them: size_bytes, num_records, min.x, max.x, null_count.x, partition.x."""
    actions: Any = pa.table(DeltaTable(table).get_add_actions(flatten=True))
    rows: list[dict[str, Any]] = actions.to_pylist()
    return rows
