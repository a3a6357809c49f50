"""Every error a user can meet, with a stable code and the exit code it maps to.

    LakepruneError
    |- PredicateError      LP1xx  exit 2   the predicate is wrong (text, column, type)
    |- UsageError          LP2xx  exit 2   a flag, an option or an argument is wrong
    |- TableError          LP3xx  exit 3   the table cannot be read
    |  `- TableRefused     LP31x  exit 3   the table is readable, but not by this version
    |- GateFailed          LP501  exit 1   `report.check()` when a gate failed; otherwise a failed gate is a value
    `- StatementError      LP4xx  exit 2   an UPDATE, DELETE or MERGE cannot be accepted, or failed; nothing was changed

"Cannot prune" is never an error: it is a reason code on a clause. Nothing here is raised for it.
"""

from __future__ import annotations

EXIT_OK = 0
EXIT_GATE_FAILED = 1
EXIT_USAGE = 2
EXIT_TABLE = 3


class LakepruneError(Exception):
    """What went wrong, where, why, and what would mend it.

    >>> print(PredicateError("LP102", "column `order_dt` is not in sales", fix="did you mean order_date?"))
    error[LP102] column `order_dt` is not in sales
      fix:   did you mean order_date?
    """

    exit_code = EXIT_USAGE

    def __init__(self, code: str, what: str, *, where: str | None = None, why: str | None = None, fix: str | None = None) -> None:
        super().__init__(what)
        self.code = code
        self.what = what
        self.where = where
        self.why = why
        self.fix = fix

    def __str__(self) -> str:
        lines = [f"error[{self.code}] {self.what}"]
        for label, text in (("where: ", self.where), ("why:   ", self.why), ("fix:   ", self.fix)):
            if text:
                first, *rest = text.split("\n")
                lines.append(f"  {label}{first}")
                lines.extend(" " * 9 + line for line in rest)
        return "\n".join(lines)


class PredicateError(LakepruneError):
    """The predicate itself cannot be accepted."""


class UsageError(LakepruneError):
    """A flag, an option or an argument cannot be accepted."""


class TableError(LakepruneError):
    """The table cannot be read."""

    exit_code = EXIT_TABLE


class TableRefused(TableError):
    """The table is intact, but asks for something this version does not know."""


class GateFailed(LakepruneError):
    """A gate failed, and whoever asked wants an exception for it."""

    exit_code = EXIT_GATE_FAILED


class StatementError(LakepruneError):
    """A statement that would change the table cannot be accepted, or failed. Nothing was changed."""
