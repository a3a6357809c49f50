"""The WHEN clauses of a MERGE: read as SQL reads them, and refused with a code where they cannot be read."""

from __future__ import annotations

from typing import Any

import pytest

from lakeprune.apps.statements.merge.clauses import ClauseKind, clause_of, clauses_of
from lakeprune.errors import LakepruneError


@pytest.mark.parametrize(
    ("kind", "given", "text"),
    [
        (ClauseKind.MATCHED_UPDATE, "all", "WHEN MATCHED THEN UPDATE SET *"),
        (ClauseKind.MATCHED_UPDATE, " ALL -- of it", "WHEN MATCHED THEN UPDATE SET *"),
        (ClauseKind.MATCHED_UPDATE, {"a": "s.a"}, "WHEN MATCHED THEN UPDATE SET a = s.a"),
        (
            ClauseKind.MATCHED_UPDATE,
            "AND CASE WHEN s.a = 1 THEN TRUE END AND s.b = ' then ' THEN a = 1, b = 2",
            "WHEN MATCHED AND CASE WHEN s.a = 1 THEN TRUE END AND s.b = ' then ' THEN UPDATE SET a = 1, b = 2",
        ),
        (ClauseKind.MATCHED_DELETE, True, "WHEN MATCHED THEN DELETE"),
        (ClauseKind.MATCHED_DELETE, "and s.op = 'd'", "WHEN MATCHED AND s.op = 'd' THEN DELETE"),
        (ClauseKind.INSERT, "id = s.id, a = 1", "WHEN NOT MATCHED THEN INSERT (id, a) VALUES (s.id, 1)"),
        (ClauseKind.INSERT, "AND s.`then` > 0 THEN *", "WHEN NOT MATCHED AND s.`then` > 0 THEN INSERT *"),
        (ClauseKind.BY_SOURCE_UPDATE, "AND t.a = 1 THEN a = 2", "WHEN NOT MATCHED BY SOURCE AND t.a = 1 THEN UPDATE SET a = 2"),
        (ClauseKind.BY_SOURCE_DELETE, True, "WHEN NOT MATCHED BY SOURCE THEN DELETE"),
    ],
)
def test_a_clause_means_what_sql_means(kind: ClauseKind, given: Any, text: str) -> None:
    assert clause_of(kind, given).text == text


@pytest.mark.parametrize(
    ("kind", "given", "code"),
    [
        (ClauseKind.MATCHED_UPDATE, "AND s.a = 1", "LP440"),
        (ClauseKind.MATCHED_UPDATE, "AND THEN all", "LP440"),
        (ClauseKind.MATCHED_UPDATE, "AND s.a = 1 THEN", "LP440"),
        (ClauseKind.MATCHED_UPDATE, "AND (s.a = 1 THEN all", "LP440"),
        (ClauseKind.MATCHED_UPDATE, "everything", "LP401"),
        (ClauseKind.MATCHED_UPDATE, "", "LP440"),
        (ClauseKind.MATCHED_DELETE, "s.a = 1", "LP440"),
        (ClauseKind.MATCHED_DELETE, "AND", "LP440"),
        (ClauseKind.MATCHED_DELETE, {"a": "1"}, "LP256"),
        (ClauseKind.MATCHED_UPDATE, True, "LP256"),
        (ClauseKind.BY_SOURCE_UPDATE, "all", "LP441"),
    ],
)
def test_what_is_no_clause_is_refused(kind: ClauseKind, given: Any, code: str) -> None:
    with pytest.raises(LakepruneError) as caught:
        clause_of(kind, given)
    assert caught.value.code == code


def test_clauses_keep_their_order_and_a_list_is_several() -> None:
    given = [("when_matched_delete", "AND s.a = 1"), ("when_matched_update", ["AND s.a = 2 THEN b = 1", "all"])]
    assert [clause.kind.action.value for clause in clauses_of(given)] == ["delete", "update", "update"]
    with pytest.raises(LakepruneError, match="without a WHEN clause"):
        clauses_of([])
    with pytest.raises(LakepruneError, match="no clause of MERGE"):
        clauses_of([("when_mached_update", "all")])
