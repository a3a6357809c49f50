"""The options of every statement, named like the command's flags."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from datetime import datetime


class StatementOptions(TypedDict, total=False):
    """Guards, whether the condition is strengthened, and how it is read."""

    max_rewrite_bytes: int
    max_files: int
    max_rows: int
    require_partition_filter: bool
    strengthen: bool
    timezone: str
    now: str | datetime
    nan_policy: str


OPTIONS = frozenset(StatementOptions.__annotations__)
READING = frozenset({"timezone", "now", "nan_policy"})
