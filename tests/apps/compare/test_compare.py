"""Engines side by side: the kernel counts what each opens, and an engine that is not there is a line of the answer."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from demo.tables import users
from lakeprune.apps.compare import compare as module
from lakeprune.apps.compare.model import Comparison, Status
from lakeprune.apps.compare.opens import Opens
from lakeprune.cli.main import main
from lakeprune.errors import UsageError

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="files are watched through Linux' inotify")
WHERE = "country = 'DE' AND age > 40"


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("compare") / "users"
    users(path)
    return str(path)


@pytest.fixture(scope="module")
def found(table: str) -> Comparison:
    return module.compare(table, WHERE, engines=["lakeprune", "delta-rs", "datafusion", "polars", "duckdb"])


def test_what_engines_open_is_counted(found: Comparison) -> None:
    opened = {row.engine: (row.files_opened, row.rows) for row in found.engines if row.status is Status.RAN}
    assert (found.files_total, found.files_needed) == (6, 1)
    # The filter does not pass from DataFusion to the table of another library: every file is opened.
    assert {**opened, "duckdb": None} == {
        "lakeprune": (1, 3), "delta-rs": (1, 3), "datafusion": (6, 3), "polars": (1, 3), "duckdb": None,
    }  # fmt: skip


def test_an_engine_says_what_it_pushes(found: Comparison) -> None:
    said = {row.engine: row.pushed for row in found.engines}
    assert "t.age > Int32(40)" in said["delta-rs"]
    assert "age" in said["polars"][0]


def test_the_document_fits_its_schema(found: Comparison) -> None:
    import jsonschema

    schema = json.loads((Path(__file__).parents[3] / "schemas" / "compare.schema.json").read_text())
    jsonschema.validate(found.to_dict(), schema)


def test_the_page_has_a_bar_for_every_engine_that_ran(found: Comparison) -> None:
    page = found.to_html()
    ran = [row for row in found.engines if row.status is Status.RAN]
    assert page.count('<svg class="bar"') == len(ran) + 1
    assert "not installed" in page or all(row.status is Status.RAN for row in found.engines)


def test_a_missing_engine_is_a_line_that_says_how_to_install_it(table: str, monkeypatch: pytest.MonkeyPatch) -> None:
    there = importlib.util.find_spec
    monkeypatch.setattr(module, "find_spec", lambda name: None if name == "polars" else there(name))
    (row,) = module.compare(table, WHERE, engines=["polars"]).engines
    assert (row.status, row.files_opened) == (Status.MISSING, None)
    assert row.message == "not installed: pip install polars deltalake"


def test_an_engine_that_fails_is_a_line_with_its_words(table: str) -> None:
    (row,) = module.compare(table, "country RLIKE 'D.*'", engines=["datafusion"]).engines
    assert row.status in (Status.FAILED, Status.RAN)
    assert (row.message is None) == (row.status is Status.RAN)


def test_opens_sees_a_file_that_is_read_and_no_other(tmp_path: Path) -> None:
    first, second = tmp_path / "a.parquet", tmp_path / "b.parquet"
    for path in (first, second, tmp_path / "c.bin"):
        path.write_bytes(b"x")
    with Opens([str(first), str(second)]) as opens:
        second.read_bytes()
        (tmp_path / "c.bin").read_bytes()
        assert opens.so_far() == {str(second)}
        assert opens.so_far() == set()


@pytest.mark.parametrize(
    ("arguments", "code"), [(["s3://b/t", "-w", "x = 1"], "LP290"), (["./t", "-w", "x = 1", "--engines", "x"], "LP292")]
)
def test_wrong_arguments_get_their_fix(arguments: list[str], code: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", *arguments]) == 2
    assert code in capsys.readouterr().err


def test_plain_parquet_is_refused(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"x": [1]}), tmp_path / "a.parquet")
    with pytest.raises(UsageError, match="Delta tables"):
        module.compare(tmp_path, "x = 1", engines=["polars"])  # a Path is a table as well


def test_engines_are_a_list(table: str) -> None:
    with pytest.raises(UsageError, match="the engines are 'delta-rs'") as error:
        module.compare(table, WHERE, engines="delta-rs")
    assert error.value.code == "LP292"


@pytest.mark.parametrize("where", [None, 5])
def test_a_predicate_that_is_no_text_is_refused(table: str, where: Any) -> None:
    with pytest.raises(UsageError, match="the predicate is of type") as error:
        module.compare(table, where)
    assert error.value.code == "LP218"
