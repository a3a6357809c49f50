"""Avro files written by hand: any schema, with arrays in several blocks or with their sizes, which no library here writes."""

from __future__ import annotations

import bz2
import json
import lzma
import random
import struct
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import cramjam
import zstandard

from lakeprune.formats.iceberg.avro.container import MAGIC

SYNC = bytes(range(16))
CODECS = ("null", "deflate", "bzip2", "xz", "zstandard", "snappy")


def avro_file(
    schema: Any,
    records: Sequence[Any],
    *,
    codec: str = "null",
    per_block: int = 3,
    chance: random.Random | None = None,
    more: Mapping[str, bytes] = {},  # never changed
) -> bytes:
    """A file of these records; `chance` splits arrays and maps into blocks, some with their size; `more` goes into the header."""
    metadata = {"avro.schema": json.dumps(schema).encode(), "avro.codec": codec.encode(), **more}
    header = MAGIC + long(len(metadata)) + b"".join(_bytes(key.encode()) + _bytes(value) for key, value in metadata.items())
    encoder, blocks = _Encoder(chance, schema), []
    for start in range(0, len(records), per_block):
        some = records[start : start + per_block]
        packed = _packed(b"".join(encoder.encoded(schema, record) for record in some), codec)
        blocks.append(long(len(some)) + _bytes(packed) + SYNC)
    return header + long(0) + SYNC + b"".join(blocks)


def long(number: int) -> bytes:
    raw, found = (number << 1) ^ (number >> 63), bytearray()
    while raw > 127:
        found.append(raw & 127 | 128)
        raw >>= 7
    return bytes([*found, raw])


def _bytes(value: bytes) -> bytes:
    return long(len(value)) + value


def _packed(block: bytes, codec: str) -> bytes:
    match codec:
        case "deflate":
            return zlib.compress(block, wbits=-15)
        case "bzip2":
            return bz2.compress(block)
        case "xz":
            return lzma.compress(block)
        case "zstandard":
            return zstandard.compress(block)
        case "snappy":
            return bytes(cramjam.snappy.compress_raw(block)) + zlib.crc32(block).to_bytes(4, "big")
        case _:
            return block


class _Encoder:
    def __init__(self, chance: random.Random | None, schema: Any) -> None:
        self._chance = chance
        self._named: dict[str, Any] = {}
        self._collect(schema)

    def _collect(self, schema: Any) -> None:
        for inner in schema if isinstance(schema, list) else schema.values() if isinstance(schema, dict) else ():
            self._collect(inner)
        if isinstance(schema, dict) and schema.get("type") in ("record", "fixed", "enum"):
            self._named[schema["name"]] = schema

    def encoded(self, schema: Any, value: Any) -> bytes:
        schema = self._named.get(schema, schema) if isinstance(schema, str) else schema
        if isinstance(schema, list):
            branch = next(number for number, each in enumerate(schema) if self._fits(each, value))
            return long(branch) + self.encoded(schema[branch], value)
        kind = schema if isinstance(schema, str) else schema["type"]
        match kind:
            case "null":
                return b""
            case "boolean":
                return bytes([value])
            case "int" | "long":
                return long(value)
            case "float" | "double":
                return struct.pack("<f" if kind == "float" else "<d", value)
            case "bytes" | "string":
                return _bytes(value if isinstance(value, bytes) else value.encode())
            case "fixed":
                return bytes(value)
            case "enum":
                return long(schema["symbols"].index(value))
            case "record":
                return b"".join(self.encoded(field["type"], value[field["name"]]) for field in schema["fields"])
            case "array":
                return self._blocks([self.encoded(schema["items"], item) for item in value])
            case _:
                return self._blocks([_bytes(key.encode()) + self.encoded(schema["values"], each) for key, each in value.items()])

    def _fits(self, schema: Any, value: Any) -> bool:
        """The generated unions have null and at most one other type."""
        return bool((schema == "null") == (value is None))

    def _blocks(self, items: Sequence[bytes]) -> bytes:
        found, start = b"", 0
        while start < len(items):
            size = len(items) - start if self._chance is None else self._chance.randint(1, len(items) - start)
            some = b"".join(items[start : start + size])
            is_sized = self._chance is not None and self._chance.random() < 0.5
            found += (long(-size) + long(len(some)) if is_sized else long(size)) + some
            start += size
        return found + long(0)
