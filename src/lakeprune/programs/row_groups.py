"""Below files: the row groups of the files that are left, judged by the statistics of their footers and all that is known above.

In: an evaluation over files, and plans. Out: per plan the patterns of its row groups, the files that lose all of them, and
listings. Footers are read of files that some plan keeps, of others never, and each once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from msgspec import Struct
from msgspec.structs import replace

from lakeprune.engines.engine import Row
from lakeprune.errors import TableError
from lakeprune.formats.relation import Needs, Relation, flags_of
from lakeprune.formats.row_groups.footers import Footers, Wanted
from lakeprune.formats.row_groups.rung import with_row_groups
from lakeprune.formats.row_groups.snapshot import NEEDED, PLACE, RowGroupSnapshot
from lakeprune.predicate.schema import Role
from lakeprune.predicate.tree import Column
from lakeprune.programs.bloom import probes_of
from lakeprune.programs.patterns import (
    BATCH,
    SUMS,
    Evaluation,
    Lost,
    Pattern,
    Signature,
    bits_are,
    is_left,
    needs_of,
    signature_of,
    sums_sql,
    word_count,
    words_of,
)
from lakeprune.programs.select import IS_EMPTY, can_be_true
from lakeprune.skipping.ladder import Level, Seen
from lakeprune.skipping.plan import Plan, plan_clauses
from lakeprune.skipping.verdict import Verdict

_FILE = ("path", "partition", "size", "rows", "deleted", "has_dv")


class Asked(Struct, frozen=True):
    """How row groups are looked at: of all files that are left, or of so many of them."""

    sample: int | None = None
    bloom: bool = False  # Bloom filters are consulted too
    progress: Callable[[int, int], None] | None = None  # footers read, footers to read


class Subject(Struct, frozen=True):
    """A plan over files, and the columns that its predicate reads."""

    plan: Plan
    read: tuple[Column, ...]


class Needed(Struct, frozen=True):
    """Bytes of the column chunks that the predicate's columns have."""

    total: int = 0
    kept: int = 0


class Found(Struct, frozen=True):
    """What the row groups of one plan's files are."""

    plan: Plan
    patterns: list[Pattern]  # counted in row groups
    lost: list[Pattern]  # files without a row group that is left
    files: int  # that evidence about files leaves
    files_read: int  # of which the footer was read
    needed: Needed
    with_bloom: int  # row groups left that have a Bloom filter of a column of the predicate


class RowGroup(Struct, frozen=True):
    """One row group of a listed file."""

    number: int
    signature: Signature
    start: int
    end: int
    size: int
    needed: int
    rows: int


class FileGroups(Struct, frozen=True):
    """The row groups of a file whose footer was read; `lost` when none is left."""

    path: str
    lost: Lost | None
    row_groups: tuple[RowGroup, ...]


class RowGroups:
    """The row groups below one table, for some plans."""

    def __init__(self, evaluation: Evaluation, subjects: Sequence[Subject], asked: Asked) -> None:
        files = evaluation.snapshot.parquet_files()
        if files is None:
            facts = evaluation.snapshot.facts
            raise TableError("LP353", f"the row groups of {facts.title}s cannot be read", where=facts.location)
        self._evaluation = evaluation
        self._subjects = subjects
        self._asked = asked
        columns = dict.fromkeys(column for subject in subjects for column in subject.plan.columns if _is_stored(column))
        read = dict.fromkeys(column for subject in subjects for column in subject.read if column.role is Role.DATA)
        evidence = with_row_groups(evaluation.snapshot.facts.evidence, columns.keys())
        policy = evaluation.profile.nan_policy
        self._plans = [plan_clauses(subject.plan.clauses, evidence, policy) for subject in subjects]
        self._evidence = evidence
        if asked.bloom and not evaluation.engine.reads_bloom:
            self._asked = replace(asked, bloom=False)
        self._footers = Footers(files, Wanted(tuple(columns), tuple(read)), asked.progress)
        self._sleeps = -1
        self._batches: list[_Batch] = []

    @property
    def consults_bloom(self) -> bool:
        return self._asked.bloom

    @property
    def unread(self) -> dict[str, str]:
        """Files that are kept because their footers are not read, and why."""
        return self._footers.unreadable

    def found(self) -> list[Found]:
        """What each plan leaves."""
        self._wake()
        return [batch.found(index) for batch in self._batches for index in range(len(batch.plans))]

    def listed(self, number: int) -> Iterator[FileGroups]:
        """The files of one plan whose footers were read, by path, with all of their row groups.

        When the engine has slept, this plan alone is judged again, unless a sample of all plans' files was taken.
        """
        has_slept = bool(self._batches) and self._sleeps != self._evaluation.engine.sleeps
        if has_slept and len(self._subjects) > 1 and self._asked.sample is None:
            return RowGroups(self._evaluation, [self._subjects[number]], self._asked).listed(0)
        self._wake()
        return self._batches[number // BATCH].listed(number % BATCH)

    def _wake(self) -> None:
        """What was read is gone when the engine has slept."""
        engine = self._evaluation.engine
        if self._batches and self._sleeps == engine.sleeps:
            return
        self._sleeps = engine.sleeps
        self._footers = self._footers.anew()
        starts = range(0, len(self._plans), BATCH)
        batches = [(self._subjects[start : start + BATCH], self._plans[start : start + BATCH]) for start in starts]
        self._batches = [_Batch(self._evaluation, self._footers, files, plans, self._asked) for files, plans in batches]
        for batch in self._batches:
            batch.judge(RowGroupSnapshot(self._evaluation.snapshot, self._evidence, batch.files, self._footers, batch.flags))


class _Batch:
    """Some plans whose files are found by one query."""

    def __init__(
        self, evaluation: Evaluation, footers: Footers, subjects: Sequence[Subject], plans: Sequence[Plan], asked: Asked
    ) -> None:
        self._evaluation = evaluation
        self._engine = evaluation.engine
        self._footers = footers
        self._file_plans = [subject.plan for subject in subjects]
        self._read = [tuple(column for column in subject.read if column.role is Role.DATA) for subject in subjects]
        self.plans = plans
        self.flags = [f"kept{index}" for index in range(len(plans))]
        self._asked = asked
        self._words: list[list[str]] = []
        self._judged: list[str] = []
        self.files = self._survivors(asked)

    def _survivors(self, asked: Asked) -> Relation:
        """The files that some plan keeps, with their domains by single rungs, and the number of each footer that was read."""
        own = needs_of(self._file_plans, paths=True)
        single = dict.fromkeys(
            Seen(seen.column, frozenset({rung}))
            for plan in self.plans
            for seen in plan.domains
            for rung in seen.rungs
            if rung.level is not Level.ROW_GROUP
        )
        needs = Needs(tuple(dict.fromkeys((*own.domains, *single))), own.partition_texts, paths=True)
        above = self._evaluation.judged(self._file_plans)
        printer = self._evaluation.printer(self._file_plans, needs if above is None else above.needs(needs))
        relation = printer.relation
        above_words = None if above is None else above.part(self._engine, slice(None))
        source = relation.source if above_words is None else above_words.joined(relation.source)
        columns = [name for seen in single for name in (relation.lo(seen), relation.hi(seen), *flags_of(relation, seen))]
        columns += [name for column in needs.partition_texts for name in (relation.text(column), relation.is_missing(column))]
        items = [*_FILE, *dict.fromkeys(columns), f"{self._evaluation.snapshot.file_key(self._engine, 'path')} AS file_key"]
        for index, plan in enumerate(self._file_plans):
            in_kept_group = "TRUE" if above_words is None else above_words.is_kept(index)
            items.append(f"(NOT {IS_EMPTY} AND {in_kept_group} AND {can_be_true(plan, printer)}) AS kept{index}")
            words = words_of(plan, printer)
            self._words.append([f"f{index}w{place}" for place in range(len(words))])
            items += [f"{word} AS {name}" for word, name in zip(words, self._words[-1], strict=True)]
        found = self._engine.kept(f"SELECT {', '.join(items)} FROM {source}", where=" OR ".join(self.flags))
        self._evaluation.snapshot.check_whole()
        chosen = "" if asked.sample is None else f" ORDER BY md5(path), path LIMIT {asked.sample}"
        listed = self._engine.query(f"SELECT file_key, size FROM {found}{chosen}")
        numbers = self._footers.read(self._engine, listed)
        keys = self._engine.columns(["known_key", "number"], ["STRING", "BIGINT"], [list(numbers), list(numbers.values())])
        numbered = f"SELECT f.*, n.number AS number FROM {found} AS f LEFT JOIN {keys} AS n ON f.file_key = n.known_key"
        return replace(relation, source=self._engine.kept(numbered))

    def judge(self, snapshot: RowGroupSnapshot) -> None:
        """Every row group of the plans' files with its bits, kept for what is asked of them."""
        if not self._footers.has_any():
            self._judged = []
            return
        for index, plan in enumerate(self.plans):
            groups = replace(self._evaluation, snapshot=snapshot.reading(self._read[index]))
            printer = groups.printer([plan], needs_of([plan], paths=True))
            words = words_of(plan, printer)
            names = _words(len(words))
            items = ["number", "path", *PLACE, "size", "rows", "deleted", *NEEDED]
            items += [f"{word} AS {name}" for word, name in zip(words, names, strict=True)]
            flags = [f"({is_left(plan, names)}) AS is_open"]
            flags += [f"({_is_assumed_by(plan, clause, names)}) AS assumed{clause}" for clause in _in_doubt(plan)]
            row_groups = f"SELECT {', '.join(items)} FROM {printer.relation.source} WHERE kept{index}"
            self._judged.append(self._with_bloom(self._engine.kept(f"SELECT *, {', '.join(flags)} FROM ({row_groups})"), plan))

    def _with_bloom(self, judged: str, plan: Plan) -> str:
        """The row groups with `bloom`, the clause whose values their filter excludes, or -1; those are not left any more."""
        found: dict[tuple[int, int], int] = {}
        for probe in probes_of(plan, self._engine.dialect, self._footers.wanted.bounds) if self._asked.bloom else ():
            rows = self._engine.query(f"SELECT DISTINCT number FROM {judged} WHERE is_open AND blooms > 0")
            excluded = self._footers.excluded(self._engine, probe.column, probe.values, [number for (number,) in rows])
            found = dict.fromkeys(excluded, probe.clause) | found
        if not found:
            return f"(SELECT *, -1 AS bloom, is_open AS is_left FROM {judged})"
        names, types = ["excluded", "excluded_group", "clause"], ["BIGINT", "BIGINT", "BIGINT"]
        table = self._engine.lookup(names, types, [(*key, clause) for key, clause in found.items()])
        items = "CASE WHEN is_open THEN coalesce(clause, -1) ELSE -1 END AS bloom, is_open AND clause IS NULL AS is_left"
        joined = f"{judged} AS j LEFT JOIN {table} AS b ON excluded = number AND excluded_group = row_group"
        return self._engine.kept(f"SELECT j.*, {items} FROM {joined}")

    def found(self, index: int) -> Found:
        plan, files = self.plans[index], self.files.source
        ((kept, read),) = self._engine.query(f"SELECT count(*), count(number) FROM {files} WHERE kept{index}")
        if not self._judged:
            return Found(plan, [], [], kept, read, Needed(), 0)
        patterns, needed, blooms = [], Needed(), 0
        count = word_count(plan)
        keys = ", ".join(["bloom", *_words(count)])
        sums = sums_sql(self._engine.dialect)
        more = "coalesce(sum(needed_bytes), 0), sum(CASE WHEN is_left AND blooms > 0 THEN 1 ELSE 0 END)"
        for row in self._engine.query(f"SELECT {keys}, {sums}, {more} FROM {self._judged[index]} GROUP BY {keys}"):
            signature = _signature(plan, row[0], row[1 : 1 + count])
            *numbers, columns, with_bloom = map(int, row[1 + count :])
            patterns.append(Pattern(signature, *numbers))
            is_left = columns if signature.verdict is not Verdict.DROP else 0
            needed = Needed(needed.total + columns, needed.kept + is_left)
            blooms += with_bloom
        return Found(plan, patterns, self._lost(index), kept, read, needed, blooms)

    def _lost(self, index: int) -> list[Pattern]:
        """The files whose footer was read, adds up, and leaves no row group."""
        plan, words = self._file_plans[index], self._words[index]
        doubted = [f"assumed{clause}" for clause in _in_doubt(self.plans[index])]
        flags = ["is_left", *doubted]
        most = ", ".join(f"max(CASE WHEN {flag} THEN 1 ELSE 0 END) AS {flag}" for flag in flags)
        by_file = f"(SELECT number AS judged, {most} FROM {self._judged[index]} GROUP BY number)"
        whole = f"(SELECT DISTINCT file FROM {self._footers.groups()} WHERE is_whole)"
        keys = ", ".join([*words, *(f"coalesce({flag}, 0)" for flag in doubted)])
        sums = sums_sql(self._engine.dialect)
        found = []
        for row in self._engine.query(
            f"SELECT {keys}, {sums} FROM {self.files.source} AS f JOIN {whole} AS w ON w.file = f.number "
            f"LEFT JOIN {by_file} AS a ON a.judged = f.number WHERE kept{index} AND coalesce(is_left, 0) = 0 GROUP BY {keys}"
        ):
            assumed = [clause for clause, flag in zip(_in_doubt(self.plans[index]), row[len(words) :], strict=False) if flag]
            signature = replace(signature_of(plan, row[: len(words)]), lost=Lost(_names(self.plans[index], assumed)))
            found.append(Pattern(signature, *map(int, row[-SUMS:])))
        return found

    def listed(self, index: int) -> Iterator[FileGroups]:
        if not self._judged:
            return
        plan = self.plans[index]
        words = _words(word_count(plan))
        whole = f"(SELECT file, max(CASE WHEN is_whole THEN 1 ELSE 0 END) AS whole FROM {self._footers.groups()} GROUP BY file)"
        names = ("row_group", "start_byte", "end_byte", "size", "needed_bytes", "rows", "bloom")
        items = ["f.path", "w.whole", *(f"t.{name}" for name in names)]
        rows = self._engine.stream(
            f"SELECT {', '.join(items + [f't.{word}' for word in words])} FROM {self.files.source} AS f "
            f"JOIN {whole} AS w ON w.file = f.number LEFT JOIN {self._judged[index]} AS t ON t.number = f.number "
            f"WHERE kept{index} ORDER BY f.path, t.row_group"
        )
        known: dict[Row, Signature] = {}
        for path, several in groupby(rows, key=lambda row: row[0]):
            groups: dict[int, RowGroup] = {}
            is_whole = False
            for _, whole_file, number, *rest in several:
                is_whole = bool(whole_file)
                if number is not None:
                    bits = tuple(rest[5:])
                    if bits not in known:
                        known[bits] = _signature(plan, bits[0], bits[1:])
                    groups[number] = RowGroup(number, known[bits], *rest[:5])
            yield FileGroups(path, _lost_of(plan, list(groups.values())) if is_whole else None, tuple(groups.values()))


def _signature(plan: Plan, bloom: int, words: Sequence[int]) -> Signature:
    """The signature of a row group; `bloom` is the clause that its filter decides, or -1."""
    signature = signature_of(plan, words)
    if bloom < 0:
        return signature
    outcomes = list(signature.outcomes)
    outcomes[bloom] = replace(outcomes[bloom], can_true=False)
    return replace(signature, outcomes=tuple(outcomes), excluded_by=bloom)


def _is_stored(column: Column) -> bool:
    """Whether a column is looked for in footers: those that no file stores, and those whose order is not trusted, are not."""
    return column.role is Role.DATA and column.statistics_unusable is None and column.type.family is not None


def _in_doubt(plan: Plan) -> list[int]:
    return [clause for clause, place in enumerate(plan.positions) if place.assumed_columns]


def _names(plan: Plan, clauses: Sequence[int]) -> tuple[str, ...]:
    columns = (column for clause in clauses for column in plan.positions[clause].assumed_columns)
    return tuple(dict.fromkeys(".".join(column.path) for column in columns))


def _lost_of(plan: Plan, groups: Sequence[RowGroup]) -> Lost | None:
    """What `_Batch._lost` finds in SQL."""
    if any(group.signature.verdict is not Verdict.DROP for group in groups):
        return None
    assumed = [group.signature for group in groups if group.signature.is_assumed]
    clauses = [clause for clause in _in_doubt(plan) if any(each.outcomes[clause].is_assumed for each in assumed)]
    return Lost(_names(plan, clauses))


def _words(count: int) -> list[str]:
    return [f"w{place}" for place in range(count)]


def _is_assumed_by(plan: Plan, clause: int, names: Sequence[str]) -> str:
    """Whether a row group is dropped only because this clause, like all that drop it, assumes that no NaN is hidden."""
    own = plan.positions[clause]
    has_row = bits_are(0, [len(plan.bits), own.can_true], names)
    return f"{has_row} AND {bits_are(1, [place.strict for place in plan.positions], names)}"
