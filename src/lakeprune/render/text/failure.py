"""An error as text: what went wrong, where, why, and what would mend it."""

from __future__ import annotations

from collections.abc import Iterator

from lakeprune.report.document import View
from lakeprune.report.failure import Failure


def text_chunks(failure: Failure, _: View) -> Iterator[str]:
    yield f"{failure.error}\n"
