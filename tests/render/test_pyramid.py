"""The pyramid of levels: drawn from the summary, only where there is more than files."""

from __future__ import annotations

import re

import pytest

from lakeprune.render.html.pyramid import drawn, levels_of, pyramid
from lakeprune.report.summary import Summary
from tests.builders.reports import USERS, report_on, snapshot


def summary(manifests: tuple[int | None, int | None], row_groups: tuple[int | None, int | None]) -> Summary:
    return Summary(*manifests, 20_000, 35, *row_groups, 1000, 10, 5)


def widths(page: str) -> list[tuple[float, float]]:
    """Of every level, how wide it is and how wide what is left of it."""
    found = [float(width) for width in re.findall(r'<rect class="\w+" x="[\d.]+%" width="([\d.]+)%"', page)]
    return list(zip(found[::2], found[1::2], strict=True))


@pytest.mark.parametrize(
    ("manifests", "row_groups", "names"),
    [
        ((4000, 7), (140, 12), ["manifests", "files", "row_groups"]),
        ((4000, 7), (None, None), ["manifests", "files"]),
        ((None, None), (140, 12), ["files", "row_groups"]),
        ((4000, None), (None, None), []),
        ((None, None), (None, None), []),
    ],
)
def test_levels_that_are_known_are_drawn_from_the_top(
    manifests: tuple[int | None, int | None], row_groups: tuple[int | None, int | None], names: list[str]
) -> None:
    page = drawn(levels_of(summary(manifests, row_groups)))
    assert re.findall(r'data-level="(\w+)"', page) == names
    for (above, _), (below, _) in zip(widths(page), widths(page)[1:], strict=False):
        assert above < below


def test_what_is_left_has_its_share_of_the_width() -> None:
    whole = widths(drawn(levels_of(summary((4, 1), (140, 0)))))
    assert whole[0][1] == pytest.approx(whole[0][0] / 4, abs=0.01)
    assert whole[2][1] == 0


def test_nothing_left_of_nothing_is_not_divided() -> None:
    assert "0%" in drawn(levels_of(summary((0, 0), (0, 0))))


def test_a_table_that_has_only_files_has_no_pyramid() -> None:
    report = report_on(snapshot(*USERS), "age > 40")
    assert pyramid(report) == ""
    assert 'id="levels"' not in report.to_html()
