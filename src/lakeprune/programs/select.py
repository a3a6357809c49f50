"""The containers that a plan selects, as rows or as a relation: the one way to list them.

In: an evaluation, a plan, the verdicts wanted. Out: `Container`s in a stated order, or the SQL of a verdict for programs that
go on in the engine. Containers that are not selected never leave the engine.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from enum import Enum
from itertools import chain
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from lakeprune.engines.engine import Row
from lakeprune.formats.relation import LIVE, Needs, Relation
from lakeprune.programs.fact_sql import FactPrinter
from lakeprune.programs.patterns import Evaluation, Signature, signature_of, words_of
from lakeprune.skipping.plan import Plan
from lakeprune.skipping.verdict import Verdict

EVERY = frozenset(Verdict)
KEPT = frozenset({Verdict.KEEP, Verdict.FULL})
NUMBERS = {verdict: number for number, verdict in enumerate((Verdict.DROP, Verdict.KEEP, Verdict.FULL))}
IS_EMPTY = f"coalesce({LIVE} = 0, FALSE)"


class Order(Enum):
    """How listed containers are sorted."""

    PATH = "path"
    LARGEST = "size DESC, path"
    ANY = ""  # as they come, one by one: nothing is held for it, and another time they come in another order


class Fields(Struct, frozen=True):
    """What is read of every selected container beyond its path, size, rows and signature."""

    key: bool = False  # the path as paths of the table are compared
    bounds: bool = True  # of the plan's columns
    records: bool = False  # what a Delta log records of a file, for those who pass it on


class Record(Struct, frozen=True):
    """What a Delta log records of a file beside its numbers; JSON as text."""

    modified: int | None  # milliseconds since the epoch
    statistics: str | None
    vector: str | None  # the descriptor of its deletion vector


class Container(Struct, frozen=True):
    """A file: what is recorded of it, and what each clause can be there."""

    signature: Signature
    path: str
    size: int
    rows: int | None  # physical
    deleted: int | None
    partition: str  # JSON text
    bounds: tuple[tuple[Any, Any], ...] = ()  # per plan column: recorded or widened bounds, as canonical values
    key: str | None = None
    record: Record | None = None

    @property
    def live(self) -> int | None:
        return None if self.rows is None or self.deleted is None else self.rows - self.deleted


class Selection(Struct, frozen=True):
    """Which containers; `with_empty` includes those without a live row, which are dropped otherwise."""

    verdicts: Collection[Verdict] = EVERY
    with_empty: bool = False
    order: Order = Order.PATH
    limit: int | None = None
    path: str | None = None  # only the container at this path, or at one that ends with it
    rows: int | None = None  # only the containers that a limit of so many rows needs; see limit.py
    after: str | None = None  # only the containers whose paths sort behind this one


def select(evaluation: Evaluation, plan: Plan, selection: Selection, fields: Fields = Fields()) -> Iterator[Container]:  # noqa: B008  # frozen
    """The selected containers, one by one."""
    # What is kept lies in groups that are kept; whoever wants to see what is dropped has all of them read.
    needs = Needs(paths=True, times=fields.records, records=fields.records)
    printer = evaluation.relation(plan, needs, whole=not set(selection.verdicts) <= KEPT)
    relation, words = printer.relation, words_of(plan, printer)
    groups, signed = printer.dropped_groups, len(words)
    words += [] if groups is None else ["dropped_by"]
    columns = plan.seen if fields.bounds else ()
    bounds = [end for column in columns for end in (relation.lo(column), relation.hi(column))]
    more = ["modified", "stats_text", "vector"] if fields.records else []
    more += [f"{evaluation.snapshot.file_key(evaluation.engine, 'path')} AS file_key"] if fields.key else []
    packed = [f"{word} AS word{k}" for k, word in enumerate(words)]
    picked = ["path", "size", "rows", "deleted", "partition", *packed, *bounds, *more]
    found = evaluation.engine.stream(_selected_sql(plan, printer, selection, picked))
    # Where they are sorted, with the first row in hand everything has been read, so this is the time to look.
    first = next(found, None)
    evaluation.snapshot.check_whole()
    known: dict[Row, Signature] = {}  # few signatures, many containers: each is decoded once and shared
    after = 5 + len(words) + len(bounds)
    for row in chain([] if first is None else [first], found):
        bits = row[5 : 5 + len(words)]
        if (signature := known.get(bits)) is None:
            signature = known[bits] = signature_of(plan, bits[:signed])
            if groups is not None:
                signature = known[bits] = groups.with_group(signature, bits[-1])
        flat = row[5 + len(words) : after]
        pairs = tuple(zip(flat[::2], flat[1::2], strict=True))
        # By position: a listing may have a million files, and naming the fields doubles the cost of each.
        path, size, rows, deleted, partition = row[:5]
        record = Record(*row[after : after + 3]) if fields.records else None
        yield Container(signature, path, size, rows, deleted, partition, pairs, row[-1] if fields.key else None, record)
    if selection.order is Order.ANY:
        evaluation.snapshot.check_whole()


def count_selected(evaluation: Evaluation, plan: Plan, selection: Selection) -> int:
    """How many containers `select` would give."""
    printer = evaluation.relation(plan, Needs(paths=True), whole=not set(selection.verdicts) <= KEPT)
    picked = ["path", "rows", "deleted"]  # what a limit counts by
    ((count,),) = evaluation.engine.query(f"SELECT count(*) FROM ({_selected_sql(plan, printer, selection, picked)})")
    evaluation.snapshot.check_whole()
    return int(count)


def _selected_sql(plan: Plan, printer: FactPrinter, selection: Selection, picked: Sequence[str]) -> str:
    tests = [] if set(selection.verdicts) == EVERY else [_is_selected(plan, printer, selection)]
    if selection.path is not None:
        tests.append(_is_at(printer, selection.path))
    behind = [] if selection.after is None else [f"path > {printer.dialect.text(selection.after)}"]
    tests += behind if selection.rows is None else []
    source = printer.relation.source + (f" WHERE {' AND '.join(tests)}" if tests else "")
    if selection.rows is not None:  # which counts from the first one on, wherever a part begins
        from lakeprune.programs.limit import CERTAIN, certain_rows, limited

        certain = certain_rows(f"{verdict_sql(plan, printer)} = {NUMBERS[Verdict.FULL]}")
        source = limited(f"(SELECT {', '.join(picked)}, {certain} AS {CERTAIN} FROM {source})", selection.rows)
        source += f" WHERE {behind[0]}" if behind else ""
        picked = [item.rpartition(" AS ")[2] for item in picked]
    most = "" if selection.limit is None else f" LIMIT {selection.limit}"
    ordered = f" ORDER BY {selection.order.value}" if selection.order.value else ""
    return f"SELECT {', '.join(picked)} FROM {source}{ordered}{most}"


def _is_at(printer: FactPrinter, path: str) -> str:
    """Whether a container lies at a path, as it is listed, or at one that ends with it from a slash on."""
    end = "/" + path.lstrip("/")
    same, ends = printer.dialect.text(path), printer.dialect.text(end)
    return f"(path = {same} OR substr(path, length(path) - {len(end) - 1}) = {ends})"


def verdict_sql(plan: Plan, printer: FactPrinter) -> str:
    """The verdict of a container as its number; `Signature.verdict` gives the same from a signature."""
    drop, keep, full = (NUMBERS[verdict] for verdict in (Verdict.DROP, Verdict.KEEP, Verdict.FULL))
    dropped = f"{IS_EMPTY} OR NOT {can_be_true(plan, printer)}"
    return f"CAST(CASE WHEN {dropped} THEN {drop} WHEN {is_full(plan, printer)} THEN {full} ELSE {keep} END AS INTEGER)"


def _is_selected(plan: Plan, printer: FactPrinter, selection: Selection) -> str:
    wanted = set(selection.verdicts)
    if wanted == KEPT:
        kept = can_be_true(plan, printer)
        return kept if selection.with_empty else f"NOT {IS_EMPTY} AND {kept}"
    listed = ", ".join(str(number) for verdict, number in NUMBERS.items() if verdict in wanted)
    return f"{verdict_sql(plan, printer)} IN ({listed})"


def can_be_true(plan: Plan, printer: FactPrinter) -> str:
    """Whether no clause drops a container."""
    bits = dict.fromkeys(place.can_true for place in plan.positions)
    return "(" + " AND ".join([printer.is_in_kept_group, *(f"{printer.bit(plan.bits[bit], 1)} = 1" for bit in bits)]) + ")"


def is_full(plan: Plan, printer: FactPrinter) -> str:
    """Whether no clause can be anything but TRUE in a container."""
    bits = dict.fromkeys(place.not_true for place in plan.positions)
    return "(" + " AND ".join(["TRUE", *(f"{printer.bit(plan.bits[bit], 1)} = 0" for bit in bits)]) + ")"


def files_where(
    evaluation: Evaluation, plan: Plan, bits: Sequence[int], needs: Needs, some: Sequence[int] = (), *, whole: bool = False
) -> Relation:
    """The containers with live rows for which these bits of the plan are all set, and one of `some` unless there are none.

    They have what `needs` asks for beside the plan's own. Containers of dropped groups are among them only with `whole`.
    """
    printer = evaluation.relation(plan, needs, whole=whole)
    tests = [f"NOT {IS_EMPTY}", *(f"{printer.bit(plan.bits[bit], 1)} = 1" for bit in dict.fromkeys(bits))]
    if some:
        tests.append("(" + " OR ".join(f"{printer.bit(plan.bits[bit], 1)} = 1" for bit in dict.fromkeys(some)) + ")")
    return replace(printer.relation, source=f"(SELECT files.* FROM {printer.relation.source} WHERE {' AND '.join(tests)})")
