"""Stores that stall, cut connections or are out of order: some retries, then exit 3 and what to check; never a wrong answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.storage.proxy import Fate, Proxy, Request
from tests.storage.running import comparable, explain
from tests.storage.servers import Server

IMPATIENT = {"timeout": "300ms", "max_retries": "2"}
FEW, PATIENT = 2, "8s"  # so long that a busy machine serves in time, and waited for so few times
BAD = [fate for fate in Fate if fate not in (Fate.SERVE, Fate.FORBIDDEN)]
# Every way on one store, the three that show a store's own client on the others.
WAYS = [("s3", fate) for fate in BAD]
WAYS += [(kind, fate) for kind in ("azure", "gcs") for fate in (Fate.STALL, Fate.RESET, Fate.UNAVAILABLE)]
WORDS = {
    Fate.STALL: "no answer in time",
    Fate.STALL_BODY: "no answer in time",
    Fate.RESET: "the connection was cut",
    Fate.CUT_BODY: "the connection was cut",
    Fate.UNAVAILABLE: "HTTP 503 SlowDown, 3 attempts",
}


@pytest.mark.parametrize(("server", "fate"), WAYS, indirect=["server"])
def test_a_store_that_stays_bad_ends_with_what_to_check(server: Server, proxy: Proxy, local_users: Path, fate: Fate) -> None:
    url = server.upload(local_users, "bad")
    proxy.rule = lambda _: fate
    ran = explain(url, *server.behind(proxy.port).flags(**IMPATIENT))
    assert (ran.code, ran.out) == (3, "")
    assert "error[LP331]" in ran.err
    assert WORDS[fate] in ran.err
    assert "--option timeout=60s" in ran.err
    assert 1 <= len(proxy.seen) <= 3 * 8


@pytest.mark.parametrize(("server", "fate"), WAYS, indirect=["server"])
def test_a_store_that_is_bad_for_a_moment_is_asked_again(server: Server, proxy: Proxy, local_users: Path, fate: Fate) -> None:
    url = server.upload(local_users, "moment")
    asked: set[str] = set()

    def first_is_bad(request: Request) -> Fate:
        is_new = request.path not in asked
        asked.add(request.path)
        return fate if is_new and len(asked) <= FEW else Fate.SERVE

    proxy.rule = first_is_bad
    ran = explain(url, "-w", "age > 40", "--format", "json", *server.behind(proxy.port).flags(timeout=PATIENT))
    assert (ran.code, ran.err) == (0, "")
    assert comparable(ran.document) == comparable(explain(str(local_users), "-w", "age > 40", "--format", "json").document)


@pytest.mark.parametrize("fate", BAD)
def test_a_failure_in_the_middle_leaves_no_answer_and_no_half_files(
    s3: Server, s3_proxy: Proxy, local_users: Path, tmp_path: Path, fate: Fate
) -> None:
    url = s3.upload(local_users, "middle")
    s3_proxy.rule = lambda request: fate if request.path.endswith("3.json") else Fate.SERVE
    flags = [*s3.behind(s3_proxy.port).flags(timeout=PATIENT, max_retries="1"), "--cache-dir", str(tmp_path / "kept")]
    ran = explain(url, *flags)
    assert (ran.code, ran.out) == (3, "")
    assert "00000000000000000003.json" in ran.err
    assert not list((tmp_path / "kept").rglob("*.part"))
    s3_proxy.rule = lambda _: Fate.SERVE
    assert explain(url, *flags).code == 0


def test_nobody_listens(server: Server) -> None:
    ran = explain(server.url("users"), *server.behind(1).flags(max_retries="1"))
    assert (ran.code, ran.out) == (3, "")
    assert "connection refused, 2 attempts" in ran.err


def test_an_unknown_host(s3: Server) -> None:
    ran = explain(s3.url("users"), *s3.flags(aws_endpoint_url="http://no-such-host.invalid", max_retries="0"))
    assert (ran.code, ran.out) == (3, "")
    assert "error[LP331]" in ran.err


def test_an_object_replaced_between_listing_and_reading_is_noticed(s3: Server, s3_proxy: Proxy, local_users: Path) -> None:
    url = s3.upload(local_users, "replaced")
    commit = next((local_users / "_delta_log").glob("*2.json"))

    def replace_after_listing(request: Request) -> Fate:
        if request.path.endswith("2.json"):
            s3.put("replaced/_delta_log/00000000000000000002.json", commit.read_bytes().replace(b"US", b"XX"))
        return Fate.SERVE

    s3_proxy.rule = replace_after_listing
    ran = explain(url, *s3.behind(s3_proxy.port).flags())
    assert (ran.code, ran.out) == (3, "")
    assert "error[LP335]" in ran.err
