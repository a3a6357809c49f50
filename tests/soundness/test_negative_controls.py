"""Each guard once switched off: then the soundness check must complain. With the guard on it must not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import lakeprune.engines.duckdb.engine as duckdb_engine
import lakeprune.formats.delta.bounds as bounds
import lakeprune.formats.delta.nan_aware as nan_aware
import lakeprune.formats.delta.partition_sql as partition_sql
import lakeprune.formats.delta.snapshot as snapshot
import lakeprune.formats.delta.statistics as statistics
import lakeprune.predicate.passes.limit_lists as limit_lists
import lakeprune.skipping.leaves.membership as membership
import lakeprune.skipping.lower as lower
from lakeprune.formats.delta.partition_sql import PartitionSql
from lakeprune.formats.delta.statistics import StatisticsColumn, StatisticsSql
from lakeprune.formats.relation import Relation
from lakeprune.predicate.tree import Either, Expr, Member
from lakeprune.programs.fact_sql import FactPrinter
from lakeprune.skipping.fact import PROVEN, Fact, NoNull
from lakeprune.skipping.ladder import Seen
from lakeprune.skipping.mask import Mask
from lakeprune.skipping.plan import Lift
from tests.generator.values import NAN, to_float32
from tests.soundness.partition_texts import Recorded
from tests.soundness.scenes import Scene, complaints
from tests.soundness.tables import Layout
from tests.soundness.writers import Bounds, Writer

Patch = Callable[[pytest.MonkeyPatch], None]
NOON = 1705320000000000


def nan_guard_off(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(membership, "NanFree", lambda _column, **_: PROVEN)


def every_writer_keeps_nan(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(nan_aware, "_RELEASE", "")


def milliseconds_not_widened(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(bounds, "widened", lambda micros, _side: micros)
    patch.setattr(bounds, "_in_milliseconds", lambda dialect, text, _side: dialect.micros_of(text))


def cut_strings_trusted(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(snapshot, "_DEFAULT_PREFIX", 10_000)


def cut_maximum_taken_as_a_value(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(StatisticsSql, "domains", _without("_truncated", "FALSE AS c{k}_truncated", StatisticsSql.domains))


def missing_null_count_is_zero(patch: pytest.MonkeyPatch) -> None:
    printed = FactPrinter._print

    def careless(self: FactPrinter, fact: Fact, lift: Lift) -> str:
        return printed(self, fact, Lift.MISSING if isinstance(fact, NoNull) else lift)

    patch.setattr(FactPrinter, "_print", careless)


def decimals_not_widened(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        bounds, "decimal_bound", lambda dialect, text, type_, _side: dialect.try_cast(text, f"DECIMAL(38,{type_.scale})")
    )


def saturated_decimals_trusted(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(statistics, "unsaturated", lambda bound, _type, _side: bound)


def empty_partition_text_is_only_text(patch: pytest.MonkeyPatch) -> None:
    made = PartitionSql.domains

    def careless(self: PartitionSql, column: Seen, names: Relation) -> list[str]:
        is_value = f"b{self.k}_lo IS NOT NULL AS {names.no_null(column)}"
        return [is_value if item.endswith("_no_null") else item for item in made(self, column, names)]

    patch.setattr(PartitionSql, "domains", careless)


def partition_clock_is_utc(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(partition_sql, "ZONE_MARGIN", 0)


def merged_list_forgets_its_tail(patch: pytest.MonkeyPatch) -> None:
    def careless(leaf: Expr) -> Expr:
        if not isinstance(leaf, Member) or len(leaf.values.intervals) <= limit_lists.MAX_INTERVALS:
            return leaf
        first = Member(leaf.column, leaf.values.first(limit_lists.MAX_INTERVALS))
        return Either(first, first)

    patch.setattr(limit_lists, "_limit", careless)


def merged_list_taken_for_the_list(patch: pytest.MonkeyPatch) -> None:
    def careless(leaf: Expr) -> Expr:
        if not isinstance(leaf, Member) or len(leaf.values.intervals) <= limit_lists.MAX_INTERVALS:
            return leaf
        return Member(leaf.column, leaf.values.merged_to(limit_lists.MAX_INTERVALS))

    patch.setattr(limit_lists, "_limit", careless)


def either_is_its_inner_side(patch: pytest.MonkeyPatch) -> None:
    def careless(_outer: Mask, inner: Mask) -> Mask:
        return inner

    patch.setattr(lower, "either", careless)


def float_text_read_as_a_double(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(bounds, "_real_text", lambda dialect, text, _column, _side: dialect.try_cast(text, "DOUBLE"))
    patch.setattr(statistics, "number_bound", lambda _dialect, value, _column, _side: value, raising=False)


def complement_of_booleans_left_open(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(membership, "whole", lambda found, _type: found)
    patch.setattr(FactPrinter, "_literal", lambda self, column, value: self.dialect.literal(value, column.type.family))


def footers_without_nan_trusted(patch: pytest.MonkeyPatch) -> None:
    patch.setitem(duckdb_engine._SETTINGS, "disabled_optimizers", "join_order")


@dataclass(frozen=True)
class Control:
    guard: Patch
    scene: Scene
    where: str
    duckdb: str | None = None


LONG_LIST = ", ".join(str(2 * n) for n in range(3000))
CONTROLS = [
    Control(nan_guard_off, Scene("double", [[1.0, 2.0, NAN]], Writer.FOOTER), "x > 100"),
    Control(nan_guard_off, Scene("double", [[5.0, NAN]], Writer.FOOTER), "x <> 5"),
    Control(every_writer_keeps_nan, Scene("double", [[1.0, 2.0, NAN]], Writer.FOOTER), "x > 100"),
    Control(every_writer_keeps_nan, Scene("float", [[5.0, NAN]], Writer.RUST, layout=Layout.CHECKPOINT_JSON), "x <> 5"),
    Control(
        milliseconds_not_widened,
        Scene("timestamp", [[NOON + 500]]),
        "x > TIMESTAMP '2024-01-15 12:00:00.0004Z'",
        "x > TIMESTAMPTZ '2024-01-15 12:00:00.0004+00'",
    ),
    Control(
        milliseconds_not_widened,
        Scene("timestamp_ntz", [[-1500]], Writer.NAIVE),
        "x < TIMESTAMP_NTZ '1969-12-31 23:59:59.999'",
        "x < TIMESTAMP '1969-12-31 23:59:59.999'",
    ),
    Control(cut_strings_trusted, Scene("string", [["a" * 32 + "\U0001f33c"]], Writer.OLD_SPARK), f"x = '{'a' * 32}\U0001f33c'"),
    Control(cut_maximum_taken_as_a_value, Scene("string", [["a" * 32 + "zz"]], Writer.NAIVE), f"x > '{'a' * 32}z'"),
    Control(missing_null_count_is_zero, Scene("integer", [[None, 1]], without_null_counts=True), "x IS NULL"),
    Control(
        decimals_not_widened,
        Scene("decimal(18,2)", [[Decimal("9999999999999999.98")]], Writer.RUST),
        "x <= 9999999999999999.98",
    ),
    Control(
        decimals_not_widened, Scene("decimal(20,0)", [[Decimal(5163575153583593754)]], Writer.RUST), "x = 5163575153583593754"
    ),
    Control(saturated_decimals_trusted, Scene("decimal(38,0)", [[Decimal("9" * 38)]], Writer.RUST), f"x = {'9' * 38}"),
    Control(saturated_decimals_trusted, Scene("decimal(28,0)", [[Decimal(f"-{'9' * 28}")]], Writer.RUST), f"x != -{'9' * 28}"),
    Control(
        empty_partition_text_is_only_text,
        Scene("integer", [[1]], partition=Recorded("", None, empty_is_ambiguous=True)),
        "p IS NULL",
    ),
    Control(
        partition_clock_is_utc,
        Scene(
            "integer", [[1]], partition=Recorded("2024-01-15 16:00:00", 1705334400000000, local=True), partition_type="timestamp"
        ),
        "p > TIMESTAMP '2024-01-15 17:00:00Z'",
        "p > TIMESTAMPTZ '2024-01-15 17:00:00+00'",
    ),
    Control(merged_list_forgets_its_tail, Scene("integer", [[5998, 5998]]), f"x IN ({LONG_LIST})"),
    Control(merged_list_taken_for_the_list, Scene("integer", [[5997, 5997]]), f"x IN ({LONG_LIST})"),
    Control(either_is_its_inner_side, Scene("integer", [[5998, 5998]]), f"x IN ({LONG_LIST})"),
    Control(
        float_text_read_as_a_double,
        Scene("float", [[to_float32(0.1)]], nan_aware=True),
        "cast(x as double) > CAST('0.1' AS DOUBLE) AND x < 1",
        "CAST(x AS DOUBLE) > CAST('0.1' AS DOUBLE) AND x < 1",
    ),
    Control(complement_of_booleans_left_open, Scene("boolean", [[False]], Writer.FOOTER), "NOT x"),
    Control(
        footers_without_nan_trusted,
        Scene(
            "double",
            [[1.0], [NAN, 1.0, 2.0], [2.0]],
            Writer.FOOTER,
            stated={1: Bounds(NAN, NAN, '"NaN"', '"NaN"')},
            layout=Layout.CHECKPOINT_STRUCT,
        ),
        "x < 3",
    ),
]
IDS = [f"{control.guard.__name__}-{number}" for number, control in enumerate(CONTROLS)]


@pytest.mark.parametrize("control", CONTROLS, ids=IDS)
def test_the_check_complains_only_when_the_guard_is_off(
    control: Control, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "table"
    assert complaints(control.scene, control.where, root, control.duckdb) == []
    control.guard(monkeypatch)
    assert complaints(control.scene, control.where, root, control.duckdb), "the check is blind to this guard"


def _without(suffix: str, replacement: str, made: Callable[..., list[str]]) -> Callable[..., list[str]]:
    def careless(self: Any, column: StatisticsColumn, names: Relation) -> list[str]:
        return [replacement.format(k=column.k) if item.endswith(suffix) else item for item in made(self, column, names)]

    return careless
