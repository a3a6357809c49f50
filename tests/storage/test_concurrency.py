"""Requests under way at once: many, and never more than allowed; counted by a proxy before a real server."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lakeprune
from tests.builders import delta
from tests.formats.iceberg.tables import Entry, SpecField, column, write_table
from tests.storage.proxy import Fate, Proxy, Request
from tests.storage.running import explain
from tests.storage.servers import Server

MANIFESTS = 24


@pytest.fixture(scope="module")
def table(s3: Server, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A manifest per spec."""
    folder = tmp_path_factory.mktemp("many")
    specs = {n: [SpecField(1, "identity", "id", 1000 + n, "long")] for n in range(MANIFESTS)}
    entries = [Entry(f"f{n}", spec=n, tuple={1000 + n: n}) for n in specs]
    write_table(folder, [column(1, "id", "long")], entries, specs)
    return s3.upload(folder, "many")


def held_until(proxy: Proxy, number: int, wanted: Callable[[Request], bool]) -> None:
    """Requests wait for each other until so many are under way, and then a moment longer, for one too many to show itself."""
    reached = threading.Event()

    def rule(request: Request) -> Fate:
        if wanted(request) and not reached.is_set():
            if proxy.under_way >= number:
                threading.Timer(0.3, reached.set).start()
            reached.wait(20)
        return Fate.SERVE

    proxy.rule = rule


def is_manifest(request: Request) -> bool:
    return request.path.endswith("-m0.avro")


@pytest.mark.parametrize(("flags", "most"), [(["--concurrency", "5"], 5), (["--concurrency", "1"], 1), ([], MANIFESTS)])
def test_manifests_are_fetched_at_once_up_to_the_cap(
    s3: Server, s3_proxy: Proxy, table: str, flags: list[str], most: int
) -> None:
    held_until(s3_proxy, most, is_manifest)
    ran = explain(table, "--no-cache", "--format", "json", *s3.behind(s3_proxy.port).flags(), *flags)
    assert (ran.code, ran.document["total_files"]) == (0, MANIFESTS)
    assert sum(map(is_manifest, s3_proxy.seen)) == MANIFESTS
    assert s3_proxy.most_under_way == most


def test_commits_of_a_delta_log_are_fetched_at_once_up_to_the_cap(s3: Server, s3_proxy: Proxy, tmp_path: Path) -> None:
    place = delta.users(tmp_path / "users")
    log = place / "_delta_log"
    version = int(max(log.glob("*.json")).stem)
    for number in range(version + 1, version + 13):
        (log / f"{number:020}.json").write_text('{"commitInfo": {}}\n')
    url = s3.upload(place, "commits", only="_delta_log")
    held_until(s3_proxy, 4, lambda request: request.path.endswith(".json"))
    options = s3.behind(s3_proxy.port).options
    report = lakeprune.explain(url, storage_options=options, no_cache=True, concurrency=4)
    assert report.facts.version == version + 12
    assert s3_proxy.most_under_way == 4


@pytest.mark.parametrize(("cap", "most"), [(3, 3), (64, 10)])
def test_footers_are_fetched_at_once_up_to_the_cap(s3: Server, s3_proxy: Proxy, tmp_path: Path, cap: int, most: int) -> None:
    names = [f"{tmp_path}/data/{number}.parquet" for number in range(10)]
    (tmp_path / "data").mkdir()
    for name in names:
        pq.write_table(pa.table({"id": [1, 2]}), name)
    write_table(tmp_path, [column(1, "id", "long")], [Entry(name, 2, Path(name).stat().st_size) for name in names])
    url = s3.upload(tmp_path, f"footers-{cap}")
    held_until(s3_proxy, most, lambda request: request.path.endswith(".parquet"))
    options = s3.behind(s3_proxy.port).options
    report = lakeprune.explain(url, "id > 0", storage_options=options, no_cache=True, row_groups=True, concurrency=cap)
    assert report.to_dict()["summary"]["row_groups_total"] == 10
    assert s3_proxy.most_under_way == most


def test_manifests_are_immutable_and_come_from_the_checked_cache_the_next_time(s3: Server, s3_proxy: Proxy, table: str) -> None:
    options = s3.behind(s3_proxy.port).options
    first = lakeprune.explain(table, storage_options=options)
    assert sum(map(is_manifest, s3_proxy.seen)) == MANIFESTS
    s3_proxy.forget()
    second = lakeprune.explain(table, storage_options=options)
    assert not any(request.path.endswith(".avro") for request in s3_proxy.seen)
    assert first.traffic is not None
    assert second.traffic is not None
    assert second.traffic.cached_files == MANIFESTS + 2  # with the metadata file and the manifest list
    assert [file.path for file in second.files] == [file.path for file in first.files]


@pytest.mark.parametrize("number", [0, -1, 5000, True, "8"])
def test_a_cap_that_cannot_be_is_refused(s3: Server, table: str, number: object) -> None:
    with pytest.raises(lakeprune.UsageError, match="requests at once") as caught:
        lakeprune.explain(table, storage_options=s3.options, concurrency=number)  # type: ignore[arg-type]  # that is the point
    assert caught.value.fix == "give --concurrency 1 to 1024"
