"""WEAK_DATA_SKIPPING: a clause that statistics could decide, but whose column's ranges overlap too much for it to drop files.

Reported per clause, also when other clauses prune well. A clause that merely asks for much on a well-ordered column is not weak:
then one value lies in few files, and no other order would drop more.
"""

from __future__ import annotations

from lakeprune.formats.relation import Needs
from lakeprune.predicate.schema import Role
from lakeprune.predicate.tree import Column, Member
from lakeprune.predicate.walk import nodes
from lakeprune.predicate.write.show import name_text
from lakeprune.programs.overlap import Overlap, overlap_of
from lakeprune.programs.select import files_where
from lakeprune.report.amount import files_text, percent_text
from lakeprune.report.diagnosis.case import Case, Finding, brief
from lakeprune.report.verdict import Keeps, clause_needs, drops, keeps_because

SHALLOW = 1.5  # a lookup that reads at most this many files is as good as it gets
FEW = 0.1  # of the files: a lookup that reads less is fine, however wide the clause is


def weak_data_skipping(case: Case) -> list[Finding]:
    """One per clause that keeps more than half of the candidates only because their ranges overlap with it."""
    found = []
    candidates = [(pattern.files, pattern.signature) for pattern in case.candidates]
    for index, needs in enumerate(clause_needs(case.plan)):
        overlapping = sum(
            files
            for files, signature in candidates
            if not drops(signature.outcomes[index]) and keeps_because(signature, index, needs) is Keeps.RANGES_OVERLAP
        )
        if needs.is_decidable and 2 * overlapping > sum(files for files, _ in candidates):
            overlaps = [(column, _overlap(case, column)) for column in _ranged_columns(case, index)]
            column, overlap = max(overlaps, key=lambda pair: pair[1].depth, default=(None, None))
            if column is not None and overlap is not None and overlap.depth > max(SHALLOW, FEW * overlap.files):
                found.append(_finding(case, index, column, overlap))
    return found


def _ranged_columns(case: Case, index: int) -> list[Column]:
    leaves = [node for node in nodes(case.plan.clauses[index].predicate) if isinstance(node, Member)]
    return list(dict.fromkeys(leaf.column for leaf in leaves if leaf.column.role is Role.DATA))


def _overlap(case: Case, column: Column) -> Overlap:
    subset = files_where(case.evaluation, case.plan, case.left_by_exact_rungs, Needs(domains=(column,)))
    return overlap_of(case.evaluation.engine, subset, column)


def _finding(case: Case, index: int, column: Column, overlap: Overlap) -> Finding:
    clause, dropped = case.plan.clauses[index], case.numbers.clauses[index].drops_any.files
    name, depth = name_text(column.path), round(overlap.depth, 2)
    is_part = overlap.files + overlap.unbounded < case.total
    place = f" among the {overlap.files} that partition pruning leaves" if is_part else ""
    return Finding(
        clause=clause.text,
        column=name,
        message=f"{brief(clause.text)} alone drops {dropped} of {files_text(case.total)}: a lookup of one value of {name} meets "
        f"{depth:g} of {files_text(overlap.files)}{place} on average, and "
        f"{percent_text(overlap.constant, overlap.files)} of them hold one value only",
        numbers={
            "files": case.total,
            "dropped_files": dropped,
            "files_with_bounds": overlap.files,
            "overlap_depth": depth,
            "deepest": overlap.deepest,
            "constant_files": overlap.constant,
        },
        suggestion=f"order the files by {name}, so that each holds a narrow range of it",
        rewrite=case.remedies.cluster_by(name),
    )
