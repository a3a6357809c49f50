"""sqlglot's nodes of one term, turned into the predicate tree.

In: a syntax tree in which functions are still as written. Out: Name, Literal, Call, Compare, ... Anything else raises
`Unsupported`, which costs the term its pruning and nothing more; subqueries, aggregates and windows are errors (LP105).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from sqlglot import exp

from lakeprune.errors import PredicateError
from lakeprune.predicate import tree as t
from lakeprune.predicate.clock import Clock
from lakeprune.predicate.functions.registry import ELEMENT
from lakeprune.predicate.read.sql.functions import Unsupported, add_interval, add_unit, call, element_of, field_of
from lakeprune.predicate.read.sql.literals import Interval, interval, negated, number
from lakeprune.predicate.read.sql.types import cast_literal, data_type
from lakeprune.predicate.tree import Expr
from lakeprune.values.types import BOOLEAN, DataType, Kind

if TYPE_CHECKING:
    from lakeprune.predicate.read.sql.terms import Rewritten

MAX_CHAIN = 100  # operators of one kind in a row inside a term: a + b + c + ...

_COMPARISONS: dict[type[exp.Expr], t.Op] = {
    exp.EQ: t.Op.EQ, exp.NEQ: t.Op.NE, exp.LT: t.Op.LT, exp.LTE: t.Op.LE, exp.GT: t.Op.GT, exp.GTE: t.Op.GE,
    exp.NullSafeEQ: t.Op.NULL_SAFE_EQ,
}  # fmt: skip
_ARITHMETIC: dict[type[exp.Expr], str] = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/", exp.Mod: "%"}
_LIKES: dict[type[exp.Expr], str] = {exp.Like: "like", exp.ILike: "ilike", exp.RegexpLike: "rlike"}
_NAMES: dict[type[exp.Expr], str] = {
    exp.AtTimeZone: "AT TIME ZONE", exp.BitwiseAnd: "the operator &", exp.BitwiseOr: "the operator |",
    exp.BitwiseXor: "the operator ^", exp.BitwiseNot: "the operator ~", exp.IntDiv: "the operator DIV",
    exp.Lambda: "a lambda", exp.Interval: "an interval", exp.Array: "an array", exp.Kwarg: "a named argument",
}  # fmt: skip
_ORDERS = (t.Op.LT, t.Op.LE, t.Op.GT, t.Op.GE)
_TRUTHS = frozenset({"t", "true", "y", "yes", "1", "f", "false", "n", "no", "0"})  # text that Spark casts to a boolean
_PREDICATES = (exp.Is, exp.In, exp.Between, exp.Like, exp.ILike, exp.RegexpLike, exp.Escape, exp.Not, exp.NullSafeNEQ)
_WITH_UNIT = frozenset({"datediff", "date_diff", "timestampdiff", "dateadd", "date_add", "timestampadd"})
_FORBIDDEN = (exp.Query, exp.Window, exp.Exists)


def names_in(node: exp.Expr, written: Rewritten) -> tuple[t.Name, ...]:
    """Every column that occurs below `node`, once each; parameters of lambdas are not columns."""
    found: dict[tuple[str, ...], t.Name] = {}
    for column in node.find_all(exp.Column):
        if not isinstance(column.this, exp.Star) and not _is_unit(column):
            name = _name(column.parts, written)
            found.setdefault(name.parts, name)
    return tuple(found.values())


def _begins_with_unit(node: exp.Expr) -> bool:
    """`timestampdiff(DAY, a, b)`: its first argument is a word of the grammar, not a column."""
    return isinstance(node, exp.Anonymous) and node.name.lower() in _WITH_UNIT and len(node.expressions) == 3


def _is_unit(column: exp.Column) -> bool:
    call = column.parent
    return call is not None and _begins_with_unit(call) and call.expressions[0] is column


def _name(parts: list[exp.Expr] | tuple[exp.Expr, ...], written: Rewritten) -> t.Name:
    first, last = parts[0].meta.get("start"), parts[-1].meta.get("end")
    texts = tuple(part.name for part in parts)
    if first is None or last is None:
        return t.Name(texts)
    return t.Name(texts, written.origin(first), written.origin(last) + 1)


class Converter:
    """Turns the nodes of one term into tree nodes."""

    def __init__(self, written: Rewritten, clock: Clock) -> None:
        self._written = written
        self._clock = clock
        self._depth = 0
        self._converters: dict[type[exp.Expr], Callable[[exp.Expr], Expr]] = {
            exp.Column: self._column, exp.Dot: self._dot, exp.Paren: lambda n: self.expression(n.this),
            exp.Literal: _literal, exp.Boolean: lambda n: t.Literal(bool(n.this), BOOLEAN), exp.Null: lambda _: t.Literal(None),
            exp.HexString: _hex, exp.Neg: self._negate, exp.Not: lambda n: t.Not(self.expression(n.this)),
            exp.And: self._connective, exp.Or: self._connective, exp.Is: self._is, exp.Between: self._between,
            exp.In: self._in, exp.Escape: self._escape, exp.NullSafeNEQ: self._distinct, exp.DPipe: self._concat,
            exp.Cast: self._cast, exp.TryCast: self._cast, exp.Case: self._case, exp.Anonymous: self._function,
            exp.CurrentDate: lambda _: self._clock.literal("current_date"),
            exp.CurrentTimestamp: lambda _: self._clock.literal("current_timestamp"),
            exp.Extract: self._extract, exp.Trim: self._trim, exp.Substring: self._substring,
            exp.StrPosition: self._position, exp.Bracket: self._bracket, exp.Tuple: self._tuple,
            **dict.fromkeys(_COMPARISONS, self._compare), **dict.fromkeys(_ARITHMETIC, self._arithmetic),
            **dict.fromkeys(_LIKES, self._like),
        }  # fmt: skip

    def expression(self, node: exp.Expr) -> Expr:
        """The tree node for `node`."""
        if isinstance(node, _FORBIDDEN):
            what = "a window function" if isinstance(node, exp.Window) else "a subquery"
            raise PredicateError("LP105", f"{what} cannot be part of a predicate", why="it needs other rows to be read")
        convert = self._converters.get(type(node))
        if convert is None:
            self._reject_forbidden(node)
            raise Unsupported(_NAMES.get(type(node), "this form of SQL"))
        self._depth += 1
        if self._depth > MAX_CHAIN:
            raise Unsupported(f"more than {MAX_CHAIN} operators inside one another")
        converted = convert(node)
        self._depth -= 1
        return converted

    def _reject_forbidden(self, node: exp.Expr) -> None:
        """An unknown construct hides nothing: what is an error outside it is an error inside it."""
        for child in node.iter_expressions():
            if isinstance(child, _FORBIDDEN):
                self.expression(child)
            self._reject_forbidden(child)

    def _column(self, node: exp.Expr) -> Expr:
        if not isinstance(node, exp.Column) or isinstance(node.this, exp.Star):
            raise Unsupported("`*`")
        return _name(node.parts, self._written)

    def _dot(self, node: exp.Expr) -> Expr:
        parts: list[exp.Expr] = []
        while isinstance(node, exp.Dot):
            parts.append(node.expression)
            node = node.this
        inner = self.expression(node) if isinstance(node, exp.Column | exp.Bracket) else None
        if not isinstance(inner, t.Name) or not all(isinstance(part, exp.Identifier) for part in parts):
            raise Unsupported("a field of an expression")
        last = _name(parts[:1], self._written)
        return t.Name((*inner.parts, *(part.name for part in reversed(parts))), inner.start, last.end)

    def _negate(self, node: exp.Expr) -> Expr:
        value = self.expression(node.this)
        if isinstance(value, t.Literal) and isinstance(value.value, bool | str | bytes | None):
            raise Unsupported("minus before something that is not a number")
        if isinstance(value, t.Literal) and _is_plain_number(value):
            return negated(value)
        return t.Call("negate", (value,))

    def _connective(self, node: exp.Expr) -> Expr:
        kind = type(node)
        parts: list[Expr] = []
        while type(node) is kind:
            parts.append(self.expression(node.expression))
            node = node.this
        parts.append(self.expression(node))
        parts.reverse()
        made = t.And if kind is exp.And else t.Or
        flat = [inner for part in parts for inner in (part.parts if isinstance(part, made) else (part,))]
        return made(tuple(flat))

    def _compare(self, node: exp.Expr) -> Expr:
        left, right = node.this, node.expression
        op = _COMPARISONS[type(node)]
        if isinstance(right, exp.Is | exp.Not):
            # Spark reads `a > 5 IS NOT TRUE` as `(a > 5) IS NOT TRUE`, sqlglot as `a > (5 IS NOT TRUE)`.
            test = right.this if isinstance(right, exp.Not) else right
            if isinstance(test, exp.Is):
                inner = t.Compare(op, self.expression(left), self.expression(test.this))
                found = _truth_test(inner, test.expression)
                return t.Not(found) if isinstance(right, exp.Not) else found
        # `a = b > 5` is `(a = b) > 5` to Spark, and `a = (b > 5)` to sqlglot.
        last = right if type(right) in _COMPARISONS else node
        is_refused = self._clock.ansi or _COMPARISONS[type(last)] in _ORDERS  # TRUE = 1 is, without ANSI mode
        if (last is right or type(left) in _COMPARISONS) and is_refused and _is_number(last.expression):
            what = f"a comparison is TRUE or FALSE, {last.expression.name} is a number"
            raise PredicateError("LP106", what, why="Spark does not compare them")
        if last is node and type(left) in _COMPARISONS and self._clock.ansi and _is_no_truth(right):
            what = f"a comparison is TRUE or FALSE, '{right.name}' is other text"
            raise PredicateError("LP106", what, why="Spark's ANSI mode, the default, fails on it")
        if isinstance(left, _PREDICATES) or isinstance(right, (*_PREDICATES, *_COMPARISONS)):
            raise Unsupported("comparisons in a row without parentheses")
        return t.Compare(op, self.expression(left), self.expression(right))

    def _distinct(self, node: exp.Expr) -> Expr:
        return t.Not(t.Compare(t.Op.NULL_SAFE_EQ, self.expression(node.this), self.expression(node.expression)))

    def _is(self, node: exp.Expr) -> Expr:
        return _truth_test(self.expression(node.this), node.expression)

    def _between(self, node: exp.Expr) -> Expr:
        if node.args.get("symmetric"):
            raise Unsupported("BETWEEN SYMMETRIC")
        value = self.expression(node.this)
        low, high = self.expression(node.args["low"]), self.expression(node.args["high"])
        return t.And((t.Compare(t.Op.GE, value, low), t.Compare(t.Op.LE, value, high)))

    def _in(self, node: exp.Expr) -> Expr:
        if node.args.get("query"):
            self.expression(node.args["query"])
        options = node.args.get("expressions")
        if not options or node.args.get("unnest") or node.args.get("field"):
            raise PredicateError("LP101", "the predicate does not parse", why="IN needs a list of values in parentheses")
        depth = self._depth
        value = self.expression(node.this)
        converted = tuple(self.expression(option) for option in options)
        self._depth = depth
        return t.In(value, converted)

    def _like(self, node: exp.Expr, escape: str = "\\") -> Expr:
        kind = _LIKES[type(node)]
        value = self.expression(node.this)
        pattern = node.expression
        negated = bool(node.args.get("negate"))
        if not isinstance(pattern, exp.Any | exp.All):
            found: Expr = t.Like(value, self.expression(pattern), escape, kind)
            return t.Not(found) if negated else found
        listed = pattern.this
        patterns = listed.expressions if isinstance(listed, exp.Tuple) else [listed]
        likes: list[Expr] = [t.Like(value, self.expression(p), escape, kind) for p in patterns]
        parts = tuple(t.Not(like) if negated else like for like in likes)
        return t.Or(parts) if isinstance(pattern, exp.Any) else t.And(parts)

    def _escape(self, node: exp.Expr) -> Expr:
        escape = node.expression.name
        if type(node.this) not in _LIKES or len(escape) != 1:
            raise PredicateError("LP101", "the predicate does not parse", why="ESCAPE needs one character")
        return self._like(node.this, escape)

    def _arithmetic(self, node: exp.Expr) -> Expr:
        function = _ARITHMETIC[type(node)]
        if isinstance(node.this, exp.DPipe) or isinstance(node.expression, exp.DPipe):
            raise Unsupported("|| beside an arithmetic operator without parentheses")
        if function in "+-":
            right = self._interval(node.expression)
            if right is not None and self._interval(node.this) is None:
                span = (right if function == "+" else right.negated()).normal()
                return add_interval(self.expression(node.this), span)
            left = self._interval(node.this)
            if left is not None and right is None and function == "+":
                return add_interval(self.expression(node.expression), left)
        return t.Call(function, (self.expression(node.this), self.expression(node.expression)))

    def _interval(self, node: exp.Expr) -> Interval | None:
        """The length of an interval expression, None when it is not one."""
        if isinstance(node, exp.Paren):
            return self._interval(node.this)
        if isinstance(node, exp.Neg):
            inner = self._interval(node.this)
            return None if inner is None else inner.negated()
        if isinstance(node, exp.Add) and isinstance(node.expression, exp.Interval):
            left, right = self._interval(node.this), self._interval(node.expression)
            return None if left is None or right is None else left.plus(right)
        if not isinstance(node, exp.Interval):
            return None
        unit, to_unit = node.args.get("unit"), None
        if isinstance(unit, exp.IntervalSpan):
            unit, to_unit = unit.this, unit.expression
        if not isinstance(node.this, exp.Literal):
            raise Unsupported("an interval that is not a constant")
        try:
            return interval(node.this.name, unit and unit.name, to_unit and to_unit.name)
        except ValueError as error:
            raise Unsupported("an interval of this form") from error

    def _concat(self, node: exp.Expr) -> Expr:
        if isinstance(node.expression, exp.Add | exp.Sub) or isinstance(node.this, exp.Add | exp.Sub):
            raise Unsupported("|| beside an arithmetic operator without parentheses")
        left, right = self.expression(node.this), self.expression(node.expression)
        joined = left.args if isinstance(node.this, exp.DPipe) and isinstance(left, t.Call) else (left,)
        return t.Call("concat", (*joined, right))

    def _cast(self, node: exp.Expr) -> Expr:
        type_ = data_type(node.args["to"])
        if type_ is None or node.args.get("format") or node.args.get("default"):
            raise Unsupported("a cast to this type")
        value = self.expression(node.this)
        # sqlglot reads both `CAST(x AS t)` and `1L` as a cast that never fails; only TRY_CAST is marked safe.
        function = "try_cast" if node.args.get("safe") else "cast"
        is_typed_literal = type(node) is exp.Cast and isinstance(node.this, exp.Literal)
        if isinstance(value, t.Literal) and isinstance(node.this, exp.Literal):
            folded = cast_literal(value, type_, self._clock.zone, strict=is_typed_literal)
            if folded is not None:
                return folded
        return t.Call(function, (value,), type_)

    def _case(self, node: exp.Expr) -> Expr:
        args: list[Expr] = []
        subject = None if node.this is None else self.expression(node.this)
        for branch in node.args["ifs"]:
            condition = self.expression(branch.this)
            args.append(condition if subject is None else t.Compare(t.Op.EQ, subject, condition))
            args.append(self.expression(branch.args["true"]))
        default = node.args.get("default")
        args.append(t.Literal(None) if default is None else self.expression(default))
        return t.Call("case", tuple(args))

    def _function(self, node: exp.Expr) -> Expr:
        children = node.expressions
        if node.name.lower() in ("dateadd", "date_add", "timestampadd") and len(children) == 3:
            unit = children[0]
            return add_unit(unit.name, self.expression(children[1]), self.expression(children[2]))
        if node.name.lower() in ("date_add", "date_sub") and len(children) == 2 and isinstance(children[1], exp.Interval):
            raise PredicateError("LP106", f"{node.name.lower()} takes a number of days, not an interval", why="Spark refuses it")
        if _begins_with_unit(node):
            raise Unsupported(f"{node.name.lower()} with a unit")
        return call(node.name, tuple(self.expression(child) for child in children), self._clock)

    def _extract(self, node: exp.Expr) -> Expr:
        return field_of(node.name, self.expression(node.expression))

    def _position(self, node: exp.Expr) -> Expr:
        parts = (node.args["substr"], node.this, node.args.get("position"))
        return t.Call("locate", tuple(self.expression(part) for part in parts if part is not None))

    def _bracket(self, node: exp.Expr) -> Expr:
        if len(node.expressions) != 1:
            raise Unsupported("an element of an array or map")
        value, index = self.expression(node.this), self.expression(node.expressions[0])
        if isinstance(value, t.Name) and not (isinstance(index, t.Literal) and isinstance(index.value, str)):
            return t.Call(ELEMENT, (value, index))
        return element_of(value, index)

    def _tuple(self, node: exp.Expr) -> Expr:
        return t.Call("struct", tuple(self.expression(part) for part in node.expressions))

    def _trim(self, node: exp.Expr) -> Expr:
        side = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(str(node.args.get("position") or "").upper(), "trim")
        if node.expression is not None:
            raise Unsupported(f"{side} with the characters to remove")
        return t.Call(side, (self.expression(node.this),))

    def _substring(self, node: exp.Expr) -> Expr:
        parts = (node.this, node.args.get("start"), node.args.get("length"))
        return call("substring", tuple(self.expression(part) for part in parts if part is not None), self._clock)


def _is_no_truth(node: exp.Expr) -> bool:
    """Whether it is text that no cast takes for TRUE or FALSE."""
    return isinstance(node, exp.Literal) and node.is_string and node.name.strip().lower() not in _TRUTHS


def _truth_test(part: Expr, against: exp.Expr) -> Expr:
    if isinstance(against, exp.Null):
        return t.IsNull(part)
    if isinstance(against, exp.Boolean):
        return t.IsTruth(part, bool(against.this))
    if isinstance(against, exp.Literal):
        raise PredicateError("LP101", "the predicate does not parse", why="IS stands before NULL, TRUE and FALSE")
    raise Unsupported("IS with something that is not NULL, TRUE or FALSE")


def _literal(node: exp.Expr) -> Expr:
    if node.args.get("is_string"):
        return t.Literal(node.name)
    try:
        return number(node.name)
    except (ValueError, ArithmeticError) as error:
        raise PredicateError("LP101", "the predicate does not parse", why=f"`{node.name}` is not a number") from error


def _hex(node: exp.Expr) -> Expr:
    digits = node.name
    if not re.fullmatch(r"[0-9a-fA-F]*", digits):
        raise PredicateError("LP101", "the predicate does not parse", why="X'...' holds hexadecimal digits only")
    return t.Literal(bytes.fromhex(digits if len(digits) % 2 == 0 else "0" + digits), DataType(Kind.BINARY))


def _is_number(node: exp.Expr) -> bool:
    return isinstance(node, exp.Literal) and not node.args.get("is_string")


def _is_plain_number(literal: t.Literal) -> bool:
    kinds = (None, Kind.BYTE, Kind.SHORT, Kind.INT, Kind.LONG, Kind.FLOAT, Kind.DOUBLE, Kind.DECIMAL)
    return (literal.type.kind if literal.type else None) in kinds
