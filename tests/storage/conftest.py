"""One server of each kind for the whole run, and the demo table in each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.builders.delta import users
from tests.storage.proxy import Proxy, proxy_before
from tests.storage.servers import SERVERS, Server


@pytest.fixture(scope="session", params=sorted(SERVERS))
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    with SERVERS[request.param]() as running:
        yield running


@pytest.fixture(scope="session")
def s3() -> Iterator[Server]:
    with SERVERS["s3"]() as running:
        yield running


@pytest.fixture(scope="session")
def local_users(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return users(tmp_path_factory.mktemp("tables") / "users")


@pytest.fixture
def proxy(server: Server) -> Iterator[Proxy]:
    with proxy_before(server.port) as running:
        yield running


@pytest.fixture
def s3_proxy(s3: Server) -> Iterator[Proxy]:
    with proxy_before(s3.port) as running:
        yield running


@pytest.fixture(autouse=True)
def no_credentials_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No variable, profile or cache of whoever runs the tests takes part."""
    import os

    for name in list(os.environ):
        if name.startswith(("AWS_", "AZURE_", "GOOGLE_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
