"""METRICS_MISSING: metrics that files lack, with the setting that is the cause; and text whose bounds are too short.

A bound of sixteen characters, truncated or rounded up after them, cannot distinguish values that differ later. Counted are the
files to read of which that is so: a bound is the beginning of an end of the range asked for, or its successor.
"""

from __future__ import annotations

from collections.abc import Iterator

from lakeprune.formats.relation import Needs
from lakeprune.predicate.schema import Role
from lakeprune.predicate.tree import Column, Member
from lakeprune.predicate.walk import nodes
from lakeprune.predicate.write.show import name_text
from lakeprune.programs.select import files_where
from lakeprune.programs.survey import files_with_ends
from lakeprune.report.amount import files_text
from lakeprune.report.diagnosis.case import Case, Finding, Numbers, brief
from lakeprune.report.diagnosis.lacks import lacks_of
from lakeprune.report.verdict import Requirement
from lakeprune.values.types import Family

MOST_ENDS = 100  # of a predicate that are looked for
_LAST = 0x10FFFF


def metrics_missing(case: Case) -> list[Finding]:
    """One per column that some candidate lacks metrics of, and per clause whose text the bounds are too short for."""
    return [*_lacking(case), *_truncated(case)]


def _lacking(case: Case) -> list[Finding]:
    found = []
    for lack in lacks_of(case):
        why = case.remedies.lacking(lack.column, counts=lack.requirement is Requirement.NULL_COUNT)
        if why is None:
            continue
        numbers: Numbers = {"cause": why.cause, "setting": why.setting}
        if why.position is not None:
            numbers["column_position"] = why.position
        of = f"{lack.lacking.files} of {files_text(lack.candidates.files)}"
        message = f"{of} lack {lack.what}, which {brief(lack.clause.text)} needs: {why.message}"
        suggestion = (
            "have the files written anew" if why.cause == "older_files" else "have it collected, then the files written anew"
        )
        found.append(lack.finding(message, suggestion, why.statements, **numbers))
    return found


def _truncated(case: Case) -> list[Finding]:
    found: list[Finding] = []
    for index, clause in enumerate(case.plan.clauses):
        leaves = [node for node in nodes(clause.predicate) if isinstance(node, Member)]
        for column in dict.fromkeys(leaf.column for leaf in leaves):
            if column.role is Role.DATA and column.type.family is Family.TEXT:
                found.extend(_findings(case, index, column, [leaf for leaf in leaves if leaf.column == column]))
    return found


def _findings(case: Case, index: int, column: Column, leaves: list[Member]) -> Iterator[Finding]:
    why = case.remedies.longer_bounds(column)
    if why is None:
        return
    asked = {end[: why.length] for leaf in leaves for end in _ends(leaf) if len(end) > why.length}
    if not asked or len(asked) > MOST_ENDS:
        return
    seen = case.facts.evidence.seen(column)
    doubts = [case.plan.positions[index].not_true]
    files = files_where(case.evaluation, case.plan, case.can_be_true, Needs((seen,)), some=doubts)
    short = files_with_ends(case.evaluation.engine, files, seen, sorted({*asked, *map(_successor, asked)}))
    if not short:
        return
    clause, name = case.plan.clauses[index], name_text(column.path)
    numbers: Numbers = {"kept_files": case.kept, "truncated_files": short, "length": why.length}
    yield Finding(
        clause=clause.text,
        column=name,
        message=f"{short} of the {files_text(case.kept)} to read have bounds of {name} that end where they still agree with the "
        f"value that {brief(clause.text)} asks for: {why.message}",
        numbers={**numbers, "cause": why.cause, "setting": why.setting},
        suggestion=("" if why.cause == "older_files" else "have longer bounds recorded, then ") + "have the files written anew",
        rewrite=why.statements,
    )


def _ends(leaf: Member) -> Iterator[str]:
    for interval in leaf.values.intervals:
        yield from (end for end in (interval.lo, interval.hi) if isinstance(end, str))


def _successor(prefix: str) -> str:
    """What a writer that rounds up makes of a truncated maximum: its last character is the next one."""
    last = ord(prefix[-1]) + 1
    return prefix[:-1] + chr(0xE000 if 0xD800 <= last <= 0xDFFF else min(last, _LAST))
