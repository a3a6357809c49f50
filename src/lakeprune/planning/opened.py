"""A table that stays open: one version, whose metadata was read once, for as many questions as somebody has.

In: a snapshot and the engine that reads it. Out: what every application takes where it takes a table. Each question has its own
session (time zone, clock, NaN policy); the version is that of the table, and cannot be asked for again.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from lakeprune.engines.engine import Engine
from lakeprune.errors import UsageError
from lakeprune.formats.snapshot import Snapshot

if TYPE_CHECKING:
    from typing import Self

    from lakeprune.planning.opening import At


class OpenedTable:
    """One opened snapshot. Close it, or use it in a `with` statement: what was read is kept in memory until then."""

    def __init__(self, engine: Engine, snapshot: Snapshot) -> None:
        self.engine = engine
        self.snapshot = snapshot
        self._awake = ExitStack()
        self._awake.enter_context(engine.awake())

    @property
    def location(self) -> str:
        return self.snapshot.facts.location

    @property
    def version(self) -> int | None:
        return self.snapshot.facts.version

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(field.name for field in self.snapshot.facts.schema.fields)

    def close(self) -> None:
        """Let go of everything that was read; twice is as good as once."""
        if not self.snapshot.is_closed:
            self.snapshot.is_closed = True
            self._awake.close()
            self.snapshot.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        version = "" if self.version is None else f", version {self.version}"
        return f"<{self.snapshot.facts.title} {self.location}{version}>"

    def check_as_opened(self, at: At, *, access: Mapping[str, Any], catalog: str | None) -> None:
        """LP276 where a question asks for another version, or another way to the table, than it is open with."""
        if self.snapshot.is_closed:
            raise closed(self.location)
        asked = [
            name
            for name, is_other in (
                ("version", at.version is not None and at.version != self.version),
                ("timestamp", at.timestamp is not None),
                ("ref", at.ref is not None),
                ("catalog", catalog is not None),
                (next(iter(access), ""), bool(access)),
            )
            if is_other
        ]
        if asked:
            what = f"`{asked[0]}` was given for a table that is open already"
            raise UsageError("LP276", what, where=repr(self), fix=f"give `{asked[0]}` to lakeprune.open")


def closed(location: str) -> UsageError:
    fix = "ask for files and rows while it is open, or open it again"
    return UsageError("LP276", "the table was closed", where=location, fix=fix)
