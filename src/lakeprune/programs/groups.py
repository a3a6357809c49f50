"""Groups of containers (Iceberg: manifests) judged before their containers are read.

In: an evaluation and plans. Out: `Grouping`: which groups each plan drops, and what its clauses are there. A group that no plan
keeps need not be read: its containers enter the patterns of a plan by their recorded count, with the clause outcomes of the
group. So a plan has the same numbers alone and among others. Nothing is dropped by an assumption: what is hidden in a group
may be recorded of its containers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from lakeprune.engines.engine import Engine
from lakeprune.formats.relation import Needs
from lakeprune.programs.patterns import BATCH, Evaluation, Outcome, Pattern, Signature, needs_of, signature_of, words_of
from lakeprune.skipping.fact import Known
from lakeprune.skipping.ladder import Evidence, Level
from lakeprune.skipping.plan import Plan, plan_clauses

Count = tuple[int | None, int | None, int | None]  # of a group: files, physical and live rows; None where not known


class Judged(Struct, frozen=True):
    """What one plan does to the groups of a snapshot."""

    counts: Mapping[int, Count]  # by the number of each group
    left: Signature  # of the groups that it keeps
    dropped: Mapping[int, int] = {}  # number of a dropped group -> place among the signatures; never changed
    signatures: tuple[Signature, ...] = ()

    @property
    def kept(self) -> frozenset[int]:
        return frozenset(self.counts) - frozenset(self.dropped)

    def patterns(self, one_by_one: frozenset[int]) -> Iterator[Pattern]:
        """The groups as patterns, with the containers of dropped ones but those that are counted one by one."""
        yield Pattern(self.left, 0, 0, 0, 0, level=Level.MANIFEST, groups=len(self.counts) - len(self.dropped))
        for place, signature in enumerate(self.signatures):
            numbers = [number for number, found in self.dropped.items() if found == place]
            counts = [self.counts[number] for number in numbers if number not in one_by_one]
            yield _counted(signature, counts, len(numbers))

    def joined(self, engine: Engine, source: str) -> str:
        """A relation of containers with the column `dropped_by`: the place of the signature of its group, NULL for kept ones."""
        numbers, places = list(self.dropped), list(self.dropped.values())
        lookup = engine.columns(("group_number", "dropped_by"), ("BIGINT", "BIGINT"), (numbers, places))
        return f"{source} LEFT JOIN {lookup} AS dropped_groups ON parent = group_number"

    def with_group(self, signature: Signature, place: int | None) -> Signature:
        """The signature of containers in a dropped group: what the group proves holds for each of them."""
        if place is None:
            return signature
        pairs = zip(signature.outcomes, self.signatures[place].outcomes, strict=True)
        return replace(signature, outcomes=tuple(_both(own, groups) for own, groups in pairs))


def _counted(signature: Signature, counts: Sequence[Count], groups: int) -> Pattern:
    """The containers of dropped groups as the groups count them; none of their sizes is known."""
    without = [(files or 0, rows) for files, rows, live in counts if live is None]
    bounded = [(files, rows) for files, rows in without if rows is not None]
    files = sum(count[0] or 0 for count in counts)
    return Pattern(
        signature,
        files,
        bytes=0,
        rows=sum(live for _, _, live in counts if live is not None),
        files_without_rows=sum(files for files, _ in without),
        files_without_bytes=files,
        files_with_bounded_rows=sum(files for files, _ in bounded),
        bounded_rows=sum(rows for _, rows in bounded),
        level=Level.MANIFEST,
        groups=groups,
    )


class GroupWords(Struct, frozen=True):
    """The groups of the containers that some plans look at, as one more word of each plan that drops some of them."""

    lookup: str | None
    words: list[list[str]]  # per plan: one, or none where it keeps every group that is read
    plans: Sequence[Judged]

    def joined(self, source: str) -> str:
        return source if self.lookup is None else f"{source} JOIN {self.lookup} AS judged_groups ON parent = group_number"

    def is_kept(self, index: int) -> str:
        """SQL: a container is in a group that the plan keeps."""
        return f"{self.words[index][0]} = {_KEPT}" if self.words[index] else "TRUE"

    def with_group(self, signature: Signature, index: int, packed: Sequence[int]) -> Signature | None:
        """The signature of the containers with these words; None when they are counted by their groups."""
        if not self.words[index] or packed[-1] == _KEPT:
            return signature
        return None if packed[-1] == _BY_GROUP else self.plans[index].with_group(signature, packed[-1])


_KEPT, _BY_GROUP = -1, -2


class Grouping(Struct, frozen=True):
    """The groups of a snapshot, judged by several plans that are evaluated together."""

    plans: Sequence[Judged]
    is_exhaustive: bool

    @property
    def every(self) -> frozenset[int]:
        return frozenset(self.plans[0].counts) if self.plans else frozenset()

    @property
    def one_by_one(self) -> frozenset[int]:
        """The groups whose containers are counted one by one although they may be dropped."""
        if self.is_exhaustive:
            return self.every
        counts = self.plans[0].counts.items() if self.plans else ()
        return frozenset(number for number, (files, _, _) in counts if files is None)  # nobody recorded what is in them

    @property
    def read(self) -> frozenset[int]:
        """The groups that some plan keeps or that have to be counted."""
        return self.one_by_one.union(*(judged.kept for judged in self.plans))

    def needs(self, needs: Needs) -> Needs:
        """What is needed of containers, within the groups that are read."""
        read = self.read
        parents = any(number in read for judged in self.plans for number in judged.dropped)
        return replace(needs, within=None if read == self.every else read, parents=parents)

    def patterns(self) -> list[list[Pattern]]:
        """The groups of each plan as patterns."""
        return [list(judged.patterns(self.one_by_one)) for judged in self.plans]

    def part(self, engine: Engine, batch: slice) -> GroupWords:
        """The words of these plans."""
        plans, read, one_by_one = self.plans[batch], sorted(self.read), self.one_by_one
        columns: dict[str, list[int]] = {}
        words: list[list[str]] = []
        for index, judged in enumerate(plans):
            word = [judged.dropped.get(number, _KEPT) for number in read]
            if any(place != _KEPT for place in word):
                word = [
                    place if place == _KEPT or number in one_by_one else _BY_GROUP
                    for number, place in zip(read, word, strict=True)
                ]
                columns[f"group_of{index}"] = word
            words.append([name] if (name := f"group_of{index}") in columns else [])
        if not columns:
            return GroupWords(None, words, plans)
        names, kinds = ("group_number", *columns), ("BIGINT",) * (len(columns) + 1)
        return GroupWords(engine.columns(names, kinds, (read, *columns.values())), words, plans)


def _both(own: Outcome, groups: Outcome) -> Outcome:
    can_true = own.can_true and groups.can_true
    return Outcome(
        can_true,
        own.not_true,
        tuple(map(min, own.by_rung, groups.by_rung)),
        own.kept_for if can_true else frozenset(),
        own.is_assumed and groups.can_true,
    )


def judge(evaluation: Evaluation, plans: Sequence[Plan]) -> Grouping | None:
    """What each plan does to the groups; None where the snapshot has none."""
    groups = evaluation.snapshot.groups()
    if groups is None:
        return None
    own = [group_plan(plan, groups.facts.evidence) for plan in plans]
    above = replace(evaluation, snapshot=groups)
    found: list[Judged] = []
    for start in range(0, len(plans), BATCH):
        found += _judged(above, plans[start : start + BATCH], own[start : start + BATCH])
    return Grouping(found, evaluation.is_exhaustive)


def group_plan(plan: Plan, evidence: Evidence) -> Plan:
    """The plan of the same clauses over groups."""
    return plan_clauses(plan.clauses, evidence)


def speaks(plan: Plan) -> list[bool]:
    """Whether each clause can drop a container at all."""
    return [plan.bits[place.can_true].fact != Known(True) for place in plan.positions]


def _judged(above: Evaluation, plans: Sequence[Plan], own: Sequence[Plan]) -> list[Judged]:
    telling = [place for place, plan in enumerate(own) if any(speaks(plan))]
    asked = [own[place] for place in telling]
    printer = above.printer(asked, needs_of(asked, paths=False))
    words = [words_of(plan, printer) for plan in asked]
    picked = ", ".join(["number", "files", "rows", "rows - deleted", *(word for several in words for word in several)])
    rows = above.engine.query(f"SELECT {picked} FROM {printer.relation.source} ORDER BY number")
    counts: dict[int, Count] = {row[0]: row[1:4] for row in rows}
    found = [Judged(counts, _left(plan)) for plan in plans]
    first = 4
    for place, several in zip(telling, words, strict=True):
        known: dict[tuple[int, ...], int | None] = {}
        signatures: list[Signature] = []
        dropped: dict[int, int] = {}
        for row in rows:
            bits = row[first : first + len(several)]
            if bits not in known:
                signature = _plain(signature_of(own[place], bits), plans[place])
                known[bits] = len(signatures) if _is_dropped(signature, own[place]) else None
                signatures += [signature] if known[bits] is not None else []
            if (where := known[bits]) is not None:
                dropped[row[0]] = where
        found[place] = replace(found[place], dropped=dropped, signatures=tuple(signatures))
        first += len(several)
    return found


def _is_dropped(signature: Signature, plan: Plan) -> bool:
    """Whether evidence about the group, or the condition itself, drops it: what holds without any is left to its containers."""
    outcomes = enumerate(signature.outcomes)
    return any(not outcome.can_true and (plan.is_constant(i) or not all(outcome.by_rung)) for i, outcome in outcomes)


def _left(plan: Plan) -> Signature:
    unknown = (False,) * len(plan.columns)
    may_match = Outcome(True, True, (True,) * len(plan.ladder))
    return Signature((may_match,) * len(plan.clauses), False, False, False, unknown, unknown)


def _plain(signature: Signature, plan: Plan) -> Signature:
    """What a group says about clauses, and nothing else: neither its row count nor statistics of its containers are known."""
    unknown = (False,) * len(plan.columns)
    outcomes = tuple(replace(outcome, kept_for=frozenset()) for outcome in signature.outcomes)
    return Signature(outcomes, False, False, False, unknown, unknown)
