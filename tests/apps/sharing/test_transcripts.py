"""The client against a transcript: the replies of a server in the parquet format, and what goes wrong on a network.

The replies are written by hand, after the protocol and the source of the reference server. They were not recorded from one: its
packages cannot be had where these tests are made.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lakeprune
import lakeprune.sharing
from lakeprune.errors import TableError

SCHEMA = {
    "type": "struct",
    "fields": [
        {"name": "id", "type": "integer", "nullable": True, "metadata": {}},
        {"name": "d", "type": "date", "nullable": True, "metadata": {}},
    ],
}
METADATA = {
    "id": "f8d5c169-3d01-4ca3-ad9e-7dc3355aedb2",
    "format": {"provider": "parquet"},
    "schemaString": json.dumps(SCHEMA),
    "partitionColumns": ["d"],
}
# As the reference server writes them: no size, no numFiles, no echo of capabilities.
HEAD = [{"protocol": {"minReaderVersion": 1}}, {"metaData": METADATA}]


class Replay:
    """Replies by path, one after the other; the last is repeated. `seen` are the requests."""

    def __init__(self) -> None:
        self.replies: dict[str, list[tuple[int, dict[str, str], bytes]]] = {}
        self.seen: list[tuple[str, str, dict[str, str], bytes]] = []

    def answer(
        self, path: str, *lines: Any, status: int = 200, headers: dict[str, str] | None = None, raw: bytes | None = None
    ) -> None:
        body = raw if raw is not None else "".join(json.dumps(line) + "\n" for line in lines).encode()
        self.replies.setdefault(path, []).append((status, {"Delta-Table-Version": "7", **(headers or {})}, body))


@contextmanager
def replaying(tmp_path: Path) -> Iterator[tuple[Replay, str, str]]:
    replay = Replay()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            path = self.path.partition("?")[0]
            replay.seen.append((self.command, path, dict(self.headers), body))
            replies = replay.replies[path.rpartition("/")[2]]
            status, headers, content = replies.pop(0) if len(replies) > 1 else replies[0]
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST  # noqa: N815  # the name that http.server calls

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # its signature
            """Nothing is printed."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    base = f"http://127.0.0.1:{server.server_port}"
    profile = tmp_path / "p.share"
    profile.write_text(
        json.dumps({"shareCredentialsVersion": 1, "endpoint": f"{base}/delta-sharing/", "bearerToken": "secret-token"})
    )
    try:
        yield replay, base, f"{profile}#sh are.s.t".replace(" ", "")
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def file_line(replay: Replay, base: str, name: str, ids: list[int], day: str | None) -> dict[str, Any]:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"id": pa.array(ids, pa.int32())}), sink)
    content = sink.getvalue().to_pybytes()
    replay.answer(name, raw=content)
    stats = {"numRecords": len(ids), "minValues": {"id": min(ids)}, "maxValues": {"id": max(ids)}, "nullCount": {"id": 0}}
    url = f"{base}/files/{name}?X-Amz-Signature=very-secret"
    file = {"url": url, "id": f"id-{name}", "partitionValues": {"d": day}, "size": len(content), "stats": json.dumps(stats)}
    return {"file": file}


def test_a_parquet_answer_is_read_and_the_token_goes_to_the_server_alone(tmp_path: Path) -> None:
    with replaying(tmp_path) as (replay, base, table):
        files = [file_line(replay, base, "a", [1, 2], "2021-04-29"), file_line(replay, base, "b", [3, 4], None)]
        replay.answer("query", *HEAD, *files)
        replay.answer("metadata", *HEAD)
        rows = lakeprune.sharing.read(table, "id >= 2", columns=["d", "id"])
        assert [(row["id"], str(row["d"])) for row in rows.read_all().to_pylist()] == [
            (2, "2021-04-29"),
            (3, "None"),
            (4, "None"),
        ]
        assert (rows.offer.files, rows.offer.version, rows.offer.outcome) == (2, 7, None)
        for method, path, headers, _ in replay.seen:
            is_file = path.startswith("/files/")
            assert ("Authorization" in headers) is not is_file, (method, path)
        body = next(json.loads(body) for _, path, _, body in replay.seen if path.endswith("/query"))
        assert json.loads(body["jsonPredicateHints"])["op"] == "greaterThanOrEqual"
        assert "limitHint" not in body
        assert replay.seen[0][1] == "/delta-sharing/shares/share/schemas/s/tables/t/metadata"
        report = lakeprune.explain(table, "id > 2")
        assert (report.numbers.total.files, report.numbers.kept.files, report.facts.version) == (2, 1, 7)
        (note,) = [note.message for note in report.facts.notes if note.code == "shared_server"]
        assert note.endswith("offers 2 of 2 files; the statistics that it sends allow 1")


def test_what_passes_is_tried_again_and_what_does_not_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr("lakeprune.storage.sharing.client.time.sleep", waits.append)
    with replaying(tmp_path) as (replay, _, table):
        replay.answer("query", status=503)
        replay.answer("query", status=429)
        replay.answer("query", *HEAD)
        assert lakeprune.sharing.read(table).read_all().num_rows == 0
        assert len(waits) == 2
    with replaying(tmp_path) as (replay, _, table):
        replay.answer("query", {"errorCode": "X", "message": "no\u001b[31m table"}, status=400)
        with pytest.raises(TableError, match=r"status 400 \(no \[31m table\)"):
            lakeprune.sharing.read(table)
    with replaying(tmp_path) as (replay, _, table):
        replay.answer("query", status=500)
        with pytest.raises(TableError, match="after 5 attempts"):
            lakeprune.sharing.read(table)


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ({"raw": b"{broken"}, "LP393"),
        ({"raw": b""}, "LP393"),
        ({"raw": b"[" * 100_000}, "LP393"),
        ({"raw": json.dumps(HEAD[0]).encode()}, "LP393"),
        ({"status": 302, "headers": {"Location": "http://127.0.0.1:1/"}}, "status 302"),
        ({"status": 401}, "new profile"),
        ({"headers": {"delta-sharing-capabilities": "responseformat=parquet;includeendstreamaction=true"}}, "cut off"),
    ],
)
def test_an_answer_that_is_not_whole_is_refused(tmp_path: Path, reply: dict[str, Any], said: str) -> None:
    with replaying(tmp_path) as (replay, _, table):
        replay.answer("query", *([] if "raw" in reply else HEAD), **reply)
        with pytest.raises(TableError) as error:
            lakeprune.sharing.read(table)
        assert said in str(error.value)
        assert "secret-token" not in str(error.value)


def test_a_stream_that_ends_in_an_error_is_one(tmp_path: Path) -> None:
    with replaying(tmp_path) as (replay, _, table):
        replay.answer("query", *HEAD, {"endStreamAction": {"errorMessage": "gone"}})
        with pytest.raises(TableError, match=r"failed during its answer(?s:.*)gone"):
            lakeprune.sharing.read(table)


def test_a_table_that_needs_more_is_refused(tmp_path: Path) -> None:
    with replaying(tmp_path) as (replay, _, table):
        needs = {
            "minReaderVersion": 3,
            "minWriterVersion": 7,
            "readerFeatures": ["variantType"],
            "writerFeatures": ["variantType"],
        }
        replay.answer("query", {"protocol": {"deltaProtocol": needs}}, {"metaData": {"deltaMetadata": METADATA}})
        with pytest.raises(TableError, match="needs variantType"):
            lakeprune.sharing.read(table)


DAMAGED: dict[str, dict[str, Any]] = {
    "a partition value": {"partitionValues": {"d": "not a date"}},
    "a negative size": {"size": -5},
    "a size that is text": {"size": "abc"},
}


@pytest.mark.parametrize("change", list(DAMAGED.values()), ids=list(DAMAGED))
def test_a_file_that_is_described_wrongly_is_an_error_with_a_code(tmp_path: Path, change: dict[str, Any]) -> None:
    with replaying(tmp_path) as (replay, base, table):
        file = file_line(replay, base, "a", [1], "2021-04-29")["file"]
        replay.answer("query", *HEAD, {"file": {**file, **change}})
        with pytest.raises(TableError, match=r"LP39[37]"):
            lakeprune.sharing.read(table).read_all()


def test_a_damaged_file_of_the_right_size_is_an_error_with_a_code(tmp_path: Path) -> None:
    with replaying(tmp_path) as (replay, base, table):
        line = file_line(replay, base, "a", list(range(5000)), "2021-04-29")
        status, headers, content = replay.replies["a"][0]
        replay.replies["a"] = [(status, headers, content[:4] + bytes(len(content) // 2) + content[4 + len(content) // 2 :])]
        replay.answer("query", *HEAD, line)
        with pytest.raises(TableError, match="LP397"):
            lakeprune.sharing.read(table).read_all()


@pytest.mark.parametrize(
    "vector",
    [
        {"storageType": "i", "pathOrInlineDv": "ab", "sizeInBytes": 2, "cardinality": 1},
        {"storageType": "i", "pathOrInlineDv": "\u00e9", "sizeInBytes": 2, "cardinality": 1},
        {
            "storageType": "i",
            "pathOrInlineDv": "wi5b=000010000siXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L",
            "sizeInBytes": 9,
            "cardinality": 1,
        },
        {"storageType": "i"},
        {"storageType": "z", "pathOrInlineDv": "", "sizeInBytes": 0, "cardinality": 0},
    ],
)
def test_a_damaged_deletion_vector_is_an_error_with_a_code(tmp_path: Path, vector: dict[str, Any]) -> None:
    with replaying(tmp_path) as (replay, base, table):
        file = file_line(replay, base, "a", [1], None)["file"]
        add = {"path": file["url"], "size": file["size"], "partitionValues": {}, "deletionVector": vector}
        features = {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": ["deletionVectors"]}
        head = [{"protocol": {"deltaProtocol": features}}, {"metaData": {"deltaMetadata": METADATA}}]
        replay.answer("query", *head, {"file": {"id": "x", "deltaSingleAction": {"add": add}}})
        with pytest.raises(TableError, match="LP397"):
            lakeprune.sharing.read(table).read_all()


@pytest.mark.parametrize("schema", ["[]", "{", '{"type":"struct","fields":[{"name":"x"}]}', '{"type":"struct","fields":7}'])
def test_a_schema_that_is_none_is_an_error_with_a_code(tmp_path: Path, schema: str) -> None:
    with replaying(tmp_path) as (replay, _, table):
        for path in ("query", "metadata"):
            replay.answer(path, HEAD[0], {"metaData": {**METADATA, "schemaString": schema}})
        with pytest.raises(TableError, match="LP393"):
            lakeprune.sharing.read(table).read_all()
        with pytest.raises(TableError, match=r"LP393|LP309"):
            lakeprune.sharing.read(table, "id > 0")


@pytest.mark.parametrize("version", ["-1", "x", "99999999999999999999"])
def test_a_version_that_is_none_is_an_error_with_a_code(tmp_path: Path, version: str) -> None:
    with replaying(tmp_path) as (replay, _, table):
        replay.answer("query", *HEAD, headers={"Delta-Table-Version": version})
        with pytest.raises(TableError, match="LP393"):
            lakeprune.sharing.read(table)


def test_what_a_server_says_of_hints_cannot_colour_a_terminal(tmp_path: Path) -> None:
    with replaying(tmp_path) as (replay, _, table):
        replay.answer("query", *HEAD, headers={"x-lakeprune-hints": "json=applied\x1b[31m" + "x" * 5000})
        outcome = lakeprune.sharing.read(table).offer.outcome or ""
    assert outcome.startswith("json=applied [31m")
    assert outcome.isprintable()
    assert len(outcome) <= 1024
