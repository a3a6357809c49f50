"""What a handler gets: the request without its transport, and the part of the server that answers it.

In: nothing. Out: types. A handler is a plain function from `Call` to a response; it runs in a thread and may block.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from msgspec import Struct

from lakeprune.apps.sharing.server.capabilities import Capabilities
from lakeprune.apps.sharing.server.config import Config, Recipient
from lakeprune.apps.sharing.server.failures import invalid, unsupported
from lakeprune.apps.sharing.server.grants import Granted, Grants
from lakeprune.apps.sharing.server.metrics import Metrics
from lakeprune.apps.sharing.server.recipients import Issued, TokenBook
from lakeprune.apps.sharing.server.tables import Opened, Tables
from lakeprune.apps.sharing.server.visit import Visit


class Setup(Struct, frozen=True):
    """One reading of the configuration; a request keeps the one that it began with."""

    config: Config
    grants: Grants
    tokens: TokenBook


class Call(Struct, frozen=True):
    setup: Setup
    tables: Tables
    metrics: Metrics
    visit: Visit
    recipient: Recipient
    issued: Issued
    names: Mapping[str, str]  # of the path
    query: Mapping[str, str]
    headers: Mapping[str, str]
    capabilities: Capabilities
    body: bytes = b""

    def granted(self) -> Granted:
        """The table that the path names; 404 when it does not exist or is not the recipient's."""
        found = self.setup.grants.table(self.recipient, ".".join(self.names[name] for name in ("share", "schema", "table")))
        self.visit.table = found.table.full_name
        return found

    def answered(self, opened: Opened) -> Opened:
        """Notes the version for the audit log."""
        self.visit.version = opened.version
        return opened


def opened_at(call: Call, granted: Granted, version: int | None, timestamp: str | None) -> Opened:
    """The version asked for, or the latest; history must be shared for anything but the latest."""
    table = granted.table
    if version is None and timestamp is None:
        return call.answered(call.tables.latest(table))
    check_history(granted)
    if version is None:
        with call.tables.history(table) as history:
            version = history.version_at(micros_of(str(timestamp), "timestamp"))
    check_start(granted, version)
    return call.answered(call.tables.at(table, version))


def check_history(granted: Granted) -> None:
    if not granted.table.history:
        raise unsupported("the history of this table is not shared: ask for its latest version, or ask the provider for history")
    if granted.where is not None:
        raise unsupported("the history of a table that is restricted for you is not available; ask for its latest version")


def check_start(granted: Granted, version: int) -> None:
    """400 for a version that is older than what is shared."""
    if version < granted.table.start_version:
        raise invalid(f"versions before {granted.table.start_version} are not shared")


def micros_of(text: str, name: str) -> int:
    """A point in time in microseconds since the epoch; 400 for text without an offset."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise invalid(f"{name} is not a point in time; write it like 2024-01-31T12:00:00Z")
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
