"""Which partitions get a lane of their own, in which order, and what they are called."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from lakeprune.predicate.tree import Column
from lakeprune.programs.patterns import Evaluation
from lakeprune.programs.sketch import PartitionCounts
from lakeprune.report.pictures.model import Counts

_LONGEST = 40


class Named(Struct, frozen=True):
    """A partition and what it is called."""

    texts: tuple[str | None, ...]
    labels: tuple[str, ...]
    files: Counts
    bytes: Counts


def in_order(found: Sequence[PartitionCounts], columns: Sequence[Column], evaluation: Evaluation) -> list[Named]:
    """The partitions in the order of their values, not of their texts: 2 before 10, NULL last."""
    named = [Named(p.texts, tuple(map(label, p.texts)), p.files, p.bytes) for p in found]
    return sorted(named, key=lambda partition: [_key(t, c, evaluation) for t, c in zip(partition.texts, columns, strict=True)])


def label(text: str | None) -> str:
    """
    >>> label(None), label("DE"), label("")
    ('NULL', 'DE', '(empty)')
    """
    if text is None:
        return "NULL"
    if not text:
        return "(empty)"
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _key(text: str | None, column: Column, evaluation: Evaluation) -> tuple[int, Any]:
    values = evaluation.snapshot.partition_values(text, column, evaluation.profile)
    if values is None:
        return 1, text or ""
    return (2, "") if not values or values[0] is None else (0, values[0])
