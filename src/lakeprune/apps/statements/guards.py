"""Guards: what a statement must stay below, else nothing is written. A guard that refuses is a value, never an exception.

max_rewrite_bytes         bytes of the files that are written again
max_files                 files that are rewritten, removed or get a deletion vector
max_rows                  rows that change
require_partition_filter  the condition must bound a partition column
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from lakeprune.apps.statements.model import Effects
from lakeprune.errors import UsageError
from lakeprune.predicate.schema import Role
from lakeprune.predicate.tree import TRUE
from lakeprune.predicate.write.pasteable import implied, only
from lakeprune.report.amount import size_text
from lakeprune.report.gates import Assertion
from lakeprune.skipping.plan import Plan


class Guards(Struct, frozen=True):
    """What was demanded; None and False demand nothing."""

    max_rewrite_bytes: int | None = None
    max_files: int | None = None
    max_rows: int | None = None
    require_partition_filter: bool = False


NAMES = frozenset(Guards.__match_args__)


def guards_of(options: Mapping[str, Any]) -> Guards:
    """The guards among these options. LP252 for a limit that is not a number."""
    given = {name: value for name, value in options.items() if name in NAMES}
    for name, limit in given.items():
        if name != "require_partition_filter" and limit is not None and (type(limit) is not int or limit < 0):
            raise UsageError("LP252", f"{name} is {limit!r}", fix="give a whole number, 0 or more")
    return Guards(**given)


def judge(guards: Guards, effects: Effects, plan: Plan) -> tuple[Assertion, ...]:
    """One assertion per demand, in a fixed order."""
    found = []
    if guards.max_rewrite_bytes is not None:
        size = effects.rewritten.bytes
        message = f"{size_text(size)} ({size} bytes) to rewrite are above the limit of {guards.max_rewrite_bytes} bytes"
        found.append(_at_most("max_rewrite_bytes", guards.max_rewrite_bytes, size, message))
    if guards.max_files is not None:
        message = f"{effects.touched.files} file(s) to change are above the limit of {guards.max_files}"
        found.append(_at_most("max_files", guards.max_files, effects.touched.files, message))
    if guards.max_rows is not None:
        found.append(_rows(guards.max_rows, effects.changed))
    if guards.require_partition_filter:
        message = "the condition does not bound a partition column"
        found.append(Assertion("partition_filter", bounds_partition(plan), {}, message))
    return tuple(found)


def bounds_partition(plan: Plan) -> bool:
    """Whether the condition implies something about partition columns alone."""
    return any(only(implied(clause.predicate), Role.PARTITION) != TRUE for clause in plan.clauses)


def _rows(limit: int, changed: int | None) -> Assertion:
    if changed is None:
        message = f"the log does not record how many rows would change, so that the limit of {limit} cannot be checked"
        return Assertion("max_rows", False, {"threshold": limit}, message)
    return _at_most("max_rows", limit, changed, f"{changed} row(s) to change are above the limit of {limit}")


def _at_most(name: str, limit: int, actual: int, message: str) -> Assertion:
    return Assertion(name, actual <= limit, {"threshold": limit, "actual": actual}, message)
