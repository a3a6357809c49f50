"""A share of the dropped files: the same at every run, and no other dropped file is opened."""

from __future__ import annotations

import json
from hashlib import md5
from pathlib import Path

import jsonschema
import pytest
from pyspark.sql import SparkSession

import lakeprune
from lakeprune.apps.verify.verify import audit, verify
from lakeprune.errors import TableError
from lakeprune.skipping.verdict import Verdict
from tools.generate_schema import target

pytestmark = pytest.mark.spark
FILES, SHARE = 12, 0.5


@pytest.fixture(scope="module")
def readings(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve files of ten rows, one of them with a deletion vector."""
    path = tmp_path_factory.mktemp("sample") / "readings"
    rows = spark.range(0, FILES * 10, 1, FILES)
    rows.write.format("delta").option("delta.enableDeletionVectors", "true").save(str(path))
    spark.sql(f"DELETE FROM delta.`{path}` WHERE id = 3")
    return path


def is_chosen(path: str) -> bool:
    return int(md5(path.encode()).hexdigest()[:8], 16) < SHARE * 2**32  # noqa: S324  # the documented rule, not a secret


def test_unsampled_files_are_not_opened_and_the_sample_is_always_the_same(readings: Path, spark: SparkSession) -> None:
    whole = lakeprune.explain(readings, "id < 20")
    dropped = [file.path for file in whole.files if file.verdict is Verdict.DROP]
    chosen = [path for path in dropped if is_chosen(path)]
    assert (len(whole.files), len(dropped)) == (FILES, 10)
    assert 0 < len(chosen) < 10  # otherwise the rest proves nothing
    hidden = [(readings / path, (readings / path).read_bytes()) for path in dropped if path not in chosen]
    for path, _ in hidden:
        path.unlink()
    try:
        found = verify(readings, "id < 20", spark=spark, sample=SHARE)
        kept = [file.path for file in whole.files if file.verdict is not Verdict.DROP]
        audited = audit(readings, spark=spark, sample=SHARE) if all(map(is_chosen, kept)) else None
        with pytest.raises(TableError) as gone:
            verify(readings, "id < 20", spark=spark)
    finally:
        for path, content in hidden:
            path.write_bytes(content)
    assert gone.value.code == "LP340"
    assert any(path.name in str(gone.value.where) for path, _ in hidden)
    assert found.passed
    assert found.sampled is not None
    assert (found.sampled.files, found.sampled.checked) == (10, len(chosen))
    assert (found.truth.checked_files, found.truth.live_rows) == (2 + len(chosen), 19 + 10 * len(chosen))
    assert (found.truth.matching_rows, found.truth.files_with_match, found.kept_without_match) == (19, 2, 0)
    assert found.truth.files_with_wrong_row_count == 0
    assert (found.efficiency, found.is_complete) == (None, False)
    assert audited is None or audited.passed
    jsonschema.validate(json.loads(found.to_json()), json.loads(target("verify").read_text(encoding="utf-8")))
    assert f"{len(chosen)} of 10 dropped files were checked, and every kept file" in found.to_text()


def test_a_sample_that_meets_a_false_file_names_it(readings: Path, spark: SparkSession, tmp_path: Path) -> None:
    copy = tmp_path / "lies"
    spark.read.format("delta").load(str(readings)).repartitionByRange(6, "id").write.format("delta").save(str(copy))
    log = copy / "_delta_log" / f"{0:020}.json"
    adds = [json.loads(line)["add"] for line in log.read_text().splitlines() if '"add"' in line]
    liar = next(add for add in adds if is_chosen(add["path"]))
    least, greatest = (json.loads(liar["stats"])[name]["id"] for name in ("minValues", "maxValues"))
    false = liar["stats"].replace(f'"id":{least}', f'"id":{greatest}', 1)
    log.write_text(log.read_text().replace(json.dumps(liar["stats"]), json.dumps(false)))
    for checksum in (copy / "_delta_log").glob(".*.crc"):
        checksum.unlink()
    found = verify(copy, f"id = {least}", spark=spark, sample=SHARE)
    assert [(each.path, each.verdict, each.matching) for each in found.violations] == [(liar["path"], Verdict.DROP, 1)]
    audited = audit(copy, spark=spark, sample=SHARE)
    assert [(each.path, each.column, each.recorded, each.found) for each in audited.faults] == [
        (liar["path"], "id", greatest, least)
    ]
