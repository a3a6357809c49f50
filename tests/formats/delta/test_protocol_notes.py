"""Tables that contradict their own protocol, or hide how many rows are live, are read with a note that says so."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

import lakeprune
from tests.builders.delta import Action, Log, add, deletion_vector, featured, metadata, protocol, statistics

INVALID = "protocol_invalid"
STATS = statistics(10, x=(1, 2, 0))
MAPPED = {"delta.columnMapping.mode": "name"}


def notes(tmp_path: Path, head: Action, *files: Action) -> list[tuple[str, str]]:
    log = Log(tmp_path / "t").commit(0, head, metadata({"x": "long"}), *files)
    report = lakeprune.explain(log.path, "x > 5")
    document = json.loads(report.to_json())
    assert [(note["code"], note["message"]) for note in document["notes"]] == [(n.code, n.message) for n in report.facts.notes]
    assert all(note.message in report.to_text() for note in report.facts.notes)
    return [(note.code, note.message) for note in report.facts.notes]


@pytest.mark.parametrize(("head", "problem"), [
    (protocol(1, 2, readerFeatures=["deletionVectors"]), "it lists reader features and asks for reader version 1"),
    (protocol(2, 5, readerFeatures=["columnMapping"]), "it lists reader features and asks for reader version 2"),
    (protocol(1, 2, writerFeatures=["appendOnly"]), "it lists writer features and asks for writer version 2"),
    (protocol(1, 7, writerFeatures=["appendOnly", "appendOnly"]), "it lists the writer feature appendOnly twice"),
    (featured("timestampNtz", "timestampNtz"), "it lists the reader feature timestampNtz twice"),
    (protocol(3, 5), "reader version 3 needs writer version 7, not 5"),
    (protocol(3, 7, readerFeatures=["timestampNtz"], writerFeatures=[]), "is listed for readers and not for writers"),
])  # fmt: skip
def test_a_protocol_that_contradicts_itself_is_noted(tmp_path: Path, head: Action, problem: str) -> None:
    found = notes(tmp_path, head, add("a", STATS))
    assert any(code == INVALID and problem in message for code, message in found), found


@pytest.mark.parametrize("head", [
    protocol(1, 2), protocol(1, 4), protocol(2, 5), protocol(1, 7, writerFeatures=["appendOnly"]),
    protocol(2, 7, writerFeatures=["columnMapping"]), protocol(3, 7, readerFeatures=[], writerFeatures=[]),
    featured("deletionVectors", "timestampNtz"),
    protocol(3, 7, readerFeatures=["deletionVectors"], writerFeatures=["deletionVectors", "appendOnly"]),
])  # fmt: skip
def test_a_valid_protocol_is_not_noted(tmp_path: Path, head: Action) -> None:
    assert notes(tmp_path, head, add("a", STATS)) == []


@pytest.mark.parametrize(("head", "expected"), [
    (protocol(1, 2), [INVALID]),
    (featured("timestampNtz"), [INVALID]),
    (protocol(2, 5), []),
    (protocol(2, 7, writerFeatures=["columnMapping"]), []),
    (featured("columnMapping"), []),
])  # fmt: skip
def test_mapped_columns_must_be_declared(tmp_path: Path, head: Action, expected: Sequence[str]) -> None:
    log = Log(tmp_path / "t").commit(0, head, metadata({"x": "long"}, configuration=MAPPED), add("a", STATS))
    assert [note.code for note in lakeprune.explain(log.path, "x > 5").facts.notes] == expected


@pytest.mark.parametrize(("head", "codes"), [
    (featured("deletionVectors"), []),
    (protocol(1, 2), [INVALID]),
    (protocol(2, 5), [INVALID]),
    (featured("timestampNtz"), [INVALID]),
])  # fmt: skip
def test_deletion_vectors_must_be_declared(tmp_path: Path, head: Action, codes: Sequence[str]) -> None:
    found = notes(tmp_path, head, add("a", STATS, dv=deletion_vector(1)), add("b", STATS))
    assert [code for code, _ in found] == codes
    assert all("1 file has a deletion vector, which it does not declare" in message for _, message in found)


@pytest.mark.parametrize(("stats", "vector", "is_noted"), [
    (None, deletion_vector(1), True),
    ({"minValues": {"x": 1}, "maxValues": {"x": 2}}, deletion_vector(1), True),
    (STATS, deletion_vector(11), True),
    (STATS, deletion_vector(10), False),
    (STATS, deletion_vector(1), False),
    (None, None, False),
])  # fmt: skip
def test_a_deletion_vector_without_a_row_count_is_noted(
    tmp_path: Path, stats: Action | None, vector: Action | None, *, is_noted: bool
) -> None:
    found = notes(tmp_path, featured("deletionVectors"), add("a", stats, dv=vector), add("b", STATS))
    expected = "1 file has a deletion vector and no usable row count: how many of its rows are live is not known"
    assert found == ([("vector_without_row_count", expected)] if is_noted else [])
