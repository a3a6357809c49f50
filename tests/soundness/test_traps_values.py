"""The traps of values: floats, time, strings, numbers, NULLs and expressions. Numbers are those of the trap list."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeprune.errors import PredicateError
from tests.builders.delta import Action, add, field, metadata, statistics, write_log
from tests.soundness.judging import MODERN, judge, one_column, partition_verdict, verdict

A32 = "a" * 32
FLOWER = "\U0001f33c"


@pytest.mark.parametrize("where", ["x > 100", "NOT (x < 10)", "x >= 3", "x <> 1.5", "x NOT BETWEEN 0 AND 9"])
def test_t01_nan_outside_the_bounds_keeps_the_file(tmp_path: Path, where: str) -> None:
    assert verdict(tmp_path, "double", (1.0, 2.0, 0), where) == "KEEP"


def test_t01_not_equal_to_the_only_value_is_kept_since_nan_differs(tmp_path: Path) -> None:
    assert verdict(tmp_path, "double", (5.0, 5.0, 0), "x <> 5") == "KEEP"


@pytest.mark.parametrize("where", ["x BETWEEN 6 AND 9", "x < 1", "x = 7", "x IN (6, 7)"])
def test_t01_comparisons_that_reject_nan_still_drop(tmp_path: Path, where: str) -> None:
    assert verdict(tmp_path, "double", (1.0, 2.0, 0), where) == "DROP"


def test_t01_nan_aware_writers_allow_the_drop(tmp_path: Path) -> None:
    assert verdict(tmp_path, "double", (1.0, 2.0, 0), "x > 100", nan_policy="spark-writers") == "DROP"


@pytest.mark.parametrize(("low", "high"), [("NaN", "NaN"), (1.0, "NaN")])
def test_t02_nan_stored_as_a_bound_leaves_that_side_open(tmp_path: Path, low: object, high: object) -> None:
    assert verdict(tmp_path, "double", (low, high, 0), "x < 3", nan_policy="spark-writers") == "KEEP"
    assert verdict(tmp_path, "double", (low, high, 0), "x > 100", nan_policy="spark-writers") == "KEEP"


@pytest.mark.parametrize("where", ["x = 0.0", "x >= 0.0", "x IN (0.0)", "x = -0.0", "x <= -0.0"])
def test_t03_signed_zeros_are_equal(tmp_path: Path, where: str) -> None:
    for zero in (-0.0, 0.0):
        assert verdict(tmp_path / str(zero), "double", (zero, zero, 0), where) != "DROP"


def test_t04_quoted_infinity_is_a_bound(tmp_path: Path) -> None:
    assert verdict(tmp_path, "double", (0.0, "Infinity", 0), "x > 1e308") == "KEEP"
    assert verdict(tmp_path, "double", (0.0, "Infinity", 0), "x < -1") == "DROP"


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
def test_t04_bare_words_are_conservative(tmp_path: Path, word: str) -> None:
    text = f'{{"numRecords":2,"minValues":{{"x":{word}}},"maxValues":{{"x":{word}}},"nullCount":{{"x":0}}}}'
    one_column(tmp_path, "double", [add("f", stats=text)])
    if word == "NaN":
        assert judge(tmp_path / "table", "x = 5")["f"] == "KEEP"
    assert judge(tmp_path / "table", f"x = CAST('{word}' AS DOUBLE)")["f"] == "KEEP"


@pytest.mark.parametrize(("type_", "zone"), [("timestamp", "Z"), ("timestamp_ntz", "")])
def test_t05_millisecond_maximum_is_widened(tmp_path: Path, type_: str, zone: str) -> None:
    bounds = (f"2024-01-15T12:00:00.000{zone}", f"2024-01-15T12:00:00.000{zone}", 0)
    assert verdict(tmp_path, type_, bounds, "x > '2024-01-15 12:00:00.0004'") == "KEEP"
    assert verdict(tmp_path, type_, bounds, "x > '2024-01-15 12:00:00.000999'") == "DROP"


@pytest.mark.parametrize("low", ["1969-12-31T23:59:59.999Z", "1970-01-01T00:00:00.000Z"])
def test_t05_minimum_cut_towards_1970_is_widened(tmp_path: Path, low: str) -> None:
    """-500 us cut towards zero is 1970 itself: the widening must include that value."""
    bounds = (low, "1970-01-01T00:00:01.000Z", 0)
    below = "1969-12-31 23:59:59.9985" if low.startswith("1969") else "1969-12-31 23:59:59.9995"
    assert verdict(tmp_path, "timestamp", bounds, f"x < '{below}Z'") == "KEEP"


def test_t05_finer_bounds_were_not_cut(tmp_path: Path) -> None:
    bounds = ("2024-01-15T12:00:00.000100Z", "2024-01-15T12:00:00.000500Z", 0)
    assert verdict(tmp_path, "timestamp", bounds, "x > '2024-01-15 12:00:00.0005Z'") == "DROP"


def test_t06_widening_at_the_end_of_time_does_not_overflow(tmp_path: Path) -> None:
    bounds = ("9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z", 0)
    assert verdict(tmp_path, "timestamp", bounds, "x > '9999-12-31 23:59:59.9991Z'") == "KEEP"


def test_t07_a_literal_finer_than_the_column_is_not_cut(tmp_path: Path) -> None:
    bounds = ("2024-01-15T12:00:00.000500Z", "2024-01-15T12:00:00.000500Z", 0)
    assert verdict(tmp_path, "timestamp", bounds, "x <= '2024-01-15 12:00:00.0005Z'") == "FULL"
    assert verdict(tmp_path, "timestamp", bounds, "x < '2024-01-15 12:00:00.0005Z'") == "DROP"


def test_t08_old_offsets_that_lost_their_seconds_are_widened(tmp_path: Path) -> None:
    """Stockholm 1850: the offset was +00:53:28, the statistic says +00:53; the true instant is 28 s earlier."""
    bounds = ("1850-01-01T00:53:00.000+00:53", "1850-01-01T00:53:00.000+00:53", 0)
    assert verdict(tmp_path, "timestamp", bounds, "x = '1849-12-31 23:59:32Z'") == "KEEP"


def test_t09_partition_timestamp_without_offset_is_widened_until_the_zone_is_given(tmp_path: Path) -> None:
    where = "p = TIMESTAMP '2024-01-16 00:00:00Z'"
    text = "2024-01-15 16:00:00"
    assert partition_verdict(tmp_path, "timestamp", text, where) == "KEEP"
    assert partition_verdict(tmp_path, "timestamp", text, where, timezone="America/Los_Angeles") == "FULL"
    assert partition_verdict(tmp_path, "timestamp", text, where, timezone="UTC") == "DROP"


@pytest.mark.parametrize("moment", ["2024-01-14 22:00:00Z", "2024-01-16 10:00:00Z"])
def test_t09_sessions_of_spark_may_be_18_hours_from_utc(tmp_path: Path, moment: str) -> None:
    where = f"p = TIMESTAMP '{moment}'"  # what 16:00 is at +18:00 and at -18:00
    assert partition_verdict(tmp_path, "timestamp", "2024-01-15 16:00:00", where) == "KEEP"


def test_t09_partition_timestamp_with_offset_is_exact(tmp_path: Path) -> None:
    text = "2024-01-15T16:00:00.000000Z"
    assert partition_verdict(tmp_path, "timestamp", text, "p = TIMESTAMP '2024-01-15 16:00:00Z'") == "FULL"
    assert partition_verdict(tmp_path, "timestamp", text, "p > TIMESTAMP '2024-01-15 16:00:00Z'") == "DROP"


def test_t10_t13_a_local_date_that_goes_backwards_is_kept(tmp_path: Path) -> None:
    """St John's, 2010-11-07: at 00:01 the clock went back to 23:01, so a later instant has the earlier date."""
    bounds = ("2010-11-07T02:29:00.000001Z", "2010-11-07T03:00:00.000001Z", 0)
    where = "CAST(x AS DATE) = DATE '2010-11-07'"
    assert verdict(tmp_path, "timestamp", bounds, where, timezone="America/St_Johns") == "KEEP"


@pytest.mark.parametrize("maximum", [A32 + "\ufffd", A32 + "\x7f", A32, A32 + "\U0010ffff"])
def test_t16_truncated_max_with_supplementary_character_is_kept(tmp_path: Path, maximum: str) -> None:
    assert verdict(tmp_path, "string", (A32, maximum, 0), f"x = '{A32}{FLOWER}'") == "KEEP"


def test_t16_half_a_surrogate_pair_is_stripped(tmp_path: Path) -> None:
    """31 letters and a flower, cut at 32 units by an old writer: the half pair became '?'."""
    assert verdict(tmp_path, "string", ("a" * 31, "a" * 31 + "?\ufffd", 0), f"x = '{'a' * 31}{FLOWER}'") == "KEEP"


def test_t16_half_a_pair_in_the_maximum_is_no_reason_to_discard_both(tmp_path: Path) -> None:
    """ "aaa?" sorts below its own minimum "aaaa": not insane (T24), only cut."""
    assert verdict(tmp_path, "string", (A32, "a" * 31 + "?\ufffd", 0), "x > 'b'") == "DROP"


def test_t16_a_shorter_prefix_length_is_read_from_the_table(tmp_path: Path) -> None:
    one_column(
        tmp_path, "string", [add("f", stats=statistics(1, x=("aaaa", "aaaa", 0)))], {"delta.dataSkippingStringPrefixLength": "4"}
    )
    assert judge(tmp_path / "table", "x = 'aaaazz'")["f"] == "KEEP"
    assert judge(tmp_path / "table", "x = 'b'")["f"] == "DROP"


def test_t17_strings_compare_as_utf8_not_utf16(tmp_path: Path) -> None:
    """U+1F33C is above U+FFFF in UTF-8 and below it in UTF-16."""
    assert verdict(tmp_path, "string", ("a", "\uffff", 0), f"x >= '{FLOWER}'") == "DROP"
    assert verdict(tmp_path, "string", ("a", "\uffff", 0), "x >= '\ufffe'") == "KEEP"


def test_t18_a_cut_bound_is_not_a_value(tmp_path: Path) -> None:
    assert verdict(tmp_path, "string", (A32, A32, 0), f"x <> '{A32}'") == "KEEP"
    assert verdict(tmp_path, "string", (A32, A32, 0), f"x = '{A32}'") == "KEEP"


def test_t18_a_floored_timestamp_is_not_a_value(tmp_path: Path) -> None:
    stamp = "2024-01-15T12:00:00.000Z"
    assert verdict(tmp_path, "timestamp", (stamp, stamp, 0), "x <> '2024-01-15 12:00:00Z'") == "KEEP"


def test_t19_t20_collated_and_padded_strings_are_not_judged_by_binary_bounds(tmp_path: Path) -> None:
    about: list[Action] = [{"__COLLATIONS": {"x": "spark.UTF8_LCASE"}}, {"__CHAR_VARCHAR_TYPE_STRING": "char(3)"}]
    for number, extra in enumerate(about):
        head = metadata({"x": field("x", "string", extra)})
        table = write_log(tmp_path / str(number), [[MODERN, head, add("f", stats=statistics(1, x=("ABC", "ABC", 0)))]])
        assert judge(table, "x = 'abc'")["f"] == "KEEP"
        assert judge(table, "x > 'ABC'")["f"] == "KEEP"


@pytest.mark.parametrize("where", ["x ILIKE 'k%'", "lower(x) = 'kx'", "upper(x) LIKE 'K%'"])
def test_t21_case_folding_is_not_ascii(tmp_path: Path, where: str) -> None:
    kelvin = "\u212ax"
    assert verdict(tmp_path, "string", (kelvin, kelvin, 0), where) == "KEEP"


def test_t22_an_escaped_wildcard_belongs_to_the_prefix(tmp_path: Path) -> None:
    assert verdict(tmp_path, "string", ("a_bc", "a_bc", 0), r"x LIKE 'a\\_b%'") == "FULL"
    assert verdict(tmp_path, "string", ("a_bc", "a_bc", 0), r"x LIKE 'a!_b%' ESCAPE '!'") == "FULL"
    assert verdict(tmp_path, "string", ("azbc", "azbc", 0), r"x LIKE 'a_b%'") == "KEEP"


def test_t24_min_above_max_discards_both(tmp_path: Path) -> None:
    assert verdict(tmp_path, "string", ("b", "a", 0), "x = 'c'") == "KEEP"
    assert verdict(tmp_path / "n", "integer", (9, 1, 0), "x = 100") == "KEEP"


def test_t25_decimals_written_through_doubles_are_widened(tmp_path: Path) -> None:
    one_column(
        tmp_path,
        "decimal(18,0)",
        [add("f", stats='{"numRecords":1,"minValues":{"x":1e18},"maxValues":{"x":1e18},"nullCount":{"x":0}}')],
    )
    assert judge(tmp_path / "table", "x <= 999999999999999998")["f"] == "KEEP"
    assert judge(tmp_path / "table", "x < 999999999999990000")["f"] == "DROP"


def test_t25_long_decimals_are_read_exactly(tmp_path: Path) -> None:
    text = '{"numRecords":1,"minValues":{"x":12345678901234567890.1234567890},"maxValues":{"x":12345678901234567890.1234567890}}'
    one_column(tmp_path, "decimal(38,10)", [add("f", stats=text)])
    assert judge(tmp_path / "table", "x < 12345678901234567890.1234567890")["f"] == "DROP"
    assert judge(tmp_path / "table", "x > 12345678901234567890.1234567889")["f"] == "KEEP"


def test_t26_a_finer_literal_is_not_rounded_into_the_column(tmp_path: Path) -> None:
    assert verdict(tmp_path, "decimal(5,2)", (1.01, 1.01, 0), "x > 1.006") == "FULL"
    assert verdict(tmp_path / "i", "integer", (3, 3, 0), "x < 3.5") == "FULL"
    assert verdict(tmp_path / "j", "integer", (1, 9, 0), "x = 3.5") == "DROP"


def test_t26_a_float_column_against_a_decimal_keeps_every_reading(tmp_path: Path) -> None:
    """The FLOAT nearest to 0.1 is 0.100000001490116; its statistic is written `0.1`."""
    assert verdict(tmp_path, "float", (0.1, 0.1, 0), "x = 0.1") == "KEEP"
    assert verdict(tmp_path, "float", (0.1, 0.1, 0), "x > 0.1 AND x < 1") == "KEEP"


def test_t26_one_double_in_a_list_makes_every_comparison_one_of_doubles(tmp_path: Path) -> None:
    """Spark brings the list to one type, and 2**53 + 1 is 2**53 as a double."""
    bounds = (9007199254740993, 9007199254740993, 0)
    assert verdict(tmp_path, "long", bounds, "x IN (1.5D, 9007199254740992)") == "KEEP"
    assert verdict(tmp_path, "long", bounds, "x NOT IN (1.5D, 9007199254740992)") == "KEEP"
    assert verdict(tmp_path, "long", bounds, "x IN (1, 9007199254740992)") == "DROP"


def test_t26_an_integer_against_a_float_may_be_rounded_to_one(tmp_path: Path) -> None:
    bounds = (16777217, 16777217, 0)
    assert verdict(tmp_path, "long", bounds, "x = CAST('16777216' AS FLOAT)") == "KEEP"
    assert verdict(tmp_path, "long", bounds, "x > CAST('16777216' AS FLOAT)") == "KEEP"


def test_t26_text_beside_a_timestamp_keeps_its_hours(tmp_path: Path) -> None:
    day = ("2024-01-01", "2024-01-01", 0)
    mixed = "(TIMESTAMP '2024-01-01 01:00:00', '2024-01-01 02:00:00')"
    assert verdict(tmp_path, "date", day, f"x IN {mixed}") == "KEEP"
    assert verdict(tmp_path, "date", day, f"x NOT IN {mixed}") == "KEEP"


def test_t29_a_missing_null_count_is_not_zero(tmp_path: Path) -> None:
    assert verdict(tmp_path, "integer", (1, 9, None), "x IS NULL") == "KEEP"
    assert verdict(tmp_path, "integer", (1, 9, None), "x > 0") == "KEEP"  # not FULL


@pytest.mark.parametrize("text", [None, "", "{}", "null", '{"numRecords":', "[1]", '"x"', '{"numRecords":1}'])
def test_t30_missing_statistics_prove_nothing(tmp_path: Path, text: str | None) -> None:
    one_column(tmp_path, "integer", [add("f", stats=text)])
    for where in ("x = 5", "x IS NULL", "x IS NOT NULL", "NOT (x = 5)"):
        assert judge(tmp_path / "table", where)["f"] == "KEEP"


def test_t31_placeholder_bounds_of_an_all_null_column_are_ignored(tmp_path: Path) -> None:
    assert verdict(tmp_path, "integer", (0, 0, 10), "x = 0") == "DROP"
    assert verdict(tmp_path / "b", "integer", (0, 0, None), "x = 0") == "KEEP"


def test_t33_null_erasing_expressions_match_null_rows(tmp_path: Path) -> None:
    assert partition_verdict(tmp_path, "integer", None, "coalesce(p, 0) = 0") == "FULL"
    assert verdict(tmp_path / "d", "integer", (None, None, 10), "coalesce(x, 0) = 0") != "DROP"
    assert verdict(tmp_path / "d", "integer", (None, None, 10), "(x > 3) IS NOT TRUE") == "FULL"


def test_t34_a_struct_leaf_is_null_where_its_parent_is(tmp_path: Path) -> None:
    struct = {"type": "struct", "fields": [{"name": "m", "type": "integer", "nullable": False, "metadata": {}}]}
    stats = {"numRecords": 2, "minValues": {"s": {"m": 34}}, "maxValues": {"s": {"m": 34}}, "nullCount": {"s": {"m": 1}}}
    table = write_log(tmp_path / "table", [[MODERN, metadata({"s": struct}), add("f", stats=stats)]])
    assert judge(table, "s.m IS NULL")["f"] == "KEEP"
    assert judge(table, "s IS NULL")["f"] == "KEEP"
    assert judge(table, "s.m = 34")["f"] == "KEEP"


def test_t36_is_null_over_a_predicate_needs_known_counts(tmp_path: Path) -> None:
    one_column(tmp_path, "integer", [add("f", stats='{"numRecords":3}')])
    assert judge(tmp_path / "table", "(x < 10) IS NULL")["f"] == "KEEP"


def test_t37_not_is_no_complement_of_the_drop(tmp_path: Path) -> None:
    assert verdict(tmp_path, "integer", (0, 1, 0), "NOT (x = 1)") == "KEEP"
    assert verdict(tmp_path, "integer", (0, 1, 0), "NOT (x = 1 AND x = 1)") == "KEEP"


@pytest.mark.parametrize(
    ("type_", "bounds", "where"),
    [
        ("integer", (-1, 1, 0), "CAST(x AS BOOLEAN) < true"),
        ("string", ("10", "9", 0), "CAST(x AS INT) = 10"),
        ("integer", (7, 9, 0), "x % 8 = 0"),
        ("integer", (-3, 2, 0), "abs(x) = 0"),
    ],
)
def test_t38_ends_of_a_function_that_is_not_monotone_prove_nothing(
    tmp_path: Path, type_: str, bounds: tuple[object, object, int], where: str
) -> None:
    assert verdict(tmp_path, type_, bounds, where) == "KEEP"


def test_t39_arithmetic_that_can_overflow_is_kept(tmp_path: Path) -> None:
    assert verdict(tmp_path, "integer", (0, 2147483647, 0), "x + 1 < 0") == "KEEP"
    assert verdict(tmp_path / "m", "long", (-9223372036854775808, -9223372036854775808, 0), "-x < 10") == "KEEP"


def test_t40_non_deterministic_functions_are_never_evaluated(tmp_path: Path) -> None:
    assert partition_verdict(tmp_path, "integer", "1", "rand() < 0") == "KEEP"
    assert partition_verdict(tmp_path, "integer", "1", "p + rand() < 0") == "KEEP"


def test_t41_an_expression_without_an_answer_is_unknown(tmp_path: Path) -> None:
    assert partition_verdict(tmp_path, "string", "1 abc", "CAST(p AS INT) = 1") == "KEEP"
    # As the whole predicate this one is refused, as Spark refuses it; beside another clause it may not be computed at all.
    assert partition_verdict(tmp_path / "b", "string", "abc", "p != 'x' AND CAST(p AS INT) = 1") == "KEEP"
    with pytest.raises(PredicateError, match="Spark fails"):
        partition_verdict(tmp_path / "c", "string", "abc", "CAST(p AS INT) = 1")


def test_t75_unknown_counts_are_never_full(tmp_path: Path) -> None:
    assert verdict(tmp_path, "integer", (1, 2, None), "x < 10") == "KEEP"
    assert verdict(tmp_path / "d", "double", (1.0, 2.0, 0), "x < 10") == "KEEP"


def test_t76_t77_null_rows_are_not_matches(tmp_path: Path) -> None:
    assert verdict(tmp_path, "integer", (16, 20, 1), "x > 15") == "KEEP"
    assert verdict(tmp_path / "b", "integer", (5, 5, 1), "x <> 6") == "KEEP"
