"""Avro's object container: the header, and the blocks of records behind it.

In: the bytes of a file. Out: `Header`, and each block's number of records with its bytes, decompressed. Every length is checked
against what is there, and nothing that a block unpacks to grows beyond a limit. A codec that needs a library is used when
that can be imported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct

from lakeprune.formats.iceberg.avro.schema import AvroError

MAGIC = b"Obj\x01"
SYNC = 16  # bytes of the mark after each block
LARGEST_FILE = 1 << 30
LARGEST_BLOCK = 1 << 28  # decompressed
_MOST_OF_A_BYTE = 1032  # bytes that deflate makes of one
_XZ_MEMORY = 1 << 28
EMPTY_RECORDS = 1 << 10  # records without any byte that a block may claim to have

Unpack = Callable[[bytes], bytes]


class UnknownCodec(AvroError):
    """The blocks are compressed in a way that cannot be undone here."""

    def __init__(self, codec: str, library: str | None = None) -> None:
        known = "null, deflate, bzip2, xz, zstandard and snappy are understood"
        super().__init__(f"it is compressed with {codec}, and {f'{library} is not installed' if library else known}")
        self.codec = codec
        self.library = library


class Header(Struct, frozen=True):
    metadata: Mapping[str, bytes]
    sync: bytes
    length: int  # where the blocks begin

    @property
    def schema(self) -> bytes:
        return self.metadata["avro.schema"]

    @property
    def codec(self) -> str:
        return self.metadata.get("avro.codec", b"null").decode("utf-8", "replace")


def read_header(data: bytes) -> Header:
    if data[:4] != MAGIC:
        raise AvroError("it is not an Avro file: its first four bytes are not Obj1")
    if len(data) > LARGEST_FILE:
        raise AvroError(f"it has {len(data):,} bytes, {LARGEST_FILE:,} are the limit")
    metadata: dict[str, bytes] = {}
    try:
        count, place = read_long(data, 4)
        while count:
            if count < 0:
                count = -count
                _, place = read_long(data, place)
            if count > len(data):
                raise AvroError("its header claims more entries than it has bytes")
            for _ in range(count):
                key, place = _bytes(data, place)
                metadata[key.decode()], place = _bytes(data, place)
            count, place = read_long(data, place)
    except (IndexError, UnicodeDecodeError) as error:
        raise AvroError("its header is cut off or damaged") from error
    sync = data[place : place + SYNC]
    if len(sync) < SYNC or "avro.schema" not in metadata:
        raise AvroError("its header is cut off, or contains no schema")
    return Header(metadata, sync, place + SYNC)


def blocks_of(data: bytes, header: Header) -> Iterator[tuple[int, bytes]]:
    """The blocks after the header. A file that ends inside one is damaged: the rest of its records would be lost silently."""
    unpack = _unpacker(header.codec)
    place, end, sync = header.length, len(data), header.sync
    while place < end:
        try:
            count, place = read_long(data, place)
            size, place = read_long(data, place)
        except IndexError as error:
            raise AvroError(f"it ends at byte {end:,} inside a block") from error
        after = place + size + SYNC
        if count < 0 or size < 0 or after > end:
            raise AvroError(f"the block at byte {place:,} goes beyond the end of the file")
        block = unpack(data[place : place + size])
        if not data.startswith(sync, place + size):
            raise AvroError(f"the block that ends at byte {place + size:,} is not followed by the mark of the file")
        place = after
        yield count, block


def read_long(data: bytes, place: int) -> tuple[int, int]:
    """A zigzag number and the place behind it. Raises IndexError at the end of the data.

    >>> read_long(bytes([0x80, 0x01]), 0), read_long(bytes([0x03]), 0)
    ((64, 2), (-2, 1))
    """
    raw = data[place]
    place += 1
    if raw > 127:
        raw, place = read_varint(data, place, raw)
    return raw >> 1 ^ -(raw & 1), place


def read_varint(data: bytes, place: int, first: int) -> tuple[int, int]:
    """The number that begins with this byte, before zigzag, and the place behind it."""
    if first < 128:
        return first, place
    found, shift = first & 127, 7
    while (byte := data[place]) > 127:
        found |= (byte & 127) << shift
        shift += 7
        place += 1
        if shift > 63:
            raise AvroError("a number has more than ten bytes")
    return (found | byte << shift) & 0xFFFF_FFFF_FFFF_FFFF, place + 1  # ten bytes have room for more bits than a number


def zigzag(number: int) -> int:
    """A number as it is before its bits are cut into bytes.

    >>> zigzag(3), zigzag(-3)
    (6, 5)
    """
    return number << 1 if number >= 0 else (-number << 1) - 1


def _bytes(data: bytes, place: int) -> tuple[bytes, int]:
    size, place = read_long(data, place)
    if size < 0 or place + size > len(data):
        raise IndexError
    return data[place : place + size], place + size


def _unpacker(codec: str) -> Unpack:
    match codec:
        case "null":
            return _plain
        case "deflate":
            return _inflater()
        case "bzip2" | "xz":
            return _bzip2 if codec == "bzip2" else _xz
        case "zstandard":
            return _zstandard()
        case "snappy":
            return _snappy()
        case _:
            raise UnknownCodec(codec)


def _plain(block: bytes) -> bytes:
    return block


def _inflater() -> Unpack:
    import zlib

    surely_small = LARGEST_BLOCK // _MOST_OF_A_BYTE

    def unpack(block: bytes) -> bytes:
        try:
            if len(block) <= surely_small:
                return zlib.decompress(block, -15)  # PyIceberg leaves three bytes of a checksum behind it, which this ignores
            inflate = zlib.decompressobj(-15)
            unpacked = inflate.decompress(block, LARGEST_BLOCK)
        except zlib.error as error:
            raise AvroError(f"a block cannot be decompressed: {error}") from error
        return _whole(unpacked, is_whole=inflate.eof)

    return unpack


def _bzip2(block: bytes) -> bytes:
    import bz2

    decompressor = bz2.BZ2Decompressor()
    try:
        unpacked = decompressor.decompress(block, LARGEST_BLOCK)
    except OSError as error:
        raise AvroError(f"a block cannot be decompressed: {error}") from error
    return _whole(unpacked, is_whole=decompressor.eof)


def _xz(block: bytes) -> bytes:
    import lzma

    decompressor = lzma.LZMADecompressor(memlimit=_XZ_MEMORY)
    try:
        unpacked = decompressor.decompress(block, LARGEST_BLOCK)
    except lzma.LZMAError as error:
        raise AvroError(f"a block cannot be decompressed: {error}") from error
    return _whole(unpacked, is_whole=decompressor.eof)


def _zstandard() -> Unpack:
    try:
        import zstandard
    except ImportError as error:
        raise UnknownCodec("zstandard", "zstandard") from error
    make, failure = zstandard.ZstdDecompressor, zstandard.ZstdError

    def unpack(block: bytes) -> bytes:
        try:
            with make().stream_reader(block) as stream:
                unpacked = stream.read(LARGEST_BLOCK + 1)
        except failure as error:
            raise AvroError(f"a block cannot be decompressed: {error}") from error
        return _whole(unpacked, is_whole=len(unpacked) <= LARGEST_BLOCK)

    return unpack


def _snappy() -> Unpack:
    try:
        import cramjam
    except ImportError as error:
        raise UnknownCodec("snappy", "cramjam") from error
    from zlib import crc32

    snappy, failure = cramjam.snappy, cramjam.DecompressionError

    def unpack(block: bytes) -> bytes:
        packed, check = block[:-4], block[-4:]
        try:
            size, _ = read_varint(packed, 1, packed[0])  # a snappy block begins with its length
            _whole(b"", is_whole=size <= LARGEST_BLOCK)
            unpacked = bytes(snappy.decompress_raw(packed))
        except (failure, IndexError) as error:
            raise AvroError(f"a block cannot be decompressed: {error}") from error
        return _whole(unpacked, is_whole=crc32(unpacked).to_bytes(4, "big") == check)

    return unpack


def _whole(unpacked: bytes, *, is_whole: bool) -> bytes:
    if not is_whole:
        raise AvroError(f"a block is damaged, or larger than {LARGEST_BLOCK:,} bytes when it is decompressed")
    return unpacked
