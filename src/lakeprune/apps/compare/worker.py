"""One engine in a process of its own: the question on its input, the answer as the last line of its output."""

from __future__ import annotations

import sys
from importlib import import_module

import msgspec

from lakeprune.apps.compare.engines.ran import Asked

MODULES = {
    "lakeprune": "lakeprune_itself",
    "spark": "spark_delta",
    "delta-rs": "delta_rs",
    "datafusion": "datafusion_delta",
    "duckdb": "duckdb_delta",
    "polars": "polars_delta",
}


def main(engine: str) -> None:
    asked = msgspec.json.decode(sys.stdin.buffer.read(), type=Asked)
    ran = import_module(f"lakeprune.apps.compare.engines.{MODULES[engine]}").run(asked)
    sys.stdout.buffer.write(b"\n" + msgspec.json.encode(ran) + b"\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1])
