"""Facts printed as SQL conditions over a relation of containers (formats/relation.py lists its columns).

TRUE is proven, FALSE and NULL are not: a comparison with a missing bound is NULL, or TRUE when missing statistics are lifted, and
AND and OR carry that upwards as they should. The printer is total over `Fact` and knows no other node, so an engine can never
meet a function it would have to understand.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, assert_never

from msgspec import Struct

from lakeprune.engines.dialect import Dialect
from lakeprune.formats.relation import Relation
from lakeprune.predicate.tree import Exact
from lakeprune.skipping.fact import (
    All,
    AllNull,
    Below,
    Covered,
    Fact,
    Known,
    NanFree,
    Never,
    NoNanSeen,
    NoNull,
    Some,
    Unproven,
    walk,
)
from lakeprune.skipping.ladder import Seen
from lakeprune.skipping.plan import Bit, Lift
from lakeprune.values.intervals import Interval
from lakeprune.values.types import Family

if TYPE_CHECKING:
    from lakeprune.programs.groups import Judged

LINEAR_LIMIT = 8  # up to this many intervals are tried one by one, more are searched


def searched(bits: Iterable[Bit]) -> dict[Covered, int]:
    """The facts with too many intervals to try one by one, each with a number."""
    facts = (part for bit in bits for part in walk(bit.fact))
    long = (part for part in facts if isinstance(part, Covered) and len(part.values.intervals) > LINEAR_LIMIT)
    return {fact: n for n, fact in enumerate(dict.fromkeys(long))}


class FactPrinter(Struct, frozen=True):
    """Prints facts for one relation."""

    dialect: Dialect
    relation: Relation
    exacts: Mapping[Exact, int]
    searches: Mapping[Covered, int] = {}  # never changed: the printer is frozen
    trusts_truncated_max: bool = False  # unsound: only to count what the guard for truncated maxima keeps
    dropped_groups: Judged | None = None  # of the plan whose relation this is, where it has containers of dropped groups

    @property
    def is_in_kept_group(self) -> str:
        """SQL: the container is in a group that the plan keeps."""
        return "TRUE" if self.dropped_groups is None else "dropped_by IS NULL"

    def bit(self, bit: Bit, weight: int) -> str:
        """The weight where the bit is set, otherwise 0. CASE takes NULL for "not proven", so no condition has to."""
        if isinstance(bit.fact, Unproven):
            return f"CASE WHEN {self._print(bit.fact.part, bit.lift)} THEN 0 ELSE {weight} END"
        return f"CASE WHEN {self._print(bit.fact, bit.lift)} THEN {weight} ELSE 0 END"

    def search_columns(self) -> list[str]:
        """The searched conditions as columns v{n}: bits mention them often, planning one takes an engine long."""
        return [f"{self._search(fact.column, fact.values.intervals)} AS v{n}" for fact, n in self.searches.items()]

    def _print(self, fact: Fact, lift: Lift) -> str:
        match fact:
            case Known(truth):
                return "TRUE" if truth else "FALSE"
            case All(parts):
                return "(" + " AND ".join(self._print(p, lift) for p in parts) + ")"
            case Some(parts):
                return "(" + " OR ".join(self._print(p, lift) for p in parts) + ")"
            case Unproven(part):
                return f"(({self._print(part, lift)}) IS NOT TRUE)"
            case Never(exact, truth):
                return self._never(exact, truth, lift)
            case NoNull(column):
                proven = self.relation.no_null(column)
                return f"({proven} OR NOT {self.relation.is_counted(column)})" if self._lifts(lift, column) else proven
            case AllNull(column):
                proven = self.relation.all_null(column)
                # A bound is a value, so a column that has one is not all NULL whatever its count would have been.
                unknown = f"(NOT {self.relation.is_counted(column)} AND {self.relation.has_no_bound(column)})"
                return f"({proven} OR {unknown})" if self._lifts(lift, column) else proven
            case NanFree() | NoNanSeen() if lift is Lift.NAN:
                return "TRUE"
            case NoNanSeen(column):
                return f"(NOT {self.relation.has_nan(column)})"
            case NanFree(column, _):
                proven = self.relation.nan_free(column)
                # Without any bound the statistics are what is missing; whether there is NaN would be known with them.
                return f"({proven} OR {self.relation.has_no_bound(column)})" if self._lifts(lift, column) else proven
            case Covered():
                return self._covered(fact, lift)
            case Below(left, right, strict):
                return self._below(left, right, strict=strict, lift=lift)
            case _:
                assert_never(fact)

    def _lifts(self, lift: Lift, column: Seen) -> bool:
        """Whether this lift assumes away what is not known of the column."""
        return lift is (Lift.UNREADABLE if column.is_exact else Lift.MISSING)

    def _never(self, exact: Exact, truth: bool | None, lift: Lift) -> str:  # a truth value
        n, letter = self.exacts[exact], {True: "t", False: "f", None: "n"}[truth]
        doubt = {Lift.UNREADABLE: f"e{n}_unreadable", Lift.FAILED: f"e{n}_failed"}.get(lift)
        return f"(NOT e{n}_{letter})" if doubt is None else f"(NOT e{n}_{letter} OR {doubt})"

    def _covered(self, fact: Covered, lift: Lift) -> str:
        if fact in self.searches:
            found = f"v{self.searches[fact]}"
        else:
            tests = [self._fits(fact.column, interval) for interval in fact.values.intervals]
            found = "(" + " OR ".join(tests) + ")" if len(tests) > 1 else tests[0]
        if not self._lifts(lift, fact.column):
            return found
        return f"({self.relation.lo(fact.column)} IS NULL OR {self.relation.hi(fact.column)} IS NULL OR {found})"

    def _fits(self, column: Seen, interval: Interval) -> str:
        """[lo, hi] lies in this interval."""
        sides = []
        if interval.lo is not None:
            sign = ">" if interval.lo_open else ">="
            sides.append(f"{self.relation.lo(column)} {sign} {self._literal(column, interval.lo)}")
        if interval.hi is not None:
            sides.append(self._ends_below(column, interval))
        return "(" + " AND ".join(sides) + ")" if sides else "TRUE"

    def _ends_below(self, column: Seen, interval: Interval) -> str:
        return self._hi_below(column, self._literal(column, interval.hi), strict=interval.hi_open)

    def _hi_below(self, column: Seen, limit: str, *, strict: bool) -> str:
        """Every value is below the limit; a truncated maximum stands for everything that starts with it."""
        high = self.relation.hi(column)
        plain = f"{high} {'<' if strict else '<='} {limit}"
        if column.type.family is Family.TEXT and not self.trusts_truncated_max:
            beyond = f"{limit} > {high} AND NOT {self.dialect.starts_with(limit, high)}"
            return f"CASE WHEN {self.relation.is_truncated(column)} THEN {beyond} ELSE {plain} END"
        return plain

    def _search(self, column: Seen, intervals: Sequence[Interval]) -> str:
        """Binary search: the last interval that starts at or below lo is the only one that can hold it.

        Where one interval ends and the next begins at the same value, both are open there: that value is in neither.
        """
        head = [i for i in intervals if i.lo is None]
        bounded = [i for i in intervals if i.lo is not None]
        rank = self.dialect.rank([self._literal(column, i.lo) for i in bounded], self.relation.lo(column))
        tests = [self._starts_above(column, bounded, rank), self._ends_below_found(column, bounded, rank)]
        first = self._fits(column, head[0]) if head else "FALSE"
        return f"CASE WHEN {rank} = 0 THEN {first} ELSE {' AND '.join(test for test in tests if test)} END"

    def _starts_above(self, column: Seen, bounded: Sequence[Interval], rank: str) -> str | None:
        """lo lies beyond an open start of the interval found; nothing to test when all are closed."""
        if not any(i.lo_open for i in bounded):
            return None
        is_open = self.dialect.item(["TRUE" if i.lo_open else "FALSE" for i in bounded], rank)
        start = self.dialect.item([self._literal(column, i.lo) for i in bounded], rank)
        return f"(NOT {is_open} OR {start} < {self.relation.lo(column)})"

    def _ends_below_found(self, column: Seen, bounded: Sequence[Interval], rank: str) -> str:
        """hi lies within the interval found."""
        last = bounded[-1]
        finite = bounded if last.hi is not None else bounded[:-1]
        ends = self.dialect.item([self._literal(column, i.hi) for i in finite], rank)
        tests = [self._hi_below(column, ends, strict=strict) for strict in sorted({i.hi_open for i in finite})]
        test = tests[0]
        if len(tests) == 2:
            is_open = self.dialect.item(["TRUE" if i.hi_open else "FALSE" for i in finite], rank)
            test = f"CASE WHEN {is_open} THEN {tests[1]} ELSE {tests[0]} END"
        return test if last.hi is not None else f"({rank} = {len(bounded)} OR {test})"

    def _below(self, left: Seen, right: Seen, *, strict: bool, lift: Lift) -> str:
        high, low = self.relation.hi(left), self.relation.lo(right)
        test = self._hi_below(left, low, strict=strict)
        unknown = [f"{high} IS NULL"] if self._lifts(lift, left) else []
        unknown += [f"{low} IS NULL"] if self._lifts(lift, right) else []
        return f"({' OR '.join([*unknown, test])})" if unknown else test

    def _literal(self, column: Seen, value: Any) -> str:
        family = column.type.family
        if family is None:
            raise AssertionError(f"{column.column.path} has no order, yet bounds were asked for")
        if family is Family.BOOLEAN and not isinstance(value, bool):
            raise AssertionError(f"{value!r} is not a boolean: printed as one it would change sides")
        return self.dialect.literal(value, family)
