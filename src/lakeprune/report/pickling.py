"""A report on its way to another process: numbers and names as they are, and how its files are found again there.

In: a report. Out: its class and fields, all of which can be pickled. What formats know about columns is a function; of the
columns of the predicate its answers are taken along. Secrets never are: see the report's source.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from lakeprune.predicate.tree import Column
from lakeprune.predicate.walk import columns_of
from lakeprune.skipping.ladder import Evidence, Rung

if TYPE_CHECKING:
    from lakeprune.report.model import Report


class Remembered(Struct, frozen=True):
    """Which rungs speak of the columns of one predicate."""

    known: dict[Column, frozenset[Rung]]

    def __call__(self, column: Column) -> frozenset[Rung]:
        return self.known.get(column, frozenset())


def pickled(report: Report) -> tuple[Any, ...]:
    """What `__reduce__` of a report gives."""
    facts, columns = report.facts, set(columns_of(report.condition))
    for clause in report.clauses:
        columns.update(columns_of(clause.clause.predicate))
    evidence = Evidence(facts.evidence.ladder, Remembered({column: facts.evidence.rungs_of(column) for column in columns}))
    plain = {"configuration": dict(facts.configuration), "computed_columns": dict(facts.computed_columns)}
    whole = replace(report, facts=replace(facts, evidence=evidence, **plain), reads=dict(report.reads))
    return type(whole), tuple(getattr(whole, name) for name in whole.__struct_fields__)
