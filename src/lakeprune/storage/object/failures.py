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
_KINDS = {
    "TimedOut": "no answer in time",
    "timed out": "no answer in time",
    "dns error": "the host is not known",
    "ConnectionRefused": "connection refused",
    "ConnectionReset": "the connection was cut",
    "IncompleteMessage": "the connection was cut",
    "IncompleteBody": "the connection was cut",
    "UnexpectedEof": "the connection was cut",
    "certificate": "its certificate is not trusted",
    "builder error": "plain http is not allowed without --option allow_http=true",
}


def store_failure(message: str, what: str, attempts: int, location: ObjectLocation, settings: ClientSettings) -> LakepruneError:
    """The error to show for a request that failed for good."""
    found, code, retries = _STATUS.search(message), _CODE.search(message), _RETRIES.search(message)
    status = found[1] if found else ""
    answer = f"HTTP {status}" + (f" {code[1]}" if code else "") if status else ""
    store, kind = location.store.value, "container" if location.store is Store.AZURE else "bucket"

    def failure(number: str, summary: str, fix: str, why: str = answer) -> TableError:
        return TableError(number, summary, where=f"{location.shown}: {what}", why=why, fix=fix)

    if code is not None and code[1] in _BUCKET_CODES:
        return failure("LP333", f"there is no {kind} {location.bucket}", "check its name, the account and the endpoint")
    if status in ("401", "403"):
        return failure("LP332", f"{store} refuses these credentials", _CHECK[location.store])
    if status in ("301", "307", "308") or "redirect without LOCATION" in message:
        return failure("LP332", "the bucket lies in another region", "name it with --region")
    if "token request" in message or ("credential" in message.lower() and not status):
        return failure("LP334", "this machine offers no credentials", _CHECK[location.store], answer or _kind(message))
    attempts = int(retries[1]) + 1 if retries else attempts
    fix = (
        f"check the endpoint and the network; --option timeout=60s waits longer than {settings.timeout:g}s, "
        f"--option max_retries=10 tries again more than {settings.max_retries} times"
    )
    why = f"{answer or _kind(message)}, {attempts} attempt{'' if attempts == 1 else 's'}"
    return failure("LP331", f"{store} does not answer as it should", fix, why)


def wrong_option(name: str | None, *, is_unknown: bool) -> UsageError:
    """The error to show when the client does not take an option. Its value is not repeated."""
    if name is None:
        return UsageError("LP231", "several storage options are not usable", fix="check their names and values")
    if is_unknown:
        return UsageError("LP231", f"there is no storage option `{name}`", fix="the names are those of delta-rs")
    return UsageError("LP231", f"the value of storage option `{name}` cannot be used", fix="check it")


def _kind(message: str) -> str:
    return next((meaning for sign, meaning in _KINDS.items() if sign in message), "the request failed")
