"""A plan confronted with the rows: verdict patterns, each with what its files really hold.

In: a plan, and a relation of the truth with one row per file that has live rows: `file` (its path as the snapshot compares them),
`live` and `matching` (numbers of rows). Out: `Confronted` patterns, and the files that contradict their verdict. One join, one
GROUP BY; rows of files never pass through Python unless they contradict.
"""

from __future__ import annotations

from collections.abc import Sequence

from lakeprune.engines.engine import Needs
from lakeprune.engines.evaluate import Evaluation, Signature, signature_of, words_of
from lakeprune.record import record
from lakeprune.skipping.plan import Plan


@record
class Confronted:
    """Files of one signature, and what is true of them."""

    signature: Signature
    words: tuple[int, ...]
    files: int
    bytes: int
    live: int  # rows that are there
    matching: int  # rows for which the predicate is TRUE
    files_with_match: int
    bytes_with_match: int
    files_with_other: int  # files with a live row for which it is not TRUE
    files_told_wrong: int  # files whose recorded number of live rows is not what they hold


@record
class Contradiction:
    """A file whose rows contradict its verdict."""

    path: str
    words: tuple[int, ...]
    live: int
    matching: int


@record
class Confrontation:
    evaluation: Evaluation
    plan: Plan
    truth: str  # a FROM item

    def patterns(self) -> list[Confronted]:
        """Every file, in groups that behave alike."""
        relation, width = self._relation()
        keys = ", ".join(f"w{i}" for i in range(width))
        total = self.evaluation.engine.dialect.total
        sums = [
            "count(*)",
            total("size"),
            total("live"),
            total("matching"),
            "count(CASE WHEN matching > 0 THEN 1 END)",
            total("CASE WHEN matching > 0 THEN size ELSE 0 END"),
            "count(CASE WHEN matching < live THEN 1 END)",
            "count(CASE WHEN told <> live THEN 1 END)",
        ]
        found = []
        for row in self.evaluation.engine.query(f"SELECT {keys}, {', '.join(sums)} FROM {relation} GROUP BY {keys}"):
            words = tuple(int(word) for word in row[:width])
            found.append(Confronted(signature_of(self.plan, words), words, *(int(number) for number in row[width:])))
        return found

    def contradictions(self, dropped: Sequence[Confronted], full: Sequence[Confronted], limit: int) -> list[Contradiction]:
        """Files of these dropped patterns that have a match, and of these full ones that have a row without, by path."""
        tests = [f"({self._is(pattern)} AND matching > 0)" for pattern in dropped]
        tests += [f"({self._is(pattern)} AND matching < live)" for pattern in full]
        if not tests:
            return []
        relation, width = self._relation()
        keys = ", ".join(f"w{i}" for i in range(width))
        picked = f"SELECT path, live, matching, {keys} FROM {relation} WHERE {' OR '.join(tests)} ORDER BY path LIMIT {limit}"
        return [
            Contradiction(path, tuple(int(word) for word in words), int(live), int(matching))
            for path, live, matching, *words in self.evaluation.engine.query(picked)
        ]

    def strangers(self) -> int:
        """Files of the truth that the log does not know: their paths could not be matched."""
        relation, _ = self._relation()
        sql = f"SELECT count(*) FROM {self.truth} AS truth ANTI JOIN (SELECT file FROM {relation}) AS known USING (file)"
        return int(self.evaluation.engine.query(sql)[0][0])

    def _relation(self) -> tuple[str, int]:
        source, printer = self.evaluation.relation(self.plan, Needs(paths=True))
        words = words_of(self.plan, printer)
        key = self.evaluation.snapshot.file_key(self.evaluation.engine, "path")
        named = ", ".join(f"{word} AS w{i}" for i, word in enumerate(words))
        files = f"SELECT path, size, rows - deleted AS told, {named}, {key} AS file FROM {source}"
        counts = "coalesce(truth.live, 0) AS live, coalesce(truth.matching, 0) AS matching"
        joined = f"SELECT files.*, {counts} FROM ({files}) AS files LEFT JOIN {self.truth} AS truth ON truth.file = files.file"
        return f"({joined})", len(words)

    def _is(self, pattern: Confronted) -> str:
        return " AND ".join(f"w{i} = {word}" for i, word in enumerate(pattern.words))
