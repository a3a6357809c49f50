"""Connections of strangers: heads that never end, readers that take nothing, pages that another site loads."""

from __future__ import annotations

import http.client
import json
import logging
import socket
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from msgspec.structs import replace

from demo.delta_log import add, metadata, protocol, statistics, write_commit
from lakeprune.apps.sharing.server import app, run
from lakeprune.apps.sharing.server.config import Recipient
from lakeprune.apps.sharing.server.config_file import LimitsEntry
from lakeprune.apps.sharing.server.connection import Impatient
from lakeprune.apps.sharing.server.recipients import TokenBook, new_token
from tests.apps.sharing.server.served import Served, serving, table_path


def ended(raw: socket.socket) -> bool:
    """Whether the server ends the connection; it has half a minute, and tests give it less than a second."""
    raw.settimeout(30)
    try:
        while raw.recv(1 << 20):
            pass
    except TimeoutError:
        return False
    except ConnectionError:
        return True
    return True


def head(served: Served, path: str = "/shares", method: str = "GET", more: str = "") -> bytes:
    token = served.tokens["reader"]
    return f"{method} /delta-sharing{path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n{more}\r\n".encode()


def test_who_never_ends_its_head_is_cut_off(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Impatient, "patience", 0.3)
    address = ("127.0.0.1", served.port)
    with socket.create_connection(address) as silent, socket.create_connection(address) as partial:
        partial.sendall(b"GET /delta-sharing/shares HTTP/1.1\r\nHost: x\r\n")
        assert ended(silent)
        assert ended(partial)
    with socket.create_connection(address) as second:
        second.sendall(head(served))
        assert b" 200 " in second.recv(100)
        second.sendall(b"GET /delta-sharing/shares HT")
        assert ended(second), "the second request of a connection, too"


def test_who_sends_whole_requests_keeps_its_connection(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Impatient, "patience", 0.2)
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=30)
    connection.auto_open = 0  # a connection that was cut off is not made again
    connection.connect()
    for _ in range(3):
        connection.request("GET", "/healthz")
        assert connection.getresponse().read() == b"ok\n"
        time.sleep(0.4)
    connection.close()


def test_a_reader_that_takes_nothing_loses_its_connection_and_leaves_no_traceback(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    log = tmp_path / "t" / "_delta_log"
    log.mkdir(parents=True)
    adds = [add(f"{number:05}-{'x' * 900}.parquet") for number in range(20_000)]
    write_commit(log, 0, [protocol(), metadata({"id": "integer"}), *adds])
    with serving({"t": tmp_path / "t"}, limits=LimitsEntry(seconds_per_write=1)) as served, socket.socket() as raw:
        raw.connect(("127.0.0.1", served.port))
        raw.sendall(head(served, f"{table_path('t')}/query", "POST", "Content-Length: 2\r\n") + b"{}")
        while "took nothing" not in caplog.text:
            assert served.get("/healthz", prefix="").status == 200
        assert ended(raw)
    assert "Traceback" not in caplog.text
    assert not [record for record in caplog.records if record.exc_info]


def test_a_server_that_ends_does_not_wait_for_ever_for_a_reader_and_leaves_no_traceback(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "DRAIN", 1)
    (tmp_path / "t" / "_delta_log").mkdir(parents=True)
    (tmp_path / "t" / "a.parquet").write_bytes(bytes(1 << 25))
    write_commit(tmp_path / "t" / "_delta_log", 0, [protocol(), metadata({"id": "integer"}), add("a.parquet", size=1 << 25)])
    with socket.socket() as raw:
        with serving({"t": tmp_path / "t"}) as served:
            url = urlsplit(served.query("t").files[0]["url"])
            raw.connect(("127.0.0.1", served.port))
            raw.sendall(f"GET {url.path}?{url.query} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            assert b" 200 " in raw.recv(100)
        assert ended(raw)
    assert "the server ended" in caplog.text
    assert not [record for record in caplog.records if record.exc_info]


def test_a_body_that_trickles_in_is_not_waited_for(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "SLOWEST_BODY", 0.3)
    with socket.create_connection(("127.0.0.1", served.port)) as raw:
        raw.settimeout(20)
        raw.sendall(head(served, f"{table_path('part')}/query", "POST", "Content-Length: 100\r\n") + b"{")
        assert b" 408 " in raw.recv(200)
    assert served.query("part").status == 200


def test_a_body_that_says_it_is_too_large_is_not_waited_for(served: Served) -> None:
    with socket.create_connection(("127.0.0.1", served.port)) as raw:
        raw.settimeout(20)
        raw.sendall(head(served, f"{table_path('part')}/query", "POST", "Content-Length: 99999999999\r\n") + b"{")
        assert b" 413 " in raw.recv(200)


def test_without_tokens_only_addresses_of_this_machine_are_answered(tables: dict[str, Path]) -> None:
    """A page of a foreign site whose name leads to 127.0.0.1 is asked for by the browser with that name."""
    who = {"reader": Recipient("reader", ("share1",))}
    with serving({"part": tables["part"]}, who) as served:
        _, anonymous = new_token("reader", None)
        served.service.anonymous = anonymous
        served.service.setup = replace(served.service.setup, tokens=TokenBook(None, (anonymous,)))

        def status(host: str) -> int:
            return served.get("/shares", who=None, headers={"Host": host}).status

        assert [status(host) for host in ("127.0.0.1", f"127.0.0.1:{served.port}", "localhost:80", "[::1]:80")] == [200] * 4
        assert [status(host) for host in ("evil.example", "evil.example:80", "127.0.0.1.evil.example", "")] == [401] * 4


def test_numbers_are_not_for_who_comes_through_a_proxy(served: Served) -> None:
    assert served.get("/metrics", prefix="", who=None).status == 200
    for header in ("X-Forwarded-For", "Forwarded", "X-Real-IP", "Via"):
        assert served.get("/metrics", prefix="", who=None, headers={header: "203.0.113.9"}).status == 404


def audit(caplog: pytest.LogCaptureFixture, count: int) -> list[str]:
    """So many audit lines, which are written after the answers."""
    while True:
        lines = [record.getMessage() for record in caplog.records if record.name == "lakeprune.sharing.audit"]
        if len(lines) >= count:
            return lines
        time.sleep(0.01)


def test_a_request_cannot_fill_the_log(served: Served, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    served.query("part", {"predicateHints": [f"nonsense (( {'z' * 200}{number}" for number in range(100)]})
    served.ask("A" * 5000, "/shares")
    lines = audit(caplog, 2)
    assert max(map(len, lines)) < 8000
    assert "95 more" in next(line for line in lines if "ignored" in line)


def test_bytes_of_every_answer_are_counted(served: Served, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    size = len(served.get("/shares").body)
    (line,) = audit(caplog, 1)
    assert json.loads(line)["bytes"] == size > 0


def test_a_recipient_that_asks_for_much_leaves_room_for_others(tables: dict[str, Path]) -> None:
    """Its questions wait, all of them; the question of another recipient is answered in the meantime."""
    who = {name: Recipient(name, ("share1",)) for name in ("busy", "calm")}
    with serving({"part": tables["part"], "nulls": tables["nulls"]}, who, limits=LimitsEntry(plans=2)) as served:
        slow = served.service.setup.grants.table(who["busy"], "share1.s.part").table
        asked = [threading.Thread(target=served.query, args=("part",), kwargs={"who": "busy"}) for _ in range(6)]
        with served.service.tables._place(slow).lock:
            for thread in asked:
                thread.start()
            while served.service.metrics.open_requests < len(asked):
                time.sleep(0.01)
            assert served.query("nulls", who="calm").status == 200
        for thread in asked:
            thread.join(30)
            assert not thread.is_alive()


def test_a_recipient_that_fetches_much_leaves_room_for_others(tmp_path: Path) -> None:
    (tmp_path / "t" / "_delta_log").mkdir(parents=True)
    (tmp_path / "t" / "a.parquet").write_bytes(bytes(1 << 25))
    write_commit(tmp_path / "t" / "_delta_log", 0, [protocol(), metadata({"id": "integer"}), add("a.parquet", size=1 << 25)])
    who = {name: Recipient(name, ("share1",)) for name in ("busy", "calm")}
    with serving({"t": tmp_path / "t"}, who, limits=LimitsEntry(streams=4)) as served:
        urls = {name: urlsplit(served.query("t", who=name).files[0]["url"]) for name in who}
        held = []
        for _ in range(3):
            raw = socket.create_connection(("127.0.0.1", served.port))
            raw.sendall(f"GET {urls['busy'].path}?{urls['busy'].query} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            assert b" 200 " in raw.recv(100)
            held.append(raw)
        assert served.fetch(urls["busy"].geturl(), headers={"Range": "bytes=0-9"}).status == 429
        assert served.fetch(urls["calm"].geturl(), headers={"Range": "bytes=0-9"}).status == 206
        for raw in held:
            raw.close()


def test_a_recipient_that_holds_many_long_answers_leaves_room_for_others(tmp_path: Path) -> None:
    """A long answer is sorted by the engine before it is sent, and held until it is read; a short one holds nothing."""
    log = tmp_path / "t" / "_delta_log"
    log.mkdir(parents=True)
    adds = [add(f"{number:05}-{'x' * 400}.parquet", statistics(1, id=(number, number, 0))) for number in range(10_000)]
    write_commit(log, 0, [protocol(), metadata({"id": "integer"}), *adds])
    who = {name: Recipient(name, ("share1",)) for name in ("reader", "calm")}
    with serving({"t": tmp_path / "t"}, who, limits=LimitsEntry(streams=8)) as served:
        held = []
        for _ in range(3):
            raw = socket.create_connection(("127.0.0.1", served.port))
            raw.sendall(head(served, f"{table_path('t')}/query", "POST", "Content-Length: 2\r\n") + b"{}")
            assert b" 200 " in raw.recv(100)
            held.append(raw)
        refused = served.query("t")
        assert (refused.status, refused.headers["retry-after"]) == (429, "1")
        assert len(served.query("t", {"predicateHints": ["id < 3"]}).files) == 3
        assert len(served.query("t", who="calm").files) == 10_000
        for raw in held:
            raw.close()
        while served.service.metrics.open_requests:
            time.sleep(0.01)
        assert len(served.query("t").files) == 10_000
