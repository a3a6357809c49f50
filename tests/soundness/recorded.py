"""The statistics that deltalake itself records for the rows of a generated table, in place of a model of some writer."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pyarrow as pa
from deltalake import write_deltalake

from tests.soundness.delta_log import arrow_rows
from tests.soundness.tables import Layout, Table, random_table
from tests.soundness.writers import Writer

_FILE = "which_file"


def random_recorded_table(rng: Random) -> Table:
    """A random table; the statistics of one in eight are deltalake's own."""
    table = random_table(rng)
    return recorded_by_deltalake(table) if rng.random() < 0.125 else table


def recorded_by_deltalake(table: Table) -> Table:
    """The same rows; every file that has some carries the text that deltalake recorded. The log stays JSON, as deltalake's is."""
    parts = []
    for number, file in enumerate(table.files):
        rows = arrow_rows(table, file)
        parts.append(rows.append_column(_FILE, pa.array([number] * rows.num_rows, pa.int32())))
    with TemporaryDirectory(prefix="lakeprune-deltalake-") as folder:
        write_deltalake(folder, pa.concat_tables(parts), partition_by=[_FILE])
        lines = Path(folder, "_delta_log", f"{0:020}.json").read_text(encoding="utf-8").splitlines()
    adds = [action["add"] for action in map(json.loads, lines) if "add" in action]
    texts = {int(add["partitionValues"][_FILE]): add["stats"] for add in adds}
    files = tuple(
        replace(file, statistics=replace(file.statistics, writer=Writer.RUST, broken=False, recorded=texts.get(number)))
        for number, file in enumerate(table.files)
    )
    layout = Layout.COMMITS if table.layout == Layout.COMMITS else Layout.CHECKPOINT_JSON
    return replace(table, files=files, layout=layout, nan_aware=False)
