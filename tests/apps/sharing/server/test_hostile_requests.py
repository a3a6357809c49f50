"""Requests of strangers: ranges, bodies, headers and names that no client of good will sends."""

from __future__ import annotations

import json
import socket

import pytest

from tests.apps.sharing.server.served import Served, table_path


@pytest.mark.parametrize(
    ("header", "status", "length"),
    [
        ("bytes=0-3", 206, 4),
        ("bytes=-4", 206, 4),
        ("bytes=4-", 206, -4),
        ("bytes=0-999999999999999999999999", 206, 0),
        ("BYTES=0-0", 206, 1),
        ("bytes=-99999999", 206, 0),
        ("bytes=5-2", 416, None),
        ("bytes=99999999-", 416, None),
        ("bytes=-0", 416, None),
        ("bytes=0-1,3-4", 416, None),
        ("bytes=a-b", 200, 0),
        ("bytes=", 200, 0),
        ("items=0-1", 200, 0),
        ("bytes=--5", 200, 0),
        ("bytes=" + "9" * 300, 200, 0),
    ],
)
def test_ranges(served: Served, header: str, status: int, length: int | None) -> None:
    file = served.query("part").files[0]
    answer = served.fetch(file["url"], headers={"Range": header})
    assert answer.status == status
    if length is None:
        assert answer.headers["content-range"] == f"bytes */{file['size']}"
        return
    expected = length if length > 0 else file["size"] + length
    assert len(answer.body) == expected == int(answer.headers["content-length"])
    assert answer.headers["accept-ranges"] == "bytes"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"x" * (2 << 20), 413),
        (b"[" * 100_000, 400),
        (b'{"version":' + b"1" * 1_000_000 + b"}", 400),
        (b"{", 400),
        (b"[]", 400),
        (b"7", 400),
        (b'{"limitHint":NaN}', 400),
        (b'{"limitHint":Infinity}', 400),
        (b"\xff\xfe", 400),
        (b'{"version":0,"version":1}', 200),
        (b'{"predicateHints":"x","jsonPredicateHints":{"a":1}}', 200),
        (b'{"predicateHints":[null,[],"id > 1"]}', 200),
        (b'{"predicateHints":["s = \'\\ud800\'"],"limitHint":0}', 200),
        (b'{"jsonPredicateHints":"\\uDFFF"}', 200),
        (b'{"\\ud800":"\\ud800"}', 200),
        (b'{"pageToken":"\\ud800.a.b","maxFiles":1}', 400),
        (b'{"timestamp":"\\ud800"}', 400),
        (b'{"a":"\\ud800","b":NaN}', 400),
        (b'{"a":"\\ud800","b":' + b"1" * 1_000_000 + b"}", 400),
        (b'{"a":"\\ud800","b":' + b"[" * 100_000, 400),
        (json.dumps({"jsonPredicateHints": '{"op":"not","children":[' * 50_000}).encode()[: 1 << 20], 400),
        (json.dumps({"jsonPredicateHints": '{"op":"not","children":[' * 20_000}).encode(), 200),
    ],
)
def test_bodies_of_strangers(served: Served, body: bytes, status: int) -> None:
    try:
        assert served.query("part", body).status == status
    except ConnectionError:  # a body that is refused while it is sent
        assert status == 413


def test_half_a_surrogate_pair_in_a_hint_ignores_the_hint(served: Served) -> None:
    answer = served.query("part", b'{"predicateHints":["s = \'\\ud800\'"],"limitHint":0}')
    assert answer.headers["x-lakeprune-hints"] == "sql=ignored;files=3/3"
    answer = served.query("part", b'{"jsonPredicateHints":"\\ud800","predicateHints":["id > 25"]}')
    assert answer.headers["x-lakeprune-hints"] == "json=ignored;sql=applied;files=1/3"


def test_a_body_without_a_length_is_capped_too(served: Served) -> None:
    with socket.create_connection(("127.0.0.1", served.port)) as raw:
        head = f"POST /delta-sharing{table_path('part')}/query HTTP/1.1\r\nHost: x\r\n"
        raw.sendall(f"{head}Authorization: Bearer {served.tokens['reader']}\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
        piece = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
        try:
            for _ in range(40):
                raw.sendall(piece)
        except ConnectionError:
            return
        assert b" 413 " in raw.recv(200)


def test_encoded_bodies_long_urls_and_many_headers_are_refused(served: Served) -> None:
    assert served.query("part", b"\x1f\x8b", headers={"Content-Encoding": "gzip"}).status == 415
    assert served.get(f"/shares?pageToken={'x' * 9000}").status == 414
    assert served.get("/shares", headers={f"x-{number}": "y" * 1000 for number in range(40)}).status in (400, 431)


def test_names_may_be_encoded_twice_and_are_short(served: Served) -> None:
    assert served.get("/shares/share1/schemas/s/tables/p%61rt/version").status == 200
    assert served.get("/shares/share1/schemas/s/tables/p%2561rt/version").status == 200
    for name in ("..%2f..%2fpart", "part%00", "x" * 300, "%2e%2e"):
        assert served.get(f"/shares/share1/schemas/s/tables/{name}/version").status == 404


def test_the_head_of_a_file_has_its_length_and_nothing_of_it(served: Served) -> None:
    file = served.query("part").files[0]
    whole = served.fetch(file["url"], method="HEAD")
    assert (whole.status, whole.body, whole.headers["content-length"]) == (200, b"", str(file["size"]))
    assert (whole.headers["accept-ranges"], whole.headers["content-type"]) == ("bytes", "application/octet-stream")
    part = served.fetch(file["url"], method="HEAD", headers={"Range": "bytes=4-7"})
    assert (part.status, part.headers["content-length"]) == (206, "4")
    assert part.headers["content-range"] == f"bytes 4-7/{file['size']}"
