"""A plan confronted with the rows: verdict patterns, each with what its files really hold.

In: a plan, and a relation of the truth with one row per file that has live rows: `file` (its path as the snapshot compares them),
`live` and `matching` (numbers of rows). Out: `Confronted` patterns, and the files that contradict their verdict. Nothing is said
of files that were not looked into. One join, one GROUP BY; rows of files never pass through Python unless they contradict.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from lakeprune.engines.engine import Needs
from lakeprune.programs.patterns import Evaluation, Signature, signature_of, words_of
from lakeprune.skipping.plan import Plan


class Confronted(Struct, frozen=True):
    """Files of one signature, and what is true of them."""

    signature: Signature
    words: tuple[int, ...]
    files: int
    bytes: int
    checked: int  # files that were looked into; what follows is about them
    live: int  # rows that are there
    matching: int  # rows for which the predicate is TRUE
    files_with_match: int
    bytes_with_match: int
    files_with_other: int  # files with a live row for which it is not TRUE
    files_told_wrong: int  # files whose recorded number of live rows is not what they hold


class Contradiction(Struct, frozen=True):
    """A file whose rows contradict its verdict."""

    path: str
    words: tuple[int, ...]
    live: int
    matching: int


class Judged(Struct, frozen=True):
    """Every file with what the plan says about it, computed once: a FROM item with path, size, told (recorded live rows), the key
    `file`, and the words w0, w1, ... of the plan."""

    evaluation: Evaluation
    plan: Plan
    source: str
    width: int  # how many words

    @property
    def words(self) -> str:
        return ", ".join(f"w{i}" for i in range(self.width))


class Confrontation(Struct, frozen=True):
    judged: Judged
    truth: str  # a FROM item
    is_checked: str = "TRUE"  # SQL over judged files: which of them were looked into

    def patterns(self) -> list[Confronted]:
        """Every file, in groups that behave alike."""
        keys, width = self.judged.words, self.judged.width
        engine = self.judged.evaluation.engine
        total = engine.dialect.total
        sums = [
            "count(*)",
            total("size"),
            "count(live)",
            f"coalesce({total('live')}, 0)",
            f"coalesce({total('matching')}, 0)",
            "count(CASE WHEN matching > 0 THEN 1 END)",
            total("CASE WHEN matching > 0 THEN size ELSE 0 END"),
            "count(CASE WHEN matching < live THEN 1 END)",
            "count(CASE WHEN told <> live THEN 1 END)",
        ]
        found = []
        for row in engine.query(f"SELECT {keys}, {', '.join(sums)} FROM {self._relation()} GROUP BY {keys}"):
            words = tuple(int(word) for word in row[:width])
            found.append(Confronted(signature_of(self.judged.plan, words), words, *(int(number) for number in row[width:])))
        return found

    def contradictions(self, dropped: Sequence[Confronted], full: Sequence[Confronted], limit: int) -> list[Contradiction]:
        """Files of these dropped patterns that have a match, and of these full ones that have a row without, by path."""
        tests = [f"({self._is(pattern)} AND matching > 0)" for pattern in dropped]
        tests += [f"({self._is(pattern)} AND matching < live)" for pattern in full]
        if not tests:
            return []
        picked = f"SELECT path, live, matching, {self.judged.words} FROM {self._relation()} WHERE {' OR '.join(tests)}"
        return [
            Contradiction(path, tuple(int(word) for word in words), int(live), int(matching))
            for path, live, matching, *words in self.judged.evaluation.engine.query(f"{picked} ORDER BY path LIMIT {limit}")
        ]

    def strangers(self) -> int:
        """Files of the truth that the log does not know: their paths could not be matched."""
        sql = (
            f"SELECT count(*) FROM {self.truth} AS truth ANTI JOIN (SELECT file FROM {self.judged.source}) AS known USING (file)"
        )
        return int(self.judged.evaluation.engine.query(sql)[0][0])

    def _relation(self) -> str:
        counts = [f"CASE WHEN files.is_checked THEN coalesce(truth.{name}, 0) END AS {name}" for name in ("live", "matching")]
        checked = f"(SELECT *, ({self.is_checked}) AS is_checked FROM {self.judged.source})"
        joined = f"{checked} AS files LEFT JOIN {self.truth} AS truth ON truth.file = files.file"
        return f"(SELECT files.*, {', '.join(counts)} FROM {joined})"

    def _is(self, pattern: Confronted) -> str:
        return is_pattern(pattern.words)


def judged_files(evaluation: Evaluation, plan: Plan) -> Judged:
    """The files and the plan's words about them, read from the log once and kept as long as the engine is awake.

    Kept also because an optimiser that looks for a word inside a filter writes the whole plan out for every mention of it.
    """
    source, printer = evaluation.relation(plan, Needs(paths=True))
    words = words_of(plan, printer)
    named = ", ".join(f"{word} AS w{i}" for i, word in enumerate(words))
    key = evaluation.snapshot.file_key(evaluation.engine, "path")
    kept = evaluation.engine.kept(f"SELECT path, size, rows - deleted AS told, {named}, {key} AS file FROM {source}")
    return Judged(evaluation, plan, kept, len(words))


def is_pattern(words: Sequence[int]) -> str:
    """SQL: a judged file has these words."""
    return " AND ".join(f"w{i} = {word}" for i, word in enumerate(words))
