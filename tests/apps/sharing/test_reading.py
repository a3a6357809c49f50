"""Our reader against our own server: rows are right, predicate and limit are always applied, and nothing secret is shown."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest
from pyarrow import parquet as pq
from pyroaring import BitMap

import lakeprune
import lakeprune.sharing
from demo.delta_log import add, metadata, protocol, write_commit
from lakeprune.apps.sharing.reading.file_reader import FileUnreadable, _bitmap, deleted_rows, partition_value, read_task
from lakeprune.apps.sharing.reading.read import Asking, Offer, Request
from lakeprune.errors import PredicateError, TableError, UsageError
from lakeprune.storage.sharing.profile import Profile, read_profile
from tests.apps.sharing.server.served import Served, serving
from tests.apps.sharing.server.shared_tables import TABLES
from tests.builders.deletion_vectors import inline_vector
from tests.soundness.sharing.hints import random_sql
from tests.soundness.sharing.tables import TYPES, random_table


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("reading")


@pytest.fixture(scope="module")
def served(root: Path) -> Iterator[Served]:
    with serving({name: make(root / name) for name, make in TABLES.items()}) as running:
        (root / "p.share").write_text(running.profile())
        yield running


@pytest.fixture(scope="module")
def share(root: Path, served: Served) -> str:
    del served
    return f"{root / 'p.share'}#share1.s."


@pytest.mark.parametrize(("table", "rows"), [("part", 30), ("dv", 8), ("mapped", 5), ("empty", 0), ("nulls", 6), ("nostats", 4)])
def test_every_table_of_the_matrix_has_its_rows(share: str, table: str, rows: int) -> None:
    assert lakeprune.sharing.read(share + table).read_all().num_rows == rows


def test_deleted_rows_stay_hidden_and_mapped_columns_have_their_names(share: str) -> None:
    assert lakeprune.sharing.read(share + "dv").read_all()["value"].to_pylist() == list(range(1, 9))
    assert lakeprune.sharing.read(share + "mapped").schema.names == ["id", "p"]


def test_a_predicate_is_sent_and_applied(share: str) -> None:
    reported: list[Offer] = []
    rows = lakeprune.sharing.read(share + "part", "d = '2021-04-29' AND id IN (11, 12)", columns=["id"], on_offer=reported.append)
    assert rows.read_all().to_pylist() == [{"id": 11}, {"id": 12}]
    assert reported == [rows.offer]
    assert (rows.offer.files, rows.offer.version) == (1, 2)
    assert rows.offer.bytes > 0
    assert rows.offer.outcome == "json=applied;files=1/3"


@pytest.mark.parametrize(
    ("limit", "where", "rows"), [(3, None, 3), (0, None, 0), (100, None, 30), (3, "id > 15", 3), (20, "id > 15", 14)]
)
def test_a_limit_is_applied_after_the_predicate(share: str, limit: int, where: str | None, rows: int) -> None:
    found = lakeprune.sharing.read(share + "part", where, limit=limit).read_all()
    assert found.num_rows == rows
    assert where is None or min(found["id"].to_pylist()) > 15


def test_rows_are_an_arrow_stream(share: str) -> None:
    assert pa.table(lakeprune.sharing.read(share + "part", "id = 5")).num_rows == 1


@pytest.mark.parametrize("where", ["s LIKE '%5'", "id % 7 = 3", "s RLIKE 'x'", "upper(s) = 'S005'"])
def test_what_only_spark_evaluates_exactly_is_refused(share: str, where: str) -> None:
    with pytest.raises(PredicateError, match=r"LP112(?s:.*)give spark="):
        lakeprune.sharing.read(share + "part", where)


def test_wrong_arguments_are_named(share: str) -> None:
    with pytest.raises(UsageError, match="there is no column `nosuch`"):
        lakeprune.sharing.read(share + "part", columns=["nosuch"])
    with pytest.raises(UsageError, match="the columns are 'day'"):
        lakeprune.sharing.read(share + "part", columns="day")
    with pytest.raises(UsageError, match="LP218"):
        lakeprune.sharing.read(share + "part", 5)  # type: ignore[call-overload]
    with pytest.raises(UsageError, match="-1 is not a limit"):
        lakeprune.sharing.read(share + "part", limit=-1)
    with pytest.raises(PredicateError, match="LP102"):
        lakeprune.sharing.read(share + "part", "nosuch = 1")
    with pytest.raises(TypeError, match="nosuch"):
        lakeprune.sharing.read(share + "part", nosuch=1)  # type: ignore[call-overload]
    with pytest.raises(TableError, match="status 404"):
        lakeprune.sharing.read(share + "nosuch")


def test_what_is_wrong_with_a_profile_is_said_without_its_token(tmp_path: Path, served: Served) -> None:
    secret = "s" * 40
    good = {"shareCredentialsVersion": 1, "endpoint": served.endpoint, "bearerToken": secret}
    for content, said in [
        (good, "status 401"),
        ({**good, "endpoint": "http://example.com/x"}, "LP396"),
        ({**good, "endpoint": "ftp://127.0.0.1"}, "LP396"),
        ({**good, "shareCredentialsVersion": 2}, "LP391"),
        ({**good, "expirationTime": "2020-01-01T00:00:00Z"}, "expired"),
        ({"endpoint": served.endpoint}, "LP391"),
    ]:
        profile = tmp_path / "p.share"
        profile.write_text(json.dumps(content))
        with pytest.raises(TableError) as error:
            lakeprune.sharing.read(f"{profile}#share1.s.part")
        assert said in str(error.value)
        assert secret not in str(error.value) + repr(error.value)
    assert secret not in repr(Profile("https://x", secret))
    with pytest.raises(TableError, match="LP391"):
        read_profile(str(tmp_path / "nosuch"))
    for location in ("orders", None):
        with pytest.raises(TableError, match="LP391"):
            lakeprune.sharing.read(location)  # type: ignore[arg-type]  # as a program may


def test_a_file_that_cannot_be_fetched_is_named_without_its_signature(share: str) -> None:
    prepared = Asking.of(Request(share + "part")).prepare(None, ())
    task = prepared.task(prepared.answer.files[0])
    signature = task["url"].partition("sig=")[2][:16]
    assert signature
    for wrong in (task["url"].replace("sig=", "sig=0"), task["url"].replace("http://127.0.0.1", "http://example.com")):
        with pytest.raises(FileUnreadable) as error:
            list(read_task({**task, "url": wrong}, prepared.schema.serialize().to_pybytes()))
        assert signature not in str(error.value)
        assert "http:" not in str(error.value)
    with pytest.raises(FileUnreadable, match="the server announced"):
        list(read_task({**task, "size": 5}, prepared.schema.serialize().to_pybytes()))


def test_deletion_vectors_are_read_as_roaring_bitmaps_are_written() -> None:
    random = Random(3)
    for rows in (
        [0],
        [0, 9],
        list(range(70_000)),
        sorted(random.sample(range(200_000), 30_000)),
        [5, 2**33 + 7],
        list(range(0, 131_072, 2)),
    ):
        assert deleted_rows(inline_vector(rows), "f") == rows
    runs = BitMap(range(100_000))
    runs.run_optimize()
    assert _bitmap(runs.serialize(), 0)[0] == list(range(100_000))


def test_partition_values_are_read_by_their_type() -> None:
    assert partition_value("7", pa.int32()) == 7
    assert partition_value("", pa.string()) is None
    assert partition_value("2021-04-29", pa.date32()).isoformat() == "2021-04-29"
    assert partition_value("2021-04-29T01:00:00Z", pa.timestamp("us", "UTC")).isoformat() == "2021-04-29T01:00:00+00:00"


def test_rows_of_random_predicates_are_those_that_duckdb_finds(tmp_path: Path) -> None:
    """With hints, through the server, over nulls, NaN, deletion vectors and missing statistics."""
    random = Random(11)
    tables = [random_table(random, tmp_path / f"t{number}") for number in range(2)]
    for table in tables:
        _with_features(table.path)
    applied = 0
    with serving({f"t{number}": table.path for number, table in enumerate(tables)}) as running:
        (tmp_path / "p.share").write_text(running.profile())
        place = f"{tmp_path / 'p.share'}#share1.s.t"
        for number, table in enumerate(tables):
            for _ in range(40):
                made = random_sql(random, is_sent=False)
                where = made.hint.replace("partitionValues.", "")
                try:
                    rows = lakeprune.sharing.read(f"{place}{number}", where, columns=list(TYPES), timezone="UTC").read_all()
                except PredicateError as error:
                    if error.code != "LP112":
                        raise
                    continue
                applied += 1
                (count,) = table.rows.execute(f"SELECT count(*) FROM rows WHERE {made.condition}").fetchone()  # type: ignore[misc]
                assert rows.num_rows == count, (where, made.condition)
            table.rows.close()
    assert applied > 40


def _with_features(path: Path) -> None:
    """The random tables have deletion vectors: their protocol has to say so."""
    log = path / "_delta_log" / f"{0:020d}.json"
    actions = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    for action in actions:
        if "protocol" in action:
            names = ["deletionVectors"]
            action["protocol"] = {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": names, "writerFeatures": names}
    log.write_text("".join(json.dumps(action) + "\n" for action in actions), encoding="utf-8")


def test_a_shared_table_is_explained_from_what_the_server_sends(share: str) -> None:
    report = lakeprune.explain(share + "part", "id < 3 AND s LIKE '%1%'")
    assert (report.numbers.total.files, report.numbers.kept.files, report.facts.version) == (3, 1, 2)
    (note,) = [note for note in report.facts.notes if note.code == "shared_server"]
    assert note.message.startswith("with the JSON hint of this predicate the server offers 1 of 3 files")
    assert "does not express `s LIKE '%1%'`" in note.message
    assert lakeprune.explain(share + "dv", "value > 3").numbers.kept.files == 1
    assert lakeprune.explain(share + "mapped", "p = 'nosuch'").numbers.kept.files == 0


def test_a_column_that_a_file_writes_in_another_case_is_read(tmp_path: Path) -> None:
    """Names of columns are the same in any case: rows whose `ID` were taken for NULL would be filtered out."""
    path = tmp_path / "t"
    (path / "_delta_log").mkdir(parents=True)
    pq.write_table(pa.table({"ID": [1, 2], "s": [{"A": 5}, {"A": 6}]}), path / "a.parquet")
    about = add("a.parquet", size=(path / "a.parquet").stat().st_size)
    kinds = {"id": "long", "s": {"type": "struct", "fields": [{"name": "a", "type": "long", "nullable": True, "metadata": {}}]}}
    write_commit(path / "_delta_log", 0, [protocol(), metadata(kinds), about])
    with serving({"t": path}) as running:
        (tmp_path / "p.share").write_text(running.profile())
        rows = lakeprune.sharing.read(f"{tmp_path / 'p.share'}#share1.s.t", "id > 1").read_all()
    assert rows.to_pylist() == [{"id": 2, "s": {"a": 6}}]
