"""The level below files in a report: what the row groups of each question are, and how they are listed.

In: a planner, questions whose files are known. Out: numbers, notes and listings for each question. Footers are read here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from lakeprune.formats.snapshot import Note
from lakeprune.planning.planner import Planner
from lakeprune.planning.question import Question
from lakeprune.predicate.schema import Role
from lakeprune.predicate.tree import Column
from lakeprune.predicate.walk import columns_of
from lakeprune.programs.patterns import Pattern
from lakeprune.programs.row_groups import Asked, FileGroups, Found, RowGroups, Subject
from lakeprune.programs.select import Container
from lakeprune.report import row_groups as report
from lakeprune.report.attribution import Attribution, attribute
from lakeprune.report.listing import Lister
from lakeprune.report.model import FileReport
from lakeprune.report.row_groups import row_group_notes, row_groups_of, without_lost
from lakeprune.report.verdict import ROW_GROUPS


class Below:
    """The row groups of several questions, whose footers are read together."""

    def __init__(self, planner: Planner, questions: Sequence[Question], asked: Asked) -> None:
        self._planner = planner
        self._questions = questions
        self._asked = asked
        self._columns = [_data_columns(question) for question in questions]
        subjects = [Subject(question.plan, columns) for question, columns in zip(questions, self._columns, strict=True)]
        with planner.reading():
            self._groups = RowGroups(planner.evaluation, subjects, asked)
            self._found = self._groups.found()

    def of(self, index: int) -> QuestionGroups:
        """What is known below one question."""
        names = [".".join(column.path) for column in self._columns[index]]
        found = self._found[index]
        numbers = row_groups_of(found, names, self._asked)
        blooms = 0 if self._groups.consults_bloom else found.with_bloom
        notes = row_group_notes(numbers, blooms, self._groups.unread, is_bloom_asked=self._asked.bloom)
        return QuestionGroups(self._planner, self._questions[index], found, numbers, notes, lambda: self._groups.listed(index))


class QuestionGroups(Struct, frozen=True):
    planner: Planner
    question: Question
    found: Found
    report: report.RowGroups
    notes: list[Note]
    listing: Callable[[], Iterator[FileGroups]]

    def numbers(self, patterns: Sequence[Pattern]) -> Attribution:
        """The numbers of files, with those that lose all of their row groups."""
        return attribute(self.question.plan, without_lost(patterns, self.found.lost), more=ROW_GROUPS)

    def listed(self, lister: Lister, containers: Iterable[Container]) -> Iterator[FileReport]:
        """Files by path, each with its row groups where its footer was read."""
        groups = Lister(self.found.plan, self.planner.facts, self.planner.profile, has_predicate=True)
        with self.planner.reading():
            below = self.listing()
            waiting = next(below, None)
            for container in containers:
                own: FileGroups | None = None
                if waiting is not None and waiting.path == container.path:
                    own = waiting
                    waiting = next(below, None)
                if own is None:
                    yield lister.file_report(container)
                    continue
                signature = container.signature if own.lost is None else replace(container.signature, lost=own.lost)
                file = lister.file_report(replace(container, signature=signature))
                yield replace(file, row_groups=[groups.row_group(group) for group in own.row_groups])


def _data_columns(question: Question) -> tuple[Column, ...]:
    return tuple(column for column in columns_of(question.bound) if column.role is Role.DATA)
