"""TRANSFORM_HIDES_RANGE: a range on a column by whose buckets files are partitioned.

Buckets answer `=` and IN. Values that lie close together lie in different buckets, so a range meets every partition, and the
bounds of every file span nearly all values. Reported where the clause by itself drops less than half of the files.
"""

from __future__ import annotations

from lakeprune.formats.relation import Needs
from lakeprune.predicate.tree import Column, Member
from lakeprune.predicate.walk import nodes
from lakeprune.predicate.write.show import name_text
from lakeprune.programs.select import files_where
from lakeprune.programs.survey import ends_of
from lakeprune.report.amount import files_text
from lakeprune.report.diagnosis.case import Case, Finding, brief, is_exclusion
from lakeprune.skipping.ladder import View
from lakeprune.skipping.leaves.buckets import bucket_mask
from lakeprune.skipping.mask import UNKNOWN

FEWEST_RANGES, MOST_RANGES = 10, 100  # into which a column is partitioned: each has the files of every bucket


def transform_hides_range(case: Case) -> list[Finding]:
    """One per clause and column, when its buckets say nothing about it and few files are dropped."""
    found = []
    view = case.facts.evidence.view(*case.facts.evidence.ladder)
    for index, clause in enumerate(case.plan.clauses):
        dropped = case.numbers.clauses[index].drops_any.files
        if 2 * dropped >= case.total or case.total < 2:
            continue
        leaves = [node for node in nodes(clause.predicate) if isinstance(node, Member) and not is_exclusion(node.values)]
        hidden = [leaf.column for leaf in leaves if _is_hidden(view, leaf)]
        found += [_finding(case, index, column, dropped) for column in dict.fromkeys(hidden)]
    return found


def _is_hidden(view: View, leaf: Member) -> bool:
    buckets = view.buckets(leaf.column)
    return bool(buckets) and all(bucket_mask(leaf, bucketing, seen) == UNKNOWN for bucketing, seen in buckets)


def _finding(case: Case, index: int, column: Column, dropped: int) -> Finding:
    clause, name, evidence = case.plan.clauses[index], name_text(column.path), case.facts.evidence
    seen = evidence.seen(column)
    low, high = ends_of(case.evaluation.engine, files_where(case.evaluation, case.plan, [], Needs((seen,))), seen)
    buckets = max(each.bucketing.count for each in evidence.buckets_of(column))
    ranges = min(max(case.total // buckets, FEWEST_RANGES), MOST_RANGES)
    statement = case.remedies.partition_by_range(column, low, high, ranges)
    return Finding(
        clause=clause.text,
        column=name,
        message=f"{brief(clause.text)} alone drops {dropped} of {files_text(case.total)}: files are partitioned by {buckets} "
        f"buckets of {name}, which say nothing about a range",
        numbers={"files": case.total, "dropped_files": dropped, "buckets": buckets},
        suggestion=f"ask for single values of {name}" + (", or partition by its ranges as well" if statement else ""),
        rewrite=statement,
    )
