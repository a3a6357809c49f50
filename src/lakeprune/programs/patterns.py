"""Masks meet files: one query over the files relation, grouped into verdict patterns.

In: a snapshot and plans. Out: `Pattern`s, each a group of files on which every clause behaves alike. Rows of files never pass
through Python; select.py lists them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import cycle

from msgspec import Struct
from msgspec.structs import replace

from lakeprune.engines.dialect import Dialect
from lakeprune.engines.engine import Engine
from lakeprune.formats.relation import LIVE, Needs, Relation
from lakeprune.formats.snapshot import Snapshot
from lakeprune.predicate.tree import Column, Profile
from lakeprune.programs.exact import Lookup, exact_lookups
from lakeprune.programs.fact_sql import FactPrinter, searched
from lakeprune.skipping.plan import Lift, Plan
from lakeprune.skipping.verdict import Verdict

WORD_BITS = 60  # bits packed into one integer column
BATCH = 32  # plans per query: planning time grows faster than the number of expressions in one query


class Outcome(Struct, frozen=True):
    """What one clause can say about a group of files; each is "TRUE cannot be excluded" unless named otherwise."""

    can_true: bool  # with all evidence
    not_true: bool  # FALSE or NULL cannot be excluded
    by_rung: tuple[bool, ...]  # using the evidence of one rung only
    kept_for: frozenset[Lift] = frozenset()  # the kinds of ignorance without which it could not be TRUE


class Signature(Struct, frozen=True):
    """Everything that files of one pattern have in common."""

    outcomes: tuple[Outcome, ...]  # one per clause
    is_empty: bool  # no live row: nothing to read whatever the predicate
    has_stats: bool
    has_dv: bool
    bounds_known: tuple[bool, ...]  # per plan column
    nulls_known: tuple[bool, ...]

    @property
    def verdict(self) -> Verdict:
        """DROP when some clause cannot be TRUE, FULL when none can be anything else."""
        if self.is_empty or not all(outcome.can_true for outcome in self.outcomes):
            return Verdict.DROP
        return Verdict.KEEP if any(outcome.not_true for outcome in self.outcomes) else Verdict.FULL

    def is_left_by(self, rungs: Iterable[int]) -> bool:
        """Whether none of these rungs, each by its own evidence, drops the files."""
        return all(outcome.by_rung[rung] for rung in rungs for outcome in self.outcomes)


class Pattern(Struct, frozen=True):
    signature: Signature
    files: int
    bytes: int
    rows: int  # live rows, of the files that tell
    files_without_rows: int  # files that do not tell


class Evaluation(Struct, frozen=True):
    """One files relation, ready to be asked."""

    engine: Engine
    snapshot: Snapshot
    profile: Profile
    trusts_truncated_max: bool = False  # unsound: only to count what the guard for truncated maxima keeps

    def patterns(self, plans: Sequence[Plan]) -> list[list[Pattern]]:
        """The verdict patterns of each plan, from one read of the metadata."""
        printer = self._printer(plans, _needs(plans, paths=False))
        words = [words_of(plan, printer) for plan in plans]
        source = printer.relation.source
        if len(plans) > BATCH:
            source = self.engine.kept(f"SELECT * FROM {source}")
        batches = [range(start, min(start + BATCH, len(plans))) for start in range(0, len(plans), BATCH)]
        found = [self._batch([plans[i] for i in batch], [words[i] for i in batch], source) for batch in batches]
        self.snapshot.check_whole()
        return [patterns for batch in found for patterns in batch]

    def _batch(self, plans: Sequence[Plan], words: Sequence[Sequence[str]], source: str) -> list[list[Pattern]]:
        found: list[list[Pattern]] = [[] for _ in plans]
        dialect = self.engine.dialect
        sql = _one_plan_sql(words[0], source, dialect) if len(plans) == 1 else _many_plans_sql(words, source, dialect)
        for index, *rest in self.engine.query(sql):
            signature = signature_of(plans[index], rest[: len(words[index])])
            files, size, rows, unknown = rest[-4:]
            found[index].append(Pattern(signature, int(files), int(size), int(rows), int(unknown)))
        return found

    def relation(self, plan: Plan, needs: Needs) -> FactPrinter:
        """The printer of the plan's bits over its relation, which has these needs beside the plan's own."""
        return self._printer([plan], _beside(plan, needs))

    def _printer(self, plans: Sequence[Plan], needs: Needs) -> FactPrinter:
        lookups = exact_lookups(self.engine, self.snapshot, self.profile, plans)
        relation = self.snapshot.relation(self.engine, needs, self.profile)
        printer = FactPrinter(
            self.engine.dialect,
            relation,
            {lookup.exact: lookup.number for lookup in lookups},
            self.snapshot.facts.evidence,
            searched(bit for plan in plans for bit in plan.bits),
            self.trusts_truncated_max,
        )
        return replace(printer, relation=_joined(relation, printer.search_columns(), lookups))


def _joined(relation: Relation, searches: Sequence[str], lookups: Sequence[Lookup]) -> Relation:
    """The relation with the searched conditions and what is known of expressions over partition values."""
    files = f"(SELECT *, {', '.join(searches)} FROM {relation.source})" if searches else relation.source
    return replace(relation, source=" ".join([f"{files} AS files", *(lookup.join(relation) for lookup in lookups)]))


def words_of(plan: Plan, printer: FactPrinter) -> list[str]:
    """The bits of a plan, and what is worth knowing of its columns, packed into integers."""
    weights = cycle(1 << i for i in range(WORD_BITS))
    bits = [printer.bit(bit, weight) for bit, weight in zip(plan.bits, weights, strict=False)]
    flags = [f"{LIVE} = 0", "has_stats", "has_dv"]
    for column in plan.columns:
        flags += [printer.relation.has_bounds(column), printer.relation.is_counted(column)]
    bits += [f"CASE WHEN {flag} THEN {weight} ELSE 0 END" for flag, weight in zip(flags, weights, strict=False)]
    words = [bits[i : i + WORD_BITS] for i in range(0, len(bits), WORD_BITS)]
    return [f"CAST({' + '.join(word)} AS BIGINT)" for word in words]


def _needs(plans: Sequence[Plan], *, paths: bool) -> Needs:
    domains = tuple(dict.fromkeys(column for plan in plans for column in plan.columns))
    texts: tuple[Column, ...] = tuple(
        dict.fromkeys(column for plan in plans for exact in plan.exacts for column in exact.columns)
    )
    return Needs(domains, texts, paths)


def _beside(plan: Plan, needs: Needs) -> Needs:
    """These needs beside the plan's own, which come first."""
    own = _needs([plan], paths=needs.paths)
    domains = tuple(dict.fromkeys((*own.domains, *needs.domains)))
    texts = tuple(dict.fromkeys((*own.partition_texts, *needs.partition_texts)))
    return Needs(domains, texts, needs.paths, needs.times, needs.recorded)


def _sums(dialect: Dialect) -> str:
    totals = [f"coalesce({dialect.total(number)}, 0)" for number in ("size", "rows - deleted")]
    return ", ".join(["count(*)", *totals, "count(*) - count(rows - deleted)"])


def _one_plan_sql(words: Sequence[str], source: str, dialect: Dialect) -> str:
    keys = ", ".join(f"w{i}" for i in range(len(words)))
    picked = ", ".join(f"{word} AS w{i}" for i, word in enumerate(words))
    return f"SELECT 0, {keys}, {_sums(dialect)} FROM (SELECT size, rows, deleted, {picked} FROM {source}) GROUP BY {keys}"


def _many_plans_sql(words: Sequence[Sequence[str]], source: str, dialect: Dialect) -> str:
    """One pass for several plans: each file is unfolded into (plan, its words) and grouped."""
    width = max(len(w) for w in words)
    names = ["plan", *(f"w{i}" for i in range(width))]
    rows = [[str(number), *w, *["CAST(0 AS BIGINT)"] * (width - len(w))] for number, w in enumerate(words)]
    keys = ", ".join(names)
    inner = f"SELECT size, rows, deleted, {dialect.unfolded(names, rows)} FROM {source}"
    return f"SELECT {keys}, {_sums(dialect)} FROM ({inner}) GROUP BY {keys}"


def signature_of(plan: Plan, words: Sequence[int]) -> Signature:
    def bit(position: int) -> bool:
        return bool(words[position // WORD_BITS] >> (position % WORD_BITS) & 1)

    outcomes = tuple(
        Outcome(
            bit(p.can_true),
            bit(p.not_true),
            tuple(bit(position) for position in p.by_rung),
            frozenset(lift for lift, position in p.lifted.items() if bit(p.can_true) and not bit(position)),
        )
        for p in plan.positions
    )
    base = len(plan.bits)
    columns = range(len(plan.columns))
    return Signature(
        outcomes,
        bit(base),
        bit(base + 1),
        bit(base + 2),
        tuple(bit(base + 3 + 2 * k) for k in columns),
        tuple(bit(base + 4 + 2 * k) for k in columns),
    )
