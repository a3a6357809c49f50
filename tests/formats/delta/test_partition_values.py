"""Partition values: the rules in SQL and in Python agree, and neither concludes more than every reader would."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakeprune.formats.delta.partition_sql import PartitionSql
from lakeprune.formats.delta.partition_values import values_of
from lakeprune.formats.relation import Needs, relation_of
from lakeprune.predicate.schema import Role
from lakeprune.predicate.tree import Column, Profile
from lakeprune.skipping.ladder import Seen
from lakeprune.values.time.zones import instant_of
from lakeprune.values.types import DataType, Kind
from tests.builders.delta import PROTOCOL, Log, add, bounds, metadata
from tests.builders.engine import ENGINE
from tests.formats.delta.relation import PROFILE, files, opened
from tests.scope import share_of

BERLIN = Profile(now=0, zone="Europe/Berlin", zone_is_given=True)
OFFSET = Profile(now=0, zone="-08:00", zone_is_given=True)
UTC = Profile(now=0, zone="UTC", zone_is_given=True)
KINDS = [Kind.BOOLEAN, Kind.BYTE, Kind.SHORT, Kind.INT, Kind.LONG, Kind.FLOAT, Kind.DOUBLE, Kind.STRING, Kind.BINARY]
TYPES = [
    *map(DataType, [*KINDS, Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMP_NTZ]),
    DataType(Kind.DECIMAL, 5, 2),
    DataType(Kind.DECIMAL, 38, 0),
]

_NUMBERS = st.one_of(
    st.integers(-(2**70), 2**70).map(str),
    st.sampled_from(
        ["0", "-0", "007", " 7", "7.0", "1e3", "1E-5", "1_0", "0x1", "+5", "300", "-129", "32768", "1.", ".5", "-", "--1"]
    ),
    st.decimals(-1000, 1000, allow_nan=False, places=3).map(str),
    st.floats().map(repr),
    st.sampled_from(
        ["NaN", "Infinity", "-Infinity", "nan", "inf", "1e400", "-1e400", "3.5e38", "3.4028235e38", "1e-400", "0E-18"]
    ),
)
_TIMES = st.builds(
    lambda y, m, d, sep, h, mi, s, f, z: f"{y:04}-{m:02}-{d:02}{sep}{h:02}:{mi:02}:{s:02}{f}{z}",
    st.sampled_from([0, 1, 1850, 1969, 1970, 1996, 2024, 2037, 2038, 9999]),
    st.integers(1, 13),
    st.integers(1, 31),
    st.sampled_from([" ", "T"]),
    st.integers(0, 25),
    st.integers(0, 60),
    st.integers(0, 60),
    st.sampled_from(["", ".1", ".123", ".123456", ".1234567", "."]),
    st.sampled_from(["", "Z", "+02:00", "-08:30", "+00:53:28", "+0200", " UTC", "+19:00", "z"]),
)
_DATES = st.builds(lambda y, m, d: f"{y:04}-{m:02}-{d:02}", st.integers(0, 9999), st.integers(0, 13), st.integers(0, 32))
_ODD = [
    "",
    "true",
    "false",
    "TRUE",
    "2024-1-5",
    "infinity",
    "epoch",
    "10000-01-01",
    "-0044-03-15",
    "a\\u0001",
    "\x01\x02",
    "\xff",
]
TEXTS = st.one_of(_NUMBERS, _TIMES, _DATES, st.text(max_size=5), st.sampled_from(_ODD), st.none())


def domains_in_sql(texts: Sequence[str | None], data_type: DataType, profile: Profile) -> list[dict[str, Any]]:
    """What the SQL rules make of each text."""
    sql = PartitionSql(ENGINE.dialect, 0, data_type, profile)
    rows = [(i, text, False) for i, text in enumerate(texts)]
    source = ENGINE.lookup(["i", "t0", "t0_missing"], ["BIGINT", "VARCHAR", "BOOLEAN"], rows)
    layer = f"SELECT *, {', '.join(sql.values())} FROM {source}"
    column = Column(("p",), ("p",), data_type, Role.PARTITION)
    items = sql.domains(Seen(column), relation_of(Needs((Seen(column),))))
    names = [item.rsplit(" AS ", 1)[1].removeprefix("c0_") for item in items]
    found = ENGINE.query(f"SELECT i, {', '.join(items)} FROM ({layer}) ORDER BY i")
    return [dict(zip(names, row[1:], strict=True)) for row in found]


def domain_in_sql(text: str | None, data_type: DataType, profile: Profile) -> dict[str, Any]:
    return domains_in_sql([text], data_type, profile)[0]


@settings(max_examples=share_of(150), deadline=None)
@given(st.lists(TEXTS, min_size=20, max_size=60), st.sampled_from(TYPES), st.sampled_from([PROFILE, UTC, OFFSET, BERLIN]))
def test_sql_and_python_agree(texts: list[str | None], data_type: DataType, profile: Profile) -> None:
    for text, found in zip(texts, domains_in_sql(texts, data_type, profile), strict=True):
        _agree(found, values_of(text, data_type, profile), data_type)


def _agree(found: dict[str, Any], values: tuple[Any, ...] | None, data_type: DataType) -> None:
    if values is None:
        if data_type.kind is Kind.TIMESTAMP and found["lo"] is not None:
            assert found["hi"] - found["lo"] == 36 * 3600 * 1_000_000
        else:
            known = [found[key] for key in ("lo", "hi", "no_null", "all_null", "counted")]
            assert known == [None, None, False, False, False]
        return
    plain = [v for v in values if v is not None and not (isinstance(v, float) and math.isnan(v))]
    assert found["counted"]
    assert found["all_null"] == (values == (None,))
    assert found["no_null"] == (None not in values)
    assert (found["lo"], found["hi"]) == ((min(plain), max(plain)) if plain else (None, None))
    if "nan_free" in found:
        assert found["nan_free"] == bool(plain)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(66_000_000, 2_140_000_000), min_size=30, max_size=60))
def test_local_time_of_a_zone_always_covers_the_instant_spark_reads(seconds: list[int]) -> None:
    # The hours around the changes of the clocks in 2024, which random times would miss.
    clocks = [*seconds, *range(1_711_843_200, 1_711_864_800, 900), *range(1_729_990_800, 1_730_012_400, 900)]
    texts = [str(datetime(1970, 1, 1) + timedelta(seconds=s)) for s in clocks]
    for clock, text, found in zip(clocks, texts, domains_in_sql(texts, DataType(Kind.TIMESTAMP), BERLIN), strict=True):
        true = instant_of(clock * 1_000_000, BERLIN.zone)
        assert found["lo"] <= true <= found["hi"]
        assert true in (values_of(text, DataType(Kind.TIMESTAMP), BERLIN) or ())


def test_timestamp_text_without_zone_is_widened_unless_the_zone_is_given() -> None:  # T9
    kind, text = DataType(Kind.TIMESTAMP), "2024-01-15 16:00:00"
    true = instant_of(1_705_334_400_000_000, "America/Los_Angeles")
    found = domain_in_sql(text, kind, PROFILE)
    assert found["lo"] <= true <= found["hi"]
    assert values_of(text, kind, PROFILE) is None
    given_zone = Profile(now=0, zone="America/Los_Angeles", zone_is_given=True)
    assert values_of(text, kind, given_zone) == (true,)
    found = domain_in_sql(text, kind, given_zone)
    assert (found["lo"], found["hi"]) == (true, true)


@pytest.mark.parametrize(("kind", "text", "values"), [
    (Kind.STRING, "", (None, "")),
    (Kind.BINARY, "", (None, b"")),
    (Kind.INT, "", (None,)),
    (Kind.STRING, "__HIVE_DEFAULT_PARTITION__", ("__HIVE_DEFAULT_PARTITION__",)),
    (Kind.STRING, "x%20y", ("x%20y",)),
    (Kind.INT, "007", None),
    (Kind.INT, " 7", None),
    (Kind.INT, "7.0", None),
    (Kind.BYTE, "300", None),
    (Kind.DATE, "2024-1-5", None),
    (Kind.DATE, "2024-01-05", (19727,)),
    (Kind.TIMESTAMP, "2024-01-01T00:00:00.000000Z", (1_704_067_200_000_000,)),
    (Kind.TIMESTAMP_NTZ, "2024-01-01 00:00:00", (1_704_067_200_000_000,)),
    (Kind.FLOAT, "3.4", (3.4000000953674316,)),
    (Kind.BINARY, "\x01ab", (b"\x01ab",)),
    (Kind.BINARY, "\\u0001", None),
    (Kind.BINARY, "\xff", None),
])  # fmt: skip
def test_values_of_partition_texts(kind: Kind, text: str, values: Any) -> None:  # T43, T44, T46
    assert values_of(text, DataType(kind), PROFILE) == values


def test_decimal_partition_values_are_exact() -> None:
    kind = DataType(Kind.DECIMAL, 38, 18)
    assert values_of("12345678901234567890.123456789012345678", kind, PROFILE) == (
        Decimal("12345678901234567890.123456789012345678"),
    )
    assert values_of("1.0000000000000000001", kind, PROFILE) is None


def test_partition_columns_of_a_table(tmp_path: Path) -> None:  # T44, T45
    head = metadata({"p": "string", "x": "long"}, ["p"])
    values: list[dict[str, str | None]] = [{"p": "a"}, {"p": None}, {"p": ""}, {}]
    stats = {**bounds(1, 2), "minValues": {"p": "wrong"}, "maxValues": {"p": "wrong"}, "nullCount": {"p": 0}}
    log = Log(tmp_path / "t").commit(0, PROTOCOL, head, *(add(f"{i}/p=zzz", stats, partition=v) for i, v in enumerate(values)))
    found = files(opened(log.path))
    facts = [tuple(file["p"][key] for key in ("lo", "hi", "no_null", "all_null", "counted")) for file in found]
    assert facts == [
        ("a", "a", True, False, True),
        (None, None, False, True, True),
        ("", "", False, False, True),
        (None, None, False, False, False),
    ]
    assert [(file["p0"], file["p0_missing"]) for file in found] == [("a", False), (None, False), ("", False), (None, True)]
    assert [file["partition"] for file in found] == ['{"p":"a"}', '{"p":null}', '{"p":""}', '{"p":null}']


def test_partition_columns_are_found_by_physical_name_and_shown_by_logical(tmp_path: Path) -> None:  # T52
    field = {"name": "p", "type": "string", "nullable": True, "metadata": {"delta.columnMapping.physicalName": "col-1"}}
    head = metadata({"p": field}, ["p"], {"delta.columnMapping.mode": "id"})
    log = Log(tmp_path / "t").commit(0, PROTOCOL, head, add("a", partition={"col-1": "x", "p": "wrong"}))
    (file,) = files(opened(log.path))
    assert (file["p"]["lo"], file["partition"]) == ("x", '{"p":"x"}')


def test_snapshot_gives_the_same_values_as_the_rules(tmp_path: Path) -> None:
    log = Log(tmp_path / "t").commit(0, PROTOCOL, metadata({"p": "integer"}, ["p"]), add("a", partition={"p": "7"}))
    column = Column(("p",), ("p",), DataType(Kind.INT), Role.PARTITION)
    assert opened(log.path).partition_values("7", column, PROFILE) == (7,)
