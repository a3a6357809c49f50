"""Real object-store servers, started by the tests: moto's for S3, Azurite for Azure, fake-gcs-server for GCS.

Each is a process of its own on a free port and in memory, started once per test run. `Server` says how the command and Python
reach it, and takes uploads by the store's own protocol. A server that is not installed is a skip with the reason.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

import obstore
import pytest
from obstore.store import AzureStore, S3Store

from tools.repository import ROOT

BUCKET = "lake-of-tests"
# Azurite's own well-known account, the same on every machine.
AZURE_ACCOUNT = "devstoreaccount1"
AZURE_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="


@dataclass(frozen=True)
class Server:
    """A running server; `port` may be that of a proxy before it."""

    kind: str
    port: int
    scheme: str
    credentials: Mapping[str, str] = field(default_factory=dict)

    @property
    def options(self) -> dict[str, str]:
        """What a client must be given, in delta-rs's names."""
        address = f"http://127.0.0.1:{self.port}"
        endpoint = {
            "s3": {"aws_endpoint_url": address, "aws_region": "us-east-1"},
            "azure": {"azure_endpoint": f"{address}/{AZURE_ACCOUNT}", "azure_storage_account_name": AZURE_ACCOUNT},
            "gcs": {"google_base_url": address},
        }[self.kind]
        return {**endpoint, "allow_http": "true", **self.credentials}

    def flags(self, **changed: str) -> list[str]:
        return [part for name, value in {**self.options, **changed}.items() for part in ("--option", f"{name}={value}")]

    def url(self, name: str, bucket: str = BUCKET) -> str:
        return f"{self.scheme}://{bucket}/{name}"

    def behind(self, port: int) -> Server:
        """The same server, reached through a proxy."""
        return replace(self, port=port)

    def upload(self, local: Path, name: str, *, only: str = "") -> str:
        """Copy a table's files; the table's URL."""
        for file in sorted(local.rglob("*")):
            relative = file.relative_to(local).as_posix()
            if file.is_file() and relative.startswith(only):
                self.put(f"{name}/{relative}", file.read_bytes())
        return self.url(name)

    def put(self, key: str, content: bytes) -> None:
        if self.kind == "gcs":
            target = f"http://127.0.0.1:{self.port}/upload/storage/v1/b/{BUCKET}/o?uploadType=media&name={quote(key, safe='')}"
            _request("POST", target, content)
        else:
            obstore.put(self._store(), key, content)

    def delete(self, key: str) -> None:
        if self.kind == "gcs":
            _request("DELETE", f"http://127.0.0.1:{self.port}/storage/v1/b/{BUCKET}/o/{quote(key, safe='')}")
        else:
            obstore.delete(self._store(), key)

    def make_public(self, keys: Iterable[str]) -> None:
        """S3 only: anybody may list the bucket and read these objects."""
        # moto looks whether somebody signed, not how.
        signed = {
            "x-amz-acl": "public-read",
            "Authorization": "AWS4-HMAC-SHA256 Credential=testing/20260101/us-east-1/s3/aws4_request",
        }
        for target in (BUCKET, *(f"{BUCKET}/{key}" for key in keys)):
            _request("PUT", f"http://127.0.0.1:{self.port}/{target}?acl", None, signed)

    def _store(self) -> S3Store | AzureStore:
        return _client(self.kind, tuple(self.options.items()))


@cache
def _client(kind: str, options: tuple[tuple[str, str], ...]) -> S3Store | AzureStore:
    config: Any = dict(options)  # named as the store wants them
    return S3Store(BUCKET, config=config) if kind == "s3" else AzureStore(BUCKET, config=config)


@contextmanager
def s3_server() -> Iterator[Server]:
    port = free_port()
    with _running([sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)], port):
        _request("PUT", f"http://127.0.0.1:{port}/{BUCKET}")
        yield Server("s3", port, "s3", {"aws_access_key_id": "testing", "aws_secret_access_key": "testing-secret"})


@contextmanager
def azure_server() -> Iterator[Server]:
    node, script = shutil.which("node"), _installed("azurite", "node_modules/azurite/dist/src/blob/main.js")
    if node is None:
        pytest.skip("node is not installed, which Azurite needs")
    port = free_port()
    flags = ["--inMemoryPersistence", "--blobPort", str(port), "--silent", "--skipApiVersionCheck", "--disableTelemetry"]
    with _running([node, str(script), *flags], port):
        server = Server("azure", port, "az", {"azure_storage_account_key": AZURE_KEY})
        _make_container(server)
        yield server


@contextmanager
def gcs_server() -> Iterator[Server]:
    program = _installed("fake-gcs-server", "fake-gcs-server")
    port = free_port()
    flags = ["-scheme", "http", "-host", "127.0.0.1", "-port", str(port), "-backend", "memory", "-log-level", "error"]
    with _running([str(program), *flags, "-public-host", f"127.0.0.1:{port}"], port):
        content = f'{{"name": "{BUCKET}"}}'.encode()
        _request("POST", f"http://127.0.0.1:{port}/storage/v1/b?project=tests", content, {"Content-Type": "application/json"})
        yield Server("gcs", port, "gs", {"google_bearer_token": "testing-token"})


SERVERS = {"s3": s3_server, "azure": azure_server, "gcs": gcs_server}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _installed(name: str, inside: str) -> Path:
    found = sorted((ROOT / "build" / "servers").glob(f"{name}-*/{inside}"))
    if not found:
        pytest.skip(f"{name} is not installed: `make servers` tries to")
    return found[-1]


@contextmanager
def _running(command: list[str], port: int) -> Iterator[None]:
    # Away from the checkout: a server may leave files where it is started.
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(command, cwd=ROOT / "build", env=_clean_environment(), **quiet)  # type: ignore[call-overload]
    try:
        _wait_for(process, port)
        yield
    finally:
        process.terminate()
        process.wait(timeout=20)


def _clean_environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "AZURE_", "GOOGLE_"))}


def _wait_for(process: subprocess.Popen[bytes], port: int) -> None:
    for _ in range(600):
        if process.poll() is not None:
            raise RuntimeError(f"the server ended with {process.returncode}")
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise RuntimeError("the server does not listen")


def _request(method: str, url: str, content: bytes | None = None, headers: Mapping[str, str] | None = None) -> None:
    request = urllib.request.Request(url, data=content, method=method, headers=dict(headers or {}))  # noqa: S310  # our own server
    with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
        answer.read()


def _make_container(server: Server) -> None:
    """PUT with a shared-key signature: the client under test cannot make containers, and Azurite checks who asks."""
    import base64
    import hashlib
    import hmac
    from email.utils import formatdate

    date, version = formatdate(usegmt=True), "2021-12-02"
    resource = f"/{AZURE_ACCOUNT}/{AZURE_ACCOUNT}/{BUCKET}\nrestype:container"
    signed = f"PUT{chr(10) * 12}x-ms-date:{date}\nx-ms-version:{version}\n{resource}"
    digest = hmac.new(base64.b64decode(AZURE_KEY), signed.encode(), hashlib.sha256).digest()
    headers = {
        "x-ms-date": date,
        "x-ms-version": version,
        "Content-Length": "0",
        "Authorization": f"SharedKey {AZURE_ACCOUNT}:{base64.b64encode(digest).decode()}",
    }
    _request("PUT", f"http://127.0.0.1:{server.port}/{AZURE_ACCOUNT}/{BUCKET}?restype=container", None, headers)
