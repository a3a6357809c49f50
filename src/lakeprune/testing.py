"""Assertions on pruning for test suites.

    >>> from lakeprune.testing import assert_prunes
    >>> assert_prunes("./sales", "day = '2025-01-03'", min_pruning=90)  # doctest: +SKIP

In: a table, a predicate, gates. Out: the report; an AssertionError that says what is read, why, and what would help otherwise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeprune.apps.explain.explain import explain
from lakeprune.apps.explain.opening import Options
from lakeprune.apps.signature import takes
from lakeprune.render.phrases import headline
from lakeprune.report.gates import demanded, gates_of

if TYPE_CHECKING:
    from typing import Unpack

    from lakeprune.planning.opening import Table
    from lakeprune.report.model import Report

__all__ = ["assert_prunes"]


@takes(Options, min_pruning="at least this share of files must be dropped (default: 90, unless another gate is given)")
def assert_prunes(table: Table, where: str, **options: Unpack[Options]) -> Report:
    """The report when every gate passes, AssertionError otherwise. A predicate that leaves no file at all fails, too.

    Without a gate, at least 90% of the files must be dropped. Takes the options of `lakeprune.explain`.
    """
    __tracebackhide__ = True
    asked: Options = {"explain_why": True, "min_files": 1, **options}
    if not any(demanded(gates_of(options))):
        asked["min_pruning"] = 90
    report = explain(table, where, **asked)
    if not report.passed:
        raise AssertionError(_message(report))
    return report


def _message(report: Report) -> str:
    lines = [
        f"{where}: {each.message}" for where, each in ((report.table, each) for each in report.assertions) if not each.passed
    ]
    lines += [f"  predicate: {report.predicate}", *(f"  {line}" for line in headline(report))]
    for diagnosis in report.diagnoses or ():
        lines += [f"  [{diagnosis.code}] {diagnosis.message}", f"      fix: {diagnosis.suggestion}"]
        lines += [] if diagnosis.rewrite is None else [f"           {diagnosis.rewrite}"]
    return "\n".join(lines)
