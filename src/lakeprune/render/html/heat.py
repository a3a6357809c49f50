"""The heat map: how much of each partition must be read. A grid when the last partition column spans one, else tiles."""

from __future__ import annotations

from lakeprune.render.html.words import plural, words
from lakeprune.report.amount import percent_text, size_text
from lakeprune.report.pictures.model import Cell, Heat

_MOST_ROWS, _MOST_COLUMNS = 60, 40


def heat_map(heat: Heat) -> str:
    """The map with a sentence on what it shows."""
    shown = len(heat.cells)
    names = ", ".join(f"<code>{words(name, 80)}</code>" for name in heat.columns)
    which = (
        plural(heat.partitions, "partition")
        if shown == heat.partitions
        else f"the {shown:,} of {heat.partitions:,} partitions with most to read"
    )
    intro = f"<p>By {names}: {which}. Each cell: files to read of all files; the bar is the share of bytes to read.</p>"
    grid = _grid(heat)
    return intro + (grid if grid is not None else _tiles(heat))


def _tiles(heat: Heat) -> str:
    tiles = "".join(f"<li {_shade(cell)}><b>{words(' / '.join(cell.labels), 60)}</b>{_inside(cell)}</li>" for cell in heat.cells)
    return f'<ul class="tiles">{tiles}</ul>'


def _grid(heat: Heat) -> str | None:
    """Rows of the columns before the last by the last; None when that would be mostly holes."""
    if len(heat.columns) < 2:
        return None
    rows = list(dict.fromkeys(cell.labels[:-1] for cell in heat.cells))
    columns = list(dict.fromkeys(cell.labels[-1] for cell in heat.cells))
    if len(rows) > _MOST_ROWS or len(columns) > _MOST_COLUMNS or 3 * len(heat.cells) < len(rows) * len(columns):
        return None
    cells = {cell.labels: cell for cell in heat.cells}
    head = "".join(f'<th scope="col">{words(column, 40)}</th>' for column in columns)
    body = []
    for row in rows:
        found = (cells.get((*row, column)) for column in columns)
        body.append(
            f'<tr><th scope="row">{words(" / ".join(row), 60)}</th>'
            + "".join('<td class="hole"></td>' if cell is None else f"<td {_shade(cell)}>{_inside(cell)}</td>" for cell in found)
            + "</tr>"
        )
    corner = " / ".join(words(name, 40) for name in heat.columns[:-1]) + f" \\ {words(heat.columns[-1], 40)}"
    table = (
        f'<table class="grid"><thead><tr><th scope="col">{corner}</th>{head}</tr></thead><tbody>{"".join(body)}</tbody></table>'
    )
    return f'<div class="scroll" tabindex="0" role="region" aria-label="Partitions">{table}</div>'


def _shade(cell: Cell) -> str:
    """A class from h0 (nothing to read) to h4 (all of it), and the numbers on hovering."""
    kept, total = cell.read[1], sum(cell.bytes)
    step = 0 if kept == 0 else 4 if kept == total else 1 + min(2, 3 * kept // max(total, 1))
    title = f"{size_text(kept)} of {size_text(total)} to read ({percent_text(kept, total)})"
    return f'class="h{step}" title="{title}"'


def _inside(cell: Cell) -> str:
    kept, total, size = cell.read[0], sum(cell.files), max(sum(cell.bytes), 1)
    share, doubtful = 100 * cell.read[1] / size, 100 * cell.bytes[3] / size
    bar = f'<rect width="{share:.3g}%" height="4"/>' if kept else ""
    if cell.files[3]:
        bar += f'<rect class="assumed" x="{share:.3g}%" width="{doubtful:.3g}%" height="4"/>'
    return f'<span>{kept:,}/{total:,}</span><svg width="100%" height="4" aria-hidden="true">{bar}</svg>'
