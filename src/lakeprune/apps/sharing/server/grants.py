"""What a recipient may see: every route resolves names here, with the recipient's own grants.

In: a configuration. Out: shares, schemas and tables of one recipient. What is not granted and what does not exist are the same
answer, found in the same way.
"""

from __future__ import annotations

from hashlib import sha256

from msgspec import Struct

from lakeprune.apps.sharing.server.config import Config, Recipient, Share, SharedTable
from lakeprune.apps.sharing.server.failures import not_found


class Granted(Struct, frozen=True):
    """A table as one recipient sees it; `where` restricts the files, None shows all."""

    table: SharedTable
    share: Share
    where: str | None

    @property
    def where_digest(self) -> str:
        """What a URL is bound to: when the restriction changes, older URLs end."""
        return "" if self.where is None else sha256(self.where.encode()).hexdigest()[:16]


class Grants:
    """Everything that is shared, by lower-case names."""

    def __init__(self, config: Config) -> None:
        self._shares = {share.name.lower(): share for share in config.shares}
        self._tables = {table.full_name.lower(): table for share in config.shares for table in share.tables}
        self._recipients = config.recipients

    def recipient(self, name: str) -> Recipient | None:
        return self._recipients.get(name)

    def shares(self, recipient: Recipient) -> list[Share]:
        return sorted((self._shares[name] for name in set(recipient.shares)), key=lambda share: share.name)

    def share(self, recipient: Recipient, name: str) -> Share:
        found = self._shares.get(name.lower())
        if found is None or name.lower() not in recipient.shares:
            raise not_found()
        return found

    def schema(self, recipient: Recipient, share: str, schema: str) -> list[SharedTable]:
        found = self.share(recipient, share)
        if schema.lower() not in {each.lower() for each in found.schemas}:
            raise not_found()
        return sorted((t for t in found.tables if t.schema.lower() == schema.lower()), key=lambda t: t.name)

    def table(self, recipient: Recipient, full_name: str) -> Granted:
        """By share.schema.table: a share's name may have dots, the others may not."""
        share = full_name.rsplit(".", 2)[0]
        found = self._tables.get(full_name.lower())
        if found is None or share.lower() not in recipient.shares:
            raise not_found()
        return Granted(found, self._shares[share.lower()], recipient.where.get(full_name.lower()))
