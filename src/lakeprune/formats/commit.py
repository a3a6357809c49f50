"""What one commit did to a table: the files it added and removed, and what the writer says about it."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct


class FileAction(Struct, frozen=True):
    """A file that was added or removed; `path` is as the log has it."""

    path: str
    size: int | None
    rows: int | None  # physical, None when the log does not say
    hidden: int  # rows that its deletion vector hides, 0 without one
    has_vector: bool


class Commit(Struct, frozen=True):
    version: int
    operation: str
    read_version: int | None  # the version the writer's transaction read
    metrics: Mapping[str, str]  # as the writer reports them
    added: tuple[FileAction, ...]
    removed: tuple[FileAction, ...]
    change_files: int  # of the change data feed
