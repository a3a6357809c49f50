"""Numbered steps as text: what every statement prints, whatever its steps say."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct


class Step(Struct, frozen=True):
    number: int
    title: str
    lines: tuple[str, ...]


def steps_text(head: Iterable[tuple[str, str]], steps: Iterable[Step], result: str) -> str:
    """The document: what it is about, the steps, how it ended.

    >>> print(steps_text([("Table", "t")], [Step(1, "Validate", ("fine",))], "done"), end="")
    Table:       t
    <BLANKLINE>
    1. Validate
       fine
    <BLANKLINE>
    Result: done
    """
    lines = [f"{label + ':':<13}{value}" for label, value in head]
    for step in steps:
        lines += ["", f"{step.number}. {step.title}", *(f"   {line}" for line in step.lines)]
    return "\n".join([*lines, "", f"Result: {result}"]) + "\n"
