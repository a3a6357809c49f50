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


def guards_of(options: Mapping[str, Any]) -> Guards:
    """The guards among these options. LP252 for a limit that is not a number."""
    given = {name: value for name, value in options.items() if name in Guards.__struct_fields__}
    for name, limit in given.items():
        if name != "require_partition_filter" and limit is not None and (type(limit) is not int or limit < 0):
            raise UsageError("LP252", f"{name} is {limit!r}", fix="give a whole number, 0 or more")
    return Guards(**given)


def judge(guards: Guards, effects: Effects, plan: Plan) -> tuple[Assertion, ...]:
    """One assertion per demand, in a fixed order."""
    size, files, rows = effects.rewritten.bytes, effects.touched.files, effects.changed
    limits = (
        ("max_rewrite_bytes", guards.max_rewrite_bytes, size, f"{size_text(size)} ({size} bytes) to rewrite", " bytes"),
        ("max_files", guards.max_files, files, f"{files} file(s) to change", ""),
        ("max_rows", guards.max_rows, rows, f"{rows} row(s) to change", ""),
    )
    found = []
    for name, limit, actual, what, unit in limits:
        if limit is not None and actual is None:
            message = f"the log does not record how many rows would change, so that the limit of {limit} cannot be checked"
            found.append(Assertion(name, False, {"threshold": limit}, message))
        elif limit is not None and actual is not None:
            message = f"{what} are above the limit of {limit}{unit}"
            found.append(Assertion(name, actual <= limit, {"threshold": limit, "actual": actual}, message))
    if guards.require_partition_filter:
        # It bounds one when the condition implies something about partition columns alone.
        is_bounded = any(only(implied(clause.predicate), Role.PARTITION) != TRUE for clause in plan.clauses)
        found.append(Assertion("partition_filter", is_bounded, {}, "the condition does not bound a partition column"))
    return tuple(found)
