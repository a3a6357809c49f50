"""What a report does not hold, read again from the table: its files one by one, its pictures.

In: the question as it was asked of an opened table. Out: file reports and pictures. A source can be pickled; then it remembers
where the table lies, its version and the question, and opens the table again when somebody asks. Storage options may be secrets:
they stay behind, and the process that asks has its own credentials.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from lakeprune.errors import UsageError
from lakeprune.planning.question import Question
from lakeprune.predicate.condition import Condition
from lakeprune.predicate.tree import Expr, Profile
from lakeprune.programs.select import EVERY, KEPT, Order, Selection
from lakeprune.report.attribution import Attribution
from lakeprune.report.document import View
from lakeprune.report.model import FileReport
from lakeprune.skipping.verdict import Verdict

if TYPE_CHECKING:
    from lakeprune.apps.explain.below import QuestionGroups
    from lakeprune.apps.explain.explainer import Explainer
    from lakeprune.planning.planner import Planner
    from lakeprune.programs.row_groups import Asked
    from lakeprune.report.pictures.model import Picture

_VERDICTS = {"all": EVERY, "kept": KEPT, "dropped": EVERY - KEPT}
_ORDERS = {"path": Order.PATH, "size": Order.LARGEST}


class OpenedSource(Struct, frozen=True):
    """The table as it was opened for the report. `numbers` are those of files, before their row groups are known."""

    explainer: Explainer
    question: Question
    groups: QuestionGroups | None
    numbers: Attribution

    @property
    def _planner(self) -> Planner:
        return self.explainer.planner

    def files(self, view: View) -> Iterator[FileReport]:
        from lakeprune.report.listing import Lister

        planner = self._planner
        lister = Lister(self.question.plan, planner.facts, planner.profile, has_predicate=self._asks)
        found = self._listed(view, lister)
        if view.file is None:
            return found
        first = next(found, None)
        if first is None:
            raise _no_file(view, planner)
        return _with_first(first, found)

    @property
    def _asks(self) -> bool:
        return self.question.condition is not None

    def _listed(self, view: View, lister: Any) -> Iterator[FileReport]:
        # Row groups may drop a file that evidence about files keeps: which ones are kept is known only after both.
        verdicts, limit = (_VERDICTS[view.which], view.limit) if self.groups is None else (EVERY, None)
        if not self._asks:  # every file is read, also one without live rows
            verdicts = EVERY if view.which != "dropped" else frozenset[Verdict]()
        order = _ORDERS[view.sort] if self.groups is None else Order.PATH
        selection = Selection(verdicts, not self._asks, order, limit, view.file)
        containers = self._planner.selected(self.question, selection)
        if self.groups is None:
            yield from map(lister.file_report, containers)
            return
        with self._planner.engine.awake():
            yield from _chosen(self.groups.listed(lister, containers), view)

    def picture(self) -> Picture:
        from lakeprune.report.listing import Lister
        from lakeprune.report.pictures.compose import compose
        from lakeprune.report.pictures.model import MOST_FILES

        planner, numbers = self._planner, self.numbers
        with planner.engine.awake(), planner.reading():
            lister = Lister(self.question.plan, planner.facts, planner.profile, has_predicate=self._asks)
            largest = planner.select(self.question, EVERY, order=Order.LARGEST, limit=MOST_FILES)
            proven = numbers.total.files - numbers.kept.files - numbers.assumed.files
            by_shade = (proven, numbers.kept.files - numbers.full.files, numbers.full.files, numbers.assumed.files)
            files = [lister.file_report(container) for container in largest]
            return compose(planner.evaluation, self.question.plan, by_shade, files, has_predicate=self._asks)

    def __reduce__(self) -> tuple[Any, ...]:
        facts, asked = self._planner.facts, self.explainer.row_groups
        place = facts.location if "://" in facts.location else os.path.abspath(facts.location)
        return RememberedSource, (
            place,
            facts.version,
            self._planner.profile,
            self.question.condition,
            self.question.bound,
            self._planner.evaluation.is_exhaustive,
            None if asked is None else replace(asked, progress=None),
        )


class RememberedSource(Struct, frozen=True):
    """The same in another process: the table is opened when somebody asks."""

    location: str
    version: int | None
    profile: Profile
    condition: Condition | None
    bound: Expr
    is_exhaustive: bool
    row_groups: Asked | None

    def files(self, view: View) -> Iterator[FileReport]:
        return self._opened().files(view)

    def picture(self) -> Picture:
        return self._opened().picture()

    def _opened(self) -> OpenedSource:
        from lakeprune.apps.explain.explainer import Explainer
        from lakeprune.planning.opening import At, open_planner
        from lakeprune.planning.session import Session

        planner = open_planner(self.location, At(self.version), self.profile, access={})
        planner = replace(planner, evaluation=replace(planner.evaluation, is_exhaustive=self.is_exhaustive))
        session = Session(self.profile.zone, None, self.profile.nan_policy.value)
        explainer = Explainer(planner, session, {}, time.perf_counter(), row_groups=self.row_groups)
        asked = planner.ask(None) if self.condition is None else planner.ask_bound(self.condition, self.bound)
        with planner.engine.awake():
            (report,) = explainer.answers([asked])
        assert isinstance(report.source, OpenedSource), "it was just opened"
        return report.source


def _chosen(files: Iterator[FileReport], view: View) -> Iterator[FileReport]:
    found: Iterator[FileReport] = (file for file in files if view.which == "all" or file.kept is (view.which == "kept"))
    if view.sort == "size":
        found = iter(sorted(found, key=lambda file: (-file.size_bytes, file.path)))
    for number, file in enumerate(found):
        if view.limit is not None and number >= view.limit:
            return
        yield file


def _with_first(first: FileReport, rest: Iterator[FileReport]) -> Iterator[FileReport]:
    yield first
    yield from rest


def _no_file(view: View, planner: Planner) -> UsageError:
    which = "" if view.which == "all" else f" among the {view.which} ones"
    at = "" if planner.facts.version is None else f" at version {planner.facts.version}"
    fix = "give a path as --verbose lists it, or the end of one from a slash on"
    return UsageError("LP260", f"the table has no file `{view.file}`{which}{at}", where=planner.facts.location, fix=fix)
