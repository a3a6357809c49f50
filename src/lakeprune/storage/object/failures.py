"""What a failed request to an object store means for the user.

In: the client's message, which may hold addresses with signatures and whole answers of the server. Out: a TableError with facts
only: the kind of failure, the HTTP status, the server's error code. The message itself is never shown.
"""

from __future__ import annotations

import re

from lakeprune.errors import LakepruneError, TableError, UsageError
from lakeprune.storage.object.location import ObjectLocation, Store
from lakeprune.storage.object.options import ClientSettings

_STATUS = re.compile(r"status code: (\d{3})")
_CODE = re.compile(r"<Code>([A-Za-z0-9._-]{1,60})</Code>")
_RETRIES = re.compile(r"after (\d+) retries")
_BUCKET_CODES = ("NoSuchBucket", "ContainerNotFound", "InvalidBucketName", "ContainerBeingDeleted")
_CHECK = {
    Store.S3: "check the keys, the region (--region) and that they may list and read the table's metadata",
    Store.AZURE: "check the account, its key or SAS token, and that they may list and read the table's metadata",
    Store.GCS: "check the service account or token, and that it may list and read the table's metadata",
}


def store_failure(message: str, what: str, attempts: int, location: ObjectLocation, settings: ClientSettings) -> LakepruneError:
    """The error to show for a request that failed for good."""
    status, code, retries = _STATUS.search(message), _CODE.search(message), _RETRIES.search(message)
    answer = f"HTTP {status[1]}" + (f" {code[1]}" if code else "") if status else ""
    where = f"{location.shown}: {what}"
    if code is not None and code[1] in _BUCKET_CODES:
        kind = "container" if location.store is Store.AZURE else "bucket"
        return TableError(
            "LP333",
            f"there is no {kind} {location.bucket}",
            where=where,
            why=answer,
            fix="check its name, the account and the endpoint",
        )
    if status is not None and status[1] in ("401", "403"):
        return TableError(
            "LP332", f"{location.store.value} refuses these credentials", where=where, why=answer, fix=_CHECK[location.store]
        )
    if status is not None and status[1] in ("301", "307", "308"):
        return TableError("LP332", "the bucket lies in another region", where=where, why=answer, fix="name it with --region")
    if "redirect without LOCATION" in message:
        return TableError("LP332", "the bucket lies in another region", where=where, fix="name it with --region")
    if "token request" in message or ("credential" in message.lower() and status is None):
        return TableError(
            "LP334", "this machine offers no credentials", where=where, why=answer or _kind(message), fix=_CHECK[location.store]
        )
    attempts = int(retries[1]) + 1 if retries else attempts
    return TableError(
        "LP331",
        f"{location.store.value} does not answer as it should",
        where=where,
        why=f"{answer or _kind(message)}, {attempts} attempt{'' if attempts == 1 else 's'}",
        fix=f"check the endpoint and the network; --option timeout=60s waits longer than {settings.timeout:g}s, "
        f"--option max_retries=10 tries again more than {settings.max_retries} times",
    )


def wrong_option(name: str | None, *, is_unknown: bool) -> UsageError:
    """The error to show when the client does not take an option. Its value is not repeated."""
    if name is None:
        return UsageError("LP231", "several storage options are not usable", fix="check their names and values")
    if is_unknown:
        return UsageError("LP231", f"there is no storage option `{name}`", fix="the names are those of delta-rs")
    return UsageError("LP231", f"the value of storage option `{name}` cannot be used", fix="check it")


def _kind(message: str) -> str:
    for sign, meaning in (
        ("TimedOut", "no answer in time"),
        ("timed out", "no answer in time"),
        ("dns error", "the host is not known"),
        ("ConnectionRefused", "connection refused"),
        ("ConnectionReset", "the connection was cut"),
        ("IncompleteMessage", "the connection was cut"),
        ("IncompleteBody", "the connection was cut"),
        ("UnexpectedEof", "the connection was cut"),
        ("certificate", "its certificate is not trusted"),
        ("builder error", "plain http is not allowed without --option allow_http=true"),
    ):
        if sign in message:
            return meaning
    return "the request failed"
