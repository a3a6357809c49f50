"""An error as a JSON document, where a command would have printed one.

In: the error, and how long it took. Out: `error.schema.json`, with the envelope that every document has.
"""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct

from lakeprune.errors import LakepruneError
from lakeprune.report.document import Document, Envelope, View


class ErrorParts(Struct, frozen=True):
    """What went wrong, where, why, and what would mend it; null where there is nothing to say."""

    code: str
    what: str
    where: str | None
    why: str | None
    fix: str | None
    exit_code: int


class ErrorDocument(Envelope, frozen=True, kw_only=True):
    """The error that ended a command; nothing was printed on stdout."""

    error: ErrorParts


class Failure(Document, frozen=True):
    kind: ClassVar[str] = "error"

    error: LakepruneError
    elapsed_ms: int

    def to_struct(self, view: View) -> ErrorDocument:  # noqa: ARG002  # there is nothing to leave out
        error = self.error
        return ErrorDocument(
            error=ErrorParts(error.code, error.what, error.where, error.why, error.fix, error.exit_code),
            elapsed_ms=self.elapsed_ms,
            schema_version=self.schema_version,
            tool_version=self.tool_version,
        )
