"""What is known about a plain Parquet file: the values in the names of its folders, and the statistics of its footer."""

from __future__ import annotations

from lakeprune.skipping.ladder import Level, Rung, by_role

PARTITION = Rung("partition", "partitions", "partition values", "Partition pruning", Level.FILE, is_exact=True)
FOOTER = Rung("footer", "footers", "footer statistics", "Data skipping (Parquet footers)", Level.FILE, is_exact=False)
EVIDENCE = by_role(PARTITION, FOOTER)
