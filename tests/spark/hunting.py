"""The hunts at length, one table after the other: what ran and what was found.

python -m tests.spark.hunting predicates --seeds 100 140
python -m tests.spark.hunting statements --seeds 100 160 --seconds 480     # no new seed after so many seconds
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from pyspark.sql import SparkSession

from tests.spark import test_dataframe_shapes, test_exotic_statements
from tests.spark.conftest import small_session
from tests.spark.hunt import Tally, hunt
from tests.spark.loose import loose_hunt
from tests.spark.shapes import write_tables


def statements(seed: int, count: int, spark: SparkSession, folder: Path, tally: Tally) -> None:
    tally.counts += test_exotic_statements.run(seed, count, spark, folder, tally.wrong)


def dataframes(seed: int, count: int, spark: SparkSession, folder: Path, tally: Tally) -> None:
    write_tables(spark, folder)
    tally.counts += test_dataframe_shapes.run(seed, count, spark, folder, tally.wrong)


# Each with how many cases a seed has.
KINDS: dict[str, tuple[Callable[[int, int, SparkSession, Path, Tally], None], int]] = {
    "predicates": (hunt, 300),
    "loose": (loose_hunt, 300),
    "statements": (statements, 6),
    "dataframes": (dataframes, 15),
}


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--seeds", type=int, nargs=2, default=(100, 133))
    parser.add_argument("--cases", type=int, help="of each seed")
    parser.add_argument("--seconds", type=float, default=float("inf"))
    asked = parser.parse_args(arguments)
    one, usual = KINDS[asked.kind]
    spark, tally, started = small_session(), Tally(), time.monotonic()
    for seed in range(*asked.seeds):
        if time.monotonic() - started > asked.seconds:
            break
        before = len(tally.wrong)
        with TemporaryDirectory(prefix="lakeprune-hunt-") as folder:
            try:
                one(seed, asked.cases or usual, spark, Path(folder), tally)
            except Exception:  # noqa: BLE001  # the next table may tell more
                tally.wrong.append(f"seed {seed} did not run\n{traceback.format_exc()[-3000:]}")
        for line in tally.wrong[before : before + 25]:
            _say(line)
        _say(f"{time.monotonic() - started:.0f} s, seed {seed}: {dict(tally.counts)}, refused {dict(tally.refused)}")
    _say("\n".join([*tally.examples, f"{len(tally.wrong)} wrong"]))
    spark.stop()
    return 1 if tally.wrong else 0


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
