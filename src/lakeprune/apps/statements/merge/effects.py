"""Steps 3 to 5 of a MERGE: which files Delta's own MERGE touches and what becomes of their rows, from the counts of the join.

Without deletion vectors Delta rewrites a file when a row of it matches; when every clause is WHEN MATCHED, only when one also
applies; with WHEN NOT MATCHED BY SOURCE, every file; when every clause inserts, none. With deletion vectors it hides the rows
that change. Tests compare this with what Delta removes.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from lakeprune.apps.statements.merge.clauses import Action, MergeClause, Rows
from lakeprune.apps.statements.model import Candidate, Fate, Outcome, Touched, effects_of


class FileCounts(Struct, frozen=True):
    """Rows of one file. `matched` have a source row, `acting` one for which some clause applies."""

    live: int
    matched: int
    acting: int
    updated: int
    deleted: int
    ambiguous: int  # with several source rows


class Counts(Struct, frozen=True):
    files: dict[str, FileCounts]  # by the key of the file
    inserted: int


def outcome_of(clauses: Sequence[MergeClause], candidates: Sequence[Candidate], counts: Counts, *, uses_vectors: bool) -> Outcome:
    """The files that the statement rewrites, removes or gives a deletion vector, and the rows it changes."""
    touched = []
    for file in candidates:
        counted = counts.files.get(file.key)
        if counted is None or not _is_touched(clauses, counted, uses_vectors=uses_vectors):
            continue
        changed = counted.updated + counted.deleted
        fate = _fate(counted, uses_vectors=uses_vectors)
        touched.append(Touched(file.path, file.key, file.size, counted.live, changed, fate))
    updated = sum(file.updated for file in counts.files.values())
    deleted = sum(file.deleted for file in counts.files.values())
    effects = effects_of(touched, updated=updated, deleted=deleted, inserted=counts.inserted)
    return Outcome(tuple(touched), effects, is_empty=effects.changed == 0)


def ambiguous_rows(clauses: Sequence[MergeClause], counts: Counts) -> tuple[int, int]:
    """Target rows that several source rows match: those for which Delta refuses the statement, and those that it deletes twice.

    It refuses them whether or not a clause applies to them; where every matched row is just deleted it accepts them.
    """
    rows = sum(file.ambiguous for file in counts.files.values())
    if rows_of(clauses) == {Rows.SOURCE_ONLY}:
        return 0, 0
    if _is_plain_delete(clauses):
        return 0, rows if len(clauses) > 1 else 0
    return rows, 0


def _is_plain_delete(clauses: Sequence[MergeClause]) -> bool:
    """Whether every matched row is deleted, and nothing else becomes of it."""
    matched = [clause for clause in clauses if clause.rows is Rows.MATCHED]
    return len(matched) == 1 and matched[0].action is Action.DELETE and matched[0].condition is None


def rows_of(clauses: Sequence[MergeClause]) -> set[Rows]:
    return {clause.rows for clause in clauses}


def _is_touched(clauses: Sequence[MergeClause], counted: FileCounts, *, uses_vectors: bool) -> bool:
    kinds = rows_of(clauses)
    if uses_vectors:
        return counted.updated + counted.deleted > 0
    if Rows.TARGET_ONLY in kinds:
        return counted.live > 0
    if Rows.MATCHED not in kinds:
        return False
    return counted.acting > 0 if kinds == {Rows.MATCHED} else counted.matched > 0


def _fate(counted: FileCounts, *, uses_vectors: bool) -> Fate:
    if counted.deleted == counted.live:
        return Fate.REMOVE
    if uses_vectors and counted.updated + counted.deleted < counted.live:
        return Fate.VECTOR
    return Fate.REWRITE
