"""A format is a folder and one line: a stranger registered here is opened, explained and listed like every other."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

import lakeprune
from lakeprune.engines.engine import Engine
from lakeprune.formats import registry
from lakeprune.formats.format import At, NotThisFormat
from lakeprune.formats.snapshot import Snapshot
from lakeprune.storage.storage import Storage
from tests.builders.reports import USERS, snapshot


class RowsFormat:
    """Tables of Python rows, wherever a file called `rows` lies."""

    name = "rows"

    def open(self, storage: Storage, engine: Engine, at: At) -> Snapshot:  # noqa: ARG002  # it has one version
        if storage.read_if_there("rows", 100) is None:
            raise NotThisFormat("LP305", "these are no rows")
        return snapshot(*USERS)


@pytest.fixture
def rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    module = ModuleType("a_format_of_rows")
    module.FORMAT = RowsFormat()  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(registry, "FORMATS", [*registry.FORMATS, module.__name__])
    (tmp_path / "rows").write_text("")
    return tmp_path


def test_a_registered_format_is_explained(rows: Path) -> None:
    report = lakeprune.explain(rows, "country = 'IT' AND age > 40")
    assert (report.numbers.total.files, report.numbers.kept.files) == (6, 1)
    assert [file.path for file in report.files if file.kept] == ["a"]


def test_what_no_format_recognises_is_reported_by_the_first(rows: Path) -> None:
    (rows / "rows").unlink()
    with pytest.raises(lakeprune.TableError, match="not a Delta table") as caught:
        lakeprune.explain(rows, "age > 40")
    assert caught.value.code == "LP305"


def test_formats_are_tried_in_order(rows: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "FORMATS", list(reversed(registry.FORMATS)))
    assert lakeprune.explain(rows).numbers.total.files == 6
