"""From a command's arguments to its parsed flags, by the table of flags; and from those to options of the library.

What the parser does not understand may be a secret (`--option KEY=...`): no message repeats a value.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, NoReturn

from lakeprune.cli.flags import TITLES, Flag, flags_of
from lakeprune.cli.output import deliver
from lakeprune.cli.spark_session import is_of_this_machine, use_given_zone
from lakeprune.errors import UsageError

_WORDS = (  # texts of argparse, what they are in ours, and what would help
    (r"the following arguments are required: (.+)", "{0} is missing", "give it, see the examples of --help"),
    (r"argument (\S+): expected one argument", "{0} needs a value", "write it after {0}, in quotes where it has blanks"),
    (r"argument (\S+): invalid choice: (.+) \(choose from (.+)\)", "{0}: `{1}` is not one of its values", "choose from {2}"),
    (r"argument (\S+): not allowed with argument (\S+)", "{0} and {1} do not go together", "give one of the two"),
    (r"argument (\S+): ignored explicit argument .+", "{0} takes no value", "write {0} alone"),
)


def parsed(command: str, description: str, examples: str, argv: Sequence[str]) -> argparse.Namespace:
    """The flags by the names they have in Python; None where one was not given. Ends with SystemExit after printing help."""
    parser = _Parser(command, description, examples)
    given, surplus = parser.parse_known_args(with_predicates_joined(argv))
    if surplus:
        raise parser.unknown(surplus, vars(given))
    use_given_zone(given)
    return given


def chosen(given: argparse.Namespace, options: Iterable[str]) -> dict[str, Any]:
    """The flags that were given, among these options of the library."""
    return {name: value for name in options if (value := getattr(given, name, None)) is not None}


def check_early(given: argparse.Namespace) -> None:
    """Refuse a condition that cannot be read and a table of this machine that is not there, before Spark is started for them."""
    from lakeprune.planning.opening import path_of
    from lakeprune.planning.planner import read_all
    from lakeprune.planning.session import SessionOptions, profile_of
    from lakeprune.storage.local import LocalStorage

    read_all([getattr(given, "where", None)], profile_of(**chosen(given, SessionOptions.__annotations__))[0])
    place = path_of(given.table)
    if is_of_this_machine(given) and ("://" not in place or place.startswith("file://")):
        LocalStorage(place)


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

    >>> without_values("'aws_secret_access_key=hidden' is not a whole number")
    "'aws_secret_access_key=...' is not a whole number"
    """
    from lakeprune.storage.object.location import without_secrets

    known = re.sub(r"\w+://\S+", lambda match: without_secrets(match[0]), message)
    return re.sub(r"([A-Za-z_][\w.]*)=[^\s']+", r"\1=...", known)


def in_our_words(message: str) -> tuple[str, str | None]:
    """What is wrong and what would help, from a message of argparse; what our own types say has its fix behind a semicolon.

    >>> in_our_words("argument -w/--where: expected one argument")
    ('--where needs a value', 'write it after --where, in quotes where it has blanks')
    >>> in_our_words("argument --limit: 'x' is not a whole number; give 0 or more")
    ("--limit: 'x' is not a whole number", 'give 0 or more')
    """
    for form, what, fix in _WORDS:
        if match := re.fullmatch(form, message, re.DOTALL):
            parts = [part.split("/")[-1].replace("'", "") for part in match.groups()]
            return what.format(*parts), fix.format(*parts)
    flag, _, said = message.removeprefix("argument ").partition(": ")
    wrong, _, fix = said.partition("; ")
    return f"{flag.split('/')[-1]}: {wrong}", fix or None


class _Parser(argparse.ArgumentParser):
    """argparse, with help and errors going the way of every other document and error."""

    def __init__(self, command: str, description: str, examples: str) -> None:
        super().__init__(
            prog=f"lakeprune {command}",
            description=description,
            epilog=examples,
            # Every flag that is added makes one, and without a width each asks for the terminal's, which imports shutil.
            formatter_class=partial(argparse.RawDescriptionHelpFormatter, width=80),
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
        self.formatter_class = argparse.RawDescriptionHelpFormatter

    def print_help(self, file: Any = None) -> None:  # noqa: ARG002  # argparse's signature
        deliver([self.format_help()], None)

    def error(self, message: str) -> NoReturn:
        what, fix = in_our_words(without_values(message))
        raise UsageError("LP202", what, where=self.prog, fix=fix or f"see `{self.prog} --help`")

    def unknown(self, surplus: list[str], given: dict[str, Any]) -> UsageError:
        """The error for arguments that belong to nothing. A location is repeated only where it can hold no secret."""
        from difflib import get_close_matches

        flags = [each.partition("=")[0] for each in surplus if each.startswith("-")]
        known = [name for action in self._actions for name in action.option_strings]
        if flags:
            close = get_close_matches(flags[0], known, n=1)
            fix = f"did you mean {close[0]}?" if close else f"see `{self.prog} --help`"
            return UsageError("LP202", f"unknown option `{flags[0]}`", where=self.prog, fix=fix)
        fix = "an argument with blanks needs quotes around it"
        if "--where" in known:
            fix = f"put the condition after -w, in quotes: {self.prog} {_as_meant(surplus, given)}"
        return UsageError("LP202", "an argument is left over behind the table", where=self.prog, fix=fix)


def _as_meant(surplus: list[str], given: dict[str, Any]) -> str:
    """The table and the condition that arguments left over were meant to be; neither where it could hold a secret."""
    table, first, rest = str(given.get("table")), str(given.get("where") or ""), " ".join(surplus)
    condition = f"({first}) AND ({rest})" if " " in first else f"{first} {rest}".strip()
    is_condition = re.search(r"\s(?:[<>=!]{1,3}|in|like|is|between)\s", condition, re.IGNORECASE) is not None
    if not is_condition or not re.fullmatch(r"[\w./~-]+", table) or re.search(r'["$`\\!]', condition):
        return 'TABLE -w "..."'
    return f'{table} -w "{condition}"'


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
