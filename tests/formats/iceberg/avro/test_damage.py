"""Avro files that are cut off, flipped or too large end in AvroError: never in another exception, a hang, or fewer records."""

from __future__ import annotations

import random
import sys
from functools import lru_cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakeprune.formats.iceberg.avro import container
from lakeprune.formats.iceberg.avro.container import UnknownCodec, blocks_of, read_header
from lakeprune.formats.iceberg.avro.reader import Reader, read_columns
from lakeprune.formats.iceberg.avro.schema import AvroError, parse_schema
from lakeprune.formats.iceberg.avro.wanted import Name, Wanted
from tests.formats.iceberg.avro.writer import CODECS, SYNC, avro_file, long
from tests.scope import IS_WHOLE

_SCHEMA = {
    "type": "record",
    "name": "row",
    "fields": [
        {"name": "number", "type": ["null", "long"]},
        {"name": "text", "type": "string"},
        {"name": "bounds", "type": {"type": "array", "items": {"type": "record", "name": "e", "fields": [
            {"name": "key", "type": "int"}, {"name": "value", "type": "bytes"}]}}},
        {"name": "flag", "type": "boolean"},
        {"name": "real", "type": "double"},
        {"name": "skipped", "type": {"type": "map", "values": "long"}},
    ],
}  # fmt: skip
_WANTED = [
    Wanted((Name(None, "number"),)),
    Wanted((Name(None, "text"),)),
    Wanted((Name(None, "bounds"),), 2),
    Wanted((Name(None, "flag"),)),
    Wanted((Name(None, "real"),)),
]


def _rows(count: int) -> list[dict[str, Any]]:
    return [
        {
            "number": None if n % 4 == 0 else n * 1_000_003,
            "text": f"path-{n:040}",
            "bounds": [{"key": 1, "value": b"a"}, {"key": 2, "value": n.to_bytes(8, "little")}],
            "flag": n % 2 == 0,
            "real": n / 7,
            "skipped": {"a": n, "b": 0},
        }
        for n in range(count)
    ]


_ROWS = _rows(40)


def _read(data: bytes, patience: int = 1) -> list[list[Any]]:
    header = read_header(data)
    return _reader(header.schema, patience).read(blocks_of(data, header))


@lru_cache
def _reader(schema: bytes, patience: int) -> Reader:
    return Reader(parse_schema(schema), _WANTED, patience)


@pytest.mark.parametrize("codec", CODECS)
def test_a_file_that_is_cut_off_anywhere_is_damaged_unless_it_ends_with_a_block(codec: str) -> None:
    data = avro_file(_SCHEMA, _ROWS[:12], codec=codec, per_block=4)
    whole, first = read_columns(data, _WANTED), read_header(data).length
    assert len(whole[0]) == 12
    for length in range(len(data)):
        try:
            found = read_columns(data[:length], _WANTED)
        except AvroError:
            continue
        # Avro does not record how many blocks a file has: whoever reads a manifest compares with the counts of its list.
        assert data[:length].endswith(SYNC)
        assert length >= first
        assert found == [column[: len(found[0])] for column in whole]


@pytest.mark.parametrize("codec", CODECS)
@settings(max_examples=1000 if IS_WHOLE else 40)
@given(seed=st.integers(0, 2**32))
def test_flipped_bits_are_found_or_change_values_only(codec: str, seed: int) -> None:
    chance = random.Random(seed)
    data = bytearray(avro_file(_SCHEMA, _ROWS, codec=codec, per_block=7))
    for _ in range(chance.randint(1, 3)):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    for patience in (1, 1 << 30):
        try:
            found = _read(bytes(data), patience)
        except AvroError:
            continue
        assert len({len(column) for column in found}) == 1


def test_templates_and_decoder_judge_damage_alike() -> None:
    """A template must not accept what the decoder refuses: both are run over the same damaged blocks."""
    whole = avro_file(_SCHEMA, _ROWS, per_block=40)
    assert _read(whole) == read_columns(whole, _WANTED)
    start = read_header(whole).length + 4
    accepted = 0
    for place in range(start, start + (900 if IS_WHOLE else 200)):
        for bit in range(8):
            data = bytearray(whole)
            data[place] ^= 1 << bit
            answers = []
            for patience in (1, 1 << 30):
                try:
                    answers.append(repr(_read(bytes(data), patience)))
                except AvroError:
                    answers.append("damaged")
            assert answers[0] == answers[1], (place, bit)
            accepted += answers[0] != "damaged"
    assert accepted  # a flipped value is not damage that Avro could show


@pytest.mark.parametrize("codec", ["deflate", "bzip2", "xz", "zstandard", "snappy"])
def test_a_block_that_unpacks_to_more_than_the_limit_is_refused(codec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data = avro_file(_SCHEMA, [{**_ROWS[1], "text": "x" * 300_000}], codec=codec)
    assert len(data) < 2000 or codec == "snappy"
    monkeypatch.setattr(container, "LARGEST_BLOCK", 1 << 17)
    with pytest.raises(AvroError, match="larger than 131,072 bytes"):
        read_columns(data, _WANTED)


def test_a_file_above_the_limit_is_refused_before_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(container, "LARGEST_FILE", 100)
    with pytest.raises(AvroError, match="100 are the limit"):
        read_columns(avro_file(_SCHEMA, _ROWS), _WANTED)


def _with_block(schema: Any, count: int, block: bytes) -> bytes:
    return avro_file(schema, []) + long(count) + long(len(block)) + block + SYNC


@pytest.mark.parametrize(
    ("field", "count", "block", "is_found_when_skipped"),
    [
        ("long", 2**62, b"\x02", True),  # more records than bytes
        ("null", 2**62, b"", True),
        ({"type": "array", "items": "double"}, 1, long(2**60) + b"\0" * 16, True),  # more items than bytes
        ({"type": "array", "items": "null"}, 1, long(2**60) + b"\0", True),
        ({"type": "map", "values": "null"}, 1, long(2**60) + b"\0", True),
        ("string", 1, long(2**60) + b"x", True),  # longer than the block
        ("string", 1, long(-5) + b"xxxxx", True),  # a negative length
        ("string", 1, long(2) + b"\xff\xff", False),  # not UTF-8
        ("long", 1, b"\xff" * 12 + b"\x01", False),  # a number without an end
        ("boolean", 1, b"\x02", False),
        (["null", "long"], 1, b"\x04", True),  # no such branch
        ({"type": "enum", "name": "e", "symbols": ["A"]}, 1, b"\x02", False),
        ("long", 1, b"\x02\x02", True),  # bytes left over
        ("long", -1, b"", True),
    ],
)
def test_impossible_numbers_are_found(field: Any, count: int, block: bytes, is_found_when_skipped: bool) -> None:
    schema = {"type": "record", "name": "row", "fields": [{"name": "x", "type": field}]}
    data = _with_block(schema, count, block)
    with pytest.raises(AvroError):
        read_columns(data, [Wanted((Name(None, "x"),))])
    if is_found_when_skipped:
        with pytest.raises(AvroError):
            read_columns(data, [])
    else:
        assert read_columns(data, []) == []


def test_an_unknown_codec_is_named() -> None:
    data = avro_file(_SCHEMA, _ROWS).replace(b"\x14avro.codec\x08null", b"\x14avro.codec\x08lzo9")
    with pytest.raises(UnknownCodec, match="compressed with lzo9"):
        read_columns(data, _WANTED)


@pytest.mark.parametrize(("codec", "library"), [("zstandard", "zstandard"), ("snappy", "cramjam")])
def test_a_codec_whose_library_is_missing_names_both(codec: str, library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data = avro_file(_SCHEMA, _ROWS, codec=codec)
    assert len(read_columns(data, _WANTED)[0]) == len(_ROWS)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(UnknownCodec, match=f"compressed with {codec}, and {library} is not installed"):
        read_columns(data, _WANTED)


@pytest.mark.parametrize(
    "data", [b"", b"Obj", b"PAR1" * 10, b"Obj\x01", b"Obj\x01\x00" + b"\0" * 16, b"Obj\x01" + long(2**50) + b"x"]
)
def test_what_is_not_avro_is_refused(data: bytes) -> None:
    with pytest.raises(AvroError):
        read_columns(data, [])


@pytest.mark.parametrize("patience", [1, 1 << 30], ids=["templates", "decoder"])
@pytest.mark.parametrize("claimed", [0, 1, 39, 41, 80])
def test_a_block_with_another_number_of_records_than_it_claims_is_damaged(claimed: int, patience: int) -> None:
    whole = avro_file(_SCHEMA, _ROWS[:40], per_block=40)
    start = read_header(whole).length
    damaged = whole[:start] + long(claimed) + whole[start + len(long(40)) :]
    _read(avro_file(_SCHEMA, _ROWS[:40], per_block=3), patience)  # templates are learned
    with pytest.raises(AvroError, match="a block is damaged"):
        _read(damaged, patience)
