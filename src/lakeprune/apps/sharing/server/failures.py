"""What a request is refused with: a status, a code of the protocol, a message that says how to mend it.

In: what went wrong. Out: `Refusal`. A message never holds a path, a bucket, SQL of another tenant or a name that the recipient
may not know; what the operator needs is in the log, under the id that the body carries.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from lakeprune.errors import LakepruneError, TableError

INVALID = "INVALID_PARAMETER_VALUE"
MALFORMED = "MALFORMED_REQUEST"
UNSUPPORTED = "UNSUPPORTED_OPERATION"
NOT_FOUND = "RESOURCE_DOES_NOT_EXIST"
UNAUTHENTICATED = "UNAUTHENTICATED"
FORBIDDEN = "PERMISSION_DENIED"
TOO_LARGE = "REQUEST_TOO_LARGE"
TOO_MANY = "RESOURCE_EXHAUSTED"
INTERNAL = "INTERNAL_ERROR"
_TOO_NEW = "LP310"
_GONE = {"LP312": "that version is not available", "LP313": "the table has no version that old"}


class Refusal(Exception):
    """An answer that is not 200."""

    def __init__(
        self, status: int, code: str, message: str, *, headers: Mapping[str, str] = MappingProxyType({}), log: str | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.headers = headers
        self.log = log  # for the operator alone


def invalid(message: str) -> Refusal:
    return Refusal(400, INVALID, message)


def unsupported(message: str) -> Refusal:
    return Refusal(400, UNSUPPORTED, message)


def not_found() -> Refusal:
    """The same for what does not exist and for what the recipient may not see."""
    return Refusal(404, NOT_FOUND, "there is no such share, schema or table; list what you can read with GET /shares")


def unauthenticated() -> Refusal:
    message = "the bearer token is missing, wrong or expired; use the profile file that you were given, or ask for a new one"
    return Refusal(401, UNAUTHENTICATED, message, headers={"WWW-Authenticate": "Bearer"})


def too_many(seconds: int) -> Refusal:
    message = f"too many requests; try again in {seconds} s"
    return Refusal(429, TOO_MANY, message, headers={"Retry-After": str(seconds)})


def of_table(error: LakepruneError) -> Refusal:
    """What is reported to a recipient when a table cannot be read: the reason is the operator's."""
    if isinstance(error, TableError) and error.code in _GONE:
        return Refusal(400, INVALID, _GONE[error.code], log=str(error))
    if error.code == _TOO_NEW:  # not 500, which clients ask for again and again
        message = "the table needs a feature that this server does not know; ask the provider for a newer server"
        return Refusal(400, UNSUPPORTED, message, log=str(error))
    return Refusal(500, INTERNAL, "", log=str(error))
