"""Generated partition columns as evidence about their source: every form by its truth table, and by random rows of all zones."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

import pytest

import lakeprune
from lakeprune.formats.delta import lifted_sql
from lakeprune.formats.delta.generated_columns import Expression, Form, expression_of
from lakeprune.formats.delta.ladder import PARTITION
from lakeprune.formats.relation import Needs
from lakeprune.predicate.schema import leaf_paths
from lakeprune.predicate.tree import Column, Profile
from lakeprune.skipping.ladder import Seen
from tests.builders.delta import Action, Log, add, field, metadata, protocol, statistics
from tests.builders.engine import ENGINE
from tests.formats.delta.relation import opened

WRITER_4 = protocol(1, 4)
EPOCH = datetime(1970, 1, 1)
H18 = timedelta(hours=18)
MICROSECOND = timedelta(microseconds=1)
Row = Mapping[str, str | None]


def log_of(
    tmp_path: Path, source: str, columns: Mapping[str, tuple[str, str]], rows: Sequence[Row], head: Action = WRITER_4
) -> Log:
    """A table with a source `c`, partition columns (type, expression), and one file per row of partition values."""
    generated = {name: field(name, kind, {"delta.generationExpression": text}) for name, (kind, text) in columns.items()}
    files = [add(f"f{number:04}", partition=row) for number, row in enumerate(rows)]
    return Log(tmp_path / "t").commit(0, head, metadata({"c": source, **generated}, list(columns)), *files)


def shown(log: Log) -> list[dict[str, Any]]:
    """What partition values show of the source, file by file."""
    snapshot = opened(log.path)
    (leaf,) = (path for path in leaf_paths(snapshot.facts.schema.fields) if path[0].name == "c")
    seen = Seen(Column.at(leaf), frozenset({PARTITION}))
    relation = snapshot.relation(ENGINE, Needs((seen,), paths=True), Profile(0))
    names = [relation.lo(seen), relation.hi(seen), relation.no_null(seen), relation.all_null(seen)]
    if leaf[-1].type.kind.value == "string":
        names.append(relation.is_truncated(seen))
    keys = ("lo", "hi", "no_null", "all_null", "truncated")
    rows = ENGINE.query(f"SELECT {', '.join(names)} FROM {relation.source} ORDER BY path")
    return [dict(zip(keys, row, strict=False)) for row in rows]


@pytest.mark.parametrize(("text", "expected"), [
    ("CAST(ts AS DATE)", Expression(Form.DATE, ("ts",))),
    ("cast( `ts` as  date )", None),
    ("cast( `ts` as date )", Expression(Form.DATE, ("ts",))),
    ("DATE(a.b)", Expression(Form.DATE, ("a", "b"))),
    ("to_date(ts)", Expression(Form.DATE, ("ts",))),
    ("to_date(ts, 'yyyy')", None),
    ("YEAR(ts)", Expression(Form.YEAR, ("ts",))),
    ("dayofmonth(ts)", Expression(Form.DAY, ("ts",))),
    ("hour(`a``b`.`c d`)", Expression(Form.HOUR, ("a`b", "c d"))),
    ("date_trunc( 'MONTH' , ts )", Expression(Form.DATE_TRUNC, ("ts",), "MONTH")),
    ("trunc(d, 'MM')", Expression(Form.TRUNC, ("d",), "MM")),
    ("date_format(ts, 'yyyy-MM')", Expression(Form.DATE_FORMAT, ("ts",), "yyyy-MM")),
    ("SUBSTRING(name, 1, 3)", Expression(Form.PREFIX, ("name",), "3")),
    ("substr(name, 2, 3)", None),
    ("left(name, 3)", Expression(Form.PREFIX, ("name",), "3")),
    ("name", Expression(Form.IDENTITY, ("name",))),
    ("year(ts) + 1", None),
    ("CAST(ts AS DATE) OR 1", None),
    ("", None),
])  # fmt: skip
def test_expressions_are_read_as_what_they_do(text: str, expected: Expression | None) -> None:
    assert expression_of(text) == expected


def days(text: str) -> int:
    return (date.fromisoformat(text) - date(1970, 1, 1)).days


def micros(text: str) -> int:
    return (datetime.fromisoformat(text) - EPOCH) // MICROSECOND


@pytest.mark.parametrize(("columns", "row", "first", "last"), [
    ({"p": ("date", "CAST(c AS DATE)")}, {"p": "2024-02-29"}, "2024-02-29", "2024-02-29"),
    ({"p": ("date", "CAST(c AS DATE)")}, {"p": "2024-2-29"}, None, None),
    ({"p": ("integer", "YEAR(c)")}, {"p": "2024"}, "2024-01-01", "2024-12-31"),
    ({"p": ("integer", "YEAR(c)")}, {"p": "odd"}, None, None),
    ({"p": ("integer", "YEAR(c)")}, {"p": "9999"}, "9999-01-01", "9999-12-31"),
    ({"p": ("integer", "MONTH(c)")}, {"p": "2"}, None, None),
    ({"y": ("integer", "YEAR(c)"), "m": ("integer", "MONTH(c)")}, {"y": "2024", "m": "2"}, "2024-02-01", "2024-02-29"),
    ({"y": ("integer", "YEAR(c)"), "m": ("integer", "MONTH(c)")}, {"y": "2024", "m": "12"}, "2024-12-01", "2024-12-31"),
    ({"y": ("integer", "YEAR(c)"), "m": ("integer", "MONTH(c)")}, {"y": "2024", "m": "13"}, "2024-01-01", "2024-12-31"),
    ({"y": ("integer", "YEAR(c)"), "d": ("integer", "DAY(c)")}, {"y": "2024", "d": "7"}, "2024-01-01", "2024-12-31"),
    ({"y": ("integer", "YEAR(c)"), "m": ("integer", "MONTH(c)"), "d": ("integer", "DAY(c)")}, {"y": "2023", "m": "2", "d": "28"},
     "2023-02-28", "2023-02-28"),
    ({"y": ("integer", "YEAR(c)"), "m": ("integer", "MONTH(c)"), "d": ("integer", "DAY(c)")}, {"y": "2023", "m": "2", "d": "30"},
     None, None),
    ({"p": ("date", "TRUNC(c, 'MM')")}, {"p": "2024-02-01"}, "2024-02-01", "2024-03-02"),
    ({"p": ("date", "TRUNC(c, 'WEEK')")}, {"p": "2024-01-01"}, "2024-01-01", "2024-01-07"),
    ({"p": ("date", "TRUNC(c, 'DAY')")}, {"p": "2024-01-01"}, None, None),
    ({"p": ("string", "DATE_FORMAT(c, 'yyyy-MM-dd')")}, {"p": "2024-01-31"}, None, "2024-02-01"),
    ({"p": ("string", "DATE_FORMAT(c, 'yyyy-MM')")}, {"p": "2024-01"}, None, "2024-02-01"),
    ({"p": ("string", "DATE_FORMAT(c, 'yyyyMMdd')")}, {"p": "20240131"}, None, "2024-02-01"),
    ({"p": ("string", "DATE_FORMAT(c, 'yyyy')")}, {"p": "2023"}, None, "2024-01-02"),
    ({"p": ("string", "DATE_FORMAT(c, 'MM')")}, {"p": "01"}, None, None),
    ({"p": ("string", "DATE_FORMAT(c, 'yyyy-MM-dd')")}, {"p": "2024-01-99"}, None, None),
    ({"p": ("date", "c")}, {"p": "2024-01-31"}, "2024-01-31", "2024-01-31"),
    ({"p": ("date", "CAST(c AS DATE)"), "y": ("integer", "YEAR(c)")}, {"p": "2024-01-31", "y": "2023"}, None, None),
])  # fmt: skip
def test_what_a_value_proves_about_a_date(
    tmp_path: Path, columns: Mapping[str, tuple[str, str]], row: Row, first: str | None, last: str | None
) -> None:
    log = log_of(tmp_path, "date", columns, [row])
    snapshot = opened(log.path)
    if PARTITION not in snapshot.facts.evidence.rungs_of(Column.at((snapshot.facts.schema.fields[0],))):
        assert (first, last) == (None, None)
        return
    (found,) = shown(log)
    assert (found["lo"], found["hi"]) == (first and days(first), last and days(last))


@pytest.mark.parametrize(("columns", "row", "first", "behind"), [
    ({"p": ("date", "CAST(c AS DATE)")}, {"p": "2024-02-29"}, "2024-02-29", "2024-03-01"),
    ({"p": ("date", "CAST(c AS DATE)"), "h": ("integer", "HOUR(c)")}, {"p": "2024-02-29", "h": "23"},
     "2024-02-29 23:00:00", "2024-03-01"),
    ({"p": ("date", "CAST(c AS DATE)"), "h": ("integer", "HOUR(c)")}, {"p": "2024-02-29", "h": "24"}, "2024-02-29", "2024-03-01"),
    ({"p": ("integer", "YEAR(c)")}, {"p": "2024"}, "2024-01-01", "2025-01-01"),
    ({"y": ("integer", "YEAR(c)"), "m": ("integer", "MONTH(c)"), "d": ("integer", "DAY(c)"), "h": ("integer", "HOUR(c)")},
     {"y": "2024", "m": "2", "d": "29", "h": "5"}, "2024-02-29 05:00:00", "2024-02-29 06:00:00"),
    ({"p": ("date", "TRUNC(c, 'YEAR')")}, {"p": "2023-01-01"}, "2023-01-01", "2024-01-02"),
])  # fmt: skip
@pytest.mark.parametrize("kind", ["timestamp", "timestamp_ntz"])
def test_what_a_value_proves_about_a_timestamp(
    tmp_path: Path, columns: Mapping[str, tuple[str, str]], row: Row, first: str, behind: str, kind: str
) -> None:
    (found,) = shown(log_of(tmp_path, kind, columns, [row]))
    margin = 18 * 3600 * 1_000_000 if kind == "timestamp" else 0
    assert (found["lo"], found["hi"]) == (micros(first) - margin, micros(behind) - 1 + margin)


@pytest.mark.parametrize(("expression", "value", "expected"), [
    ("SUBSTRING(c, 1, 3)", "abc", ("abc", "abc", True)),
    ("SUBSTRING(c, 1, 3)", "ab", ("ab", "ab", False)),
    ("SUBSTRING(c, 1, 1)", "\U0001f33c", ("\U0001f33c", "\U0001f33c", True)),
    ("SUBSTRING(c, 1, 2)", "\U0001f33c", ("\U0001f33c", "\U0001f33c", False)),
    ("c", "abc", ("abc", "abc", False)),
])  # fmt: skip
def test_what_a_prefix_proves_about_text(tmp_path: Path, expression: str, value: str, expected: tuple[str, str, bool]) -> None:
    (found,) = shown(log_of(tmp_path, "string", {"p": ("string", expression)}, [{"p": value}]))
    assert (found["lo"], found["hi"], found["truncated"]) == expected


def test_the_longest_prefix_counts(tmp_path: Path) -> None:
    columns = {"p": ("string", "SUBSTRING(c, 1, 1)"), "q": ("string", "SUBSTRING(c, 1, 3)")}
    (found,) = shown(log_of(tmp_path, "string", columns, [{"p": "a", "q": "abc"}]))
    assert (found["lo"], found["hi"], found["truncated"]) == ("abc", "abc", True)


@pytest.mark.parametrize(("kind", "column", "row", "no_null", "all_null"), [
    ("timestamp", ("date", "CAST(c AS DATE)"), {"p": "2024-01-01"}, True, False),
    ("timestamp", ("date", "CAST(c AS DATE)"), {"p": None}, False, True),
    ("timestamp", ("date", "CAST(c AS DATE)"), {"p": ""}, False, True),
    ("timestamp", ("date", "CAST(c AS DATE)"), {}, False, False),
    ("timestamp", ("date", "CAST(c AS DATE)"), {"p": "odd"}, False, False),
    ("string", ("string", "SUBSTRING(c, 1, 2)"), {"p": None}, False, False),  # '' is stored as NULL
    ("string", ("string", "SUBSTRING(c, 1, 2)"), {"p": ""}, False, False),
    ("string", ("string", "SUBSTRING(c, 1, 2)"), {"p": "a"}, True, False),
])  # fmt: skip
def test_null_gives_null(tmp_path: Path, kind: str, column: tuple[str, str], row: Row, *, no_null: bool, all_null: bool) -> None:
    (found,) = shown(log_of(tmp_path, kind, {"p": column}, [row]))
    assert (found["no_null"], found["all_null"]) == (no_null, all_null)
    if not no_null:
        assert found["lo"] in (None, "")


@pytest.mark.parametrize(("head", "is_trusted"), [
    (protocol(1, 2), False),
    (protocol(1, 3), False),
    (protocol(1, 4), True),
    (protocol(2, 6), True),
    (protocol(1, 7, writerFeatures=["generatedColumns"]), True),
    (protocol(1, 7, writerFeatures=["appendOnly"]), False),
])  # fmt: skip
def test_only_a_protocol_that_binds_writers_is_trusted(tmp_path: Path, head: Action, *, is_trusted: bool) -> None:
    log = log_of(tmp_path, "timestamp", {"p": ("date", "CAST(c AS DATE)")}, [{"p": "2024-01-01"}, {"p": "2024-06-01"}], head)
    report = lakeprune.explain(log.path, "c >= '2024-05-01'")
    assert report.numbers.kept.files == (1 if is_trusted else 2)


ZONES: list[Any] = [
    UTC,
    *map(ZoneInfo, ("America/New_York", "Asia/Kolkata", "Pacific/Apia", "Australia/Lord_Howe", "Pacific/Kiritimati")),
]
ZONES += [timezone(H18), timezone(-H18), timezone(timedelta(hours=-9, minutes=-30))]


def local(instant: datetime, zone: Any) -> datetime:
    return instant.replace(tzinfo=UTC).astimezone(zone).replace(tzinfo=None)


def stamp(value: datetime) -> str:
    return value.strftime("%Y-%m-%d %H:%M:%S")


WRITTEN: dict[tuple[str, str], Callable[[datetime], str]] = {
    ("date", "CAST(c AS DATE)"): lambda t: t.date().isoformat(),
    ("integer", "YEAR(c)"): lambda t: str(t.year),
    ("integer", "MONTH(c)"): lambda t: str(t.month),
    ("integer", "DAY(c)"): lambda t: str(t.day),
    ("integer", "HOUR(c)"): lambda t: str(t.hour),
    ("date", "TRUNC(c, 'MONTH')"): lambda t: t.date().replace(day=1).isoformat(),
    ("date", "TRUNC(c, 'MM')"): lambda t: t.date().replace(day=1).isoformat(),
    ("timestamp", "DATE_TRUNC('MONTH', c)"): lambda t: stamp(t.replace(day=1, hour=0, minute=0, second=0)),
    ("string", "DATE_FORMAT(c, 'yyyy-MM')"): lambda t: t.strftime("%Y-%m"),
    ("date", "TRUNC(c, 'QUARTER')"): lambda t: t.date().replace(month=(t.month - 1) // 3 * 3 + 1, day=1).isoformat(),
    ("date", "TRUNC(c, 'WEEK')"): lambda t: (t.date() - timedelta(days=t.weekday())).isoformat(),
    ("timestamp", "DATE_TRUNC('DAY', c)"): lambda t: stamp(t.replace(hour=0, minute=0, second=0)),
    ("timestamp", "DATE_TRUNC('HOUR', c)"): lambda t: stamp(t.replace(minute=0, second=0)),
    ("timestamp", "DATE_TRUNC('YEAR', c)"): lambda t: stamp(t.replace(month=1, day=1, hour=0, minute=0, second=0)),
    ("string", "DATE_FORMAT(c, 'yyyy-MM-dd')"): lambda t: t.strftime("%Y-%m-%d"),
    ("string", "DATE_FORMAT(c, 'yyyy-MM-dd-HH')"): lambda t: t.strftime("%Y-%m-%d-%H"),
    ("string", "DATE_FORMAT(c, 'yyyyMM')"): lambda t: t.strftime("%Y%m"),
}  # fmt: skip
SHAPES = [[column] for column in WRITTEN] + [
    [("integer", "YEAR(c)"), ("integer", "MONTH(c)")],
    [("integer", "YEAR(c)"), ("integer", "MONTH(c)"), ("integer", "DAY(c)")],
    [("integer", "YEAR(c)"), ("integer", "MONTH(c)"), ("integer", "DAY(c)"), ("integer", "HOUR(c)")],
    [("date", "CAST(c AS DATE)"), ("integer", "HOUR(c)")],
    [("date", "TRUNC(c, 'MONTH')"), ("date", "CAST(c AS DATE)"), ("integer", "YEAR(c)")],
]


def outside(tmp_path: Path, shape: Sequence[tuple[str, str]], kind: str, rng: Random, count: int) -> int:
    """How many random values lie outside of what their partition values show; the writer's zone is another one each time."""
    columns = {f"p{number}": column for number, column in enumerate(shape)}
    values, rows = [], []
    for _ in range(count):
        value = datetime(1950, 1, 1) + timedelta(microseconds=rng.randrange(0, 120 * 365 * 86_400 * 1_000_000))
        if rng.random() < 0.3:
            value = value.replace(hour=rng.choice((0, 23)), minute=rng.choice((0, 59)), second=0, microsecond=0)
        clock = local(value, rng.choice(ZONES)) if kind == "timestamp" else value
        values.append((value - EPOCH) // MICROSECOND)
        rows.append({name: WRITTEN[column](clock) for name, column in columns.items()})
    found = shown(log_of(tmp_path, kind, columns, rows))
    ends = [(domain["lo"], domain["hi"]) for domain in found]
    if not any(expression == "MONTH(c)" or expression in ("DAY(c)", "HOUR(c)") for _, expression in shape[:1]):
        assert all(hi is not None for _, hi in ends), "nothing is shown"
    return sum(
        (lo is not None and value < lo) or (hi is not None and value > hi) for value, (lo, hi) in zip(values, ends, strict=True)
    )


@pytest.mark.parametrize("kind", ["timestamp", "timestamp_ntz"])
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: "+".join(text for _, text in shape))
def test_random_rows_lie_inside_of_what_is_shown(tmp_path: Path, shape: Sequence[tuple[str, str]], kind: str) -> None:
    assert outside(tmp_path, shape, kind, Random(json.dumps(shape)), 400) == 0


@pytest.mark.parametrize("shape", [SHAPES[0], *SHAPES[-3:]], ids=lambda shape: "+".join(text for _, text in shape))
def test_without_the_margin_for_zones_rows_lie_outside(
    tmp_path: Path, shape: Sequence[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lifted_sql, "ZONE_MARGIN", 0)
    assert outside(tmp_path, shape, "timestamp", Random(1), 400) > 0


def test_a_filter_on_the_source_prunes_by_partition_values(tmp_path: Path) -> None:
    columns = {"day": ("date", "CAST(c AS DATE)")}
    log = log_of(tmp_path, "timestamp", columns, [{"day": f"2024-01-{day:02}"} for day in range(1, 11)])
    report = lakeprune.explain(log.path, "c >= '2024-01-08 12:00:00'", explain_why=True, timezone="UTC")
    assert [file.path for file in report.files if file.kept] == [
        "f0006",
        "f0007",
        "f0008",
        "f0009",
    ]  # 18 hours reach back to the 7th
    assert {name: amount.files for name, amount in report.numbers.credits.items() if amount.files} == {"partition": 6}
    assert next((phase.name, phase.pruned_files) for phase in report.phases) == ("Partition pruning", 6)
    assert "NO_PARTITION_FILTER" not in [diagnosis.code for diagnosis in report.diagnoses or ()]
    assert "no clause filters" not in report.to_text()


def test_statistics_and_partition_values_are_used_together(tmp_path: Path) -> None:
    generated = {"day": field("day", "date", {"delta.generationExpression": "CAST(c AS DATE)"})}
    files = [
        add(
            f"f{day}",
            statistics(9, c=(f"2024-01-0{day}T01:00:00.000Z", f"2024-01-0{day}T02:00:00.000Z", 0)),
            partition={"day": f"2024-01-0{day}"},
        )
        for day in range(1, 8)
    ]
    log = Log(tmp_path / "t").commit(0, WRITER_4, metadata({"c": "timestamp", **generated}, ["day"]), *files)
    report = lakeprune.explain(log.path, "c >= '2024-01-05 12:00:00' AND c < '2024-01-06 12:00:00'")
    assert report.numbers.kept.files == 1
    assert {name: amount.files for name, amount in report.numbers.credits.items() if amount.files} == {
        "partition": 3,
        "statistics": 3,
    }


def test_a_source_inside_a_struct_and_under_mapped_names(tmp_path: Path) -> None:
    about = {"delta.columnMapping.id": 1, "delta.columnMapping.physicalName": "col-1"}
    inner = {"type": "struct", "fields": [field("At", "timestamp", {**about, "delta.columnMapping.physicalName": "col-2"})]}
    day = {**about, "delta.columnMapping.physicalName": "col-3", "delta.generationExpression": "CAST(event.at AS DATE)"}
    columns = {"event": field("event", inner, about), "day": field("day", "date", day)}
    head = protocol(2, 5)
    files = [add(f"f{month}", partition={"col-3": f"2024-0{month}-01"}) for month in range(1, 7)]
    log = Log(tmp_path / "t").commit(0, head, metadata(columns, ["day"], {"delta.columnMapping.mode": "name"}), *files)
    assert lakeprune.explain(log.path, "event.at >= '2024-05-15'").numbers.kept.files == 1
