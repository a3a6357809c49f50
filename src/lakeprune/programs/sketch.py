"""What pictures need to know of the files of one plan, in SQL: partitions with their verdicts, ranges, and how deep they lie.

In: an evaluation, a plan and the columns to draw. Out: rows whose number does not grow with the table, except `marks`, one per
file, for tables small enough to be drawn file by file. The metadata is read once, into a narrow relation that answers the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any

from msgspec import Struct

from lakeprune.engines.engine import Needs, Row
from lakeprune.predicate.tree import Column
from lakeprune.programs.patterns import Evaluation
from lakeprune.programs.select import verdict_sql
from lakeprune.skipping.plan import Plan
from lakeprune.values.types import Family

ORDINAL_FAMILIES = frozenset({Family.TEXT, Family.BOOLEAN})  # drawn by rank: their values have no distances
PREFIX = 12  # letters of a text bound that are kept in bins
DROP, KEEP, FULL = range(3)


class Detail(Enum):
    FILES = "files"  # every file is drawn
    BINS = "bins"  # files are counted in bins


class Subject(Struct, frozen=True):
    """What is drawn: these columns over these partition columns."""

    columns: tuple[Column, ...]
    partitions: tuple[Column, ...]
    detail: Detail
    has_predicate: bool


class PartitionCounts(Struct, frozen=True):
    """One partition: files and bytes by verdict (drop, keep, full)."""

    texts: tuple[str | None, ...]
    files: tuple[int, int, int]
    bytes: tuple[int, int, int]


class Span(Struct, frozen=True):
    """Where the bounds of a column lie: all of them, and all but the outermost hundredth on each side."""

    low: Any
    high: Any
    inner_low: Any
    inner_high: Any


class Sketch:
    """Answers questions for as long as the engine is awake."""

    def __init__(self, evaluation: Evaluation, plan: Plan, subject: Subject) -> None:
        self._engine = evaluation.engine
        self._subject = subject
        self._groups = [f"g{j}" for j in range(len(subject.partitions))]
        self._relation = self._engine.kept(_sketch_sql(evaluation, plan, subject))
        evaluation.snapshot.check_whole()

    def partitions(self, limit: int) -> tuple[list[PartitionCounts], int]:
        """The partitions with the most bytes to read, then the most bytes; and how many there are in all."""
        sums = [
            f"coalesce(sum(CASE WHEN verdict = {verdict} THEN {what} ELSE 0 END), 0) AS {letter}{verdict}"
            for letter, what in (("f", "1"), ("b", "size"))
            for verdict in (DROP, KEEP, FULL)
        ]
        keys = ", ".join(self._groups)
        grouped = f"SELECT {', '.join([*self._groups, *sums])} FROM {self._relation}" + (f" GROUP BY {keys}" if keys else "")
        order = ", ".join(["b1 + b2 DESC", "b0 DESC", *self._groups])
        picked = ", ".join([*self._groups, "f0", "f1", "f2", "b0", "b1", "b2"])
        rows = self._engine.query(f"SELECT {picked}, count(*) OVER () FROM ({grouped}) AS g ORDER BY {order} LIMIT {limit}")
        width = len(self._groups)
        found = []
        for row in rows:
            f0, f1, f2, b0, b1, b2 = map(int, row[width : width + 6])
            found.append(PartitionCounts(tuple(row[:width]), (f0, f1, f2), (b0, b1, b2)))
        return found, int(rows[0][-1]) if rows else 0

    def marks(self) -> list[Row]:
        """Every file: path, size, verdict, partition texts, then per column both bounds and whether it holds only NULL."""
        values = [f"a{k}_{part}" for k in range(len(self._subject.columns)) for part in ("lo", "hi", "an")]
        return self._engine.query(
            f"SELECT {', '.join(['path', 'size', 'verdict', *self._groups, *values])} FROM {self._relation} ORDER BY path"
        )

    def span(self, k: int) -> Span | None:
        """Where the bounds of column k lie; None without any finite one."""
        lows, highs = (f"SELECT a{k}_{side} AS v FROM {self._relation} WHERE {self._is_finite(k, side)}" for side in ("lo", "hi"))
        ((low, n_low),) = self._engine.query(f"SELECT min(v), count(v) FROM ({lows}) AS a")
        ((high, n_high),) = self._engine.query(f"SELECT max(v), count(v) FROM ({highs}) AS a")
        if low is None or high is None:
            return None
        inner_low = self._engine.query(f"{lows} ORDER BY v LIMIT 1 OFFSET {n_low // 100}")[0][0]
        inner_high = self._engine.query(f"{highs} ORDER BY v DESC LIMIT 1 OFFSET {n_high // 100}")[0][0]
        return Span(low, high, inner_low, inner_high)

    def cells(self, k: int, most: int) -> tuple[Bins, list[Any]]:
        """Column k's values in order, shared out to at most so many bins, and each bin's first value."""
        letters = self._letters(k, most)
        both = " UNION ".join(
            f"SELECT {_key(f'a{k}_{side}', letters)} AS v FROM {self._relation} WHERE a{k}_{side} IS NOT NULL"
            for side in ("lo", "hi")
        )
        ranked = f"SELECT v, row_number() OVER (ORDER BY v) - 1 AS r, count(*) OVER () AS n FROM ({both}) AS a"
        bin_ = f"CAST(CASE WHEN n <= {most} THEN r ELSE floor(r * {most} / n) END AS INTEGER) AS bin"
        relation = self._engine.kept(f"SELECT v, {bin_} FROM ({ranked}) AS b")
        firsts = [v for v, _ in self._engine.query(f"SELECT min(v), bin FROM {relation} GROUP BY bin ORDER BY bin")]
        is_shared = letters is not None and (len(firsts) == most or any(len(first) >= letters for first in firsts))
        return Bins(len(firsts), relation, letters, is_shared), firsts

    def _letters(self, k: int, enough: int) -> int | None:
        """How many letters of column k's texts tell enough of them apart: sorting a million whole ones would take long."""
        if self._subject.columns[k].type.family is not Family.TEXT:
            return None
        for letters in (4, 8):
            counted = f"SELECT count(DISTINCT {_key(f'a{k}_lo', letters)}) FROM {self._relation}"
            if self._engine.query(counted)[0][0] >= enough:
                return letters
        return PREFIX

    def lanes(self, texts: Sequence[tuple[str | None, ...]]) -> Lanes:
        """The partitions with a lane of their own, in order; all others share the lane after the last. `[()]`: one for all."""
        if not self._groups or list(texts) == [()]:
            return Lanes(f"(SELECT *, 0 AS lane FROM {self._relation})")
        names = [f"l{j}" for j in range(len(self._groups))]
        rows = [(*text, lane) for lane, text in enumerate(texts)]
        lookup = self._engine.lookup([*names, "lane_number"], [*["STRING"] * len(names), "INTEGER"], rows)
        test = " AND ".join(f"{group} IS NOT DISTINCT FROM {name}" for group, name in zip(self._groups, names, strict=True))
        numbered = f"coalesce(lane_number, {len(rows)}) AS lane"
        return Lanes(f"(SELECT s.*, {numbered} FROM {self._relation} AS s LEFT JOIN {lookup} AS l ON {test})")

    def unbounded(self, k: int, lanes: Lanes) -> list[Row]:
        """Files without any bound of column k: lane, verdict, whether the column holds only NULL, how many."""
        where = f"a{k}_lo IS NULL AND a{k}_hi IS NULL"
        return self._engine.query(
            f"SELECT lane, verdict, a{k}_an, count(*) FROM {lanes.relation} AS s WHERE {where} GROUP BY lane, verdict, a{k}_an"
        )

    def depth(self, k: int, lanes: Lanes, bins: Bins) -> list[Row]:
        """How the number of ranges changes along the axis: lane, verdict, bin, how many more touch it than the bin before."""
        source, low, high = bins.placed(k, lanes.relation)
        placed = (
            f"SELECT lane, verdict, {low} AS first, {high} AS last FROM {source} WHERE NOT (a{k}_lo IS NULL AND a{k}_hi IS NULL)"
        )
        sketched = self._engine.kept(placed)
        steps = (
            f"SELECT lane, verdict, first AS bin, 1 AS step FROM {sketched} "
            f"UNION ALL SELECT lane, verdict, last + 1, -1 FROM {sketched}"
        )
        return self._engine.query(f"SELECT lane, verdict, bin, sum(step) FROM ({steps}) AS t GROUP BY lane, verdict, bin")

    def beyond(self, k: int, low: Any, high: Any) -> int:
        """Files whose range of column k reaches out of [low, high]."""
        least, most = (self._real(value) for value in (low, high))
        ((found,),) = self._engine.query(f"SELECT count(*) FROM {self._relation} WHERE a{k}_lo < {least} OR a{k}_hi > {most}")
        return int(found)

    def linear_bins(self, low: float, high: float, count: int) -> Bins:
        return Bins(count, ends=(self._real(low), self._real(high)))

    def _is_finite(self, k: int, side: str) -> str:
        if self._subject.columns[k].type.family is not Family.REAL:
            return f"a{k}_{side} IS NOT NULL"
        return f"abs(a{k}_{side}) < {self._real(float('inf'))}"

    def _real(self, value: Any) -> str:
        return self._engine.dialect.literal(float(value), Family.REAL)


class Lanes(Struct, frozen=True):
    relation: str  # a FROM item: the sketch with a column `lane`


class Bins(Struct, frozen=True):
    """So many bins on an axis: cut evenly between two numbers, or given by a relation (v, bin) of the first letters."""

    count: int
    cells: str | None = None
    letters: int | None = None
    is_shared: bool = False  # a bin may hold several values
    ends: tuple[str, str] | None = None

    def placed(self, k: int, relation: str) -> tuple[str, str, str]:
        """A FROM item, and the SQL of the first and last bin that a range of column k lies on there."""
        last = self.count - 1
        if self.cells is not None:
            low, high = (_key(f"s.a{k}_{side}", self.letters) for side in ("lo", "hi"))
            joined = f"{relation} AS s LEFT JOIN {self.cells} AS x ON {low} = x.v LEFT JOIN {self.cells} AS y ON {high} = y.v"
            return joined, "coalesce(x.bin, 0)", f"coalesce(y.bin, {last})"
        assert self.ends is not None, "either cells or ends"
        low, high = self.ends
        first_bin, last_bin = (self._bin(f"a{k}_{side}", low, high, unknown) for side, unknown in (("lo", 0), ("hi", last)))
        return f"{relation} AS s", first_bin, last_bin

    def _bin(self, value: str, low: str, high: str, unknown: int) -> str:
        number = f"CAST({value} AS DOUBLE)"
        inside = f"CAST(floor(({number} - {low}) / ({high} - {low}) * {self.count}) AS INTEGER)"
        return (
            f"CASE WHEN {value} IS NULL THEN {unknown} WHEN {number} <= {low} THEN 0 "
            f"WHEN {number} >= {high} THEN {self.count - 1} ELSE {inside} END"
        )


def _key(value: str, letters: int | None) -> str:
    return value if letters is None else f"substr({value}, 1, {letters})"


def _sketch_sql(evaluation: Evaluation, plan: Plan, subject: Subject) -> str:
    is_exact = subject.detail is Detail.FILES
    source, printer = evaluation.relation(plan, Needs(subject.columns, subject.partitions, paths=is_exact))
    texts = dict.fromkeys((*(c for exact in plan.exacts for c in exact.columns), *subject.partitions))
    places = {column: j for j, column in enumerate(texts)}
    items = ["path", "size"] if is_exact else ["size"]
    items.append(f"{verdict_sql(plan, printer) if subject.has_predicate else FULL} AS verdict")
    items += [f"p{places[column]} AS g{j}" for j, column in enumerate(subject.partitions)]
    for k, column in enumerate(subject.columns):
        n = printer.columns[column]
        is_cut = column.type.family is Family.TEXT and not is_exact
        for side in ("lo", "hi"):
            items.append(f"{f'substr(c{n}_{side}, 1, {PREFIX})' if is_cut else f'c{n}_{side}'} AS a{k}_{side}")
        items.append(f"c{n}_an AS a{k}_an")
    return f"SELECT {', '.join(items)} FROM {source}"
