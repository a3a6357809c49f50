"""Statistics as typed columns of a checkpoint (stats_parsed): read like the JSON ones, which win where both are there."""

from __future__ import annotations

import json
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tests.builders.delta import PROTOCOL, Log, add, bounds, metadata
from tests.formats.delta.relation import files, opened
from tests.formats.delta.test_statistics import NAN_AWARE, micros


def _parsed(kind: pa.DataType) -> pa.DataType:
    leaf = pa.struct([("x", kind)])
    return pa.struct(
        [("numRecords", pa.int64()), ("minValues", leaf), ("maxValues", leaf), ("nullCount", pa.struct([("x", pa.int64())]))]
    )


def _checkpointed(tmp_path: Path, kind: str, stored: pa.DataType, low: Any, high: Any, text: Any = None) -> dict[str, Any]:
    action = add("a", text)
    action["add"]["stats_parsed"] = bounds(low, high)
    log = Log(tmp_path / f"t{len(list(tmp_path.iterdir()))}").checkpoint(
        0, PROTOCOL, metadata({"x": kind}), action, parsed=_parsed(stored)
    )
    found: dict[str, Any] = files(opened(log.path), NAN_AWARE)[0]["x"]
    return found


_AT = datetime(2024, 1, 1, 12, 0, 0, 123000)


@pytest.mark.parametrize(("kind", "stored", "low", "high", "expected"), [
    ("long", pa.int64(), 1, 2, (1, 2)),
    ("long", pa.int32(), 1, 2, (1, 2)),
    ("long", pa.float64(), 1.0, 2.0, (None, None)),
    ("double", pa.float32(), 1.5, 2.5, (1.5, 2.5)),
    ("double", pa.int32(), 1, 2, (1.0, 2.0)),
    ("double", pa.float64(), 1.0, float("nan"), (1.0, None)),
    ("date", pa.date32(), datetime(2024, 1, 5).date(), datetime(2024, 1, 5).date(), (19727, 19727)),
    ("timestamp", pa.timestamp("us", "UTC"), _AT, _AT, (micros("2024-01-01T12:00:00.123"), micros("2024-01-01T12:00:00.123999"))),
    ("timestamp", pa.timestamp("us"), _AT, _AT, (micros("2024-01-01T12:00:00.123"), micros("2024-01-01T12:00:00.123999"))),
    ("timestamp_ntz", pa.date32(), _AT.date(), _AT.date(), (micros("2024-01-01T00:00:00"), micros("2024-01-01T00:00:00.000999"))),
    ("timestamp", pa.int64(), 5, 5, (None, None)),
    ("decimal(12,4)", pa.decimal128(10, 2), Decimal("1.25"), Decimal("2.50"), (Decimal("1.25"), Decimal("2.5"))),
    ("decimal(20,0)", pa.int64(), 5, 6, (Decimal(5), Decimal(6))),
    ("string", pa.string(), "a", "b" * 32, ("a", "b" * 32)),
    ("string", pa.binary(), b"a", b"b", (None, None)),
    ("boolean", pa.bool_(), False, True, (False, True)),
    ("long", pa.int64(), 9, 1, (None, None)),
])  # fmt: skip
def test_typed_statistics_of_a_checkpoint(
    tmp_path: Path, kind: str, stored: Any, low: Any, high: Any, expected: Any
) -> None:  # T57
    found = _checkpointed(tmp_path, kind, stored, low, high)
    assert ((found["lo"], found["hi"]), found["no_null"]) == (expected, True)


def test_json_statistics_win_over_typed_ones(tmp_path: Path) -> None:  # T73
    text = json.dumps(bounds("2024-01-01T12:00:00.000001Z", "2024-01-01T12:00:00.123456Z", 3))
    found = _checkpointed(tmp_path, "timestamp", pa.timestamp("us", "UTC"), _AT, _AT, text)
    assert (found["hi"], found["no_null"]) == (micros("2024-01-01T12:00:00.123456"), False)


def test_typed_nan_is_seen(tmp_path: Path) -> None:
    assert _checkpointed(tmp_path, "double", pa.float64(), 1.0, float("nan"))["nan_free"] is False
    assert _checkpointed(tmp_path, "double", pa.float64(), 1.0, 2.0)["nan_free"] is True
