"""Functions that give another answer each time they are asked: the one list of them, by SQL name and by class in Catalyst."""

from __future__ import annotations

import re

from lakeprune.predicate.read.sql.tokens import QUOTED

RANDOM = {
    "rand": "Rand", "random": "Rand", "randn": "Randn", "randstr": "RandStr", "uniform": "Uniform", "uuid": "Uuid",
    "shuffle": "Shuffle", "monotonically_increasing_id": "MonotonicallyIncreasingID", "spark_partition_id": "SparkPartitionID",
    "input_file_name": "InputFileName", "input_file_block_start": "InputFileBlockStart",
    "input_file_block_length": "InputFileBlockLength",
}  # fmt: skip
CATALYST_RANDOM = frozenset(RANDOM.values())


def random_call(text: str) -> str | None:
    """The first of these functions that an SQL text calls; text in quotes and back-ticks calls nothing.

    >>> random_call("s = 'rand()' AND x < RAND ()"), random_call("rand > `rand`")
    ('rand', None)
    """
    found = re.finditer(rf"{QUOTED}|\b({'|'.join(RANDOM)})\s*\(", text, re.IGNORECASE | re.DOTALL)
    return next((match[1].lower() for match in found if match[1]), None)
