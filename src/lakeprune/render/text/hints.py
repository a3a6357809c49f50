"""`lakeprune hints` as text: the two kinds of hints, ready to be pasted, and what they cannot say."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakeprune.render.printable import printable, shortened

if TYPE_CHECKING:
    from lakeprune.apps.sharing.hints.written import Hints
    from lakeprune.report.document import View


def text_chunks(hints: Hints, view: View) -> Iterator[str]:  # noqa: ARG001  # nothing of it is wide
    yield f"predicate: {shortened(hints.where)}\n\n"
    if hints.json is None:
        yield "jsonPredicateHints: none, so that a server sends every file\n"
    else:
        yield f"jsonPredicateHints:\n  {printable(hints.json)}\n"
    if hints.sql:
        yield f"predicateHints:\n  {json.dumps(list(hints.sql))}\n"
    else:
        yield "predicateHints: none\n"
    yield "\n"
    if hints.is_exact:
        yield "The JSON hint says exactly what the predicate says.\n"
    else:
        yield "The JSON hint says less than the predicate: filter what comes back.\n"
    for part in hints.omitted:
        yield f"  not expressed: {shortened(part.text)} ({printable(part.reason)})\n"
