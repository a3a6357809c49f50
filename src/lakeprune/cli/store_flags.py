"""The flags that say how an object store is reached; every command that opens a table takes the same.

In: the command's parser. Out: the access arguments of `planning.opening`. The value of an option may be a secret, so it is in no
message, not even in one about a flag that does not exist.
"""

from __future__ import annotations

import argparse
import re
import sys
from typing import Any

from lakeprune.cli.values import size

_PLAIN = ("env_creds", "region", "profile", "public", "cache_dir", "no_cache", "cache_size")


def add_store_flags(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("object stores (s3://, s3a://, az://, abfss://, gs://)")
    group.add_argument(
        "--option", metavar="K=V", action="append", type=_assignment, help="a storage option by its delta-rs name; repeatable"
    )
    group.add_argument(
        "--env-creds", action="store_true", help="use what this machine offers: the default profile, its own identity"
    )
    group.add_argument("--region", metavar="NAME", help="the bucket's region (S3)")
    group.add_argument("--profile", metavar="NAME", help="keys and region from this profile of the AWS files (S3)")
    group.add_argument("--public", action="store_true", help="the store asks for no credentials")
    group.add_argument(
        "--cache-dir", metavar="DIR", help="where fetched log files are kept (default: the user's cache directory)"
    )
    group.add_argument("--no-cache", action="store_true", help="keep no log file, and use none that was kept")
    group.add_argument("--cache-size", metavar="SIZE", type=size, help="how much the cache may keep (default 2GiB)")


def access_of(given: argparse.Namespace) -> dict[str, Any]:
    """What the flags say; nothing when none was given."""
    access: dict[str, Any] = {name: value for name in _PLAIN if (value := getattr(given, name)) not in (None, False)}
    if given.option:
        access["storage_options"] = dict(given.option)
    if "://" in (given.table or "") and sys.stderr is not None and sys.stderr.isatty():
        from lakeprune.cli.progress import TerminalProgress

        access["progress"] = TerminalProgress()
    return access


def without_values(message: str) -> str:
    """A message of the parser, which repeats what it does not understand, without what may be secret in it.

    >>> without_values("unrecognized arguments: --optoin aws_secret_access_key=hidden")
    'unrecognized arguments: --optoin aws_secret_access_key=...'
    """
    from lakeprune.storage.object.location import without_secrets

    known = re.sub(r"\w+://\S+", lambda match: without_secrets(match[0]), message)
    return re.sub(r"([A-Za-z_][\w.]*)=\S+", r"\1=...", known)


def _assignment(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not separator or not name.strip():
        raise argparse.ArgumentTypeError("write it as NAME=VALUE")
    return name.strip(), value
