"""WEAK_DATA_SKIPPING and SMALL_FILES: files that lie badly, and the statement that mends it where it can.

Ordering and merging work within a partition: they help where a partition has several files' worth of data. WEAK_DATA_SKIPPING is
reported per clause, also when other clauses prune well. A clause that merely asks for much on a well-ordered column is not weak:
then one value lies in few files, and no other order would drop more.
"""

from __future__ import annotations

from lakeprune.predicate.passes.rebuild import all_of, any_of
from lakeprune.predicate.schema import Role
from lakeprune.predicate.tree import Column, Compare, Expr, IsNull, Literal, Member, Op
from lakeprune.predicate.walk import columns_of, nodes
from lakeprune.predicate.write.pasteable import whole_text
from lakeprune.predicate.write.show import name_text, show
from lakeprune.programs.layout import SMALL, Layout, Spread, crowds_of, partition_columns, spread_over, weak_layouts
from lakeprune.report.amount import counted, files_text, percent_text, size_text
from lakeprune.report.diagnosis.case import Case, Finding, brief, is_exclusion
from lakeprune.report.verdict import clause_needs

SHALLOW = 1.5  # a lookup that reads at most this many files is as good as it gets
FEW = 0.1  # of the files: a lookup that reads less is fine, however wide the clause is
GAIN = 0.75  # of the bytes a lookup reads now: less gained is not worth writing the files anew
FEWEST_ENDS = 3  # distinct bounds: fewer, and the column may have too few values to order files by
MOST_NAMED = 10  # partitions
MANY = 10  # partitions: fewer of one file each are not a burden


def weak_data_skipping(case: Case) -> list[Finding]:
    """One per clause that keeps most files of some partition only because their ranges overlap with it."""
    found = []
    for index, needs in enumerate(clause_needs(case.plan)):
        if needs.is_decidable and not _excludes(case, index):
            weak = {column: _weak(case, index, column) for column in _ranged_columns(case, index)}
            column = max(weak, key=lambda each: sum(layout.bytes for layout in weak[each]), default=None)
            if column is not None and weak[column]:
                found.append(_weak_finding(case, index, column, weak[column]))
    return found


def small_files(case: Case) -> list[Finding]:
    """One for the predicate, when merging its small files, within partitions or across them, leaves half as many or fewer."""
    if case.kept < 2:
        return []
    # Merged files are never quite full.
    crowds, read = crowds_of(case.evaluation, case.plan, case.can_be_true, case.remedies.target_bytes * (SMALL - 1) // SMALL)
    # Elsewhere merging would mix what is read with what is not, so only these partitions are named.
    chosen = crowds if len(crowds) == read else crowds[:MOST_NAMED]
    files, after = sum(crowd.files for crowd in chosen), sum(crowd.files_after for crowd in chosen)
    left = case.kept - files + after
    if 2 * left > case.kept:
        return _tiny_partitions(case)
    size = sum(crowd.bytes for crowd in chosen)
    where = _partition_clauses(case) if len(chosen) == read else _named(case, [crowd.texts for crowd in chosen])
    return [
        Finding(
            message=f"{files} of the {files_text(case.kept)} to read, in {counted(len(chosen), 'partition')}, hold "
            f"{size_text(size)} together: {files_text(after)} would do",
            numbers={
                "kept_files": case.kept,
                "small_files": files,
                "small_bytes": size,
                "partitions": len(chosen),
                "files_after": left,
            },
            suggestion=f"merge them: then at most {files_text(left)} {'is' if left == 1 else 'are'} read",
            rewrite=case.remedies.compact(where),
        )
    ]


def _tiny_partitions(case: Case) -> list[Finding]:
    """Many partitions that hold next to nothing each: no statement merges files across them, other partition columns do."""
    columns, size = partition_columns(case.evaluation), case.numbers.kept.bytes
    is_small = SMALL * size < case.kept * case.remedies.target_bytes
    if not columns or not is_small or case.kept < MANY or case.facts.has_hidden_partitions:
        return []
    read = _spread(case, columns)
    if read.groups < MANY:
        return []
    fewer = [tuple(other for other in columns if other is not column) for column in columns] if len(columns) > 1 else []
    for several in (fewer, [()]):  # as many columns as can stay
        found = [(_spread(case, kept), kept) for kept in several]
        # Merging mixes what is read with what is not: it pays where nearly all of it is read anyway.
        good = [each for each in found if 5 * size >= 4 * each[0].bytes and 2 * each[0].files_after <= case.kept]
        if good:
            return [_tiny_finding(case, read.groups, *min(good, key=lambda each: each[0].files_after))]
    return []


def _spread(case: Case, columns: tuple[Column, ...]) -> Spread:
    # Merged files are never quite full.
    return spread_over(case.evaluation, case.plan, case.can_be_true, case.remedies.target_bytes * (SMALL - 1) // SMALL, columns)


def _tiny_finding(case: Case, partitions: int, after: Spread, kept: tuple[Column, ...]) -> Finding:
    names = ", ".join(name_text(column.path) for column in kept)
    how = f"partition by {names} alone when the table" if kept else "do not partition the table when it"
    left, size = after.files_after, case.numbers.kept.bytes
    return Finding(
        message=f"the {files_text(case.kept)} to read lie in {counted(partitions, 'partition')} and hold {size_text(size)} "
        "together; files are merged within a partition only",
        numbers={
            "kept_files": case.kept,
            "small_files": case.kept,
            "small_bytes": size,
            "partitions": partitions,
            "files_after": left,
            "partition_by": names,
        },
        suggestion=f"{how} is written anew: then at most {files_text(left)} {'is' if left == 1 else 'are'} read",
    )


def _excludes(case: Case, index: int) -> bool:
    """Whether a clause excludes values instead of asking for some: no order of the files helps it."""
    sets = [node.values for node in nodes(case.plan.clauses[index].predicate) if isinstance(node, Member)]
    return bool(sets) and all(is_exclusion(each) for each in sets)


def _ranged_columns(case: Case, index: int) -> list[Column]:
    leaves = [node for node in nodes(case.plan.clauses[index].predicate) if isinstance(node, Member)]
    return list(dict.fromkeys(leaf.column for leaf in leaves if leaf.column.role is Role.DATA))


def _weak(case: Case, index: int, column: Column) -> list[Layout]:
    """The partitions that a lookup would read less of, were their files ordered by the column."""
    target, seen = case.remedies.target_bytes, case.facts.evidence.seen(column)
    layouts = weak_layouts(case.evaluation, case.plan, case.left_by_exact_rungs, index, seen, target)
    return [layout for layout in layouts if _is_weak(layout, target)]


def _is_weak(layout: Layout, target: int) -> bool:
    depth, files = layout.overlap.depth, layout.overlap.files
    if layout.ends < FEWEST_ENDS or depth <= max(SHALLOW, FEW * files):
        return False
    ordered = max(1 / (layout.bytes // target), 1 / layout.ends)  # the share of its bytes that a lookup reads then
    return ordered < GAIN * depth / files


def _weak_finding(case: Case, index: int, column: Column, weak: list[Layout]) -> Finding:
    clause, dropped = case.plan.clauses[index], case.numbers.clauses[index].drops_any.files
    name, depth = name_text(column.path), round(sum(layout.overlap.depth for layout in weak), 2)
    files = sum(layout.overlap.files for layout in weak)
    constant = sum(layout.overlap.constant for layout in weak)
    where = _named(case, [layout.texts for layout in weak])
    is_part = sum(layout.files for layout in weak) < case.total
    place = "" if not is_part else f" where {where}" if where is not None else f" of {counted(len(weak), 'partition')}"
    return Finding(
        clause=clause.text,
        column=name,
        message=f"{brief(clause.text)} alone drops {dropped} of {files_text(case.total)}: a lookup of one value of {name} meets "
        f"{depth:g} of {files_text(files)}{place} on average, and {percent_text(constant, files)} of them hold one value only",
        numbers={
            "files": case.total,
            "dropped_files": dropped,
            "files_with_bounds": files,
            "overlap_depth": depth,
            "deepest": max(layout.overlap.deepest for layout in weak),
            "constant_files": constant,
            "partitions": len(weak),
            "bytes": sum(layout.bytes for layout in weak),
        },
        suggestion=f"order the files by {name}, so that each holds a narrow range of it",
        rewrite=case.remedies.cluster_by(name, where if is_part else None),
    )


def _named(case: Case, partitions: list[tuple[str | None, ...]]) -> str | None:
    """The condition that selects these partitions, or what the predicate says of them when there are many."""
    columns = partition_columns(case.evaluation)
    if not columns or len(partitions) > MOST_NAMED:
        return _partition_clauses(case)
    parts = [_values(case, columns, texts) for texts in partitions]
    known = list(dict.fromkeys(part for part in parts if part is not None))
    return show(any_of(known), case.profile.zone) if None not in parts else _partition_clauses(case)


def _values(case: Case, columns: tuple[Column, ...], texts: tuple[str | None, ...]) -> Expr | None:
    conditions: list[Expr] = []
    for column, text in zip(columns, texts, strict=True):
        values = case.evaluation.snapshot.partition_values(text, column, case.profile)
        if values is None or len(values) != 1:
            return None
        is_null = values[0] is None
        conditions.append(IsNull(column) if is_null else Compare(Op.EQ, column, Literal(values[0], column.type)))
    return all_of(conditions)


def _partition_clauses(case: Case) -> str | None:
    """What the predicate itself says about partitions, None when that is nothing."""
    own = [each for each in case.conjuncts if (columns := columns_of(each)) and all(c.role is Role.PARTITION for c in columns)]
    texts = [whole_text(conjunct, case.profile.zone) for conjunct in own]
    if not texts or None in texts:
        return None
    return " AND ".join(f"({text})" for text in texts) if len(texts) > 1 else texts[0]
