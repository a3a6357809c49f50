"""The long soundness run: `python -m tests.soundness.run --cases 200000 --seed 0`. Deterministic by seed."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from itertools import count
from multiprocessing import get_context

from tests.soundness.check import Tally, check_seed
from tests.soundness.sharing.check import check_tables
from tests.soundness.sharing.fuzz import BATCH, planner, try_batch


def run(cases: int, seed: int, workers: int = 1) -> Tally:
    """At least this many cases, starting at this seed; stops early when violations pile up."""
    total = Tally()
    started = last = time.monotonic()
    for found in _tallies(seed, workers, cases):
        total.cases += found.cases
        total.undecided += found.undecided
        total.drops += found.drops
        total.possible_drops += found.possible_drops
        total.assumed_drops += found.assumed_drops
        total.false_assumptions += found.false_assumptions
        total.violations += found.violations
        for violation in found.violations:
            _say(violation)
        if time.monotonic() - last > 15:
            last = time.monotonic()
            _say(f"{total.cases} cases, {len(total.violations)} violations, {last - started:.0f} s")
        if total.cases >= cases or len(total.violations) > 200:
            break
    return total


def _tallies(seed: int, workers: int, cases: int) -> Iterator[Tally]:
    if workers == 1:
        yield from map(tally_of, count(seed))
        return
    with get_context("spawn").Pool(workers) as pool:
        yield from pool.imap(tally_of, range(seed, seed + cases), chunksize=4)


def tally_of(seed: int) -> Tally:
    found = Tally()
    check_seed(seed, found)
    return found


def run_hints(inputs: int, seed: int, workers: int) -> list[str]:
    """So many inputs for the parsers of Delta Sharing hints, and a case over a table for every thousand; returns violations."""
    batches = range(seed, seed + -(-inputs // BATCH))
    pieces = [batches[start : start + 100] for start in range(0, len(batches), 100)]
    with get_context("spawn").Pool(workers) as pool:
        for done, _ in enumerate(pool.imap(_try_batches, pieces), 1):
            if done % 10 == 0:
                _say(f"{min(inputs, done * 100 * BATCH)} hints parsed")
    found = check_tables(seed, inputs // 1000)
    _say(
        f"{inputs} hints parsed; {found.cases} hints over tables: {len(found.violations)} violations, {found.drops} files dropped"
    )
    return found.violations


def _try_batches(seeds: range) -> None:
    asked = planner()
    for seed in seeds:
        try_batch(asked, seed)


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--hints", type=int, default=0, help="inputs for the fuzzer of Delta Sharing hints")
    asked = parser.parse_args()
    total = run(asked.cases, asked.seed, asked.workers)
    share = 100 * total.drops / max(1, total.possible_drops)
    _say(f"{total.cases} cases from seed {asked.seed}: {len(total.violations)} violations, {total.undecided} without a judge")
    _say(f"{total.drops} files dropped of {total.possible_drops} without a match ({share:.1f}%)")
    _say(f"{total.assumed_drops} drops assume that no NaN is hidden, which is false of {total.false_assumptions}: all are marked")
    lost = run_hints(asked.hints, asked.seed, asked.workers) if asked.hints else []
    for violation in lost:
        _say(violation)
    return 1 if total.violations or lost else 0


if __name__ == "__main__":
    raise SystemExit(main())
