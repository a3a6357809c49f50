"""The Iceberg table of the docs: flights of four missions over eight days, partitioned by mission and by day, a manifest each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.formats.iceberg.tables import Entry, Layout, SpecField, column, encoded, write_table

_DAY = 86_400_000_000
_FIRST_DAY = 19_781  # 2024-02-28


def flights(root: Path) -> Path:
    """Metadata only: no command of the docs opens a data file."""
    columns = [column(1, "mission_id", "string"), column(2, "ts", "timestamp"), column(3, "panel_voltage", "double")]
    spec = [SpecField(1, "identity", "mission_id", 1000, "string"), SpecField(2, "day", "ts_day", 1001, "int")]
    entries = []
    for number, mission in enumerate(("apollo-7", "gemini-4", "soyuz-1", "vostok-6")):
        for day in range(_FIRST_DAY, _FIRST_DAY + 8):
            volts = 26.0 + (number + day) % 4
            metrics: dict[str, dict[int, Any]] = {
                "value_counts": {2: 1000, 3: 1000},
                "null_value_counts": {2: 0, 3: 0},
                "nan_value_counts": {3: 0},
                "lower_bounds": {2: encoded(day * _DAY, "timestamp"), 3: encoded(volts, "double")},
                "upper_bounds": {2: encoded((day + 1) * _DAY - 1, "timestamp"), 3: encoded(volts + 0.9, "double")},
            }
            path = f"{root}/data/mission_id={mission}/ts_day={day}/00000.parquet"
            entries.append(Entry(path, 1000, 250_000, tuple={1000: mission, 1001: day}, metrics=metrics))
    return write_table(root, columns, entries, {0: spec}, Layout(per_manifest=8))
