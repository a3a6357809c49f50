"""The long soundness run: `python -m tests.soundness.run --cases 200000 --seed 0`. Deterministic by seed."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from itertools import count
from multiprocessing import get_context

from tests.soundness.check import Tally, check_seed


def run(cases: int, seed: int, workers: int = 1) -> Tally:
    """At least this many cases, starting at this seed; stops early when violations pile up."""
    total = Tally()
    started = last = time.monotonic()
    for found in _tallies(seed, workers, cases):
        total.cases += found.cases
        total.undecided += found.undecided
        total.drops += found.drops
        total.possible_drops += found.possible_drops
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


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    asked = parser.parse_args()
    total = run(asked.cases, asked.seed, asked.workers)
    share = 100 * total.drops / max(1, total.possible_drops)
    _say(f"{total.cases} cases from seed {asked.seed}: {len(total.violations)} violations, {total.undecided} without a judge")
    _say(f"{total.drops} files dropped of {total.possible_drops} without a match ({share:.1f}%)")
    return 1 if total.violations else 0


if __name__ == "__main__":
    raise SystemExit(main())
