"""Shared tables in object stores: the store's own signed URLs, or bytes through the server."""

from __future__ import annotations

import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from lakeprune.apps.sharing.server.config import SharedTable
from tests.apps.sharing.server.served import Served, serving
from tests.storage.servers import Server


@pytest.fixture(scope="module")
def shared(server: Server, local_users: Path) -> Iterator[tuple[Served, Server, Path]]:
    url = server.upload(local_users, "shared-users")
    access = {"storage_options": server.options, "no_cache": True}
    tables = {
        "signed": SharedTable("share1", "s", "signed", url, access=access),
        "proxied": SharedTable("share1", "s", "proxied", url, proxy=True, access=access),
    }
    with serving(tables) as running:
        yield running, server, local_users


def test_proxied_files_come_through_the_server_in_ranges(shared: tuple[Served, Server, Path]) -> None:
    served, _, local = shared
    answer = served.query("proxied", {"predicateHints": ["country = 'DE'"]})
    assert answer.headers["x-lakeprune-hints"] == "sql=applied;files=2/6"
    contents = {path.stat().st_size: path.read_bytes() for path in local.rglob("*.parquet")}
    for file in answer.files:
        assert file["url"].startswith(served.endpoint)
        assert served.fetch(file["url"]).body == contents[file["size"]]
        part = served.fetch(file["url"], headers={"Range": "bytes=-8"})
        assert (part.status, part.body) == (206, contents[file["size"]][-8:])


def test_signed_urls_of_the_store_need_nothing_of_the_server(shared: tuple[Served, Server, Path]) -> None:
    served, server, local = shared
    answer = served.query("signed")
    if server.kind == "gcs":
        # A bearer token signs nothing. The recipient gets no detail, the operator the way out.
        assert (answer.status, answer.json["message"]) == (500, "")
        return
    contents = {path.read_bytes() for path in local.rglob("*.parquet")}
    assert len(answer.files) == 6
    for file in answer.files:
        assert not file["url"].startswith(served.endpoint)
        assert server.credentials[next(iter(sorted(server.credentials, reverse=True)))] not in file["url"]
        request = urllib.request.Request(file["url"], headers={"Range": f"bytes=0-{file['size'] - 1}"})  # noqa: S310  # loopback
        with urllib.request.urlopen(request) as reply:  # noqa: S310
            assert reply.status == 206
            assert reply.read() in contents
