"""The WHEN clauses of a MERGE: read as SQL reads them, and refused with a code where they cannot be read."""

from __future__ import annotations

from typing import Any

import pytest

from lakeprune.apps.statements.merge.clauses import clause_of, clauses_of
from lakeprune.errors import LakepruneError


@pytest.mark.parametrize(
    ("kind", "given", "text"),
    [
        ("when_matched_update", "all", "WHEN MATCHED THEN UPDATE SET *"),
        ("when_matched_update", " ALL -- of it", "WHEN MATCHED THEN UPDATE SET *"),
        ("when_matched_update", {"a": "s.a"}, "WHEN MATCHED THEN UPDATE SET a = s.a"),
        (
            "when_matched_update",
            "AND CASE WHEN s.a = 1 THEN TRUE END AND s.b = ' then ' THEN a = 1, b = 2",
            "WHEN MATCHED AND CASE WHEN s.a = 1 THEN TRUE END AND s.b = ' then ' THEN UPDATE SET a = 1, b = 2",
        ),
        ("when_matched_delete", True, "WHEN MATCHED THEN DELETE"),
        ("when_matched_delete", "and s.op = 'd'", "WHEN MATCHED AND s.op = 'd' THEN DELETE"),
        ("when_not_matched_insert", "id = s.id, a = 1", "WHEN NOT MATCHED THEN INSERT (id, a) VALUES (s.id, 1)"),
        ("when_not_matched_insert", "AND s.`then` > 0 THEN *", "WHEN NOT MATCHED AND s.`then` > 0 THEN INSERT *"),
        (
            "when_not_matched_by_source_update",
            "AND t.a = 1 THEN a = 2",
            "WHEN NOT MATCHED BY SOURCE AND t.a = 1 THEN UPDATE SET a = 2",
        ),
        ("when_not_matched_by_source_delete", True, "WHEN NOT MATCHED BY SOURCE THEN DELETE"),
    ],
)
def test_a_clause_means_what_sql_means(kind: str, given: Any, text: str) -> None:
    assert clause_of(kind, given).text == text


@pytest.mark.parametrize(
    ("kind", "given", "code"),
    [
        ("when_matched_update", "AND s.a = 1", "LP440"),
        ("when_matched_update", "AND THEN all", "LP440"),
        ("when_matched_update", "AND s.a = 1 THEN", "LP440"),
        ("when_matched_update", "AND (s.a = 1 THEN all", "LP440"),
        ("when_matched_update", "everything", "LP401"),
        ("when_matched_update", "", "LP440"),
        ("when_matched_delete", "s.a = 1", "LP440"),
        ("when_matched_delete", "AND", "LP440"),
        ("when_matched_delete", {"a": "1"}, "LP256"),
        ("when_matched_update", True, "LP256"),
        ("when_not_matched_by_source_update", "all", "LP441"),
    ],
)
def test_what_is_no_clause_is_refused(kind: str, given: Any, code: str) -> None:
    with pytest.raises(LakepruneError) as caught:
        clause_of(kind, given)
    assert caught.value.code == code


def test_clauses_keep_their_order_and_a_list_is_several() -> None:
    given = [("when_matched_delete", "AND s.a = 1"), ("when_matched_update", ["AND s.a = 2 THEN b = 1", "all"])]
    assert [clause.action.value for clause in clauses_of(given)] == ["delete", "update", "update"]
    with pytest.raises(LakepruneError, match="without a WHEN clause"):
        clauses_of([])
    with pytest.raises(LakepruneError, match="not a clause of MERGE"):
        clauses_of([("when_mached_update", "all")])
