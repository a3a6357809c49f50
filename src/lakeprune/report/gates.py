"""Gates: what a pipeline demands of a report, and whether it got it. A failed gate is a value, never an exception.

`Gates` is the one list. An entry gives the option its type, the flag its help and the report its judgement; every command, Python
function and docs table that has gates takes all of them from here.

Limits are judged by what metadata allows or, on demand, by what the format's own engine reads.

Bytes of files in manifests that were not read are not known: a gate on bytes passes only by what is known.

A table without files has nothing to read, so no predicate can prune it badly: the pruning gates pass on it, with an actual value
of 100 and a note. Comparisons are exact; only the message rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, TypedDict, cast, get_type_hints

from msgspec import Struct
from msgspec.structs import replace

from lakeprune.errors import UsageError
from lakeprune.formats.own_skipping import OWN_ENGINES
from lakeprune.report.amount import Amount, percent, size_text, unread_text
from lakeprune.report.buckets import Bucket

if TYPE_CHECKING:
    from lakeprune.report.model import Diagnosis, Report

METADATA = "metadata"
GATE_ON = (METADATA, *OWN_ENGINES)
BY_ENGINE = GATE_ON[1]  # whichever engine the report has
_UPPER_LIMITS = frozenset({"min_pruning", "min_bytes_pruning", "max_files", "max_bytes"})  # fewer files pass them as well
_READ_ALL = "--exhaustive reads every manifest"


class Unit(Enum):
    """What a gate's limit counts; a switch has no limit."""

    PERCENT = "percent"
    FILES = "files"
    BYTES = "bytes"
    SWITCH = "switch"
    CODES = "codes"  # of diagnoses


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
    min_files: Annotated[int, Gate("min_files", Unit.FILES, "at least N files are left to read", _enough_files)]
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
    fail_on: Annotated[
        Sequence[str], Gate("fail_on", Unit.CODES, "this diagnosis is not found; repeatable", _not_found, needs_predicate=True)
    ]
    gate_on: str  # whose count the limits judge, one of GATE_ON


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
    reader: str | None = None  # the engine that reads `kept`, None: it is what metadata allows
    diagnoses: Sequence[Diagnosis] = ()
    not_evaluated: str | None = None  # the clauses by which Spark may drop more than is counted


Judgement = tuple[bool, dict[str, float | int | str], str]  # the fields of an assertion without its name


def gates_of(options: Mapping[str, Any]) -> Gates:
    """The gates among the options of a function."""
    return cast(Gates, {name: value for name, value in options.items() if name in Gates.__annotations__})


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
        if gate.unit is Unit.PERCENT and 0 < limit < 1:
            fix = f"give {100 * limit:g}, or 0 to demand nothing"
            raise UsageError("LP211", f"{option} is {limit!r}, less than one percent; was {100 * limit:g} meant?", fix=fix)
        if gate.unit is Unit.CODES:
            _check_codes(limit)
        if gate.unit in (Unit.FILES, Unit.BYTES) and not is_number:
            fix = f"give a number of {gate.unit.value}"
            raise UsageError("LP211", f"{option} is {limit!r}, which is not a number", fix=fix)
        if gate.unit in (Unit.FILES, Unit.BYTES) and not limit >= 0:
            raise UsageError("LP211", f"{option} is {limit!r}, which no table can meet", fix="give a number, 0 or more")
        if gate.needs_predicate and not has_predicate:
            why = ": without one nothing is pruned" if gate.unit is Unit.PERCENT else ""
            raise UsageError("LP212", f"{option} needs a predicate{why}", fix="add --where PREDICATE")
    if (given := gates.get("gate_on", METADATA)) not in GATE_ON:
        raise UsageError("LP211", f"gate_on is {given!r}", fix=f"give one of {', '.join(GATE_ON)}")
    if given != METADATA and not any(demanded(gates)):
        fix = "add a gate, --min-pruning 90 for example, or leave --gate-on out"
        raise UsageError("LP211", "gate_on says whose count gates judge, and there is no gate", fix=fix)


def _check_codes(given: object) -> None:
    from difflib import get_close_matches

    from lakeprune.report.diagnosis.codes import Code

    known = [code.value for code in Code]
    codes = [given] if isinstance(given, str) or not isinstance(given, Sequence) else given
    if unknown := [code for code in codes if str(code).upper() not in known]:
        near = get_close_matches(str(unknown[0]).upper(), known, 1)
        fix = f"did you mean {near[0]}?" if near else f"give one of {', '.join(known)}"
        raise UsageError("LP211", f"fail_on is {unknown[0]!r}, which is not the code of a diagnosis", fix=fix)


def judge(gates: Gates, report: Report) -> Report:
    """The report with one assertion per demand, and remarks where the other count would have another outcome."""
    by_metadata = _measured(report)
    engine = next(iter(report.engines), None)
    by_engine = by_metadata
    if engine is not None:
        kept, reader = Amount(engine.files, engine.bytes), f"{engine.name} {engine.version}"
        by_engine = replace(by_metadata, kept=kept, reader=reader)
    given = gates.get("gate_on") or METADATA
    wants_engine = given != METADATA
    if wants_engine and engine is None and report.predicate is not None:
        fix = f"leave it out: gates judge by {METADATA} then"
        raise UsageError("LP219", f"gates cannot be judged by what {OWN_ENGINES[given]} reads of a {report.facts.title}", fix=fix)
    assertions = judged(gates, by_engine if wants_engine else by_metadata)
    others = judged(gates, by_metadata if wants_engine else by_engine)
    flag = METADATA if wants_engine else BY_ENGINE
    remarks = tuple(
        f"{one.name} passes, and would fail with --gate-on {flag}: {other.message}"
        for one, other in zip(assertions, others, strict=True)
        if one.passed and not other.passed
    )
    return replace(report, assertions=assertions, remarks=(*remarks, *_vacuous(report, assertions)))


def _vacuous(report: Report, assertions: Sequence[Assertion]) -> Iterator[str]:
    """That gates pass because the predicate leaves nothing, and why it does."""
    passed = [assertion.name for assertion in assertions if assertion.passed and "actual" in assertion.details]
    for diagnosis in report.diagnoses or ():
        if passed and diagnosis.code == "NOTHING_LEFT":
            yield f"{', '.join(passed)} passed because nothing is left to read: {diagnosis.message}; {diagnosis.suggestion}"


def judged(gates: Gates, measured: Measured) -> tuple[Assertion, ...]:
    """One assertion per demand."""
    return tuple(_assertion(gate, limit, measured) for _, gate, limit in demanded(gates))


def _assertion(gate: Gate, limit: Any, measured: Measured) -> Assertion:
    passed, details, message = gate.judge(limit, measured)
    if measured.not_evaluated is not None and gate.name in _UPPER_LIMITS:
        details = {**details, "note": "at most: lakeprune cannot evaluate the whole predicate"}
        message += f", as far as lakeprune can evaluate the predicate; Spark may read fewer files: {measured.not_evaluated}"
    if measured.reader is not None and "actual" in details:
        details, message = {**details, "note": f"what {measured.reader} reads"}, f"{message} ({measured.reader})"
    return Assertion(gate.name, passed, details, message)


def _measured(report: Report) -> Measured:
    numbers, has_predicate = report.numbers, report.predicate is not None
    lacking = numbers.lacking_statistics if has_predicate else numbers.read - numbers.with_stats
    needed = sorted({f"{c.column} [{c.requirement.value}]" for c in numbers.coverage}) if has_predicate else None
    undecided = [clause.clause.text for clause in report.clauses if not clause.is_attributable]
    unknown = report.text_of(Bucket.NOT_EVALUATED)
    return Measured(
        numbers.total, numbers.kept, lacking, needed, undecided, diagnoses=report.diagnoses or (), not_evaluated=unknown
    )


def _files_dropped(limit: float, measured: Measured) -> Judgement:
    total = measured.total.files
    return _at_least("total", limit, total - measured.kept.files, total)


def _bytes_dropped(limit: float, measured: Measured) -> Judgement:
    total, kept = measured.total, measured.kept
    if not total.files_without_bytes:
        return _at_least("bytes", limit, total.bytes - kept.bytes, total.bytes)
    # Dropped files of unknown size only raise the share: what is known gives a lower bound, and a pass on it is a pass.
    part, whole = (total.bytes - kept.bytes, total.bytes) if kept.files else (1, 1)
    passed, details, message = _at_least("bytes", limit, part, whole)
    note = f"at least: {unread_text(total)}"
    return passed, {**details, "note": note}, f"{message}, as far as bytes are known: {unread_text(total)}; {_READ_ALL}"


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


def _enough_files(limit: int, measured: Measured) -> Judgement:
    files = measured.kept.files
    return files >= limit, {"threshold": limit, "actual": files}, f"{files} file(s) to read are below the demanded {limit}"


def _not_found(codes: str | Sequence[str], measured: Measured) -> Judgement:
    wanted = [code.upper() for code in ([codes] if isinstance(codes, str) else codes)]
    found = [diagnosis for diagnosis in measured.diagnoses if diagnosis.code in wanted]
    message = "; ".join(f"{each.code}: {each.message}" for each in found)
    return not found, {"codes": ", ".join(wanted), "found": len(found)}, message


def _bytes_left(limit: int, measured: Measured) -> Judgement:
    size, kept = measured.kept.bytes, measured.kept
    details: dict[str, float | int | str] = {"threshold": limit, "actual": size}
    if kept.files_without_bytes and size <= limit:
        message = f"the bytes to read are not known: {unread_text(kept)}; {_READ_ALL}"
        return False, {**details, "note": f"at least: {unread_text(kept)}"}, message
    message = f"{size_text(size)} ({size} bytes) to read are above the limit of {limit} bytes"
    return size <= limit, details, message


def _stats_complete(_: bool, measured: Measured) -> Judgement:
    lacking = measured.lacking_statistics
    which = "" if measured.needed is None else f" that the predicate needs: {', '.join(measured.needed)}"
    message = measured.unread or f"{lacking} file(s) missing statistics{which}"
    return not lacking and measured.unread is None, {"missing_count": lacking}, message


def _attributed(_: bool, measured: Measured) -> Judgement:
    count = len(measured.undecided)
    message = measured.unread or f"{count} clause(s) cannot be fully attributed: {'; '.join(measured.undecided)}"
    return not count and measured.unread is None, {"unattributed_clauses": count}, message


_HINTS = get_type_hints(Gates, include_extras=True)
GATES: dict[str, Gate] = {name: hint.__metadata__[0] for name, hint in _HINTS.items() if hasattr(hint, "__metadata__")}
