"""Maps as Arrow holds them, also parts of a longer array: the entries of each row are its own."""

from __future__ import annotations

import pyarrow as pa
import pytest

from lakeprune.apps.scan.handoff.conform import conformed
from lakeprune.apps.scan.handoff.shape import Leaf, MapOf
from lakeprune.values.types import LONG, STRING

ROWS = [[("z", 0)], [("a", 1)], None, [], [("b", 2), ("c", None)], None]


@pytest.mark.parametrize("part", [slice(None), slice(1, None), slice(2, 5), slice(3, 4), slice(0, 0)], ids=str)
def test_a_map_has_its_entries(part: slice) -> None:
    array = pa.array(ROWS, pa.map_(pa.string(), pa.field("entry", pa.int32())))[part]
    found = conformed(array, MapOf(Leaf(STRING), Leaf(LONG)), by_id=False)
    assert found.type == pa.map_(pa.string(), pa.int64())
    assert found.to_pylist() == ROWS[part]
