"""Tables by name through an Iceberg REST catalog: PyIceberg's own client, and a small server that speaks the protocol.

The server answers from a real SQL catalog: configuration, tables, and listings; it wants a bearer token.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import unquote, urlsplit

import pyarrow as pa
import pytest
from pyiceberg import types as t
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import NoSuchNamespaceError, NoSuchTableError
from pyiceberg.schema import Schema

import lakeprune
from lakeprune.cli.main import main
from tests.formats.iceberg.test_catalogs import configure, refused

TOKEN = "right-token-of-the-tests"  # noqa: S105  # of a server that lives as long as a test


class Handler(BaseHTTPRequestHandler):
    catalog: SqlCatalog
    asked: list[str]

    def do_GET(self) -> None:  # the name that the library calls
        path = unquote(urlsplit(self.path).path)
        self.asked.append(path)
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            return self._answer(401, _error(401, "NotAuthorizedException", "Not authorized: token=" + TOKEN))
        match path.strip("/").split("/"):
            case ["v1", "config"]:
                return self._answer(200, {"defaults": {}, "overrides": {"prefix": "lake"}})
            case ["v1", "lake", "namespaces"]:
                return self._answer(200, {"namespaces": [list(each) for each in self.catalog.list_namespaces()]})
            case ["v1", "lake", "namespaces", space, "tables"]:
                return self._listed(space)
            case ["v1", "lake", "namespaces", space, "tables", name]:
                return self._table(space, name)
        return self._answer(404, _error(404, "NotFoundException", path))

    def _listed(self, space: str) -> None:
        try:
            found = self.catalog.list_tables(space)
        except NoSuchNamespaceError:
            return self._answer(404, _error(404, "NoSuchNamespaceException", space))
        return self._answer(200, {"identifiers": [{"namespace": list(each[:-1]), "name": each[-1]} for each in found]})

    def _table(self, space: str, name: str) -> None:
        if name == "broken":
            return self._answer(500, _error(500, "ServerErrorException", "the database behind is down"))
        try:
            table = self.catalog.load_table((space, name))
        except NoSuchTableError:
            return self._answer(404, _error(404, "NoSuchTableException", f"{space}.{name}"))
        metadata = json.loads(table.metadata.model_dump_json())
        return self._answer(200, {"metadata-location": table.metadata_location, "metadata": metadata, "config": {}})

    def _answer(self, status: int, body: dict[str, Any]) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Nothing: a test that fails shows what was asked."""


def _error(code: int, kind: str, message: str) -> dict[str, Any]:
    return {"error": {"code": code, "type": kind, "message": message}}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[str, SqlCatalog, list[str]]]:
    """Its address, the catalog behind it with `db.flights`, and what it was asked."""
    uri = f"sqlite:///{tmp_path}/catalog.db?check_same_thread=false"
    catalog = SqlCatalog("behind", uri=uri, warehouse=f"file://{tmp_path}/warehouse")
    catalog.create_namespace("db")
    table = catalog.create_table("db.flights", Schema(t.NestedField(1, "x", t.LongType())))
    table.append(pa.table({"x": [1, 2]}))
    table.append(pa.table({"x": [100, 200]}))
    asked: list[str] = []
    handler = type("Bound", (Handler,), {"catalog": catalog, "asked": asked})
    running = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = Thread(target=running.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{running.server_port}", catalog, asked
    running.shutdown()
    thread.join()
    running.server_close()
    catalog.close()


def test_a_table_is_opened_by_its_name(
    server: tuple[str, SqlCatalog, list[str]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    address, catalog, asked = server
    configure(monkeypatch, LAKE__TYPE="rest", LAKE__URI=address, LAKE__TOKEN=TOKEN)
    assert main(["explain", "db.flights", "--catalog", "lake", "-w", "x > 50", "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    place = catalog.load_table("db.flights").metadata_location
    assert (document["summary"]["files_total"], document["summary"]["files_kept"]) == (2, 1)
    assert document["table"] == place
    assert asked == ["/v1/config", "/v1/lake/namespaces/db/tables/flights"]
    catalog.load_table("db.flights").append(pa.table({"x": [300]}))  # the catalog knows the newest metadata
    assert lakeprune.explain("db.flights", "x > 50", catalog="lake").summary.files_kept == 2


def test_what_the_catalog_does_not_have_is_named_with_what_it_has(
    server: tuple[str, SqlCatalog, list[str]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    configure(monkeypatch, LAKE__TYPE="rest", LAKE__URI=server[0], LAKE__TOKEN=TOKEN)
    code, shown = refused(capsys, "db.flight", "--catalog", "lake")
    assert (code, shown.splitlines()) == (
        3,
        [
            "error[LP368] the catalog lake has no table `db.flight`",
            "  where: --catalog",
            "  fix:   did you mean db.flights?",
        ],
    )
    code, shown = refused(capsys, "nope.t", "--catalog", "lake")
    assert (code, "its namespaces: db" in shown) == (3, True)


def test_wrong_credentials_a_failing_server_and_none_at_all_are_errors_of_ours_without_secrets(
    server: tuple[str, SqlCatalog, list[str]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    configure(monkeypatch, LAKE__TYPE="rest", LAKE__URI=server[0], LAKE__TOKEN=f"not-{TOKEN}")
    code, shown = refused(capsys, "db.flights", "--catalog", "lake")
    assert code == 3
    assert shown.startswith("error[LP368] the catalog lake cannot be opened\n")
    assert "UnauthorizedError" in shown
    assert "token-of-the-tests" not in shown  # neither ours nor the server's
    configure(monkeypatch, LAKE__TOKEN=TOKEN)
    code, shown = refused(capsys, "db.broken", "--catalog", "lake")
    assert (code, "error[LP368] the catalog lake cannot load db.broken" in shown) == (3, True)
    configure(monkeypatch, LAKE__URI="http://127.0.0.1:9")
    code, shown = refused(capsys, "db.flights", "--catalog", "lake")
    assert (code, shown.startswith("error[LP368] the catalog lake cannot be opened\n")) == (3, True)


def test_a_catalog_object_is_not_the_name_of_one(server: tuple[str, SqlCatalog, list[str]]) -> None:
    catalog: Any = server[1]
    with pytest.raises(lakeprune.UsageError, match="the catalog is of type SqlCatalog") as caught:
        lakeprune.explain("db.flights", "x > 50", catalog=catalog)
    assert (caught.value.code, 'explain(catalog.load_table("db.t"))' in str(caught.value)) == ("LP214", True)
    with pytest.raises(lakeprune.UsageError, match="a Table instead of the name of a table"):
        lakeprune.explain(catalog.load_table("db.flights"), "x > 50", catalog="lake")
