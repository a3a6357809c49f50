"""One comparison of a SQL hint, bound to the table's columns.

In: the comparison as the SQL front-end reads it, in the two time zones that are furthest apart. Out: a bound predicate, or
`NotUnderstood`. Nobody says which engine or zone a client has, so only what means the same to all of them is used. The exception
is what Spark alone writes: names behind `partitionValues.`, whose casts and functions are Spark's.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from lakeprune.errors import PredicateError
from lakeprune.predicate import tree as t
from lakeprune.predicate.bind.bind import bind
from lakeprune.predicate.read.sharing.columns import Columns, NotUnderstood, brief
from lakeprune.predicate.read.sharing.moments import moment
from lakeprune.predicate.schema import Role, Schema
from lakeprune.predicate.tree import Expr, Profile
from lakeprune.predicate.walk import nodes, type_of
from lakeprune.values.time.calendar import DAY
from lakeprune.values.time.zones import instant_of
from lakeprune.values.types import DATE, STRING, TIME_KINDS, TIMESTAMP, Kind

PREFIX = "partitionvalues"
_NOTHING = Schema(())  # names are columns already
_MOMENTS = TIME_KINDS - {Kind.DATE}
_MIRRORED = {t.Op.LT: t.Op.GT, t.Op.LE: t.Op.GE, t.Op.GT: t.Op.LT, t.Op.GE: t.Op.LE}
_LITERAL_CASTS = frozenset({Kind.DATE, Kind.STRING, Kind.INT, Kind.LONG})


class Reading(Struct, frozen=True):
    """A tree, or a part of it, and the session it was read in."""

    expr: Expr
    profile: Profile


def leaf(early: Reading, late: Reading, columns: Columns) -> Expr:
    """The predicate of one comparison; the readings differ in where texts without an offset lie."""
    check = _Checked(columns)
    bound = [_bound(Reading(check.expr(each.expr), each.profile)) for each in (early, late)]
    if any(isinstance(node, t.Opaque) for node in nodes(bound[0])):
        raise NotUnderstood("this cannot be decided by metadata")
    if not any(_is_moment(node) for node in nodes(bound[0])):
        _refuse_text_as_number(bound[0])
        return bound[0]
    return _moments(bound[0], bound[1], (early.profile.zone, late.profile.zone))


class _Checked:
    """Replaces names by columns, and refuses what clients read in different ways."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns

    def expr(self, expr: Expr) -> Expr:
        match expr:
            case t.Name(parts):
                if self._is_prefixed(expr) and self._partition(parts).type != STRING:
                    raise NotUnderstood(f"{brief('.'.join(parts))} is text, unless it is cast to the column's type")
                return self._partition(parts) if self._is_prefixed(expr) else self._columns.find(parts)
            case t.Literal() | t.Constant():
                return expr
            case t.Compare(op, left, right):
                return t.Compare(op, self.expr(left), self.expr(right))
            case t.In(value, options):
                return t.In(self.expr(value), tuple([self.expr(option) for option in options]))
            case t.IsNull(t.Name() as name):
                return t.IsNull(self._partition(name.parts) if self._is_prefixed(name) else self._columns.find(name.parts))
            case t.IsNull(part):
                return t.IsNull(self.expr(part))
            case t.Like(value, pattern, escape, "like") if escape == "\\":
                return t.Like(self.expr(value), self.expr(pattern), escape, "like")
            case t.Call():
                return self._call(expr)
            case t.Opaque(reason=reason):
                raise NotUnderstood(reason.message)
            case _:
                raise NotUnderstood("this is not an operator of SQL hints")

    def _call(self, call: t.Call) -> Expr:
        if call.function in ("cast", "try_cast") and len(call.args) == 1:
            (inside,) = call.args
            if isinstance(inside, t.Name):
                column = self._partition(inside.parts) if self._is_prefixed(inside) else self._columns.find(inside.parts)
                if column.type == call.type:
                    return column
                if not self._is_prefixed(inside) or column.type != STRING:
                    raise NotUnderstood(f"a cast of {brief('.'.join(inside.parts))} to another type")
            if isinstance(inside, t.Literal) and call.type is not None and call.type.kind in _LITERAL_CASTS:
                return call
        names = [node for node in nodes(call) if isinstance(node, t.Name)]
        if not names or not all(self._is_prefixed(name) for name in names):
            raise NotUnderstood(f"engines differ in what {call.function} gives")
        return replace(call, args=tuple(self.expr(arg) for arg in call.args))

    def _is_prefixed(self, name: t.Name) -> bool:
        return len(name.parts) > 1 and name.parts[0].lower() == PREFIX and not self._columns.has(PREFIX)

    def _partition(self, parts: tuple[str, ...]) -> t.Column:
        column = self._columns.find(parts[1:])
        if column.role is not Role.PARTITION:
            raise NotUnderstood(f"{brief('.'.join(parts[1:]))} is not a partition column")
        return column


def _bound(reading: Reading) -> Expr:
    try:
        return bind(reading.expr, _NOTHING, reading.profile, "")
    except PredicateError as error:
        raise NotUnderstood(error.what) from error


def _is_moment(node: Expr) -> bool:
    found = type_of(node) if isinstance(node, t.Column | t.Literal | t.Call) else None
    in_list = [type_of(option) for option in node.options] if isinstance(node, t.In) else []
    return any(type_ is not None and type_.kind in _MOMENTS for type_ in (found, *in_list))


def _refuse_text_as_number(bound: Expr) -> None:
    """`p = 5` of a text column compares numbers in Spark, and text in servers that cast the literal."""
    for node in nodes(bound):
        if not isinstance(node, t.Compare | t.In):
            continue
        sides = (node.left, node.right) if isinstance(node, t.Compare) else (node.value, *node.options)
        types = {found for side in sides if (found := type_of(side)) is not None}
        if len({type_ == STRING for type_ in types}) > 1:
            raise NotUnderstood("text is compared with something else")


def _moments(early: Expr, late: Expr, zones: tuple[str, str]) -> Expr:
    match early, late:
        case t.IsNull(t.Column()), _:
            return early
        case t.Compare(op, t.Column() as column, t.Literal() as first), t.Compare(_, _, t.Literal() as second):
            return _moment(op, column, (first, second), zones)
        case t.Compare(op, t.Literal() as first, t.Column() as column), t.Compare(_, t.Literal() as second, _):
            return _moment(_MIRRORED.get(op, op), column, (first, second), zones)
        case t.In(t.Column() as column, options), t.In(_, others):
            return t.Or(tuple([_moment(t.Op.EQ, column, pair, zones) for pair in zip(options, others, strict=True)]))
        case t.Compare(_, t.Column(), t.Column()), _ if early == late:
            return early
        case _:
            raise NotUnderstood("a timestamp in an expression depends on the client's time zone")


def _moment(op: t.Op, column: t.Column, pair: tuple[Expr, Expr], zones: tuple[str, str]) -> Expr:
    found = []
    for literal, zone in zip(pair, zones, strict=True):
        if not isinstance(literal, t.Literal):
            raise NotUnderstood("a timestamp is compared with a literal")
        if literal.value is None:  # to <=> it is a value like others
            return t.IsNull(column) if op is t.Op.NULL_SAFE_EQ else t.NULL
        is_day = literal.type == DATE and column.type == TIMESTAMP
        if not isinstance(literal.value, int) or not (is_day or literal.type == column.type) or op is t.Op.NULL_SAFE_EQ:
            raise NotUnderstood(f"{brief(column.path[0])} is of type {column.type}, the literal is not")
        found.append(instant_of(literal.value * DAY, zone) if is_day else literal.value)
    return moment(op, column, min(found), max(found))
