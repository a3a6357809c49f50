"""What the footers of Parquet files record, as relations that an engine brings and a format reads.

Nothing here reads a file. Values are as recorded: whoever uses a bound decides whether it can be trusted.
"""

from __future__ import annotations

from msgspec import Struct


class Element(Struct, frozen=True):
    """A node of a schema tree, the root included; its children follow it."""

    name: str
    physical_type: str | None
    type_name: str | None  # upper-case SQL, with INT96 for what has no other name
    repetition: str | None
    children: int | None


class Footers(Struct, frozen=True):
    """FROM items over the footers of some files; `file` is the path that the engine was given.

    files     file, rows
    schemas   elements, file
              the distinct schemas, each with the first of its files: a JSON list of `Element`, in the order of the footer
    chunks    file, column_path, rows, num_values, min_text, max_text, is_max_exact, nulls, nans, has_type_order
              one row per row group and leaf, its names joined by ", "; the deprecated min and max are left out
    """

    files: str
    schemas: str
    chunks: str
