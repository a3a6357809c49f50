"""`lakeprune serve`: a Delta Sharing server, from a configuration or for one table on this machine."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lakeprune.cli.output import deliver, tell
from lakeprune.cli.parser import parsed
from lakeprune.errors import EXIT_OK, UsageError
from lakeprune.extras import install_line

if TYPE_CHECKING:
    from lakeprune.apps.sharing.server.config import Config

_WHAT = "Serve tables by the Delta Sharing protocol: hints of clients prune files and never lose a row."
_EXAMPLES = """\
examples:
  lakeprune serve --share demo=./orders                   one table, on this machine; prints a profile
  lakeprune serve --config shares.yaml --check            is everything in order?
  lakeprune serve --config shares.yaml

exit codes: 0 ended as asked, 2 usage or configuration error, 3 a table cannot be served
"""
_OPEN = "everybody"  # the recipient of --insecure-local


def run(command: str, argv: Sequence[str]) -> int:
    """Serve until the process is asked to end."""
    given = parsed(command, _WHAT, _EXAMPLES, argv)
    check_installed()
    if (given.config is None) == (given.share is None):
        fix = "give --config FILE, or --share NAME=TABLE for one table on this machine"
        raise UsageError("LP202", "what to serve was not named, or named twice", where="lakeprune serve", fix=fix)
    return _one_table(given) if given.config is None else _configured(given)


def _configured(given: argparse.Namespace) -> int:
    from msgspec.structs import replace

    from lakeprune.apps.sharing.server.app import Service
    from lakeprune.apps.sharing.server.config import Recipient, read_config
    from lakeprune.apps.sharing.server.recipients import TokenBook, new_token
    from lakeprune.apps.sharing.server.run import check_all, check_start, listening, run

    def read() -> Config:
        config = read_config(given.config)
        if not given.insecure_local:
            return config
        everything = Recipient(_OPEN, tuple(share.name.lower() for share in config.shares))
        return replace(config, recipients={**config.recipients, _OPEN: everything})

    config = read()
    anonymous = new_token(_OPEN, None)[1] if given.insecure_local else None
    tokens = TokenBook(config.tokens_path, () if anonymous is None else (anonymous,))
    if given.check:
        check_all(config)
        count = sum(len(share.tables) for share in config.shares)
        deliver(
            [f"{given.config}: {len(config.shares)} shares, {count} tables, {len(config.recipients)} recipients: in order\n"],
            None,
        )
        return EXIT_OK
    check_start(config, insecure_local=bool(given.insecure_local), tokens=tokens)
    if anonymous is not None:
        tell("warning: --insecure-local: every program on this machine can read every table that is shared here")
    with listening(config.host, config.port) as at:
        service = Service(config, tokens, anonymous=anonymous)
        run(service, at, read, lambda port: tell(f"serving {config.endpoint} on {config.host}:{port}"))
    return EXIT_OK


def _one_table(given: argparse.Namespace) -> int:
    from lakeprune.apps.sharing.server.app import Service
    from lakeprune.apps.sharing.server.config import NAME_RULE, Config, Recipient, Share, SharedTable, is_name
    from lakeprune.apps.sharing.server.keys import key_ring, new_key
    from lakeprune.apps.sharing.server.profile import profile_text
    from lakeprune.apps.sharing.server.recipients import TokenBook, new_token
    from lakeprune.apps.sharing.server.run import check_all, listening, run

    name, location = given.share
    if not is_name(name):
        raise UsageError("LP202", f"`{name}` is not a name of a share", where="--share", fix=NAME_RULE)
    if "://" not in location:
        location = os.path.abspath(location)
    table = re.sub(r"[^\w-]", "_", os.path.basename(location.rstrip("/"))) or "table"
    access = {"storage_options": {}, "env_creds": True} if "://" in location else {}
    shared = SharedTable(name, "default", table, location, history=True, access=access)
    with listening("127.0.0.1", given.port or 0) as at:
        port = at.getsockname()[1]
        config = Config(
            f"http://127.0.0.1:{port}/delta-sharing",
            "127.0.0.1",
            port,
            key_ring(new_key()),
            (Share(name, (shared,), ("default",)),),
            {"local": Recipient("local", (name.lower(),))},
            None,
            refresh=0.0,
        )
        check_all(config)
        if given.check:
            deliver([f"{shared.full_name}: in order\n"], None)
            return EXIT_OK
        token, issued = new_token("local", None)
        deliver([profile_text(config.endpoint, token, None)], None)
        tell(f"serving {shared.full_name} at {config.endpoint}; save the profile above as {name}.share, end with Ctrl-C")
        run(Service(config, TokenBook(None, (issued,))), at, None)
    return EXIT_OK


def check_installed() -> None:
    """LP297 when the server's libraries are not there."""
    from importlib.util import find_spec

    for name in ("starlette", "uvicorn", "yaml"):
        if find_spec(name) is None:
            fix = install_line("sharing")
            raise UsageError("LP297", f"the server needs {name}, which is not installed", fix=fix)
