"""The files relation of a table as plain dictionaries: one per live file, with the domain of every asked column."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lakeprune.formats.delta.ladder import EVIDENCE
from lakeprune.formats.format import At
from lakeprune.formats.registry import open_table
from lakeprune.formats.relation import Needs
from lakeprune.formats.snapshot import Snapshot
from lakeprune.predicate.schema import Field, Role
from lakeprune.predicate.tree import Column, Profile
from tests.builders.engine import ENGINE

PROFILE = Profile(now=0)


def opened(path: Path | str, *, version: int | None = None, timestamp: int | None = None) -> Snapshot:
    return open_table(str(path), ENGINE, At(version, timestamp))


def columns(snapshot: Snapshot) -> tuple[Column, ...]:
    """Every leaf column of a snapshot."""
    found: list[Column] = []

    def walk(fields: Sequence[Field], path: tuple[str, ...], physical: tuple[str, ...], role: Role | None) -> None:
        for field in fields:
            here, there = (*path, field.name), (*physical, field.physical)
            if field.children:
                walk(field.children, here, there, field.role)
            else:
                found.append(Column(here, there, field.type, role or field.role, field.statistics_unusable))

    walk(snapshot.facts.schema.fields, (), (), None)
    return tuple(found)


def files(snapshot: Snapshot, profile: Profile = PROFILE) -> list[dict[str, Any]]:
    """The files relation, ordered by path; per column path joined by dots its domain as a dictionary."""
    asked = columns(snapshot)
    texts = tuple(column for column in asked if column.role is Role.PARTITION)
    sql = f"SELECT * FROM {snapshot.relation(ENGINE, Needs(tuple(map(EVIDENCE.seen, asked)), texts, paths=True), profile).source}"
    names = [row[0] for row in ENGINE.query(f"DESCRIBE {sql}")]
    rows = [dict(zip(names, row, strict=True)) for row in ENGINE.query(f"SELECT * FROM ({sql}) ORDER BY path")]
    for row in rows:
        for k, column in enumerate(asked):
            prefix = f"c{k}_"
            row[".".join(column.path)] = {name.removeprefix(prefix): row.pop(name) for name in names if name.startswith(prefix)}
    return rows


def paths(snapshot: Snapshot) -> list[str]:
    return [row["path"] for row in files(snapshot)]
