"""Gates: what a pipeline demands of a report, and whether it got it. A failed gate is a value, never an exception.

`Gates` is the one list. An entry gives the option its type, the flag its help and the report its judgement; every command, Python
function and docs table that has gates takes all of them from here.

A table without files has nothing to read, so no predicate can prune it badly: the pruning gates pass on it, with an actual value
of 100 and a note. Comparisons are exact; only the message rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from fractions import Fraction
from typing import Annotated, Any, TypedDict, cast, get_type_hints

from msgspec import Struct

from lakeprune.errors import UsageError
from lakeprune.report.amount import Amount, percent, size_text
from lakeprune.report.attribution import Attribution


class Unit(Enum):
    """What a gate's limit counts; a switch has no limit."""

    PERCENT = "percent"
    FILES = "files"
    BYTES = "bytes"
    SWITCH = "switch"


class Gate(Struct, frozen=True):
    """One gate. `name` is that of its assertion in documents."""

    name: str
    unit: Unit
    help: str  # when it passes
    judge: Callable[[Any, Measured], Judgement]
    needs_predicate: bool = False


class Gates(TypedDict, total=False):
    """What is demanded; None and False demand nothing."""

    min_pruning: Annotated[
        float, Gate("min_pruning", Unit.PERCENT, "at least this share of files is dropped", _files_dropped, needs_predicate=True)
    ]
    min_bytes_pruning: Annotated[
        float,
        Gate("min_bytes_pruning", Unit.PERCENT, "at least this share of bytes is dropped", _bytes_dropped, needs_predicate=True),
    ]
    max_files: Annotated[int, Gate("max_files", Unit.FILES, "at most N files are left to read", _files_left)]
    max_bytes: Annotated[int, Gate("max_bytes", Unit.BYTES, "at most SIZE is left to read (500MB, 2GiB)", _bytes_left)]
    assert_stats: Annotated[
        bool, Gate("stats_complete", Unit.SWITCH, "every file has the statistics that the predicate needs", _stats_complete)
    ]
    require_full_attribution: Annotated[
        bool,
        Gate(
            "full_attribution", Unit.SWITCH, "every clause is decided by one kind of evidence", _attributed, needs_predicate=True
        ),
    ]


class Assertion(Struct, frozen=True):
    """One demand and its outcome. `details` are the fields its JSON entry has beside name and result."""

    name: str
    passed: bool
    details: dict[str, float | int | str]
    message: str  # shown when it failed


class Measured(Struct, frozen=True):
    """What gates judge: how much is left to read, and what metadata cannot decide."""

    total: Amount
    kept: Amount
    lacking_statistics: int  # files
    needed: Sequence[str] | None  # the statistics that the predicate needs, None without a predicate
    undecided: Sequence[str]  # clauses
    unread: str | None = None  # why the statistics were not read: no gate on them can pass


Judgement = tuple[bool, dict[str, float | int | str], str]  # the fields of an assertion without its name


def gates_of(options: Mapping[str, Any]) -> Gates:
    """The gates among the options of a function."""
    return cast(Gates, {name: value for name, value in options.items() if name in GATES})


def demanded(gates: Gates) -> Iterator[tuple[str, Gate, Any]]:
    """Option, gate and limit of every demand, in the order of the list."""
    for option, gate in GATES.items():
        limit = gates.get(option)
        if limit or (limit is not None and gate.unit is not Unit.SWITCH):
            yield option, gate, limit


def check_gates(gates: Gates, *, has_predicate: bool) -> None:
    """Refuse demands that cannot be meant: a share outside 0..100, a pruning gate without a predicate."""
    for option, gate, limit in demanded(gates):
        is_number = isinstance(limit, int | float) and not isinstance(limit, bool)
        if gate.unit is Unit.PERCENT and not (is_number and 0 <= limit <= 100):
            raise UsageError("LP211", f"{option} is {limit!r}, which is not a percentage", fix="give a number from 0 to 100")
        if gate.unit in (Unit.FILES, Unit.BYTES) and not (is_number and limit >= 0):
            raise UsageError("LP211", f"{option} is {limit!r}, which no table can meet", fix="give a number, 0 or more")
        if gate.needs_predicate and not has_predicate:
            why = ": without one nothing is pruned" if gate.unit is Unit.PERCENT else ""
            raise UsageError("LP212", f"{option} needs a predicate{why}", fix="add --where PREDICATE")


def judge(gates: Gates, numbers: Attribution, undecided: Sequence[str], *, has_predicate: bool) -> tuple[Assertion, ...]:
    """One assertion per demand on a report; `undecided` are the clauses that metadata cannot decide."""
    lacking = numbers.lacking_statistics if has_predicate else numbers.total.files - numbers.with_stats
    needed = sorted({f"{c.column} [{c.requirement.value}]" for c in numbers.coverage}) if has_predicate else None
    return judged(gates, Measured(numbers.total, numbers.kept, lacking, needed, undecided))


def judged(gates: Gates, measured: Measured) -> tuple[Assertion, ...]:
    """One assertion per demand."""
    return tuple(Assertion(gate.name, *gate.judge(limit, measured)) for _, gate, limit in demanded(gates))


def _files_dropped(limit: float, measured: Measured) -> Judgement:
    total = measured.total.files
    return _at_least("total", limit, total - measured.kept.files, total)


def _bytes_dropped(limit: float, measured: Measured) -> Judgement:
    total = measured.total.bytes
    return _at_least("bytes", limit, total - measured.kept.bytes, total)


def _at_least(label: str, threshold: float, part: int, whole: int) -> Judgement:
    if whole <= 0:
        return True, {"threshold": float(threshold), "actual": 100.0, "note": "nothing to read"}, ""
    actual = percent(part, whole)
    passed = Fraction(100 * part, whole) >= Fraction(str(threshold))
    for digits in range(1, 5):
        shown, wanted = f"{actual:.{digits}f}%", f"{threshold:.{digits}f}%"
        if shown != wanted:
            break
    message = f"{label} pruning {shown} is below threshold {wanted}"
    return passed, {"threshold": float(threshold), "actual": actual}, message


def _files_left(limit: int, measured: Measured) -> Judgement:
    files = measured.kept.files
    message = f"{files} file(s) to read are above the limit of {limit}"
    return files <= limit, {"threshold": limit, "actual": files}, message


def _bytes_left(limit: int, measured: Measured) -> Judgement:
    size = measured.kept.bytes
    message = f"{size_text(size)} ({size} bytes) to read are above the limit of {limit} bytes"
    return size <= limit, {"threshold": limit, "actual": size}, message


def _stats_complete(_: bool, measured: Measured) -> Judgement:
    lacking = measured.lacking_statistics
    which = "" if measured.needed is None else f" that the predicate needs: {', '.join(measured.needed)}"
    message = measured.unread or f"{lacking} file(s) missing statistics{which}"
    return not lacking and measured.unread is None, {"missing_count": lacking}, message


def _attributed(_: bool, measured: Measured) -> Judgement:
    count = len(measured.undecided)
    message = measured.unread or f"{count} clause(s) cannot be fully attributed: {'; '.join(measured.undecided)}"
    return not count and measured.unread is None, {"unattributed_clauses": count}, message


GATES: dict[str, Gate] = {name: hint.__metadata__[0] for name, hint in get_type_hints(Gates, include_extras=True).items()}
