"""Every endpoint by its bytes: what the protocol fixes, written by hand from its text, and the facts that clients depend on."""

from __future__ import annotations

import http.client
import json
from pathlib import Path
from typing import Any

import pytest

from demo.delta_log import add, metadata, protocol, write_commit
from tests.apps.sharing.server.served import DELTA, Asked, Served, serving, table_path

PART = table_path("part")
BOTH = {"delta-sharing-capabilities": "responseformat=delta,parquet;readerfeatures=deletionvectors,columnmapping,timestampntz"}
ONLY_DELTA = {"delta-sharing-capabilities": DELTA}


def test_lists_are_one_line_without_a_token_on_the_last_page(served: Served) -> None:
    answer = served.get("/shares")
    assert answer.status == 200
    assert b"\n" not in answer.body
    assert list(answer.json) == ["items"]
    (share,) = answer.json["items"]
    assert share["name"] == "share1"
    assert len(share["id"]) == 36


def test_a_share_by_its_name_in_any_case(served: Served) -> None:
    assert served.get("/shares/SHARE1").json["share"]["name"] == "share1"


def test_schemas_and_tables(served: Served) -> None:
    assert served.get("/shares/share1/schemas").json == {"items": [{"name": "s", "share": "share1"}]}
    listed = served.get("/shares/share1/schemas/S/tables").json["items"]
    assert [table["name"] for table in listed] == ["dv", "empty", "mapped", "nostats", "nulls", "part"]
    assert served.get("/shares/share1/all-tables").json["items"] == listed
    assert {key: listed[-1][key] for key in ("name", "schema", "share", "accessModes")} == {
        "name": "part",
        "schema": "s",
        "share": "share1",
        "accessModes": ["url"],
    }


def test_lists_are_paged_by_tokens_that_are_bound_to_the_list(served: Served) -> None:
    names, query = [], "?maxResults=4"
    while query:
        page = served.get(f"/shares/share1/all-tables{query}").json
        names += [table["name"] for table in page["items"]]
        query = f"?maxResults=4&pageToken={page['nextPageToken']}" if "nextPageToken" in page else ""
    assert names == ["dv", "empty", "mapped", "nostats", "nulls", "part"]
    token = served.get("/shares/share1/all-tables?maxResults=1").json["nextPageToken"]
    assert served.get(f"/shares/share1/schemas/s/tables?pageToken={token}").status == 400
    other = "1" if token.endswith("0") else "0"
    assert served.get(f"/shares/share1/all-tables?pageToken={token[:-1]}{other}").status == 400


def test_zero_results_are_none_and_no_page_follows(served: Served) -> None:
    assert served.get("/shares?maxResults=0").json == {"items": []}
    assert served.get("/shares?maxResults=-1").status == 400


@pytest.mark.parametrize(
    ("method", "path"), [("GET", f"{PART}/version"), ("HEAD", PART), ("GET", "/shares/share1/schemas/s/tables/PART/version")]
)
def test_the_version_is_a_header(served: Served, method: str, path: str) -> None:
    answer = served.ask(method, path)
    assert (answer.status, answer.headers["delta-table-version"], answer.body) == (200, "2", b"")


def test_the_version_from_a_time_on(served: Served) -> None:
    assert served.get(f"{PART}/version?startingTimestamp=2020-01-01T00:00:00Z").headers["delta-table-version"] == "0"
    assert served.get(f"{PART}/version?startingTimestamp=2999-01-01T00:00:00Z").status == 400
    assert served.get(f"{PART}/version?startingTimestamp=yesterday").status == 400


def test_metadata_in_parquet_format_is_two_lines(served: Served, tables: dict[str, Path]) -> None:
    answer = served.get(f"{PART}/metadata")
    assert answer.headers["delta-sharing-capabilities"] == "responseformat=parquet"
    assert answer.body.endswith(b"}\n")
    assert answer.body.count(b"\n") == 2
    first, second = answer.lines
    assert first == {"protocol": {"minReaderVersion": 1}}
    about = second["metaData"]
    assert about["format"] == {"provider": "parquet"}
    assert about["partitionColumns"] == ["d"]
    assert about["configuration"] == {"enableChangeDataFeed": "true"}
    assert about["numFiles"] == 3
    assert about["size"] == sum(file.stat().st_size for file in tables["part"].rglob("*.parquet"))
    fields = json.loads(about["schemaString"])["fields"]
    assert [(field["name"], field["type"]) for field in fields] == [
        ("id", "integer"),
        ("x", "double"),
        ("s", "string"),
        ("ts", "timestamp"),
        ("d", "string"),
    ]


def test_metadata_in_delta_format_has_sizes_and_no_settings_of_writers(served: Served) -> None:
    answer = served.get(f"{table_path('mapped')}/metadata", headers=BOTH)
    assert answer.headers["delta-sharing-capabilities"] == "responseformat=delta"
    protocol, metadata = answer.lines
    assert protocol == {"protocol": {"deltaProtocol": {"minReaderVersion": 2, "minWriterVersion": 5}}}
    assert set(metadata["metaData"]) == {"deltaMetadata", "version", "size", "numFiles"}
    inner = metadata["metaData"]["deltaMetadata"]
    assert inner["configuration"] == {"delta.columnMapping.mode": "name", "delta.columnMapping.maxColumnId": "2"}


def test_files_in_parquet_format(served: Served) -> None:
    answer = served.query("part")
    assert answer.headers["delta-table-version"] == "2"
    assert answer.end is None
    assert [file["partitionValues"] for file in answer.files] == [{"d": "2021-04-28"}, {"d": "2021-04-29"}, {"d": "2021-04-30"}]
    for file in answer.files:
        assert set(file) == {"url", "id", "partitionValues", "size", "stats", "expirationTimestamp"}
        fetched = served.fetch(file["url"])
        assert fetched.status == 200
        assert len(fetched.body) == file["size"]
        assert fetched.body[:4] == b"PAR1"


def test_file_urls_hold_no_path_and_look_signed_to_kernel_readers(served: Served) -> None:
    for file in served.query("part").files:
        path, _, query = file["url"].partition("?")
        assert query.startswith("sp=r&")
        token = path.rpartition("/")[2]
        assert not set(token) & set("=+%/")


def test_ids_are_the_same_on_every_request(served: Served) -> None:
    first, second = ([file["id"] for file in served.query("part").files] for _ in range(2))
    assert first == second
    assert len(set(first)) == 3


def test_the_end_of_a_stream_is_only_for_those_who_asked(served: Served) -> None:
    assert served.query("part").end is None
    assert served.query("part", headers=ONLY_DELTA).end is None
    asked = {"delta-sharing-capabilities": "responseformat=parquet;includeEndStreamAction=true"}
    assert "minUrlExpirationTimestamp" in (served.query("part", headers=asked).end or {})
    assert "refreshToken" in (served.query("part", {"includeRefreshToken": True}).end or {})
    assert served.query("part", {"maxFiles": 10}).end is not None


@pytest.mark.parametrize("body", [{}, {"startingVersion": 0}, None], ids=["query", "since a version", "changes"])
def test_who_asks_for_the_end_of_a_stream_is_answered_that_it_comes(served: Served, body: dict[str, Any] | None) -> None:
    """The Spark client looks for the last line only when the server says that there is one: else a cut stream is a whole one."""

    def asked(capabilities: str) -> Asked:
        headers = {"delta-sharing-capabilities": capabilities}
        return (
            served.get(f"{PART}/changes?startingVersion=0", headers=headers)
            if body is None
            else served.query("part", body, headers=headers)
        )

    plain, ended = asked("responseformat=parquet"), asked("responseformat=parquet;includeEndStreamAction=true")
    assert plain.headers["delta-sharing-capabilities"] == "responseformat=parquet"
    assert ended.headers["delta-sharing-capabilities"] == "responseformat=parquet;includeendstreamaction=true"
    assert (plain.end, "endStreamAction" in ended.lines[-1]) == (None, True)
    metadata = served.get(f"{PART}/metadata", headers={"delta-sharing-capabilities": "includeEndStreamAction=true"})
    assert len(metadata.lines) == 2
    assert metadata.headers["delta-sharing-capabilities"] == "responseformat=parquet"


def test_an_error_in_a_stream_of_changes_is_its_last_line_or_the_end_of_the_connection(tmp_path: Path) -> None:
    path = tmp_path / "t"
    (path / "_delta_log").mkdir(parents=True)
    feed = {"delta.enableChangeDataFeed": "true"}
    write_commit(path / "_delta_log", 0, [protocol(), metadata({"id": "integer"}, (), feed), add("a.parquet")])
    write_commit(path / "_delta_log", 1, [*(add(f"{number}.parquet") for number in range(2000)), add("../b.parquet")])
    with serving({"t": path}) as served:
        ended = {"delta-sharing-capabilities": "responseformat=parquet;includeEndStreamAction=true"}
        end = served.get(f"{table_path('t')}/changes?startingVersion=0", headers=ended).end
        assert "cannot be shared" in (end or {})["errorMessage"]
        with pytest.raises(http.client.IncompleteRead):
            served.get(f"{table_path('t')}/changes?startingVersion=0")


def test_deletion_vectors_are_sent_as_urls_in_delta_format_only(served: Served, tables: dict[str, Path]) -> None:
    refused = served.query("dv")
    assert refused.status == 400
    assert "deletionVectors" in refused.json["message"]
    assert "readerfeatures=deletionvectors" in refused.json["message"]
    (file,) = served.query("dv", headers=ONLY_DELTA).files
    vector = file["deltaSingleAction"]["add"]["deletionVector"]
    assert (vector["storageType"], vector["offset"], vector["cardinality"]) == ("p", 1, 2)
    assert file["deletionVectorFileId"] not in (None, file["id"])
    (stored,) = tables["dv"].glob("*.bin")
    assert served.fetch(vector["pathOrInlineDv"]).body == stored.read_bytes()


def test_a_table_that_needs_more_than_the_client_reads_is_refused_with_the_feature(served: Served) -> None:
    weak = {"delta-sharing-capabilities": "responseformat=delta;readerfeatures=timestampntz"}
    answer = served.query("dv", headers=weak)
    assert (answer.status, answer.json["errorCode"]) == (400, "UNSUPPORTED_OPERATION")
    assert "deletionVectors" in answer.json["message"]


def test_delta_files_keep_physical_names_and_null_partitions(served: Served) -> None:
    (file,) = served.query("mapped", headers=ONLY_DELTA).files
    add = file["deltaSingleAction"]["add"]
    assert add["partitionValues"] == {"col-2": "x y"}
    assert json.loads(add["stats"])["minValues"] == {"col-1": 0}
    values = [file["partitionValues"]["d"] for file in served.query("nulls").files]
    assert sorted(values, key=str) == [None, "a"]


def test_file_id_hash_is_echoed_or_refused(served: Served) -> None:
    assert served.query("part", headers={"fileidhash": "DELTA"}).headers["fileidhash"] == "delta"
    assert served.query("part", headers={"fileidhash": "md5"}).status == 400


@pytest.mark.parametrize(
    ("body", "rows"),
    [({"version": 0}, 1), ({"version": 1}, 2), ({"timestamp": "2999-01-01T00:00:00Z"}, 3), ({"version": 0, "limitHint": 5}, 1)],
)
def test_time_travel(served: Served, body: dict[str, Any], rows: int) -> None:
    answer = served.query("part", body)
    assert len(answer.files) == rows
    assert answer.headers["delta-table-version"] == str(rows - 1)


@pytest.mark.parametrize(
    "body",
    [
        {"version": -1},
        {"version": 99},
        {"version": "x"},
        {"version": 0, "timestamp": "2021-01-01T00:00:00Z"},
        {"timestamp": "2021-01-01"},
        {"timestamp": "1970-01-01T00:00:00Z"},
        {"endingVersion": 1},
        {"maxFiles": 0},
        {"maxFiles": -3},
        {"refreshToken": "x", "version": 1},
        {"refreshToken": "x"},
        {"pageToken": "x"},
        {"startingVersion": 9},
        {"startingVersion": 2, "endingVersion": 1},
    ],
)
def test_what_would_change_the_answer_is_refused_when_it_is_wrong(served: Served, body: dict[str, Any]) -> None:
    answer = served.query("part", body)
    assert answer.status == 400
    assert set(answer.json) == {"errorCode", "message", "details"}
    assert answer.json["message"]


def test_a_table_that_the_server_cannot_read_is_refused_for_good(tmp_path: Path) -> None:
    """A 500 would be asked for again and again: the Python client waits through ten attempts."""
    features = ["aFeatureOfTomorrow"]
    (tmp_path / "t" / "_delta_log").mkdir(parents=True)
    about = protocol(3, 7, readerFeatures=features, writerFeatures=features)
    write_commit(tmp_path / "t" / "_delta_log", 0, [about, metadata({"id": "integer"}), add("a.parquet")])
    with serving({"t": tmp_path / "t"}) as served:
        for answer in (served.query("t"), served.get(f"{table_path('t')}/metadata"), served.get(f"{table_path('t')}/version")):
            assert (answer.status, answer.json["errorCode"]) == (400, "UNSUPPORTED_OPERATION")
            assert "ask the provider" in answer.json["message"]
            assert str(tmp_path) not in answer.body.decode()


@pytest.mark.parametrize("most", [2**62, 2**63 - 1])
def test_a_page_may_be_larger_than_any_table(served: Served, most: int) -> None:
    answer = served.query("part", {"maxFiles": most})
    assert answer.status == 200
    assert len(answer.files) == 3
    assert "nextPageToken" not in (answer.end or {})


def test_a_removed_file_without_a_size_is_found_by_its_decoded_path(tmp_path: Path) -> None:
    path = tmp_path / "t"
    (path / "_delta_log").mkdir(parents=True)
    (path / "a b.parquet").write_bytes(b"12345")
    removed = {"remove": {"path": "a%20b.parquet", "deletionTimestamp": 1, "dataChange": True}}
    write_commit(path / "_delta_log", 0, [protocol(), metadata({"id": "integer"}), add("a%20b.parquet", size=5)])
    write_commit(path / "_delta_log", 1, [removed])
    with serving({"t": path}) as served:
        answer = served.query("t", {"startingVersion": 1})
        assert answer.status == 200
        (line,) = [line["remove"] for line in answer.lines if "remove" in line]
        assert line["size"] == 5
        assert served.fetch(line["url"]).body == b"12345"


def test_changes_in_both_formats(served: Served) -> None:
    plain = served.get(f"{PART}/changes?startingVersion=0&endingVersion=1&readChangeFeed=true&includeHistoricalMetadata=True")
    assert plain.headers["delta-table-version"] == "0"
    assert [next(iter(line)) for line in plain.lines] == ["protocol", "metaData", "add", "add"]
    assert [(line["add"]["version"], line["add"]["size"] > 0) for line in plain.lines[2:]] == [(0, True), (1, True)]
    delta = served.get(f"{PART}/changes?startingVersion=1", headers={"delta-sharing-capabilities": DELTA})
    assert delta.headers["delta-table-version"] == "1"
    assert [file["version"] for file in delta.files] == [1, 2]
    assert all({"timestamp", "expirationTimestamp", "deltaSingleAction"} <= set(file) for file in delta.files)


def test_a_new_protocol_on_the_way_is_for_those_who_ask_for_it(tmp_path: Path) -> None:
    """With the version of each; a client that did not ask expects one protocol, without a version."""
    log = tmp_path / "t" / "_delta_log"
    log.mkdir(parents=True)
    feed = {"delta.enableChangeDataFeed": "true"}
    write_commit(log, 0, [protocol(1, 4), metadata({"id": "integer"}, (), feed), add("a.parquet")])
    write_commit(log, 1, [protocol(1, 5), add("b.parquet")])
    write_commit(log, 2, [add("c.parquet")])
    with serving({"t": tmp_path / "t"}) as served:

        def protocols(answer: Asked) -> list[Any]:
            found = [line["protocol"] for line in answer.lines if "protocol" in line]
            return [(each.get("version"), each.get("deltaProtocol", each).get("minWriterVersion")) for each in found]

        changes, wish = f"{table_path('t')}/changes?startingVersion=0", "includeHistoricalProtocol"
        assert protocols(served.get(changes, headers=ONLY_DELTA)) == [(None, 5)]
        assert protocols(served.get(f"{changes}&{wish}=true", headers=ONLY_DELTA)) == [(2, 5), (1, 5)]
        assert protocols(served.get(f"{changes}&{wish}=true")) == [(None, None)], "the parquet format has one for all tables"
        assert protocols(served.query("t", {"startingVersion": 0}, headers=ONLY_DELTA)) == [(None, 4)]
        assert protocols(served.query("t", {"startingVersion": 0, wish: True}, headers=ONLY_DELTA)) == [(0, 4), (1, 5)]


def test_changes_page_by_page_are_the_same_changes(served: Served) -> None:
    whole = served.get(f"{PART}/changes?startingVersion=0").lines[2:]
    found: list[Any] = []
    query = ""
    while True:
        page = served.get(f"{PART}/changes?startingVersion=0&maxFiles=1{query}")
        found += [line["add"]["id"] for line in page.lines if "add" in line]
        assert page.end is not None
        if "nextPageToken" not in page.end:
            break
        query = f"&pageToken={page.end['nextPageToken']}"
    assert found == [line["add"]["id"] for line in whole]
    assert len(found) == 3


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("", "startingVersion"),
        ("startingVersion=0&startingTimestamp=2021-01-01T00:00:00Z", "choose one"),
        ("startingVersion=5", "up to 2"),
        ("startingVersion=2&endingVersion=1", "before"),
    ],
)
def test_changes_say_what_to_ask_for(served: Served, query: str, words: str) -> None:
    answer = served.get(f"{PART}/changes?{query}")
    assert answer.status == 400
    assert words in answer.json["message"]


def test_changes_without_a_feed_name_what_is_missing(served: Served) -> None:
    answer = served.get(f"{table_path('nulls')}/changes?startingVersion=0")
    assert answer.status == 400
    assert "change data feed" in answer.json["message"]


def test_files_since_a_version(served: Served) -> None:
    answer = served.query("part", {"startingVersion": 1})
    assert answer.headers["delta-table-version"] == "1"
    assert [line["add"]["version"] for line in answer.lines if "add" in line] == [1, 2]


def test_an_explanation_in_place_of_files_names_no_path(served: Served, tables: dict[str, Path]) -> None:
    answer = served.ask("POST", f"{PART}/query?explain=true", {"predicateHints": ["id > 15"]})
    assert answer.status == 200
    assert (answer.json["table"], answer.json["total_files"], answer.json["final_files"]) == ("share1.s.part", 3, 2)
    assert str(tables["part"]) not in answer.body.decode()
    assert tables["part"].parent.name not in answer.body.decode()


def test_a_filter_on_a_partition_as_the_spark_connector_sends_it(served: Served) -> None:
    hints = [
        "(CAST(partitionValues.d AS STRING) IS NOT NULL)",
        "(CAST(CAST(partitionValues.d AS STRING) AS DATE) = DATE '2021-04-29')",
    ]
    answer = served.query("part", {"predicateHints": hints, "includeRefreshToken": True, "refreshToken": None})
    assert [file["partitionValues"]["d"] for file in answer.files] == ["2021-04-29"]


def test_unknown_parameters_and_fields_are_ignored(served: Served) -> None:
    answer = served.ask("POST", f"{PART}/query?x=1", {"responseFormat": "parquet", "idempotency_key": "k", "new": [1]})
    assert len(answer.files) == 3
    assert served.query("part", b"").status == 200
