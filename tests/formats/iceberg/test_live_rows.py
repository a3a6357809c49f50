"""How many rows are live: exact where deletes are counted, a labelled upper bound where they are not, never a guess."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lakeprune
from lakeprune.render.html.funnel import funnel
from tests.formats.iceberg.tables import Entry, Layout, column, encoded, write_table


def data(path: str, low: int, rows: int = 10) -> Entry:
    metrics: dict[str, dict[int, Any]] = {
        "null_value_counts": {1: 0},
        "lower_bounds": {1: encoded(low, "long")},
        "upper_bounds": {1: encoded(low + 9, "long")},
    }
    return Entry(path, rows, metrics=metrics, sequence=2)


VECTOR = Entry("v.puffin", 4, content=1, format="PUFFIN", referenced="a")
POSITION = Entry("p", 3, content=1, referenced="b")
EQUALITY = Entry("e", 1, content=2, equality_ids=[1])


def report(root: Path, *entries: Entry, where: str | None = "id >= 10") -> lakeprune.Report:
    write_table(
        root, [column(1, "id", "long")], [data("a", 0), data("b", 10), data("c", 20), *entries], None, Layout(3, sequence=5)
    )
    return lakeprune.explain(root, where)


def test_without_deletes_and_with_vectors_live_rows_are_exact(tmp_path: Path) -> None:
    for entries, live in (((), 30), ((VECTOR,), 26)):
        found = report(tmp_path, *entries)
        document = found.to_dict()
        assert (document["total_rows"], document["total_rows_at_most"], document["files_without_rows"]) == (live, live, 0)
        assert f"live rows:     {live} -> 20 (" in found.to_text()
        assert "at most" not in found.to_text()


def test_position_deletes_make_the_rows_of_their_file_an_upper_bound(tmp_path: Path) -> None:
    found = report(tmp_path, VECTOR, POSITION)
    document = found.to_dict()
    assert (document["total_rows"], document["files_without_rows"], document["total_rows_at_most"]) == (16, 1, 26)
    assert (document["final_rows"], document["final_rows_at_most"]) == (10, 20)
    text = found.to_text()
    assert "Live rows:         at most 26  (deletes of 1 file are not counted)" in text
    assert "live rows:     at most 26 -> at most 20 (deletes of 1 file are not counted)\n" in text
    assert 'Rows exclude 1 file whose deletes are not counted, with <data value="10">10</data> rows at most.' in funnel(found)


def test_what_is_left_is_exact_when_no_delete_applies_to_it(tmp_path: Path) -> None:
    found = report(tmp_path, POSITION, where="id >= 20")
    assert found.to_dict()["final_rows_at_most"] == found.to_dict()["final_rows"] == 10
    assert "live rows:     at most 30 -> 10\n" in found.to_text()


def test_equality_deletes_bound_every_file_they_apply_to(tmp_path: Path) -> None:
    document = report(tmp_path, EQUALITY, where=None).to_dict(verbose=True)
    assert (document["total_rows"], document["files_without_rows"], document["total_rows_at_most"]) == (0, 3, 30)
    assert {(file["live_rows"], file["num_records"]) for file in document["files"]} == {(None, 10)}


def test_a_file_without_a_row_count_has_no_bound(tmp_path: Path) -> None:
    found = report(tmp_path, POSITION, data("d", 30, rows=-1))
    assert (found.numbers.total.rows, found.numbers.total.rows_at_most) == (20, None)
    assert "Live rows:         20  (without 2 files of unknown length)" in found.to_text()


@pytest.mark.parametrize("entries", [(), (VECTOR,), (POSITION,), (EQUALITY,), (VECTOR, POSITION, EQUALITY)])
def test_the_parts_of_a_report_add_up_with_their_bounds(tmp_path: Path, entries: tuple[Entry, ...]) -> None:
    numbers = report(tmp_path, *entries).numbers
    assert sum(numbers.credits.values(), numbers.kept) == numbers.total
