"""The Spark front-end: a filter of an optimised plan, as Catalyst writes it in JSON -> the predicate tree.

In: the nodes of one expression in pre-order, its SQL text, the columns of the relation it stands on. Out: an unbound tree whose
names are all in the table. Never raises and never guesses: what is not understood is Opaque with its text. Columns are known
by Catalyst's ids, not by their names, and one whose type is not the table's is not used.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from lakeprune.predicate.functions.randomness import CATALYST_RANDOM
from lakeprune.predicate.read.catalyst.functions import OPERATORS, SPANS, Operand, build, functions_by_class
from lakeprune.predicate.read.catalyst.types import data_type, fields_of_struct, literal
from lakeprune.predicate.read.sql.functions import Unsupported
from lakeprune.predicate.reasons import Reason, ReasonCode
from lakeprune.predicate.schema import Field, Schema
from lakeprune.predicate.tree import And, Call, Expr, Literal, Name, Not, Opaque, Or
from lakeprune.values.types import NESTED_KINDS, DataType

Node = Mapping[str, Any]

_PACKAGE = "org.apache.spark.sql.catalyst.expressions."
_COLLATE = re.compile(r"\bcollate\b", re.IGNORECASE)
LONGEST_TEXT = 1000
_DEEPEST_TEXT = 30
DEEPEST = 100  # nodes inside one another, where passes go down by calling themselves


class Relation(Struct, frozen=True):
    """What a filter stands on: the table's columns, the relation's own by Catalyst's ids, the session's time zone."""

    schema: Schema
    columns: Mapping[int, str]
    zone: str


class _Part(Struct, frozen=True):
    """A node with its operands, and what it means: a tree, or why there is none."""

    node: Node
    operands: tuple[_Part, ...]
    expr: Expr | None = None
    reason: Reason | None = None
    type: DataType | None = None
    struct: Node | None = None  # Catalyst's type of a struct column, through which its fields are reached
    depth: int = 0


def read_filter(nodes: Sequence[Node], text: str, relation: Relation) -> Expr:
    """The tree of one filter."""
    if _COLLATE.search(text):  # the JSON of a string type does not have its collation
        reason = Reason(ReasonCode.COLLATION, "a comparison under a collation")
        return Opaque(text[:LONGEST_TEXT], reason, _columns([_Part(node, ()) for node in nodes], relation), text)
    waiting: list[_Part] = []
    for node in reversed(nodes):
        count = int(node["num-children"])
        operands = tuple(waiting.pop() for _ in range(count))
        part = _translated(node, operands, relation)
        depth = _depth(part)
        if depth > DEEPEST:
            message = f"more than {DEEPEST} operators inside one another"
            part = _Part(node, operands, reason=Reason(ReasonCode.UNSUPPORTED_EXPRESSION, message))
        waiting.append(replace(part, depth=depth))
    return _predicate(waiting[-1], relation, text)


def _depth(part: _Part) -> int:
    """How deep the tree of a part is; an OR in an OR is one OR."""
    if isinstance(part.expr, And | Or):
        return max(inner.depth + (0 if isinstance(inner.expr, type(part.expr)) else 1) for inner in part.operands)
    return 1 + max((inner.depth for inner in part.operands), default=0) if part.expr is not None else 0


def _translated(node: Node, operands: tuple[_Part, ...], relation: Relation) -> _Part:
    name = str(node["class"]).removeprefix(_PACKAGE)
    try:
        match name:
            case "And" | "Or":
                parts = [_predicate(operand, relation) for operand in operands]
                return _Part(node, operands, _joined(And if name == "And" else Or, parts))
            case "Not":
                return _Part(node, operands, Not(_predicate(operands[0], relation)))
            case "Literal":
                if (fields := fields_of_struct(node)) is not None:
                    return _Part(node, operands, Call("struct", fields))
                found = literal(node)
                return _Part(node, operands, found, type=found.type)
            case "AttributeReference":
                return _attribute(node, relation)
            case "GetStructField":
                return _field(node, operands, relation)
        if name in CATALYST_RANDOM:
            raise Unsupported(f"{name} gives another answer each time", ReasonCode.NON_DETERMINISTIC)
        if "plan" in node:
            raise Unsupported("a subquery, whose rows are not known before it runs")
        return _Part(node, operands, _built(name, node, operands, relation), type=data_type(node.get("dataType")))
    except Unsupported as unsupported:
        return _Part(node, operands, reason=Reason(unsupported.code, str(unsupported)))


def _built(name: str, node: Node, operands: tuple[_Part, ...], relation: Relation) -> Expr:
    if node.get("timeZoneId") not in (None, relation.zone):
        raise Unsupported(f"it was bound to the time zone {node['timeZoneId']}, the session's is {relation.zone}")
    known: list[Operand] = []
    for index, operand in enumerate(operands):
        if operand.expr is not None:
            inner = operand.operands[0] if len(operand.operands) == 1 else None
            is_column = inner is not None and isinstance(inner.expr, Name)
            known.append(Operand(operand.node, operand.expr, operand.type, inner.type if inner and is_column else None))
        elif name in SPANS and index == 1:
            known.append(Operand(operand.node, Literal(None), None))
        else:
            reason = operand.reason or Reason(ReasonCode.UNSUPPORTED_EXPRESSION, "part of it is not known")
            raise Unsupported(reason.message, reason.code)
    return build(name, node, known)


def _joined(kind: type[And | Or], parts: Sequence[Expr]) -> Expr:
    flat = [inner for part in parts for inner in (part.parts if isinstance(part, kind) else (part,))]
    return kind(tuple(flat))


def _predicate(part: _Part, relation: Relation, text: str | None = None) -> Expr:
    """The part where TRUE, FALSE or NULL is wanted: what is not understood can be any of them."""
    if part.expr is not None:
        return part.expr
    reason = part.reason or Reason(ReasonCode.UNSUPPORTED_EXPRESSION, "it is not known")
    shown = _text(part) if text is None else text
    return Opaque(shown[:LONGEST_TEXT], reason, _columns(_below(part), relation), text)


def _attribute(node: Node, relation: Relation) -> _Part:
    name = relation.columns.get(_id_of(node))
    written = node.get("dataType")
    if name is None:
        raise Unsupported(f"{node.get('name')} is not a column of the table")
    struct = written if isinstance(written, Mapping) and written.get("type") == "struct" else None
    return _Part(node, (), _column((name,), written, relation.schema), type=data_type(written), struct=struct)


def _field(node: Node, operands: tuple[_Part, ...], relation: Relation) -> _Part:
    parent = operands[0]
    if parent.struct is None or not isinstance(parent.expr, Name):
        raise Unsupported("a field of something that is not a column")
    inner = parent.struct["fields"][int(node["ordinal"])]
    struct = inner["type"] if isinstance(inner["type"], Mapping) and inner["type"].get("type") == "struct" else None
    expr = _column((*parent.expr.parts, inner["name"]), inner["type"], relation.schema)
    return _Part(node, operands, expr, type=data_type(inner["type"]), struct=struct)


def _column(path: tuple[str, ...], written: object, schema: Schema) -> Name:
    """The name, when the table has it with the type that the plan says."""
    fields, found = schema.fields, None
    for part in path:
        found = _only([field for field in fields if field.name.lower() == part.lower()])
        if found is None:
            raise Unsupported(f"{'.'.join(path)} is not a column of the table at this version")
        fields = found.children
    assert found is not None, "a path has at least one name"
    stated = data_type(written)
    nested = stated is None and found.type.kind in NESTED_KINDS
    if not nested and stated != replace(found.type, collation=None):
        message = f"{'.'.join(path)} is of another type in the plan than in the table"
        raise Unsupported(message, ReasonCode.TYPE_CHANGE_UNKNOWN)
    return Name(path)


def _only(fields: list[Field]) -> Field | None:
    return fields[0] if len(fields) == 1 else None


def _id_of(node: Node) -> int:
    stated = node.get("exprId")
    return int(stated["id"]) if isinstance(stated, Mapping) else -1


def _below(part: _Part) -> list[_Part]:
    found = [part]
    for inner in found:
        found.extend(inner.operands)
    return found


def _columns(parts: Sequence[_Part], relation: Relation) -> tuple[Expr, ...]:
    """The table's own columns among the parts, once each."""
    found: dict[str, Expr] = {}
    for part in parts:
        name = relation.columns.get(_id_of(part.node))
        if name is not None and _only([field for field in relation.schema.fields if field.name.lower() == name.lower()]):
            found.setdefault(name.lower(), Name((name,)))
    return tuple(found.values())


def _text(part: _Part, depth: int = 0) -> str:
    """A readable form of a part that has no text of its own: `soundex(s) = 'A'`."""
    name = str(part.node["class"]).rsplit(".", 1)[-1]
    if name == "Literal":
        value = part.node.get("value")
        return "NULL" if value is None else f"'{value}'" if part.node.get("dataType") == "string" else str(value)
    if name == "AttributeReference":
        return str(part.node.get("name"))
    if depth > _DEEPEST_TEXT:
        return "..."
    inside = [_text(operand, depth + 1) for operand in part.operands]
    called = OPERATORS.get(name) or functions_by_class().get(name, name.lower())
    return f"{inside[0]} {called} {inside[1]}" if called in OPERATORS.values() else f"{called}({', '.join(inside)})"
