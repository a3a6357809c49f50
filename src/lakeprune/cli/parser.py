"""From a command's arguments to its parsed flags, by the table of flags; and from those to options of the library.

What the parser does not understand may be a secret (`--option KEY=...`): no message repeats a value.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

from lakeprune.cli.flags import TITLES, Flag, flags_of
from lakeprune.cli.output import deliver
from lakeprune.errors import UsageError


def parsed(command: str, description: str, examples: str, argv: Sequence[str]) -> argparse.Namespace:
    """The flags by the names they have in Python; None where one was not given. Ends with SystemExit after printing help."""
    return _Parser(command, description, examples).parse_args(with_predicates_joined(argv))


def chosen(given: argparse.Namespace, options: Iterable[str]) -> dict[str, Any]:
    """The flags that were given, among these options of the library."""
    return {name: value for name in options if (value := getattr(given, name, None)) is not None}


def with_predicates_joined(argv: Sequence[str]) -> list[str]:
    """`-w PREDICATE` as one argument, so that a predicate may begin with `-`.

    >>> with_predicates_joined(["t", "-w", "-x < 5", "--verbose"])
    ['t', '--where=-x < 5', '--verbose']
    """
    joined: list[str] = []
    rest = list(argv)
    while rest:
        argument = rest.pop(0)
        if argument == "--":
            return [*joined, argument, *rest]
        # `--` starts a comment in SQL, so what begins with it is the next flag and the predicate was forgotten.
        if argument in ("-w", "--where") and rest and not rest[0].startswith("--"):
            argument = f"--where={rest.pop(0)}"
        joined.append(argument)
    return joined


def without_values(message: str) -> str:
    """A message of the parser, which repeats what it does not understand, without what may be secret in it.

    >>> without_values("unrecognized arguments: --optoin aws_secret_access_key=hidden")
    'unrecognized arguments: --optoin aws_secret_access_key=...'
    """
    from lakeprune.storage.object.location import without_secrets

    known = re.sub(r"\w+://\S+", lambda match: without_secrets(match[0]), message)
    return re.sub(r"([A-Za-z_][\w.]*)=\S+", r"\1=...", known)


class _Parser(argparse.ArgumentParser):
    """argparse, with help and errors going the way of every other document and error."""

    def __init__(self, command: str, description: str, examples: str) -> None:
        super().__init__(
            prog=f"lakeprune {command}",
            description=description,
            epilog=examples,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        groups: dict[tuple[str, bool], Any] = {("", False): self}
        for flag in flags_of(command):
            title = TITLES.get((command, flag.group), flag.group)
            if (title, False) not in groups:
                groups[title, False] = self.add_argument_group(title)
            if flag.is_exclusive and (title, True) not in groups:
                groups[title, True] = groups[title, False].add_mutually_exclusive_group()
            groups[title, flag.is_exclusive].add_argument(*_names(flag), **_settings(flag))

    def print_help(self, file: Any = None) -> None:  # noqa: ARG002  # argparse's signature
        deliver([self.format_help()], None)

    def error(self, message: str) -> NoReturn:
        raise UsageError("LP202", without_values(message), where=self.prog, fix=f"see `{self.prog} --help`")


def _names(flag: Flag) -> list[str]:
    return flag.names.split() if flag.names.startswith("-") else [flag.name]


def _settings(flag: Flag) -> dict[str, Any]:
    """The arguments of argparse for a flag. Without a default every flag that is not given is None, also a switch."""
    settings: dict[str, Any] = {"help": flag.help, "default": None, **flag.more}
    if not flag.names.startswith("-"):
        return {**settings, "metavar": flag.metavar, "nargs": None if flag.is_required else "?"}
    settings.update(dest=flag.name, required=flag.is_required)
    if flag.metavar is None and flag.choices is None:
        return {"action": "store_true", **settings}
    return {**settings, "metavar": flag.metavar, "type": flag.type, "choices": flag.choices}
