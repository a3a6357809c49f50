"""The command as a process: one table in one command, reload, drain, a kill, and readers that take their time."""

from __future__ import annotations

import http.client
import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from demo.delta_log import add, metadata, protocol, statistics, write_commit
from demo.tables import users
from lakeprune.apps.sharing.server import tables
from lakeprune.cli.main import main
from tests.apps.sharing.server.clients import client_python
from tests.apps.sharing.server.served import serving
from tests.apps.sharing.server.shared_tables import part
from tools.markdown import code_blocks
from tools.repository import ROOT


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


@contextmanager
def process(folder: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A server that is ended at the end, whatever happens."""
    command = [sys.executable, "-m", "lakeprune", "serve", *arguments]
    with open(folder / "log.txt", "a", encoding="utf-8") as log:
        started = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=log, text=True)
        try:
            yield started
        finally:
            started.kill()
            started.wait(20)
            if started.stdout is not None:
                started.stdout.close()


def request(port: int, path: str, token: str | None = None, method: str = "GET", body: bytes | None = None) -> tuple[int, bytes]:
    """Asked again until the server listens."""
    for _ in range(600):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        try:
            connection.request(method, path, body, {} if token is None else {"Authorization": f"Bearer {token}"})
            answer = connection.getresponse()
            return answer.status, answer.read()
        except ConnectionRefusedError:
            time.sleep(0.1)
        finally:
            connection.close()
    raise AssertionError("the server does not listen")


def files(port: int, token: str, table: str = "/delta-sharing/shares/demo/schemas/s/tables/t") -> list[dict[str, Any]]:
    status, body = request(port, f"{table}/query", token, "POST", b"{}")
    assert status == 200, body
    return [json.loads(line)["file"] for line in body.splitlines()[2:]]


def path_of(url: str) -> str:
    return "/" + url.split("/", 3)[3]


@pytest.fixture
def configured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> tuple[Path, int, str]:
    """A folder with a table and a configuration, the port, and the token of a recipient."""
    part(tmp_path / "t")
    port = free_port()
    (tmp_path / "shares.yaml").write_text(
        f"endpoint: http://127.0.0.1:{port}/delta-sharing\nlisten: 127.0.0.1:{port}\nkeys: {{file: k}}\nrefresh: 0\n"
        "shares:\n  demo:\n    schemas:\n      s:\n        t: {location: ./t}\nrecipients:\n  a: {shares: [demo]}\n",
        encoding="utf-8",
    )
    config = str(tmp_path / "shares.yaml")
    assert main(["share", "key", "add", "--config", config]) == 0
    capsys.readouterr()
    assert main(["share", "recipient", "add", "a", "--config", config]) == 0
    return tmp_path, port, json.loads(capsys.readouterr().out)["bearerToken"]


def test_one_command_shares_one_table(tmp_path: Path) -> None:
    part(tmp_path / "orders")
    with process(tmp_path, "--share", "demo=./orders") as server:
        assert server.stdout is not None
        text = ""
        while not text.endswith("}\n"):
            text += server.stdout.readline()
        profile = json.loads(text)
        port = int(profile["endpoint"].split(":")[2].split("/")[0])
        found = files(port, profile["bearerToken"], "/delta-sharing/shares/demo/schemas/default/tables/orders")
        assert len(found) == 3
        status, content = request(port, path_of(found[0]["url"]))
        assert (status, len(content)) == (200, found[0]["size"])
        assert request(port, "/delta-sharing/shares")[0] == 401


def test_without_a_token_on_loopback_only_when_asked_for(configured: tuple[Path, int, str]) -> None:
    folder, port, _ = configured
    (folder / "shares.tokens.json").unlink()
    with process(folder, "--config", "shares.yaml") as refused:
        assert refused.wait(60) == 2, "nobody could log in"
    with process(folder, "--config", "shares.yaml", "--insecure-local"):
        status, body = request(port, "/delta-sharing/shares/demo/schemas/s/tables/t/query", None, "POST", b"{}")
        assert status == 200
        assert request(port, path_of(json.loads(body.splitlines()[2])["file"]["url"]))[0] == 200


def test_a_killed_server_loses_nothing_and_a_hangup_reads_the_configuration_again(configured: tuple[Path, int, str]) -> None:
    folder, port, token = configured
    with process(folder, "--config", "shares.yaml"):
        url = path_of(files(port, token)[0]["url"])
        body = b'{"maxFiles": 1}'
        table = "/delta-sharing/shares/demo/schemas/s/tables/t"
        page = json.loads(request(port, f"{table}/query", token, "POST", body)[1].splitlines()[-1])["endStreamAction"]
    # Killed. State is the configuration, the keys and the tokens.
    with process(folder, "--config", "shares.yaml") as server:
        assert request(port, url)[0] == 200
        following = json.dumps({"maxFiles": 1, "pageToken": page["nextPageToken"]}).encode()
        assert request(port, f"{table}/query", token, "POST", following)[0] == 200
        config = folder / "shares.yaml"
        good = config.read_text(encoding="utf-8")
        config.write_text(good.replace("t: {location: ./t}", "renamed: {location: ./t}"), encoding="utf-8")
        server.send_signal(signal.SIGHUP)
        assert _becomes(lambda: request(port, f"{table}/version", token)[0], 404)
        assert request(port, "/delta-sharing/shares/demo/schemas/s/tables/renamed/version", token)[0] == 200
        config.write_text("broken: [", encoding="utf-8")
        server.send_signal(signal.SIGHUP)
        assert _becomes(lambda: "the one before stays" in (folder / "log.txt").read_text(encoding="utf-8"), True)
        assert request(port, "/delta-sharing/shares/demo/schemas/s/tables/renamed/version", token)[0] == 200
        config.write_text(good, encoding="utf-8")
        assert main(["share", "recipient", "revoke", "a", "--config", str(config)]) == 0
        assert request(port, "/delta-sharing/shares", token)[0] == 401
        assert request(port, url)[0] == 403


def _becomes(look: Any, wanted: Any) -> bool:
    for _ in range(200):
        if look() == wanted:
            return True
        time.sleep(0.05)
    return False


def test_a_terminated_server_ends_what_it_began(configured: tuple[Path, int, str]) -> None:
    folder, port, token = configured
    large = os.urandom(1 << 24)
    (found,) = (folder / "t" / "d=2021-04-28").iterdir()
    log = folder / "t" / "_delta_log" / f"{0:020}.json"
    log.write_text(
        log.read_text(encoding="utf-8").replace(f'"size":{found.stat().st_size}', f'"size":{len(large)}'), encoding="utf-8"
    )
    found.write_bytes(large)
    with process(folder, "--config", "shares.yaml") as server:
        url = next(path_of(file["url"]) for file in files(port, token) if file["size"] == len(large))
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("GET", url)
        answer = connection.getresponse()
        first = answer.read(1 << 16)
        server.send_signal(signal.SIGTERM)
        time.sleep(0.3)
        assert first + answer.read() == large
        connection.close()
        assert server.wait(30) == 0


@pytest.mark.parametrize("kept", [20_000, 0], ids=["kept", "streamed"])
def test_a_slow_reader_does_not_slow_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: int) -> None:
    """Its connections hold answers of ten megabytes, of which nothing is read; small questions are answered all the same."""
    monkeypatch.setattr(tables, "MOST_KEPT_FILES", kept)
    log = tmp_path / "t" / "_delta_log"
    log.mkdir(parents=True)
    actions = [protocol(), metadata({"id": "integer"})]
    actions += [add(f"{number:05}-{'x' * 400}.parquet", statistics(1, id=(number, number, 0))) for number in range(10_000)]
    write_commit(log, 0, actions)
    with serving({"t": tmp_path / "t"}) as served:
        slow = []
        for _ in range(10):
            raw = socket.create_connection(("127.0.0.1", served.port))
            head = "POST /delta-sharing/shares/share1/schemas/s/tables/t/query HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n"
            raw.sendall(f"{head}Authorization: Bearer {served.tokens['reader']}\r\n\r\n{{}}".encode())
            raw.recv(1000)
            slow.append(raw)
        before = threading.active_count()
        for number in range(5):
            answer = served.query("t", {"predicateHints": [f"id = {number}"]})
            assert len(answer.files) == 1
        assert threading.active_count() <= before + 2
        for raw in slow:
            raw.close()
        assert _becomes(lambda: served.service.metrics.open_requests, 0), "who leaves is noticed, and its stream is closed"
        assert len(served.query("t").files) == 10_000


def test_a_reader_that_takes_nothing_is_cut_off(tmp_path: Path) -> None:
    from lakeprune.apps.sharing.server.config_file import LimitsEntry

    log = tmp_path / "t" / "_delta_log"
    log.mkdir(parents=True)
    adds = [add(f"{number:05}-{'x' * 900}.parquet") for number in range(20_000)]
    write_commit(log, 0, [protocol(), metadata({"id": "integer"}), *adds])
    raw = socket.socket()
    with serving({"t": tmp_path / "t"}, limits=LimitsEntry(seconds_per_write=1)) as served, raw:
        raw.connect(("127.0.0.1", served.port))
        head = "POST /delta-sharing/shares/share1/schemas/s/tables/t/query HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n"
        raw.sendall(f"{head}Authorization: Bearer {served.tokens['reader']}\r\n\r\n{{}}".encode())
        assert _becomes(lambda: served.service.metrics.open_requests, 1)
        assert _becomes(lambda: served.service.metrics.open_requests, 0)


def test_share_a_table_in_five_minutes(tmp_path: Path) -> None:
    """docs/concepts/sharing.md, done as it says: with its configuration, its commands, and the official client."""
    python = client_python("1.4.2")
    blocks = code_blocks(docs_page("docs/concepts/sharing.md"))
    by_language = {block.language: block.text for block in blocks}
    port = free_port()
    users(tmp_path / "users")
    (tmp_path / "shares.yaml").write_text(by_language["yaml"].replace("8686", str(port)), encoding="utf-8")
    *steps, serve = by_language["sh"].strip().splitlines()
    for step in steps:
        done = subprocess.run([sys.executable, "-m", *step.split()], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{step}\n{done.stderr}"
    with process(tmp_path, *serve.split()[2:]):
        token = json.loads((tmp_path / "analytics.share").read_text(encoding="utf-8"))["bearerToken"]
        assert request(port, "/delta-sharing/shares", token)[0] == 200
        done = subprocess.run([python, "-c", by_language["python"]], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def test_the_commands_of_the_pages_of_serve_and_share(tmp_path: Path) -> None:
    """docs/commands/serve.md and docs/commands/share.md, with the configuration of docs/concepts/sharing.md."""
    (config,) = (block.text for block in code_blocks(docs_page("docs/concepts/sharing.md")) if block.language == "yaml")
    port = free_port()
    (tmp_path / "shares.yaml").write_text(config.replace("8686", str(port)), encoding="utf-8")
    users(tmp_path / "users")
    users(tmp_path / "orders")
    for name in ("share", "serve"):
        (commands,) = (block.text for block in code_blocks(docs_page(f"docs/commands/{name}.md")) if block.language == "sh")
        for line in commands.splitlines():
            _, *arguments = shlex.split(line, comments=True)
            if arguments[0] == "serve" and "--check" not in arguments:
                if "--share" in arguments:
                    arguments += ["--port", str(port)]
                assert main(["share", "recipient", "add", "analytics", "--config", str(tmp_path / "shares.yaml")]) == 0
                with process(tmp_path, *arguments[1:]) as server:
                    assert request(port, "/healthz") == (200, b"ok\n")
                    server.send_signal(signal.SIGTERM)
                    assert server.wait(60) == 0, line
                continue
            done = subprocess.run(
                [sys.executable, "-m", "lakeprune", *arguments], cwd=tmp_path, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, f"{line}\n{done.stderr}"


def docs_page(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")
