"""The conditions that the keys of a MERGE's source make: every key satisfies the tree for our metadata and the SQL for Delta."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from lakeprune.apps.statements.merge.keys import MOST_RANGES, Key, KeyValues, compares_exactly, delta_condition, key_tree
from lakeprune.predicate.bind.bind import bind
from lakeprune.predicate.passes.split import split
from lakeprune.predicate.read.sql.parse import parse_predicate
from lakeprune.predicate.schema import Field, Role, Schema
from lakeprune.predicate.tree import (
    FALSE,
    TRUE,
    Column,
    Constant,
    Either,
    Expr,
    In,
    IsNull,
    Literal,
    Member,
    Not,
    NullTest,
    Or,
    Profile,
)
from lakeprune.predicate.write.show import show
from lakeprune.values.types import DATE, DOUBLE, INT, LONG, STRING, TIMESTAMP, TIMESTAMP_NTZ, DataType, Kind

ZONE = "Europe/Berlin"
PROFILE = Profile(now=0, zone=ZONE, zone_is_given=True)
CENTS = DataType(Kind.DECIMAL, 10, 2)
MICROS = st.integers(-2_000_000_000_000_000, 4_000_000_000_000_000)
VALUES: dict[DataType, st.SearchStrategy[Any]] = {
    INT: st.integers(-(2**31), 2**31 - 1),
    LONG: st.integers(-(2**63), 2**63 - 1),
    DATE: st.integers(-100_000, 100_000),
    TIMESTAMP: MICROS
    | st.integers(1_711_846_800_000_000, 1_711_854_000_000_000)
    | st.integers(1_729_990_000_000_000, 1_730_000_000_000_000),
    TIMESTAMP_NTZ: MICROS,
    DOUBLE: st.floats(allow_nan=False),
    STRING: st.text(alphabet=st.characters(codec="utf-8"), max_size=6),
    CENTS: st.integers(-(10**10) + 1, 10**10 - 1).map(lambda n: Decimal(n) / 100),
}


def found(type_: DataType, values: Sequence[Any], *, listed: bool = True, role: Role = Role.DATA, nulls: int = 0) -> KeyValues:
    key = Key("t.c = s.c", Column(("c",), ("c",), type_, role), "s.c", is_null_safe=nulls > 0)
    items = tuple(sorted(set(values)))
    least, greatest = (items[0], items[-1]) if items else (None, None)
    return KeyValues(key, nulls, 0, 0, len(items), least, greatest, items if listed else None)


def read_back(text: str, type_: DataType) -> Expr:
    return normal(parse_predicate(text, PROFILE), type_)


def normal(tree: Expr, type_: DataType) -> Expr:
    """The tree bound and normalised, TRUE when no clause is left of it."""
    bound = bind(tree, Schema((Field("c", "c", type_, Role.DATA),)), PROFILE, "")
    clauses = split(bound, PROFILE)
    return clauses[0].predicate if clauses else TRUE


def holds(predicate: Expr, value: object) -> bool:
    """Whether it is TRUE for a column that has this value, which is not NULL."""
    match predicate:
        case Constant(True) | Not(NullTest()):  # from the least value of the type to the greatest
            return True
        case Member(_, held):
            return held.contains(value)
        case _:
            return False


@pytest.mark.parametrize("type_", VALUES, ids=str)
@pytest.mark.parametrize("listed", [True, False], ids=["listed", "range"])
@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_every_key_of_the_source_satisfies_both_conditions(type_: DataType, listed: bool, data: st.DataObject) -> None:
    values = data.draw(st.lists(VALUES[type_], min_size=1, max_size=8))
    held = found(type_, values, listed=listed)
    assert all(holds(normal(key_tree(held), type_), value) for value in values)
    predicate = read_back(delta_condition(held, None, ZONE), type_)
    if isinstance(predicate, Either):  # an hour that clocks show twice
        predicate = predicate.outer
    assert all(holds(predicate, value) for value in values)


@pytest.mark.parametrize("type_", VALUES, ids=str)
@settings(deadline=None, max_examples=30)
@given(data=st.data())
def test_a_listed_key_admits_no_other_value(type_: DataType, data: st.DataObject) -> None:
    first, second = data.draw(st.lists(VALUES[type_], min_size=2, max_size=2, unique=True))
    assert not holds(normal(key_tree(found(type_, [first])), type_), second)


def test_values_outside_the_column_s_own_type_match_nothing() -> None:
    assert normal(key_tree(found(INT, [5, 2**40])), INT) == normal(key_tree(found(INT, [5])), INT)
    fine = found(CENTS, [Decimal("1.25"), Decimal("1.255")])
    assert normal(key_tree(fine), CENTS) == normal(key_tree(found(CENTS, [Decimal("1.25")])), CENTS)
    below = normal(key_tree(found(CENTS, [Decimal("1.251"), Decimal(2)], listed=False)), CENTS)
    assert not holds(below, Decimal("1.25"))
    assert holds(below, Decimal("1.26"))


def test_ten_thousand_keys_are_one_node_and_a_short_text() -> None:
    tree = key_tree(found(LONG, range(0, 30_000, 3)))
    assert isinstance(tree, In)
    assert len(tree.options) == 10_000
    assert show(tree, ZONE) == f"c IN ({', '.join(map(str, range(0, 60, 3)))}, ... 9,980 more)"


def test_null_joins_the_keys_only_where_null_matches() -> None:
    column = found(INT, []).key.column
    assert key_tree(found(INT, [], nulls=2)) == IsNull(column)
    assert key_tree(found(INT, [])) == FALSE
    both = key_tree(found(INT, [3], nulls=2))
    assert both == Or((In(column, (Literal(3),)), IsNull(column)))
    unsafe = replace(found(INT, [3]), nulls=2)  # NULLs in the source, and `=`
    assert key_tree(unsafe) == In(column, (Literal(3),))


def test_a_range_over_a_whole_type_only_asks_for_a_value() -> None:
    held = found(INT, [2**31 - 1, -(2**31)], listed=False)
    assert delta_condition(held, "t", ZONE) == "t.c IS NOT NULL"
    assert holds(normal(key_tree(held), INT), 0)


def test_a_long_list_becomes_at_most_a_hundred_ranges_cut_at_the_widest_gaps() -> None:
    values = [*range(0, 3000, 3), 1_000_000]
    text = delta_condition(found(LONG, values), "t", ZONE)
    assert text.count(" OR ") + 1 == MOST_RANGES
    assert text.endswith("OR t.c = 1000000")
    predicate = read_back(text.replace("t.c", "c"), LONG)
    assert isinstance(predicate, Member)
    assert all(predicate.values.contains(value) for value in values)
    assert not predicate.values.contains(500_000)


def test_a_partition_column_keeps_its_list_and_null_joins_only_where_null_matches() -> None:
    assert delta_condition(found(STRING, ["a'", "b"], role=Role.PARTITION), "t", ZONE) == r"t.c IN ('a\'', 'b')"
    times = delta_condition(found(TIMESTAMP, [0, 5_000_000], role=Role.PARTITION), "t", "UTC")
    assert times == "t.c = '1970-01-01' OR t.c = '1970-01-01 00:00:05'", "outside ANSI mode IN would compare them as texts"
    assert delta_condition(found(INT, [3], nulls=2), "t", ZONE) == "t.c = 3 OR t.c IS NULL"
    assert delta_condition(found(INT, [], nulls=2), "t", ZONE) == "t.c IS NULL"
    assert delta_condition(found(INT, []), "t", ZONE) == "FALSE"


@pytest.mark.parametrize(
    ("target", "source", "exactly"),
    [
        (INT, LONG, True),
        (LONG, STRING, False),
        (INT, DataType(Kind.DECIMAL, 10, 0), False),
        (DOUBLE, DataType(Kind.FLOAT), False),
        (DATE, TIMESTAMP, False),
        (TIMESTAMP, TIMESTAMP_NTZ, False),
        (STRING, STRING, True),
        (STRING, DataType(Kind.STRING, collation="UTF8_LCASE"), False),
        (DataType(Kind.DECIMAL, 10, 2), DataType(Kind.DECIMAL, 20, 5), True),
        (DataType(Kind.DECIMAL, 38, 10), DataType(Kind.DECIMAL, 38, 0), False),  # Spark rounds where 38 digits do not hold both
    ],
    ids=str,
)
def test_types_bound_each_other_only_where_spark_compares_their_values(target: DataType, source: DataType, exactly: bool) -> None:
    assert compares_exactly(target, source) is exactly
