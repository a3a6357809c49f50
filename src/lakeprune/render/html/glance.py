"""The first screen below the head: the first diagnosis, the plot of the column that matters most, and the Step control.

The Step control plays the attribution on every plot: all files, what partition values leave, what statistics leave. Without
the script the last step is shown, which is the result.
"""

from __future__ import annotations

from msgspec import Struct

from lakeprune.render.html.findings import diagnoses, legend_of
from lakeprune.render.html.words import code, number, plural
from lakeprune.report.model import CONSTANT_PHASE, Phase, Report
from lakeprune.report.pictures.model import Strip


class Step(Struct, frozen=True):
    """A button of the control, and the sentence that goes with it."""

    title: str
    files: int
    sentence: str


def glance(report: Report, lead: Strip | None, drawn: str) -> str:
    """The section's content; nothing when there is nothing to say and nothing to draw."""
    said = ""
    if report.diagnoses is not None and report.predicate is not None:
        said = diagnoses(report.diagnoses[:1])
    plot = "" if lead is None else f"{_control(steps_of(report))}{drawn}{legend_of([lead])}"
    parts = [f"<div>{part}</div>" for part in (said, plot) if part]
    return f'<div class="glance">{"".join(parts)}</div>' if parts else ""


def steps_of(report: Report) -> list[Step]:
    """All files, what the rungs above statistics leave, what is left in the end; fewer where a rung has no part in it."""
    last = report.facts.evidence.ladder[-1].phase
    phases = [phase for phase in report.phases if phase.level.value != "row_group"]
    if not phases or phases[0].name == CONSTANT_PHASE:
        return []
    total = report.numbers.total.files
    found = [Step("All files", total, f"{plural(total, 'file')} of the table: nothing is decided yet.")]
    above = [phase for phase in phases if phase.name != last]
    if above:
        found.append(Step("Partition values", above[-1].output_files, _sentence("Partition values", above)))
    if statistics := [phase for phase in phases if phase.name == last]:
        found.append(Step("Statistics", statistics[-1].output_files, _sentence("Statistics", statistics)))
    return found


def _sentence(title: str, phases: list[Phase]) -> str:
    dropped = phases[0].input_files - phases[-1].output_files
    clauses = " AND ".join(dict.fromkeys(phase.predicate for phase in phases if phase.predicate))
    by = f" by {code(clauses, 160)}" if clauses else ""
    return f"{title} drop {plural(dropped, 'file')}{by}; {phases[-1].output_files:,} left."


def _control(steps: list[Step]) -> str:
    if len(steps) < 2:
        return ""
    final = len(steps) - 1
    is_partition_only = steps[-1].title == "Partition values"
    buttons = "".join(
        f'<button type="button" data-step="{2 if index == final and not is_partition_only else index}" '
        f'aria-pressed="{"true" if index == final else "false"}">{step.title} <b>{number(step.files)}</b></button>'
        for index, step in enumerate(steps)
    )
    captions = "".join(
        f'<span data-caption="{index}"{"" if index == final else " hidden"}>{step.sentence}</span>'
        for index, step in enumerate(steps)
    )
    play = '<button type="button" class="play" title="Play the evidence, rung by rung">▶ Step</button>'
    return (
        f'<div class="steps" role="group" aria-label="Evidence, rung by rung" hidden>{buttons}{play}</div>'
        f'<p class="remark caption" aria-live="polite">{captions}</p>'
    )
