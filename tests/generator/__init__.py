"""The one generator of random predicates: columns with values worth testing, literals around them, functions, conditions, trees.

In: a `random.Random` (Hypothesis lends one where it drives). Out: a predicate in Spark's SQL, which lakeprune reads, and in
DuckDB's, which judges it on rows. What has no exact equal in DuckDB is generated only where rows are judged by `evaluate`.
"""
