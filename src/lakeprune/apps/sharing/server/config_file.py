"""The file that says what is shared with whom: its shape, which `schemas/shares.schema.json` publishes.

In: nothing. Out: types. `config.py` reads a file into them and says on which line something is wrong.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

Seconds = Annotated[int, Meta(ge=1)]
Count = Annotated[int, Meta(ge=1)]
SHORTEST_URL_LIFETIME = 1800  # Spark disbelieves an expiry that is nearer than fifteen minutes


class Secret(Struct, frozen=True, forbid_unknown_fields=True):
    """Where a secret is: an environment variable or a file. The secret itself is never written here."""

    env: str | None = None
    file: str | None = None


class TableEntry(Struct, frozen=True, forbid_unknown_fields=True):
    location: Annotated[str, Meta(min_length=1, description="path or URL of a Delta table; a path is relative to this file")]
    history: Annotated[bool, Meta(description="also older versions, and the change data feed")] = False
    start_version: Annotated[int, Meta(ge=0, description="with history: no version below this one")] = 0
    proxy: Annotated[bool, Meta(description="files of an object store come through this server, not by the store's URLs")] = False
    options: Annotated[
        dict[str, str | Secret],
        Meta(description="how it is reached, by delta-rs names; secrets by {env} or {file}"),
    ] = {}
    env_creds: Annotated[bool, Meta(description="use what this machine offers to reach the object store")] = False
    comment: str | None = None


SqlHints = Literal["on", "warn", "off"]


class ShareEntry(Struct, frozen=True, forbid_unknown_fields=True):
    schemas: Annotated[dict[str, dict[str, TableEntry]], Meta(description="schema -> table -> what it is")]
    comment: str | None = None
    sql_hints: Annotated[
        SqlHints | bool, Meta(description="predicateHints are used; warn: with a header and a log line; off: ignored")
    ] = "on"


class RecipientEntry(Struct, frozen=True, forbid_unknown_fields=True):
    shares: Annotated[list[str], Meta(description="names of shares")]
    where: Annotated[
        dict[str, str], Meta(description="share.schema.table -> a condition on partition columns; other files are never shown")
    ] = {}


class LimitsEntry(Struct, frozen=True, forbid_unknown_fields=True):
    requests_per_second: Annotated[Count, Meta(description="of one recipient, in the long run")] = 100
    burst: Annotated[Count, Meta(description="requests of one recipient at once")] = 500
    fetches_per_second: Annotated[Count, Meta(description="requests for files of one recipient, in the long run")] = 1000
    failed_logins_per_minute: Annotated[Count, Meta(description="from one address")] = 30
    streams: Annotated[Count, Meta(description="files that are sent at the same time; half as many long listings")] = 128
    plans: Annotated[Count, Meta(description="queries that are planned at the same time")] = 4
    seconds_per_write: Annotated[Seconds, Meta(description="a client that takes nothing for so long is cut off")] = 60


class TlsEntry(Struct, frozen=True, forbid_unknown_fields=True):
    certificate: str
    key: str


class ConfigFile(Struct, frozen=True, forbid_unknown_fields=True):
    """What `lakeprune serve --config` reads."""

    endpoint: Annotated[
        str,
        Meta(pattern="^https?://[^/?#]+(/[^?#]*)?$", description="how recipients reach the server: https://host/delta-sharing"),
    ]
    keys: Annotated[Secret, Meta(description="the signing keys: one `id:hex` per line, the first one signs, all verify")]
    shares: dict[str, ShareEntry]
    recipients: dict[str, RecipientEntry]
    listen: Annotated[str, Meta(description="address and port; beside loopback only with tls or behind_proxy")] = "127.0.0.1:8686"
    tokens: Annotated[str | None, Meta(description="where hashes of tokens are kept (default: beside this file)")] = None
    tls: TlsEntry | None = None
    behind_proxy: Annotated[bool, Meta(description="a proxy in front of the server ends TLS")] = False
    trusted_proxies: Annotated[list[str], Meta(description="addresses whose X-Forwarded-For is believed")] = []
    url_lifetime: Annotated[int, Meta(ge=SHORTEST_URL_LIFETIME, le=604800, description="seconds that file URLs live")] = 3600
    refresh: Annotated[float, Meta(ge=0, description="seconds for which a listing of a table's log is believed")] = 1.0
    limits: LimitsEntry = LimitsEntry()
