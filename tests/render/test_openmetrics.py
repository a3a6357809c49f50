"""The pruning summary as OpenMetrics: read back by the grammar of the specification, with the numbers of the report."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lakeprune
from lakeprune.cli.main import main
from lakeprune.errors import UsageError
from lakeprune.render.openmetrics.families import FAMILIES, escaped
from tests.builders import delta
from tests.builders.documents import frame
from tests.builders.iceberg import flights
from tests.builders.reports import USERS, report_on, reports_on, snapshot
from tests.builders.snapshot import File
from tests.formats.row_groups.delta import one_column
from tests.render.exposition import Sample, parsed, unescaped

UNREAD = (*USERS, File("unread", size=None, partition={"country": "FR"}))


def values(samples: list[Sample]) -> dict[str, float]:
    return {sample.name.removeprefix("lakeprune_"): sample.value for sample in samples}


def test_the_numbers_are_those_of_the_summary() -> None:
    report = report_on(snapshot(*USERS), "country = 'DE' AND age > 40")
    samples = parsed(report.to_openmetrics())
    assert values(samples) == {
        "total_files": 6,
        "kept_files": 1,
        "total_bytes": 4500,
        "kept_bytes": 750,
        "planning_seconds": report.planning_ms / 1000,
    }
    assert {sample.labels["predicate"] for sample in samples} == {"country = 'DE' AND age > 40"}
    assert {sample.labels["format"] for sample in samples} == {report.facts.format}


def test_a_number_that_is_not_known_has_no_sample_and_a_count_of_nothing_is_zero() -> None:
    report = report_on(snapshot(*UNREAD), "country = 'XX'")
    found = values(parsed(report.to_openmetrics()))
    assert "total_bytes" not in found
    assert "# TYPE lakeprune_total_bytes" not in report.to_openmetrics()
    assert (found["kept_files"], found["kept_bytes"]) == (0, 0)


def test_every_number_of_the_summary_has_a_gauge() -> None:
    summary = report_on(snapshot(*USERS), None).summary
    assert len(FAMILIES) == len(type(summary).__struct_fields__)
    assert len({family.name for family in FAMILIES}) == len(FAMILIES)


def test_predicates_of_one_run_are_samples_of_the_same_gauges() -> None:
    wheres: list[str | None] = [None, "age > 40", "country = 'DE'", "age > 40"]
    samples = parsed(lakeprune.openmetrics(reports_on(snapshot(*USERS), wheres)))
    kept = [sample for sample in samples if sample.name == "lakeprune_kept_files"]
    assert [sample.value for sample in kept] == [6, 3, 2, 3]
    assert "predicate" not in kept[0].labels
    assert [sample.labels.get("repeat") for sample in kept] == [None, None, None, "2"]
    assert kept[1].labels["predicate_id"] == kept[3].labels["predicate_id"] != kept[2].labels["predicate_id"]


def test_long_predicates_are_shortened_and_still_told_apart() -> None:
    reports = reports_on(snapshot(*USERS), [f"age IN ({', '.join(map(str, range(100)))}, {last})" for last in (101, 102)])
    kept = [each.labels for each in parsed(lakeprune.openmetrics(reports)) if each.name == "lakeprune_kept_files"]
    assert kept[0]["predicate"] == kept[1]["predicate"]
    assert len(kept[0]["predicate"]) == 203
    assert kept[0]["predicate_id"] != kept[1]["predicate_id"]


def test_no_reports_are_an_empty_exposition() -> None:
    assert parsed(lakeprune.openmetrics([])) == []


def test_the_scans_of_a_query_are_samples() -> None:
    assert {sample.name for sample in parsed(frame().to_openmetrics())} >= {"lakeprune_total_files", "lakeprune_kept_files"}


@given(st.text(st.characters(exclude_categories=[]), max_size=20))
def test_any_text_is_a_label_and_is_read_back(text: str) -> None:
    readable = text.encode("utf-8", "backslashreplace").decode("utf-8")
    line = f'# TYPE a_files gauge\n# UNIT a_files files\n# HELP a_files x\na_files{{predicate="{escaped(text)}"}} 1\n# EOF\n'
    assert parsed(line)[0].labels["predicate"] == readable == unescaped(escaped(text))


def test_an_exposition_that_is_not_one_is_found() -> None:
    for wrong in ("# EOF", 'a{b="\n"} 1\n# EOF\n', "a_total{} 1\n# EOF\n"):
        with pytest.raises(AssertionError):
            parsed(wrong)


@pytest.fixture(scope="module")
def users(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(delta.users(tmp_path_factory.mktemp("metrics") / "users"))


def test_the_file_is_written_beside_the_document(users: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "out.prom"
    where = "country = 'DE' AND age > 40"
    assert main(["explain", users, "-w", where, "--metrics-file", str(target)]) == 0
    assert "Total reduction: 6 -> 1 files" in capsys.readouterr().out
    samples = parsed(target.read_text(encoding="utf-8"))
    assert values(samples)["kept_files"] == 1
    assert samples[0].labels["table"] == users
    assert os.listdir(tmp_path) == ["out.prom"]


def test_a_failed_gate_does_not_prevent_the_file(users: str, tmp_path: Path) -> None:
    target = tmp_path / "out.prom"
    assert main(["explain", users, "-w", "age > 40", "--max-files", "0", "--metrics-file", str(target)]) == 1
    assert parsed(target.read_text(encoding="utf-8"))


def test_an_error_leaves_an_existing_file_alone(users: str, tmp_path: Path) -> None:
    target = tmp_path / "out.prom"
    target.write_text("before")
    assert main(["explain", users, "-w", "nope > 40", "--metrics-file", str(target)]) == 2
    assert main(["explain", f"{users}-gone", "-w", "age > 40", "--metrics-file", str(target)]) == 3
    assert (target.read_text(), os.listdir(tmp_path)) == ("before", ["out.prom"])


def test_a_file_that_cannot_be_written_is_refused_before_anything_is_printed(users: str) -> None:
    command = [sys.executable, "-m", "lakeprune", "explain", users, "-w", "age > 40", "--metrics-file", "/nowhere/out.prom"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "error[LP217] cannot write /nowhere/out.prom\n"
        "  where: --metrics-file\n"
        "  why:   No such file or directory\n"
        "  fix:   name a writable file\n"
    )


@pytest.mark.parametrize("flag", ["--metrics-file", "--scan-report", "--output"])
def test_a_dash_is_not_a_file(
    users: str, tmp_path: Path, flag: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["explain", users, "-w", "age > 40", flag, "-"]) == 2
    shown = capsys.readouterr()
    assert (shown.out, os.listdir(tmp_path)) == ("", [])
    assert f"{flag}: '-' is not the name of a file\n" in shown.err
    assert "fix:   give one, or /dev/stdout" in shown.err


def test_what_is_not_a_list_of_reports_is_refused(users: str) -> None:
    report = lakeprune.explain(users, "age > 40")
    for odd, what in (
        (report, "a Report was given where a list of reports is wanted"),
        (None, "a NoneType was given where a list of reports is wanted"),
        ([report, "x"], "report 2 of 2 is of type str"),
    ):
        with pytest.raises(UsageError, match=what):
            lakeprune.openmetrics(odd)  # type: ignore[arg-type]


def test_two_documents_do_not_go_to_one_file(users: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    same = ["--output", str(tmp_path / "a"), "--metrics-file", str(tmp_path / "." / "a")]
    assert main(["explain", users, "-w", "age > 40", *same]) == 2
    assert "two documents would be written to one file" in capsys.readouterr().err
    assert os.listdir(tmp_path) == []


def test_an_iceberg_table_has_the_same_gauges(tmp_path: Path) -> None:
    report = lakeprune.explain(str(flights(tmp_path / "flights")), "mission_id = 'apollo-7'")
    samples = parsed(report.to_openmetrics())
    assert values(samples)["kept_files"] == 8
    assert samples[0].labels["format"] == "iceberg"


def test_row_groups_that_were_asked_for_have_gauges(tmp_path: Path) -> None:
    place = one_column(tmp_path / "t", range(100), pa.int64(), row_group_size=10)
    asked = values(parsed(lakeprune.explain(place, "x < 25", row_groups=True).to_openmetrics()))
    assert (asked["total_row_groups"], asked["kept_row_groups"]) == (10, 3)
    assert "total_row_groups" not in values(parsed(lakeprune.explain(place, "x < 25").to_openmetrics()))
