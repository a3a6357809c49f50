"""Partition values as Delta logs record them, with every value the text may stand for."""

from __future__ import annotations

import math
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.generator.columns import ColumnSpec
from tests.generator.texts import date_text, timestamp_text
from tests.generator.values import NAN


@dataclass(frozen=True)
class Recorded:
    """`text` as in partitionValues. `value` is what it means; `readings` what else it may mean to some reader.

    `local` says that a timestamp was recorded without an offset, so the reader's zone decides.
    """

    text: str | None
    value: Any
    empty_is_ambiguous: bool = False
    local: bool = False


def record_value(column: ColumnSpec, rng: Random) -> Recorded:
    dice = rng.random()
    if dice < 0.12:
        return Recorded(None, None)
    if dice < 0.2:
        return Recorded("", None, empty_is_ambiguous=column.type == "string")
    value: Any = NAN if column.type == "double" and rng.random() < 0.15 else rng.choice(column.pool[:6])
    if value == "" and column.type == "string":
        return Recorded("", None, empty_is_ambiguous=True)
    if column.type == "timestamp" and rng.random() < 0.5:
        return Recorded(timestamp_text(value), value, local=True)
    return Recorded(spell(value, column.type, rng), value)


def spell(value: Any, type_: str, rng: Random) -> str:
    if type_ == "boolean":
        return "true" if value else "false"
    if type_ == "date":
        return date_text(value)
    if type_ == "timestamp":
        return timestamp_text(value, "T") + "Z"
    if type_ == "timestamp_ntz":
        return timestamp_text(value, rng.choice([" ", "T"]))
    if type_ == "double":
        if math.isnan(value) or math.isinf(value):
            return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        return repr(value)
    return f"{value:f}" if type_.startswith("decimal") else str(value)
