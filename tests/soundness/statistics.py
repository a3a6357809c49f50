"""The statistics of one file: what a writer recorded, minus what got lost on the way."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from tests.generator.columns import ColumnSpec
from tests.generator.values import DECIMALS, FLOATS, INTEGERS, TIMESTAMPS
from tests.soundness.writers import NOTHING, Bounds, Writer, bounds_of, fragment

BROKEN_TEXTS = (None, "", "{}", '{"numRecords":', "null")


@dataclass(frozen=True)
class Statistics:
    """`broken` replaces the whole text: not recorded, empty or cut short. `recorded` is the text of a real writer."""

    writer: Writer
    rows: int | None
    bounds: Mapping[ColumnSpec, Bounds]
    nulls: Mapping[ColumnSpec, int | None]
    tight: bool | None = None
    broken: bool = False
    broken_text: str | None = None
    recorded: str | None = None

    def text(self) -> str | None:
        """The JSON text of `add.stats`; fragments are kept as the writer spelled them."""
        if self.broken:
            return self.broken_text
        if self.recorded is not None:
            return self.recorded
        parts = [] if self.rows is None else [f'"numRecords":{self.rows}']
        lows = _tree({c: b.lo_json for c, b in self.bounds.items() if b.lo_json is not None})
        highs = _tree({c: b.hi_json for c, b in self.bounds.items() if b.hi_json is not None})
        nulls = _tree({c: str(n) for c, n in self.nulls.items() if n is not None})
        parts += [f'"minValues":{lows}', f'"maxValues":{highs}', f'"nullCount":{nulls}']
        if self.tight is not None:
            parts.append(f'"tightBounds":{str(self.tight).lower()}')
        return "{" + ",".join(parts) + "}"

    def degraded(self, rng: Random) -> Statistics:
        """Less knowledge: some statistic missing or some bound wider, for every file the same or another one."""
        way = rng.randrange(5)
        if way == 0:
            return replace(self, broken=True, broken_text=rng.choice(BROKEN_TEXTS)) if not self.broken else self
        if way == 1:
            return replace(self, bounds={c: replace(b, lo=None, lo_json=None) for c, b in self.bounds.items()})
        if way == 2:
            return replace(self, bounds={c: replace(b, hi=None, hi_json=None) for c, b in self.bounds.items()})
        if way == 3:
            return replace(self, nulls=dict.fromkeys(self.nulls))
        return replace(self, bounds={c: widened(b, c, self.writer, rng) for c, b in self.bounds.items()})


def random_statistics(
    columns: Sequence[ColumnSpec],
    rows: Sequence[Mapping[tuple[str, ...], Any]],
    deleted: frozenset[int],
    writer: Writer,
    rng: Random,
) -> Statistics:
    """What the writer recorded: over all rows, or over live rows where it says the bounds are tight."""
    live = [row for i, row in enumerate(rows) if i not in deleted]
    tight: bool | None = rng.choice([None, True]) if not deleted else rng.choice([None, True, False, False])
    counted = live if deleted and tight is True and rng.random() < 0.5 else rows
    bounds = {c: bounds_of([row[c.path] for row in counted], c.type, writer) for c in columns}
    nulls: dict[ColumnSpec, int | None] = {c: sum(row[c.path] is None for row in counted) for c in columns}
    if tight is False:
        bounds = {c: widened(b, c, writer, rng) for c, b in bounds.items()}
    if rng.random() < 0.35:  # some statistics are missing
        share = rng.choice([0.1, 0.5, 1.0])
        bounds = {c: NOTHING if rng.random() < share else _one_sided(b, rng) for c, b in bounds.items()}
        nulls = {c: None if rng.random() < share else n for c, n in nulls.items()}
    whole = None if rng.random() < 0.06 else len(rows)
    broken = rng.random() < 0.08
    return Statistics(writer, whole, bounds, nulls, tight, broken, rng.choice(BROKEN_TEXTS))


def widened(bounds: Bounds, column: ColumnSpec, writer: Writer, rng: Random) -> Bounds:
    """Bounds further out, spelled by the same writer; NaN and missing bounds stay."""
    if bounds.lo is None or bounds.hi is None or column.type in (*FLOATS, "boolean", *DECIMALS):
        return bounds
    step = 0
    if column.type in INTEGERS or column.type == "date":
        step = rng.randint(0, 20)
    elif column.type in TIMESTAMPS:
        step = rng.randint(0, 20) * 1000
    if column.type == "string":
        lo, hi = bounds.lo[: rng.randint(0, len(bounds.lo))], bounds.hi
    else:
        lo, hi = bounds.lo - step, bounds.hi + step
    if column.type in INTEGERS and not -(2 ** INTEGERS[column.type]) <= lo <= hi < 2 ** INTEGERS[column.type]:
        return bounds
    if column.type not in INTEGERS and column.type != "string" and step:
        unit = 86_400_000_000 if column.type == "date" else 1
        if not -62135596800000000 <= lo * unit <= hi * unit <= 253402300799999999:
            return bounds
    return Bounds(lo, hi, fragment(lo, column.type, writer), fragment(hi, column.type, writer))


def _one_sided(bounds: Bounds, rng: Random) -> Bounds:
    dice = rng.random()
    if dice < 0.2:
        return replace(bounds, lo=None, lo_json=None)
    return replace(bounds, hi=None, hi_json=None) if dice < 0.4 else bounds


def _tree(leaves: Mapping[ColumnSpec, str]) -> str:
    """Nested JSON by physical names, around fragments that are already JSON."""
    root: dict[str, Any] = {}
    for column, text in leaves.items():
        at = root
        for part in column.physical[:-1]:
            at = at.setdefault(part, {})
        at[column.physical[-1]] = text
    return _printed(root)


def _printed(node: Mapping[str, Any] | str) -> str:
    if isinstance(node, str):
        return node
    return "{" + ",".join(f"{json.dumps(key)}:{_printed(child)}" for key, child in node.items()) + "}"
