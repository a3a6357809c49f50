"""What a Delta log knows about a file: the values of its partition columns, and statistics of the others."""

from __future__ import annotations

from lakeprune.skipping.ladder import Level, Rung, by_role

PARTITION = Rung("partition", "partitions", "partition values", "Partition pruning", Level.FILE, is_exact=True)
STATISTICS = Rung("statistics", "statistics", "statistics", "Data skipping (min/max statistics)", Level.FILE, is_exact=False)
EVIDENCE = by_role(PARTITION, STATISTICS)
