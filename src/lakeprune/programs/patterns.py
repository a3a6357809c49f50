"""Masks meet files: one query over the files relation, grouped into verdict patterns.

In: a snapshot and plans. Out: `Pattern`s, each a group of files on which every clause behaves alike. Rows of files never pass
through Python; select.py lists them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import cycle
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from lakeprune.engines.dialect import Dialect
from lakeprune.engines.engine import Engine
from lakeprune.formats.merging import merged_relation
from lakeprune.formats.relation import LIVE, Needs, Relation
from lakeprune.formats.snapshot import Snapshot
from lakeprune.predicate.tree import Column, Profile
from lakeprune.programs.exact import Lookup, exact_lookups
from lakeprune.programs.fact_sql import FactPrinter, searched
from lakeprune.skipping.ladder import Level
from lakeprune.skipping.plan import Lift, Plan
from lakeprune.skipping.verdict import Verdict

if TYPE_CHECKING:
    from lakeprune.programs.groups import Grouping, GroupWords
    from lakeprune.programs.held_relation import HeldRelation
    from lakeprune.programs.kept_relations import RelationsInUse

WORD_BITS = 60  # bits packed into one integer column
SUMS = 7  # numbers of a pattern, in the order of its fields
BATCH = 32  # plans per query: planning time grows faster than the number of expressions in one query


class Outcome(Struct, frozen=True):
    """What one clause can say about a group of files; each is "TRUE cannot be excluded" unless named otherwise."""

    can_true: bool  # with all evidence
    not_true: bool  # FALSE or NULL cannot be excluded
    by_rung: tuple[bool, ...]  # using the evidence of one rung only
    kept_for: frozenset[Lift] = frozenset()  # the kinds of ignorance without which it could not be TRUE
    is_assumed: bool = False  # it cannot be TRUE only because no NaN is assumed to be hidden


class Lost(Struct, frozen=True):
    """No row group of the files is left."""

    assumed_columns: tuple[str, ...] = ()  # in which no NaN is assumed to be hidden: only then are they lost


class Signature(Struct, frozen=True):
    """Everything that files of one pattern have in common."""

    outcomes: tuple[Outcome, ...]  # one per clause
    is_empty: bool  # no live row: nothing to read whatever the predicate
    has_stats: bool
    has_dv: bool
    bounds_known: tuple[bool, ...]  # per plan column
    nulls_known: tuple[bool, ...]
    lost: Lost | None = None  # what row groups say, where they were asked
    excluded_by: int | None = None  # of a row group: the clause whose values its Bloom filter excludes

    @property
    def verdict(self) -> Verdict:
        """DROP when some clause cannot be TRUE, FULL when none can be anything else."""
        if self.is_empty or self.lost is not None or not all(outcome.can_true for outcome in self.outcomes):
            return Verdict.DROP
        return Verdict.KEEP if any(outcome.not_true for outcome in self.outcomes) else Verdict.FULL

    @property
    def is_assumed(self) -> bool:
        """Whether the files are dropped only because some clause assumes that no NaN is hidden."""
        if self.lost is not None:
            return bool(self.lost.assumed_columns)
        dropping = [outcome.is_assumed for outcome in self.outcomes if not outcome.can_true]
        return not self.is_empty and bool(dropping) and all(dropping)

    def is_left_by(self, rungs: Iterable[int]) -> bool:
        """Whether none of these rungs, each by its own evidence, drops the files."""
        return all(outcome.by_rung[rung] for rung in rungs for outcome in self.outcomes)


class _Counted(Struct, frozen=True):
    signature: Signature
    files: int
    bytes: int  # of the files whose size is known
    rows: int  # live rows, of the files that tell
    files_without_rows: int  # files that do not tell
    files_without_bytes: int = 0  # files whose size is not known
    files_with_bounded_rows: int = 0  # those of files_without_rows that record their physical rows
    bounded_rows: int = 0  # the physical rows of those: the live ones at most


class Pattern(_Counted, frozen=True, kw_only=True):
    """Containers on which every clause behaves alike."""

    level: Level = Level.FILE  # MANIFEST: its files were not read, and its outcomes are those of their groups
    groups: int = 0  # how many groups, where the level is theirs

    @property
    def sums(self) -> tuple[int, ...]:
        """What can be added up, in the order of its fields."""
        unknown = self.files_without_rows, self.files_without_bytes, self.files_with_bounded_rows, self.bounded_rows
        return self.files, self.bytes, self.rows, *unknown


class Evaluation(Struct, frozen=True):
    """One files relation, ready to be asked."""

    engine: Engine
    snapshot: Snapshot
    profile: Profile
    trusts_truncated_max: bool = False  # unsound: only to count what the guard for truncated maxima keeps
    is_exhaustive: bool = False  # every group is read, so that clauses are counted on every container
    relations: RelationsInUse | HeldRelation | None = None  # what the engine keeps of the snapshot from one question to the next

    def patterns(self, plans: Sequence[Plan]) -> list[list[Pattern]]:
        """The verdict patterns of each plan, from one read of the metadata. Groups that no plan keeps are not read."""
        needs, judged = needs_of(plans, paths=False), self.judged(plans)
        if judged is None:
            return self._patterns(plans, needs, None)
        found = self._patterns(plans, judged.needs(needs), judged)
        return [[*above, *patterns] for above, patterns in zip(judged.patterns(), found, strict=True)]

    def judged(self, plans: Sequence[Plan]) -> Grouping | None:
        """What each plan does to the groups of the snapshot, None where it has none."""
        if self.snapshot.groups() is None:
            return None
        from lakeprune.programs.groups import judge

        return judge(self, plans)

    def _patterns(self, plans: Sequence[Plan], needs: Needs, judged: Grouping | None) -> list[list[Pattern]]:
        printer = self.printer(plans, needs)
        words = [words_of(plan, printer) for plan in plans]
        source = printer.relation.source
        if len(plans) > BATCH:
            source = self.engine.kept(f"SELECT * FROM {source}")
        found: list[list[Pattern]] = []
        for start in range(0, len(plans), BATCH):
            batch = slice(start, start + BATCH)
            groups = None if judged is None else judged.part(self.engine, batch)
            found += self._batch(plans[batch], words[batch], source, groups)
        self.snapshot.check_whole()
        return found

    def _batch(
        self, plans: Sequence[Plan], words: Sequence[list[str]], source: str, judged: GroupWords | None
    ) -> list[list[Pattern]]:
        found: list[list[Pattern]] = [[] for _ in plans]
        dialect, signed = self.engine.dialect, [len(own) for own in words]
        if judged is not None:
            source, words = judged.joined(source), [own + more for own, more in zip(words, judged.words, strict=True)]
        sql = _one_plan_sql(words[0], source, dialect) if len(plans) == 1 else _many_plans_sql(words, source, dialect)
        for index, *rest in self.engine.query(sql):
            packed = rest[: len(words[index])]
            own = signature_of(plans[index], packed[: signed[index]])
            signature = own if judged is None else judged.with_group(own, index, packed)
            if signature is not None:
                found[index].append(Pattern(signature, *map(int, rest[-SUMS:])))
        return found

    def relation(self, plan: Plan, needs: Needs, *, whole: bool = True) -> FactPrinter:
        """The printer of the plan's bits over its relation, which has these needs beside the plan's own.

        `whole`: with the containers of dropped groups, and `dropped_by` where there are any; otherwise only those of kept ones.
        """
        needs, judged = _beside(plan, needs), self.judged([plan])
        if judged is None or not judged.plans[0].dropped:
            return self.printer([plan], needs)
        if not whole:
            return self.printer([plan], replace(needs, within=judged.plans[0].kept))
        printer = self.printer([plan], replace(needs, parents=True))
        source = judged.plans[0].joined(self.engine, printer.relation.source)
        return replace(printer, relation=replace(printer.relation, source=source), dropped_groups=judged.plans[0])

    def printer(self, plans: Sequence[Plan], needs: Needs) -> FactPrinter:
        """The printer of the bits of these plans over a relation that has what they and others need."""
        lookups = exact_lookups(self.engine, self.snapshot, self.profile, plans, needs.within)
        relation = self._relation(needs)
        printer = FactPrinter(
            self.engine.dialect,
            relation,
            {lookup.exact: lookup.number for lookup in lookups},
            searched(bit for plan in plans for bit in plan.bits),
            self.trusts_truncated_max,
        )
        return replace(printer, relation=_joined(relation, printer.search_columns(), lookups))

    def _relation(self, needs: Needs) -> Relation:
        if self.relations is None:
            return merged_relation(self.snapshot, self.engine, needs, self.profile)
        return self.relations.relation(self.snapshot, self.engine, needs, self.profile)


def _joined(relation: Relation, searches: Sequence[str], lookups: Sequence[Lookup]) -> Relation:
    """The relation with the searched conditions and what is known of expressions over partition values."""
    files = f"(SELECT *, {', '.join(searches)} FROM {relation.source})" if searches else relation.source
    return replace(relation, source=" ".join([f"{files} AS files", *(lookup.join(relation) for lookup in lookups)]))


def words_of(plan: Plan, printer: FactPrinter) -> list[str]:
    """The bits of a plan, and what is worth knowing of its columns, packed into integers."""
    weights = cycle(1 << i for i in range(WORD_BITS))
    bits = [printer.bit(bit, weight) for bit, weight in zip(plan.bits, weights, strict=False)]
    flags = [f"{LIVE} = 0", "has_stats", "has_dv"]
    for column in plan.seen:
        flags += [printer.relation.has_bounds(column), printer.relation.is_counted(column)]
    bits += [f"CASE WHEN {flag} THEN {weight} ELSE 0 END" for flag, weight in zip(flags, weights, strict=False)]
    words = [bits[i : i + WORD_BITS] for i in range(0, len(bits), WORD_BITS)]
    return [f"CAST({' + '.join(word)} AS BIGINT)" for word in words]


def word_count(plan: Plan) -> int:
    """How many words `words_of` makes of a plan."""
    return -(-(len(plan.bits) + 3 + 2 * len(plan.columns)) // WORD_BITS)


def bits_are(value: int, positions: Iterable[int], names: Sequence[str]) -> str:
    """SQL over the words of a container, which have these names: whether each of the bits has the value."""
    masks: dict[str, int] = {}
    for position in positions:
        name = names[position // WORD_BITS]
        masks[name] = masks.get(name, 0) | 1 << position % WORD_BITS
    return " AND ".join([f"({name} & {mask}) = {mask * value}" for name, mask in masks.items()]) or "TRUE"


def is_left(plan: Plan, names: Sequence[str]) -> str:
    """SQL over these words: the container has a live row, and no clause drops it."""
    return f"{bits_are(0, [len(plan.bits)], names)} AND {bits_are(1, [place.can_true for place in plan.positions], names)}"


def needs_of(plans: Sequence[Plan], *, paths: bool) -> Needs:
    """What the bits of these plans need."""
    domains = tuple(dict.fromkeys(column for plan in plans for column in plan.domains))
    texts: tuple[Column, ...] = tuple(
        dict.fromkeys(column for plan in plans for exact in plan.exacts for column in exact.columns)
    )
    return Needs(domains, texts, paths)


def _beside(plan: Plan, needs: Needs) -> Needs:
    """These needs beside the plan's own, which come first."""
    own = needs_of([plan], paths=needs.paths)
    domains = tuple(dict.fromkeys((*own.domains, *needs.domains)))
    texts = tuple(dict.fromkeys((*own.partition_texts, *needs.partition_texts)))
    return replace(needs, domains=domains, partition_texts=texts)


def sums_sql(dialect: Dialect) -> str:
    """The numbers of a `Pattern`, over its containers."""
    bounded = "CASE WHEN deleted IS NULL THEN rows END"
    size, live, most = (f"coalesce({dialect.total(number)}, 0)" for number in ("size", LIVE, bounded))
    unknown = [f"count(*) - count({number})" for number in (LIVE, "size")]
    return ", ".join(["count(*)", size, live, *unknown, f"count({bounded})", most])


def _one_plan_sql(words: Sequence[str], source: str, dialect: Dialect) -> str:
    keys = ", ".join(f"w{i}" for i in range(len(words)))
    picked = ", ".join(f"{word} AS w{i}" for i, word in enumerate(words))
    return f"SELECT 0, {keys}, {sums_sql(dialect)} FROM (SELECT size, rows, deleted, {picked} FROM {source}) GROUP BY {keys}"


def _many_plans_sql(words: Sequence[Sequence[str]], source: str, dialect: Dialect) -> str:
    """One pass for several plans: each file is unfolded into (plan, its words) and grouped."""
    width = max(len(w) for w in words)
    names = ["plan", *(f"w{i}" for i in range(width))]
    rows = [[str(number), *w, *["CAST(0 AS BIGINT)"] * (width - len(w))] for number, w in enumerate(words)]
    keys = ", ".join(names)
    inner = f"SELECT size, rows, deleted, {dialect.unfolded(names, rows)} FROM {source}"
    return f"SELECT {keys}, {sums_sql(dialect)} FROM ({inner}) GROUP BY {keys}"


def signature_of(plan: Plan, words: Sequence[int]) -> Signature:
    bits = [bool(word >> place & 1) for word in words for place in range(WORD_BITS)]
    outcomes = tuple(
        Outcome(
            bits[p.can_true],
            bits[p.not_true],
            tuple([bits[position] for position in p.by_rung]),
            frozenset([lift for lift, position in p.lifted.items() if bits[p.can_true] and not bits[position]]),
            bits[p.strict] and not bits[p.can_true],
        )
        for p in plan.positions
    )
    base = len(plan.bits)
    known = bits[base + 3 : base + 3 + 2 * len(plan.columns)]
    return Signature(outcomes, bits[base], bits[base + 1], bits[base + 2], tuple(known[::2]), tuple(known[1::2]))
