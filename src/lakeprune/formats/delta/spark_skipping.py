"""What Delta Spark itself uses of a predicate when it plans a scan, as far as that is documented and was seen.

In: bound conjuncts. Out: the same conjuncts with everything Delta Spark does not use made opaque, and why. Only what it is known
not to use is weakened:

    partition columns alone     any expression, evaluated exactly
    IN on a data column         the range from its least to its greatest value
    OR                          each branch by its data columns; a branch of partition columns alone disables the OR
    NOT                         only where it turns into another comparison
    functions                   none but the cast of a timestamp to a date; prefixes by LIKE 'a%' and startswith
    other columns, booleans     not compared
    x IS NOT NULL               for every column with which a condition is NULL: Spark adds it before Delta looks
    a missing statistic         keeps the file, whatever other columns say
    NaN                         only what bounds say: one that they hide is not looked for
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from msgspec.structs import replace

from lakeprune.formats.delta.indexed_columns import indexing_of
from lakeprune.formats.delta.spark_usable import WITHOUT_BOUNDS, is_rounded
from lakeprune.formats.own_skipping import OWN_ENGINES
from lakeprune.formats.snapshot import SnapshotFacts
from lakeprune.predicate import tree as t
from lakeprune.predicate.bind.literals import own_type
from lakeprune.predicate.functions.like_pattern import Wildcard, pieces_of
from lakeprune.predicate.passes.demand_values import inferred_by_spark
from lakeprune.predicate.passes.fold_constants import fold_constants
from lakeprune.predicate.passes.limit_terms import Limit
from lakeprune.predicate.passes.orient import orient
from lakeprune.predicate.passes.rebuild import conjuncts as flat
from lakeprune.predicate.passes.split import split
from lakeprune.predicate.reasons import Reason, ReasonCode
from lakeprune.predicate.schema import Role
from lakeprune.predicate.walk import columns_of, nodes
from lakeprune.skipping.plan import Plan, plan_clauses
from lakeprune.values.types import TIME_KINDS, DataType, Family, Kind

IN_LIST = "it uses only the least and the greatest value of an IN list"
MIXED_OR = "it does not use partition columns inside an OR with data columns"
NEGATION = "it does not use this NOT"
FUNCTION = "it does not use functions and arithmetic on data columns"
COLUMNS = "it does not compare columns with each other"
BOOLEANS = "it has no minimum and maximum for booleans and binary values"
PATTERN = "it uses only patterns that are a prefix"
NOT_INDEXED = "it does not use statistics of columns beyond the indexed ones"

_OPPOSITE = {t.Op.EQ: t.Op.NE, t.Op.NE: t.Op.EQ, t.Op.LT: t.Op.GE, t.Op.GE: t.Op.LT, t.Op.GT: t.Op.LE, t.Op.LE: t.Op.GT}


class DeltaSpark:
    flag = "delta-spark"
    name = OWN_ENGINES[flag]
    version = "4.4"
    is_separate = "it looks at every condition by itself"
    keeps_gaps = "one missing statistic makes it keep a file, whatever other columns say"

    def __init__(self, facts: SnapshotFacts, profile: t.Profile) -> None:
        self._evidence = facts.evidence
        self._indexing = indexing_of(facts)
        self._profile = profile
        self._reasons: dict[str, None] = {}

    def is_trusted_with(self, predicate: t.Expr) -> bool:
        """Not with decimals whose bounds a writer may have rounded. A hidden NaN is what `explain` assumes not to be there."""
        return not any(is_rounded(column) for column in columns_of(predicate))

    def plan(self, conjuncts: Iterable[t.Expr]) -> tuple[Plan, tuple[str, ...]]:
        """The plan of what it uses; every conjunct by itself, since it does not join ranges of one column."""
        self._reasons = {}
        clauses: list[t.Clause] = []
        limit = Limit()  # of the whole predicate; each conjunct is split by itself
        for conjunct in conjuncts:
            ready = orient(fold_constants(conjunct, self._profile), self._profile)
            is_exact = all(column.role is Role.PARTITION for column in columns_of(ready))
            for part in flat(ready):
                found = self._clauses(part, is_exact=is_exact)
                clauses += [replace(clause, predicate=limit.within(clause.predicate)) for clause in found]
        return plan_clauses(clauses, self._evidence, t.NanPolicy.ASSUME), tuple(self._reasons)

    def _clauses(self, part: t.Expr, *, is_exact: bool) -> Iterable[t.Clause]:
        found = split(part, self._profile)
        is_decided = all(isinstance(clause.predicate, t.Constant) for clause in found)
        if is_exact or (is_decided and not any(isinstance(node, t.Call) and columns_of(node) for node in nodes(part))):
            return found  # what is decided without a row, Spark decides before Delta looks; it does not look into functions
        used = self._used(part)
        is_whole = not any(isinstance(node, t.Opaque) for node in nodes(used))
        parts = (*flat(used), *(() if is_whole else self._values_demanded(part)))
        return [clause for one in parts for clause in split(one, self._profile)]

    def _values_demanded(self, conjunct: t.Expr) -> Iterable[t.Expr]:
        """Spark adds `x IS NOT NULL` to whatever is NULL with x, and Delta uses that, also where it uses nothing else."""
        for column in inferred_by_spark(conjunct):
            if column.role is Role.DATA and self._indexing.includes(column.path):
                yield t.Not(t.IsNull(column))

    def _used(self, expr: t.Expr) -> t.Expr:
        match expr:
            case t.And(parts):
                return t.And(tuple(self._used(part) for part in parts))
            case t.Or(parts):
                return t.Or(tuple(self._used(part) for part in parts))
            case t.Either(outer, inner):
                return t.Either(self._used(outer), self._used(inner))
            case t.Not(part):
                return self._negated(part)
            case t.IsTruth(t.IsNull() as part, truth):
                return self._used(part if truth else t.Not(part))
            case t.In(value, (option,)):
                return self._used(t.Compare(t.Op.EQ, value, option))
            case t.Constant() | t.Opaque() | t.Literal():
                return expr
        if any(column.role is Role.PARTITION for column in columns_of(expr)):
            return self._unused(MIXED_OR)
        if not all(self._indexing.includes(column.path) for column in columns_of(expr)):
            return self._unused(NOT_INDEXED)
        return self._leaf(expr)

    def _negated(self, part: t.Expr) -> t.Expr:
        match part:
            case t.And(parts):
                return t.Or(tuple(self._negated(inner) for inner in parts))
            case t.Or(parts):
                return t.And(tuple(self._negated(inner) for inner in parts))
            case t.Not(inner):
                return self._used(inner)
            case t.IsTruth(t.IsNull() as inner, truth):
                return self._used(t.Not(inner) if truth else inner)
            case t.In(value, (option,)):
                return self._used(t.Compare(t.Op.NE, value, option))
            case t.In(_, options) if any(isinstance(option, t.Literal) and option.value is None for option in options):
                return t.NULL  # never TRUE, as Spark sees before Delta looks
            case t.Compare(op, left, right) if op in _OPPOSITE:
                return self._used(t.Compare(_OPPOSITE[op], left, right))
            case t.IsNull(t.Column()) | t.Constant():
                used = self._used(part)
                return used if isinstance(used, t.Opaque) else t.Not(used)
            case _:
                return self._unused(NEGATION)

    def _leaf(self, leaf: t.Expr) -> t.Expr:
        match leaf:
            case t.Compare(_, t.Column(type=type_), t.Literal()) if type_.kind in WITHOUT_BOUNDS:
                return self._unused(BOOLEANS)
            case t.Compare(_, t.Column(type=type_), t.Literal() as literal) if _is_cast_inexactly(type_, literal):
                return self._unused(FUNCTION)
            case t.Compare(_, t.Column(), t.Literal()) | t.IsNull(t.Column()):
                return leaf
            case t.Compare(t.Op.EQ, t.Call("startswith", (t.Column(), t.Literal())), t.Literal(True)):
                return leaf
            case t.Compare(_, t.Call("to_date" | "cast", (t.Column(type=type_),), target) as call, t.Literal()):
                to_date = call.function == "to_date" or (target is not None and target.kind is Kind.DATE)
                if to_date and type_.kind in (Kind.TIMESTAMP, Kind.TIMESTAMP_NTZ):
                    return leaf
            case t.In(t.Column() as column, options):
                return self._envelope(column, options)
            case t.Like(t.Column(), t.Literal(value=str() as pattern), escape, "like"):
                return leaf if _begins_plainly(pattern, escape) else self._unused(PATTERN)
            case t.Like():
                return self._unused(PATTERN)
            case t.Compare(_, t.Column(), t.Column()):
                return self._unused(COLUMNS)
            case t.Column():
                return self._unused(BOOLEANS)
        return self._unused(FUNCTION)

    def _envelope(self, column: t.Column, options: tuple[t.Expr, ...]) -> t.Expr:
        literals = [option for option in options if isinstance(option, t.Literal) and option.value is not None]
        types = {literal.type for literal in literals}
        is_whole = len(literals) == sum(not isinstance(option, t.Literal) or option.value is not None for option in options)
        is_one_order = len(types) == 1 or all(isinstance(literal.value, int | Decimal) for literal in literals)
        if not literals or not is_whole or not is_one_order or column.type.kind in WITHOUT_BOUNDS or any(map(_is_nan, literals)):
            return self._unused(IN_LIST)
        times = {column.type.kind, *(type_.kind for type_ in types if type_ is not None)} & TIME_KINDS
        if len(times) > 1 or any(_is_cast_inexactly(column.type, literal) for literal in literals):
            return self._unused(FUNCTION)
        if len(literals) > 1:
            self._reasons[IN_LIST] = None
        ordered = sorted(literals, key=lambda literal: literal.value)  # type: ignore[arg-type,return-value]  # of one type
        return t.And((t.Compare(t.Op.GE, column, ordered[0]), t.Compare(t.Op.LE, column, ordered[-1])))

    def _unused(self, why: str) -> t.Opaque:
        self._reasons[why] = None
        return t.Opaque("...", Reason(ReasonCode.OPAQUE_ON_DATA, why))


def _is_cast_inexactly(column: DataType, literal: t.Literal) -> bool:
    """Whether Spark compares as doubles what a double cannot hold: it then leaves the cast around the column."""
    is_real = literal.type is not None and literal.type.family is Family.REAL
    return (is_real and (column.family is Family.DECIMAL or column.kind is Kind.LONG)) or _was_text(column, literal)


def _was_text(column: DataType, literal: t.Literal) -> bool:
    """Whether a decimal was written as text: it has the column's own type then, and digits of another.

    A CAST to that very type looks the same; Delta Spark uses it, and is taken here for reading more than it does.
    """
    if column.kind is not Kind.DECIMAL or literal.type != column or not isinstance(literal.value, Decimal):
        return False
    return own_type(t.Literal(literal.value)).type != column


def _begins_plainly(pattern: str, escape: str) -> bool:
    try:
        pieces = pieces_of(pattern, escape)
    except ValueError:
        return False
    return bool(pieces) and isinstance(pieces[0], str) and Wildcard.ONE not in pieces


def _is_nan(literal: t.Literal) -> bool:
    return isinstance(literal.value, float) and literal.value != literal.value
