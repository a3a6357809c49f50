"""The rows of every hand-off are those that a full read with the filter gives, and only planned files are opened.

Random tables with nested columns, column mapping, deletion vectors, NaN and every writer's statistics; the judge is DuckDB over
all rows of the files (tests/soundness/truth.py). Before rows are read, every file that is not planned is taken away.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from random import Random
from tempfile import mkdtemp
from typing import Any, NamedTuple

import pytest

from lakeprune.apps.scan.handoff import reader
from lakeprune.apps.scan.handoff.residual import Residuals
from lakeprune.apps.scan.plan import plan
from lakeprune.errors import LakepruneError, TableError
from tests.apps.scan.rows import WAYS, Rows, hidden_others, real_vectors, rows_of
from tests.generator.nodes import UNJUDGED, Said, say
from tests.generator.predicates import random_predicate
from tests.scope import IS_WHOLE
from tests.soundness.delta_log import write_table
from tests.soundness.tables import Table, random_table
from tests.soundness.truth import Truth

TABLES = 150 if IS_WHOLE else 3
PREDICATES = 12 if IS_WHOLE else 5


class Tally:
    compared = refused = hidden = 0


def test_rows_of_every_hand_off_on_random_tables() -> None:
    tally = Tally()
    for seed in range(TABLES):
        check_table(seed, tally)
    assert tally.compared > 2 * TABLES
    assert tally.hidden > TABLES // 2


def check_table(seed: int, tally: Tally) -> None:
    rng = Random(seed)
    table = random_table(rng)
    if any(recorded.empty_is_ambiguous for file in table.files for recorded in file.partition.values()):
        return  # the judge has the rows of such a file twice, once for each meaning of ''
    root = Path(mkdtemp(prefix="lakeprune-rows-"))
    try:
        with real_vectors():
            write_table(table, root / "table")
        truth = Truth(table, root / "table")
        try:
            for number in range(PREDICATES):
                said = say(random_predicate(table.columns, table.zone, rng))
                check(Scene(table, root / "table", truth), said, rng, WAYS[(seed + number) % len(WAYS)], tally)
        finally:
            truth.close()
    finally:
        shutil.rmtree(root)


class Scene(NamedTuple):
    table: Table
    root: Path
    truth: Truth


def check(scene: Scene, said: Said, rng: Random, way: object, tally: Tally) -> None:
    table, root, truth = scene
    names = list(dict.fromkeys(column.path[0] for column in table.columns))
    picked = names if rng.random() < 0.5 else [name for name in names if rng.random() < 0.3] or names[:1]
    zone: dict[str, Any] = {"timezone": table.zone} if table.zone_is_given else {}
    if said.duckdb == UNJUDGED or truth.why_not(said.duckdb):
        return
    try:
        made = plan(str(root), said.spark, columns=picked, **zone)
        schema = made.to_arrow().schema
    except LakepruneError as refused:
        if refused.code not in ("LP106", "LP280", "LP370"):
            raise
        tally.refused += 1
        return
    quoted = ", ".join('"' + name.replace('"', '""') + '"' for name in schema.names)
    expected = truth._connection.sql(f"SELECT {quoted} FROM rows WHERE {said.duckdb}").to_arrow_table()
    with hidden_others(made, root) as hidden:
        found = way(made)  # type: ignore[operator]
    wanted = rows_of(expected, schema)
    assert rows_of(found, schema) == wanted, f"{said.spark} on {way}"
    if rng.random() < 0.4:
        check_limit(Scene(table, root, truth), said, picked, way, wanted)
    tally.compared += 1
    tally.hidden += hidden


def check_limit(scene: Scene, said: Said, picked: list[str], way: Any, wanted: Rows) -> None:
    """A limit gives so many of the rows, or all."""
    table, root, _ = scene
    zone: dict[str, Any] = {"timezone": table.zone} if table.zone_is_given else {}
    for limit in (0, 2):
        limited = plan(str(root), said.spark, columns=picked, limit=limit, **zone)
        with hidden_others(limited, root):
            some = rows_of(way(limited), limited.to_arrow().schema)
        assert some <= wanted, f"{said.spark} on {way}, limit {limit}"
        assert some.total() == min(limit, wanted.total()), f"{said.spark} on {way}, limit {limit}"


def test_a_reader_that_forgets_the_filter_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Residuals, "of", lambda *_: None)
    with pytest.raises(AssertionError):
        test_rows_of_every_hand_off_on_random_tables()


def test_a_reader_that_forgets_deleted_rows_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "_picked", lambda batch, *_: batch)
    with pytest.raises(AssertionError):
        test_rows_of_every_hand_off_on_random_tables()


def test_a_reader_of_every_file_is_noticed(tmp_path: Path) -> None:
    """Negative control of `hidden_others`: whoever opens a file that is not planned fails."""
    table = random_table(Random(0))
    with real_vectors():
        write_table(table, tmp_path / "table")
    whole = plan(str(tmp_path / "table"))
    with hidden_others(plan(str(tmp_path / "table"), "FALSE"), tmp_path / "table") as hidden:
        assert hidden == len(table.files)
        with pytest.raises(TableError, match="does not exist"):
            whole.to_arrow().read_all()
