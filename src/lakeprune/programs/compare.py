"""Files of the log beside what Spark found in them: the join behind verification and audit, and the comparison of a plan.

In: SQL over the log's files, and a relation of what was found, with one row per file that has live rows: `file` (its path as the
snapshot compares them), `live`, and for a plan `matching` (numbers of rows). Out: verdict patterns, each with what its files
hold, and the files that contradict their verdict. Nothing is concluded from files that were not checked. Rows of files never
pass through Python unless they contradict.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from lakeprune.formats.relation import LIVE, Needs
from lakeprune.programs.patterns import Evaluation, Signature, signature_of, words_of
from lakeprune.programs.sample import in_sample
from lakeprune.programs.select import NUMBERS, verdict_sql
from lakeprune.skipping.plan import Plan
from lakeprune.skipping.verdict import Verdict

_DROP, _FULL = NUMBERS[Verdict.DROP], NUMBERS[Verdict.FULL]


class Logged(Struct, frozen=True):
    """Files of the log, read once and kept as long as the engine is awake."""

    evaluation: Evaluation
    source: str  # a FROM item with `path`, the key `file`, `is_checked`, and what is compared

    @classmethod
    def kept(cls, evaluation: Evaluation, files: str, is_checked: str) -> Logged:
        """The files of a query that gives `path`; `is_checked` is SQL over them.

        Kept also because an optimiser that finds an expression inside a filter writes all of it out for every mention.
        """
        key = evaluation.snapshot.file_key(evaluation.engine, "path")
        sql = f"SELECT *, {key} AS file, ({is_checked}) AS is_checked FROM ({files})"
        return cls(evaluation, evaluation.engine.kept(sql))

    def paths(self) -> list[str]:
        """The files to check, as the log records them."""
        return [path for (path,) in self.evaluation.engine.query(f"SELECT path FROM {self.source} WHERE is_checked")]

    def keyed(self, view: str) -> str:
        """A FROM item over what was found, from a view that has a `url`."""
        return f"(SELECT *, {self.evaluation.snapshot.file_key(self.evaluation.engine, 'url')} AS file FROM {view})"

    def files_missing_from_log(self, found: str) -> int:
        """How many files were found whose paths match none of these."""
        known = f"(SELECT file FROM {self.source}) AS known"
        return int(self.evaluation.engine.query(f"SELECT count(*) FROM {found} AS found ANTI JOIN {known} USING (file)")[0][0])

    def beside(self, found: str, items: Iterable[str]) -> str:
        """A FROM item: every file with these items of what was found in it, NULL without live rows."""
        joined = f"{self.source} AS files LEFT JOIN {found} AS found ON found.file = files.file"
        return f"(SELECT files.*, {', '.join(items)} FROM {joined})"


class ComparedPattern(Struct, frozen=True):
    """Files of one signature, and what was found in them."""

    signature: Signature
    files: int
    bytes: int
    checked: int  # files; what follows is about them
    live: int  # rows
    matching: int  # rows for which the predicate is TRUE
    files_with_match: int
    bytes_with_match: int
    files_with_other: int  # files with a live row for which it is not TRUE
    files_with_wrong_row_count: int  # files whose recorded number of live rows is not what they hold

    @property
    def contradictions(self) -> int:
        """Files whose rows contradict the verdict."""
        return {Verdict.DROP: self.files_with_match, Verdict.FULL: self.files_with_other}.get(self.signature.verdict, 0)


class PlannedFiles(Struct, frozen=True):
    """Every file with what the plan says about it: words w0, w1, ..., and the verdict."""

    logged: Logged
    plan: Plan
    width: int  # how many words

    def patterns(self, found: str) -> list[ComparedPattern]:
        """Every file, in groups that behave alike."""
        keys = ", ".join(f"w{i}" for i in range(self.width))
        engine = self.logged.evaluation.engine
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
            "count(CASE WHEN recorded <> live THEN 1 END)",
        ]
        rows = engine.query(f"SELECT {keys}, {', '.join(sums)} FROM {self._compared(found)} GROUP BY {keys}")
        numbers = (tuple(map(int, row)) for row in rows)
        return [ComparedPattern(signature_of(self.plan, row[: self.width]), *row[self.width :]) for row in numbers]

    def contradictions(self, found: str, limit: int) -> list[tuple[str, Verdict, int, int]]:
        """Dropped files with a match and fully matched ones with a row that is none: path, verdict, live and matching rows."""
        test = f"verdict = {_DROP} AND matching > 0 OR verdict = {_FULL} AND matching < live"
        picked = f"SELECT path, verdict, live, matching FROM {self._compared(found)} WHERE {test} ORDER BY path LIMIT {limit}"
        verdicts = tuple(NUMBERS)
        rows = self.logged.evaluation.engine.query(picked)
        return [(path, verdicts[verdict], int(live), int(matching)) for path, verdict, live, matching in rows]

    def dropped_with_match(self, found: str, limit: int) -> list[tuple[str, Signature, int]]:
        """Dropped files with a match: path, signature and matching rows."""
        words = ", ".join(f"w{i}" for i in range(self.width))
        test = f"verdict = {_DROP} AND matching > 0"
        picked = f"SELECT path, matching, {words} FROM {self._compared(found)} WHERE {test} ORDER BY path LIMIT {limit}"
        rows = self.logged.evaluation.engine.query(picked)
        return [(path, signature_of(self.plan, [int(word) for word in words]), int(n)) for path, n, *words in rows]

    def _compared(self, found: str) -> str:
        counts = (f"CASE WHEN is_checked THEN coalesce(found.{name}, 0) END AS {name}" for name in ("live", "matching"))
        return self.logged.beside(found, counts)


def planned_files(evaluation: Evaluation, plan: Plan, share: float | None) -> PlannedFiles:
    """The files of the log; with a share, every kept file is to be checked and that share of the dropped ones."""
    printer = evaluation.relation(plan, Needs(paths=True))
    words = words_of(plan, printer)
    named = ", ".join(f"{word} AS w{i}" for i, word in enumerate(words))
    picked = f"path, size, {LIVE} AS recorded, {named}, {verdict_sql(plan, printer)} AS verdict"
    files = f"SELECT {picked} FROM {printer.relation.source}"
    return PlannedFiles(Logged.kept(evaluation, files, f"verdict <> {_DROP} OR {in_sample('path', share)}"), plan, len(words))
