"""Which requests a log costs: listing begins at the newest checkpoint, a hint is only a hint, sidecars are listed once."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from deltalake import DeltaTable

from tests.builders.delta import PROTOCOL, Log, add, bounds, metadata, users
from tests.storage.proxy import Proxy
from tests.storage.running import comparable, explain
from tests.storage.servers import Server

HEAD = (PROTOCOL, metadata({"x": "integer"}))
UUID = "3f6c1f2e-0000-4000-8000-000000000000"


@pytest.fixture(scope="module")
def checkpointed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six commits, a checkpoint of version 3 by the official writer."""
    path = users(tmp_path_factory.mktemp("checkpointed") / "users")
    DeltaTable(path, version=3).create_checkpoint()
    return path


def test_listing_begins_at_the_newest_checkpoint(server: Server, proxy: Proxy, checkpointed: Path) -> None:
    url = server.upload(checkpointed, "hinted", only="_delta_log")
    ran = explain(url, "--verbose", "--format", "json", *server.behind(proxy.port).flags())
    assert ran.document["fetched"]["requests"] == len(proxy.seen) == 5  # hint, listing, checkpoint, two commits
    names = {request.path.rsplit("/", 1)[1] for request in proxy.seen if not request.is_listing}
    versions = {f"{version:020}" for version in (4, 5)}
    assert names == {"_last_checkpoint", f"{3:020}.checkpoint.parquet", *(f"{version}.json" for version in versions)}
    (listing,) = (request for request in proxy.seen if request.is_listing)
    if server.kind != "azure":  # whose protocol has no such parameter
        assert f"start-after=hinted/_delta_log/{3:020}" in listing.path


@pytest.mark.parametrize(
    "hint", ['{"version": 1, "size": 3}', '{"version": 9999, "size": 3}', '{"version": "x"}', "not json", "", "[" * 100_000]
)
def test_a_wrong_hint_costs_a_listing_at_most(server: Server, checkpointed: Path, hint: str) -> None:
    url = server.upload(checkpointed, "misled", only="_delta_log")
    server.put("misled/_delta_log/_last_checkpoint", hint.encode())
    remote = explain(url, "-w", "age > 40", "--verbose", "--format", "json", *server.flags())
    local = explain(str(checkpointed), "-w", "age > 40", "--verbose", "--format", "json")
    assert (remote.code, remote.err) == (0, "")
    assert comparable(remote.document) == comparable(local.document)


@pytest.mark.parametrize("way", [["--at-version", "2"], ["--at-version", "4"], ["--at-timestamp", "2999-01-01"]])
def test_time_travel(server: Server, checkpointed: Path, way: list[str]) -> None:
    url = server.upload(checkpointed, "travel", only="_delta_log")
    remote = explain(url, *way, "--verbose", "--format", "json", *server.flags())
    local = explain(str(checkpointed), *way, "--verbose", "--format", "json")
    assert comparable(remote.document) == comparable(local.document)


def test_a_version_that_does_not_exist(server: Server, checkpointed: Path) -> None:
    ran = explain(server.upload(checkpointed, "beyond", only="_delta_log"), "--at-version", "77", *server.flags())
    assert (ran.code, ran.out) == (3, "")
    assert "error[LP312]" in ran.err


@pytest.fixture
def with_sidecars(tmp_path: Path) -> Path:
    log = Log(tmp_path / "table").commit(0, *HEAD)
    for version in (1, 2, 3):
        log.commit(version, add(f"f{version}", bounds(version, version)))
    sidecars = [{"sidecar": {"path": f"{number}.parquet"}} for number in range(3)]
    log.checkpoint(3, *HEAD, *sidecars, name=f"{3:020}.checkpoint.{UUID}.parquet")
    for number in range(3):
        log.sidecar(f"{number}.parquet", add(f"f{number + 1}", bounds(number + 1, number + 1)))
    for number in range(40):
        log.sidecar(f"old-{number}.parquet", add("old"))
    log.hint('{"version": 3, "size": 3}')
    return log.commit(4, add("f4", bounds(4, 4))).path


def test_sidecars_cost_one_listing_and_only_those_in_use(server: Server, proxy: Proxy, with_sidecars: Path) -> None:
    url = server.upload(with_sidecars, "sidecars")
    flags = ["-w", "x >= 3", "--verbose", "--format", "json", *server.behind(proxy.port).flags()]
    first = explain(url, *flags).document
    assert comparable(first) == comparable(explain(str(with_sidecars), *flags[:5]).document)
    assert first["fetched"]["requests"] == len(proxy.seen) == 8  # hint, listing, checkpoint, commit, listing, three sidecars
    assert not any("old-" in request.path for request in proxy.seen)
    proxy.forget()
    assert explain(url, *flags).document["fetched"]["requests"] == len(proxy.seen) == 3


def test_a_missing_sidecar_is_noticed(server: Server, with_sidecars: Path) -> None:
    url = server.upload(with_sidecars, "no-sidecar")
    server.delete("no-sidecar/_delta_log/_sidecars/1.parquet")
    document = explain(url, "--format", "json", *server.flags()).document
    assert document["total_files"] == 4, "the commits still tell them all"
    assert [note["code"] for note in document["notes"]] == ["checkpoint_unusable"]


def test_a_damaged_commit_is_named_by_its_address(s3: Server, local_users: Path) -> None:
    url = s3.upload(local_users, "damaged-commit")
    s3.put("damaged-commit/_delta_log/00000000000000000004.json", b'{"add": {"path": \n')
    ran = explain(url, *s3.flags())
    assert (ran.code, ran.out) == (3, "")
    assert f"{url}/_delta_log/00000000000000000004.json, line 1" in ran.err


def test_a_log_longer_than_a_page(s3: Server, s3_proxy: Proxy, tmp_path: Path) -> None:
    log = Log(tmp_path / "long")
    log.checkpoint(1_000, *HEAD, *(add(f"f{number}", bounds(number, number)) for number in range(1_000)))
    url = s3.upload(log.path, "long")
    for version in range(1_001):
        s3.put(f"long/_delta_log/{version:020}.json", b"{}")
    ran = explain(url, "-w", "x = 700", "--verbose", "--limit", "0", "--format", "json", *s3.behind(s3_proxy.port).flags())
    assert ran.document["final_files"] == 1
    assert ran.document["fetched"]["requests"] == len(s3_proxy.seen) == 4  # the missing hint, two pages, the checkpoint


def test_every_file_above_one_part_is_put_together_right(s3: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lakeprune.storage.fetch.PART", 1000)
    actions = [add(f"f{number}", bounds(number, number)) for number in range(200)]
    path = Log(tmp_path / "parts").commit(0, *HEAD, *actions).path
    assert (path / "_delta_log" / f"{0:020}.json").stat().st_size > 20_000
    remote = explain(s3.upload(path, "parts"), "-w", "x > 150", "--format", "json", "--verbose", *s3.flags()).document
    assert remote["fetched"]["requests"] == 2 + -(-remote["fetched"]["bytes"] // 1000)
    assert comparable(remote) == comparable(explain(str(path), "-w", "x > 150", "--format", "json", "--verbose").document)


def test_an_empty_commit_is_refused_as_it_is_locally(s3: Server, tmp_path: Path) -> None:
    path = Log(tmp_path / "empty").commit(0, *HEAD).commit(1).path
    ran = explain(s3.upload(path, "empty"), *s3.flags())
    assert (ran.code, ran.out) == (3, "")
    assert "error[LP307]" in ran.err


def test_absolute_paths_inside_the_table_are_its_own(s3: Server, tmp_path: Path) -> None:
    log = Log(tmp_path / "absolute").commit(0, *HEAD, add("f1", bounds(1, 1)))
    url = s3.url("absolute")
    log.commit(1, {"remove": {"path": f"{url}/f1", "dataChange": True}}, add("f2", bounds(2, 2)))
    document = explain(s3.upload(log.path, "absolute"), "--verbose", "--format", "json", *s3.flags()).document
    assert [file["path"] for file in document["files"]] == ["f2"]
    assert json.dumps(document).count(url) == 1


def test_a_damaged_checkpoint_is_noted_in_the_words_of_the_local_run(s3: Server, checkpointed: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged"
    shutil.copytree(checkpointed, damaged)
    (damaged / "_delta_log" / f"{3:020}.checkpoint.parquet").write_bytes(b"PAR1 and then nothing of the kind PAR1")
    remote = explain(s3.upload(damaged, "words", only="_delta_log"), "--format", "json", *s3.flags()).document
    assert [note["code"] for note in remote["notes"]] == ["checkpoint_unusable"]
    assert comparable(remote) == comparable(explain(str(damaged), "--format", "json").document)
