"""The cache of metadata files: checked at every use, shared by processes, bounded, and never old bytes for a new table."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import lakeprune
from lakeprune.storage.cache import IN_USE, FileCache
from tests.builders.delta import users_flat
from tests.storage.proxy import Proxy, Request
from tests.storage.running import explain, explain_in_a_process
from tests.storage.servers import Server


def entries(cache: Path) -> list[Path]:
    return sorted(path for path in cache.rglob("*") if path.is_file())


@pytest.mark.parametrize("damage", ["cut off", "changed", "emptied", "removed", "a directory"])
def test_a_damaged_entry_is_fetched_again(s3: Server, local_users: Path, tmp_path: Path, damage: str) -> None:
    url = s3.upload(local_users, "damaged")
    flags = ["-w", "age > 40", "--verbose", "--format", "json", "--cache-dir", str(tmp_path / "c"), *s3.flags()]
    whole = explain(url, *flags).document
    victim = entries(tmp_path / "c")[2]
    content = victim.read_bytes()
    if damage == "cut off":
        victim.write_bytes(content[:-1])
    elif damage == "changed":
        victim.write_bytes(content.replace(b'"add"', b'"Add"'))
    elif damage == "emptied":
        victim.write_bytes(b"")
    else:
        victim.unlink()
        if damage == "a directory":
            victim.mkdir()
    again = explain(url, *flags)
    if damage == "a directory":
        assert (again.code, again.out) == (2, "")
        assert json.loads(again.err)["error"]["code"] == "LP234"
        return
    assert again.document["files"] == whole["files"]
    assert again.document["fetched"]["requests"] == 3
    assert victim.read_bytes() == content


def test_a_table_made_anew_at_the_same_place_never_meets_old_bytes(server: Server, local_users: Path, tmp_path: Path) -> None:
    url = server.upload(local_users, "anew")
    assert lakeprune.explain(url, storage_options=server.options).numbers.total.rows == 24
    for file in (local_users / "_delta_log").iterdir():
        server.delete(f"anew/_delta_log/{file.name}")
    server.upload(users_flat(tmp_path / "flat"), "anew")
    report = lakeprune.explain(url, storage_options=server.options)
    assert (report.facts.version, report.numbers.total.rows) == (0, 21)


def test_two_stores_do_not_share_entries(s3: Server, s3_proxy: Proxy, local_users: Path) -> None:
    """The same bucket and table behind another address are another table."""
    url = s3.upload(local_users, "two")
    lakeprune.explain(url, storage_options=s3.options)
    report = lakeprune.explain(url, storage_options=s3.behind(s3_proxy.port).options)
    assert report.traffic is not None
    assert report.traffic.cached_files == 0


def test_processes_share_a_cold_cache(s3: Server, local_users: Path, tmp_path: Path) -> None:
    url = s3.upload(local_users, "shared")
    command = [sys.executable, "-m", "lakeprune", "explain", url, "--cache-dir", str(tmp_path / "c"), *s3.flags()]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(4)]
    ended = [(*process.communicate(timeout=120), process.returncode) for process in running]
    assert [(err, code) for _, err, code in ended] == [(b"", 0)] * 4
    assert len({out for out, _, _ in ended}) == 1
    assert len(entries(tmp_path / "c")) == 6


def test_what_was_used_longest_ago_makes_room(tmp_path: Path) -> None:
    cache = FileCache(str(tmp_path), "a table", 10_000)
    paths = []
    for number in range(10):
        writer = cache.writer(f"key {number}", f"{number}.json")
        writer.put(0, bytes([number]) * 2_000)
        paths.append(Path(writer.finish()))
        long_ago = time.time() - 2 * IN_USE + number
        os.utime(paths[-1], (long_ago, long_ago))
    (tmp_path / "somebody else's").write_bytes(b"x" * 50_000)
    again = FileCache(str(tmp_path), "a table", 10_000)
    assert again.find("key 0", 2_000) == str(paths[0]), "which is now the one used last"
    again.make_room()
    assert [path.name.rsplit("-", 1)[1] for path in paths if path.exists()] == ["0.json", "7.json", "8.json", "9.json"]
    assert (tmp_path / "somebody else's").exists()


def test_what_is_in_use_is_not_removed(tmp_path: Path) -> None:
    cache = FileCache(str(tmp_path), "a table", 1)
    writer = cache.writer("key", "1.json")
    writer.put(0, b"content")
    place = writer.finish()
    cache.make_room()
    assert Path(place).read_bytes() == b"content"


def test_the_command_keeps_to_the_size(s3: Server, local_users: Path, tmp_path: Path) -> None:
    url = s3.upload(local_users, "size")
    flags = ["--cache-dir", str(tmp_path / "c"), *s3.flags()]
    explain(url, *flags)
    for path in entries(tmp_path / "c"):
        os.utime(path, (0, 0))
    other = s3.upload(local_users, "size2")
    assert explain(other, "--cache-size", "1KB", *flags).code == 0
    assert len(entries(tmp_path / "c")) == 6, "those of the first table are gone, those in use are not"


def test_no_cache_leaves_nothing_behind(s3: Server, local_users: Path, tmp_path: Path) -> None:
    url = s3.upload(local_users, "none")
    (tmp_path / "scratch").mkdir()
    for where in ([], ["-w", "no_such_column = 1"]):
        ran = explain_in_a_process(url, "--no-cache", *where, *s3.flags(), TMPDIR=str(tmp_path / "scratch"))
        assert ran.code == (2 if where else 0)
    assert explain_in_a_process(s3.url("nowhere"), "--no-cache", *s3.flags(), TMPDIR=str(tmp_path / "scratch")).code == 3
    assert not entries(tmp_path / "scratch")
    assert not list((tmp_path / "scratch").iterdir())
    assert not (tmp_path / "cache").exists()


def test_entries_are_for_their_owner_alone(s3: Server, local_users: Path, tmp_path: Path) -> None:
    explain(s3.upload(local_users, "owner"), "--cache-dir", str(tmp_path / "c"), *s3.flags())
    assert {path.parent.stat().st_mode & 0o077 for path in entries(tmp_path / "c")} == {0}
    assert {path.stat().st_mode & 0o077 for path in entries(tmp_path / "c")} == {0}


def test_a_cache_that_cannot_be_written(s3: Server, local_users: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A named one is an error; without one that can be written, the answer is still given."""
    url = s3.upload(local_users, "readonly")
    (tmp_path / "file").write_text("not a directory")
    ran = explain(url, "--cache-dir", str(tmp_path / "file"), *s3.flags())
    assert (ran.code, ran.out) == (2, "")
    assert "error[LP234]" in ran.err
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert explain(url, *s3.flags()).code == 0


def test_a_report_reads_its_files_again_from_the_cache(s3: Server, s3_proxy: Proxy, local_users: Path) -> None:
    url = s3.upload(local_users, "later")
    report = lakeprune.explain(url, "age > 40", storage_options=s3.behind(s3_proxy.port).options)
    before = list[Request](s3_proxy.seen)
    assert len(report.files) == 6
    assert s3_proxy.seen == before


def test_a_report_whose_cache_was_removed_says_so(s3: Server, local_users: Path, tmp_path: Path) -> None:
    url = s3.upload(local_users, "removed")
    report = lakeprune.explain(url, "age > 40", storage_options=s3.options, cache_dir=tmp_path / "c")
    shutil.rmtree(tmp_path / "c")
    with pytest.raises(lakeprune.TableError, match="is gone") as caught:
        _ = report.files
    assert caught.value.where is not None
    assert caught.value.where.startswith(url)
