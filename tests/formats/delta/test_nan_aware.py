"""Which commits prove that a recorded maximum would show NaN, and for which of their files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from demo.delta_log import DELTA_SPARK, commit_info
from lakeprune.formats.delta import nan_aware
from lakeprune.formats.delta.nan_aware import WRITES
from lakeprune.predicate.tree import NanPolicy, Profile
from tests.builders.delta import PROTOCOL, Action, Log, add, deletion_vector, metadata, remove, statistics
from tests.formats.delta.relation import files, opened

STATS = statistics(3, x=(1.0, 2.0, 0), n=(1, 2, 0))
SPARK = commit_info(numOutputRows=3)
HEAD = metadata({"x": "double", "n": "long"})
LOOSE = {**STATS, "tightBounds": False}
TIGHT = {**STATS, "tightBounds": True}


def proven(log: Log, policy: NanPolicy = NanPolicy.STRICT) -> dict[str, bool]:
    """By path: whether x is proven to hold no NaN."""
    return {row["path"]: row["x"]["nan_free"] for row in files(opened(log.path), Profile(0, nan_policy=policy))}


def log_of(tmp_path: Path, *commits: list[Action]) -> Log:
    log = Log(tmp_path / "t").commit(0, PROTOCOL, HEAD)
    for version, actions in enumerate(commits, start=1):
        log.commit(version, *actions)
    return log


@pytest.mark.parametrize(("info", "expected"), [
    *((commit_info(operation, DELTA_SPARK, **{metric: 3}), True) for operation, metric in WRITES.items()),
    *((commit_info(operation), False) for operation in WRITES),
    (commit_info("WRITE", numFiles=1), False),
    (commit_info("UPDATE", numOutputRows=3), False),
    (commit_info("CONVERT", numConvertedFiles=1), False),
    (commit_info("CLONE", numOutputRows=1), False),
    (commit_info("RESTORE", numRestoredFiles=1), False),
    (commit_info("COMPUTE STATS", numOutputRows=1), False),
    (commit_info("ROW TRACKING BACKFILL", numOutputRows=1), False),
    (commit_info(engine="delta-rs:py-1.6.6", numOutputRows=3), False),
    (commit_info(engine="Databricks-Runtime/16.4.x-scala2.12", numOutputRows=3), False),
    (commit_info(engine="Apache-Spark/3.5.0.4.2 Delta-Lake/3.2.0.9", numOutputRows=3), False),
    (commit_info(engine="Kernel-4.0.0/delta-sharing", numOutputRows=3), False),
    (commit_info(engine=f"not {DELTA_SPARK}", numOutputRows=3), False),
    ({"commitInfo": {"operation": "WRITE", "operationMetrics": {"numOutputRows": "3"}}}, False),
    ({"commitInfo": {}}, False),
    ({"txn": {"appId": "a", "version": 1}}, False),
])  # fmt: skip
def test_only_writes_of_delta_spark_count(tmp_path: Path, info: Action, *, expected: bool) -> None:
    assert proven(log_of(tmp_path, [info, add("a", STATS)])) == {"a": expected}


def test_a_commit_that_names_two_writers_proves_nothing(tmp_path: Path) -> None:
    assert proven(log_of(tmp_path, [SPARK, commit_info(engine="other/1"), add("a", STATS)])) == {"a": False}


@pytest.mark.parametrize(("stats", "expected"), [
    (STATS, True),
    (statistics(3, x=(1.0, "NaN", 0)), False),
    (statistics(3, x=("NaN", "NaN", 0)), False),
    (statistics(3, x=(1.0, "Infinity", 0)), True),
    (statistics(3, x=(1.0, None, 0)), False),
    (statistics(3, x=(None, None, 3)), False),
    (None, False),
])  # fmt: skip
def test_the_maximum_must_be_there_and_not_be_nan(tmp_path: Path, stats: Any, *, expected: bool) -> None:
    assert proven(log_of(tmp_path, [SPARK, add("a", stats)])) == {"a": expected}


def test_every_commit_speaks_for_its_own_files(tmp_path: Path) -> None:
    log = log_of(tmp_path, [SPARK, add("a", STATS)], [commit_info(engine="other/1"), add("b", STATS)], [SPARK, add("c", STATS)])
    assert proven(log) == {"a": True, "b": False, "c": True}
    assert proven(log, NanPolicy.SPARK_WRITERS) == {"a": True, "b": True, "c": True}


def test_a_deletion_vector_leaves_the_proof_as_long_as_the_statistics_are_the_writers(tmp_path: Path) -> None:
    delete = commit_info("DELETE", numDeletedRows=1)
    again = [delete, remove("a"), add("a", LOOSE, dv=deletion_vector(1))]
    assert proven(log_of(tmp_path / "spark", [SPARK, add("a", TIGHT)], again)) == {"a": True}
    others = commit_info(engine="other/1", numOutputRows=3)
    assert proven(log_of(tmp_path / "others", [others, add("a", TIGHT)], again)) == {"a": False}
    assert proven(log_of(tmp_path / "unknown", again)) == {"a": False}, "statistics of an add with a vector are somebody's"


def test_statistics_that_another_writer_recorded_since_prove_nothing(tmp_path: Path) -> None:
    other = statistics(3, x=(1.0, 3.0, 0), n=(1, 2, 0))
    replaced = [commit_info("COMPUTE STATS"), add("a", other)]
    assert proven(log_of(tmp_path / "t1", [SPARK, add("a", STATS)], replaced)) == {"a": False}
    restored = [commit_info("RESTORE"), add("a", STATS)]
    assert proven(log_of(tmp_path / "t2", [SPARK, add("a", STATS)], [remove("a")], restored)) == {"a": True}


def test_a_compaction_names_no_writer(tmp_path: Path) -> None:
    log = log_of(tmp_path, [SPARK, add("a", STATS)], [SPARK, add("b", STATS)])
    log.compaction(1, 2, SPARK, add("a", STATS), add("b", STATS))
    for version in (1, 2):
        (log.path / "_delta_log" / f"{version:020}.json").unlink()
    assert proven(log) == {"a": False, "b": False}


def test_files_of_a_checkpoint_count_while_their_commits_are_there(tmp_path: Path) -> None:
    log = log_of(tmp_path, [SPARK, add("a", STATS)], [SPARK, add("b", STATS)])
    log.checkpoint(2, PROTOCOL, HEAD, add("a", STATS), add("b", STATS))
    log.commit(3, SPARK, add("c", STATS))
    assert proven(log) == {"a": True, "b": True, "c": True}
    (log.path / "_delta_log" / f"{1:020}.json").unlink()
    assert proven(log) == {"a": False, "b": True, "c": True}


def test_older_commits_are_read_only_as_far_as_that_is_cheap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = log_of(tmp_path, [SPARK, add("a", STATS)], [SPARK, add("b", STATS)])
    log.checkpoint(2, PROTOCOL, HEAD, add("a", STATS), add("b", STATS))
    monkeypatch.setattr(nan_aware, "_OLDER_COMMITS", 1)
    assert proven(log) == {"a": False, "b": True}
    monkeypatch.setattr(nan_aware, "_OLDER_COMMITS", 100)
    monkeypatch.setattr(nan_aware, "_OLDER_BYTES", 10)
    assert proven(log) == {"a": False, "b": False}


def test_an_older_commit_that_is_damaged_proves_nothing_and_disturbs_nothing(tmp_path: Path) -> None:
    log = log_of(tmp_path, [SPARK, add("a", STATS)], [SPARK, add("b", STATS)])
    log.checkpoint(2, PROTOCOL, HEAD, add("a", STATS), add("b", STATS))
    (log.path / "_delta_log" / f"{1:020}.json").write_text("{ damaged")
    assert proven(log) == {"a": False, "b": False}


def test_writers_are_looked_up_only_for_floats(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import lakeprune

    log = log_of(tmp_path, [SPARK, add("a", STATS)])
    asked: list[str] = []
    monkeypatch.setattr("lakeprune.formats.delta.snapshot.nan_aware_files", lambda *_: asked.append("writers"))
    lakeprune.explain(log.path, "n > 100", nan_policy="strict")
    assert asked == []
    lakeprune.explain(log.path, "x > 100", nan_policy="strict")
    assert asked == ["writers"]
