"""One server over the tables of the matrix for all tests of this folder that only read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.apps.sharing.server.served import Served, serving
from tests.apps.sharing.server.shared_tables import TABLES


@pytest.fixture(scope="session")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("shared")
    return {name: make(root / name) for name, make in TABLES.items()}


@pytest.fixture(scope="session")
def served(tables: dict[str, Path]) -> Iterator[Served]:
    with serving(tables) as running:
        yield running
