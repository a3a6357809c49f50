"""`lakeprune.diff`: two reports compared, or one predicate at two versions of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeprune.apps.explain.explain import explain
from lakeprune.apps.explain.opening import Options
from lakeprune.apps.signature import takes
from lakeprune.errors import UsageError
from lakeprune.report.diff import Diff
from lakeprune.report.model import Report

if TYPE_CHECKING:
    from typing import Unpack

    from lakeprune.planning.opening import Table


@takes(Options)
def diff(
    before: Report | int, after: Report | int, *, table: Table | None = None, where: str | None = None, **options: Unpack[Options]
) -> Diff:
    """What changed between two reports; or between two versions of `table`, for the predicate `where`.

    `diff(report, other)` reads nothing. `diff(3, 7, table="./sales", where="id > 5")` explains both versions; diagnoses are
    compared where both reports have them, which `explain_why` is on for.
    """
    if isinstance(before, Report) and isinstance(after, Report):
        if table is not None or where is not None or options:
            fix = "leave table, where and the options out, or give two versions"
            raise UsageError("LP261", "two reports know their table already", fix=fix)
        return Diff(before, after)
    if isinstance(before, Report) or isinstance(after, Report) or table is None:
        fix = 'give diff(report, other), or diff(3, 7, table="...", where="...")'
        raise UsageError("LP261", "diff compares two reports, or two versions of a table", fix=fix)
    asked: Options = {"explain_why": True, **options}
    return Diff(explain(table, where, version=before, **asked), explain(table, where, version=after, **asked))
