"""The promises of speed and memory, each judged on the numbers of one run. A missed goal is shown, never raised."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bench.measure import Cost

MILLION = ("1m-x3", "1m-x3-deltalake")


@dataclass(frozen=True)
class Result:
    """What one log cost: lakeprune and delta-explain per predicate, the loads and floors once."""

    log: str
    lakeprune: Mapping[str, Cost]
    delta_explain: Mapping[str, Cost]
    deltalake: Cost
    decode: Cost | None


@dataclass(frozen=True)
class Goal:
    text: str
    measured: str
    met: bool


def goals_of(result: Result) -> list[Goal]:
    """The goals that apply to this log, each for its hardest predicate."""
    ours = max(result.lakeprune.values(), key=lambda cost: cost.wall)
    memory = max(cost.megabytes for cost in result.lakeprune.values())
    found = [at_most(f"{result.log}: never slower than deltalake's load", ours.wall / result.deltalake.wall, 1)]
    if result.decode is not None:
        found.append(
            at_most(f"{result.log}: within 2x of DuckDB merely decoding the checkpoint", ours.wall / result.decode.wall, 2)
        )
    if result.log in MILLION:
        faster = min(result.delta_explain[name].wall / cost.wall for name, cost in result.lakeprune.items())
        found.append(Goal(f"{result.log}: at least 20x faster than delta-explain", f"{faster:.1f}x", faster >= 20))
        theirs = min(cost.megabytes for cost in result.delta_explain.values())
        found.append(
            Goal(f"{result.log}: at most 1/8 of delta-explain's peak memory", f"1/{theirs / memory:.1f}", theirs >= 8 * memory)
        )
    return found


def at_most(text: str, ratio: float, limit: float) -> Goal:
    return Goal(text, f"{ratio:.2f}x", ratio <= limit)
