"""Of large checkpoints only the columns that a predicate needs are fetched, and the answer is that of the whole file."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakeprune.engines.duckdb.engine import DuckDBEngine
from lakeprune.engines.engine import EngineError
from lakeprune.formats.delta.checkpoint import column_use
from lakeprune.storage import partial_parquet
from lakeprune.storage.object.storage import open_object_storage
from lakeprune.storage.storage import ColumnUse
from tests.builders.delta import PROTOCOL, Log, add, bounds, metadata
from tests.storage.proxy import Proxy
from tests.storage.running import comparable, explain
from tests.storage.servers import Server

COLUMNS = [f"c{number}" for number in range(12)]
HEAD = (PROTOCOL, metadata(dict.fromkeys([*COLUMNS, "a, b"], "long")))
FILES = 3_000
NESTED = {"partitionValues", "tags", "options", "partitionColumns", "configuration", "readerFeatures", "writerFeatures"}


@pytest.fixture(scope="module")
def typed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Statistics as typed columns and no JSON, twelve of them, in two row groups; a commit after the checkpoint."""
    log = Log(tmp_path_factory.mktemp("typed") / "table")
    names = [*COLUMNS, "a, b"]
    struct = pa.struct([(name, pa.int64()) for name in names])
    parsed = pa.struct([("numRecords", pa.int64()), ("minValues", struct), ("maxValues", struct), ("nullCount", struct)])
    actions = []
    for number in range(FILES):
        low = {name: number * 7919 % 10_007 * (k + 1) for k, name in enumerate(names)}
        statistics = {
            "numRecords": 10,
            "minValues": low,
            "maxValues": {n: v + 9 for n, v in low.items()},
            "nullCount": dict.fromkeys(names, 0),
        }
        action = add(f"part-{number:05}.parquet", size=number)
        action["add"]["stats_parsed"] = statistics
        actions.append(action)
    log.checkpoint(1, *HEAD, *actions, parsed=parsed)
    checkpoint = log.log / f"{1:020}.checkpoint.parquet"
    pq.write_table(pq.read_table(checkpoint), checkpoint, row_group_size=FILES // 2 + 2)
    log.hint('{"version": 1, "size": 3000}')
    return log.commit(
        2, {"remove": {"path": "part-00007.parquet", "dataChange": True}}, add("new", bounds(5, 5, column="c3"))
    ).path


@pytest.fixture
def small_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partial_parquet, "WORTH_IT", 30_000)


@pytest.mark.usefixtures("small_is_large")
@pytest.mark.parametrize(
    ("where", "tail"),
    [
        ("c3 < 500", 64),
        ("c3 < 500 AND c7 > 70000", 4_000),
        ("`a, b` < 900", 25_000),
        ("c1 IS NULL OR c2 = 3 * 17", 64),
        (None, 4_000),
    ],
)
def test_the_answer_is_that_of_the_whole_file(
    server: Server, typed: Path, monkeypatch: pytest.MonkeyPatch, where: str | None, tail: int
) -> None:
    monkeypatch.setattr(partial_parquet, "_TAIL", tail)
    flags = [*(["-w", where] if where else []), "--verbose", "--limit", "50", "--explain-why", "--format", "json"]
    remote = explain(server.upload(typed, "typed"), *flags, *server.flags())
    assert (remote.code, remote.err) == (0, "")
    assert comparable(remote.document) == comparable(explain(str(typed), *flags).document)
    assert remote.document["fetched"]["bytes"] < 0.9 * sum(file.stat().st_size for file in (typed / "_delta_log").iterdir())


@pytest.mark.usefixtures("small_is_large")
def test_only_needed_columns_are_fetched_and_only_once(
    s3: Server, s3_proxy: Proxy, typed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partial_parquet, "_TAIL", 20_000)
    url = s3.upload(typed, "columns")
    size = (typed / "_delta_log" / f"{1:020}.checkpoint.parquet").stat().st_size

    def fetched(where: str) -> dict[str, int]:
        ran = explain(url, "-w", where, "--verbose", "--limit", "0", "--format", "json", *s3.behind(s3_proxy.port).flags())
        found: dict[str, int] = ran.document["fetched"]
        assert found["requests"] == len(s3_proxy.seen)
        s3_proxy.forget()
        return found

    first = fetched("c3 < 500")
    assert first["bytes"] < size / 2
    again = fetched("c3 < 600")
    assert (again["requests"], again["bytes"]) == (2, len('{"version": 1, "size": 3000}'))
    other = fetched("c3 < 500 AND c4 < 800")
    assert other["requests"] == 2 + 2 * 3  # minimum, maximum and null count in two row groups
    assert 0 < other["bytes"] < first["bytes"] / 2


@pytest.mark.usefixtures("small_is_large")
def test_a_column_that_was_not_fetched_can_not_be_read(s3: Server, typed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The guard: an error, whichever column it is, and never NULLs or zeros."""
    monkeypatch.setattr(partial_parquet, "_TAIL", 4_000)
    url, path = s3.upload(typed, "guard"), f"_delta_log/{1:020}.checkpoint.parquet"
    storage, engine = open_object_storage(url, {"storage_options": s3.options}), DuckDBEngine()
    (place,) = storage.parquet_paths([path], engine.parquet_chunks, column_use)
    source = engine.parquet_source([place])
    chunks = engine.parquet_chunks(place)
    assert chunks is not None
    columns = {chunk.column for chunk in chunks}
    missing = {column for column in columns if column_use(column) is not ColumnUse.ALWAYS}
    assert len(missing) == 1 + 3 * 13 + 2  # the row count, three statistics of each column, keys and values of tags
    for column in sorted(columns - {("add", "stats_parsed", part, "a", "b") for part in ("minValues", "maxValues", "nullCount")}):
        if NESTED & {*column}:
            continue  # lists and maps: their leaf has no name of its own
        leaf = engine.dialect.field(engine.dialect.identifier(column[0]), column[1:])
        if column in missing:
            with pytest.raises(EngineError):
                engine.query(f"SELECT count(hash({leaf})) FROM {source}")
        else:
            engine.query(f"SELECT count(hash({leaf})) FROM {source}")
    storage.close()


@pytest.mark.usefixtures("small_is_large")
def test_a_checkpoint_that_is_read_as_a_whole_is_fetched_as_a_whole(
    s3: Server, s3_proxy: Proxy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partial_parquet, "_TAIL", 20_000)
    log = Log(tmp_path / "json")
    head = (PROTOCOL, metadata({"x": "long"}))
    log.checkpoint(1, *head, *(add(f"f{number * 7919 % 10_007:05}", bounds(number, number + 3)) for number in range(9_000)))
    size = (log.log / f"{1:020}.checkpoint.parquet").stat().st_size
    assert size > partial_parquet.WORTH_IT
    url = s3.upload(log.path, "json")
    ran = explain(url, "-w", "x < 9", "--verbose", "--limit", "0", "--format", "json", *s3.behind(s3_proxy.port).flags())
    assert ran.document["final_files"] == 9
    assert ran.document["fetched"]["requests"] == len(s3_proxy.seen) == 4  # no hint, listing, footer, everything
    assert ran.document["fetched"]["bytes"] == size + 20_000


@pytest.mark.usefixtures("small_is_large")
@pytest.mark.parametrize("damage", ["no mark", "footer too long", "footer unreadable", "cut off"])
def test_a_damaged_checkpoint_is_noticed_as_it_is_locally(
    s3: Server, typed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    monkeypatch.setattr(partial_parquet, "_TAIL", 4_000)
    path = f"_delta_log/{1:020}.checkpoint.parquet"
    content = bytearray((typed / path).read_bytes())
    if damage == "no mark":
        content[-4:] = b"XXXX"
    elif damage == "footer too long":
        content[-8:-4] = b"\xff\xff\xff\x7f"
    elif damage == "footer unreadable":
        start = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
        content[start : start + 100] = b"\xff" * 100
    else:
        del content[-1000:]
    url = s3.upload(typed, "damaged-checkpoint", only="_delta_log")
    s3.put(f"damaged-checkpoint/{path}", bytes(content))
    ran = explain(url, "-w", "c3 < 500", "--cache-dir", str(tmp_path), *s3.flags())
    assert (ran.code, ran.out) == (3, "")
    assert "error[LP311]" in ran.err
    assert "checkpoint 1 is not used" in ran.err
