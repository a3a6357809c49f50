"""JSON hints of Delta Sharing (`jsonPredicateHints`): a text -> a bound predicate.

In: what a client sent, and the columns of the table. Out: a tree in which every part that is not understood is Opaque with its
reason, so that the rest still prunes. Never raises, never recurses, and looks at no more than its limits allow.
"""

from __future__ import annotations

import json
from typing import Any, NoReturn

from lakeprune.predicate.read.sharing.columns import Columns, NotUnderstood, brief, unknown
from lakeprune.predicate.read.sharing.json_leaves import leaf
from lakeprune.predicate.read.sharing.json_literals import Number
from lakeprune.predicate.tree import And, Expr, Not, Or

MAX_TEXT = 256 * 1024  # bytes
MAX_DEPTH = 64  # operations inside each other
MAX_NODES = 5_000
_MAX_BRACKETS = 2 * MAX_DEPTH + 2  # an operation is an object with a list in it
_SYNONYMS = {"&&": "and", "||": "or", "!": "not"}


def read_json_hints(text: str, columns: Columns) -> Expr:
    """The predicate of a JSON hint.

    >>> from lakeprune.predicate.schema import Field, Schema
    >>> from lakeprune.predicate.write.show import show
    >>> from lakeprune.values.types import LONG
    >>> column = '{"op": "column", "name": "ID", "valueType": "long"}'
    >>> hint = '{"op": "lessThan", "children": [%s, {"op": "literal", "value": "25", "valueType": "long"}]}' % column
    >>> show(read_json_hints(hint, Columns(Schema((Field("id", "id", LONG),)))))
    'id < 25'
    """
    try:
        return _tree(_document(text), columns)
    except NotUnderstood as problem:
        return unknown("the JSON hint", str(problem))


def _document(text: str) -> Any:
    if len(text) > MAX_TEXT or len(text.encode("utf-8", "replace")) > MAX_TEXT:
        raise NotUnderstood(f"a JSON hint has at most {MAX_TEXT // 1024} KiB")
    if _brackets(text) > _MAX_BRACKETS:
        raise NotUnderstood(f"a JSON hint is at most {MAX_DEPTH} operations deep")
    try:
        return json.loads(text, parse_int=Number, parse_float=Number, parse_constant=_refuse)
    except ValueError as error:
        raise NotUnderstood("this is not JSON") from error


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")


def _brackets(text: str) -> int:
    """How deep brackets stand inside each other; the parser recurses, so this is known before it begins."""
    if text.count("{") + text.count("[") <= _MAX_BRACKETS:
        return 0
    depth = deepest = 0
    is_text = is_escaped = False
    for letter in text:
        if is_text:
            is_text = is_escaped or letter != '"'
            is_escaped = letter == "\\" and not is_escaped
        elif letter == '"':
            is_text = True
        elif letter in "{[":
            depth += 1
            deepest = max(deepest, depth)
        elif letter in "}]":
            depth -= 1
    return deepest


def _tree(document: Any, columns: Columns) -> Expr:
    """The predicate, from below: `built` are finished parts, `open_` what is still to be read."""
    built: list[Expr] = []
    open_: list[tuple[Any, int, tuple[str, int] | None]] = [(document, 1, None)]
    count = 0
    while open_:
        node, depth, joins = open_.pop()
        if joins is not None:
            op, arity = joins
            built[-arity:] = [_joined(op, tuple(built[-arity:]))]
            continue
        children = node.get("children") if isinstance(node, dict) else None
        listed = children if isinstance(children, list) else []
        op = _operation(node)
        is_inner = op in ("and", "or", "not")
        count += 1 if is_inner else 1 + len(listed)
        if count > MAX_NODES or depth > MAX_DEPTH:
            raise NotUnderstood(f"a JSON hint has at most {MAX_NODES:,} nodes, {MAX_DEPTH} deep")
        if is_inner and listed and (op != "not" or len(listed) == 1):
            open_.append((None, depth, (op, len(listed))))
            open_.extend((child, depth + 1, None) for child in reversed(listed))
        elif is_inner:
            built.append(unknown(op, f"{brief(op)} has {'one child' if op == 'not' else 'children'}"))
        else:
            built.append(_leaf(op, node, columns))
    return built[0]


def _operation(node: Any) -> str:
    op = node.get("op") if isinstance(node, dict) else None
    name = op.strip().lower() if isinstance(op, str) else ""
    return _SYNONYMS.get(name, name)


def _leaf(op: str, node: Any, columns: Columns) -> Expr:
    if not op:
        why = (
            "a list of predicates is not one; join them with and" if isinstance(node, list) else "a node is an object with an op"
        )
        return unknown("a node", why)
    try:
        return leaf(op, node, columns)
    except NotUnderstood as problem:
        return unknown(brief(op), str(problem))


def _joined(op: str, parts: tuple[Expr, ...]) -> Expr:
    if op == "not":
        return Not(parts[0])
    if len(parts) == 1:
        return parts[0]
    return And(parts) if op == "and" else Or(parts)
