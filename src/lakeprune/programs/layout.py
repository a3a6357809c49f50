"""How the files of each partition lie: how many, how large, which a clause keeps, how their ranges overlap.

In: an evaluation, a plan, the bits that select files. Out: a few `Layout`s, those with most bytes first, or a few `Crowd`s. Files
are ordered and merged within a partition only, so that is where a better layout can help.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from lakeprune.formats.relation import Needs
from lakeprune.predicate.tree import Column
from lakeprune.programs.fact_sql import FactPrinter
from lakeprune.programs.overlap import Overlap, overlaps_of
from lakeprune.programs.patterns import Evaluation
from lakeprune.programs.select import IS_EMPTY
from lakeprune.skipping.ladder import Seen
from lakeprune.skipping.plan import Plan

MOST_PARTITIONS = 50
SMALL = 16  # files are small when so many have less than one full file together


class Layout(Struct, frozen=True):
    """One partition: its selected files and what a clause on a column does there."""

    texts: tuple[str | None, ...]  # partition values as recorded
    files: int
    bytes: int
    ends: int  # distinct minima and maxima: the column has at least as many values
    overlap: Overlap


class Crowd(Struct, frozen=True):
    """A partition of which nearly everything is read, from more files than its bytes need."""

    texts: tuple[str | None, ...]
    files: int  # to read
    bytes: int
    files_after: int  # if each were as large as it may be


def weak_layouts(
    evaluation: Evaluation, plan: Plan, selected: Sequence[int], clause: int, column: Seen, target: int
) -> list[Layout]:
    """The partitions of two target sizes or more where a clause keeps most files without matching them fully."""
    partitions = partition_columns(evaluation)
    hidden = evaluation.snapshot.facts.has_hidden_partitions
    printer = evaluation.relation(plan, Needs(domains=(column,), partition_texts=partitions, paths=hidden), whole=False)
    place = plan.positions[clause]
    undecided = " AND ".join(f"{printer.bit(plan.bits[bit], 1)} = 1" for bit in (place.can_true, place.not_true))
    picked = f"files.*, {_key(printer, partitions, hidden=hidden)} AS g, CASE WHEN {undecided} THEN 1 ELSE 0 END AS undecided"
    engine = evaluation.engine
    files = engine.kept(f"SELECT {picked} FROM {printer.relation.source} WHERE {_tests(plan, printer, selected)}")
    sums = "count(*) AS files, coalesce(sum(size), 0) AS bytes, sum(undecided) AS undecided"
    summed = f"SELECT g, {sums} FROM {files} AS files GROUP BY g"
    tests = f"2 * undecided > files AND bytes >= {2 * target}"
    weak = f"SELECT g AS weak FROM ({summed}) AS summed WHERE {tests} ORDER BY bytes DESC, g LIMIT {MOST_PARTITIONS}"
    kept = engine.kept(f"SELECT files.* FROM {files} AS files JOIN ({weak}) AS chosen ON g = weak")
    relation = replace(printer.relation, source=kept)
    lo, hi = relation.lo(column), relation.hi(column)
    texts = [f"max({relation.text(each)})" for each in partitions]
    items = ["count(*)", "coalesce(sum(size), 0) AS bytes", f"count(DISTINCT {lo}) + count(DISTINCT {hi})", *texts]
    rows = engine.query(f"SELECT g, {', '.join(items)} FROM {kept} AS files GROUP BY g ORDER BY bytes DESC, g")
    overlaps = overlaps_of(engine, relation, column, "g")
    return [
        Layout(tuple(values), int(count), int(size), int(ends), overlaps[key])
        for key, count, size, ends, *values in rows
        if key in overlaps
    ]


def crowds_of(evaluation: Evaluation, plan: Plan, selected: Sequence[int], target: int) -> tuple[list[Crowd], int]:
    """The partitions where merging files would help a reader of the selected ones most; and how many partitions are read."""
    partitions = partition_columns(evaluation)
    hidden = evaluation.snapshot.facts.has_hidden_partitions
    printer = evaluation.relation(plan, Needs(partition_texts=partitions, paths=hidden), whole=False)
    names = [f"t{number}" for number in range(len(partitions))]
    texts = "".join(f", {printer.relation.text(each)} AS {name}" for each, name in zip(partitions, names, strict=True))
    is_read = f"CASE WHEN {_tests(plan, printer, selected)} THEN 1 ELSE 0 END"
    source = f"{printer.relation.source} WHERE NOT {IS_EMPTY}"
    files = f"SELECT size, {_key(printer, partitions, hidden=hidden)} AS g, {is_read} AS is_read{texts} FROM {source}"
    after = f"CAST(ceil(sum(size) / CAST({target} AS DOUBLE)) AS BIGINT) AS after"
    sums = f"sum(is_read) AS files, sum(is_read * size) AS bytes, sum(size) AS every, {after}"
    picked = ", ".join([sums, *(f"max({name}) AS {name}" for name in names)])
    read = f"SELECT *, count(*) OVER () AS number FROM (SELECT {picked} FROM ({files}) AS files GROUP BY g) AS g WHERE files > 0"
    # Merging mixes what is read with what is not: it pays where the whole partition is read anyway.
    tests = f"files > after AND 5 * bytes >= 4 * every AND {SMALL} * bytes < files * {target}"
    ordered = f"WHERE {tests} ORDER BY files - after DESC, bytes LIMIT {MOST_PARTITIONS}"
    columns = ", ".join(["number", "files", "bytes", "after", *names])
    rows = evaluation.engine.query(f"SELECT {columns} FROM ({read}) AS read {ordered}")
    return [Crowd(tuple(row[4:]), *map(int, row[1:4])) for row in rows], int(rows[0][0]) if rows else 0


class Spread(Struct, frozen=True):
    """What a reader of the selected files would meet, were the table partitioned by some columns only."""

    groups: int  # the partitions read
    bytes: int  # of their files, also of those that are not selected
    files_after: int  # if each were as large as it may be


def spread_over(evaluation: Evaluation, plan: Plan, selected: Sequence[int], target: int, columns: Sequence[Column]) -> Spread:
    """The selected files by the values of these columns alone."""
    printer = evaluation.relation(plan, Needs(partition_texts=partition_columns(evaluation)), whole=False)
    is_read = f"CASE WHEN {_tests(plan, printer, selected)} THEN 1 ELSE 0 END"
    source = f"{printer.relation.source} WHERE NOT {IS_EMPTY}"
    files = f"SELECT size, {_key(printer, columns, hidden=False)} AS g, {is_read} AS is_read FROM {source}"
    after = f"CAST(ceil(sum(size) / CAST({target} AS DOUBLE)) AS BIGINT) AS after"
    groups = f"SELECT sum(is_read) AS files, sum(size) AS every, {after} FROM ({files}) AS files GROUP BY g"
    sums = "count(*), coalesce(sum(every), 0), coalesce(sum(after), 0)"
    ((groups_read, size, after_all),) = evaluation.engine.query(f"SELECT {sums} FROM ({groups}) AS g WHERE files > 0")
    return Spread(int(groups_read), int(size), int(after_all))


def partition_columns(evaluation: Evaluation) -> tuple[Column, ...]:
    facts = evaluation.snapshot.facts
    fields = {field.name: field for field in facts.schema.fields}
    return tuple(Column.at((fields[name],)) for name in facts.partition_columns)


def _key(printer: FactPrinter, partitions: Sequence[Column], *, hidden: bool) -> str:
    """One text per partition, which is never NULL; with hidden partitions, the whole tuple."""
    if hidden:
        return "coalesce(partition, '')"
    parts = [f"coalesce('=' || {printer.relation.text(column)}, '-') || ','" for column in partitions]
    return " || ".join(parts) or "''"


def _tests(plan: Plan, printer: FactPrinter, selected: Sequence[int]) -> str:
    bits = (f"{printer.bit(plan.bits[bit], 1)} = 1" for bit in dict.fromkeys(selected))
    return " AND ".join([f"NOT {IS_EMPTY}", *bits])
