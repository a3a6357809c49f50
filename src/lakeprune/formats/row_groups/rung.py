"""The rung below files: what the footer of a Parquet file records of each of its row groups.

In: the evidence of a format. Out: the evidence of its row groups, for which everything that is known of their file holds too.
"""

from __future__ import annotations

from collections.abc import Container

from lakeprune.predicate.tree import Column
from lakeprune.skipping.ladder import Evidence, Level, Rung

ROW_GROUP = Rung("row_group", "row groups", "row-group statistics", "Row-group pruning", Level.ROW_GROUP, is_exact=False)


def with_row_groups(evidence: Evidence, stored: Container[Column]) -> Evidence:
    """The evidence of row groups; `stored` are the columns that are looked for in footers."""
    own = frozenset({ROW_GROUP})

    def rungs_of(column: Column) -> frozenset[Rung]:
        known = evidence.rungs_of(column)
        return known | own if column in stored else known

    return Evidence((*evidence.ladder, ROW_GROUP), rungs_of, evidence.buckets_of)
