"""Two counts, never mixed up: what metadata allows, and what Delta Spark reads."""

from __future__ import annotations

import json

import pytest

import lakeprune
from lakeprune.apps.explain.opening import opened
from lakeprune.cli.main import main
from lakeprune.errors import UsageError
from lakeprune.planning.opening import At
from lakeprune.report.attribution import attribute
from lakeprune.report.engines import pair
from tests.builders import delta
from tests.builders.reports import USERS, report_on, snapshot

SAME = ["age > 40", "country = 'DE' AND age > 40", "NOT (age < 30)", "name IS NULL", "upper(country) = 'DE'", "age = 40.5"]
MORE = [
    "age + 1 > 41",
    "age IN (18, 60)",
    "country = 'DE' OR age > 60",
    "country = 'DE' AND age + 1 > 41",
    "age < 0 AND age + 1 > 5",
]


@pytest.fixture(scope="module")
def users(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(delta.users(tmp_path_factory.mktemp("engines") / "users"))


@pytest.mark.parametrize("where", SAME)
def test_where_delta_spark_reads_the_same_the_text_has_one_count_and_the_documents_two(users: str, where: str) -> None:
    report = lakeprune.explain(users, where)
    (engine,) = report.engines
    assert (engine.name, engine.version, engine.basis) == ("Delta Spark", "4.4", "modelled")
    assert (engine.files, engine.bytes) == (report.numbers.kept.files, report.numbers.kept.bytes)
    assert "Delta Spark" not in report.to_text()
    assert "Metadata allows" not in report._repr_html_()
    assert report.to_dict()["engines"][0]["files"] == engine.files


def test_where_it_reads_more_every_format_opens_with_both_counts(users: str) -> None:
    report = lakeprune.explain(users, "age + 1 > 41")
    assert "Metadata allows 3 of 6 files, " in report.to_text()
    assert (
        'Metadata allows <strong><data value="3">3</data></strong> of <data value="6">6</data> files; Delta Spark 4.4 reads'
        in (report.to_html())
    )
    assert "Metadata allows" in report._repr_html_()
    document = report.to_dict()
    assert document["final_files"] == 3
    assert document["engines"] == [
        {
            "name": "Delta Spark",
            "version": "4.4",
            "files": 6,
            "bytes": report.numbers.total.bytes,
            "basis": "modelled",
            "why": ["it does not use functions and arithmetic on data columns"],
        }
    ]


@pytest.mark.parametrize("where", [*SAME, *MORE])
def test_asking_for_both_counts_changes_nothing_else(users: str, where: str) -> None:
    explainer, (condition,) = opened(users, [where], At(), {})
    planner = explainer.planner
    with planner.engine.awake():
        question = planner.ask(condition)
        (report,) = explainer.answers([question])
        alone = attribute(question.plan, planner.patterns([question])[0])
    assert report.numbers == alone


@pytest.mark.parametrize("where", ["age > 40", "country = 'DE' AND age > 40", "name IS NULL"])
def test_nothing_more_is_asked_of_the_files_where_delta_spark_uses_everything(users: str, where: str) -> None:
    planner = opened(users, [where], At(), {})[0].planner
    question = planner.ask(where)
    two = pair(question, planner.snapshot.own_skipping(planner.profile))
    assert two is not None
    assert (two.both.plan.bits, two.both.plan.columns) == (question.plan.bits, question.plan.columns)


def test_a_format_without_a_model_and_a_report_without_a_predicate_have_no_engine(users: str) -> None:
    assert report_on(snapshot(*USERS), "age + 1 > 41").engines == ()
    assert lakeprune.explain(users).engines == ()
    assert lakeprune.explain(users, gate_on="delta-spark", max_files=6).passed
    with pytest.raises(UsageError, match="LP219"):
        report_on(snapshot(*USERS), "age > 40", {"gate_on": "delta-spark", "max_files": 6})


def test_gates_judge_by_the_count_that_was_chosen(users: str) -> None:
    by_metadata = lakeprune.explain(users, "age + 1 > 41", min_pruning=50, max_files=3)
    assert by_metadata.passed
    assert [remark.split(" passes", 1)[0] for remark in by_metadata.remarks] == ["min_pruning", "max_files"]
    by_engine = lakeprune.explain(users, "age + 1 > 41", min_pruning=50, max_files=3, gate_on="delta-spark")
    assert not by_engine.passed
    assert by_engine.remarks == ()
    assert by_engine.assertions[0].details == {"threshold": 50.0, "actual": 0.0, "note": "what Delta Spark 4.4 reads"}
    assert lakeprune.explain(users, "age > 40", min_pruning=50, gate_on="delta-spark").passed
    with pytest.raises(UsageError, match="gate_on is 'spark'"):
        lakeprune.explain(users, "age > 40", gate_on="spark")


def test_the_command_says_on_stderr_that_the_other_count_would_fail(users: str, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["explain", users, "-w", "age + 1 > 41", "--min-pruning", "50"]
    assert main(command) == 0
    assert "note: min_pruning passes, and would fail with --gate-on delta-spark: total pruning 0.0%" in capsys.readouterr().err
    assert main([*command, "--gate-on", "delta-spark"]) == 1
    assert "ASSERTION FAILED: total pruning 0.0% is below threshold 50.0% (Delta Spark 4.4)" in capsys.readouterr().err


def test_a_diagnosis_can_fail_the_command(users: str, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["explain", users, "-w", "age + 1 > 41", "--format", "json"]
    assert main([*command, "--fail-on", "CONTRADICTION"]) == 0
    capsys.readouterr()
    assert main([*command, "--fail-on", "CONTRADICTION", "--fail-on", "ENGINE_DIFFERS"]) == 1
    shown = capsys.readouterr()
    document = json.loads(shown.out)
    assert document["assertions"] == [{"name": "fail_on", "result": "fail", "codes": "CONTRADICTION, ENGINE_DIFFERS", "found": 1}]
    assert [one["code"] for one in document["explain"] if one["code"] == "ENGINE_DIFFERS"]
    assert "ASSERTION FAILED: ENGINE_DIFFERS: Delta Spark reads 6 files" in shown.err
    assert not lakeprune.explain(users, "age + 1 > 41", fail_on="ENGINE_DIFFERS").passed


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--fail-on", "ENGINE_DIFFER"], "did you mean ENGINE_DIFFERS?"),
        (["--min-pruning", "0.9"], "give 90"),
        (["--min-bytes-pruning", "0.5"], "give 50"),
        (["--gate-on", "spark"], "is not one of its values"),
    ],
)
def test_demands_that_cannot_be_meant_are_refused(
    users: str, capsys: pytest.CaptureFixture[str], flags: list[str], message: str
) -> None:
    assert main(["explain", users, "-w", "age > 40", *flags]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(("demand", "passes"), [(0, True), (3, True), (4, False)])
def test_a_number_of_files_can_be_demanded(users: str, demand: int, passes: bool) -> None:
    assert lakeprune.explain(users, "age > 40", min_files=demand).passed is passes


def test_a_predicate_that_no_row_satisfies_reads_nothing_in_either_count(users: str) -> None:
    report = lakeprune.explain(users, "age < 0 AND age > 5")
    assert (report.numbers.kept.files, report.engines[0].files) == (0, 0)
