"""Strip plots as SVG: one line per file, or the number of files along the axis, with the predicate's range over them.

Horizontal places are percentages of the width, so a strip fits any screen without scaling its text. Verdicts differ in shape as
well as in colour: dropped files are hollow or pale, kept ones solid, fully matched ones hatched. A bar is a link to its file in
the list, where that has it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from msgspec import Struct

from lakeprune.render.html.words import code, plural, table, words
from lakeprune.report.pictures.model import Lane, Mark, Picture, Shade, Strip

_WIDE = 1000  # units of a lane's own coordinates, stretched to the width of the page
_LABEL, _GAP, _AXIS, _TOP = 20, 7, 24, 2
_MOST_ROW, _ALL_ROWS = 12.0, 460.0  # pixels of one file's line, and of all of them
_PARTITION_ROWS = 150.0  # a partition column is a point per file: its plot says little for its height
_DEPTH = 34  # pixels of a lane of counts
_SMALL_ROWS, _SMALL_LABEL, _SMALL_DEPTH = 180.0, 14, 10  # on the first screen, with any number of lanes
_NARROWEST = 3  # units of the shortest mark
_MOST_TITLED = 250_000  # bytes of plots whose bars have a tooltip and a link each

_SHADES = ("Dropped", "Kept in part", "Kept, all rows match", "Dropped by assumption")
_SAID = {
    Shade.DROP: "dropped by a clause on this column",
    Shade.KEEP: "kept",
    Shade.FULL: "kept, every row matches",
    Shade.ASSUMED: "dropped, if no NaN is hidden",
    Shade.BY_PARTITION: "dropped by partition values",
    Shade.BY_ANOTHER: "dropped, not by this column",
}


class Plots(Struct, frozen=True):
    """The strips as HTML: the one of the column that matters most, for the first screen, and the others."""

    lead: str
    others: str


def plots(picture: Picture, lead: Strip | None, links: Mapping[str, int]) -> Plots:
    """Every strip with a caption and the same numbers as a table; `links` are the places of files in the list, by path."""
    for titled in (True, False):
        drawn = [_figure(strip, links if titled else None, is_lead=strip is lead) for strip in picture.strips]
        if sum(map(len, drawn)) <= _MOST_TITLED:
            break
    pairs = list(zip(drawn, picture.strips, strict=True))
    first, others = ("".join(figure for figure, strip in pairs if (strip is lead) is wanted) for wanted in (True, False))
    return Plots(first, others)


def matters_most(picture: Picture, columns: Sequence[str | None]) -> Strip | None:
    """The strip of the first of these columns, those of the diagnoses; else of the one whose clauses drop most files."""
    named = {strip.column: strip for strip in picture.strips}
    for column in columns:
        if column in named:
            return named[column]
    return max(picture.strips, key=lambda strip: (not strip.is_partition, _own_drops(strip)), default=None)


def _own_drops(strip: Strip) -> int:
    drawn = sum(mark.shade is Shade.DROP for lane in strip.lanes for mark in lane.marks)
    return drawn + sum(sum(lane.depth[0]) for lane in strip.lanes if lane.depth)


def _figure(strip: Strip, links: Mapping[str, int] | None, *, is_lead: bool) -> str:
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
    title = f'{code(strip.column, 120)} <span class="muted">{role}{words(strip.type)}</span>'
    plot = _svg(strip, _placed(strip, is_small=is_lead), links)
    remarks = " ".join(notes)
    said, below = (allowed, f'<p class="remark">{remarks}</p>' if notes else "") if is_lead else (f"{allowed} {remarks}", "")
    caption = f"<figcaption><h3>{title}</h3><p>{said}</p></figcaption>"
    return f'<figure class="strip{" lead" * is_lead}">{caption}{plot}{below}{_table(strip)}</figure>'


class _Placed(Struct, frozen=True):
    lane: Lane
    top: float
    height: float
    row: float


def _placed(strip: Strip, *, is_small: bool) -> list[_Placed]:
    """Where each lane goes."""
    height = _SMALL_ROWS if is_small else _PARTITION_ROWS if strip.is_partition else _ALL_ROWS
    label, depth = (_SMALL_LABEL, _SMALL_DEPTH) if is_small else (_LABEL, _DEPTH)
    row = min(_MOST_ROW, height / max(1, sum(len(lane.marks) for lane in strip.lanes)))
    found, top = [], float(_TOP)
    for lane in strip.lanes:
        height = depth if lane.depth else max(row * len(lane.marks), 4.0)
        found.append(_Placed(lane, top + label, height, row))
        top += label + height + (2 if is_small else _GAP)
    return found


def _svg(strip: Strip, placed: Sequence[_Placed], links: Mapping[str, int] | None) -> str:
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
        parts.append(f'<text class="lane" x="2" y="{place.top - 4:.0f}">{_lane_label(place.lane)}</text>')
        shapes = _areas(place) if place.lane.depth else _lines(place, links)
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


def _lines(place: _Placed, links: Mapping[str, int] | None) -> Iterator[str]:
    """Every file of a lane as a bar of its own, sorted by where it starts."""
    thick = place.row * (0.72 if place.row >= 3 else 1)
    numbered = list(enumerate(place.lane.marks))
    if links is not None:
        for index, mark in numbered:
            bar = _bar(mark, index * place.row, thick)
            title = f"<title>{words(_tail(mark.path), 120)}: {words(mark.range, 120)}, {_SAID[mark.shade]}</title>"
            path = f'<path class="{mark.shade.value}" d="{bar}">{title}</path>'
            at = links.get(mark.path)
            # The list has the same links for the keyboard: a stop for every bar would be hundreds.
            yield path if at is None else f'<a href="#file-{at}" tabindex="-1">{path}</a>'
        return
    for shade in Shade:
        if bars := "".join(_bar(mark, index * place.row, thick) for index, mark in numbered if mark.shade is shade):
            yield f'<path class="{shade.value} dense" d="{bars}"/>'


def _tail(path: str) -> str:
    """The end of a long path, where files differ."""
    return path if len(path) <= 90 else f"…{path[-89:]}"


def _bar(mark: Mark, top: float, thick: float) -> str:
    width = max(round((mark.end - mark.start) * _WIDE), _NARROWEST)
    left = min(round(mark.start * _WIDE), _WIDE - width)
    return f"M{left} {_short(top)}h{width}v{_short(thick)}h-{width}z"


def _short(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _areas(place: _Placed) -> Iterator[str]:
    """The number of files along the axis, one area before the other: all of them behind, those kept in part in front."""
    depth, deepest = dict(zip(Shade, place.lane.depth, strict=True)), place.lane.deepest or 1
    order = (Shade.BY_PARTITION, Shade.BY_ANOTHER, Shade.DROP, Shade.ASSUMED, Shade.FULL, Shade.KEEP)
    for number, shade in enumerate(order):
        counts = [sum(each) for each in zip(*(depth[before] for before in order[number:]), strict=True)]
        if any(depth[shade]):
            yield f'<path class="{shade.value} area" d="{_outline(counts, deepest, place.height)}"/>'


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
