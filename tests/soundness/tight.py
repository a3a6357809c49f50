"""Verdicts from the tightest evidence there can be: exact domains of the live rows, judged by the reference engine.

No log, no writer, no SQL: what fails here fails in the predicate passes or the mask rules. It prunes more than any real table
lets lakeprune prune, so it is the sharper test of the two.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from lakeprune.engines.reference import Container, Domain, holds
from lakeprune.predicate.bind.bind import bind
from lakeprune.predicate.passes.split import split
from lakeprune.predicate.read.sql.parse import parse_predicate
from lakeprune.predicate.schema import Field, Role, Schema
from lakeprune.predicate.tree import Column, Exact, NanPolicy, Profile
from lakeprune.programs.exact import possible_truths
from lakeprune.skipping.fact import Never, walk
from lakeprune.skipping.ladder import Seen
from lakeprune.skipping.lower import evidence_columns, lower
from lakeprune.skipping.mask import Mask, conjunction
from lakeprune.values.types import DataType, Family, Kind, Scalar
from tests.generator.columns import ColumnSpec, data_type
from tests.generator.texts import instant_of_local
from tests.soundness.tables import FileSpec, Table
from tests.soundness.verdict import Verdict


def profile_of(table: Table) -> Profile:
    policy = NanPolicy.SPARK_WRITERS if table.nan_aware else NanPolicy.STRICT
    return Profile(now=1_700_000_000_000_000, zone=table.zone, zone_is_given=table.zone_is_given, nan_policy=policy)


def schema_of(table: Table) -> Schema:
    return Schema(tuple(_fields(table.columns, 0)))


class Tight:
    def __init__(self, table: Table) -> None:
        self._table = table
        self._schema = schema_of(table)
        self._profile = profile_of(table)

    def mask(self, spark: str) -> Mask:
        bound = bind(parse_predicate(spark, self._profile), self._schema, self._profile, spark)
        return conjunction([lower(clause.predicate) for clause in split(bound, self._profile)])

    def verdicts(self, spark: str) -> list[Verdict]:
        """What is proven for every file of the table."""
        bound = bind(parse_predicate(spark, self._profile), self._schema, self._profile, spark)
        clauses = split(bound, self._profile)
        mask = conjunction([lower(clause.predicate) for clause in clauses])
        columns = dict.fromkeys(c for clause in clauses for c in evidence_columns(clause.predicate))
        exacts = dict.fromkeys(f.exact for f in [*walk(mask.can_true), *walk(mask.not_true)] if isinstance(f, Never))
        return [self._verdict(mask, list(columns), list(exacts), file) for file in self._table.files]

    def _verdict(self, mask: Mask, columns: Sequence[Column], exacts: Sequence[Exact], file: FileSpec) -> Verdict:
        if not file.live:
            return Verdict.DROP
        by_path = {c.path: c for c in self._table.columns}
        values = {c: self._possible(by_path.get(c.path), c, file) for c in columns}
        domains = {Seen(c): _domain(c, found) for c, found in values.items()}
        truths = {e: possible_truths(e, [_distinct(values[c]) for c in e.columns], self._profile).values for e in exacts}
        container = Container(domains, truths)
        if not holds(mask.can_true, container):
            return Verdict.DROP
        return Verdict.KEEP if holds(mask.not_true, container) else Verdict.FULL

    def _possible(self, spec: ColumnSpec | None, column: Column, file: FileSpec) -> list[Any] | None:
        """Every value the column has in live rows, under every reading; None when it is not a leaf of the table."""
        if spec is None:
            return None
        if not spec.is_partition:
            return [file.rows[i][spec.path] for i in file.live]
        recorded = file.partition[spec]
        if recorded.empty_is_ambiguous:
            return [None, ""]
        if not recorded.local:
            return [recorded.value]
        if self._table.zone_is_given:
            return [instant_of_local(recorded.value, self._table.zone)]
        assert column.role is Role.PARTITION
        return None


def _distinct(values: list[Any] | None) -> tuple[Scalar, ...] | None:
    return None if values is None else tuple(dict.fromkeys(values))


def _domain(column: Column, values: list[Any] | None) -> Domain:
    if values is None:
        return Domain()
    present = [v for v in values if v is not None]
    numbers = [v for v in present if not (isinstance(v, float) and math.isnan(v))]
    ordered = numbers if column.type.family is not None else []
    return Domain(
        lo=min(ordered, default=None),
        hi=max(ordered, default=None),
        no_null=len(present) == len(values),
        all_null=not present,
        nan_free=column.type.family is not Family.REAL or len(numbers) == len(present),
        counted=True,
    )


def _fields(columns: Sequence[ColumnSpec], depth: int) -> list[Field]:
    tops: dict[tuple[str, str], list[ColumnSpec]] = {}
    for column in columns:
        tops.setdefault((column.path[depth], column.physical[depth]), []).append(column)
    made = []
    for (name, physical), leaves in tops.items():
        first = leaves[0]
        if len(first.path) == depth + 1:
            made.append(Field(name, physical, data_type(first.type), Role.PARTITION if first.is_partition else Role.DATA))
        else:
            made.append(Field(name, physical, DataType(Kind.STRUCT), Role.DATA, tuple(_fields(leaves, depth + 1))))
    return made
