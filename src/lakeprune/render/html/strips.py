"""Strip plots as SVG: one line per file, or the number of files along the axis, with the predicate's range over them.

Horizontal places are percentages of the width, so a strip fits any screen without scaling its text. Verdicts differ in shape as
well as in colour: dropped files are hollow or pale, kept ones solid, fully matched ones hatched.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from msgspec import Struct

from lakeprune.render.html.words import code, plural, table, words
from lakeprune.report.pictures.model import Lane, Mark, Picture, Shade, Strip

_WIDE = 1000  # units of a lane's own coordinates, stretched to the width of the page
_LABEL, _GAP, _AXIS, _TOP = 20, 7, 24, 2
_MOST_ROW, _ALL_ROWS = 12.0, 460.0  # pixels of one file's line, and of all of them
_PARTITION_ROWS = 150.0  # a partition column is a point per file: its plot says little for its height
_DEPTH = 34  # pixels of a lane of counts
_NARROWEST = 3  # units of the shortest mark
_TITLED = 500  # marks of a picture that are worth a tooltip each

_SHADES = ("Dropped", "Kept in part", "Kept, all rows match", "Dropped by assumption")


def strips(picture: Picture) -> str:
    """Every strip with a caption and the same numbers as a table."""
    marks = sum(len(lane.marks) for strip in picture.strips for lane in strip.lanes)
    return "".join(_figure(strip, titled=marks <= _TITLED) for strip in picture.strips)


def _figure(strip: Strip, *, titled: bool) -> str:
    role = "partition column, " if strip.is_partition else ""
    allowed = (
        f"The predicate allows {code(strip.allowed)}." if strip.allowed is not None else "The predicate draws no range here."
    )
    notes = []
    if strip.lanes and strip.lanes[0].depth:
        notes.append("Height: files whose range touches that part of the axis, each lane on its own scale.")
    if strip.beyond:
        notes.append(f"{plural(strip.beyond, 'file')} with a range that goes beyond the axis.")
    if unknown := sum(sum(lane.unknown) for lane in strip.lanes):
        notes.append(f"{plural(unknown, 'file')} without a range.")
    if only_null := sum(lane.only_null for lane in strip.lanes):
        notes.append(f"{plural(only_null, 'file')} with nothing but NULL.")
    return (
        f'<figure class="strip"><figcaption><h3>{code(strip.column, 120)} <span class="muted">{role}{words(strip.type)}</span>'
        f"</h3><p>{allowed} {' '.join(notes)}</p></figcaption>{_svg(strip, titled=titled)}{_table(strip)}</figure>"
    )


class _Placed(Struct, frozen=True):
    lane: Lane
    top: float
    height: float
    row: float


def _placed(strip: Strip) -> list[_Placed]:
    """Where each lane goes."""
    height = _PARTITION_ROWS if strip.is_partition else _ALL_ROWS
    row = min(_MOST_ROW, height / max(1, sum(len(lane.marks) for lane in strip.lanes)))
    found, top = [], float(_TOP)
    for lane in strip.lanes:
        height = _DEPTH if lane.depth else max(row * len(lane.marks), 4.0)
        found.append(_Placed(lane, top + _LABEL, height, row))
        top += _LABEL + height + _GAP
    return found


def _svg(strip: Strip, *, titled: bool) -> str:
    placed = _placed(strip)
    bottom = placed[-1].top + placed[-1].height + _GAP if placed else _TOP
    height = round(bottom + _AXIS)
    parts = [f'<svg class="plot" width="100%" height="{height}" role="img" aria-label="{_summary(strip)}">']
    for index, tick in enumerate(strip.ticks):
        parts.append(
            f'<line class="grid{" odd" * (index % 2)}" x1="{_pct(tick.at)}" x2="{_pct(tick.at)}" y1="0" y2="{bottom:.0f}"/>'
        )
    for stripe in strip.stripes:
        width = max(stripe.end - stripe.start, 0.003)
        parts.append(f'<rect class="range" x="{_pct(stripe.start)}" width="{_pct(width)}" y="0" height="{bottom:.0f}"/>')
    for place in placed:
        parts.append(f'<text class="lane" x="2" y="{place.top - 5:.0f}">{_lane_label(place.lane)}</text>')
        shapes = _areas(place) if place.lane.depth else _lines(place, titled=titled)
        parts.append(
            f'<svg y="{place.top:.1f}" width="100%" height="{place.height:.1f}" viewBox="0 0 {_WIDE} {place.height:.1f}"'
            f' preserveAspectRatio="none">{"".join(shapes)}</svg>'
        )
    parts.append(f'<line class="axis" x1="0" x2="100%" y1="{bottom:.0f}" y2="{bottom:.0f}"/>')
    for index, tick in enumerate(strip.ticks):
        anchor = "start" if tick.at < 0.05 else "end" if tick.at > 0.95 else "middle"
        parts.append(
            f'<text class="tick{" odd" * (index % 2)}" x="{_pct(tick.at)}" y="{height - 7}" text-anchor="{anchor}">'
            f"{words(tick.label, 40)}</text>"
        )
    return "".join(parts) + "</svg>"


def _pct(share: float) -> str:
    return f"{_short(100 * share)}%"


def _lane_label(lane: Lane) -> str:
    kept = lane.files[1] + lane.files[2]
    return f"{words(lane.label, 60)} · {kept:,} of {plural(sum(lane.files), 'file')} kept"


def _lines(place: _Placed, *, titled: bool) -> Iterator[str]:
    """Every file of a lane as a bar of its own, sorted by where it starts."""
    thick = place.row * (0.72 if place.row >= 3 else 1)
    numbered = list(enumerate(place.lane.marks))
    if titled:
        for index, mark in numbered:
            bar = _bar(mark, index * place.row, thick)
            title = f"<title>{mark.shade.name} {words(mark.label, 160)}</title>"
            yield f'<path class="{mark.shade.value}" d="{bar}">{title}</path>'
        return
    for shade in Shade:
        if bars := "".join(_bar(mark, index * place.row, thick) for index, mark in numbered if mark.shade is shade):
            yield f'<path class="{shade.value} dense" d="{bars}"/>'


def _bar(mark: Mark, top: float, thick: float) -> str:
    width = max(round((mark.end - mark.start) * _WIDE), _NARROWEST)
    left = min(round(mark.start * _WIDE), _WIDE - width)
    return f"M{left} {_short(top)}h{width}v{_short(thick)}h-{width}z"


def _short(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _areas(place: _Placed) -> Iterator[str]:
    """The number of files along the axis, one area before the other: all, those not proven to be dropped, those kept, ..."""
    dropped, kept, full, assumed = place.lane.depth
    deepest = place.lane.deepest or 1
    read = [a + b for a, b in zip(kept, full, strict=True)]
    doubtful = [a + b for a, b in zip(read, assumed, strict=True)]
    every = [a + b for a, b in zip(doubtful, dropped, strict=True)]
    for name, counts in (("drop", every), ("assumed", doubtful if any(assumed) else []), ("full", read), ("keep", kept)):
        if any(counts):
            yield f'<path class="{name} area" d="{_outline(counts, deepest, place.height)}"/>'


def _outline(counts: Sequence[int], deepest: int, height: float) -> str:
    """A stepped outline; equal neighbours are one step."""
    path, at = [f"M0 {_short(height)}"], 0
    for count, run in groupby(counts):
        at += len(list(run))
        share = max(count / deepest, 0.04) if count else 0.0
        path.append(f"V{_short(round(height * (1 - share), 1))}H{_short(round(at * _WIDE / len(counts), 1))}")
    return "".join(path) + f"V{_short(height)}z"


def _summary(strip: Strip) -> str:
    """What the picture shows, for those who cannot see it."""
    lanes = "; ".join(map(_lane_label, strip.lanes))
    allowed = f" The predicate allows {words(strip.allowed, 120)}." if strip.allowed is not None else ""
    return f"Ranges of {words(strip.column, 120)} in the files.{allowed} {lanes}."


def _table(strip: Strip) -> str:
    shades = len(_SHADES) if any(lane.files[-1] for lane in strip.lanes) else len(_SHADES) - 1
    heads = ("Partition", *_SHADES[:shades], "No range", "Only NULL")
    rows = (
        (words(lane.label, 60), *(f"{count:,}" for count in (*lane.files[:shades], sum(lane.unknown), lane.only_null)))
        for lane in strip.lanes
    )
    files = table(rows, heads, numbers=True, scrolls=f"Files of {words(strip.column, 120)}")
    return f"<details><summary>These files in numbers</summary>{files}</details>"
