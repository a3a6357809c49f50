"""Nodes of JSON hints as SQL hints, for servers that read only these.

In: a node. Out: entries of `predicateHints`, which a server ANDs and skips one by one. A part that engines quote or read in
different ways has no entry: the JSON hint says it.
"""

from __future__ import annotations

from lakeprune.predicate.write.sharing_hints import Node
from lakeprune.predicate.write.show import name_text

_OPS = {"equal": "=", "lessThan": "<", "lessThanOrEqual": "<=", "greaterThan": ">", "greaterThanOrEqual": ">="}
MAX_ENTRY = 8 * 1024


def sql_entries(node: Node | None) -> tuple[str, ...]:
    """One entry per conjunct that SQL can say.

    >>> column = {"op": "column", "name": "id", "valueType": "int"}
    >>> sql_entries({"op": "lessThan", "children": [column, {"op": "literal", "value": "25", "valueType": "int"}]})
    ('id < 25',)
    """
    if node is None:
        return ()
    parts = node["children"] if node["op"] == "and" else [node]
    entries = [text for part in parts if (text := _text(part)) is not None]
    return tuple(entry for entry in entries if len(entry.encode()) <= MAX_ENTRY)


def _text(node: Node) -> str | None:
    op, children = node["op"], node.get("children", [])
    if op == "literal":
        return _literal(node)
    if op == "column":
        return None if "\\" in node["name"] else name_text((node["name"],))
    texts = [_text(child) for child in children]
    if any(text is None for text in texts):
        return None
    known = [text for text in texts if text is not None]
    if op == "isNull":
        return f"{known[0]} IS NULL"
    if op == "not":
        inside = children[0]
        if inside["op"] == "isNull":
            return known[0].removesuffix(" IS NULL") + " IS NOT NULL"
        if inside["op"] == "equal":
            return " <> ".join(str(_text(side)) for side in inside["children"])
        return f"NOT ({known[0]})"
    if op in ("and", "or"):
        return f" {op.upper()} ".join(f"({text})" for text in known)
    return f"{known[0]} {_OPS[op]} {known[1]}"


def _literal(node: Node) -> str | None:
    text, type_ = node["value"], node["valueType"]
    if type_ == "string":
        return None if "'" in text or "\\" in text else f"'{text}'"
    if type_ in ("date", "timestamp"):
        return f"{type_.upper()} '{text}'"
    if type_ in ("float", "double"):
        return None if "n" in text.lower() else str(text)
    return str(text).upper() if type_ == "bool" else str(text)
