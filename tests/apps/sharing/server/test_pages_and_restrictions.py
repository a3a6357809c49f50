"""Pages, refreshed URLs, versions that are not shared, and recipients that see a part of a table."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake
from msgspec.structs import replace

from demo.delta_log import add, metadata, protocol, statistics, write_commit
from lakeprune.apps.sharing.server import tables
from lakeprune.apps.sharing.server.config import Recipient, SharedTable
from tests.apps.sharing.server.served import Served, serving, table_path
from tests.apps.sharing.server.shared_tables import part


@pytest.fixture
def growing(tmp_path: Path) -> Iterator[tuple[Served, Path]]:
    """A table without history, which the test may write to."""
    path = part(tmp_path / "t")
    with serving({"t": SharedTable("share1", "s", "t", str(path))}) as running:
        yield running, path


def more(path: Path) -> None:
    rows = {
        "id": pa.array([99], pa.int32()),
        "x": [9.0],
        "s": ["s"],
        "ts": pa.array([0], pa.timestamp("us", "UTC")),
        "d": ["2021-05-01"],
    }
    write_deltalake(path, pa.table(rows), mode="append")


def pages(served: Served, body: dict[str, Any], table: str = "t") -> Iterator[Any]:
    token: str | None = None
    while True:
        answer = served.query(table, {**body, **({} if token is None else {"pageToken": token})})
        assert answer.status == 200, answer.body
        yield answer
        token = (answer.end or {}).get("nextPageToken")
        if token is None:
            return


def test_pages_give_every_file_once_and_stay_at_their_version(growing: tuple[Served, Path]) -> None:
    served, path = growing
    whole = served.query("t")
    found = []
    heads = set()
    for number, page in enumerate(pages(served, {"maxFiles": 1})):
        if number == 0:
            more(path)
        heads.add(b"\n".join(page.body.splitlines()[:2]) + page.headers["delta-table-version"].encode())
        found += [file["id"] for file in page.files]
    assert found == [file["id"] for file in whole.files]
    assert len(heads) == 1, "protocol, metadata and version are the same bytes on every page"
    assert len(served.query("t").files) == 4


def test_pages_of_a_hinted_and_limited_query_are_its_answer(growing: tuple[Served, Path]) -> None:
    served, _ = growing
    hint = {"op": "greaterThan", "children": [
        {"op": "column", "name": "id", "valueType": "int"}, {"op": "literal", "value": "9", "valueType": "int"}]}  # fmt: skip
    body = {"jsonPredicateHints": json.dumps(hint), "limitHint": 15}
    whole = [file["id"] for file in served.query("t", body).files]
    assert len(whole) == 2
    assert [file["id"] for page in pages(served, {**body, "maxFiles": 1}) for file in page.files] == whole


def test_a_page_token_is_for_one_request_of_one_recipient(tmp_path: Path) -> None:
    path = part(tmp_path / "t")
    two = {name: Recipient(name, ("share1",)) for name in ("reader", "other")}
    tables = {name: SharedTable("share1", "s", name, str(path)) for name in ("t", "u")}
    with serving(tables, two) as served:
        token = (served.query("t", {"maxFiles": 1}).end or {})["nextPageToken"]
        assert served.query("t", {"maxFiles": 1, "pageToken": token}).status == 200
        assert served.query("t", {"maxFiles": 1, "pageToken": token}, who="other").status == 400
        assert served.query("u", {"maxFiles": 1, "pageToken": token}).status == 400
        assert served.query("t", {"maxFiles": 1, "pageToken": token, "limitHint": 1}).status == 400
        assert served.query("t", {"maxFiles": 1, "pageToken": token, "predicateHints": ["id > 3"]}).status == 400
        assert served.query("t", {"pageToken": token.replace(".", ".A", 1)}).status == 400


def test_a_page_is_of_the_list_that_its_first_page_is_of(tmp_path: Path) -> None:
    """Positions in a list that a hint made shorter, or a limit, are others in a list without."""
    path = part(tmp_path / "t")
    with serving({"t": path}, sql_hints="off") as served:
        body = {"predicateHints": ["id > 9"], "maxFiles": 1, "limitHint": 30}
        token = (served.query("t", body).end or {})["nextPageToken"]
        assert served.query("t", {**body, "pageToken": token}).status == 200
        assert served.query("t", {**body, "pageToken": token, "predicateHints": ["id > 9", 7]}).status == 400
        assert served.query("t", {**body, "pageToken": token, "jsonPredicateHints": 7}).status == 400
        config = served.service.setup.config
        served.service.reload(replace(config, shares=tuple(replace(share, sql_hints="on") for share in config.shares)))
        assert served.query("t", {**body, "pageToken": token}).status == 400, "the second of the hinted files would be the third"


def test_answers_of_large_tables_are_the_same_files_in_any_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are not sorted, which would take memory for every file; pages are, for they have to fit together."""
    log = tmp_path / "t" / "_delta_log"
    log.mkdir(parents=True)
    for version in range(3):
        adds = [add(f"{number:05}.parquet", statistics(1, id=(number, number, 0))) for number in range(version, 5000, 3)]
        write_commit(log, version, [*([protocol(), metadata({"id": "integer"})] if version == 0 else []), *adds])
    bodies: list[dict[str, Any]] = [{}, {"predicateHints": ["id > 1500"]}, {"limitHint": 4000}, {"limitHint": 10_000}]
    with serving({"t": tmp_path / "t"}) as served:
        expected = [[file["id"] for file in served.query("t", body).files] for body in bodies]
    assert list(map(len, expected)) == [5000, 3499, 4000, 5000]
    monkeypatch.setattr(tables, "MOST_KEPT_FILES", 0)
    with serving({"t": tmp_path / "t"}) as served:
        for body, files in zip(bodies, expected, strict=True):
            answer = served.query("t", body)
            assert sorted(file["id"] for file in answer.files) == sorted(files)
            assert answer.headers["x-lakeprune-hints"].endswith(f"files={len(files)}/5000")
            paged = [file["id"] for page in pages(served, {**body, "maxFiles": 2100}) for file in page.files]
            assert paged == files
        (log / f"{1:020}.json").unlink()
        assert served.query("t").status == 500, "what is not whole is not an answer"


@pytest.mark.parametrize("query", ["startingVersion=0", "startingVersion=0&includeHistoricalMetadata=true"])
def test_pages_of_changes_stay_at_their_version(tmp_path: Path, query: str) -> None:
    path = part(tmp_path / "t")
    with serving({"t": path}) as served:
        found, heads, token = [], set(), ""
        while True:
            page = served.get(f"{table_path('t')}/changes?{query}&maxFiles=1{token}")
            assert page.status == 200, page.body
            heads.add(b"\n".join(page.body.splitlines()[:2]) + page.headers["delta-table-version"].encode())
            found += [line["add"]["version"] for line in page.lines if "add" in line]
            if "nextPageToken" not in (page.end or {}):
                break
            token = f"&pageToken={(page.end or {})['nextPageToken']}"
            more(path)
    assert found == [0, 1, 2]
    assert len(heads) == 1, "protocol, metadata and version are the same bytes on every page"


def test_a_refresh_token_pins_the_version_without_history(growing: tuple[Served, Path]) -> None:
    served, path = growing
    first = served.query("t", {"includeRefreshToken": True})
    more(path)
    token = (first.end or {})["refreshToken"]
    again = served.query("t", {"refreshToken": token, "includeRefreshToken": True})
    assert again.headers["delta-table-version"] == "2"
    assert [file["id"] for file in again.files] == [file["id"] for file in first.files]
    assert served.query("t", {"refreshToken": token, "pageToken": "x"}).status == 400
    assert served.query("t", {"refreshToken": token[:-1] + ("1" if token.endswith("0") else "0")}).status == 400
    # A page token is no refresh token, and the other way round.
    page = (served.query("t", {"maxFiles": 1}).end or {})["nextPageToken"]
    assert served.query("t", {"refreshToken": page}).status == 400
    assert served.query("t", {"maxFiles": 1, "pageToken": token}).status == 400


@pytest.mark.parametrize(
    "ask",
    [
        lambda s: s.query("t", {"version": 1}),
        lambda s: s.query("t", {"timestamp": "2999-01-01T00:00:00Z"}),
        lambda s: s.query("t", {"startingVersion": 0}),
        lambda s: s.get(f"{table_path('t')}/metadata?version=1"),
        lambda s: s.get(f"{table_path('t')}/changes?startingVersion=0"),
        lambda s: s.get(f"{table_path('t')}/version?startingTimestamp=2020-01-01T00:00:00Z"),
    ],
)
def test_history_that_is_not_shared_is_refused_everywhere(growing: tuple[Served, Path], ask: Any) -> None:
    answer = ask(growing[0])
    assert (answer.status, answer.json["errorCode"]) == (400, "UNSUPPORTED_OPERATION")


def test_the_start_version_of_one_share_is_not_that_of_another(tmp_path: Path) -> None:
    path = part(tmp_path / "t")
    tables = {
        "late": SharedTable("share1", "s", "late", str(path), history=True, start_version=2),
        "all": SharedTable("share1", "s", "all", str(path), history=True),
    }
    with serving(tables) as served:
        assert served.query("all", {"version": 0}).status == 200
        asked = [
            served.query("late", {"version": 1}),
            served.query("late", {"startingVersion": 0}),
            served.get(f"{table_path('late')}/metadata?version=1"),
            served.get(f"{table_path('late')}/changes?startingVersion=1"),
        ]
        assert [answer.status for answer in asked] == [400] * 4
        assert served.query("late", {"version": 2}).status == 200
        assert (
            served.get(f"{table_path('late')}/version?startingTimestamp=2020-01-01T00:00:00Z").headers["delta-table-version"]
            == "2"
        )


@pytest.fixture(scope="module")
def restricted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    path = part(tmp_path_factory.mktemp("restricted") / "t")
    who = {
        "reader": Recipient("reader", ("share1",)),
        "one": Recipient("one", ("share1",), {"share1.s.t": "d = '2021-04-29'"}),
        "none": Recipient("none", ("share1",), {"share1.s.t": "d = '1999-01-01'"}),
        "wrong": Recipient("wrong", ("share1",), {"share1.s.t": "id > 12"}),
    }
    with serving({"t": path}, who) as running:
        yield running


def test_a_restricted_recipient_sees_its_partitions_and_nothing_of_the_others(restricted: Served) -> None:
    answer = restricted.query("t", who="one")
    assert [file["partitionValues"] for file in answer.files] == [{"d": "2021-04-29"}]
    assert answer.lines[1]["metaData"]["numFiles"] == 1
    assert answer.lines[1]["metaData"]["size"] == answer.files[0]["size"]
    assert answer.headers["x-lakeprune-hints"] == "files=1/1"
    assert b"2021-04-28" not in answer.body
    assert b"s029" not in answer.body
    assert restricted.query("t", who="none").files == []


@pytest.mark.parametrize(
    "hint", ["d = '2021-04-28'", "d = '2021-04-28' OR id > 0", "id < 5", "NOT (d = '2021-04-29')", "broken ("]
)
def test_no_hint_shows_what_a_restriction_hides(restricted: Served, hint: str) -> None:
    answer = restricted.query("t", {"predicateHints": [hint], "limitHint": 100}, who="one")
    assert answer.status == 200
    assert {file["partitionValues"]["d"] for file in answer.files} <= {"2021-04-29"}


def test_a_restriction_that_partition_values_do_not_decide_shows_nothing(restricted: Served) -> None:
    answer = restricted.query("t", who="wrong")
    assert (answer.status, answer.json["message"]) == (500, "")
    assert restricted.get(f"{table_path('t')}/metadata", who="wrong").status == 500


def test_a_restricted_recipient_gets_no_changes_and_no_explanation(restricted: Served) -> None:
    assert restricted.get(f"{table_path('t')}/changes?startingVersion=0", who="one").status == 400
    assert restricted.query("t", {"startingVersion": 0}, who="one").status == 400
    assert restricted.ask("POST", f"{table_path('t')}/query?explain=true", {}, who="one").status == 400


@pytest.mark.parametrize(
    "query", ["metadata?version=0", "metadata?timestamp=2999-01-01T00:00:00Z", "version?startingTimestamp=2020-01-01T00:00:00Z"]
)
def test_a_restricted_recipient_gets_the_latest_version_alone(restricted: Served, query: str) -> None:
    answer = restricted.get(f"{table_path('t')}/{query}", who="one")
    assert (answer.status, answer.json["errorCode"]) == (400, "UNSUPPORTED_OPERATION")
    assert restricted.get(f"{table_path('t')}/{query}").status == 200
    for body in ({"version": 0}, {"version": 2}, {"timestamp": "2999-01-01T00:00:00Z"}):
        assert restricted.query("t", body, who="one").status == 400
        assert restricted.query("t", body).status == 200


def test_tokens_of_an_unrestricted_recipient_do_not_work_for_a_restricted_one(restricted: Served) -> None:
    token = (restricted.query("t", {"maxFiles": 1}).end or {})["nextPageToken"]
    assert restricted.query("t", {"maxFiles": 1, "pageToken": token}, who="one").status == 400
