"""The pictures say what the files say: verdicts, ranges and counts against the listing and against plain counting."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakeprune.report.model import Report
from lakeprune.report.pictures import compose as compose_module
from lakeprune.report.pictures.model import BINS, SHADES, VERDICTS, Shade, Strip
from lakeprune.report.pictures.ticks import linear_ticks
from lakeprune.skipping.verdict import Verdict
from lakeprune.values.types import DATE, DOUBLE, INT, STRING, TIMESTAMP, DataType
from tests.builders.reports import USERS, report_on, snapshot
from tests.builders.snapshot import File, RowsSnapshot

BOUND = st.integers(-20, 20)
RANGES = st.one_of(
    st.none(),
    st.tuples(BOUND, BOUND).map(lambda pair: (min(pair), max(pair), 0)),
    st.tuples(BOUND, BOUND).map(lambda pair: (min(pair), max(pair), None)),
    st.just((None, None, 10)),
    BOUND.map(lambda low: (low, None, 0)),
)
FILES = st.lists(st.tuples(st.sampled_from(["a", "b", None]), RANGES, st.integers(0, 10)), min_size=1, max_size=30)
WHERES = st.sampled_from(
    ["x > 3", "x BETWEEN -5 AND 5 AND p = 'a'", "x IN (1, 7, 19) OR p = 'b'", "x IS NULL", "upper(p) = 'A'", "x % 7 = 1", "TRUE"]
)


def table(files: list[tuple[str | None, Any, int]]) -> RowsSnapshot:
    rows = [
        File(f"f{n:03d}", 100 + n, 10, deleted, {"p": p}, None if bounds is None else {"x": bounds})
        for n, (p, bounds, deleted) in enumerate(files)
    ]
    return RowsSnapshot({"p": STRING, "x": INT}, rows, partition_by=["p"])


def strip_of(report: Report, column: str) -> Strip:
    (found,) = [strip for strip in report.picture().strips if strip.column == column]
    return found


def verdicts(report: Report) -> Counter[Shade]:
    return Counter(Shade.ASSUMED if file.assumes else Shade(file.verdict.value.lower()) for file in report.files)


@given(FILES, WHERES)
@settings(max_examples=40, deadline=None)
def test_partitions_and_lanes_count_the_verdicts_of_the_listing(files: list[tuple[str | None, Any, int]], where: str) -> None:
    report = report_on(table(files), where)
    picture = report.picture()
    expected = verdicts(report)
    assert picture.heat is not None
    cells = [sum(counts) for counts in zip(*(cell.files for cell in picture.heat.cells), strict=True)]
    assert cells == [expected[shade] for shade in VERDICTS]
    sizes = sum(file.size_bytes for file in report.files if file.verdict is not Verdict.DROP)
    assert sum(cell.bytes[1] + cell.bytes[2] for cell in picture.heat.cells) == sizes
    for strip in picture.strips:
        totals = [sum(counts) for counts in zip(*(lane.files for lane in strip.lanes), strict=True)]
        assert totals == cells
        for lane in strip.lanes:
            assert len(lane.marks) + sum(lane.unknown) + lane.only_null == sum(lane.files)


@given(FILES, WHERES)
@settings(max_examples=25, deadline=None)
def test_bins_hold_as_many_ranges_as_touch_them(files: list[tuple[str | None, Any, int]], where: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        exact = {strip.column: strip for strip in report_on(table(files), where).picture().strips}
        patch.setattr(compose_module, "MOST_MARKS", 0)
        binned = {strip.column: strip for strip in report_on(table(files), where).picture().strips}
    assert exact.keys() == binned.keys()
    if "x" not in exact:
        return
    for lane, other in zip(exact["x"].lanes, binned["x"].lanes, strict=True):
        assert (lane.label, lane.files, lane.unknown, lane.only_null) == (
            other.label,
            other.files,
            other.unknown,
            other.only_null,
        )
        for shade, counts in zip(SHADES, other.depth, strict=True):
            counted = [0] * BINS
            for mark in lane.marks:
                if mark.shade is shade:
                    for place in range(_bin(mark.start), _bin(mark.end) + 1):
                        counted[place] += 1
            assert list(counts) == counted


def _bin(share: float) -> int:
    return min(int(share * BINS), BINS - 1)


def test_a_mark_lies_where_the_files_bounds_lie_on_the_axis() -> None:
    strip = strip_of(report_on(snapshot(*USERS), "age > 40 AND country = 'DE'"), "age")
    assert [lane.label for lane in strip.lanes] == ["DE", "IT", "US"]
    low, high = 18 - 0.02 * 47, 65 + 0.02 * 47
    (kept,) = [mark for mark in strip.lanes[0].marks if mark.shade is Shade.KEEP]
    assert kept.start == pytest.approx((40 - low) / (high - low))
    assert kept.end == pytest.approx((60 - low) / (high - low))
    assert (kept.path, kept.range) == ("e", "40 to 60")
    assert strip.stripes[0].start == pytest.approx((41 - low) / (high - low))
    assert strip.stripes[0].end == 1.0


def test_text_is_spaced_evenly_and_the_predicate_covers_its_cell() -> None:
    files = [File(name, stats={"name": (low, high, 0)}) for name, low, high in (("f", "ant", "bee"), ("g", "cow", "dog"))]
    strip = strip_of(report_on(snapshot(*files), "name = 'bee'"), "name")
    assert [tick.label for tick in strip.ticks] == ["ant", "bee", "cow", "dog"]
    assert [(stripe.start, stripe.end) for stripe in strip.stripes] == [(0.25, 0.5)]
    assert [(mark.start, mark.end) for mark in strip.lanes[0].marks] == [(0.0, 0.5), (0.5, 1.0)]


@pytest.mark.parametrize("prefix", ["", "user-", "a-long-common-beginning-"])
def test_many_texts_share_bins_in_their_order(prefix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compose_module, "MOST_MARKS", 0)
    names = [f"{prefix}{n:06d}" for n in range(0, 1_000_000, 1009)]
    files = [File(f"f{n}", stats={"name": (name, name, 0)}) for n, name in enumerate(names)]
    strip = strip_of(report_on(snapshot(*files), f"name >= '{names[len(names) // 4]}'"), "name")
    (lane,) = strip.lanes
    point = strip_of(report_on(snapshot(*files), f"name = '{names[500]}'"), "name")
    assert [stripe.end > stripe.start for stripe in point.stripes] == [True]
    assert sum(map(sum, lane.depth)) == len(names)  # every file is a point, so it lies on one bin
    if len(prefix) < 12:
        assert len(lane.depth[0]) > BINS / 2
        quarter = len(lane.depth[0]) // 4
        assert sum(lane.depth[0][: quarter + 1]) == pytest.approx(len(names) / 4, rel=0.05)
        assert strip.stripes[0].start == pytest.approx(0.25, abs=0.02)


def test_a_text_between_two_that_are_there_is_drawn_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compose_module, "MOST_MARKS", 0)
    files = [File(name, stats={"name": (name, name, 0)}) for name in ("click", "order", "view")]
    assert strip_of(report_on(snapshot(*files), "name = 'pear'"), "name").stripes == ()
    (order,) = strip_of(report_on(snapshot(*files), "name = 'order'"), "name").stripes
    assert [order.start, order.end] == pytest.approx([1 / 3, 2 / 3])


def test_a_far_outlier_does_not_press_the_others_together() -> None:
    rows = [File(f"f{n}", stats={"x": (n, n + 1, 0)}) for n in range(300)] + [File("far", stats={"x": (0, 2**31 - 1, 0)})]
    strip = strip_of(report_on(RowsSnapshot({"x": INT}, rows), "x < 100"), "x")
    assert strip.beyond == 1
    assert strip.stripes[0].end == pytest.approx(1 / 3, abs=0.03)


HOUR = 3600 * 1_000_000


@pytest.mark.parametrize(
    ("kind", "low", "high", "labels"),
    [
        (DATE, 19723, 19723 + 364, ["2024-01", "2024-03", "2024-05", "2024-07", "2024-09", "2024-11"]),
        (DATE, 19723, 19727, ["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-04", "2024-01-05"]),
        (DATE, 0, 365 * 60, ["1970", "1980", "1990", "2000", "2010", "2020"]),
        (DATE, -(2**31), 2**31 - 1, ["-4000000", "-2000000", "0", "2000000", "4000000"]),
        (TIMESTAMP, -1, 3 * HOUR, ["01-01 00:00", "01-01 00:30", "01-01 01:00", "01-01 01:30", "01-01 02:00", "01-01 02:30", "01-01 03:00"]),  # noqa: E501
        (TIMESTAMP, 0, 2_000_000, ["00:00:00", "00:00:01", "00:00:02"]),
        (DOUBLE, 0.0, 1.0, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        (DOUBLE, -1e300, 1e300, ["-1e+300", "-5e+299", "0", "5e+299", "1e+300"]),
        (INT, 0, 3, ["0", "1", "2", "3"]),
    ],
)  # fmt: skip
def test_ticks_are_round_values_of_the_type(kind: DataType, low: float, high: float, labels: list[str]) -> None:
    ticks = linear_ticks(low, high, kind, "UTC")
    assert [label for _, label in ticks] == labels
    assert all(low <= value <= high for value, _ in ticks)


def test_clock_ticks_are_in_the_sessions_zone() -> None:
    assert linear_ticks(0, 4 * HOUR, TIMESTAMP, "Asia/Kolkata")[0] == (HOUR / 2, "01-01 06:00")


def test_most_partitions_share_one_lane_and_the_ones_to_read_do_not() -> None:
    rows = [File(f"{part}{n}", 1000, partition={"p": f"{n:03d}"}, stats={"x": (n, n, 0)}) for n in range(500) for part in "fg"]
    picture = report_on(RowsSnapshot({"p": STRING, "x": INT}, rows, partition_by=["p"]), "x BETWEEN 200 AND 205").picture()
    (strip,) = picture.strips
    assert [lane.label for lane in strip.lanes if lane.files[0] == 0] == [f"{n}" for n in range(200, 206)]
    assert strip.lanes[-1].label == "488 other partitions"
    assert picture.heat is not None
    assert (len(picture.heat.cells), picture.heat.partitions) == (400, 500)


def test_files_are_the_largest_first() -> None:
    picture = report_on(snapshot(*USERS), "age > 40").picture()
    assert [file.path for file in picture.files] == ["b", "f", "d", "e", "a", "c"]


def test_what_cannot_be_drawn_is_named() -> None:
    picture = report_on(snapshot(File("f", stats=None)), "age > 40").picture()
    assert picture.strips == ()
    assert [(gone.column, gone.why) for gone in picture.undrawn] == [("age", "no file has a minimum or maximum of it")]


def test_an_axis_has_its_ends_in_order_when_ranges_are_open() -> None:
    """One file known from below only, another from above only: the least minimum lies above the greatest maximum."""
    files = [File("a", stats={"x": (900, None, 0)}), File("b", stats={"x": (None, -900, 0)})]
    table = RowsSnapshot({"x": INT}, files)
    (strip,) = report_on(table, "x > 5").picture().strips
    assert sum(len(lane.marks) for lane in strip.lanes) == 2


def test_partitions_of_one_file_share_a_lane() -> None:
    rows = [File(f"f{n}", partition={"p": f"{n:02d}"}, stats={"x": (n, n, 0)}) for n in range(30)]
    table = RowsSnapshot({"p": STRING, "x": INT}, rows, partition_by=["p"])
    assert [lane.label for lane in strip_of(report_on(table, "x < 5"), "x").lanes] == ["all files"]
    two = [File(f"g{n}", partition={"p": "00"}, stats={"x": (n, n, 0)}) for n in range(2)]
    table = RowsSnapshot({"p": STRING, "x": INT}, [*rows[1:], *two], partition_by=["p"])
    strip = strip_of(report_on(table, "x < 5"), "x")
    assert [(lane.label, len(lane.marks)) for lane in strip.lanes] == [("00", 2), ("29 partitions of one file", 29)]


@pytest.mark.parametrize("most_marks", [2000, 0])
def test_a_dropped_file_shows_what_drops_it_on_each_axis(most_marks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """By partition values, by a clause on the column of the axis, or by another clause; credits say the same."""
    monkeypatch.setattr(compose_module, "MOST_MARKS", most_marks)
    files = [
        File("other partition", partition={"p": "b"}, stats={"x": (0, 9, 0), "y": (0, 9, 0)}),
        File("by x", partition={"p": "a"}, stats={"x": (6, 9, 0), "y": (0, 9, 0)}),
        File("by y", partition={"p": "a"}, stats={"x": (0, 9, 0), "y": (6, 9, 0)}),
        File("kept", partition={"p": "a"}, stats={"x": (0, 9, 0), "y": (0, 9, 0)}),
    ]
    table = RowsSnapshot({"p": STRING, "x": INT, "y": INT}, files, partition_by=["p"])
    report = report_on(table, "p = 'a' AND x < 5 AND y < 5")
    expected = {
        "p": [Shade.BY_PARTITION, Shade.BY_ANOTHER, Shade.BY_ANOTHER, Shade.KEEP],
        "x": [Shade.BY_PARTITION, Shade.DROP, Shade.BY_ANOTHER, Shade.KEEP],
        "y": [Shade.BY_PARTITION, Shade.BY_ANOTHER, Shade.DROP, Shade.KEEP],
    }
    for strip in report.picture().strips:
        if most_marks:
            shades = {mark.path: mark.shade for lane in strip.lanes for mark in lane.marks}
            assert [shades[file.path] for file in files] == expected[strip.column], strip.column
        else:
            drawn = {shade for n, shade in enumerate(SHADES) if any(any(lane.depth[n]) for lane in strip.lanes)}
            assert drawn == set(expected[strip.column])
