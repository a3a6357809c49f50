"""The files that a scan reads, as columns of the engine: who reads them, what is left to filter, which group they are in.

In: an evaluation, a plan, what is wanted of every file. Out: the SQL of one row per file, flat; scan_forms.py makes Arrow columns
and JSON of it, scan_summary.py the statistics of the result. Files never pass through Python one by one.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from lakeprune.formats.relation import LIVE, Needs, Relation
from lakeprune.predicate.tree import Column
from lakeprune.programs.fact_sql import FactPrinter
from lakeprune.programs.limit import CERTAIN, certain_rows, limited
from lakeprune.programs.patterns import Evaluation
from lakeprune.programs.select import IS_EMPTY, can_be_true, is_full
from lakeprune.programs.typed_sql import typed
from lakeprune.skipping.ladder import Evidence, Seen
from lakeprune.skipping.plan import Plan
from lakeprune.values.types import DOUBLE, DataType, Family, Kind

UNREADABLE = "the partition value cannot be typed"  # begins the engine's message; check_partitions says which one


class Asked(Struct, frozen=True):
    """What a scan is to know of every file."""

    partitions: tuple[Column, ...] = ()
    statistics: tuple[Column, ...] = ()  # whose bounds and null counts
    limit: int | None = None
    groups: int | None = None
    is_sorted: bool = True  # otherwise files come as the engine reads them


class ScanSql(Struct, frozen=True):
    """A FROM item with a row per file that is read, and what its columns are called.

    path uri size modified live physical has_dv vector tuple is_full, n{k}: clause k is left to filter, p{k}: a partition value,
    lo{k} hi{k} nulls{k}: recorded statistics of a column, file_group
    """

    source: str
    plan: Plan
    asked: Asked

    @property
    def order(self) -> str:
        """How files are sorted: those that a limit counts on first, those without a count last."""
        if not self.asked.is_sorted:
            return ""
        if self.asked.groups is not None:
            return " ORDER BY file_group, path"
        if self.asked.limit is None:
            return " ORDER BY path"
        return f" ORDER BY CASE WHEN {CERTAIN} > 0 THEN 0 WHEN live IS NOT NULL THEN 1 ELSE 2 END, path"


def scan_sql(evaluation: Evaluation, plan: Plan, asked: Asked) -> ScanSql:
    """The files that a plan keeps, as far as the limit needs them."""
    domains = [_value_of(plan.evidence, column) for column in asked.partitions if column.type.family is not None]
    domains += [recorded_as(plan.evidence, column) for column in asked.statistics]
    needs = Needs(
        tuple(dict.fromkeys(domains)), asked.partitions, paths=True, times=True, recorded=bool(asked.statistics), records=True
    )
    printer = evaluation.relation(plan, needs, whole=False)
    items = _items(evaluation, plan, printer, asked)
    kept = f"NOT {IS_EMPTY} AND {can_be_true(plan, printer)}"
    source = f"(SELECT {', '.join(items)} FROM {printer.relation.source} WHERE {kept})"
    if asked.limit is not None:
        source = limited(source, asked.limit)
    return ScanSql(_grouped(source, asked.groups), plan, asked)


def held(evaluation: Evaluation, scan: ScanSql) -> tuple[str, ScanSql]:
    """The same scan over a relation that the engine keeps, and that relation. URIs are made of paths when they are asked for."""
    asked, names = scan.asked, ["path", "size", "modified", "live", "physical", "has_dv", "vector", "is_full", CERTAIN]
    names.append("file_group")
    names += [f"n{k}" for k in range(len(scan.plan.positions))]
    names += [f"p{k}" for k in range(len(asked.partitions))]
    names += [f"{part}{k}" for k in range(len(asked.statistics)) for part in ("lo", "hi", "nulls")]
    kept = evaluation.engine.kept(f"SELECT {', '.join(names)} FROM {scan.source}")
    uri = evaluation.snapshot.uri(evaluation.engine, "path")
    return kept, replace(scan, source=f"(SELECT *, {uri} AS uri FROM {kept})")


def recorded_as(evidence: Evidence, column: Column) -> Seen:
    """A column as the rung with its recorded bounds shows it: the last of its rungs."""
    rungs = evidence.rungs_of(column)
    return Seen(column, frozenset([rung for rung in evidence.ladder if rung in rungs][-1:]))


def bound_type(data_type: DataType) -> DataType:
    """The type of a recorded bound: of a float it may lie between two floats."""
    return DOUBLE if data_type.kind is Kind.FLOAT else data_type


def _items(evaluation: Evaluation, plan: Plan, printer: FactPrinter, asked: Asked) -> list[str]:
    relation, dialect, snapshot = printer.relation, evaluation.engine.dialect, evaluation.snapshot
    full = is_full(plan, printer)
    items = [
        "path",
        f"{snapshot.uri(evaluation.engine, 'path')} AS uri",
        "size",
        "modified",
        f"{LIVE} AS live",
        "rows AS physical",
        "has_dv",
    ]
    items += ["vector", "partition AS tuple", f"{full} AS is_full", f"{certain_rows(full)} AS {CERTAIN}"]
    items += [f"{printer.bit(plan.bits[place.not_true], 1)} = 1 AS n{k}" for k, place in enumerate(plan.positions)]
    for k, column in enumerate(asked.partitions):
        value = partition_value(evaluation, plan.evidence, relation, column)
        items.append(f"{value} AS p{k}")
    for k, column in enumerate(asked.statistics):
        seen = recorded_as(plan.evidence, column)
        low, high = (typed(dialect, end, bound_type(column.type)) for end in (relation.lo(seen), relation.hi(seen)))
        if column.type.family is Family.TEXT:
            high = f"CASE WHEN NOT {relation.is_truncated(seen)} THEN {high} END"  # a truncated prefix is not a maximum
        items += [f"{low} AS lo{k}", f"{high} AS hi{k}", f"CAST({relation.nulls(seen)} AS BIGINT) AS nulls{k}"]
    return items


def partition_value(evaluation: Evaluation, evidence: Evidence, relation: Relation, column: Column) -> str:
    """SQL of a partition value in its own type; the query ends where that is not known and no data file has it."""
    dialect, facts = evaluation.engine.dialect, evaluation.snapshot.facts
    text, is_missing = relation.text(column), relation.is_missing(column)
    unknown = "NULL" if facts.has_partition_values_in_files else dialect.fail(f"{UNREADABLE}: {'.'.join(column.path)}: ", text)
    if column.type.kind is Kind.STRING:
        return f"CASE WHEN {is_missing} THEN {unknown} ELSE {text} END"  # '' is '' to Spark (T44)
    if column.type.family is None:
        return f"CASE WHEN {text} IS NULL AND NOT {is_missing} THEN CAST(NULL AS STRING) ELSE {unknown} END"
    seen = _value_of(evidence, column)
    low, high = relation.lo(seen), relation.hi(seen)
    cases = [f"WHEN {relation.all_null(seen)} THEN NULL", f"WHEN {low} = {high} THEN {typed(dialect, low, column.type)}"]
    if column.type.kind is Kind.BINARY:
        cases.insert(0, f"WHEN {text} = '' THEN {dialect.binary(b'')}")
    if column.type.family is Family.REAL:
        nan = typed(dialect, dialect.try_cast(dialect.text("NaN"), "DOUBLE"), column.type)
        cases.append(f"WHEN {relation.has_nan(seen)} THEN {nan}")
    return f"CASE {' '.join(cases)} ELSE {unknown} END"


def _value_of(evidence: Evidence, column: Column) -> Seen:
    """A partition column as the rung with its values shows it."""
    rungs = [rung for rung in evidence.ladder if rung in evidence.rungs_of(column)]
    return Seen(column, frozenset([next((rung for rung in rungs if rung.is_exact), rungs[0])]))


def _grouped(source: str, groups: int | None) -> str:
    """The files in so many groups, balanced by bytes; files of one partition stay together or in groups next to each other.

    All files stand in one line, partition by partition, which is cut into equal lengths: a file belongs to the piece that its
    middle lies in. So no group differs from its share by more than one file.
    """
    if groups is None:
        return f"(SELECT *, CAST(NULL AS INTEGER) AS file_group FROM {source})"
    weight = "CAST(greatest(size, 1) AS DOUBLE)"
    line = f"sum({weight}) OVER (ORDER BY tuple, path ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"
    whole = f"sum({weight}) OVER ()"
    place = f"ceil(({line} - {weight} / 2) * {groups} / {whole}) - 1"
    return f"(SELECT *, CAST(least({place}, {groups - 1}) AS INTEGER) AS file_group FROM {source})"
