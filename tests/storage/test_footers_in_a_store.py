"""Row groups of tables in a store: only footers of the files that are left are fetched, and the answer is the local one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from demo.delta_log import add, statistics
from lakeprune.formats.row_groups.filters import bring_filters
from lakeprune.storage.local import LocalStorage
from tests.formats.row_groups.delta import delta_of
from tests.storage.running import comparable, explain
from tests.storage.servers import Server

TAIL = 64 << 10


def big_files(root: Path) -> Path:
    """Three files of 400 kB whose footers are small, and one whose footer is longer than the tail that is fetched first."""
    root.mkdir()
    rng = Random(0)
    actions = []
    for number in range(4):
        first = 1000 * number
        columns = {"x": list(range(first, first + 1000)), "noise": [rng.randbytes(400) for _ in range(1000)]}
        if number == 3:
            columns |= {f"c{k}": [rng.random() for _ in range(1000)] for k in range(30)}
        path = root / f"part {number}.parquet"
        pq.write_table(pa.table(columns), path, row_group_size=20 if number == 3 else 100, write_statistics=["x", "c0", "c1"])
        stats = statistics(1000, x=(first, first + 999, 0))
        actions.append(add(f"part%20{number}.parquet", stats, size=path.stat().st_size))
    return delta_of(root, {"x": "long", "noise": "binary"}, actions)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return big_files(tmp_path_factory.mktemp("footers") / "t")


@pytest.mark.parametrize("server", ["s3"], indirect=True)
def test_only_footers_of_files_that_are_left_are_fetched(server: Server, table: Path) -> None:
    url = server.upload(table, "footers")
    server.delete("footers/part 0.parquet")
    where = "x IN (1500, 2500)"
    flags = ["-w", where, "--row-groups", "--verbose", "--format", "json"]
    log = explain(url, "-w", where, "--verbose", "--format", "json", "--no-cache", *server.flags()).document["fetched"]
    remote = explain(url, *flags, "--no-cache", *server.flags())
    assert (remote.code, remote.err) == (0, "reading 2 footers\n")
    fetched = remote.document["fetched"]
    assert fetched["requests"] == log["requests"] + 2
    assert fetched["bytes"] == log["bytes"] + 2 * TAIL
    assert comparable(remote.document) == comparable(explain(str(table), *flags).document)
    assert remote.document["summary"]["row_groups_kept"] == 2


@pytest.mark.parametrize("server", ["s3"], indirect=True)
def test_a_footer_longer_than_the_tail_takes_a_second_request(server: Server, table: Path) -> None:
    path = table / "part 3.parquet"
    footer = int.from_bytes(path.read_bytes()[-8:-4], "little") + 8
    assert footer > TAIL
    url = server.upload(table, "long")
    flags = ["-w", "x = 3500", "--row-groups", "--verbose", "--format", "json"]
    log = explain(url, "-w", "x = 3500", "--verbose", "--format", "json", "--no-cache", *server.flags()).document["fetched"]
    remote = explain(url, *flags, "--no-cache", *server.flags()).document
    assert remote["fetched"]["bytes"] == log["bytes"] + footer
    assert remote["fetched"]["requests"] == log["requests"] + 2
    assert comparable(remote) == comparable(explain(str(table), *flags).document)


def with_filters(root: Path) -> Path:
    """Two files in which every row group spans all values, so that only filters tell them apart."""
    root.mkdir()
    rng = Random(1)
    actions = []
    for number in range(2):
        values = rng.sample(range(number, 4000, 2), 1000)
        path = root / f"part-{number}.parquet"
        rows = pa.table({"x": values, "noise": [rng.randbytes(400) for _ in values]})
        pq.write_table(rows, path, row_group_size=100, bloom_filter_options={"x": True})
        actions.append(add(path.name, statistics(1000, x=(0, 4000, 0)), size=path.stat().st_size))
    return delta_of(root, {"x": "long", "noise": "binary"}, actions)


@pytest.mark.parametrize("server", ["s3"], indirect=True)
def test_only_the_bytes_of_bloom_filters_are_fetched_besides(server: Server, tmp_path: Path) -> None:
    table = with_filters(tmp_path / "t")
    url = server.upload(table, "filters")
    value = pq.ParquetFile(table / "part-0.parquet").read_row_group(3)["x"][0].as_py()
    flags = ["-w", f"x IN ({value}, 4001)", "--row-groups", "--verbose", "--format", "json"]
    footers = explain(url, *flags, "--no-cache", *server.flags()).document
    remote = explain(url, *flags, "--bloom", "--no-cache", *server.flags()).document
    assert comparable(remote) == comparable(explain(str(table), *flags, "--bloom").document)
    assert footers["summary"]["row_groups_kept"] > remote["summary"]["row_groups_kept"] >= 1
    (kept,) = [file for file in remote["files"] if file["path"] == "part-0.parquet"]
    assert kept["row_groups"][3]["kept"]
    assert remote["fetched"]["requests"] == footers["fetched"]["requests"] + 20  # a filter for each row group
    columns = [
        pq.ParquetFile(file).metadata.row_group(n).column(0) for file in sorted(table.glob("*.parquet")) for n in range(10)
    ]
    lengths = sum(column.bloom_filter_length + 64 for column in columns)
    assert remote["fetched"]["bytes"] == footers["fetched"]["bytes"] + lengths
    assert [note["code"] for note in footers["notes"]] == ["bloom_filters_not_consulted"]
    assert not remote["notes"]


class Sparse(LocalStorage):
    """Files of which only what was brought is there, the rest zeros, as of a store."""

    has_whole_files = False

    def __init__(self, whole: Path, here: Path) -> None:
        self.whole, self.here = whole, here
        here.write_bytes(bytes(whole.stat().st_size))

    def bring_bytes(self, pieces: Sequence[tuple[str, int, int]]) -> None:
        content = self.whole.read_bytes()
        with self.here.open("r+b") as target:
            for _, start, end in pieces:
                target.seek(start)
                target.write(content[start:end])


def test_a_filter_whose_length_is_not_recorded_is_measured_first_and_a_short_one_is_not_asked(tmp_path: Path) -> None:
    """Bytes that are not fetched are zeros, which exclude every value: a length that is too small would lose rows."""
    file = with_filters(tmp_path / "t") / "part-0.parquet"
    chunk = pq.ParquetFile(file).metadata.row_group(0).column(0)
    start, length = chunk.bloom_filter_offset, chunk.bloom_filter_length
    for end, is_here in ((start + length, True), (None, True), (start + length - 40, False), (start + 1, False)):
        storage = Sparse(file, tmp_path / "here")
        assert bring_filters(storage, [(str(storage.here), start, end)]) == ({str(storage.here)} if is_here else set())
        if is_here:
            assert storage.here.read_bytes()[start : start + length] == file.read_bytes()[start : start + length]
    storage = Sparse(file, tmp_path / "here")
    assert bring_filters(storage, [(str(storage.here), start + 3, None)]) == set()  # no header begins there
