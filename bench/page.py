"""docs/benchmarks.md: a section for each part of the benchmarks, with the day, the load and the goals of its own run.

A section that was measured replaces the one with the same title; all others stay, and so do the notes at the end of the page.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime

from msgspec import Struct

from bench.goals import Goal

HEAD = (
    "# Benchmarks",
    "",
    "Written by `make bench`; `python -m bench.run --only PART --write docs/benchmarks.md` measures one section again. All",
    "numbers of a section come from one run, and it says when that was. The notes at the end say what missed goals mean.",
)
NOTES = "Notes"
_TITLE = re.compile(r"^## (.+)\n", re.MULTILINE)


class Section(Struct, frozen=True):
    """A part of the page as it was measured; its first line is its heading."""

    lines: Sequence[str]
    goals: Sequence[Goal]
    load: tuple[float, float]  # of the machine, before and after

    @property
    def title(self) -> str:
        return self.lines[0].removeprefix("## ")

    def text(self) -> str:
        before, after = self.load
        when = f"Measured on {datetime.now(UTC):%Y-%m-%d}; the load of the machine was {before:.1f} before and {after:.1f} after."
        return "\n".join([self.lines[0], "", when, *self.lines[1:], *_table(self.goals), ""])


def _table(goals: Sequence[Goal]) -> list[str]:
    if not goals:
        return []
    rows = [f"| {goal.text} | {goal.measured} | {'yes' if goal.met else '**no**'} |" for goal in goals]
    return ["", "| goal | measured | met |", "|---|---:|:---:|", *rows]


def page(earlier: str, facts: Sequence[str], sections: Sequence[Section]) -> str:
    """The page with these sections instead of those of the same title."""
    _, *pieces = _TITLE.split(earlier)
    kept = {title: f"## {title}\n{text}" for title, text in zip(pieces[::2], pieces[1::2], strict=True)}
    notes = kept.pop(NOTES, None)
    kept |= {section.title: section.text() for section in sections}
    head = "\n".join([*HEAD, "", *(f"- {fact}" for fact in facts), ""])
    return "\n".join(text.rstrip("\n") + "\n" for text in (head, *kept.values(), *([notes] if notes else [])))
