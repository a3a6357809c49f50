"""Running the server: uvicorn, signals, logs.

In: a configuration. Out: a process that answers until SIGTERM, which lets requests under way end, and reads its configuration
again on SIGHUP. A configuration that is wrong then is reported and the old one stays.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
from collections.abc import Callable
from socket import AF_INET, AF_INET6, create_server, socket
from types import FrameType

import uvicorn
from msgspec.structs import replace

from lakeprune.apps.sharing.server.app import LONGEST_HEADERS, Service, application
from lakeprune.apps.sharing.server.config import Config, is_loopback
from lakeprune.apps.sharing.server.connection import Impatient
from lakeprune.apps.sharing.server.recipients import TokenBook
from lakeprune.apps.sharing.server.visit import AUDIT, PROBLEMS
from lakeprune.errors import LakepruneError, TableError, UsageError

BACKLOG = 512
DRAIN = 30  # seconds that requests under way get after SIGTERM


def check_tables(config: Config) -> list[str]:
    """Open every table and every restriction, and look at every path; what is wrong, one message each."""
    from lakeprune.apps.sharing.server.failures import Refusal
    from lakeprune.apps.sharing.server.paths import UnsafePath
    from lakeprune.apps.sharing.server.tables import Tables

    tables, problems = Tables(0), []
    try:
        by_name = {table.full_name.lower(): table for share in config.shares for table in share.tables}
        wheres: dict[str, set[str | None]] = {name: {None} for name in by_name}
        for recipient in config.recipients.values():
            for name, restriction in recipient.where.items():
                wheres[name].add(restriction)
        for name, table in by_name.items():
            try:
                opened = tables.latest(table)
                for where in sorted(wheres[name], key=str):
                    opened.totals(where)
                opened.check_paths()
            except UnsafePath as error:
                problems.append(f"{table.full_name}: {error}")
            except Refusal as refusal:
                problems.append(f"{table.full_name}: {refusal.log or refusal.message}")
            except LakepruneError as error:
                problems.append(f"{table.full_name}: {error}")
    finally:
        tables.close()
    return problems


def check_all(config: Config) -> None:
    """LP385 when a table that is shared cannot be."""
    if problems := check_tables(config):
        raise TableError("LP385", f"{len(problems)} of the shared tables cannot be served", where="\n".join(problems))


def check_start(config: Config, *, insecure_local: bool, tokens: TokenBook) -> None:
    """Refuse to start without anybody who could log in, except on loopback when that is asked for."""
    if insecure_local and not is_loopback(config.host):
        fix = "listen on 127.0.0.1, or leave --insecure-local out"
        raise UsageError("LP296", f"--insecure-local is for loopback, and the address is {config.host}", fix=fix)
    if tokens.is_empty and not insecure_local:
        fix = "`lakeprune share recipient add NAME --config FILE` makes one"
        raise UsageError("LP296", "no recipient has a token, so nobody could log in", fix=fix)


class _Server(uvicorn.Server):
    """uvicorn, with SIGHUP, and a call when it listens."""

    def __init__(self, config: uvicorn.Config, on_hangup: Callable[[], None] | None, on_start: Callable[[int], None]) -> None:
        super().__init__(config)
        self._on_hangup = on_hangup
        self._on_start = on_start

    async def startup(self, sockets: list[socket] | None = None) -> None:
        await super().startup(sockets)
        if self._on_hangup is not None:
            asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, self._on_hangup)
        if self.started:
            self._on_start(self.servers[0].sockets[0].getsockname()[1])

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        super().handle_exit(sig, frame)
        self._captured_signals.clear()  # raised again at the end otherwise: to end as asked is not a failure


def listening(host: str, port: int) -> socket:
    """A socket at this address, LP299 when it cannot be had; port 0 is a free one."""
    try:
        return create_server((host, port), family=AF_INET6 if ":" in host else AF_INET, backlog=BACKLOG)
    except (OSError, OverflowError) as error:
        fix = "choose another port (--port, or `listen` of the configuration), or end what uses this one"
        why = getattr(error, "strerror", None) or str(error)
        raise UsageError("LP299", f"the server cannot listen at {host}, port {port}", why=why, fix=fix) from error


def run(
    service: Service, at: socket, reread: Callable[[], Config] | None, on_start: Callable[[int], None] = lambda _: None
) -> None:
    """Serve until the process is asked to end."""
    _log_to_stderr()

    def hang_up() -> None:
        assert reread is not None, "only a file can be read again"
        try:
            config, waiting = reloaded(service.setup.config, reread())
            service.reload(config)
            rest = f"; a change of {', '.join(waiting)} waits for a restart" if waiting else ""
            PROBLEMS.warning("the configuration was read again%s", rest)
        except LakepruneError as error:
            PROBLEMS.error("the configuration is wrong, and the one before stays: %s", " ".join(str(error).split()))

    _Server(settings(service), None if reread is None else hang_up, on_start).run([at])


def reloaded(before: Config, after: Config) -> tuple[Config, list[str]]:
    """What a running server takes from a configuration, and the settings that it cannot change any more."""
    settled = {
        "endpoint": () if before.prefix == after.prefix else ("endpoint",),  # the paths that are answered, not the host
        "listen": ("host", "port"),
        "tls": ("tls",),
        "trusted_proxies": ("trusted_proxies",),
    }
    changed = {
        name: fields for name, fields in settled.items() if any(getattr(before, each) != getattr(after, each) for each in fields)
    }
    return replace(after, **{each: getattr(before, each) for fields in changed.values() for each in fields}), list(changed)


def settings(service: Service) -> uvicorn.Config:
    """How uvicorn runs the server."""
    config = service.setup.config
    return uvicorn.Config(
        application(service),
        http=Impatient,
        ws="none",
        lifespan="on",
        access_log=False,
        log_level="warning",
        server_header=False,
        proxy_headers=bool(config.trusted_proxies),
        forwarded_allow_ips=list(config.trusted_proxies),
        h11_max_incomplete_event_size=LONGEST_HEADERS,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=DRAIN,
        backlog=BACKLOG,
        ssl_certfile=None if config.tls is None else config.tls.certificate,
        ssl_keyfile=None if config.tls is None else config.tls.key,
    )


def _log_to_stderr() -> None:
    """Audit lines and problems, one line each."""
    # An answer that was cut off: the problem is reported already, under the id of its request.
    logging.getLogger("uvicorn.error").addFilter(lambda record: "without completing response" not in record.getMessage())
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(message)s"))
    for logger, level in ((AUDIT, logging.INFO), (PROBLEMS, logging.INFO)):
        logger.handlers[:] = [handler]
        logger.setLevel(level)
        logger.propagate = False
