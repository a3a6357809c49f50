"""Bounds of decimals: exact where their text is, widened by what a double and a 64-bit integer lose."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from tests.formats.delta.test_statistics import domain


@pytest.mark.parametrize(("kind", "text", "expected"), [
    ("decimal(10,2)", "123.45", ("123.45", "123.45")),
    ("decimal(38,2)", "12345678901234567890.12", ("12345678901234567890.12", "12345678901234567890.12")),
    ("decimal(38,18)", "1.000000000000000001", ("1.000000000000000001", "1.000000000000000001")),
    ("decimal(20,0)", "12345678901234567891", ("12345678901234567891", "12345678901234567891")),
    ("decimal(18,2)", "12.34", ("12.34", "12.34")),
    ("decimal(10,2)", '"7.5"', ("7.50", "7.50")),
    ("decimal(10,2)", "true", (None, None)),
    ("decimal(38,0)", "1e39", (None, None)),
])  # fmt: skip
def test_decimal_bounds_keep_every_digit(tmp_path: Path, kind: str, text: str, expected: tuple[str | None, ...]) -> None:  # T25
    stats = f'{{"numRecords":2,"minValues":{{"x":{text}}},"maxValues":{{"x":{text}}},"nullCount":{{"x":0}}}}'
    found = domain(tmp_path, kind, stats)
    assert (found["lo"], found["hi"]) == tuple(None if e is None else Decimal(e) for e in expected)


@pytest.mark.parametrize(("kind", "text", "held"), [
    ("decimal(18,0)", "1000000000000000000", ("999999999999999999", "1000000000000000001")),
    ("decimal(18,0)", "1e18", ("999999999999999999", "1000000000000000001")),
    ("decimal(18,0)", "1.0E18", ("999999999999999999", "1000000000000000001")),
    ("decimal(18,0)", "1000000000000000000.0", ("999999999999999999", "1000000000000000001")),
    ("decimal(20,0)", "-5163575153583592448", ("-5163575153583593754", "-5163575153583592448")),
    ("decimal(38,2)", "12345678901234567168.00", ("12345678901234567890.12", "12345678901234567168")),
    ("decimal(38,30)", "-0.0001234567890123456", ("-0.00012345678901234561", "-0.00012345678901234559")),
    ("decimal(19,0)", "9223372036854775807", ("9223372036854775806", "9223372036854775807")),
])  # fmt: skip
def test_decimal_that_passed_through_a_double_is_widened(
    tmp_path: Path, kind: str, text: str, held: tuple[str, str]
) -> None:  # T25
    stats = f'{{"numRecords":2,"minValues":{{"x":{text}}},"maxValues":{{"x":{text}}},"nullCount":{{"x":0}}}}'
    found = domain(tmp_path, kind, stats)
    assert all(found["lo"] <= Decimal(value) <= (found["hi"] or Decimal("Infinity")) for value in held)


@pytest.mark.parametrize("text", ["9223372036854775807", "9223372036854775808", "9.223372036854776e18", "9223372036854776000.0"])
@pytest.mark.parametrize("kind", ["decimal(20,0)", "decimal(38,0)", "decimal(38,10)"])
def test_decimal_at_the_end_of_64_bits_is_unbounded_on_that_side(tmp_path: Path, kind: str, text: str) -> None:  # T93
    stats = '{{"numRecords":2,"minValues":{{"x":{0}}},"maxValues":{{"x":{0}}},"nullCount":{{"x":0}}}}'
    high, low = (domain(tmp_path, kind, stats.format(sign + text)) for sign in ("", "-"))
    assert (high["hi"], low["lo"]) == (None, None)
    assert Decimal(2**63 - 2**17) < high["lo"] < Decimal(2**63)
    assert Decimal(-(2**63)) < low["hi"] < Decimal(2**17 - 2**63)


def test_unscaled_digits_at_the_end_of_64_bits_are_unbounded_on_that_side(tmp_path: Path) -> None:  # T93
    stats = '{"numRecords":2,"minValues":{"x":92233720368547758.07},"maxValues":{"x":92233720368547758.07},"nullCount":{"x":0}}'
    found = domain(tmp_path, "decimal(38,2)", stats)
    assert (found["lo"] < Decimal("92233720368547758.08"), found["hi"]) == (True, None)


def test_decimal_margin_at_the_end_of_the_range_is_unbounded(tmp_path: Path) -> None:
    text = "9" + "0" * 37
    stats = f'{{"numRecords":2,"minValues":{{"x":-{text}}},"maxValues":{{"x":{text}}},"nullCount":{{"x":0}}}}'
    found = domain(tmp_path, "decimal(38,0)", stats)
    assert found["lo"] is None or found["lo"] <= Decimal(f"-{text}")
    assert found["hi"] is None or found["hi"] >= Decimal(text)
