"""Names to columns, literals to values: exact, strict, and with an error that helps."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakeprune.errors import PredicateError
from lakeprune.predicate.bind.bind import bind
from lakeprune.predicate.read.sql.parse import parse_predicate
from lakeprune.predicate.reasons import ReasonCode
from lakeprune.predicate.schema import Role
from lakeprune.predicate.tree import (
    And,
    Call,
    Column,
    Compare,
    Constant,
    Either,
    Expr,
    In,
    IsNull,
    IsTruth,
    Literal,
    Not,
    NullTest,
    Op,
    Opaque,
)  # fmt: skip
from lakeprune.values.types import BOOLEAN, DATE, INT, LONG, STRING, TIMESTAMP, DataType, Kind
from tests.predicate.columns import PROFILE, SCHEMA
from tests.scope import share_of


def bound(text: str) -> Expr:
    return bind(parse_predicate(text, PROFILE), SCHEMA, PROFILE, text)


def error_of(text: str) -> PredicateError:
    with pytest.raises(PredicateError) as caught:
        bound(text)
    return caught.value


def column(text: str) -> Column:
    found = bound(f"{text} IS NULL")
    assert isinstance(found, IsNull)
    assert isinstance(found.part, Column)
    return found.part


AGE = Column(("age",), ("age",), INT, Role.DATA)


def test_names_are_found_in_any_case_and_keep_their_own() -> None:
    assert column("AGE") == AGE
    assert column("`Age`") == AGE


def test_nested_fields_carry_their_physical_path() -> None:
    assert column("Address.GEO.lat").path == ("address", "geo", "lat")
    assert column("address.geo.lat").physical == ("col-1", "col-4", "col-5")


def test_a_dotted_name_is_one_segment_only_in_back_ticks() -> None:
    assert column("`a.b`").physical == ("dotted",)
    error = error_of("a.b = 1")
    assert error.code == "LP102"
    assert error.fix == "did you mean `a.b`, in back-ticks?"


def test_partition_columns_are_marked() -> None:
    assert column("country").role is Role.PARTITION
    assert column("age").role is Role.DATA


def test_an_unknown_column_is_underlined_and_a_near_one_suggested() -> None:
    error = error_of("age > 1 AND cuontry = 'DE'")
    assert (error.code, error.fix) == ("LP102", "did you mean country?")
    assert error.where == "age > 1 AND cuontry = 'DE'\n            ^^^^^^^"


@pytest.mark.parametrize("text", ["nosuch + 1 > 2", "some_udf(nosuch)", "exists(address.lines, e -> e = nosuch)", "m[0] = 1"])
def test_unknown_columns_are_errors_even_inside_what_is_not_understood(text: str) -> None:
    assert error_of(text).code == "LP102"


def test_a_table_alias_is_an_unknown_column() -> None:
    assert error_of("t.age > 1").code == "LP102"


def test_names_that_differ_only_in_case_are_ambiguous() -> None:
    assert error_of("twin = 1").code == "LP103"


@pytest.mark.parametrize(
    "text", ["age", "age + 1", "name", "upper(name)", "age = 1 AND name", "NOT age", "(age) IS TRUE", "day", "if(age, 1, 2) = 1"]
)
def test_a_value_is_not_a_predicate(text: str) -> None:
    assert error_of(text).code == "LP104"


def test_boolean_columns_are_compared_with_true() -> None:
    flag = Column(("active",), ("active",), BOOLEAN, Role.DATA)
    is_true = Compare(Op.EQ, flag, Literal(True, BOOLEAN))
    assert bound("active") == is_true
    assert bound("NOT active") == Not(is_true)
    assert bound("active IS FALSE") == IsTruth(is_true, False)
    assert bound("active = 'true'") == is_true


def test_a_predicate_compared_with_a_constant_is_the_predicate() -> None:
    older = bound("age > 40")
    assert bound("(age > 40) = TRUE") == older
    assert bound("(age > 40) != TRUE") == Not(older)
    assert bound("FALSE = (age > 40)") == Not(older)
    assert bound("(age > 40) <=> TRUE") == IsTruth(older, True)
    assert isinstance(bound("(age > 40) = (age > 30)"), Opaque)


@pytest.mark.parametrize(
    ("text", "value", "type_"),
    [
        ("age > 40", 40, INT), ("age > '40'", 40, INT), ("age > 3.5", Decimal("3.5"), DataType(Kind.DECIMAL, 2, 1)),
        ("age > 3000000000", 3_000_000_000, LONG), ("day = '2024-01-05'", 19727, DATE),
        ("ts = '1970-01-01 00:00:01'", 1_000_000, TIMESTAMP),
        ("ts > DATE '1970-01-02'", 1, DATE), ("price > 1.006", Decimal("1.006"), DataType(Kind.DECIMAL, 4, 3)),
        ("price > '1.06'", Decimal("1.06"), DataType(Kind.DECIMAL, 10, 2)), ("name = 'x'", "x", STRING), ("name = 5", 5, INT),
        ("raw = 'é'", b"\xc3\xa9", DataType(Kind.BINARY)),
        ("age = 99999999999999999999", 99999999999999999999, DataType(Kind.DECIMAL, 20, 0)),
    ],
)  # fmt: skip
def test_literals_keep_their_exact_value(text: str, value: object, type_: DataType) -> None:
    found = bound(text)
    assert isinstance(found, Compare)
    assert found.right == Literal(value, type_)  # type: ignore[arg-type]


def test_literals_in_lists_are_typed_too() -> None:
    found = bound("day IN ('2024-01-05', NULL)")
    assert isinstance(found, In)
    assert found.options == (Literal(19727, DATE), Literal(None))


@pytest.mark.parametrize(
    "text",
    ["age > 'x'", "'x' < age", "day = '2024-13-01'", "age IN (1, 'x')", "price = 'cheap'", "active = 'maybe'", "ts > 'noon'"],
)
def test_text_of_another_type_is_an_error_with_its_place(text: str) -> None:
    error = error_of(text)
    assert error.code == "LP106"
    assert error.fix
    line, carets = (error.where or "").split("\n")
    assert line[carets.index("^") : carets.rindex("^") + 1].startswith("'")


def test_a_timestamp_finer_than_a_microsecond_is_read_both_ways() -> None:
    at = 1_704_067_200_000_000
    cut, kept = Literal(at, TIMESTAMP), Literal(Decimal(at) + Decimal("0.5"), TIMESTAMP)
    ts = column("ts")
    text = "'2024-01-01 00:00:00.0000005'"
    assert bound(f"ts < {text}") == Either(Compare(Op.LT, ts, kept), Compare(Op.LT, ts, cut))
    assert bound(f"ts >= {text}") == Either(Compare(Op.GE, ts, cut), Compare(Op.GE, ts, kept))
    assert bound(f"{text} <= ts") == Either(Compare(Op.LE, cut, ts), Compare(Op.LE, kept, ts))
    assert bound(f"ts = {text}") == Either(Compare(Op.EQ, ts, cut), Compare(Op.EQ, ts, kept))
    listed = bound(f"ts IN ({text})")
    assert isinstance(listed, Either)
    assert listed.outer == Either(In(ts, (cut,)), In(ts, (kept,)))


def test_text_against_a_float_column_is_read_as_float_and_as_double() -> None:
    found = bound("ratio > '0.1'")
    assert isinstance(found, Either)
    assert isinstance(found.outer, Compare)
    assert isinstance(found.inner, Compare)
    assert {found.outer.right.value, found.inner.right.value} == {0.1, 0.10000000149011612}  # type: ignore[union-attr]
    assert found.outer.right.value == 0.1  # type: ignore[union-attr]  # below float 0.1, so more rows are above it
    assert isinstance(bound("ratio > '0.5'"), Compare)


def test_null_tests_on_structs_carry_their_leaves() -> None:
    found = bound("address IS NULL")
    assert isinstance(found, NullTest)
    assert [leaf.path for leaf in found.leaves] == [("address", "zip"), ("address", "geo", "lat")]
    for text in ("tags IS NULL", "payload IS NULL", "address.lines IS NULL"):
        assert isinstance(bound(text), NullTest)


@pytest.mark.parametrize("text", ["address = tags", "payload = 1", "address.lines.x = 1", "payload.a > 3", "upper(tags) = 'A'"])
def test_values_without_order_cost_only_their_own_clause(text: str) -> None:
    found = bound(f"age > 40 AND {text}")
    assert isinstance(found, And)
    assert found.parts[0] == Compare(Op.GT, AGE, Literal(40, INT))
    assert isinstance(found.parts[1], Opaque)
    assert found.parts[1].reason.code is ReasonCode.NO_ORDERED_STATISTICS


@pytest.mark.parametrize("text", ["address = 1", "'x' = address", "tags = 1", "tags > 'a'", "address.lines = 'x'"])
def test_a_struct_or_array_against_one_value_is_an_error(text: str) -> None:
    with pytest.raises(PredicateError, match="is one value") as raised:
        bound(text)
    assert raised.value.code == "LP106"


def test_an_unknown_function_is_opaque_with_its_columns() -> None:
    found = bound("some_udf(name, age) = 1")
    assert isinstance(found, Opaque)
    assert found.reason.code is ReasonCode.UNSUPPORTED_EXPRESSION
    assert [c.path for c in found.columns if isinstance(c, Column)] == [("name",), ("age",)]


def test_days_are_added_to_dates() -> None:
    found = bound("day + 3 > '2024-01-05'")
    assert isinstance(found, Compare)
    assert found.left == Call("date_add", (column("day"), Literal(3, INT)), DATE)
    assert found.right == Literal(19727, DATE)


def test_constants_stay_constants() -> None:
    assert bound("TRUE AND NULL") == And((Constant(True), Constant(None)))


names = st.sampled_from(
    ["age", "name", "active", "ts", "day", "price", "ratio", "address", "tags", "address.zip", "nosuch", "country"]
)
values = st.sampled_from(
    ["1", "'a'", "'2024-01-01'", "NULL", "1.5", "TRUE", "1e400", "X'00'", "''", "current_date()", "DATE '2024-01-01'"]
)
operands = st.one_of(
    names, values, names.map(lambda n: f"year({n})"), names.map(lambda n: f"{n} + 1"), names.map(lambda n: f"lower({n})")
)
terms = st.one_of(
    st.tuples(operands, st.sampled_from(["=", "<", ">=", "<=>", "!="]), operands).map(" ".join),
    st.tuples(operands, values, values).map(lambda t: f"{t[0]} IN ({t[1]}, {t[2]})"),
    names.map(lambda n: f"{n} IS NULL"),
    st.tuples(operands, values).map(lambda t: f"{t[0]} LIKE {t[1]}"),
    st.tuples(names, values, values).map(lambda t: f"{t[0]} NOT BETWEEN {t[1]} AND {t[2]}"),
    operands,
    st.tuples(names, values, values).map(lambda t: f"coalesce({t[0]}, {t[1]}) = {t[2]}"),
)
predicates = st.recursive(
    terms,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["AND", "OR"]), inner).map(lambda t: f"({t[0]}) {t[1]} ({t[2]})"),
        inner.map(lambda p: f"NOT ({p})"),
        inner.map(lambda p: f"({p}) IS TRUE"),
        inner.map(lambda p: f"if({p}, 1, 2) = 1"),
        inner.map(lambda p: f"({p}) = TRUE"),
    ),
    max_leaves=4,
)


@settings(max_examples=share_of(1500), deadline=None)
@given(predicates)
def test_any_predicate_binds_or_is_a_predicate_error(text: str) -> None:
    assert outcome(text) in ("fine", "LP102", "LP104", "LP106")


def outcome(text: str) -> str:
    try:
        bound(text)
    except PredicateError as error:
        return error.code
    return "fine"
