"""One request, as the audit log will have it: who asked for what, and what it got.

In: what the parts of the server learn on the way. Out: one line of JSON. Never a token, a signature, or a path; control
characters are escaped by the encoding.
"""

from __future__ import annotations

import logging
import time
import uuid

import msgspec

AUDIT = logging.getLogger("lakeprune.sharing.audit")
PROBLEMS = logging.getLogger("lakeprune.sharing")
MOST_IGNORED = 5  # hints with their reasons: a request must not fill the log
LONGEST_METHOD = 16


class Visit:
    def __init__(self, method: str, route: str, address: str) -> None:
        self.id = uuid.uuid4().hex[:16]
        self.method = method[:LONGEST_METHOD]
        self.route = route  # the template of the path: no signed URL is ever logged
        self.address = address
        self.started = time.monotonic()
        self.status = 0
        self.recipient: str | None = None
        self.table: str | None = None
        self.version: int | None = None
        self.files_offered: int | None = None
        self.files_total: int | None = None
        self.bytes_sent = 0
        self.hints: str | None = None
        self.ignored: list[str] = []
        self.problem: str | None = None

    def line(self) -> str:
        """The audit line; what is not known is left out."""
        more = len(self.ignored) - MOST_IGNORED
        ignored = [*self.ignored[:MOST_IGNORED], *([f"{more} more"] if more > 0 else [])]
        about = {
            "id": self.id,
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "recipient": self.recipient,
            "method": self.method,
            "route": self.route,
            "status": self.status,
            "table": self.table,
            "version": self.version,
            "files_offered": self.files_offered,
            "files_total": self.files_total,
            "bytes": self.bytes_sent,
            "hints": self.hints,
            "ignored": ignored or None,
            "address": self.address,
            "ms": round((time.monotonic() - self.started) * 1000, 1),
        }
        return msgspec.json.encode({key: value for key, value in about.items() if value is not None}).decode()

    def tell(self, problem: str) -> None:
        """What the operator should know, under the id that the recipient can name."""
        self.problem = problem
        PROBLEMS.error("%s", msgspec.json.encode({"id": self.id, "problem": problem}).decode())
