"""Where in which object store a table lies.

In: a location as the user wrote it. Out: `ObjectLocation`. A location that carries a secret (a password, a signed query) is
refused, and no message ever repeats one: `without_secrets` is what may be shown of any location.
"""

from __future__ import annotations

import re
from enum import Enum
from urllib.parse import unquote

from msgspec import Struct

from lakeprune.errors import TableError, UsageError


class Store(Enum):
    S3 = "S3"
    AZURE = "Azure"
    GCS = "GCS"


SCHEMES = {
    "s3": Store.S3, "s3a": Store.S3,
    "az": Store.AZURE, "azure": Store.AZURE, "adl": Store.AZURE, "abfs": Store.AZURE, "abfss": Store.AZURE,
    "gs": Store.GCS,
}  # fmt: skip
_AZURE_HOST = re.compile(r"(?P<account>[a-z0-9]{3,24})\.(?:dfs|blob)\.[a-z0-9.-]+", re.ASCII)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,254}|\$root", re.ASCII)


class ObjectLocation(Struct, frozen=True):
    store: Store
    bucket: str  # what Azure calls a container
    prefix: str  # the table's directory, decoded, without slashes at its ends; "" is the whole bucket
    account: str | None  # Azure only, when the location names it
    shown: str


def object_location(location: str) -> ObjectLocation:
    """
    >>> object_location("s3a://lake/raw/events/").prefix
    'raw/events'
    >>> object_location("abfss://lake@acme.dfs.core.windows.net/events").account
    'acme'
    """
    scheme, _, rest = location.partition("://")
    store = SCHEMES.get(scheme.lower())
    shown = without_secrets(location)
    if store is None:
        fix = f"give a local path, a file:// URL, or one of {', '.join(f'{name}://' for name in SCHEMES)}"
        raise TableError("LP303", f"{scheme}:// locations cannot be read", where=shown, fix=fix)
    host, _, path = rest.partition("/")
    bucket, account = host, None
    if store is Store.AZURE and "@" in host:
        bucket, _, account_host = host.partition("@")
        match = _AZURE_HOST.fullmatch(account_host.lower())
        if match is None:
            fix = "write abfss://CONTAINER@ACCOUNT.dfs.core.windows.net/PATH"
            raise UsageError("LP232", f"{shown} does not name a storage account", fix=fix)
        account = match["account"]
    if shown != location.strip() or ":" in bucket:
        fix = "give credentials with --option, --env-creds or --profile; write ? and # of a path as %3F and %23"
        raise UsageError("LP232", "the location contains more than a place, perhaps a secret", where=shown, fix=fix)
    if not _NAME.fullmatch(bucket):
        kind = "container" if store is Store.AZURE else "bucket"
        raise UsageError("LP232", f"{shown} does not name a {kind}", fix="see the examples in `--help`")
    prefix = "/".join(part for part in unquote(path).split("/") if part)
    if any(part in (".", "..") for part in prefix.split("/")):
        raise UsageError("LP232", f"{shown} contains '.' or '..' segments", fix="write the path without . and ..")
    return ObjectLocation(store, bucket, prefix, account, shown)


def without_secrets(location: str) -> str:
    """What may be shown of a location: no user, no password, no query.

    >>> without_secrets("s3://AKIA:hidden@lake/t?X-Amz-Signature=hidden")
    's3://lake/t'
    >>> without_secrets("abfss://lake@acme.dfs.core.windows.net/t")
    'abfss://lake@acme.dfs.core.windows.net/t'
    """
    bare = re.split(r"[?#]", location.strip(), maxsplit=1)[0]
    scheme, separator, rest = bare.partition("://")
    host = rest.partition("/")[0]
    if ":" in host:  # a password may hold slashes, so it ends with the last @
        return f"{scheme}://{rest.rpartition('@')[2] if '@' in rest else '...'}"
    if "@" in host and not scheme.lower().startswith("abfs"):
        return f"{scheme}://{rest.partition('@')[2]}"
    return bare if separator else location
