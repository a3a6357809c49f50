"""Deletion vectors: those of golden tables, all three places they can lie in, and what is done with damaged ones."""

from __future__ import annotations

import base64
import json
import struct
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyroaring import BitMap64

from lakeprune.errors import TableError
from lakeprune.formats.deleted_rows import MAGIC
from lakeprune.formats.delta.deletion_vectors import _RFC_1924, _Z85, deleted_positions
from tests.golden import GOLDEN

POSITIONS = st.sets(st.integers(0, 2**34), max_size=50)


def bitmap(positions: set[int]) -> bytes:
    return struct.pack("<I", MAGIC) + bytes(BitMap64(positions).serialize())


def framed(data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + data + struct.pack(">I", zlib.crc32(data))


def descriptor(place: str, kind: str, size: int, rows: int, offset: int | None = None) -> str:
    about = {"storageType": kind, "pathOrInlineDv": place, "sizeInBytes": size, "cardinality": rows}
    return json.dumps(about if offset is None else {**about, "offset": offset})


def base85(data: bytes) -> str:
    padded = data + bytes(-len(data) % 4)
    return base64.b85encode(padded).decode().translate(str.maketrans(_RFC_1924, _Z85))


def reader(files: dict[str, bytes]) -> Callable[[str, int, int], bytes]:
    return lambda path, start, end: files[path][start:end]


def below(root: Path) -> Callable[[str, int, int], bytes]:
    return lambda path, start, end: (root / path).read_bytes()[start:end]


@given(positions=POSITIONS, before=st.integers(0, 40))
def test_every_place_gives_the_same_positions(positions: set[int], before: int) -> None:
    data = bitmap(positions)
    name = "deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin"
    file = b"\x01" + bytes(before) + framed(data)
    asked = [
        (descriptor(base85(data), "i", len(data), len(positions)), {}),
        (descriptor("ab^-aqEH.-t@S}K{vb[*k^", "u", len(data), len(positions), 1 + before), {f"ab/{name}": file}),
        (descriptor("^-aqEH.-t@S}K{vb[*k^", "u", len(data), len(positions), 1 + before), {name: file}),
        (descriptor("s3://other/a%20b.bin", "p", len(data), len(positions), 1 + before), {"s3://other/a b.bin": file}),
    ]
    for text, files in asked:
        assert set(deleted_positions(text, "part.parquet", reader(files))) == positions


GOLDEN_VECTORS = {
    "delta-kernel/table-with-dv-small": [{0, 9}],
    "delta-kernel/with-short-dv": [{0, 1, 2}],
}


@pytest.mark.golden
@pytest.mark.parametrize("table", GOLDEN_VECTORS)
def test_golden_vectors(table: str) -> None:
    root = GOLDEN / table
    if not root.exists():
        pytest.skip("the golden tables are not here")
    lines = [json.loads(line) for log in sorted((root / "_delta_log").glob("*.json")) for line in log.read_text().splitlines()]
    vectors = [line["add"]["deletionVector"] for line in lines if "deletionVector" in line.get("add", {})]
    found = [set(deleted_positions(json.dumps(vector), "part.parquet", below(root))) for vector in vectors]
    assert found == GOLDEN_VECTORS[table]


GOOD = bitmap({1, 5, 1 << 33})
NAME = "^-aqEH.-t@S}K{vb[*k^"
FILE = "deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin"
DAMAGED = {
    "checksum": (descriptor(NAME, "u", len(GOOD), 3, 0), framed(GOOD)[:-1] + b"x"),
    "size": (descriptor(NAME, "u", len(GOOD) - 4, 3, 0), framed(GOOD)),
    "ends early": (descriptor(NAME, "u", len(GOOD), 3, 0), framed(GOOD)[:-6]),
    "magic": (descriptor(NAME, "u", len(GOOD), 3, 0), framed(b"\x00" + GOOD[1:])),
    "early format": (descriptor(NAME, "u", len(GOOD), 3, 0), framed(struct.pack("<I", MAGIC - 1) + GOOD[4:])),
    "bitmap": (descriptor(NAME, "u", 12, 3, 0), framed(GOOD[:4] + bytes([255] * 8))),
    "cardinality": (descriptor(NAME, "u", len(GOOD), 4, 0), framed(GOOD)),
    "negative offset": (descriptor(NAME, "u", len(GOOD), 3, -1), framed(GOOD)),
    "huge": (descriptor(NAME, "u", 1 << 40, 3, 0), framed(GOOD)),
    "alphabet": (descriptor("~~~~~", "i", 4, 3), b""),
    "short inline": (descriptor(base85(GOOD[:8]), "i", len(GOOD), 3), b""),
    "storage type": (descriptor(NAME, "x", 4, 3), b""),
    "not JSON": ("{", b""),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_a_damaged_vector_is_an_error_of_the_table(case: str) -> None:
    text, content = DAMAGED[case]
    with pytest.raises(TableError) as caught:
        deleted_positions(text, "part-0.parquet", reader({FILE: content}))
    assert (caught.value.code, caught.value.where) == ("LP375", "part-0.parquet")
    assert caught.value.why
    assert caught.value.fix


@given(noise=st.binary(max_size=200))
def test_noise_is_never_more_than_an_error(noise: bytes) -> None:
    for text in (descriptor(base85(GOOD[:4] + noise), "i", 4 + len(noise), 1), descriptor(base85(noise), "i", len(noise), 1)):
        with suppress(TableError):
            deleted_positions(text, "part.parquet", reader({}))
