"""The same table in S3, Azure and GCS: the same answer as on this machine, from its log alone."""

from __future__ import annotations

from pathlib import Path

import pytest

import lakeprune
from tests.storage.proxy import Fate, Proxy, Request
from tests.storage.running import comparable, explain, explain_in_a_process
from tests.storage.servers import Server

PREDICATE = "country = 'DE' AND age > 40"


def test_the_document_is_that_of_the_local_run(server: Server, local_users: Path) -> None:
    url = server.upload(local_users, "same")
    remote = explain_in_a_process(url, "-w", PREDICATE, "--verbose", "--format", "json", *server.flags())
    local = explain_in_a_process(str(local_users), "-w", PREDICATE, "--verbose", "--format", "json")
    assert (remote.code, remote.err) == (0, "")
    assert comparable(remote.document) == comparable(local.document)
    assert remote.document["table"] == url
    assert "fetched" not in local.document


def test_python_takes_storage_options(server: Server, local_users: Path, tmp_path: Path) -> None:
    url = server.upload(local_users, "python")
    report = lakeprune.explain(url, PREDICATE, storage_options=server.options, cache_dir=tmp_path)
    assert comparable(report.to_dict(verbose=True)) == comparable(lakeprune.explain(local_users, PREDICATE).to_dict(verbose=True))
    reports = lakeprune.explain_many(url, ["age > 40", "age < 20"], storage_options=server.options, cache_dir=tmp_path)
    assert [report.numbers.kept.files for report in reports] == [3, 1]


def test_only_the_log_is_listed_and_read(server: Server, proxy: Proxy, local_users: Path) -> None:
    """The proxy refuses everything else, as a store does whose credentials may not read data files."""
    url = server.upload(local_users, "log-only")

    def refuse_data(request: Request) -> Fate:
        return Fate.SERVE if "log-only/_delta_log/" in request.path else Fate.FORBIDDEN

    proxy.rule = refuse_data
    ran = explain(url, "-w", PREDICATE, "--verbose", *server.behind(proxy.port).flags())
    assert (ran.code, ran.err) == (0, "")
    assert proxy.seen
    assert all("log-only/_delta_log/" in request.path and request.method in ("GET", "HEAD") for request in proxy.seen)


def test_a_second_run_fetches_only_what_is_new(server: Server, proxy: Proxy, local_users: Path) -> None:
    url = server.upload(local_users, "twice")
    flags = ["-w", PREDICATE, "--verbose", "--format", "json", *server.behind(proxy.port).flags()]
    first = explain(url, *flags).document["fetched"]
    assert first["requests"] == len(proxy.seen) == 2 + 6  # the hint, the listing, six commits
    assert first["bytes"] == sum(file.stat().st_size for file in (local_users / "_delta_log").iterdir())
    proxy.forget()
    second = explain(url, *flags).document["fetched"]
    assert second == {"requests": 2, "bytes": 0, "cached_files": 6, "cached_bytes": first["bytes"]}
    assert len(proxy.seen) == 2
    proxy.forget()
    (commit,) = (local_users / "_delta_log").glob("*5.json")
    server.put("twice/_delta_log/00000000000000000006.json", commit.read_bytes())
    third = explain(url, *flags).document
    assert third["version"] == 6
    assert third["fetched"] == {**second, "requests": 3, "bytes": commit.stat().st_size}
    assert len(proxy.seen) == 3


def test_the_text_report_tells_the_traffic_only_when_asked(server: Server, local_users: Path) -> None:
    url = server.upload(local_users, "given")
    assert "Fetched: " not in explain(url, *server.flags()).out
    assert "\nFetched: 2 requests, 0 B; from the cache: 6 files, " in explain(url, "--verbose", *server.flags()).out


def test_a_missing_bucket_is_named(server: Server) -> None:
    ran = explain(server.url("users", bucket="no-such-bucket"), *server.flags(max_retries="0"))
    assert (ran.code, ran.out) == (3, "")
    if server.kind == "gcs":
        assert "error[LP331]" in ran.err  # fake-gcs-server answers 500, not the 404 of the real one
    else:
        assert "error[LP333]" in ran.err
        assert "no-such-bucket" in ran.err


def test_a_place_without_a_table_is_no_table(server: Server) -> None:
    ran = explain(server.url("nothing/here"), *server.flags())
    assert (ran.code, ran.out) == (3, "")
    assert "error[LP305]" in ran.err


@pytest.mark.parametrize("name", ["with space", "ünïcode=1/ß", "100%/a+b", "a&b=c;d,e'f"])
def test_names_of_directories_need_no_care(server: Server, local_users: Path, name: str) -> None:
    server.upload(local_users, name)
    url = server.url(name.replace("%", "%25"))
    assert lakeprune.explain(url, PREDICATE, storage_options=server.options).numbers.kept.files == 1
