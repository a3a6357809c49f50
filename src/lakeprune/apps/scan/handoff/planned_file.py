"""One file of a plan, as a reader needs it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct


class PlannedFile(Struct, frozen=True):
    path: str
    uri: str
    size: int
    residual: tuple[int, ...]
    partition: dict[str, Any]  # Arrow scalars, by the names of partition columns
    vector: str | None


def planned_files(files: Any) -> Iterator[PlannedFile]:
    """The rows of `ScanPlan.files`, one by one: each is a file that is opened next."""
    for batch in files.to_batches():
        partitions = batch.column("partition")
        names = [field.name for field in partitions.type]
        columns = dict(zip(names, partitions.flatten(), strict=True))
        picked = [batch.column(name).to_pylist() for name in ("path", "uri", "size", "residual", "vector")]
        for i, (path, uri, size, residual, vector) in enumerate(zip(*picked, strict=True)):
            values = {name: column[i] for name, column in columns.items()}
            yield PlannedFile(path, uri, size, tuple(residual), values, vector)
