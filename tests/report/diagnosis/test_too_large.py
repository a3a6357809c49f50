"""A predicate as programs write them: explained as ever, and its variants are not tried."""

from __future__ import annotations

from pathlib import Path

import lakeprune
from demo.tables import users


def test_a_very_large_predicate_gets_one_diagnosis_and_a_whole_explanation(tmp_path: Path) -> None:
    table = users(tmp_path / "users")
    where = " AND ".join(f"(country = 'DE' OR age < {25 + n})" for n in range(120))
    found = lakeprune.explain(table, where, explain_why=True)
    assert found.diagnoses is not None
    (diagnosis,) = found.diagnoses
    assert (diagnosis.code, diagnosis.numbers["clauses"], diagnosis.rewrite) == ("PREDICATE_TOO_LARGE", len(found.clauses), None)
    assert found.numbers.kept.files == lakeprune.explain(table, where).numbers.kept.files


def test_predicates_that_people_write_are_not_too_large(tmp_path: Path) -> None:
    table = users(tmp_path / "users")
    where = " AND ".join(f"(country = 'DE' OR age < {25 + n})" for n in range(15))
    found = lakeprune.explain(table, where, explain_why=True)
    assert found.diagnoses is not None
    assert "PREDICATE_TOO_LARGE" not in {diagnosis.code for diagnosis in found.diagnoses}
