"""What rests on the assumption that no NaN is hidden is counted as engines count it, and marked wherever it is shown."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

import lakeprune
from lakeprune.cli.main import main
from lakeprune.report.pictures.model import Shade
from tests.builders.delta import add, metadata, protocol, statistics, write_log
from tools.generate_schema import target


@pytest.fixture(scope="module")
def trips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twenty files by a writer whose statistics leave NaN out; `distance` rises from file to file, in two partitions."""
    files = [
        add(f"{i}", partition={"p": f"{i % 2}"}, stats=statistics(10, distance=(float(i), i + 2.0, 0), fare=(1, 2, 0)))
        for i in range(20)
    ]
    fields = {"distance": "double", "fare": "long", "p": "integer"}
    return write_log(tmp_path_factory.mktemp("trips") / "t", [[protocol(), metadata(fields, ["p"]), *files]])


def test_the_default_drops_as_every_engine_does_and_strict_keeps(trips: Path) -> None:
    report = lakeprune.explain(trips, "distance > 15")
    assert report.numbers.kept.files == report.engines[0].files == 6
    assert report.session.nan_policy == "assume"
    (assumption,) = report.assumptions
    assert (assumption.code, assumption.column, assumption.files) == ("NAN_ABSENT", "distance", 14)
    assert assumption.message == "no NaN hidden in distance"
    for policy in ("strict", "guard"):
        strict = lakeprune.explain(trips, "distance > 15", nan_policy=policy)
        assert (strict.numbers.kept.files, strict.assumptions) == (20, [])


def test_what_is_proven_without_the_assumption_does_not_carry_its_mark(trips: Path) -> None:
    """`<` rejects NaN by itself, p = 0 drops by partition values: only what neither proves is assumed."""
    assert lakeprune.explain(trips, "distance < 5").assumptions == []
    report = lakeprune.explain(trips, "distance > 15 AND p = 0")
    assert [assumption.files for assumption in report.assumptions] == [7]
    assert {file.path for file in report.files if file.assumes} == {f"{i}" for i in range(0, 14, 2)}
    assert lakeprune.explain(trips, "distance > 15 AND fare > 5").assumptions == [], "fare proves every drop"


def test_marks_stand_in_the_total_beside_clauses_and_at_files(trips: Path) -> None:
    report = lakeprune.explain(trips, "distance > 15 AND fare = 1")
    document = report.to_dict(verbose=True)
    jsonschema.validate(document, json.loads(target("explain").read_text(encoding="utf-8")))
    assert [(each["column"], each["files"]) for each in document["assumptions"]] == [("distance", 14)]
    assert {clause["text"]: clause["dropped_assumed"]["files"] for clause in document["clauses"]} == {
        "distance > 15": 14,
        "fare = 1": 0,
    }
    assert {tuple(file["assumes"]) for file in document["files"] if file["kept"]} == {()}
    assert {tuple(file["assumes"]) for file in document["files"] if not file["kept"]} == {("distance",)}
    text = report.to_text(verbose=True)
    assert "  assumed:       14 files dropped on: no NaN hidden in distance; --nan-policy strict keeps them" in text
    assert text.count("if no NaN is hidden in distance") == 14
    page = report.to_html()
    assert "14 files dropped on the assumption: no NaN hidden in distance." in page
    assert "dropped, if no NaN is hidden" in page
    assert "no NaN" not in lakeprune.explain(trips, "distance < 5").to_html()


def test_pictures_have_a_shade_for_it(trips: Path) -> None:
    picture = lakeprune.explain(trips, "distance > 15").picture()
    (strip,) = picture.strips
    assert [sum(counts) for counts in zip(*(lane.files for lane in strip.lanes), strict=True)] == [0, 2, 4, 14]
    assert sum(mark.shade is Shade.ASSUMED for lane in strip.lanes for mark in lane.marks) == 14
    assert picture.heat is not None
    assert sum(cell.files[-1] for cell in picture.heat.cells) == 14


def test_gates_count_such_drops_as_drops(trips: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["explain", str(trips), "-w", "distance > 15", "--min-pruning", "60"]
    assert main(command) == 0
    assert main([*command, "--nan-policy", "strict"]) == 1
    capsys.readouterr()


def test_a_condition_that_only_nan_satisfies_is_never_assumed_away(trips: Path) -> None:
    for where in ("isnan(distance)", "distance = CAST('NaN' AS DOUBLE)"):
        report = lakeprune.explain(trips, where)
        assert (report.numbers.kept.files, report.assumptions) == (20, [])
