"""Several reports on one table: a list that a notebook shows as one table, and whose gates are checked together."""

from __future__ import annotations

from typing import Self

from lakeprune.report.model import Report


class Reports(list[Report]):
    """One report per predicate, in order."""

    @property
    def passed(self) -> bool:
        """Whether every gate of every report passed."""
        return all(report.passed for report in self)

    def check(self) -> Self:
        """The reports themselves when every gate passed; `GateFailed` of the first that failed otherwise."""
        for report in self:
            report.check()
        return self

    def _repr_html_(self) -> str:
        from lakeprune.render.html.compact import overview

        return overview(self)
