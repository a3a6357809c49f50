"""The options of every statement, named like the command's flags."""

from __future__ import annotations

from lakeprune.planning.session import SessionOptions


class StatementOptions(SessionOptions, total=False):
    """Guards, whether the condition is strengthened, and how it is read."""

    max_rewrite_bytes: int
    max_files: int
    max_rows: int
    require_partition_filter: bool
    strengthen: bool


OPTIONS = frozenset(StatementOptions.__annotations__)
