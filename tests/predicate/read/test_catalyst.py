"""Catalyst's JSON becomes our tree, or stays opaque: never another meaning, never an exception."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from lakeprune.predicate.read.catalyst.plan import DEEPEST, Relation, read_filter
from lakeprune.predicate.reasons import ReasonCode
from lakeprune.predicate.schema import Field, Schema
from lakeprune.predicate.tree import Expr, Name, Opaque, Or
from lakeprune.predicate.write.show import show
from lakeprune.values.types import DATE, INT, LONG, STRING, TIMESTAMP, DataType, Kind

Node = dict[str, Any]
STRUCT = {"type": "struct", "fields": [{"name": "y", "type": "string"}, {"name": "x", "type": "long"}]}
COLUMNS: dict[str, tuple[int, object]] = {
    "id": (1, "long"), "i": (2, "integer"), "s": (3, "string"), "ts": (4, "timestamp"), "d": (5, "date"), "st": (6, STRUCT),
    "b": (7, "binary"),
}  # fmt: skip
SCHEMA = Schema(
    (
        Field("id", "id", LONG), Field("i", "i", INT), Field("s", "s", STRING), Field("ts", "ts", TIMESTAMP),
        Field("d", "d", DATE),
        Field("st", "st", DataType(Kind.STRUCT), children=(Field("x", "x", LONG), Field("y", "y", STRING))),
        Field("b", "b", DataType(Kind.BINARY)),
    )
)  # fmt: skip
RELATION = Relation(SCHEMA, {number: name for name, (number, _) in COLUMNS.items()}, "Europe/Berlin")


def node(kind: str, /, *operands: list[Node], **fields: object) -> list[Node]:
    """An expression: its own node, then those of its operands."""
    full = kind if "." in kind else f"org.apache.spark.sql.catalyst.expressions.{kind}"
    return [{"class": full, "num-children": len(operands), **fields}, *(one for operand in operands for one in operand)]


def column(name: str, type_: object = None) -> list[Node]:
    number, reported = COLUMNS[name]
    return node("AttributeReference", name=name, dataType=type_ or reported, exprId={"id": number, "jvmId": "x"})


def value(text: str | None, type_: object) -> list[Node]:
    return node("Literal", value=text, dataType=type_)


def read(nodes: list[Node], text: str = "the text") -> Expr:
    return read_filter(nodes, text, RELATION)


BERLIN: Mapping[str, object] = {"timeZoneId": "Europe/Berlin", "evalMode": "ANSI"}
MEANINGS = {
    "id > 5": node("GreaterThan", column("id"), value("5", "long")),
    "id <=> 5": node("EqualNullSafe", column("id"), value("5", "long")),
    "id IN (5, NULL)": node("In", column("id"), value("5", "long"), value(None, "long")),
    "s NOT LIKE 'a_%' ESCAPE '#'": node("Not", node("Like", column("s"), value("a_%", "string"), escapeChar="#")),
    "s IS NOT NULL AND (id = 1 OR i = 2)": node(
        "And",
        node("IsNotNull", column("s")),
        node("Or", node("EqualTo", column("id"), value("1", "long")), node("EqualTo", column("i"), value("2", "integer"))),
    ),
    "st.x >= 7": node("GreaterThanOrEqual", node("GetStructField", column("st"), ordinal=1), value("7", "long")),
    "year(CAST(ts AS DATE)) = 2024": node(
        "EqualTo", node("Year", node("Cast", column("ts"), dataType="date", **BERLIN)), value("2024", "integer")
    ),
    "ts < TIMESTAMP '2024-03-31 04:30:00'": node("LessThan", column("ts"), value("2024-03-31 02:30:00", "timestamp")),
    "id + 1 = 6": node("EqualTo", node("Add", column("id"), value("1", "long"), evalMode="LEGACY"), value("6", "long")),
    "TRY_CAST(s AS INT) = 5": node(
        "EqualTo", node("Cast", column("s"), dataType="integer", timeZoneId=None, evalMode="TRY"), value("5", "integer")
    ),
    "id = i": node("EqualTo", column("id"), node("Cast", column("i"), dataType="long", **BERLIN)),
    "date_trunc('month', ts) = TIMESTAMP '2024-01-01'": node(
        "EqualTo",
        node("TruncTimestamp", value("MONTH", "string"), column("ts"), timeZoneId="Europe/Berlin"),
        value("2023-12-31 23:00:00", "timestamp"),
    ),
    "split(s, ',')[0] = 'a'": node(
        "EqualTo",
        node(
            "GetArrayItem", node("StringSplit", column("s"), value(",", "string"), value("-1", "integer")), value("0", "integer")
        ),
        value("a", "string"),
    ),
    "regexp_replace(s, 'a', 'b', 1) = 'b'": node(
        "EqualTo",
        node("RegExpReplace", column("s"), value("a", "string"), value("b", "string"), value("1", "integer")),
        value("b", "string"),
    ),
    "md5(CAST(s AS BINARY)) = 'x'": node(
        "EqualTo", node("Md5", node("Cast", column("s"), dataType="binary", **BERLIN)), value("x", "string")
    ),
    "hash(s, id) = 5": node("EqualTo", node("Murmur3Hash", column("s"), column("id"), seed=42), value("5", "integer")),
    "concat_ws('-', s, s) = 'a-a'": node(
        "EqualTo", node("ConcatWs", value("-", "string"), column("s"), column("s")), value("a-a", "string")
    ),
    "b = X'6162'": node("EqualTo", column("b"), value("6162", "binary")),
}  # fmt: skip


@pytest.mark.parametrize("text", MEANINGS)
def test_an_expression_keeps_its_meaning(text: str) -> None:
    assert show(read(MEANINGS[text]), "Europe/Berlin") == text


UNKNOWN = {
    "a sum that is NULL where it overflows": node("Add", column("id"), value("1", "long"), evalMode="TRY"),
    "a sum of which nobody said what it does": node("Add", column("id"), value("1", "long"), evalContext=None),
    "a cast whose mode is not known": node("Cast", column("s"), dataType="integer", timeZoneId=None, evalMode=None),
    "a class that is not listed": node("SoundEx", column("s")),
    "a hash with another seed": node("Murmur3Hash", column("s"), seed=7),
    "a known name of another package": node("com.example.Upper", column("s")),
    "another zone": node("Cast", column("ts"), dataType="date", timeZoneId="Asia/Tokyo", evalMode="ANSI"),
    "a column of another relation": node("AttributeReference", name="id", dataType="long", exprId={"id": 99, "jvmId": "x"}),
    "a column of another type": column("id", "integer"),
    "a list without its values": node("InSet", column("id"), hset=None),
    "a subquery": node("ScalarSubquery", plan=[]),
    "a constant of a nested type": value("[1]", {"type": "array", "elementType": "long"}),
    "a function of bytes": node("Length", column("b")),
    "trimming of given characters": node("StringTrim", column("s"), value("x", "string")),
    "LIKE with an escape that is not given": node("Like", column("s"), value("a", "string"), escapeChar=None),
}


@pytest.mark.parametrize("case", UNKNOWN)
def test_what_is_not_understood_is_opaque_with_its_text(case: str) -> None:
    alone = read(node("EqualTo", UNKNOWN[case], value("5", "long")))
    assert isinstance(alone, Opaque)
    assert alone.text == "the text"
    beside = read(node("Or", node("LessThan", column("id"), value("5", "long")), node("EqualTo", UNKNOWN[case], UNKNOWN[case])))
    assert isinstance(beside, Or)
    assert isinstance(beside.parts[1], Opaque)
    assert show(beside.parts[0]) == "id < 5"


def test_an_opaque_part_names_its_columns_and_the_reason() -> None:
    found = read(node("LessThan", node("Rand", value("7", "long")), node("Hypot", column("id"), column("i"))))
    assert isinstance(found, Opaque)
    assert found.reason.code is ReasonCode.NON_DETERMINISTIC
    assert set(found.columns) == {Name(("id",)), Name(("i",))}


def test_a_collation_makes_the_whole_filter_opaque() -> None:
    nodes = node("EqualTo", node("Cast", column("s"), dataType="string", **BERLIN), value("abc", "string"))
    found = read(nodes, "(CAST(s AS STRING COLLATE UTF8_LCASE) = 'abc' collate UTF8_LCASE)")
    assert isinstance(found, Opaque)
    assert found.reason.code is ReasonCode.COLLATION


def test_a_long_or_is_one_or_and_a_deep_sum_is_opaque() -> None:
    legs = [node("EqualTo", column("id"), value(str(number), "long")) for number in range(5000)]
    either = legs[0]
    for leg in legs[1:]:
        either = [{"class": "org.apache.spark.sql.catalyst.expressions.Or", "num-children": 2}, *either, *leg]
    found = read(either)
    assert isinstance(found, Or)
    assert len(found.parts) == 5000
    total = column("id")
    for _ in range(DEEPEST + 1):
        total = node("Add", total, value("1", "long"), evalMode="ANSI")
    assert isinstance(read(node("EqualTo", total, value("5", "long"))), Opaque)


def test_a_part_without_text_of_its_own_is_shown_as_sql() -> None:
    unknown = node("EqualTo", node("SoundEx", node("Upper", column("s"))), value("A", "string"))
    both = read(node("Or", unknown, node("GreaterThan", column("id"), value("5", "long"))))
    assert show(both) == "(soundex(upper(s)) = 'A') OR id > 5"
