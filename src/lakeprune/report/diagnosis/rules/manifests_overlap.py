"""MANIFESTS_OVERLAP: manifests that have to be read although few of their files are in the partitions asked for.

Every commit writes manifests of its own, so the files of one partition may be listed in many of them, and the summaries of each
span nearly all partitions. Reported where manifests in the order of partitions would be at most half as many to read.
"""

from __future__ import annotations

from lakeprune.formats.relation import Needs
from lakeprune.predicate.walk import columns_of
from lakeprune.predicate.write.show import name_text
from lakeprune.programs.overlap import Overlap, overlap_of
from lakeprune.report.amount import counted, files_text
from lakeprune.report.diagnosis.case import Case, Finding
from lakeprune.skipping.ladder import Level

FEWEST = 10  # manifests to read: fewer are read in no time


def manifests_overlap(case: Case) -> list[Finding]:
    """One for the predicate, when the files that partition evidence leaves would fit into far fewer manifests."""
    manifests = case.numbers.manifests
    if manifests is None or manifests.kept < FEWEST or not case.total:
        return []
    left = _left(case)
    after = -(-manifests.total * left // case.total) + 1  # rounded up; and they need not begin where a manifest does
    deepest = _deepest(case)
    if 2 * after > manifests.kept or deepest is None:
        return []
    name, overlap = deepest
    return [
        Finding(
            column=name,
            message=f"{manifests.kept} of {counted(manifests.total, 'manifest')} are read for {files_text(left)} of the "
            f"partitions asked for: one value of {name} is in the range of {overlap.depth:g} manifests on average",
            numbers={
                "manifests": manifests.total,
                "kept_manifests": manifests.kept,
                "partition_files": left,
                "overlap_depth": round(overlap.depth, 2),
                "deepest": overlap.deepest,
                "manifests_after": after,
            },
            suggestion=f"order the manifests by partition: then about {after} of as many are read",
            rewrite=case.remedies.rewrite_manifests(),
        )
    ]


def _left(case: Case) -> int:
    """The files that the evidence of partitions leaves, by which manifests are ordered."""
    *partitions, _ = [place for place, rung in enumerate(case.plan.ladder) if rung.level is Level.FILE]
    read = (pattern for pattern in case.patterns if pattern.level is Level.FILE)
    return sum(pattern.files for pattern in read if pattern.signature.is_left_by(partitions))


def _deepest(case: Case) -> tuple[str, Overlap] | None:
    """The column of the predicate whose summaries overlap most."""
    groups = case.evaluation.snapshot.groups()
    if groups is None:
        return None
    found = []
    for column in dict.fromkeys(column for clause in case.plan.clauses for column in columns_of(clause.predicate)):
        seen = groups.facts.evidence.seen(column)
        if seen.rungs:
            relation = groups.relation(case.evaluation.engine, Needs((seen,)), case.profile)
            found.append((name_text(column.path), overlap_of(case.evaluation.engine, relation, seen)))
    return max(found, key=lambda each: each[1].depth, default=None)
