"""The `delta-sharing-capabilities` header: what a client can read, and the format that it gets.

In: the header and what the table needs. Out: `ResponseFormat`, or a refusal that names the feature. `k=v1,v2;k=v`, in any case;
what is not known is ignored.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from msgspec import Struct

from lakeprune.apps.sharing.server.failures import unsupported
from lakeprune.formats.delta.actions import Declared

HEADER = "delta-sharing-capabilities"
LOG_ONLY = frozenset({"v2Checkpoint", "vacuumProtocolCheck", "catalogManaged", "catalogOwned-preview"})  # concern the log alone
LONGEST = 4096


class ResponseFormat(Enum):
    PARQUET = "parquet"
    DELTA = "delta"


class Capabilities(Struct, frozen=True):
    formats: frozenset[str] = frozenset()
    features: frozenset[str] = frozenset()
    end_stream: bool = False


def capabilities_of(header: str | None) -> Capabilities:
    """
    >>> found = capabilities_of("ResponseFormat=Delta,parquet;readerfeatures=DeletionVectors")
    >>> sorted(found.formats), sorted(found.features)
    (['delta', 'parquet'], ['deletionvectors'])
    """
    given: dict[str, frozenset[str]] = {}
    for part in (header or "")[:LONGEST].lower().split(";"):
        key, _, values = part.partition("=")
        given[key.strip()] = frozenset(value.strip() for value in values.split(",") if value.strip())
    known = {"parquet", "delta"} & given.get("responseformat", frozenset())
    end_stream = "true" in given.get("includeendstreamaction", frozenset())
    return Capabilities(frozenset(known), given.get("readerfeatures", frozenset()), end_stream)


def needed_features(declared: Declared) -> tuple[str, ...]:
    """What a reader of the files must know, by the protocol's names."""
    protocol = declared.protocol
    if protocol.reader_version >= 3:
        return tuple(sorted(set(protocol.reader_features) - LOG_ONLY))
    is_mapped = declared.metadata.configuration.get("delta.columnMapping.mode", "none").lower() != "none"
    return ("columnMapping",) if protocol.reader_version == 2 and is_mapped else ()


def negotiated(asked: Capabilities, declared: Declared, *, has_vectors: bool) -> ResponseFormat:
    """The format of the answer; 400 when the client cannot read the table."""
    needed = needed_features(declared)
    # A table may allow deletion vectors and have none: then a plain reader reads it right.
    blocking = [feature for feature in needed if feature != "deletionVectors" or has_vectors]
    if has_vectors and "deletionVectors" not in blocking:
        blocking.append("deletionVectors")
    if "delta" not in asked.formats:
        if blocking:
            raise _unreadable(blocking, "this table can only be read in delta format")
        return ResponseFormat.PARQUET
    lacking = [feature for feature in blocking if feature.lower() not in asked.features]
    if "parquet" in asked.formats and not needed and not blocking:
        return ResponseFormat.PARQUET
    if lacking:
        raise _unreadable(lacking, "the client does not say that it can read them")
    return ResponseFormat.DELTA


def _unreadable(features: Iterable[str], why: str) -> Exception:
    names = ", ".join(features)
    wanted = names.lower().replace(" ", "")
    return unsupported(
        f"the table uses {names}, and {why}; use a client that sends "
        f"{HEADER}: responseformat=delta;readerfeatures={wanted} (delta-sharing 1.1 or newer, in Spark responseFormat=delta)"
    )
