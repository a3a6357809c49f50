"""A hand-made log and a question: the verdict of every file, through the public `explain`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import lakeprune
from tests.builders.delta import Action, add, deletion_vector, featured, metadata, statistics, write_log

FEATURES = ["timestampNtz", "deletionVectors", "columnMapping", "typeWidening"]
MODERN = featured(*FEATURES)


def judge(root: Path, where: str, **options: Any) -> dict[str, str]:
    """File name -> DROP, KEEP or FULL."""
    return {file.path: file.verdict.value for file in lakeprune.explain(root, where, **{"nan_policy": "strict", **options}).files}


def one_column(root: Path, type_: str, files: Sequence[Action], configuration: Mapping[str, str] | None = None) -> Path:
    """A table with the column `x` and these files."""
    return write_log(root / "table", [[MODERN, metadata({"x": type_}, configuration=configuration), *files]])


def verdict(root: Path, type_: str, bounds: tuple[Any, Any, int | None], where: str, rows: int = 10, **options: Any) -> str:
    """The verdict of one file whose column `x` has (minimum, maximum, null count)."""
    table = root / "table"
    if not table.exists():
        one_column(root, type_, [add("f", stats=statistics(rows, x=bounds))])
    return judge(table, where, **options)["f"]


def partition_verdict(root: Path, type_: str, text: str | None, where: str, **options: Any) -> str:
    """The verdict of one file whose partition column `p` is recorded as this text."""
    table = root / "table"
    if not table.exists():
        head = [MODERN, metadata({"x": "integer", "p": type_}, ["p"])]
        write_log(table, [[*head, add("f", partition={"p": text}, stats=statistics(1, x=(1, 1, 0), p=(None, None, 0)))]])
    return judge(table, where, **options)["f"]


def with_vector(action: Action, cardinality: int, offset: int = 1) -> Action:
    """The file with a deletion vector of that many rows."""
    return {"add": {**action["add"], "deletionVector": deletion_vector(cardinality, offset)}}
