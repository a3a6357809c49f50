"""The security table: what a stranger, a former recipient or a recipient of something else tries, and what it gets."""

from __future__ import annotations

import http.client
import json
import logging
import os
import socket
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from msgspec.structs import replace

from demo.delta_log import add, metadata, protocol, write_commit
from lakeprune.apps.sharing.server.app import ROUTES
from lakeprune.apps.sharing.server.config import Recipient, SharedTable
from lakeprune.apps.sharing.server.config_file import LimitsEntry
from lakeprune.apps.sharing.server.keys import KeyRing, key_ring, new_key
from lakeprune.apps.sharing.server.paths import UnsafePath, inside, open_inside
from lakeprune.apps.sharing.server.recipients import TokenBook, add_token, new_token, revoke_tokens
from tests.apps.sharing.server.served import Served, serving, table_path
from tests.apps.sharing.server.shared_tables import part

NAMES = {"share": "share1", "schema": "s", "table": "part"}


@pytest.fixture(scope="module")
def two(tables: dict[str, Path]) -> Iterator[Served]:
    """Two recipients, each with a share of its own."""
    who = {"reader": Recipient("reader", ("share1",)), "other": Recipient("other", ("private",))}
    shared: dict[str, SharedTable | Path] = {
        "part": tables["part"],
        "secret": SharedTable("private", "s", "secret", str(tables["part"]), history=True),
    }
    with serving(shared, who) as running:
        yield running


@pytest.mark.parametrize(("method", "path"), [(method, path) for method, path, _ in ROUTES])
@pytest.mark.parametrize(
    "header",
    [
        {},
        {"Authorization": ""},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer "},
        {"Authorization": "Bearer wrong"},
        {"Authorization": "Basic cmVhZGVyOng="},
        {"Authorization": "Bearer " + "x" * 4000},
        {"Authorization": "Bearer \xff\xfe"},
    ],
)
def test_every_route_wants_a_token(served: Served, method: str, path: str, header: dict[str, str]) -> None:
    served.service.failures._levels.clear()
    answer = served.ask(method, path.format(**NAMES), who=None, headers=header)
    assert answer.status == 401
    assert answer.headers["www-authenticate"] == "Bearer"


def test_two_tokens_are_none(served: Served) -> None:
    with socket.create_connection(("127.0.0.1", served.port)) as raw:
        token = served.tokens["reader"]
        header = f"Authorization: Bearer {token}\r\n"
        raw.sendall(f"GET /delta-sharing/shares HTTP/1.1\r\nHost: x\r\n{header}{header}\r\n".encode())
        assert b" 401 " in raw.recv(100)


@pytest.mark.parametrize(("method", "path"), [(m, p) for m, p, _ in ROUTES if "{share}" in p])
def test_what_belongs_to_others_is_what_does_not_exist(two: Served, method: str, path: str) -> None:
    """The same status, headers and body for both, but for the id of the request."""

    def ask(share: str, table: str) -> tuple[Any, ...]:
        answer = two.ask(method, path.format(share=share, schema="s", table=table))
        body = {} if method == "HEAD" else {key: value for key, value in answer.json.items() if key != "details"}
        return answer.status, body, sorted(set(answer.headers) - {"date"})

    assert ask("private", "secret") == ask("nowhere", "nothing")
    assert ask("private", "secret")[0] == 404
    assert two.get("/shares").json["items"][0]["name"] == "share1"
    assert len(two.get("/shares").json["items"]) == 1


def url_of(served: Served, who: str = "reader", table: str = "part") -> str:
    url: str = served.query(table, who=who).files[0]["url"]
    return url


def changed(url: str, **parameters: str) -> str:
    head, _, query = url.partition("?")
    given = dict(pair.split("=", 1) for pair in query.split("&"))
    return f"{head}?{'&'.join(f'{key}={value}' for key, value in {**given, **parameters}.items())}"


def with_payload(url: str, index: int, value: Any) -> str:
    head, _, query = url.partition("?")
    start, _, payload = head.rpartition("/")
    inner = json.loads(urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    inner[index] = value
    return f"{start}/{urlsafe_b64encode(json.dumps(inner).encode()).decode().rstrip('=')}?{query}"


def test_a_url_that_was_changed_anywhere_is_refused(served: Served) -> None:
    served.service.failures._levels.clear()
    url = url_of(served)
    later = str(int(time.time()) + 10**6)
    tampered = [
        changed(url, se=later),
        changed(url, se=""),
        changed(url, se="x"),
        changed(url, sig="0" * 64),
        changed(url, sig=""),
        changed(url, kid="other"),
        changed(url, kid=""),
        changed(url, sig="\xe9".encode().hex()),
        url.partition("?")[0],
        with_payload(url, 0, "someone"),
        with_payload(url, 1, "share1.s.dv"),
        with_payload(url, 3, 0),
        with_payload(url, 4, "../dv/part-00000.parquet"),
        with_payload(url, 4, "_delta_log/00000000000000000000.json"),
        with_payload(url, 5, 1),
        url.replace("/files/", "/files/A"),
    ]
    assert [served.fetch(each).status for each in tampered] == [403] * len(tampered)
    assert served.fetch(url).status == 200


def test_urls_take_get_and_head_only(served: Served) -> None:
    url = url_of(served)
    assert [served.fetch(url, method=method).status for method in ("POST", "PUT", "DELETE", "PATCH")] == [405] * 4


def test_an_expired_url_is_403(tables: dict[str, Path]) -> None:
    with serving({"part": tables["part"]}, url_lifetime=-5) as served:
        answer = served.fetch(url_of(served))
        assert answer.status == 403
        assert "expired" in answer.json["message"]


def test_keys_rotate_without_breaking_what_is_under_way(tables: dict[str, Path]) -> None:
    old, new = key_ring(new_key()), key_ring(new_key())
    with serving({"part": tables["part"]}, keys=old) as served:
        url = url_of(served)
        config = served.service.setup.config
        served.service.reload(replace(config, keys=KeyRing((*new.keys, *old.keys))))
        assert served.fetch(url).status == 200
        assert f"kid={new.keys[0].id}" in url_of(served)
        served.service.reload(replace(config, keys=new))
        assert served.fetch(url).status == 403


def test_a_recipient_that_lost_its_grant_or_its_restriction_changed_has_no_urls(tables: dict[str, Path]) -> None:
    with serving({"part": tables["part"]}) as served:
        url = url_of(served)
        config = served.service.setup.config
        served.service.reload(
            replace(config, recipients={"reader": Recipient("reader", ("share1",), {"share1.s.part": "d > ''"})})
        )
        assert served.fetch(url).status == 403
        served.service.reload(replace(config, recipients={"reader": Recipient("reader", ())}))
        assert served.fetch(url).status == 403
        assert served.query("part").status == 404
        served.service.reload(replace(config, recipients={}))
        assert served.query("part").status == 401


def test_a_revoked_token_is_refused_at_once_and_its_urls_too(tables: dict[str, Path], tmp_path: Path) -> None:
    path = str(tmp_path / "tokens.json")
    token, issued = new_token("reader", None)
    second, other = new_token("reader", None)
    for each in (issued, other):
        add_token(path, each)
    with serving({"part": tables["part"]}) as served:
        served.service.setup = replace(served.service.setup, tokens=TokenBook(path))
        mine, theirs = ({"Authorization": f"Bearer {each}"} for each in (token, second))
        url = served.query("part", who=None, headers=mine).files[0]["url"]
        assert served.fetch(url).status == 200
        assert revoke_tokens(path, "reader", issued.id) == 1
        assert served.query("part", who=None, headers=mine).status == 401
        assert served.fetch(url).status == 403
        assert served.query("part", who=None, headers=theirs).status == 200
    assert token not in Path(path).read_text(encoding="utf-8")
    assert os.stat(path).st_mode & 0o077 == 0


def test_tokens_expire(tables: dict[str, Path]) -> None:
    token, issued = new_token("reader", -1)
    with serving({"part": tables["part"]}) as served:
        served.service.setup = replace(served.service.setup, tokens=TokenBook(None, (issued,)))
        assert served.query("part", who=None, headers={"Authorization": f"Bearer {token}"}).status == 401


@pytest.mark.parametrize(
    "recorded",
    [
        "../x",
        "..%2fx",
        "%2e%2e/x",
        "a/../../x",
        "/etc/passwd",
        "file:///etc/passwd",
        "s3://bucket/x",
        "a\\b",
        "a%00b",
        "a//b",
        "./a",
        "",
        "_delta_log/00000000000000000000.json",
        "%5fdelta_log/0.json",
        "C:/x",
        "abfss:x",
        "a%ffb",
    ],
)
def test_no_path_leads_out_of_the_table(recorded: str) -> None:
    with pytest.raises(UnsafePath):
        inside(recorded, "/lake/t")


def test_a_path_is_decoded_once(tmp_path: Path) -> None:
    assert inside("a%2520b", "/t") == "a%20b"
    assert inside("/lake/t/a.parquet", "/lake/t") == "a.parquet"
    (tmp_path / "t" / "_delta_log").mkdir(parents=True)
    (tmp_path / "outside").write_text("x", encoding="utf-8")
    (tmp_path / "t" / "link").symlink_to(tmp_path / "outside")
    (tmp_path / "t" / "log").symlink_to(tmp_path / "t" / "_delta_log")
    (tmp_path / "t" / "_delta_log" / "0.json").write_text("x", encoding="utf-8")
    for path in ("link", "log/0.json", "_delta_log/0.json"):
        with pytest.raises(UnsafePath):
            open_inside(str(tmp_path / "t"), path)


@pytest.mark.parametrize("path", ["/somewhere/else/a.parquet", "../other/a.parquet", "s3://bucket/a.parquet"])
def test_a_table_with_files_outside_is_refused_as_a_whole(tmp_path: Path, path: str) -> None:
    (tmp_path / "t" / "_delta_log").mkdir(parents=True)
    write_commit(tmp_path / "t" / "_delta_log", 0, [protocol(), metadata({"id": "integer"}), add("a.parquet"), add(path)])
    with serving({"t": tmp_path / "t"}) as served:
        answer = served.query("t")
        assert (answer.status, answer.json["errorCode"]) == (400, "UNSUPPORTED_OPERATION")
        assert path not in answer.body.decode()


def test_an_error_in_a_stream_is_its_last_line_or_the_end_of_the_connection(tmp_path: Path) -> None:
    (tmp_path / "t" / "_delta_log").mkdir(parents=True)
    adds = [add(f"{number:04}.parquet") for number in range(3000)]
    write_commit(tmp_path / "t" / "_delta_log", 0, [protocol(), metadata({"id": "integer"}), *adds, add("zz/../../x.parquet")])
    with serving({"t": tmp_path / "t"}) as served:
        end = served.query("t", {"includeRefreshToken": True}).end
        assert end is not None
        assert "cannot be shared" in end["errorMessage"]
        assert "refreshToken" not in end
        with pytest.raises(http.client.IncompleteRead):
            served.query("t")


def test_links_and_sizes_that_disagree_are_not_sent(tmp_path: Path) -> None:
    path = part(tmp_path / "t")
    with serving({"t": path}) as served:
        url = served.query("t").files[0]["url"]
        (file,) = (path / "d=2021-04-28").iterdir()
        content = file.read_bytes()
        file.write_bytes(content + b"more")
        assert (served.fetch(url).status, served.fetch(url).json["message"]) == (500, "")
        file.unlink()
        assert served.fetch(url).status == 404
        (tmp_path / "outside").write_bytes(content)
        file.symlink_to(tmp_path / "outside")
        assert served.fetch(url).status == 404


def test_requests_of_one_recipient_are_limited(tables: dict[str, Path]) -> None:
    who = {name: Recipient(name, ("share1",)) for name in ("reader", "calm")}
    with serving({"part": tables["part"]}, who, limits=LimitsEntry(requests_per_second=1, burst=5)) as served:
        statuses = [served.get("/shares").status for _ in range(8)]
        assert statuses[:5] == [200] * 5
        assert 429 in statuses
        refused = served.get("/shares")
        assert refused.status == 429
        assert int(refused.headers["retry-after"]) >= 1
        assert served.get("/shares", who="calm").status == 200


def test_fetches_of_one_recipient_are_limited(tables: dict[str, Path]) -> None:
    who = {name: Recipient(name, ("share1",)) for name in ("reader", "calm")}
    with serving({"part": tables["part"]}, who, limits=LimitsEntry(fetches_per_second=1)) as served:
        url, other = url_of(served), url_of(served, "calm")
        statuses = [served.fetch(url, headers={"Range": "bytes=0-3"}).status for _ in range(12)]
        assert statuses[:2] == [206] * 2
        assert 429 in statuses
        refused = served.fetch(url)
        assert (refused.status, refused.headers["retry-after"]) == (429, "1")
        assert served.fetch(other).status == 200, "others are not"
        assert served.query("part").status == 200, "nor are its questions"


def test_forged_urls_of_one_address_are_limited(tables: dict[str, Path]) -> None:
    with serving({"part": tables["part"]}, limits=LimitsEntry(failed_logins_per_minute=3)) as served:
        url = url_of(served)
        forged = changed(url, sig="0" * 64)
        assert [served.fetch(forged).status for _ in range(5)] == [403] * 3 + [429] * 2
        assert served.fetch(url).status == 200, "who has a signed one is not locked out by others"


def test_guesses_of_one_address_are_limited(tables: dict[str, Path]) -> None:
    with serving({"part": tables["part"]}, limits=LimitsEntry(failed_logins_per_minute=3)) as served:
        wrong = {"Authorization": "Bearer wrong"}
        assert [served.get("/shares", who=None, headers=wrong).status for _ in range(5)] == [401] * 3 + [429] * 2
        assert served.get("/shares").status == 200, "who has a token is not locked out by others"


def test_no_answer_and_no_log_line_holds_a_path_a_token_or_a_signature(
    tables: dict[str, Path], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    with serving({"part": tables["part"], "gone": tables["part"].parent / "nothing here"}) as served:
        url = url_of(served)
        answers = [
            served.query("part", {"predicateHints": ["id > 1\r\nX-Evil: 1", "x" * 100]}),
            served.query("part", {"version": 99}),
            served.query("gone"),
            served.get(f"{table_path('gone')}/metadata"),
            served.fetch(changed(url, sig="0" * 64)),
            served.fetch(url, method="HEAD"),
            served.get("/shares", who=None, headers={"Authorization": "Bearer hush"}),
            served.get("/nowhere"),
        ]
        reported = b"".join(answer.body + repr(answer.headers).encode() for answer in answers).decode()
        root, token, signature = str(tables["part"].parent), served.tokens["reader"], url.rpartition("sig=")[2]
    lines = [record.getMessage() for record in caplog.records if record.name == "lakeprune.sharing.audit"]
    for secret in (token, "hush"):
        assert secret not in reported
        assert secret not in caplog.text
    assert signature not in caplog.text
    assert root not in reported
    assert not any(root in line for line in lines)
    assert len(lines) == 9
    assert all("\n" not in line and "\r" not in line and json.loads(line)["status"] for line in lines)
    hinted = next(about for about in map(json.loads, lines) if "ignored" in about)  # lines of streams may change places
    assert (hinted["recipient"], hinted["table"], hinted["version"]) == ("reader", "share1.s.part", 2)
    assert hinted["ignored"]


def test_metrics_are_for_loopback_and_health_for_everybody(served: Served) -> None:
    assert served.get("/healthz", prefix="", who=None).body == b"ok\n"
    answer = served.get("/metrics", prefix="", who=None)
    assert answer.headers["content-type"].startswith("application/openmetrics-text")
    assert answer.body.endswith(b"# EOF\n")
    assert b"lakeprune_sharing_requests_total{" in answer.body
    assert served.tokens["reader"].encode() not in answer.body


def test_answers_are_not_cached_and_name_no_referrer(served: Served) -> None:
    for answer in (served.get("/shares"), served.query("part"), served.fetch(url_of(served)), served.get("/shares/x")):
        assert answer.headers["cache-control"] == "private, no-store"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["x-content-type-options"] == "nosniff"
    assert urlsplit(url_of(served)).hostname == "127.0.0.1", "URLs are made from the endpoint, never from a Host header"
    lied = served.query("part", headers={"Host": "evil.example"}).files[0]["url"]
    assert urlsplit(lied).hostname == "127.0.0.1"
