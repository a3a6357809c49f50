"""What pictures need to know of the files of one plan, in SQL: partitions with their verdicts, axes, and the ranges on them.

In: an evaluation, a plan and the columns to draw. Out: rows whose number does not grow with the table, or, for tables small
enough to be drawn file by file, one per file. The metadata is read once, into a narrow relation that answers the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from lakeprune.engines.engine import Row
from lakeprune.formats.relation import Needs
from lakeprune.predicate.tree import Column
from lakeprune.predicate.walk import columns_of
from lakeprune.programs.axis import Axis, LinearAxis, OrdinalAxis, prefix, window
from lakeprune.programs.fact_sql import FactPrinter
from lakeprune.programs.patterns import Evaluation
from lakeprune.programs.select import IS_EMPTY, NUMBERS, verdict_sql
from lakeprune.skipping.plan import Plan
from lakeprune.skipping.verdict import Verdict
from lakeprune.values.intervals import IntervalSet
from lakeprune.values.types import Family

PREFIX = 12  # letters of a text bound that are kept where files are counted
MOST_INTERVALS = 60  # of the predicate's range that are drawn
UNKNOWN, ONLY_NULL = -1, -2  # places of files without a range
ASSUMED = len(NUMBERS)  # the verdict of files that are dropped only because no NaN is assumed to be hidden
# On one column's axis a dropped file has the verdict DROP where a clause on that column drops it, and one of these otherwise.
BY_PARTITION, BY_ANOTHER = ASSUMED + 1, ASSUMED + 2


class Subject(Struct, frozen=True):
    """What is drawn: these columns over these partition columns, file by file or counted in bins."""

    columns: tuple[Column, ...]
    partitions: tuple[Column, ...]
    by_file: bool
    has_predicate: bool


class Sketch:
    """Answers questions for as long as the engine is awake."""

    def __init__(self, evaluation: Evaluation, plan: Plan, subject: Subject) -> None:
        self.subject = subject
        self._engine = evaluation.engine
        self._groups = [f"g{j}" for j in range(len(subject.partitions))]
        self._relation = self._engine.kept(_sketch_sql(evaluation, plan, subject))
        evaluation.snapshot.check_whole()

    def partitions(self, limit: int) -> tuple[list[Row], int]:
        """The partitions with the most bytes to read, then the most bytes: texts, files and bytes by verdict; and how many."""
        sums = [
            f"coalesce(sum(CASE WHEN verdict = {verdict} THEN {what} ELSE 0 END), 0) AS {letter}{verdict}"
            for letter, what in (("f", "1"), ("b", "size"))
            for verdict in (*NUMBERS.values(), ASSUMED)
        ]
        keys = ", ".join(self._groups)
        grouped = f"SELECT {keys}, {', '.join(sums)} FROM {self._relation} GROUP BY {keys}"
        picked = f"{keys}, f0, f1, f2, f3, b0, b1, b2, b3, count(*) OVER ()"
        order = f"b1 + b2 DESC, b0 + b3 DESC, {keys} LIMIT {limit}"
        rows = self._engine.query(f"SELECT {picked} FROM ({grouped}) AS g ORDER BY {order}")
        return [row[:-1] for row in rows], int(rows[0][-1]) if rows else 0

    def lanes(self, texts: Sequence[tuple[str | None, ...]]) -> str:
        """A FROM item over the files with a number `lane`: the partition's among these, in order; all others have the next.

        Without partitions all files have lane 0.
        """
        if not texts:
            return f"(SELECT *, 0 AS lane FROM {self._relation})"
        names = [f"l{j}" for j in range(len(self._groups))]
        rows = [(*text, lane) for lane, text in enumerate(texts)]
        lookup = self._engine.lookup([*names, "number"], [*["STRING"] * len(names), "INTEGER"], rows)
        test = " AND ".join(f"{group} IS NOT DISTINCT FROM {name}" for group, name in zip(self._groups, names, strict=True))
        numbered = f"coalesce(number, {len(rows)}) AS lane"
        return f"(SELECT s.*, {numbered} FROM {self._relation} AS s LEFT JOIN {lookup} AS l ON {test})"

    def axis(self, k: int, allowed: IntervalSet | None, bins: int) -> Axis | None:
        """The axis of column k, with the ends of what the predicate allows where they fit; None without any finite bound."""
        column = self.subject.columns[k]
        if column.type.family in (Family.TEXT, Family.BOOLEAN):
            return self._ordinal_axis(k, column.type.family, allowed, bins)
        lows, highs = (f"SELECT a{k}_{side} AS v FROM {self._relation} WHERE {self._is_finite(k, side)}" for side in ("lo", "hi"))
        ((low, n_low),) = self._engine.query(f"SELECT min(v), count(v) FROM ({lows}) AS a")
        ((high, n_high),) = self._engine.query(f"SELECT max(v), count(v) FROM ({highs}) AS a")
        if low is None or high is None:
            return None
        # All but the outermost hundredth on each side.
        inner_low = self._engine.query(f"{lows} ORDER BY v LIMIT 1 OFFSET {n_low // 100}")[0][0]
        inner_high = self._engine.query(f"{highs} ORDER BY v DESC LIMIT 1 OFFSET {n_high // 100}")[0][0]
        return LinearAxis(*window((low, high), (inner_low, inner_high), _outer_ends(allowed), column.type), bins)

    def _ordinal_axis(self, k: int, family: Family, allowed: IntervalSet | None, most: int) -> OrdinalAxis | None:
        """Column k's values in order; where files are counted, shared out to at most so many cells."""
        letters = None if self.subject.by_file or family is not Family.TEXT else self._letters(k, most)
        both = " UNION ".join(
            f"SELECT {prefix(f'a{k}_{side}', letters)} AS v FROM {self._relation} WHERE a{k}_{side} IS NOT NULL"
            for side in ("lo", "hi")
        )
        if self.subject.by_file:
            found = {v for (v,) in self._engine.query(both)}
            known = {type(value) for value in found}
            cells = found | {end for end in _closed_ends(allowed) if type(end) in known}
            return OrdinalAxis(sorted(cells), family) if found else None
        ranked = f"SELECT v, row_number() OVER (ORDER BY v) - 1 AS r, count(*) OVER () AS n FROM ({both}) AS a"
        binned = f"SELECT v, CASE WHEN n <= {most} THEN r ELSE floor(r * {most} / n) END AS bin FROM ({ranked}) AS b"
        firsts = [v for v, _ in self._engine.query(f"SELECT min(v), bin FROM ({binned}) AS c GROUP BY bin ORDER BY bin")]
        is_shared = letters is not None and (len(firsts) == most or any(len(first) >= letters for first in firsts))
        return OrdinalAxis(firsts, family, letters, is_shared) if firsts else None

    def _letters(self, k: int, enough: int) -> int:
        """How many letters of column k's texts distinguish enough of them: sorting a million whole ones would take long."""
        for letters in (4, 8):
            counted = f"SELECT count(DISTINCT {prefix(f'a{k}_lo', letters)}) FROM {self._relation}"
            if self._engine.query(counted)[0][0] >= enough:
                return letters
        return PREFIX

    def ranges(self, k: int, lanes: str, axis: Axis) -> list[Row]:
        """Lane, verdict on column k's axis, place and number of column k's ranges.

        File by file the number is 1, and path and both bounds follow. In bins it is how many more ranges touch the bin than the
        one before. Files without a range have the place UNKNOWN or ONLY_NULL.
        """
        low, high = f"a{k}_lo", f"a{k}_hi"
        first = "0" if self.subject.by_file else axis.bin(self._engine.dialect, low)
        unbounded = f"CASE WHEN a{k}_an THEN {ONLY_NULL} ELSE {UNKNOWN} END"
        place = f"CASE WHEN {low} IS NOT NULL THEN {first} WHEN {high} IS NOT NULL THEN 0 ELSE {unbounded} END"
        shade = f"CASE WHEN verdict = {NUMBERS[Verdict.DROP]} THEN a{k}_by ELSE verdict END AS verdict"
        if self.subject.by_file:
            return self._engine.query(f"SELECT lane, {shade}, {place}, 1, path, {low}, {high} FROM {lanes} AS s ORDER BY path")
        last = f"CASE WHEN {high} IS NULL THEN {axis.bins - 1} ELSE {axis.bin(self._engine.dialect, high)} END"
        placed = self._engine.kept(f"SELECT lane, {shade}, {place} AS first, {last} AS last FROM {lanes} AS s")
        steps = (
            f"SELECT lane, verdict, first AS bin, 1 AS step FROM {placed} "
            f"UNION ALL SELECT lane, verdict, last + 1, -1 FROM {placed} WHERE first >= 0"
        )
        return self._engine.query(f"SELECT lane, verdict, bin, sum(step) FROM ({steps}) AS t GROUP BY lane, verdict, bin")

    def beyond(self, k: int, axis: Axis) -> int:
        """Files whose range of column k reaches out of the axis."""
        if isinstance(axis, OrdinalAxis):
            return 0
        least, most = (self._engine.dialect.literal(end, Family.REAL) for end in (axis.low, axis.high))
        ((found,),) = self._engine.query(f"SELECT count(*) FROM {self._relation} WHERE a{k}_lo < {least} OR a{k}_hi > {most}")
        return int(found)

    def _is_finite(self, k: int, side: str) -> str:
        if self.subject.columns[k].type.family is not Family.REAL:
            return f"a{k}_{side} IS NOT NULL"
        return f"abs(a{k}_{side}) < {self._engine.dialect.literal(float('inf'), Family.REAL)}"


def _outer_ends(allowed: IntervalSet | None) -> list[Any]:
    """The least and the greatest finite end."""
    intervals = () if allowed is None else allowed.intervals
    ends = [end for interval in intervals for end in (interval.lo, interval.hi) if end is not None and abs(end) < float("inf")]
    return [min(ends), max(ends)] if ends else []


def _closed_ends(allowed: IntervalSet | None) -> list[Any]:
    intervals = () if allowed is None else allowed.merged_to(MOST_INTERVALS).intervals
    lows = [interval.lo for interval in intervals if interval.lo is not None and not interval.lo_open]
    return lows + [interval.hi for interval in intervals if interval.hi is not None and not interval.hi_open]


def _verdict_sql(plan: Plan, printer: FactPrinter) -> str:
    verdict = verdict_sql(plan, printer)
    if not any(place.assumed_columns for place in plan.positions):
        return verdict
    strict = [f"{printer.bit(plan.bits[bit], 1)} = 1" for bit in dict.fromkeys(place.strict for place in plan.positions)]
    is_assumed = " AND ".join([f"{verdict} = {NUMBERS[Verdict.DROP]}", f"NOT {IS_EMPTY}", *strict])
    return f"CASE WHEN {is_assumed} THEN {ASSUMED} ELSE {verdict} END"


def _dropped_by(plan: Plan, printer: FactPrinter, column: Column) -> str:
    """What drops a dropped file, for the axis of this column: every rung before the statistics comes first, as in credits."""

    def drops(bits: Iterable[int]) -> str:
        return " OR ".join(["FALSE", *(f"{printer.bit(plan.bits[bit], 1)} = 0" for bit in dict.fromkeys(bits))])

    above = (place.by_rung[rung] for place in plan.positions for rung in range(len(plan.ladder) - 1))
    own = (
        place.can_true
        for clause, place in zip(plan.clauses, plan.positions, strict=True)
        if column in columns_of(clause.predicate)
    )
    by_partition = f"NOT {printer.is_in_kept_group} OR {drops(above)}"
    here = NUMBERS[Verdict.DROP]
    return f"CASE WHEN {by_partition} THEN {BY_PARTITION} WHEN {drops(own)} THEN {here} ELSE {BY_ANOTHER} END"


def _sketch_sql(evaluation: Evaluation, plan: Plan, subject: Subject) -> str:
    columns = tuple(map(plan.evidence.seen, subject.columns))
    printer = evaluation.relation(plan, Needs(columns, subject.partitions, paths=subject.by_file))
    relation = printer.relation
    items = ["path"] if subject.by_file else []
    items += ["size", f"{_verdict_sql(plan, printer) if subject.has_predicate else NUMBERS[Verdict.FULL]} AS verdict"]
    items += [f"{relation.text(column)} AS g{j}" for j, column in enumerate(subject.partitions)]
    for k, column in enumerate(columns):
        letters = PREFIX if column.type.family is Family.TEXT and not subject.by_file else None
        ends = (("lo", relation.lo(column)), ("hi", relation.hi(column)))
        items += [f"{prefix(end, letters)} AS a{k}_{side}" for side, end in ends]
        items.append(f"{relation.all_null(column)} AS a{k}_an")
        by = _dropped_by(plan, printer, subject.columns[k]) if subject.has_predicate else str(NUMBERS[Verdict.DROP])
        items.append(f"{by} AS a{k}_by")
    return f"SELECT {', '.join(items)} FROM {relation.source}"
