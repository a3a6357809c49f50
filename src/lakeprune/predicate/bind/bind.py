"""Names become columns, literals become values of a known type.

In: an unbound tree, the table's columns, the session. Out: the same tree with Column for Name and typed literals. Unknown and
ambiguous columns, text that cannot be the column's type and values used as predicates are errors; a column whose values have
no order makes only its own comparison Opaque. Names are matched segment by segment, never as joined text.
"""

from __future__ import annotations

from msgspec.structs import replace

from lakeprune.errors import PredicateError
from lakeprune.predicate import tree as t
from lakeprune.predicate.bind import literals
from lakeprune.predicate.bind.names import METADATA, Resolver
from lakeprune.predicate.bind.refusals import (
    is_number,
    refused_arithmetic,
    refused_comparison,
    refused_list,
    refused_nested,
    refused_tuples,
)
from lakeprune.predicate.reasons import Reason, ReasonCode
from lakeprune.predicate.schema import Schema
from lakeprune.predicate.tree import Expr, Profile
from lakeprune.predicate.walk import nodes, type_of
from lakeprune.predicate.write.pasteable import whole_text
from lakeprune.predicate.write.show import show
from lakeprune.values.literals import depends_on_clock
from lakeprune.values.types import (
    BOOLEAN,
    DATE,
    FLOATING_KINDS,
    INTEGRAL_KINDS,
    NESTED_KINDS,
    STRING,
    TIME_KINDS,
    TIMESTAMP,
    DataType,
    Kind,
)

_PREDICATES = (t.Compare, t.In, t.Like, t.IsNull, t.IsTruth, t.And, t.Or, t.Not, t.Constant, t.Opaque, t.NullTest, t.Either)
_CAST_FOR_PATTERNS = INTEGRAL_KINDS | FLOATING_KINDS | TIME_KINDS | {Kind.DECIMAL}


class _Refused(Exception):
    """The enclosing boolean node cannot be decided by metadata."""

    def __init__(self, code: ReasonCode, message: str) -> None:
        super().__init__(message)
        self.reason = Reason(code, message)


def bind(expr: Expr, schema: Schema, profile: Profile, text: str) -> Expr:
    """The predicate with its columns found and its literals typed; `text` is what names point into."""
    return _Binder(schema, profile, text).predicate(expr)


class _Binder:
    def __init__(self, schema: Schema, profile: Profile, text: str) -> None:
        self._names = Resolver(schema, text)
        self._profile = profile
        self._text = text

    def predicate(self, expr: Expr) -> Expr:
        """A bound node that is TRUE, FALSE or NULL."""
        match expr:
            case t.And(parts):
                return t.And(_flat(t.And, [self.predicate(part) for part in parts]))
            case t.Or(parts):
                return t.Or(_flat(t.Or, [self.predicate(part) for part in parts]))
            case t.Not(part):
                return t.Not(self.predicate(part))
            case t.Constant():
                return expr
            case t.Opaque():
                return replace(expr, columns=self._columns(expr.columns))
        try:
            return self._leaf(expr)
        except _Refused as refused:
            whole = whole_text(expr, self._profile.zone)
            return t.Opaque(show(expr), refused.reason, self._columns(tuple(_names(expr))), whole)

    def _leaf(self, expr: Expr) -> Expr:
        match expr:
            case t.Compare():
                return self._compare(expr)
            case t.In():
                return self._in(expr)
            case t.Like(value, pattern, escape, kind):
                return t.Like(_as_text(self._value(value)), self._value(pattern), escape, kind)
            case t.IsNull(part):
                return self._is_null(part)
            case t.IsTruth(part, truth):
                return t.IsTruth(self.predicate(part), truth)
            case t.Literal(value=value):
                if value is None or isinstance(value, bool):
                    return t.Constant(value)
                raise self._not_boolean(expr, None)
        bound = self._value(expr)
        type_ = type_of(bound)
        if type_ is not None and type_.kind is not Kind.BOOLEAN:
            raise self._not_boolean(expr, type_)
        return t.Compare(t.Op.EQ, bound, t.Literal(True, BOOLEAN))

    def _compare(self, expr: t.Compare) -> Expr:
        if isinstance(expr.left, t.Call) and expr.left.function == "struct" and expr.op in (t.Op.EQ, t.Op.NULL_SAFE_EQ):
            self._refuse_tuples(expr, expr.left, (expr.right,))
            return self._equal_tuples(expr.left, expr.right)
        truth = self._truth_compare(expr)
        if truth is not None:
            return truth
        self._refuse_nested(expr)
        left, right = self._side(expr.left, expr.right), self._side(expr.right, expr.left)
        left, right = self._typed(left, right), self._typed(right, left)
        number = next((side for side in (left, right) if is_number(side)), None)
        self._refuse(refused_comparison(expr.op, left, right, self._profile), expr, number)
        bound = t.Compare(expr.op, left, right)
        meanings = literals.finer_or_coarser(bound) or literals.beyond_every_integer(bound)
        if meanings is not None:
            return t.Either(*meanings)
        written = (expr.left, expr.right)
        return _either_of(bound, [*literals.decimal_meanings(bound, written), *literals.overflowing(bound, written)])

    def _refuse_nested(self, expr: t.Compare) -> None:
        for name, literal in ((expr.left, expr.right), (expr.right, expr.left)):
            if isinstance(name, t.Name) and isinstance(literal, t.Literal) and literal.value is not None:
                column = self._names.column(name)
                if column is not None and column.type.kind in NESTED_KINDS:
                    self._refuse(refused_nested(column, self._names.leaves(name), expr.op, literal), expr)

    def _refuse(self, error: PredicateError | None, expr: Expr, number: Expr | None = None) -> None:
        if error is not None:
            name = next(iter(_names(expr)), None)
            error.where = self._names.where(name)
            error.fix = error.fix and self._names.replaced(name, number, error.fix)
            raise error

    def _side(self, expr: Expr, other: Expr) -> Expr:
        """The value of one side; a word that is not a column may be text without its quotes."""
        try:
            return self._value(expr)
        except PredicateError as error:
            name = expr.args[0] if isinstance(expr, t.Call) and expr.function == "negate" else expr
            if error.code == "LP102" and isinstance(name, t.Name):
                error.fix = self._names.meant(name, other) or error.fix
            raise

    def _truth_compare(self, expr: t.Compare) -> Expr | None:
        """`(a > 1) = TRUE` and its kin, as the predicate they are; None for an ordinary comparison."""
        for part, other in ((expr.left, expr.right), (expr.right, expr.left)):
            if not isinstance(part, _PREDICATES):
                continue
            if not isinstance(other, t.Literal) or not isinstance(other.value, bool):
                raise _Refused(ReasonCode.UNSUPPORTED_EXPRESSION, "a comparison between two predicates")
            bound = self.predicate(part)
            match expr.op:
                case t.Op.NULL_SAFE_EQ:
                    return t.IsTruth(bound, other.value)
                case t.Op.EQ | t.Op.NE:
                    return bound if (expr.op is t.Op.EQ) == other.value else t.Not(bound)
                case _:
                    raise _Refused(ReasonCode.UNSUPPORTED_EXPRESSION, "predicates have no order")
        return None

    def _in(self, expr: t.In) -> Expr:
        if isinstance(expr.value, _PREDICATES):
            raise _Refused(ReasonCode.UNSUPPORTED_EXPRESSION, "a predicate in a list")
        if isinstance(expr.value, t.Call) and expr.value.function == "struct":
            self._refuse_tuples(expr, expr.value, expr.options)
            return t.Or(tuple(self._equal_tuples(expr.value, option) for option in expr.options))
        value = self._value(expr.value)
        if all(isinstance(option, t.Literal) for option in expr.options):
            options = tuple([self._typed(option, value) for option in expr.options])
        else:
            bound = [self._side(option, expr.value) for option in expr.options]
            options = tuple(self._typed(option, value) for option in bound)
        number = next((option for option in options if is_number(option)), None)
        self._refuse(refused_list(value, expr.options, options, self._profile), expr, number)
        if _mixes_text_with_other_times(expr.options, options, type_of(value)):
            raise _Refused(ReasonCode.CROSS_TYPE, "text beside timestamps: Spark reads the text as a timestamp too")
        member = t.In(value, options)
        meanings = literals.finer_or_coarser(member) if literals.can_be_finer(type_of(value)) else None
        found = _either_of(member if meanings is None else t.Either(*meanings), literals.null_among_floats(member))
        if not any(literals.is_text(option) for option in expr.options):
            return found
        others = [*literals.decimal_meanings(member, expr.options), *literals.text_meanings(member, expr.options, self._profile)]
        return _either_of(found, others)

    def _equal_tuples(self, left: t.Call, right: Expr) -> Expr:
        """`(a, b) = (1, 2)`: a NULL in a tuple equals a NULL, so it is never NULL itself."""
        if not isinstance(right, t.Call) or right.function != "struct" or len(left.args) != len(right.args):
            raise _Refused(ReasonCode.UNSUPPORTED_EXPRESSION, "a tuple compared with something else")
        pairs = [(self._value(a), self._value(b)) for a, b in zip(left.args, right.args, strict=True)]
        for one, other in pairs:
            types = {type_of(one), type_of(other)} - {None}
            # Where Spark has a common type for them, it is text for one mode and a value for the other.
            if len(types) > 1 and not {type_.kind for type_ in types if type_ is not None} <= INTEGRAL_KINDS:
                raise _Refused(ReasonCode.CROSS_TYPE, "tuples whose parts are of different types")
        return t.And(tuple(t.Compare(t.Op.NULL_SAFE_EQ, one, other) for one, other in pairs))

    def _refuse_tuples(self, expr: t.Compare | t.In, left: t.Call, others: tuple[Expr, ...]) -> None:
        tuples = [each for each in (left, *others) if isinstance(each, t.Call) and each.function == "struct"]
        if len(tuples) == len(others) + 1 and all(len(each.args) == len(left.args) for each in tuples):
            first, *rest = [[self._value(part) for part in each.args] for each in tuples]
            self._refuse(refused_tuples(expr, first, rest, self._profile.zone), expr)

    def _is_null(self, part: Expr) -> Expr:
        if isinstance(part, t.Name):
            column = self._column(part, nested=True)
            if column.type.kind in NESTED_KINDS:
                return t.NullTest(column, self._names.leaves(part))
            return t.IsNull(column)
        return t.IsNull(self.predicate(part) if isinstance(part, _PREDICATES) else self._value(part))

    def _value(self, expr: Expr) -> Expr:
        """A bound node that has a value of some type; raises for whatever cannot be evaluated exactly."""
        match expr:
            case t.Name():
                return self._column(expr, nested=False)
            case t.Literal():
                return literals.own_type(expr)
            case t.Call():
                return self._call(expr)
            case t.Column():
                return expr
            case t.Constant(truth=truth):
                return t.Literal(truth, BOOLEAN)
        bound = self.predicate(expr)
        if any(isinstance(node, t.Opaque) for node in nodes(bound)):
            raise _Refused(ReasonCode.UNSUPPORTED_EXPRESSION, f"depends on `{show(expr)}`")
        return bound

    def _call(self, expr: t.Call) -> Expr:
        from lakeprune.predicate.functions.registry import ELEMENT, lookup, result_type

        if expr.function == ELEMENT:
            raise self._element(*expr.args)
        args = tuple(self._value(arg) for arg in expr.args)
        if expr.function in ("if", "case"):
            args = tuple(_without_true(arg) for arg in args)
        types = tuple(type_of(arg) for arg in args)
        self._check_conditions(expr, types)
        if any(isinstance(arg, t.Literal) and literals.is_finer_than_type(arg) for arg in args):
            raise _Refused(ReasonCode.UNSUPPORTED_EXPRESSION, "a timestamp finer than a microsecond inside an expression")
        function, args, types = _date_arithmetic(expr.function, args, types)
        if function in ("cast", "try_cast"):
            return t.Call(function, args, expr.type)
        type_ = result_type(function, types)
        if function == "round" and type_ is not None and type_.kind is Kind.DECIMAL:
            from lakeprune.predicate.functions.rounding import rounded_type

            digits = args[1] if len(args) > 1 else t.Literal(0)
            type_ = rounded_type(type_, digits.value) if isinstance(digits, t.Literal) else None
        if type_ is None:
            refused = refused_arithmetic(function, args, self._text)
            if refused is not None:
                refused.where = self._names.where(next(iter(_names(expr)), None))
                raise refused
            of = f" of {_list_of(types)}" if lookup(function) is not None else ""
            raise _Refused(ReasonCode.UNSUPPORTED_EXPRESSION, f"lakeprune cannot evaluate {_called(function)}{of}")
        return t.Call(function, args, type_)

    def _element(self, value: Expr, index: Expr) -> Exception:
        """Why `column[index]` cannot be decided: the column has no elements, or nobody has their statistics."""
        wrong = self._names.without_elements(value, index) if isinstance(value, t.Name) else None
        return wrong or _Refused(ReasonCode.NO_ORDERED_STATISTICS, "an element of an array or map")

    def _check_conditions(self, expr: t.Call, types: tuple[DataType | None, ...]) -> None:
        """LP104 when what IF or CASE WHEN decides on is not a predicate."""
        conditions = {"if": types[:1], "case": types[:-1:2]}.get(expr.function, ())
        for index, type_ in enumerate(conditions):
            if type_ is not None and type_.kind is not Kind.BOOLEAN:
                raise self._not_boolean(expr.args[2 * index], type_)

    def _typed(self, expr: Expr, other: Expr) -> Expr:
        """`expr`, with a string literal read as the type of what it is compared with."""
        if not isinstance(expr, t.Literal):
            return expr
        try:
            return literals.typed(expr, type_of(other), self._profile.zone)
        except ValueError as error:
            type_ = type_of(other)
            if type_ is not None and isinstance(expr.value, str) and depends_on_clock(expr.value, type_):
                raise _Refused(ReasonCode.UNSUPPORTED_EXPRESSION, f"'{expr.value}' depends on the clock") from error
            raise self._names.not_of_type(expr, other) from error

    def _column(self, name: t.Name, *, nested: bool) -> t.Column:
        column = self._names.column(name)
        if column is None:
            if name.parts[0].lower() == METADATA:
                raise _Refused(ReasonCode.UNSUPPORTED_EXPRESSION, "Spark knows this about a file, the table's metadata does not")
            raise _Refused(ReasonCode.NO_ORDERED_STATISTICS, f"{'.'.join(name.parts)} lies inside an array, map or variant")
        if not nested and (column.type.kind in NESTED_KINDS or column.type.kind is Kind.OTHER):
            raise _Refused(ReasonCode.NO_ORDERED_STATISTICS, f"{'.'.join(name.parts)} is of type {column.type}")
        return column

    def _columns(self, names: tuple[Expr, ...]) -> tuple[Expr, ...]:
        """Columns an Opaque node mentions: all must exist, those without values of their own are left out."""
        found = [self._names.column(name) for name in names if isinstance(name, t.Name)]
        return tuple(dict.fromkeys(column for column in found if column is not None))

    def _not_boolean(self, expr: Expr, type_: DataType | None) -> PredicateError:
        where = self._names.where(next(iter(_names(expr)), None))
        what = f"`{show(expr)}` is {'a value' if type_ is None else f'of type {type_}'}, not a predicate"
        return PredicateError("LP104", what, where=where, fix="compare it with something")


def _date_arithmetic(
    function: str, args: tuple[Expr, ...], types: tuple[DataType | None, ...]
) -> tuple[str, tuple[Expr, ...], tuple[DataType | None, ...]]:
    """`date + 3`, `3 + date` and `date - 3` are date_add and date_sub; `dateadd(DAY, 3, date)` is of a timestamp."""
    from lakeprune.predicate.functions.registry import MOVED

    if function == MOVED:
        is_moment = types[0] not in (DATE, STRING)
        moment = args[0] if is_moment else t.Call("cast", args[:1], TIMESTAMP)
        return "add_interval", (moment, *args[1:]), (type_of(moment), *types[1:])
    if len(args) != 2 or function not in ("+", "-"):
        return function, args, types
    left, right = types
    if left == DATE and right is not None and right.kind in INTEGRAL_KINDS:
        return ("date_add" if function == "+" else "date_sub"), args, types
    if right == DATE and left is not None and left.kind in INTEGRAL_KINDS and function == "+":
        return "date_add", (args[1], args[0]), (right, left)
    return function, args, types


def _mixes_text_with_other_times(written: tuple[Expr, ...], bound: tuple[Expr, ...], type_: DataType | None) -> bool:
    """`d IN (TIMESTAMP '2024-01-01 01:00:00', '2024-01-01 02:00:00')`: beside a timestamp the text keeps its hours."""
    if type_ is None or type_.kind not in TIME_KINDS or type_.kind is Kind.TIMESTAMP:
        return False
    has_text = any(isinstance(option, t.Literal) and option.type is None and isinstance(option.value, str) for option in written)
    return has_text and any(
        (found := type_of(option)) is not None and found.kind in TIME_KINDS - {type_.kind, Kind.DATE} for option in bound
    )


def _without_true(expr: Expr) -> Expr:
    """`flag = TRUE` as `flag`, which has the same value: one form for both."""
    match expr:
        case t.Compare(t.Op.EQ, t.Call() | t.Column() as value, t.Literal(True, type_)) if type_ == BOOLEAN:
            return value if type_of(value) == BOOLEAN else expr
        case _:
            return expr


def _flat(chain: type[t.And | t.Or], parts: list[Expr]) -> tuple[Expr, ...]:
    """The parts of one chain: `a AND ((b AND c) = TRUE)` has three."""
    return tuple(inner for part in parts for inner in (part.parts if isinstance(part, chain) else (part,)))


def _either_of(first: Expr, others: list[Expr]) -> Expr:
    """One of these meanings, it is not known which."""
    for other in others:
        first = t.Either(first, other)
    return first


def _as_text(value: Expr) -> Expr:
    """What a pattern is matched with: Spark casts numbers and times to text."""
    type_ = type_of(value)
    return t.Call("cast", (value,), STRING) if type_ is not None and type_.kind in _CAST_FOR_PATTERNS else value


def _called(function: str) -> str:
    return f"{function}()" if function.isidentifier() else function


def _list_of(types: tuple[DataType | None, ...]) -> str:
    return "(" + ", ".join("NULL" if type_ is None else str(type_) for type_ in types) + ")"


def _names(expr: Expr) -> list[t.Name]:
    return [node for node in nodes(expr) if isinstance(node, t.Name)]
