"""The tables of the demo, written by an official Delta writer (deltalake) into folders that must not exist yet.

`users` and `users_flat` hold real rows. `events` and `orders` are real logs of many files: the writer makes the checkpoint, the
data files themselves are not there, since a plan never opens one. Tests use the same builders.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake
from deltalake.transaction import AddAction, create_table_with_add_actions

from demo.delta_log import TIME, Action, add, metadata, protocol, remove, write_commit, write_log

PEOPLE = pa.schema([("name", pa.string()), ("age", pa.int32()), ("country", pa.string())])
DAYS = 365
FILES_PER_COMMIT = 10_000


def users(path: Path) -> Path:
    """Six files, one per commit (versions 0 to 5), partitioned by country."""
    files = [
        ("IT", [41, 52, 65]),
        ("IT", [22, 25, 30, 34, 38]),
        ("US", [31, 44, 55]),
        ("US", [18, 21, 25, 29]),
        ("DE", [40, 44, 51, 60]),
        ("DE", [20, 23, 27, 31, 35]),
    ]
    for country, ages in files:
        write_deltalake(path, _people(ages, [country] * len(ages)), mode="append", partition_by=["country"])
    return path


def users_flat(path: Path) -> Path:
    """Six files in one commit, unpartitioned, with ranges that overlap."""
    files = [
        ([18, 21, 25, 29], ["AL", "DE", "IT", "US"]),
        ([20, 24, 30, 35], ["AT", "DE", "IT", "US"]),
        ([30, 42, 55], ["DE", "IT", "US"]),
        ([22, 36, 50], ["AT", "DE", "IT"]),
        ([40, 48, 57, 65], ["CH", "DE", "IT", "US"]),
        ([25, 35, 45], ["AT", "CH", "DE"]),
    ]
    return write_in_one_commit(path, [_people(ages, countries) for ages, countries in files])


def write_in_one_commit(path: Path, contents: Sequence[pa.Table]) -> Path:
    """All contents as one file each in version 0: written as commits of a staging table, then committed together."""
    staging = path.with_name(f"{path.name}.staging")
    for content in contents:
        write_deltalake(staging, content, mode="append")
    path.mkdir(parents=True)
    actions = []
    for number, file in enumerate(_adds(staging)):
        name = f"part-{number:05d}.parquet"
        shutil.move(staging / file["path"], path / name)
        actions.append(AddAction(name, file["size"], {}, file["modificationTime"], True, file["stats"]))
    create_table_with_add_actions(str(path), DeltaTable(staging).schema(), actions)
    shutil.rmtree(staging)
    return path


def events(path: Path, files: int, report: Callable[[str], None] = lambda _: None) -> Path:
    """A log of `files` files partitioned by day: commits, the writer's own checkpoint, a newer compaction."""
    log = path / "_delta_log"
    log.mkdir(parents=True)
    fields = {"day": "date", "id": "long", "at": "timestamp", "kind": "string", "amount": "double"}
    write_commit(log, 0, [protocol(), metadata(fields, ["day"])])
    starts = range(0, files, FILES_PER_COMMIT)
    for version, start in enumerate(starts, start=1):
        write_commit(log, version, (event_file(number, files) for number in range(start, min(files, start + FILES_PER_COMMIT))))
    report("commits written, deltalake makes the checkpoint")
    DeltaTable(path).create_checkpoint()
    write_commit(log, len(starts) + 1, _compaction(files))
    return path


def event_file(number: int, files: int) -> Action:
    """The add action of one file: the files of a year follow each other in time, some hundred per day.

    Ids rise with time, kinds repeat, and amounts are spread, so three of the four statistics columns help a predicate.
    """
    day, second = divmod(number * DAYS * 86_400 // files, 86_400)
    date = _date(day)
    kind = ("click", "order", "refund", "view")[number % 4]
    stats = {
        "numRecords": 1000,
        "minValues": {"id": number * 1000, "at": f"{date}T{_clock(second)}.000Z", "kind": kind, "amount": number % 97 / 2},
        "maxValues": {
            "id": number * 1000 + 999,
            "at": f"{date}T{_clock(second)}.999Z",
            "kind": kind,
            "amount": number % 97 + 250.5,
        },
        "nullCount": {"id": 0, "at": 0, "kind": 0, "amount": number % 5},
    }
    path, size = f"day={date}/part-{number:07d}.parquet", 1_000_000 + number % 1000
    return add(path, stats, size=size, partition={"day": date}, modified=TIME + number)


def orders(path: Path) -> Path:
    """A log of 180 files by region: EU is written in order of date, APAC mostly, US in no order at all."""
    fields = {"region": "string", "ordered_on": "date", "customer": "long", "total": "double"}
    write_log(path, [[protocol(), metadata(fields, ["region"]), *(_order_file(number) for number in range(180))]])
    DeltaTable(path).create_checkpoint()
    return path


def _order_file(number: int) -> Action:
    region, turn = ("APAC", "EU", "US")[number % 3], number // 3
    first, days = turn * 6, 8
    if region == "US" or (region == "APAC" and turn % 6 == 0):
        first, days = turn * 37 % 120, 120 + turn * 53 % 125
    lowest = number * 37 % 60
    stats = {
        "numRecords": 50_000,
        "minValues": {"ordered_on": _date(first), "customer": turn % 11, "total": lowest + 0.5},
        "maxValues": {
            "ordered_on": _date(min(first + days, DAYS)),
            "customer": 99_000 + turn,
            "total": lowest + 350.25 + number * 53 % 500,
        },
        "nullCount": {"ordered_on": 0, "customer": 0, "total": 0},
    }
    path, size = f"region={region}/part-{number:05d}.parquet", 40_000_000 + number * 7_919_317 % 90_000_000
    return add(path, stats, size=size, partition={"region": region}, modified=TIME + number)


def _compaction(files: int) -> Iterator[Action]:
    """The first hundred files become one."""
    merged = event_file(0, files)["add"]
    yield {"add": {**merged, "path": "day=2024-01-01/compacted.parquet", "size": 100_000_000, "dataChange": False}}
    for number in range(min(files, 100)):
        path = event_file(number, files)["add"]["path"]
        yield remove(path, dataChange=False)


def _people(ages: Sequence[int], countries: Sequence[str]) -> pa.Table:
    return pa.table([[f"user-{age}" for age in ages], ages, countries], schema=PEOPLE)


def _adds(table: Path) -> Iterator[dict[str, Any]]:
    for commit in sorted((table / "_delta_log").glob("*.json")):
        for line in commit.read_text(encoding="utf-8").splitlines():
            action = json.loads(line)
            if "add" in action:
                yield action["add"]


def _date(day: int) -> str:
    from datetime import date, timedelta

    return (date(2024, 1, 1) + timedelta(days=day)).isoformat()


def _clock(second: int) -> str:
    minutes, second = divmod(second, 60)
    hour, minute = divmod(minutes, 60)
    return f"{hour:02d}:{minute:02d}:{second:02d}"
