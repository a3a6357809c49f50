"""A plan as JSON: its head, then its files, each a line that the engine made."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from lakeprune.apps.scan.model import ScanPlan
    from lakeprune.report.document import View

_TOGETHER = 1000  # lines per piece of text


def plan_chunks(plan: ScanPlan, _: View) -> Iterator[str]:
    """The document in pieces, pure ASCII like every other."""
    with plan.source.at_once() as files:
        plan.remember(files)
        head = json.dumps(msgspec.to_builtins(plan.head()), indent=2)
        yield head.removesuffix("\n}") + ',\n  "files": ['
        lines = files.lines()
        separator = "\n    "
        while several := list(islice(lines, _TOGETHER)):
            yield _ascii(separator + ",\n    ".join(several))
            separator = ",\n    "
        yield "\n  ]\n}\n"


def _ascii(text: str) -> str:
    """JSON text with escapes for what is not ASCII, which can only stand inside strings."""
    return text if text.isascii() else re.sub(r"[^\x00-\x7f]", lambda letter: json.dumps(letter[0])[1:-1], text)
