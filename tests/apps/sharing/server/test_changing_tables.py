"""Tables and rights that change while they are served: what was fine for the first answer is not fine for the next."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from demo.delta_log import add, field, mapping, metadata, protocol, statistics, write_commit
from lakeprune.apps.sharing.server import tables as tables_module
from lakeprune.apps.sharing.server.config import SharedTable
from lakeprune.apps.sharing.server.tables import Tables
from lakeprune.errors import LakepruneError
from tests.apps.sharing.server.served import DELTA, Served, serving, table_path

ONLY_DELTA = {"delta-sharing-capabilities": DELTA}
FEED = {"delta.enableChangeDataFeed": "true"}


def test_changes_of_columns_that_were_mapped_on_the_way_are_not_sent_to_plain_readers(tmp_path: Path) -> None:
    """Their files have other names of columns: a plain reader would find NULLs there."""
    log = tmp_path / "t" / "_delta_log"
    log.mkdir(parents=True)
    mapped = metadata({"id": field("id", "integer", mapping(1, "c1"))}, (), {**FEED, "delta.columnMapping.mode": "name"})
    write_commit(log, 0, [protocol(1, 4), metadata({"id": "integer"}, (), FEED), add("a.parquet")])
    write_commit(log, 1, [protocol(2, 5), mapped, add("b.parquet")])
    write_commit(log, 2, [metadata({"id": "integer"}, (), FEED), add("c.parquet")])
    with serving({"t": tmp_path / "t"}) as served:
        changes = f"{table_path('t')}/changes?startingVersion=0&includeHistoricalMetadata=true"
        assert served.get(f"{changes}&endingVersion=0").status == 200
        assert served.get(f"{changes}&endingVersion=1").status == 400
        assert served.query("t", {"startingVersion": 0, "endingVersion": 1}).status == 400
        assert served.get(f"{changes}&endingVersion=1", headers=ONLY_DELTA).status == 200
        assert len(served.get(changes, headers=ONLY_DELTA).files) == 3
        assert served.get(changes).status == 400, "though its first and its last version are plain"
        assert served.query("t", {"startingVersion": 0}).status == 400


def test_a_table_that_becomes_unreadable_is_refused_and_pages_under_way_go_on(tmp_path: Path) -> None:
    log = tmp_path / "t" / "_delta_log"
    log.mkdir(parents=True)
    write_commit(log, 0, [protocol(), metadata({"id": "integer"}), add("a.parquet"), add("b.parquet")])
    with serving({"t": tmp_path / "t"}) as served:
        first = served.query("t", {"maxFiles": 1, "includeRefreshToken": True})
        features = ["aFeatureOfTomorrow"]
        write_commit(log, 1, [protocol(3, 7, readerFeatures=features, writerFeatures=features), add("c.parquet")])
        answer = served.query("t")
        assert (answer.status, answer.json["errorCode"]) == (400, "UNSUPPORTED_OPERATION")
        end = first.end or {}
        second = served.query("t", {"maxFiles": 1, "pageToken": end["nextPageToken"]})
        assert (second.status, len(second.files)) == (200, 1)
        assert second.headers["delta-table-version"] == "0"
        assert len(served.query("t", {"refreshToken": end["refreshToken"]}).files) == 2


def test_a_table_that_gets_deletion_vectors_is_not_read_plainly_any_more(tmp_path: Path) -> None:
    log = tmp_path / "t" / "_delta_log"
    log.mkdir(parents=True)
    write_commit(log, 0, [protocol(), metadata({"id": "integer"}), add("a.parquet", statistics(10, id=(0, 9, 0)))])
    with serving({"t": tmp_path / "t"}) as served:
        assert served.query("t").status == 200
        features = ["deletionVectors"]
        changed = add("a.parquet", statistics(10, id=(0, 9, 0)))
        changed["add"]["deletionVector"] = {
            "storageType": "i", "pathOrInlineDv": "wi5b=000010000siXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L", "sizeInBytes": 40,
            "cardinality": 6,
        }  # fmt: skip
        write_commit(log, 1, [protocol(3, 7, readerFeatures=features, writerFeatures=features), changed])
        answer = served.query("t")
        assert (answer.status, answer.json["errorCode"]) == (400, "UNSUPPORTED_OPERATION")
        assert "deletionVectors" in answer.json["message"]
        assert len(served.query("t", headers=ONLY_DELTA).files) == 1


def limited(served: Served, limit: int) -> list[str]:
    answer = served.query("t", {"limitHint": limit}, headers=ONLY_DELTA)
    assert answer.status == 200
    return [str(file["deltaSingleAction"]["add"]["stats"]) for file in answer.files]


def test_a_limit_counts_live_rows(tmp_path: Path) -> None:
    """a: 10 rows, 6 of them deleted; b: 10 rows, and nobody says how many are deleted; c: 10 rows."""
    log = tmp_path / "t" / "_delta_log"
    log.mkdir(parents=True)
    features = ["deletionVectors"]
    files = [add(f"{name}.parquet", statistics(10, id=(first, first + 9, 0))) for name, first in (("a", 0), ("b", 10), ("c", 20))]
    vector = {"storageType": "i", "pathOrInlineDv": "wi5b=000010000siXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L", "sizeInBytes": 40}
    files[0]["add"]["deletionVector"] = {**vector, "cardinality": 6}
    files[1]["add"]["deletionVector"] = vector
    write_commit(log, 0, [protocol(3, 7, readerFeatures=features, writerFeatures=features), metadata({"id": "integer"}), *files])
    with serving({"t": tmp_path / "t"}) as served:
        assert len(limited(served, 4)) == 1
        five = limited(served, 5)
        assert len(five) == 2, "a and c: b may have no row at all"
        assert not any('"id":10' in stats.replace(" ", "") for stats in five)
        assert len(limited(served, 14)) == 2
        assert len(limited(served, 15)) == 3


@pytest.mark.parametrize("query", ["version", "timestamp"])
def test_pages_of_an_old_version_end_with_the_history(tmp_path: Path, query: str) -> None:
    log = tmp_path / "t" / "_delta_log"
    log.mkdir(parents=True)
    write_commit(log, 0, [protocol(), metadata({"id": "integer"}), add("a.parquet"), add("b.parquet")])
    with serving({"t": tmp_path / "t"}) as served:
        body = {"maxFiles": 1, query: {"version": 0, "timestamp": "2999-01-01T00:00:00Z"}[query]}
        token = (served.query("t", body).end or {})["nextPageToken"]
        assert served.query("t", {**body, "pageToken": token}).status == 200
        _reshare(served, history=False)
        assert served.query("t", {**body, "pageToken": token}).status == 400


def test_tokens_do_not_reach_versions_that_are_not_shared_any_more(tmp_path: Path) -> None:
    log = tmp_path / "t" / "_delta_log"
    log.mkdir(parents=True)
    write_commit(log, 0, [protocol(), metadata({"id": "integer"}), add("a.parquet"), add("b.parquet")])
    with serving({"t": tmp_path / "t"}) as served:
        end = served.query("t", {"maxFiles": 1, "includeRefreshToken": True}).end or {}
        write_commit(log, 1, [add("c.parquet")])
        bodies = [{"maxFiles": 1, "pageToken": end["nextPageToken"]}, {"refreshToken": end["refreshToken"]}]
        assert [served.query("t", body).status for body in bodies] == [200, 200]
        _reshare(served, start_version=1)
        assert [served.query("t", body).status for body in bodies] == [400, 400]


def written(root: Path, versions: int) -> SharedTable:
    """Ten files and one more for each version."""
    (root / "_delta_log").mkdir(parents=True)
    write_commit(root / "_delta_log", 0, [protocol(), metadata({"id": "integer"}), *(add(f"{k}.parquet") for k in range(10))])
    for version in range(1, versions):
        write_commit(root / "_delta_log", version, [add(f"v{version}.parquet")])
    return SharedTable("share1", "s", "t", str(root), history=True)


def test_few_versions_of_a_table_are_kept_and_the_newest_is_cheap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables_module, "MOST_KEPT_AT_ALL", 60)
    monkeypatch.setattr(tables_module, "MOST_KEPT_FILES", 30)
    tables = Tables(0)
    try:
        one, other = written(tmp_path / "one", 12), written(tmp_path / "other", 1)
        assert tables.latest(other).is_cheap
        for version in range(12):
            assert tables.at(one, version).is_cheap, "older ones make room"
            assert sum(each.kept_files for each in tables._opened.values()) <= 60
            assert len([key for key in tables._opened if str(tmp_path / "one") in key[0]]) <= tables_module.MOST_VERSIONS
        assert tables.at(one, 0).totals(None).files == 10, "it is opened again"
        assert tables.latest(other).is_cheap
    finally:
        tables.close()


def test_what_was_begun_ends_with_the_configuration_that_it_began_with(tmp_path: Path) -> None:
    log = tmp_path / "t" / "_delta_log"
    log.mkdir(parents=True)
    content = bytes(range(256)) * (1 << 16)
    (tmp_path / "t" / "a.parquet").write_bytes(content)
    files = [add("a.parquet", size=len(content)), *(add(f"{number:05}-{'x' * 400}.parquet") for number in range(10_000))]
    write_commit(log, 0, [protocol(), metadata({"id": "integer"}), *files])
    with serving({"t": tmp_path / "t"}) as served:
        url = served.query("t", {"maxFiles": 10_001}).files[-1]["url"]
        began = [
            served.began("GET", url.removeprefix(served.endpoint), None),
            served.began("POST", f"{table_path('t')}/query", b"{}"),
        ]
        served.service.reload(replace(served.service.setup.config, recipients={}))
        assert served.fetch(url).status == 403
        assert served.query("t").status == 401
        first, second = (answer.read() for answer in began)
        assert first == content
        assert len(second.splitlines()) == 10_003


def test_a_configuration_that_fails_late_changes_nothing(tables: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "tokens.json").write_text("{", encoding="utf-8")
    with serving({"part": tables["part"]}) as served:
        config = replace(served.service.setup.config, recipients={}, tokens_path=str(tmp_path / "tokens.json"))
        with pytest.raises(LakepruneError):
            served.service.reload(config)
        assert len(served.query("part").files) == 3


def _reshare(served: Served, **changed: object) -> None:
    config = served.service.setup.config

    def again(table: SharedTable) -> SharedTable:
        return replace(table, **changed)

    shares = tuple(replace(share, tables=tuple(map(again, share.tables))) for share in config.shares)
    served.service.reload(replace(config, shares=shares))
