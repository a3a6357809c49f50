"""What the pictures of a report show, as values: no SQL, no markup. Places on an axis are shares of its length, 0 to 1.

The amount of data is bounded whatever the table: every file is drawn up to `MOST_MARKS`, above that files are counted in bins.
"""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from lakeprune.report.model import FileReport

MOST_MARKS = 2000  # files that are drawn one by one
BINS = 120
MOST_STRIPS = 8
MOST_LANES = 12
MOST_CELLS = 400  # partitions in the heat map
MOST_FILES = 1000  # in the list
_LONGEST = 40  # letters of a partition's label


class Shade(Enum):
    """How a file is drawn; the number of a shade is its place here."""

    DROP = "drop"
    KEEP = "keep"
    FULL = "full"
    ASSUMED = "assumed"  # dropped only because no NaN is assumed to be hidden
    # On the axis of one column, where DROP is what a clause on that column drops:
    BY_PARTITION = "by-partition"  # dropped by partition values
    BY_ANOTHER = "by-another"  # dropped by what does not concern this column


SHADES = tuple(Shade)
VERDICTS = SHADES[:4]  # where no column is looked at
Counts = tuple[int, ...]  # in the order of VERDICTS


class Tick(Struct, frozen=True):
    at: float
    label: str


class Stripe(Struct, frozen=True):
    """A piece of the predicate's range."""

    start: float
    end: float


class Mark(Struct, frozen=True):
    """One file's range."""

    start: float
    end: float
    shade: Shade
    path: str
    range: str  # as text


class Lane(Struct, frozen=True):
    """The files of one partition (or of the others together) on one column's axis.

    As marks, or as depth per shade, in the order of SHADES, and bin.
    """

    label: str
    files: Counts
    unknown: Counts  # without any bound: their range may be the whole axis
    only_null: int  # without any value
    marks: tuple[Mark, ...] = ()
    depth: tuple[tuple[int, ...], ...] = ()

    @property
    def deepest(self) -> int:
        """The most ranges that lie on one bin."""
        return max((sum(counts) for counts in zip(*self.depth, strict=True)), default=0)


class Strip(Struct, frozen=True):
    """One column of the predicate: its files' ranges, and the range that the predicate allows."""

    column: str
    type: str
    is_partition: bool
    allowed: str | None  # the predicate's range as text, None when it allows every value
    stripes: tuple[Stripe, ...]
    ticks: tuple[Tick, ...]
    lanes: tuple[Lane, ...]
    beyond: int  # files whose range reaches out of the axis


class Undrawn(Struct, frozen=True):
    column: str
    why: str


class Cell(Struct, frozen=True):
    """One partition: its values as recorded, its files and bytes by shade."""

    texts: tuple[str | None, ...]
    files: Counts
    bytes: Counts

    @property
    def read(self) -> tuple[int, int]:
        """Files and bytes to read."""
        return self.files[1] + self.files[2], self.bytes[1] + self.bytes[2]

    @property
    def labels(self) -> tuple[str, ...]:
        """
        >>> Cell((None, "DE", ""), (0, 0, 0, 0), (0, 0, 0, 0)).labels
        ('NULL', 'DE', '(empty)')
        """
        return tuple("NULL" if text is None else shortened(text, _LONGEST) or "(empty)" for text in self.texts)


class Heat(Struct, frozen=True):
    columns: tuple[str, ...]
    cells: tuple[Cell, ...]
    partitions: int  # of the table; the cells are those with the most bytes to read


class Picture(Struct, frozen=True):
    strips: tuple[Strip, ...]
    undrawn: tuple[Undrawn, ...]
    heat: Heat | None
    files: tuple[FileReport, ...]  # the largest first


def shortened(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
