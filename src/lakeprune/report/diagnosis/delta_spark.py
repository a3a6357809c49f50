"""What Delta Spark itself uses of a predicate when it plans a scan, as far as that is documented and was seen.

In: bound conjuncts. Out: the same conjuncts with everything Delta Spark does not use made opaque, and why. Only what it is known
not to use is weakened, so the files of the result are at most those Delta Spark reads:

    partition columns alone     any expression, evaluated exactly
    IN on a data column         the range from its least to its greatest value
    OR                          each branch by its data columns; a branch of partition columns alone disables the OR
    NOT                         only where it turns into another comparison
    functions                   none but the cast of a timestamp to a date; prefixes by LIKE 'a%' and startswith
    other columns, booleans     not compared
    a missing statistic         keeps the file, whatever other columns say
"""

from __future__ import annotations

from collections.abc import Iterable

from lakeprune.formats.snapshot import SnapshotFacts
from lakeprune.predicate.functions.like_pattern import Wildcard, pieces_of
from lakeprune.predicate.passes.fold_constants import fold_constants
from lakeprune.predicate.passes.orient import orient
from lakeprune.predicate.passes.rebuild import conjuncts as flat
from lakeprune.predicate.passes.split import split
from lakeprune.predicate.reasons import Reason, ReasonCode
from lakeprune.predicate.schema import Role
from lakeprune.predicate.tree import (
    And,
    Call,
    Clause,
    Column,
    Compare,
    Constant,
    Either,
    Expr,
    In,
    IsNull,
    Like,
    Literal,
    Not,
    Op,
    Opaque,
    Or,
    Profile,
)
from lakeprune.predicate.walk import columns_of
from lakeprune.report.diagnosis.case import Patterns, amount_where
from lakeprune.report.diagnosis.indexed_columns import is_indexed
from lakeprune.report.verdict import clause_needs, lacks_needed
from lakeprune.skipping.plan import Plan, plan_clauses
from lakeprune.values.types import Kind

IN_LIST = "it uses only the least and the greatest value of an IN list"
MIXED_OR = "it does not use partition columns inside an OR with data columns"
NEGATION = "it does not use this NOT"
FUNCTION = "it does not use functions and arithmetic on data columns"
COLUMNS = "it does not compare columns with each other"
BOOLEANS = "it has no minimum and maximum for booleans"
PATTERN = "it uses only patterns that are a prefix"
NOT_INDEXED = "it does not use statistics of columns beyond the indexed ones"
ONE_BY_ONE = "it looks at every condition by itself"
MISSING = "one missing statistic makes it keep a file, whatever other columns say"

_OPPOSITE = {Op.EQ: Op.NE, Op.NE: Op.EQ, Op.LT: Op.GE, Op.GE: Op.LT, Op.GT: Op.LE, Op.LE: Op.GT}


class DeltaSpark:
    """Weakens the conjuncts of one table; `reasons` gathers why, in order of appearance."""

    def __init__(self, facts: SnapshotFacts, profile: Profile) -> None:
        self._facts = facts
        self._profile = profile
        self.reasons: dict[str, None] = {}

    def plan(self, conjuncts: Iterable[Expr]) -> Plan:
        """The plan of what it uses; every conjunct by itself, since it does not join ranges of one column."""
        clauses: list[Clause] = []
        for conjunct in conjuncts:
            ready = orient(fold_constants(conjunct, self._profile), self._profile)
            for part in flat(self._weaken(ready)):
                clauses += split(part, self._profile)
        return plan_clauses(clauses, self._facts.evidence)

    def _weaken(self, expr: Expr) -> Expr:
        columns = columns_of(expr)
        if all(column.role is Role.PARTITION for column in columns):
            return expr
        return self._used(expr)

    def _used(self, expr: Expr) -> Expr:
        match expr:
            case And(parts):
                return And(tuple(self._used(part) for part in parts))
            case Or(parts):
                return Or(tuple(self._used(part) for part in parts))
            case Either(outer, inner):
                return Either(self._used(outer), self._used(inner))
            case Not(part):
                return self._negated(part)
            case Constant() | Opaque() | Literal():
                return expr
        if any(column.role is Role.PARTITION for column in columns_of(expr)):
            return self._unused(MIXED_OR)
        if not all(is_indexed(column.path, self._facts) for column in columns_of(expr)):
            return self._unused(NOT_INDEXED)
        return self._leaf(expr)

    def _negated(self, part: Expr) -> Expr:
        match part:
            case And(parts):
                return Or(tuple(self._negated(inner) for inner in parts))
            case Or(parts):
                return And(tuple(self._negated(inner) for inner in parts))
            case Not(inner):
                return self._used(inner)
            case Compare(op, left, right) if op in _OPPOSITE:
                return self._used(Compare(_OPPOSITE[op], left, right))
            case IsNull(Column()) | Constant():
                used = self._used(part)
                return used if isinstance(used, Opaque) else Not(used)
            case _:
                return self._unused(NEGATION)

    def _leaf(self, leaf: Expr) -> Expr:
        match leaf:
            case Compare(_, Column(type=type_), Literal()) if type_.kind is Kind.BOOLEAN:
                return self._unused(BOOLEANS)
            case Compare(_, Column(), Literal()) | IsNull(Column()):
                return leaf
            case Compare(Op.EQ, Call("startswith", (Column(), Literal())), Literal(True)):
                return leaf
            case Compare(_, Call("to_date" | "cast", (Column(type=type_),), target) as call, Literal()):
                to_date = call.function == "to_date" or (target is not None and target.kind is Kind.DATE)
                if to_date and type_.kind in (Kind.TIMESTAMP, Kind.TIMESTAMP_NTZ):
                    return leaf
            case In(Column() as column, options):
                return self._envelope(column, options)
            case Like(Column(), Literal(value=str() as pattern), escape, "like"):
                return leaf if _begins_plainly(pattern, escape) else self._unused(PATTERN)
            case Like():
                return self._unused(PATTERN)
            case Compare(_, Column(), Column()):
                return self._unused(COLUMNS)
            case Column():
                return self._unused(BOOLEANS)
        return self._unused(FUNCTION)

    def _envelope(self, column: Column, options: tuple[Expr, ...]) -> Expr:
        literals = [option for option in options if isinstance(option, Literal) and option.value is not None]
        types = {literal.type for literal in literals}
        if not literals or len(types) > 1 or column.type.kind is Kind.BOOLEAN or any(_is_nan(literal) for literal in literals):
            return self._unused(IN_LIST)
        if len(literals) > 1:
            self.reasons[IN_LIST] = None
        ordered = sorted(literals, key=lambda literal: literal.value)  # type: ignore[arg-type,return-value]  # of one type
        return And((Compare(Op.GE, column, ordered[0]), Compare(Op.LE, column, ordered[-1])))

    def _unused(self, why: str) -> Opaque:
        self.reasons[why] = None
        return Opaque("...", Reason(ReasonCode.OPAQUE_ON_DATA, why))


def files_read(plan: Plan, patterns: Patterns) -> int:
    """How many files such a plan reads: those with a missing statistic too, unless partition values drop them."""
    needs = clause_needs(plan)
    return amount_where(
        patterns,
        lambda s: (
            not s.is_empty
            and s.is_left_by(plan.exact_rungs)
            and (lacks_needed(s, needs) or all(outcome.can_true for outcome in s.outcomes))
        ),
    ).files


def drops_despite_gaps(plan: Plan, patterns: Patterns) -> bool:
    """Whether some file is read only because one of its statistics is missing."""
    needs = clause_needs(plan)
    return bool(
        amount_where(
            patterns,
            lambda s: (
                lacks_needed(s, needs) and s.is_left_by(plan.exact_rungs) and not all(outcome.can_true for outcome in s.outcomes)
            ),
        ).files
    )


def _begins_plainly(pattern: str, escape: str) -> bool:
    try:
        pieces = pieces_of(pattern, escape)
    except ValueError:
        return False
    return bool(pieces) and isinstance(pieces[0], str) and Wildcard.ONE not in pieces


def _is_nan(literal: Literal) -> bool:
    return isinstance(literal.value, float) and literal.value != literal.value
