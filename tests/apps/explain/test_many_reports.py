"""Reports side by side: from many threads, and many of them at once, each without a database of its own."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import lakeprune
from tests.builders import delta

# Exact on partition values: listing it asks several questions, whose answers threads must not take from each other.
WHERE = "upper(country) = 'DE' AND length(country) = 2 AND age > 40"


@pytest.fixture(scope="module")
def users(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return delta.users(tmp_path_factory.mktemp("many") / "users")


def test_one_report_may_be_listed_by_many_threads(users: Path) -> None:
    report = lakeprune.explain(users, WHERE)
    expected = report.files
    with ThreadPoolExecutor(8) as threads:
        assert all(found == expected for found in threads.map(lambda _: report.files, range(40)))


def test_tables_may_be_explained_by_many_threads(users: Path) -> None:
    with ThreadPoolExecutor(8) as threads:
        kept = list(threads.map(lambda age: lakeprune.explain(users, f"age > {age}").numbers.kept.files, [17, 40, 64, 65] * 5))
    assert kept == [6, 3, 1, 0] * 5


def test_listings_of_one_report_may_interleave(users: Path) -> None:
    report = lakeprune.explain(users, WHERE)
    first, second = report.listing(None), report.listing(None)
    started = [next(first), next(second), next(first)]
    del first
    assert [*started[1:2], *second] == report.files


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="threads are counted where the system lists them")
def test_a_kept_report_keeps_no_threads(users: Path) -> None:
    before = len(os.listdir("/proc/self/task"))
    reports = [lakeprune.explain(users, "age > 40") for _ in range(5)]
    assert all(len(report.files) == 6 for report in reports)
    assert len(os.listdir("/proc/self/task")) <= before
