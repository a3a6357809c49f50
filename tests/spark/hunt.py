"""The hunt for wrong drops: predicates of every function on tables with one row or a few per file, judged by Spark.

With one row in a file every bound is the value itself, so a file is nearly always dropped or fully matched and every mistake of
a rule, a function or a time zone shows. Tables are deltalake's, Delta Spark's and hand-made logs in turn.
`tests/spark/hunting.py` hunts as long as one likes.
"""

from __future__ import annotations

import json
import re
import traceback
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import unquote
from zoneinfo import ZoneInfo

import pyarrow.parquet as pq
from deltalake import write_deltalake
from pyspark.sql import SparkSession

from lakeprune.errors import PredicateError
from lakeprune.planning.opening import At, open_planner
from lakeprune.planning.planner import Planner
from lakeprune.planning.question import Question
from lakeprune.planning.session import profile_of
from lakeprune.skipping.verdict import Verdict
from tests.generator.columns import ColumnSpec
from tests.generator.nested import Nested
from tests.generator.nodes import say
from tests.generator.predicates import random_predicate
from tests.generator.sharp import Valued, sharp_predicate
from tests.generator.values import DAY, in_zone, pool
from tests.soundness.delta_log import arrow_rows, write_data, write_log
from tests.soundness.partition_texts import record_value
from tests.soundness.statistics import random_statistics
from tests.soundness.tables import FileSpec, Layout, Row, Table
from tests.soundness.writers import Writer
from tests.spark.truths import FAILED, Answers, accepted, rows_of, set_ansi, truths, values

ROWS = 24
# Clocks that change by an hour and by half an hour, by night and at midnight, a day that was skipped, and one that never changes.
ZONES = (
    "Europe/Berlin", "UTC", "Australia/Lord_Howe", "America/St_Johns", "UTC", "Asia/Kolkata", "America/Asuncion", "Pacific/Apia",
    "UTC", "Africa/Casablanca", "+05:30",
)  # fmt: skip
GHOST = "ghost.parquet"  # which hand-made logs remove again
POLICIES = ("strict", "assume")
Verdicts = dict[str, Verdict | None]
WRITERS = ("deltalake", "spark", "hand")
_DATA = (
    ("byte", "short", "integer", "long"), ("integer", "long"), ("decimal(5,2)", "decimal(10,2)", "decimal(18,0)"),
    ("decimal(20,0)", "decimal(38,0)", "decimal(38,10)"), ("float",), ("double",), ("string",), ("string",), ("binary",),
    ("boolean",), ("date",), ("timestamp",), ("timestamp",), ("timestamp_ntz",),
)  # fmt: skip
_PARTITION_TYPES = ("integer", "string", "date", "boolean", "decimal(10,2)", "timestamp", "double", "timestamp_ntz", "long")
_CLOCKS = re.compile(r"now\(|timestamp\(\)|curdate|current_date")
_TEXTS = ("2024-03-31", "2024-03-31 02:30:00", "12", " 7 ", "1e3", "-0.5", "true", "n", "1970-01-01T00:00:00Z", "2024-3-1", "NaN")


@dataclass
class Tally:
    """What a hunt has done."""

    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)  # by lakeprune, not by Spark: the codes
    examples: list[str] = field(default_factory=list)  # of what is refused


def hunt(seed: int, count: int, spark: SparkSession, folder: Path, tally: Tally) -> None:
    """One table, about `count` predicates, with ANSI mode off and on."""
    rng = Random(f"hunt {seed}")
    zone, writer = ZONES[seed % len(ZONES)], WRITERS[seed % len(WRITERS)]
    table = hunted_table(rng, zone, with_partitions=writer == "hand")
    lake = folder / "lake"
    partition_by = [] if writer == "hand" else partition_of(table, rng)
    {"deltalake": by_deltalake, "spark": by_spark, "hand": by_hand}[writer](table, lake, partition_by, spark)
    names = numbered_by_size(lake, folder / "numbered")
    planners = {
        policy: open_planner(folder / "numbered", At(), profile_of(zone, nan_policy=policy)[0], access={}) for policy in POLICIES
    }
    frame = rows_of(spark, lake, zone)
    tally.counts[f"tables by {writer}"] += 1
    set_ansi(frame, is_on=False)
    asked = predicates(frame, table, zone, rng, count)
    verdicts: dict[str, list[Verdicts]] = {}
    for is_ansi in (False, True):
        set_ansi(frame, is_on=is_ansi)
        wheres = [where for where, type_ in accepted(frame, asked) if type_ == "boolean"]
        new = [where for where in wheres if where not in verdicts]
        strict = verdicts_of(planners["strict"], names, new, tally)
        assumed = verdicts_of(planners["assume"], names, list(strict), Tally())
        verdicts |= {where: [strict[where], assumed[where]] for where in strict}
        for answers in truths(frame, [where for where in wheres if where in verdicts]):
            about = f"seed {seed}, {writer}, {zone}, ANSI {is_ansi}"
            judge(answers, verdicts[answers.where][0], about, tally)
            judge_assumed(answers, verdicts[answers.where][1], about, tally)


def predicates(frame: Any, table: Table, zone: str, rng: Random, count: int) -> list[str]:
    """A third from the generator that DuckDB judges elsewhere, a tenth as they come, the rest around values that really occur."""
    plain = [say(random_predicate(table.columns, zone, rng, judged=False)).spark for _ in range(count // 3)]
    nested = Nested(table.columns, zone, rng)
    loose = [nested.condition(3) for _ in range(count // 10)]
    typed = accepted(frame, [nested.value(rng.choice([1, 1, 2, 2, 3, 4])) for _ in range(count)])
    steady = [(text, type_) for text, type_ in typed if not _CLOCKS.search(text)]  # now() is another moment for lakeprune
    valued = [Valued(text, type_, found) for (text, type_), found in zip(steady, values(frame, steady), strict=True)]
    alive = [one for one in valued if one.values] or valued
    return [*plain, *loose, *(sharp_predicate(alive, rng) for _ in range(count - len(plain) - len(loose)))]


def verdicts_of(planner: Planner, names: Sequence[str], wheres: Sequence[str], tally: Tally) -> dict[str, Verdicts]:
    """Per predicate that lakeprune accepts the verdict of every file by its name, many predicates in one read of the log.

    Files that are dropped only because no NaN is assumed to be hidden have no verdict: they are None.
    """
    asked: list[tuple[str, Question]] = []
    for where in wheres:
        tally.counts["predicates asked"] += 1
        try:
            asked.append((where, planner.ask(where)))
        except PredicateError as error:
            tally.refused[error.code] += 1
            if tally.refused[error.code] <= 5:
                tally.examples.append(f"refused {error.code} {error.what}: {where[:300]}")
        except Exception:  # noqa: BLE001  # a traceback is what is hunted
            tally.wrong.append(f"TRACEBACK {where}\n{traceback.format_exc()[-1500:]}")
    found: dict[str, Verdicts] = {}
    for start in range(0, len(asked), 25):
        part = asked[start : start + 25]
        for (where, _), patterns in zip(part, planner.patterns([question for _, question in part]), strict=True):
            by_name = found.setdefault(where, {})
            for pattern in patterns:
                numbers = [n for n in range(pattern.bytes.bit_length()) if pattern.bytes >> n & 1]
                is_assumed = pattern.signature.verdict is Verdict.DROP and pattern.signature.is_assumed
                by_name |= dict.fromkeys((names[n] for n in numbers), None if is_assumed else pattern.signature.verdict)
            assert len(by_name) == len(names), "a file is in no pattern"
    return found


def judge(answers: Answers, verdicts: Verdicts, about: str, tally: Tally) -> None:
    tally.counts["predicates judged"] += 1
    for name, held in answers.by_file.items():
        verdict = verdicts[name]
        assert verdict is not None, "a strict plan assumes nothing"
        if FAILED in held:
            tally.counts["file verdicts on rows that fail"] += 1
        tally.counts[f"file verdicts {verdict.value}"] += 1
        is_wrong = (verdict is Verdict.DROP and True in held) or (
            verdict is Verdict.FULL and any(truth is not True and truth != FAILED for truth in held)
        )
        if is_wrong:
            tally.wrong.append(f"{about}: {verdict.value} of {name}, which holds {held}: {answers.where}")


def judge_assumed(answers: Answers, verdicts: Verdicts, about: str, tally: Tally) -> None:
    """By default a wrong drop carries the mark of the assumption that no NaN is hidden."""
    for name, held in answers.by_file.items():
        if verdicts[name] is None:
            tally.counts["assumed drops"] += 1
            tally.counts["assumed drops of a file with a match"] += True in held
        elif verdicts[name] is Verdict.DROP and True in held:
            tally.wrong.append(f"{about}: DROP without a mark of {name}, which holds {held}: {answers.where}")


def hunted_table(rng: Random, zone: str, *, with_partitions: bool) -> Table:
    """Columns of every family and rows one by one; in a hand-made log also files of some rows, and partition columns."""
    kinds = [rng.choice(kinds) for kinds in _DATA]
    columns = [_column(f"c{n}", kind, zone, rng) for n, kind in enumerate(kinds)]
    if with_partitions:
        parts = rng.sample(_PARTITION_TYPES, rng.choice([0, 1, 2]))
        columns += [replace(_column(f"p{n}", kind, zone, rng), is_partition=True) for n, kind in enumerate(parts)]
    data = [c for c in columns if not c.is_partition]
    files = []
    for number in range(ROWS):
        count = rng.choice([1, 1, 2, 3]) if with_partitions else 1
        rows = tuple({c.path: _drawn(c, rng) for c in data} for _ in range(count))
        files.append(_file(number, tuple(columns), rows, rng))
    return Table(tuple(columns), tuple(files), False, Layout.COMMITS, zone, True, False)


def _file(number: int, columns: tuple[ColumnSpec, ...], rows: tuple[Row, ...], rng: Random) -> FileSpec:
    data = [c for c in columns if not c.is_partition]
    statistics = random_statistics(data, rows, frozenset(), rng.choice(list(Writer)), rng)
    partition = {c: record_value(c, rng) for c in columns if c.is_partition}
    return FileSpec(f"part-{number:05d}.parquet", rows, frozenset(), partition, statistics, 1)


def _column(name: str, kind: str, zone: str, rng: Random) -> ColumnSpec:
    drawn = pool(kind, rng)
    if kind in ("date", "timestamp", "timestamp_ntz"):
        changes = rng.sample(clock_changes(zone), 4)
        drawn += (
            [at // DAY for at in changes] if kind == "date" else [at + rng.choice([0, -1, 1, 1_800_000_000]) for at in changes]
        )
    if kind == "string":
        drawn += rng.sample(_TEXTS, 5)
    name = rng.choice(["we ird", "a.b", "Größe", "x`y", "select"]) + name if rng.random() < 0.06 else name
    return ColumnSpec((name,), (name,), kind, False, in_zone(sorted(set(drawn)), kind, zone))


def clock_changes(zone: str) -> list[int]:
    """Moments, in microseconds, around which the clocks of the zone change, between 1975 and 2034; local readings among them."""
    if zone.startswith(("+", "UTC")):
        return [1711846800000000, 1711846800000000 - 1, 1710054000000000, 1730613600000000, 1325239200000000]
    clock, hour = ZoneInfo(zone), timedelta(hours=1)
    at, found = datetime(1975, 1, 1, tzinfo=UTC), list[int]()
    while at.year < 2034 and len(found) < 400:
        after = at + 24 * hour
        if at.astimezone(clock).utcoffset() != after.astimezone(clock).utcoffset():
            moment = next(
                m
                for m in (at + n * hour / 2 for n in range(1, 49))
                if m.astimezone(clock).utcoffset() != at.astimezone(clock).utcoffset()
            )
            micros = int(moment.timestamp()) * 1_000_000
            offset = int((at.astimezone(clock).utcoffset() or timedelta()).total_seconds()) * 1_000_000
            found += [micros, micros - 1, micros + offset]
        at = after
    return found or [1711846800000000] * 4


def _drawn(column: ColumnSpec, rng: Random) -> Any:
    dice = rng.random()
    if dice < 0.12:
        return None
    return float("nan") if dice < 0.17 and column.type in ("float", "double") else rng.choice(column.pool)


def partition_of(table: Table, rng: Random) -> list[str]:
    """One partition column, for every other table; its values are names of folders, which file systems limit."""
    simple = [c.path[0] for c in table.columns if c.type in _PARTITION_TYPES and all(len(str(value)) <= 20 for value in c.pool)]
    return [rng.choice(simple)] if simple and rng.random() < 0.5 else []


def by_deltalake(table: Table, lake: Path, partition_by: list[str], _spark: SparkSession) -> None:
    for file in table.files:
        write_deltalake(lake, arrow_rows(table, file), mode="append", partition_by=partition_by or None)


def by_spark(table: Table, lake: Path, partition_by: list[str], spark: SparkSession) -> None:
    rows = lake.with_name("rows.parquet")
    pq.write_table(arrow_rows(table, replace(table.files[0], rows=tuple(row for file in table.files for row in file.rows))), rows)
    frame = spark.read.parquet(str(rows)).coalesce(1).repartition(ROWS)
    properties = {"delta.columnMapping.mode": "name", "delta.minReaderVersion": "2", "delta.minWriterVersion": "5"}
    frame.write.format("delta").options(**properties).partitionBy(*partition_by).save(str(lake))


def numbered_by_size(lake: Path, copy: Path) -> list[str]:
    """A copy of the log in which the size of each file is a power of two, so that the bytes of a pattern name its files."""
    names: list[str] = []
    (copy / "_delta_log").mkdir(parents=True)
    for commit in sorted((lake / "_delta_log").glob("*.json")):
        lines = []
        for action in map(json.loads, commit.read_text(encoding="utf-8").splitlines()):
            if "add" in action and action["add"]["path"] != GHOST:
                name = unquote(action["add"]["path"]).rsplit("/", 1)[-1]
                names += [] if name in names else [name]
                action["add"]["size"] = 1 << names.index(name)
            lines.append(json.dumps(action))
        (copy / "_delta_log" / commit.name).write_text("\n".join(lines), encoding="utf-8")
    return names


def by_hand(table: Table, lake: Path, _partition_by: list[str], _spark: SparkSession) -> None:
    (lake / "_delta_log").mkdir(parents=True)
    files = []
    for file in table.files:
        write_data(table, file, lake)
        files.append(replace(file, size=(lake / file.name).stat().st_size))
    write_log(replace(table, files=tuple(files)), lake / "_delta_log")
