"""lakeprune: which files a predicate must read, why, and what would make it fewer."""
