"""Pass 1: manifests are dropped by their partition summaries, and those that no predicate keeps are never read."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from pyiceberg.transforms import BucketTransform
from pyiceberg.types import IntegerType

import lakeprune
from lakeprune.storage.local import LocalStorage
from tests.builders.untimed import untimed
from tests.formats.iceberg.tables import Entry, Layout, SpecField, column, encoded, write_table
from tools.generate_schema import target

_DAY = 86_400_000_000
_COLUMNS = [column(1, "ts", "timestamp"), column(2, "n", "int"), column(3, "s", "string"), column(4, "x", "double")]
_BY_DAY = SpecField(1, "day", "d", 1000, "int")


def days(root: Path, count: int = 10, per_manifest: int = 2, **layout: Any) -> Path:
    """Two files per day, so many to a manifest; `n` is the number of the file."""
    entries = []
    for number in range(2 * count):
        metrics: dict[str, dict[int, Any]] = {
            "value_counts": {2: 10},
            "null_value_counts": {2: 0},
            "lower_bounds": {2: encoded(number, "int")},
            "upper_bounds": {2: encoded(number, "int")},
        }
        entries.append(Entry(f"{root}/f{number:02}", 10, 100, tuple={1000: 19_723 + number // 2}, metrics=metrics))
    write_table(root, _COLUMNS, entries, {0: (_BY_DAY,)}, Layout(per_manifest=per_manifest, **layout))
    return root


@contextmanager
def manifests_read(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The manifests whose bytes are read inside, by name."""
    found: list[str] = []
    read = LocalStorage.read

    def noted(self: LocalStorage, path: str) -> bytes:
        if "-m" in (name := Path(path).name):
            found.append(name)
        return read(self, path)

    with monkeypatch.context() as patched:
        patched.setattr(LocalStorage, "read", noted)
        yield found


def kept(table: Path, where: str, **options: Any) -> list[str]:
    report = lakeprune.explain(table, where, **{"nan_policy": "strict", **options})
    names = sorted(Path(file.path).name for file in report.files if file.kept)
    assert len(names) == report.numbers.kept.files, "the listing and the numbers agree"
    return names


ONE_DAY = "ts >= '2024-01-03' AND ts < '2024-01-04'"


def test_a_day_reads_the_manifest_of_that_day_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    days(tmp_path)
    with manifests_read(monkeypatch) as read:
        report = lakeprune.explain(tmp_path, ONE_DAY)
    assert read == ["0-0-m4.avro"]
    assert (report.summary.manifests_total, report.summary.manifests_kept) == (10, 1)
    assert (report.summary.files_total, report.summary.files_kept) == (20, 2)
    assert report.numbers.credits["manifest"].files == 18
    assert report.numbers.total.rows == 200, "rows of files that are not read are known from the list"


def test_a_batch_of_predicates_reads_the_union_and_each_has_the_numbers_that_it_has_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    days(tmp_path)
    wheres = [ONE_DAY, "ts >= '2024-01-09'", f"({ONE_DAY}) AND n = 4", "ts < '2023-01-01'", "n = 3 AND ts < '2024-01-03'"]
    with manifests_read(monkeypatch) as read:
        together = lakeprune.explain_many(tmp_path, wheres)
    assert sorted(read) == sorted(f"0-0-m{number}.avro" for number in (0, 2, 4, 16, 18))
    for where, report in zip(wheres, together, strict=True):
        alone = untimed(lakeprune.explain(tmp_path, where).to_dict())
        batch = untimed(report.to_dict())
        for document in (alone, batch):
            del document["stats"]  # of the columns that all predicates together ask for
            for phase in document["phases"]:
                del phase["io"]  # what was read is read for all of them
        assert batch == alone, where


def test_more_predicates_than_one_query_takes_have_the_numbers_that_they_have_alone(tmp_path: Path) -> None:
    def some_uncounted(listed: dict[str, Any]) -> dict[str, Any]:
        return {**listed, "added_files_count": None} if "m4." in listed["manifest_path"] else listed

    days(tmp_path, 6, recorded=some_uncounted)
    wheres = [f"ts >= '2024-01-0{day}' AND n % {divisor} = 0 AND n > {divisor}" for day in range(1, 7) for divisor in range(1, 8)]
    for where, report in zip(wheres, lakeprune.explain_many(tmp_path, wheres), strict=True):
        alone = lakeprune.explain(tmp_path, where).numbers
        assert (report.numbers.total, report.numbers.kept, report.numbers.credits) == (alone.total, alone.kept, alone.credits)


def test_a_predicate_that_is_never_true_reads_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    days(tmp_path)
    with manifests_read(monkeypatch) as read:
        report = lakeprune.explain(tmp_path, "FALSE")
    assert (read, report.numbers.kept.files, report.numbers.credits["constant"].files) == ([], 0, 20)


def test_without_a_predicate_and_for_other_columns_everything_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    days(tmp_path)
    for where in (None, "n = 3", "ts IS NULL OR n = 3"):
        with manifests_read(monkeypatch) as read:
            report = lakeprune.explain(tmp_path, where)
        assert len(read) == 10, where
        assert report.numbers.total.files_without_bytes == 0


def test_exhaustive_reads_every_manifest_and_keeps_the_same_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    days(tmp_path)
    where = f"({ONE_DAY}) AND n = 5"
    with manifests_read(monkeypatch) as read:
        whole = lakeprune.explain(tmp_path, where, exhaustive=True)
    quick = lakeprune.explain(tmp_path, where)
    assert len(read) == 10
    assert (whole.numbers.kept, whole.numbers.total.bytes) == (quick.numbers.kept, 2000)
    assert {name: amount.files for name, amount in whole.numbers.credits.items()} == {
        name: amount.files for name, amount in quick.numbers.credits.items()
    }
    assert (whole.to_dict()["clauses_counted_at"], quick.to_dict()["clauses_counted_at"]) == ("file", "manifest")
    # File by file `n = 5` drops 19 files; manifests say nothing about it.
    assert [clause.credit.drops_any.files for clause in whole.clauses] == [18, 19]
    assert [clause.credit.drops_any.files for clause in quick.clauses] == [18, 1]


def test_a_gate_on_a_share_of_the_bytes_reads_every_manifest(tmp_path: Path) -> None:
    days(tmp_path)
    report = lakeprune.explain(tmp_path, ONE_DAY, min_bytes_pruning=90)
    assert report.passed
    assert report.numbers.total.files_without_bytes == 0


def test_a_full_listing_reads_every_manifest_and_a_listing_of_what_is_kept_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    days(tmp_path)
    report = lakeprune.explain(tmp_path, ONE_DAY)
    with manifests_read(monkeypatch) as read:
        files = report.files
    assert len(read) == 9, "and the tenth was read before"
    dropped = [file for file in files if not file.kept]
    assert {(file.credit, file.pruned_by, file.clause) for file in dropped} == {("manifest", "Manifest pruning", ONE_DAY)}
    assert sum(file.kept for file in files) == report.numbers.kept.files


def test_phases_count_their_containers_and_what_they_read(tmp_path: Path) -> None:
    days(tmp_path, per_manifest=4)
    report = lakeprune.explain(tmp_path, f"{ONE_DAY} AND n = 5")
    whole = report.to_dict()
    jsonschema.validate(whole, json.loads(target("explain").read_text(encoding="utf-8")))
    names = ("name", "level", "input_containers", "output_containers", "input_files", "output_files")
    assert [tuple(phase[name] for name in names) for phase in whole["phases"]] == [
        ("Manifest pruning", "manifest", 5, 1, 20, 4),
        ("Partition pruning (transforms)", "file", 4, 2, 4, 2),
        ("Data skipping (column metrics)", "file", 2, 1, 2, 1),
    ]
    assert [phase["io"] and phase["io"]["requests"] for phase in whole["phases"]] == [1, 1, None]
    assert whole["phases"][1]["io"]["bytes"] == (tmp_path / "metadata" / "0-0-m4.avro").stat().st_size
    assert "manifests remaining: 1  (-4, 80% pruned)" in report.to_text()
    assert "; 16 files in manifests that were not read" in report.to_text()


def test_credits_and_kept_containers_are_all_of_them_at_both_levels(tmp_path: Path) -> None:
    days(tmp_path)
    for where in (ONE_DAY, "n = 3", "FALSE", f"{ONE_DAY} OR n = 19", "ts < '2024-01-05' AND n > 3 AND 1 = 1"):
        numbers = lakeprune.explain(tmp_path, where).numbers
        assert numbers.manifests is not None
        assert sum(numbers.manifests.credits.values()) + numbers.manifests.kept == numbers.manifests.total == 10
        credited = [amount.files for amount in numbers.credits.values()]
        assert sum(credited) + numbers.kept.files == numbers.total.files == 20


Change = Callable[[dict[str, Any]], dict[str, Any]]
_LESS: dict[str, Change] = {
    "no summaries": lambda listed: {**listed, "partitions": None},
    "too few summaries": lambda listed: {**listed, "partitions": []},
    "no bounds": lambda listed: _each(listed, lower_bound=None, upper_bound=None),
    "no counts": lambda listed: {**listed, "added_files_count": None},
    "negative counts": lambda listed: {**listed, "added_files_count": -1},
    "swapped bounds": lambda listed: _each(listed, lower_bound=encoded(99_999, "int"), upper_bound=encoded(1, "int")),
    "bounds of another length": lambda listed: _each(listed, lower_bound=b"abc", upper_bound=b"abc", contains_null=False),
}


def _each(listed: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {**listed, "partitions": [{**summary, **changes} for summary in listed["partitions"]]}


@pytest.mark.parametrize("name", _LESS)
def test_what_the_list_does_not_record_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    days(tmp_path, recorded=_LESS[name])
    with manifests_read(monkeypatch) as read:
        report = lakeprune.explain(tmp_path, ONE_DAY)
    assert len(set(read)) == 10, "nothing is known without reading them"
    assert kept(tmp_path, ONE_DAY) == ["f04", "f05"]
    assert report.numbers.total.bytes == 2000


def test_rows_that_the_list_does_not_record_are_not_known(tmp_path: Path) -> None:
    days(tmp_path, recorded=lambda listed: {**listed, "added_rows_count": None})
    total = lakeprune.explain(tmp_path, ONE_DAY).numbers.total
    assert (total.rows, total.files_without_rows) == (20, 18)


def test_live_rows_of_unread_files_are_not_known_where_deletes_may_apply(tmp_path: Path) -> None:
    entries = [Entry(f"{tmp_path}/f{day}", 10, 100, tuple={1000: 19_723 + day}) for day in range(4)]
    vector = Entry("dv", 3, 1, content=1, format="PUFFIN", referenced=f"{tmp_path}/f0", tuple={1000: 19_723})
    write_table(tmp_path, _COLUMNS, [*entries, vector], {0: (_BY_DAY,)}, Layout(3, per_manifest=1))
    total = lakeprune.explain(tmp_path, "ts >= '2024-01-03' AND ts < '2024-01-04'").numbers.total
    assert (total.files, total.rows, total.files_without_rows) == (4, 10, 3)


def one(root: Path, type_: str, transform: str, values: list[Any], change: Change = dict) -> Path:
    """One manifest of files with these partition values of `c`, and another with a far greater one."""
    result = type_ if transform.startswith(("identity", "truncate")) else "int"
    field = SpecField(1, transform, "f", 1000, result)
    entries = [Entry(f"{root}/f{number}", 10, 100, tuple={1000: value}) for number, value in enumerate(values)]
    write_table(root, [column(1, "c", type_)], entries, {0: (field,)}, Layout(recorded=change))
    return root


def is_read(root: Path, where: str) -> bool:
    return lakeprune.explain(root, where, nan_policy="strict").summary.manifests_kept == 1


# type, transform, partition values, conditions that must read the manifest, conditions that need not
_RANGES: list[tuple[str, str, list[Any], list[str], list[str]]] = [
    ("int", "identity", [3, 7], ["c = 5", "c = 3", "c > 6", "c != 5", "NOT (c = 3)"], ["c = 8", "c < 3", "c IS NULL"]),
    ("int", "identity", [3, None], ["c IS NULL", "c = 3", "c IS NOT NULL"], ["c = 4"]),
    ("int", "identity", [None, None], ["c IS NULL", "c = 4"], []),
    ("int", "truncate[10]", [10, 30], ["c = 39", "c = 10", "c < 11"], ["c = 40", "c < 10", "c IS NULL"]),
    ("int", "truncate[10]", [-10, 2147483640], ["c = -2147483648", "c = 5"], ["c IS NULL"]),
    ("int", "bucket[16]", [4, 5], ["c > 5", "c BETWEEN 0 AND 900", "c != 7"], ["c IS NULL"]),
    ("decimal(9,2)", "truncate[50]", [Decimal("10.00"), Decimal("10.50")], ["c = 10.99"], ["c = 11.00", "c < 10"]),
    ("string", "identity", ["ab", "ad"], ["c = 'ac'", "c LIKE 'a%'"], ["c = 'add'", "c LIKE 'b%'"]),
    ("string", "truncate[2]", ["ab", "ad"], ["c = 'adzzz'", "c = 'ac'"], ["c = 'ae'", "c = 'aa'"]),
    ("string", "truncate[3]", ["ab", "ad"], ["c = 'ad'"], ["c = 'adzzz'"]),
    ("binary", "truncate[2]", [b"ab"], ["c = X'616263'", "c > X'7A'"], ["c < X'61'"]),
    ("date", "month", [0, 1], ["c = '1970-02-28'", "c = '1969-12-31'"], ["c = '1970-03-01'", "c = '1969-11-30'"]),
    ("date", "year", [54, 55], ["c = '2024-06-01'"], ["c = '2026-01-01'"]),
    ("timestamp", "day", [0, 2], ["c = '1969-12-31'", "c > '1970-01-03 23:59:59'"], ["c = '1970-01-04'", "c < '1969-12-31'"]),
    ("timestamp", "hour", [5, 1_740_000_000], ["c = '2020-01-01'", "c = '-0001-01-01'"], ["c IS NULL"]),
    ("boolean", "identity", [True], ["c"], ["NOT c", "c IS NULL"]),
]  # fmt: skip


@pytest.mark.parametrize(("type_", "transform", "values", "read", "unread"), _RANGES)
def test_a_range_of_partition_values_is_lifted_through_the_spec(
    tmp_path: Path, type_: str, transform: str, values: list[Any], read: list[str], unread: list[str]
) -> None:
    one(tmp_path, type_, transform, values)
    assert {where: is_read(tmp_path, where) for where in (*read, *unread)} == {
        **dict.fromkeys(read, True),
        **dict.fromkeys(unread, False),
    }


def test_buckets_are_a_range_of_numbers(tmp_path: Path) -> None:
    one(tmp_path, "int", "bucket[16]", [3, 5])
    buckets = {value: BucketTransform(16).transform(IntegerType())(value) for value in range(100)}
    inside = [value for value, bucket in buckets.items() if bucket is not None and 3 <= bucket <= 5]
    outside = [value for value in buckets if value not in inside]
    assert inside
    assert all(is_read(tmp_path, f"c = {value}") for value in inside[:5])
    assert not is_read(tmp_path, f"c IN ({', '.join(map(str, outside))})")
    assert is_read(tmp_path, f"c IN ({', '.join(map(str, [*outside, inside[0]]))})")


def test_each_manifest_is_judged_by_its_own_spec(tmp_path: Path) -> None:
    """T50: the field of one spec has the id of another in the other; neither says anything about the other's files."""
    specs = {0: (SpecField(2, "identity", "n", 1000, "int"),), 1: (SpecField(1, "day", "d", 1000, "int"),), 2: ()}
    entries = [
        Entry(f"{tmp_path}/n5", 10, 100, 0, {1000: 5}),
        Entry(f"{tmp_path}/day5", 10, 100, 1, {1000: 5}),
        Entry(f"{tmp_path}/any", 10, 100, 2),
    ]
    write_table(tmp_path, _COLUMNS, entries, specs)
    assert kept(tmp_path, "n = 6") == ["any", "day5"]
    assert kept(tmp_path, "ts = '1970-01-07'") == ["any", "n5"]
    assert lakeprune.explain(tmp_path, "n = 6 AND ts = '1970-01-07'").summary.manifests_kept == 1


def test_void_and_unknown_transforms_say_nothing(tmp_path: Path) -> None:
    """T49: NULL in the tuple of a void field is not NULL in its source."""
    for name in ("void", "zorder[2]"):
        root = one(tmp_path / name, "int", name, [None, None], lambda listed: _each(listed, contains_null=False))
        assert all(is_read(root, where) for where in ("c IS NULL", "c IS NOT NULL", "c = 5"))


@pytest.mark.parametrize("recorded", [None, True])
def test_a_nan_that_is_recorded_or_may_be_there_is_read(tmp_path: Path, recorded: bool | None) -> None:
    """T51: NaN is greater than everything; a missing contains_nan proves nothing."""
    root = one(tmp_path, "double", "identity", [1.0, math.nan], lambda listed: _each(listed, contains_nan=recorded))
    assert is_read(root, "c > 5")
    assert is_read(root, "c != c OR c > 5")
    assert not is_read(root, "c < 1")


def test_without_nan_a_range_of_doubles_is_believed(tmp_path: Path) -> None:
    root = one(tmp_path, "double", "identity", [-0.0, 1.0])
    assert is_read(root, "c = 0.0")
    assert not is_read(root, "c > 5")


def test_bounds_that_are_nan_are_none(tmp_path: Path) -> None:
    """T2."""
    nan = encoded(math.nan, "double")
    root = one(tmp_path, "double", "identity", [1.0, 2.0], lambda listed: _each(listed, lower_bound=nan, contains_nan=False))
    assert is_read(root, "c > 5")
    assert is_read(root, "c < 0")


def test_no_nan_is_assumed_away_in_a_manifest_that_is_not_read(tmp_path: Path) -> None:
    """The files may record it: default and --exhaustive must keep the same files."""
    root = one(tmp_path, "double", "identity", [1.0, math.nan], lambda listed: _each(listed, contains_nan=None))
    reports = [lakeprune.explain(root, "c > 5", exhaustive=exhaustive) for exhaustive in (False, True)]
    assert [report.summary.files_kept for report in reports] == [1, 1]


def test_a_long_upper_bound_of_text_may_be_a_prefix(tmp_path: Path) -> None:
    """T16."""
    cut = lambda listed: _each(listed, upper_bound=b"abcdefghijklmnop")  # noqa: E731
    root = one(tmp_path, "string", "identity", ["abcdefghijklmnopqrs"], cut)
    assert is_read(root, "c = 'abcdefghijklmnopqrs'")
    assert not is_read(root, "c = 'abcdefghijklmnoq'")


def test_a_promoted_column_is_read_by_the_length_of_its_bounds(tmp_path: Path) -> None:
    """T57: the summary of an old manifest has four bytes where the column is a long now."""
    four = lambda listed: _each(listed, lower_bound=encoded(3, "int"), upper_bound=encoded(7, "int"))  # noqa: E731
    root = one(tmp_path, "long", "identity", [3, 7], four)
    assert is_read(root, "c = 5")
    assert not is_read(root, "c = 8")
