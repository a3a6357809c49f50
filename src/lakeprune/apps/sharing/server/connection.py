"""One connection of uvicorn, which is not waited for without end.

In: bytes from outside. Out: requests for the application. uvicorn waits for ever for the head of a request, and for whoever
reads its answer before it lets a connection go; here a head has its time, and `abort` is there for who takes nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, MutableMapping
from typing import Any, ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

_ABORT = "lakeprune.abort"


class Impatient(H11Protocol):
    patience: ClassVar[float] = 30.0  # seconds for the head of a request, however slowly it trickles in

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn does
        super().connection_made(transport)
        self._deadline = self.loop.call_later(self.patience, self._give_up)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._relax()
        elif self._deadline is None:  # the beginning of another request
            self._deadline = self.loop.call_later(self.patience, self._give_up)

    def handle_events(self) -> None:
        super().handle_events()
        if self.scope is not None:  # the application runs after this, and takes it from there
            self.scope.setdefault("state", {})[_ABORT] = self.transport.abort

    def connection_lost(self, exc: Exception | None) -> None:
        self._relax()
        super().connection_lost(exc)

    def _relax(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        self._deadline = None
        self.transport.abort()


def abort_of(scope: MutableMapping[str, Any]) -> Callable[[], None]:
    """What ends the connection of a request at once, without waiting for what its reader has not taken."""
    found: Callable[[], None] = scope.get("state", {}).get(_ABORT, _nothing)
    return found


def _nothing() -> None:
    """Under another server there is nothing to end."""
