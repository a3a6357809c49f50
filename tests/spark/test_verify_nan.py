"""A NaN that statistics hide: verify and statements never assume it away, and verify says where explain's assumption fails."""

from __future__ import annotations

import json
import math
from pathlib import Path

import deltalake
import jsonschema
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import lakeprune
from lakeprune.cli.main import main
from lakeprune.errors import UsageError
from tests.scope import IS_WHOLE, only_whole
from tools.generate_schema import target

pytestmark = pytest.mark.spark
HARMLESS = ["distance < 3", "id = 1", "isnan(distance)", "distance > 8 AND id = 0"]


def trips(path: Path, *files: list[float]) -> Path:
    """A table by delta-rs, which leaves NaN out of the bounds that it records."""
    for number, values in enumerate(files):
        rows = pa.table({"id": [number] * len(values), "distance": pa.array(values, pa.float64())})
        deltalake.write_deltalake(str(path), rows, mode="append")
    return path


@pytest.fixture(scope="module")
def hidden(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of three files, one has distances above 8, another hides a NaN, which Spark sorts above every number."""
    return trips(tmp_path_factory.mktemp("nan") / "trips", [1.0, 2.0], [3.0, math.nan, 4.0], [7.0, 9.0])


def file_with_nan(table: Path) -> str:
    found = lakeprune.explain(table, "id = 1").files
    (path,) = [file.path for file in found if file.verdict.value != "DROP"]
    return path


def test_verify_names_the_file_that_explain_drops_by_a_false_assumption(hidden: Path, spark: SparkSession) -> None:
    assert lakeprune.explain(hidden, "distance > 8", nan_policy="assume").numbers.kept.files == 1
    found = lakeprune.verify(hidden, "distance > 8", spark=spark)
    assert found.passed, "the judgement assumes nothing"
    assert (found.report.numbers.kept.files, found.truth.files_with_match) == (3, 2)
    (false,) = found.false_assumptions
    assert (false.code, false.path, false.column, false.matching) == ("NAN_ABSENT", file_with_nan(hidden), "distance", 1)
    assert f"  {false.path}: NaN is hidden in distance" in found.to_text()
    assert "--nan-policy strict keeps these files" in found.to_text()
    assert "NaN is hidden in distance" in found.to_html()
    document = json.loads(found.to_json())
    jsonschema.validate(document, json.loads(target("verify").read_text(encoding="utf-8")))
    assert [each["path"] for each in document["false_assumptions"]] == [false.path]


def test_a_sample_finds_it_too_because_files_in_doubt_are_kept(hidden: Path, spark: SparkSession) -> None:
    found = lakeprune.verify(hidden, "distance > 8", spark=spark, sample=0.01)
    assert [each.path for each in found.false_assumptions] == [file_with_nan(hidden)]


@pytest.mark.parametrize("where", HARMLESS if IS_WHOLE else HARMLESS[-1:])
def test_an_assumption_that_holds_or_is_not_made_is_not_mentioned(where: str, hidden: Path, spark: SparkSession) -> None:
    assert lakeprune.verify(hidden, where, spark=spark).false_assumptions == ()


@only_whole
def test_without_nan_the_assumption_holds(tmp_path: Path, spark: SparkSession) -> None:
    found = lakeprune.verify(trips(tmp_path / "trips", [1.0], [9.0]), "distance > 8", spark=spark)
    assert (found.passed, found.false_assumptions) == (True, ())


def test_a_delete_counts_the_hidden_nan_and_says_that_delta_missed_it(tmp_path: Path, spark: SparkSession) -> None:
    table = trips(tmp_path / "trips", [1.0, 2.0], [3.0, math.nan, 4.0], [7.0, 9.0])
    done = lakeprune.delete(table, where="distance > 8", spark=spark).execute()
    assert done.plan.effects.deleted == 2, "the plan reads the file in which a NaN may hide"
    assert not done.passed, "Delta's own DELETE skips that file by its maximum"
    assert done.reconciliation is not None
    differing = {check.name: (check.expected, check.found) for check in done.reconciliation.differences}
    assert differing["numDeletedRows"] == (2, 1)


def test_what_acts_on_rows_refuses_to_assume(hidden: Path, spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    for plan in (lakeprune.verify, lakeprune.delete):
        with pytest.raises(UsageError, match="assumes nothing about NaN"):
            plan(hidden, where="distance > 8", spark=spark, nan_policy="assume")
    assert main(["verify", str(hidden), "-w", "distance > 8", "--nan-policy", "assume"]) == 2
    assert "choose from guard, strict, spark-writers" in capsys.readouterr().err
