"""Manifests as containers: what the manifest list records of the partition values in each, as evidence about columns.

In: the manifests of a snapshot. Out: a snapshot of their own, a row per manifest. Each is judged by its own spec (T50). Ranges of
partition values are lifted as single values are (transforms.py); a summary may say less than is true, never more:

    no summaries, or not one per field of the spec      nothing is known
    a bound that is not a value of the field's type     nothing is known (T41)
    a bound that is missing                             unbounded; never "all NULL", for a bound may just be missing (T51)
    a bound of an earlier type, by its length           days are their midnight; a truncated int may be a wrapped one (T57, T96)
    lower above upper, NaN among the bounds             both are discarded (T24, T2)
    contains_null                                       FALSE proves that there is no NULL; everything else nothing
    contains_nan                                        FALSE proves that there is no NaN; missing, nothing (T51)
    text of 16 characters or more, as upper bound       may be a prefix (T16)
    void, unknown and multi-argument transforms         nothing is known (T49)

Counts are reported and nothing is concluded from them (T85). Live rows are not known where deletes may apply.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from lakeprune.engines.dialect import Dialect
from lakeprune.engines.engine import Engine
from lakeprune.formats.iceberg.bounds import decoded, microseconds
from lakeprune.formats.iceberg.files import Files
from lakeprune.formats.iceberg.ladder import SUMMARY, summary_evidence
from lakeprune.formats.iceberg.manifest_list import Manifest
from lakeprune.formats.iceberg.metrics_sql import unknown_items
from lakeprune.formats.iceberg.specs import SpecField
from lakeprune.formats.iceberg.transforms import (
    Proven,
    by_spec,
    fields_of,
    identity_of,
    items_of,
    keeps_type,
    lifted_range,
    raw_name,
    value_type,
)
from lakeprune.formats.iceberg.widened import Earlier
from lakeprune.formats.lifting.transform import Transform
from lakeprune.formats.relation import Needs, Relation, relation_of
from lakeprune.formats.snapshot import Snapshot, SnapshotFacts
from lakeprune.predicate.tree import Column, Profile
from lakeprune.skipping.ladder import Seen
from lakeprune.values.types import INT, Family, Scalar

_INT = 4  # bytes
_CUT = 16  # code points or bytes from which an upper bound may be a prefix
Specs = Mapping[int, Sequence[SpecField]]
Decoder = Callable[[Sequence[bytes | None]], list[Any]]


class Range(Struct, frozen=True):
    """What a summary says of one partition field, where it can be believed; None: unbounded, or not recorded."""

    lo: Any = None
    hi: Any = None
    no_null: bool = False
    has_nan: bool | None = None


NOTHING = Range()


def manifests_as_groups(facts: SnapshotFacts, files: Files) -> Snapshot:
    """The manifests of a snapshot."""
    specs = files.specs
    data = {spec: specs[spec] for manifest in files.manifests if (spec := manifest.spec_id) is not None and spec in specs}
    evidence = summary_evidence(facts.evidence.ladder, list(data.values()))
    return ManifestSnapshot(replace(facts, evidence=evidence), files.manifests, data, has_deletes=files.has_deletes)


class ManifestSnapshot(Snapshot):
    def __init__(self, facts: SnapshotFacts, manifests: Sequence[Manifest], specs: Specs, *, has_deletes: bool) -> None:
        self.facts = facts
        self._manifests = manifests
        self._specs = specs
        self._has_deletes = has_deletes

    def relation(self, engine: Engine, needs: Needs, profile: Profile) -> Relation:  # noqa: ARG002  # summaries are read in one way
        names = relation_of(needs)
        seen = [each for each in needs.domains if self._is_summarised(each)]
        counted = [None if manifest.rows is None or manifest.rows < 0 else manifest.rows for manifest in self._manifests]
        columns: list[tuple[str, str, Sequence[Any]]] = [
            ("number", "BIGINT", list(range(len(counted)))),
            ("files", "BIGINT", [manifest.files for manifest in self._manifests]),
            ("rows", "BIGINT", counted),
            ("spec", "BIGINT", [manifest.spec_id for manifest in self._manifests]),
        ]
        asked = {raw_name(*field): (*field, each.column) for each in seen for field in fields_of(each, self._specs)}
        for name, (spec, field, column) in asked.items():
            columns += self._ranges(name, spec, field, column)
        table = engine.columns(*zip(*columns, strict=True))
        deleted = "CAST(NULL AS BIGINT)" if self._has_deletes else "CAST(0 AS BIGINT)"
        items = ["number", "files", "CAST(NULL AS BIGINT) AS size", "rows", f"{deleted} AS deleted"]
        items += ["FALSE AS has_stats", "FALSE AS has_dv"]
        for each in needs.domains:
            is_known = each in seen
            items += domain_items(engine.dialect, names, each, self._specs) if is_known else unknown_items(each, names, needs)
        return replace(names, source=f"(SELECT {', '.join(items)} FROM {table})")

    def partition_values(self, text: str | None, column: Column, profile: Profile) -> tuple[Scalar, ...] | None:  # noqa: ARG002
        """A manifest has ranges of values, none of which is known."""
        return None

    def check_whole(self) -> None:
        """The list was read when the table was opened."""

    def _is_summarised(self, seen: Seen) -> bool:
        is_usable = seen.column.statistics_unusable is None or seen.column.has_nanoseconds
        return SUMMARY in seen.rungs and is_usable and seen.type.family is not None

    def _ranges(self, name: str, spec: int, field: SpecField, column: Column) -> list[tuple[str, str, Sequence[Any]]]:
        place, source = self._specs[spec].index(field), column.type
        type_ = source if keeps_type(field) else INT
        read: Decoder = partial(microseconds if column.has_nanoseconds and keeps_type(field) else decoded, data_type=type_)
        ranges = [self._range(manifest, spec, place, read) for manifest in self._manifests]
        ends = [[each.lo for each in ranges], [each.hi for each in ranges]]
        if type_.family is Family.DECIMAL:
            ends = [[None if value is None else f"{value:f}" for value in values] for values in ends]
        kind = value_type(field, source)
        found: list[tuple[str, str, Sequence[Any]]] = [(f"{name}_lo", kind, ends[0]), (f"{name}_hi", kind, ends[1])]
        found.append((f"{name}_no_null", "BOOLEAN", [each.no_null for each in ranges]))
        found.append((f"{name}_nan", "BOOLEAN", [each.has_nan for each in ranges]))
        return found

    def _range(self, manifest: Manifest, spec: int, place: int, read: Decoder) -> Range:
        summaries = manifest.summaries
        if manifest.spec_id != spec or summaries is None or len(summaries) != len(self._specs[spec]):
            return NOTHING
        summary = summaries[place]
        low, high = read([summary.lower, summary.upper])
        if (low is None and summary.lower is not None) or (high is None and summary.upper is not None):
            return NOTHING
        has_nan = summary.contains_nan
        if any(end != end for end in (low, high)):
            low, high, has_nan = None, None, True
        if low is not None and high is not None and low > high and not _is_prefix(high, low):
            low, high = None, None
        if isinstance(high, bytes) and len(high) >= _CUT:
            high = None
        if _may_be_wrapped(self._specs[spec][place], summary.upper, high):
            low, high = None, None
        return Range(low, high, not summary.contains_null, has_nan)


def _may_be_wrapped(field: SpecField, upper: bytes | None, high: Any) -> bool:
    """Whether a bound of four bytes, under a truncated long, may be an int that wrapped around: the greatest of all."""
    if field.widened is None or field.widened.type != "long" or upper is None or len(upper) != _INT or high is None:
        return False
    return isinstance(field.widened.of_int(high), Earlier)


def _is_prefix(high: Any, low: Any) -> bool:
    """Whether an upper bound may be a prefix of the lower one: it stands for everything that starts with it."""
    return isinstance(high, str) and len(high) >= _CUT and low.startswith(high)


def domain_items(dialect: Dialect, names: Relation, seen: Seen, specs: Specs) -> list[str]:
    """The columns of the relation for a column, by the summaries of manifests."""
    return items_of(names, seen, {spec: _proven(dialect, seen, fields) for spec, fields in by_spec(seen, specs).items()})


def _proven(dialect: Dialect, seen: Seen, fields: Sequence[tuple[str, Transform]]) -> Proven:
    found = lifted_range(dialect, seen, [(f"{name}_lo", f"{name}_hi", transform) for name, transform in fields])
    found = replace(found, is_truncated=f"({found.is_truncated} OR length({found.hi}) >= {_CUT})")
    no_null, identity = " OR ".join(f"{name}_no_null" for name, _ in fields), identity_of(fields)
    return Proven(found, no_null, all_null="FALSE", has_nan=None if identity is None else f"{identity}_nan")
