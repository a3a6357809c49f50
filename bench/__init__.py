"""Benchmarks against the peers, in one run on one machine. `make bench` prints ratios and rewrites docs/benchmarks.md."""
