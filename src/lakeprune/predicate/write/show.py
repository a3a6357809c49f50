"""Readable SQL for any node of the predicate tree.

In: a node, bound or not, before or after the passes. Out: one line of text. Plain SQL parses back to the same meaning; sets of
values are shown as the comparison a person would write, and long lists are shortened.
"""

from __future__ import annotations

import re
from typing import assert_never

from lakeprune.predicate import tree as t
from lakeprune.predicate.tree import Expr
from lakeprune.predicate.write.sets import MAX_LISTED, comparison_text
from lakeprune.values.literals import format_value
from lakeprune.values.names import quote_name
from lakeprune.values.types import TIME_KINDS, DataType, Kind

# How tightly a piece of text holds together; an operand that holds less tightly than its place needs goes in parentheses.
_OR, _AND, _NOT, _COMPARISON, _SUM, _PRODUCT, _UNARY, _WHOLE = range(8)
_ARITHMETIC = {"+": _SUM, "-": _SUM, "*": _PRODUCT, "/": _PRODUCT, "%": _PRODUCT}
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_RESERVED = frozenset({
    "all", "and", "any", "as", "between", "case", "current_date", "current_timestamp", "distinct", "else", "end", "exists",
    "false", "for", "from", "ilike", "in", "interval", "is", "like", "not", "null", "or", "regexp", "rlike", "some", "then",
    "true", "when",
})  # fmt: skip
_TYPE_NAMES = {
    Kind.BYTE: "TINYINT", Kind.SHORT: "SMALLINT", Kind.INT: "INT", Kind.LONG: "BIGINT", Kind.STRING: "STRING",
}  # fmt: skip


def show(expr: Expr, zone: str = "UTC") -> str:
    """SQL text of `expr`; timestamps are written in `zone`.

    >>> from lakeprune.predicate.tree import TRUE
    >>> show(t.Or((TRUE, t.Not(t.Compare(t.Op.EQ, t.Name(("my col",)), t.Literal(5))))))
    'TRUE OR `my col` != 5'
    """
    return _Printer(zone).text(expr)[0]


def name_text(path: tuple[str, ...]) -> str:
    """A column path, back-ticked only where it must be.

    >>> name_text(("a", "b.c"))
    'a.`b.c`'
    """
    return ".".join(part if _is_plain(part) else quote_name(part) for part in path)


def _is_plain(part: str) -> bool:
    return _PLAIN_NAME.fullmatch(part) is not None and part.lower() not in _RESERVED


class _Printer:
    def __init__(self, zone: str) -> None:
        self._zone = zone

    def text(self, expr: Expr) -> tuple[str, int]:
        """The text of a node and how tightly it holds together."""
        match expr:
            case t.Name(parts=path) | t.Column(path=path):
                return name_text(path), _WHOLE
            case t.Literal(value, type_):
                text = self._literal(value, type_)
                return text, _UNARY if text.startswith("-") else _WHOLE
            case t.Constant(truth):
                return format_value(truth, None), _WHOLE
            case t.Call():
                return self._call(expr)
            case t.And() | t.Or():
                return self._chain(expr)
            case t.Not(part):
                return self._not(part)
            case t.Compare(t.Op.EQ, t.Column() | t.Call() as value, t.Literal(True)) if _is_boolean(value):
                return self.text(value)
            case t.Compare(op, left, right):
                return self._compared(left, op.value, right), _COMPARISON
            case t.In() | t.Like() | t.IsNull() | t.IsTruth() | t.NullTest():
                return self._test(expr, ""), _COMPARISON
            case t.Opaque(text):
                return text, _OR
            case t.Member(column, _):
                return self._set(column, column.type, expr)
            case t.Within(value, _):
                return self._set(value, getattr(value, "type", None), expr)
            case t.ColumnCompare(op, left, right):
                return f"{name_text(left.path)} {op.value} {name_text(right.path)}", _COMPARISON
            case t.Either(outer, _):
                return self.text(outer)
            case t.Exact(predicate, _):
                return self.text(predicate)
            case _:
                assert_never(expr)

    def _at(self, expr: Expr, needed: int) -> str:
        """The text of an operand, in parentheses where its place needs them; a date or timestamp says what it is."""
        text, binding = self.text(expr)
        if isinstance(expr, t.Literal) and expr.type is not None and expr.type.kind in TIME_KINDS and expr.value is not None:
            return f"{type_name(expr.type)} {text}"
        return text if binding >= needed else f"({text})"

    def _compared(self, left: Expr, operator: str, right: Expr) -> str:
        return f"{self._beside(left, right)} {operator} {self._beside(right, left)}"

    def _beside(self, expr: Expr, other: Expr) -> str:
        """An operand of a comparison: a date or timestamp is bare where the other side gives it its type."""
        if (
            isinstance(expr, t.Literal)
            and expr.type is not None
            and isinstance(other, t.Column | t.Call)
            and other.type is not None
        ):
            return self.text(expr)[0] if expr.type.kind is other.type.kind else self._at(expr, _SUM)
        return self._at(expr, _SUM)

    def _literal(self, value: object, type_: DataType | None) -> str:
        if type_ is not None and type_.kind is Kind.FLOAT and isinstance(value, float):
            text = format_value(value, type_)
            return f"{text[:-1]}F" if text.endswith("D") else text
        return format_value(value, type_, self._zone)  # type: ignore[arg-type]  # a literal's value is a Scalar

    def _chain(self, expr: t.And | t.Or) -> tuple[str, int]:
        if isinstance(expr, t.And):
            between = self._between(expr, "")
            if between is not None:
                return between, _COMPARISON
        word, binding = (" AND ", _AND) if isinstance(expr, t.And) else (" OR ", _OR)
        if not expr.parts:
            return ("TRUE" if isinstance(expr, t.And) else "FALSE"), _WHOLE
        if len(expr.parts) == 1:
            return self.text(expr.parts[0])
        shown = [self._at(part, binding + 1) for part in expr.parts[:MAX_LISTED]]
        if len(expr.parts) > MAX_LISTED:
            shown.append(f"... {len(expr.parts) - MAX_LISTED:,} more")
        return word.join(shown), binding

    def _between(self, expr: t.And, negation: str) -> str | None:
        match expr.parts:
            case (t.Compare(t.Op.GE, value, low), t.Compare(t.Op.LE, again, high)) if (
                value == again and type(value) is not t.Literal
            ):
                bounds = f"{self._beside(low, value)} AND {self._beside(high, value)}"
                return f"{self._at(value, _SUM)} {negation}BETWEEN {bounds}"
        return None

    def _not(self, part: Expr) -> tuple[str, int]:
        match part:
            case t.Compare(t.Op.EQ, t.Column() | t.Call() as value, t.Literal(True)) if _is_boolean(value):
                return f"NOT {self._at(value, _COMPARISON)}", _NOT
            case t.Compare(t.Op.EQ, left, right):
                return self._compared(left, "!=", right), _COMPARISON
            case t.Compare(t.Op.NULL_SAFE_EQ, left, right):
                return self._compared(left, "IS DISTINCT FROM", right), _COMPARISON
            case t.In() | t.Like() | t.IsNull() | t.IsTruth() | t.NullTest():
                return self._test(part, "NOT "), _COMPARISON
            case t.And() if (between := self._between(part, "NOT ")) is not None:
                return between, _COMPARISON
        return f"NOT {self._at(part, _COMPARISON)}", _NOT

    def _test(self, expr: t.In | t.Like | t.IsNull | t.IsTruth | t.NullTest, negation: str) -> str:
        match expr:
            case t.In(value, options):
                shown = [self._beside(option, value) for option in options[:MAX_LISTED]]
                if len(options) > MAX_LISTED:
                    shown.append(f"... {len(options) - MAX_LISTED:,} more")
                return f"{self._at(value, _SUM)} {negation}IN ({', '.join(shown)})"
            case t.Like(value, pattern, escape, kind):
                ending = "" if escape == "\\" or kind == "rlike" else f" ESCAPE {format_value(escape, None)}"
                return f"{self._at(value, _SUM)} {negation}{kind.upper()} {self._at(pattern, _SUM)}{ending}"
            case t.IsNull(part):
                return f"{self._at(part, _SUM)} IS {negation}NULL"
            case t.NullTest(column, _):
                return f"{name_text(column.path)} IS {negation}NULL"
            case t.IsTruth(part, truth):
                return f"{self._at(part, _SUM)} IS {negation}{'TRUE' if truth else 'FALSE'}"

    def _set(self, value: Expr, type_: DataType | None, expr: t.Member | t.Within) -> tuple[str, int]:
        text, word = comparison_text(self._at(value, _SUM), type_, expr.values, self._zone)
        return text, {"OR": _OR, "AND": _AND, "": _COMPARISON}[word]

    def _call(self, expr: t.Call) -> tuple[str, int]:
        match expr.function, expr.args:
            case ("+" | "-" | "*" | "/" | "%") as operator, (left, right):
                binding = _ARITHMETIC[operator]
                return f"{self._at(left, binding)} {operator} {self._at(right, binding + 1)}", binding
            case "negate", (value,):
                return f"-{self._at(value, _WHOLE)}", _UNARY
            case ("cast" | "try_cast") as function, (value,) if expr.type is not None:
                return f"{function.upper()}({self._at(value, _OR)} AS {type_name(expr.type)})", _WHOLE
            case (
                ("add_interval" | "timestampadd"),
                (value, t.Literal(int(months)), t.Literal(int(days)), t.Literal(int(micros))),
            ):
                return self._add_interval(value, months, days, micros), _SUM
            case "split[]", (text, pattern, t.Literal(limit), index):
                shown = (text, pattern) if limit == -1 else (text, pattern, t.Literal(limit))
                return f"split({', '.join(self._at(arg, _OR) for arg in shown)})[{self.text(index)[0]}]", _WHOLE
            case "[]", (value, index):
                return f"{self.text(value)[0]}[{self.text(index)[0]}]", _WHOLE
            case "struct", args:
                return f"({', '.join(self._at(arg, _OR) for arg in args)})", _WHOLE
            case "case", args:
                return self._case(args), _WHOLE
        return f"{expr.function}({', '.join(self._at(arg, _OR) for arg in expr.args)})", _WHOLE

    def _case(self, args: tuple[Expr, ...]) -> str:
        pairs = zip(args[:-1:2], args[1::2], strict=False)
        whens = " ".join(f"WHEN {self.text(test)[0]} THEN {self._at(value, _OR)}" for test, value in pairs)
        return f"CASE {whens} ELSE {self._at(args[-1], _OR)} END"

    def _add_interval(self, value: Expr, months: int, days: int, micros: int) -> str:
        text = self._at(value, _SUM)
        if months:
            text += f" {'-' if months < 0 else '+'} INTERVAL '{abs(months)}' MONTH"
        if days:
            text += f" {'-' if days < 0 else '+'} INTERVAL '{abs(days)}' DAY"
        if micros or not (months or days):
            seconds = f"{abs(micros) // 1_000_000}.{abs(micros) % 1_000_000:06d}".rstrip("0").rstrip(".")
            text += f" {'-' if micros < 0 else '+'} INTERVAL '{seconds}' SECOND"
        return text


def _is_boolean(value: t.Column | t.Call) -> bool:
    return value.type is not None and value.type.kind is Kind.BOOLEAN


def type_name(type_: DataType) -> str:
    """A type as Spark SQL names it."""
    return _TYPE_NAMES.get(type_.kind, str(type_).upper())
