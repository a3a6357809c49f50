"""WHERE text to tree: every spelling means what Spark means by it, and nothing but a PredicateError ever comes out."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakeprune.errors import PredicateError
from lakeprune.predicate.clock import Clock
from lakeprune.predicate.read.sql.parse import parse_predicate
from lakeprune.predicate.read.sql.plain import read_plain
from lakeprune.predicate.read.sql.terms import read_term
from lakeprune.predicate.read.sql.tokens import MAX_NESTING, MAX_TEXT, tokenize
from lakeprune.predicate.reasons import ReasonCode
from lakeprune.predicate.tree import (
    And,
    Call,
    Compare,
    Constant,
    Expr,
    In,
    IsNull,
    IsTruth,
    Like,
    Literal,
    Name,
    Not,
    Op,
    Opaque,
    Or,
)  # fmt: skip
from lakeprune.predicate.write.show import show
from lakeprune.values.types import BOOLEAN, DATE, DOUBLE, INT, LONG, STRING, TIMESTAMP, TIMESTAMP_NTZ, DataType, Kind
from tests.predicate.columns import NOW, PROFILE
from tests.scope import share_of


def tree(text: str) -> Expr:
    """The predicate without the places of its names, which are tested on their own."""
    found: Expr = _unplaced(parse_predicate(text, PROFILE))
    return found


def _unplaced(value: Any) -> Any:
    if isinstance(value, Name):
        return Name(value.parts)
    if isinstance(value, tuple):
        return tuple(_unplaced(part) for part in value)
    fields = getattr(value, "__struct_fields__", None)
    if fields is None or isinstance(value, DataType):
        return value
    return type(value)(*(_unplaced(getattr(value, field)) for field in fields))


def code_of(text: str) -> str:
    with pytest.raises(PredicateError) as caught:
        parse_predicate(text, PROFILE)
    return caught.value.code


def outcome(text: str) -> str:
    try:
        show(parse_predicate(text, PROFILE))
    except PredicateError as error:
        return error.code
    return "fine"


X, Y = Name(("x",)), Name(("y",))
ONE, TWO = Literal(1), Literal(2)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = 1", Compare(Op.EQ, X, ONE)),
        ("x == 1", Compare(Op.EQ, X, ONE)),
        ("1 < x", Compare(Op.LT, ONE, X)),
        ("x <=> 1", Compare(Op.NULL_SAFE_EQ, X, ONE)),
        ("x <> 1", Compare(Op.NE, X, ONE)),
        ("x is distinct from 1", Not(Compare(Op.NULL_SAFE_EQ, X, ONE))),
        ("x is not distinct from y", Compare(Op.NULL_SAFE_EQ, X, Y)),
        ("x between 1 and 2 and y = 1", And((And((Compare(Op.GE, X, ONE), Compare(Op.LE, X, TWO))), Compare(Op.EQ, Y, ONE)))),
        ("x not between 1 and 2", Not(And((Compare(Op.GE, X, ONE), Compare(Op.LE, X, TWO))))),
        ("x in (1, 2)", In(X, (ONE, TWO))),
        ("x not in (1, null)", Not(In(X, (ONE, Literal(None))))),
        ("x is null", IsNull(X)),
        ("x is not true", Not(IsTruth(X, True))),
        ("(x = 1) is unknown", IsNull(Compare(Op.EQ, X, ONE))),
        ("x = 1 is not true", Not(IsTruth(Compare(Op.EQ, X, ONE), True))),
        ("x like 'a%'", Like(X, Literal("a%"))),
        ("x not like 'a!%' escape '!'", Not(Like(X, Literal("a!%"), "!"))),
        ("x like any ('a', 'b')", Or((Like(X, Literal("a")), Like(X, Literal("b"))))),
        ("x not like all ('a', 'b')", And((Not(Like(X, Literal("a"))), Not(Like(X, Literal("b")))))),
        ("x rlike '^a'", Like(X, Literal("^a"), kind="rlike")),
        ("regexp_like(x, '^a')", Like(X, Literal("^a"), kind="rlike")),
        ("x ilike 'a%'", Like(X, Literal("a%"), kind="ilike")),
        ("x", X),
        ("not x", Not(X)),
        ("! x or y", Or((Not(X), Y))),
        ("x and y or x", Or((And((X, Y)), X))),
        ("x and (y or x)", And((X, Or((Y, X))))),
        ("(x and y) and x", And((X, Y, X))),
        ("not not x", X),
        ("1 = 1", Compare(Op.EQ, ONE, ONE)),
        ("true", Constant(True)),
        ("null or false", Or((Constant(None), Constant(False)))),
        ("a.`b.c`.d = 1", Compare(Op.EQ, Name(("a", "b.c", "d")), ONE)),
        ("a.b.c.d.e.f = 1", Compare(Op.EQ, Name(("a", "b", "c", "d", "e", "f")), ONE)),
        ("`a``b` = 1", Compare(Op.EQ, Name(("a`b",)), ONE)),
        ("-x < 5", Compare(Op.LT, Call("negate", (X,)), Literal(5))),
        ("x = 1 -- done", Compare(Op.EQ, X, ONE)),
        ("x /* what */ = 1;", Compare(Op.EQ, X, ONE)),
        ("isnull(x)", IsNull(X)),
        ("isnotnull(x)", Not(IsNull(X))),
        ("case x when 1 then true end", Call("case", (Compare(Op.EQ, X, ONE), Literal(True, BOOLEAN), Literal(None)))),
    ],
)
def test_syntax(text: str, expected: Expr) -> None:
    assert tree(text) == expected


@pytest.mark.parametrize(
    ("text", "value", "type_"),
    [
        ("1", 1, None), ("-1", -1, None), ("1L", 1, LONG), ("2S", 2, DataType(Kind.SHORT)), ("3Y", 3, DataType(Kind.BYTE)),
        ("1.50", Decimal("1.50"), None), (".5", Decimal(".5"), None), ("-.5", Decimal("-.5"), None), ("1e3", 1000.0, DOUBLE),
        ("1.5D", 1.5, DOUBLE), ("1e3D", 1000.0, DOUBLE), ("1.5BD", Decimal("1.5"), DataType(Kind.DECIMAL, 2, 1)),
        ("0.1F", 0.10000000149011612, DataType(Kind.FLOAT)), ("X'1F'", b"\x1f", DataType(Kind.BINARY)), ("'a' 'b'", "ab", None),
        ('"a"', "a", None), ("'it''s'", "it's", None), (r"r'\n'", r"\n", None), (r"'a\\_b'", r"a\_b", None),
        ("DATE '2024-01-05'", 19727, DATE), ("date'2024-01-05'", 19727, DATE),
        ("TIMESTAMP '1970-01-01 00:00:01'", 1_000_000, TIMESTAMP),
        ("TIMESTAMP_NTZ '1970-01-01 00:00:01'", 1_000_000, TIMESTAMP_NTZ),
        ("0.1234567890123456789012345678901234567890", Decimal("0.1234567890123456789012345678901234567890"), None),
        ("current_date", NOW // 86_400_000_000, DATE), ("current_date()", NOW // 86_400_000_000, DATE), ("now()", NOW, TIMESTAMP),
        ("current_timestamp", NOW, TIMESTAMP), ("current_timestamp()", NOW, TIMESTAMP), ("NULL", None, None),
        ("TRUE", True, BOOLEAN),
    ],
)  # fmt: skip
def test_literals(text: str, value: object, type_: DataType | None) -> None:
    found = tree(f"x >= {text}")
    assert found == Compare(Op.GE, X, Literal(value, type_))  # type: ignore[arg-type]
    assert isinstance(found, Compare)
    assert isinstance(found.right, Literal)
    assert type(found.right.value) is type(value)


@pytest.mark.parametrize(
    ("text", "is_folded"),
    [
        ("cast('5' as int)", True), ("cast('NaN' as double)", True), ("cast('1.25' as decimal(10,2))", True),
        ("cast(5 as bigint)", True),
        ("cast('x' as int)", False), ("cast('1.005' as decimal(10,2))", False), ("cast(300 as tinyint)", False),
        ("cast(12345 as decimal(4,0))", False), ("cast(3.7 as int)", False), (f"cast({'9' * 380} as double)", False),
    ],
)  # fmt: skip
def test_only_casts_that_lose_nothing_are_folded(text: str, is_folded: bool) -> None:
    found = tree(f"x = {text}")
    assert isinstance(found, Compare)
    assert isinstance(found.right, Literal if is_folded else Call)


def test_today_is_the_day_in_the_session_zone() -> None:
    late = parse_predicate("x = current_date()", type(PROFILE)(now=23 * 3_600_000_000, zone="+02:00"))
    assert isinstance(late, Compare)
    assert late.right == Literal(1, DATE)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("year(x)", Call("year", (X,))),
        ("dayofmonth(x)", Call("day", (X,))),
        ("extract(year from x)", Call("year", (X,))),
        ("date_trunc('MONTH', x)", Call("date_trunc", (Literal("month", STRING), X))),
        ("trunc(x, 'YEAR')", Call("trunc", (X, Literal("year", STRING)))),
        ("date(x)", Call("to_date", (X,))),
        ("to_date(x, 'yyyy')", Call("to_date", (X, Literal("yyyy")))),
        ("to_timestamp(x)", Call("to_timestamp", (X,))),
        ("date_add(x, 1)", Call("date_add", (X, ONE))),
        ("date_sub(x, 1)", Call("date_sub", (X, ONE))),
        ("datediff(x, y)", Call("datediff", (X, Y))),
        ("unix_timestamp(x)", Call("unix_timestamp", (X,))),
        ("date_format(x, 'yyyy-MM')", Call("date_format", (X, Literal("yyyy-MM")))),
        ("substr(x, 1, 2)", Call("substring", (X, ONE, TWO))),
        ("substring(x from 1 for 2)", Call("substring", (X, ONE, TWO))),
        ("left(x, 2)", Call("substring", (X, Literal(1, INT), TWO))),
        ("trim(leading from x)", Call("ltrim", (X,))),
        ("x || y || 'a'", Call("concat", (X, Y, Literal("a")))),
        ("nvl(x, 1)", Call("coalesce", (X, ONE))),
        ("nvl2(x, 1, 2)", Call("if", (Not(IsNull(X)), ONE, TWO))),
        ("mod(x, 2)", Call("%", (X, TWO))),
        ("x + 1 * 2", Call("+", (X, Call("*", (ONE, TWO))))),
        ("(x + 1) * 2", Call("*", (Call("+", (X, ONE)), TWO))),
        ("cast(x as decimal(10, 2))", Call("cast", (X,), DataType(Kind.DECIMAL, 10, 2))),
        ("try_cast(x as bigint)", Call("try_cast", (X,), LONG)),
        ("x::int", Call("cast", (X,), INT)),
        ("int(x)", Call("cast", (X,), INT)),
        ("ucase(x)", Call("upper", (X,))),
        ("some_udf(x)", Call("some_udf", (X,))),
    ],
)
def test_functions_keep_sparks_meaning(text: str, expected: Expr) -> None:
    assert tree(f"{text} = 1") == Compare(Op.EQ, expected, ONE)


@pytest.mark.parametrize(
    ("text", "months", "days", "micros"),
    [
        ("x + interval 3 days", 0, 3, 0), ("x - interval '3' day", 0, -3, 0), ("interval 1 month + x", 1, 0, 0),
        ("x + interval '1-2' year to month", 14, 0, 0), ("x - interval '1 02:03:04.5' day to second", 0, -1, -7_384_500_000),
        ("x + interval 1 day 2 hours", 0, 1, 7_200_000_000), ("x + interval '2 weeks 1 minute'", 0, 14, 60_000_000),
        ("x + interval 36 hours", 0, 1, 43_200_000_000), ("x + interval -1 day", 0, -1, 0), ("dateadd(day, 3, x)", 0, 3, 0),
    ],
)  # fmt: skip
def test_intervals(text: str, months: int, days: int, micros: int) -> None:
    function = "timestampadd" if "dateadd" in text else "add_interval"
    shifted = Call(function, (X, Literal(months, INT), Literal(days, INT), Literal(micros, LONG)))
    assert tree(f"{text} > y") == Compare(Op.GT, shifted, Y)


@pytest.mark.parametrize(
    "word",
    """date timestamp user end order group table select from values case not left right interval day year month hour where
    with union join limit update delete desc asc key value offset partition current_role first last all distinct having
    position location comment function type rank row rows set show like between in is exists at time zone""".split(),
)
def test_a_column_named_like_a_keyword(word: str) -> None:
    assert tree(f"`{word}` = 1") == Compare(Op.EQ, Name((word,)), ONE)
    assert tree(f"{word} = 1 AND x = 1") == And((Compare(Op.EQ, Name((word,)), ONE), Compare(Op.EQ, X, ONE)))
    assert tree(f"t.{word} >= 1") == Compare(Op.GE, Name(("t", word)), ONE)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("v:a.b[0]::int = 1", ReasonCode.NO_ORDERED_STATISTICS),
        ("f(x)[0] = 1", ReasonCode.NO_ORDERED_STATISTICS),
        ("exists(a, e -> e > x)", ReasonCode.UNSUPPORTED_EXPRESSION),
        ("x > interval 3 days", ReasonCode.UNSUPPORTED_EXPRESSION),
        ("floor(x, 2) = 1", ReasonCode.UNSUPPORTED_EXPRESSION),
        ("date_part(x, y) = 1", ReasonCode.UNSUPPORTED_EXPRESSION),
        ("x & 1 = 1", ReasonCode.UNSUPPORTED_EXPRESSION),
        ("x between 1 and 2 = true", ReasonCode.UNSUPPORTED_EXPRESSION),
        ("x = y < z", ReasonCode.UNSUPPORTED_EXPRESSION),
        ("rand() < 0.5", ReasonCode.NON_DETERMINISTIC),
        ("x = uuid()", ReasonCode.NON_DETERMINISTIC),
    ],
)
def test_what_is_not_understood_costs_only_itself(text: str, code: ReasonCode) -> None:
    found = tree(f"x = 1 AND {text}")
    assert isinstance(found, And)
    assert found.parts[0] == Compare(Op.EQ, X, ONE)
    opaque = found.parts[1]
    assert isinstance(opaque, Opaque)
    assert (opaque.text, opaque.reason.code) == (text, code)


def test_an_element_of_a_name_is_its_field() -> None:
    assert tree("a['b'].c['d e'] = 1") == Compare(Op.EQ, Name(("a", "b", "c", "d e")), ONE)


def test_a_tuple_is_one_value() -> None:
    assert tree("(x, 1) IN ((1, x))") == In(Call("struct", (X, ONE)), (Call("struct", (ONE, X)),))


def test_lambda_parameters_are_not_columns() -> None:
    found = tree("exists(a, e -> e > x)")
    assert isinstance(found, Opaque)
    assert set(found.columns) == {Name(("a",)), X}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "LP101"), ("x =", "LP101"), ("x = 1 y", "LP101"), ("x = 1; drop table t", "LP101"), ("x = 'a", "LP101"),
        ("x = `a", "LP101"), ("(x = 1", "LP101"), ("x = 1)", "LP101"), ("x in ()", "LP101"), ("x in (1,)", "LP101"),
        ("and x", "LP101"), ("x or", "LP101"), ("x between 1", "LP101"), ("x = 1 limit 5", "LP101"), ("/* x", "LP101"),
        ("x = \0", "LP101"), ("\x07", "LP101"), ("x like 'a' escape 'ab'", "LP101"), ("select * from t", "LP101"),
        ("x = \ud800", "LP101"), ("x = '\ud800'", "LP101"), ("()", "LP101"), ("x as y", "LP101"), ("case when x", "LP101"),
        (". 1.5", "LP101"),
        ("'x'", "LP104"), ("5", "LP104"), ("x = 1 and 'y'", "LP104"),
        ("x in (select 1)", "LP105"), ("exists (select 1)", "LP105"), ("x = (select max(y) from t)", "LP105"),
        ("max(x) > 1", "LP105"), ("count(*) > 1", "LP105"), ("row_number() over (order by x) = 1", "LP105"),
        ("array(sum(x))[0] = 1", "LP105"), ("sum(x) filter (where y) > 1", "LP105"),
        ("floor() = 1", "LP106"), ("year(x, y) = 1", "LP106"), ("int(x, y) = 1", "LP106"), ("now(x) > y", "LP106"),
        ("x = date '2024-13-01'", "LP106"), ("x = timestamp 'noon'", "LP106"),
    ],
)  # fmt: skip
def test_errors(text: str, code: str) -> None:
    assert code_of(text) == code


def test_the_offending_span_is_underlined() -> None:
    with pytest.raises(PredicateError) as caught:
        parse_predicate("age > 1 AND name = = 'x'", PROFILE)
    assert caught.value.where == "age > 1 AND name = = 'x'\n                   ^"


@pytest.mark.parametrize("text", ["a.b > 1 OR c = 2", "  lower( `a.b` ) = 'it''s' AND b /* c */ + d = 1", "x = 'é' and ß = 1"])
def test_names_know_their_place(text: str) -> None:
    places = [(name.start, name.end) for name in _names(parse_predicate(text, PROFILE))]
    assert places
    for (start, end), name in zip(places, _names(parse_predicate(text, PROFILE)), strict=True):
        assert text[start:end].replace("`", "") == ".".join(name.parts)


def _names(expr: object) -> list[Name]:
    if isinstance(expr, Name):
        return [expr]
    if isinstance(expr, tuple):
        return [name for part in expr for name in _names(part)]
    return [name for field in getattr(expr, "__struct_fields__", ()) for name in _names(getattr(expr, field))]


HOSTILE = {
    "parentheses": "(" * 10_000 + "x = 1" + ")" * 10_000,
    "open parentheses": "(" * 10_000,
    "minus signs": "- " * 10_000 + "x < 1",
    "functions": "x = " + "abs(" * 10_000 + "1" + ")" * 10_000,
    "cases": "case when " * 10_000,
    "brackets": "x" + "[0" * 10_000 + "]" * 10_000 + " = 1",
    "text": "x = 1 " + " " * MAX_TEXT,
    "digits": "x = " + "9" * 10_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_refused(name: str) -> None:
    assert code_of(HOSTILE[name]) == "LP101"


def test_the_limit_is_in_the_message() -> None:
    with pytest.raises(PredicateError, match="nested too deep") as caught:
        parse_predicate(HOSTILE["parentheses"], PROFILE)
    assert str(MAX_NESTING) in (caught.value.why or "")


def test_text_nested_to_the_limit_is_read() -> None:
    assert tree("(" * MAX_NESTING + "x = 1" + ")" * MAX_NESTING) == Compare(Op.EQ, X, ONE)


def test_long_chains_are_flat() -> None:
    found = tree(" OR ".join(f"x = {i}" for i in range(10_000)))
    assert isinstance(found, Or)
    assert len(found.parts) == 10_000
    assert tree("NOT " * 10_001 + "x") == Not(X)
    assert isinstance(tree("x = " + "1 + " * 5_000 + "1"), Opaque)
    assert isinstance(tree(" AND ".join(["x + 1 > y"] * 1_000)), And)


@pytest.mark.parametrize("item", ["{}", "'customer-{:08d}-abcdefghijklmnop'", "-{}.5", r"'a\\{}'"])
def test_long_lists_are_read_item_by_item(item: str) -> None:
    count = 100_000
    found = parse_predicate(f"x NOT IN ({', '.join(item.format(i) for i in range(count))})", PROFILE)
    assert isinstance(found, Not)
    assert isinstance(found.part, In)
    assert len(found.part.options) == count
    assert found.part.options[7] == parse_literal(item.format(7))


def parse_literal(text: str) -> Expr:
    found = parse_predicate(f"x = {text}", PROFILE)
    assert isinstance(found, Compare)
    return found.right


# The plain reader and sqlglot must agree wherever the plain reader answers.
words = st.sampled_from(
    """x y a.b `a.b` date timestamp order select = != <> < <= > >= <=> == and is not null true false in between like ( ) , 1 -2
    1.5 1e3 2L 'a' 'it''s' "q" DATE '2024-01-01' TIMESTAMP escape lower + - . interval user case end exists""".split()
)


@settings(max_examples=share_of(1500), deadline=None)
@given(st.lists(words, min_size=1, max_size=7).map(" ".join))
def test_plain_terms_are_read_as_sqlglot_reads_them(text: str) -> None:
    try:
        tokens = tokenize(text)
    except PredicateError:
        return
    plain = read_plain(tokens, 0, len(tokens.items), "UTC") if tokens.items else None
    if plain is not None:
        assert read_term(tokens, 0, len(tokens.items), Clock(PROFILE)) == plain


@settings(max_examples=share_of(1500), deadline=None)
@given(st.lists(words, min_size=1, max_size=14).map(" ".join))
def test_random_tokens_are_a_predicate_or_a_predicate_error(text: str) -> None:
    assert outcome(text) in ("fine", "LP101", "LP104", "LP105", "LP106", "LP110")


@settings(max_examples=share_of(1000), deadline=None)
@given(st.one_of(st.text(), st.binary().map(lambda junk: junk.decode("utf-8", "surrogateescape"))))
def test_junk_is_a_predicate_or_a_predicate_error(text: str) -> None:
    assert outcome(text) in ("fine", "LP101", "LP104", "LP105", "LP106", "LP110")
