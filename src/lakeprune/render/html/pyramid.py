"""The pyramid: manifests above files, row groups and column chunks below them, and how much of each level is left.

Only levels whose numbers are known are drawn; a table that has nothing but files has no pyramid, the funnel has its numbers.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from lakeprune.render.html.words import number, size, words
from lakeprune.report.amount import percent_text
from lakeprune.report.model import Report
from lakeprune.report.summary import Summary

_NARROWEST = 34  # percent of the width, for the top


class Level(Struct, frozen=True):
    name: str  # of its numbers in the summary
    total: int
    kept: int
    shown: Callable[[int], str] = number
    of: str = ""  # the columns that it is about, where it is about some

    @property
    def title(self) -> str:
        return self.name.replace("_", " ").capitalize() + (f" of {words(self.of, 120)}" if self.of else "")


def levels_of(summary: Summary) -> list[Level]:
    """The levels that are known, from the top."""
    found = [
        ("manifests", summary.manifests_total, summary.manifests_kept),
        ("files", summary.files_total, summary.files_kept),
        ("row_groups", summary.row_groups_total, summary.row_groups_kept),
    ]
    return [Level(name, total, kept) for name, total, kept in found if total is not None and kept is not None]


def pyramid(report: Report) -> str:
    """A bar per level, each as wide as its place in the pyramid; empty without a level beside files."""
    levels, groups = levels_of(report.summary), report.row_groups
    if groups is not None and groups.needed_columns and not groups.is_sample:
        chunks = Level("column_chunks", groups.needed_bytes_total, groups.needed_bytes_kept, size)
        levels.append(replace(chunks, of=", ".join(groups.needed_columns)))
    return drawn(levels)


def drawn(levels: list[Level]) -> str:
    """The levels as a list of centred bars, the part that is left in the middle of each."""
    if len(levels) < 2:
        return ""
    step = (100 - _NARROWEST) / (len(levels) - 1)
    rows = "".join(_row(level, _NARROWEST + step * place) for place, level in enumerate(levels))
    return f'<ol class="pyramid" aria-label="What is left of each level">{rows}</ol>'


def _row(level: Level, width: float) -> str:
    part = width * level.kept / level.total if level.total else 0
    part = max(part, 0.4) if level.kept else 0
    pruned = percent_text(level.total - level.kept, level.total)
    return (
        f'<li data-level="{level.name}"><span><b>{level.title}</b> {level.shown(level.kept)} of {level.shown(level.total)}'
        f' <span class="share">{pruned} pruned</span></span>'
        f'<svg class="bar" width="100%" height="16" aria-hidden="true">'
        f'<rect class="track" x="{50 - width / 2:.2f}%" width="{width:.2f}%" height="16" rx="2"/>'
        f'<rect class="out" x="{50 - part / 2:.2f}%" width="{part:.2f}%" height="16" rx="2"/></svg></li>'
    )
