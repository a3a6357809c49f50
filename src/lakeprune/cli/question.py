"""What every command that takes a predicate has in common: the table, the condition, the version, how the condition is read."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, NoReturn

from lakeprune.cli.output import deliver
from lakeprune.cli.store_flags import without_values
from lakeprune.cli.values import count, predicate
from lakeprune.errors import EXIT_OK, UsageError

SESSION = ("timezone", "now", "nan_policy")  # what `add_question` adds of the session, as options of the library


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


class Parser(argparse.ArgumentParser):
    """argparse, with help and errors going the way of every other document and error."""

    def __init__(self, command: str, description: str, examples: str) -> None:
        super().__init__(
            prog=f"lakeprune {command}",
            description=description,
            epilog=examples,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )

    def print_help(self, file: Any = None) -> None:  # noqa: ARG002  # argparse's signature
        deliver([self.format_help()], None)

    def error(self, message: str) -> NoReturn:
        raise UsageError("LP202", without_values(message), where=self.prog, fix=f"see `{self.prog} --help`")


class Once(argparse.Action):
    """A flag that a second one must not replace silently: a gate would judge half of what was asked."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:  # noqa: ARG002
        if getattr(namespace, self.dest) is not None:
            join = "the conditions with AND" if self.dest == "where" else "both with a comma"
            raise argparse.ArgumentError(self, f"given twice; join {join}")
        setattr(namespace, self.dest, values)


def parsed(parser: Parser, argv: Sequence[str]) -> argparse.Namespace | int:
    """The flags, or the exit code of a command that only printed its help."""
    try:
        return parser.parse_args(with_predicates_joined(argv))
    except SystemExit as done:  # argparse ends this way after printing its help
        return int(done.code or EXIT_OK)


def add_question(parser: Parser, *, is_required: bool, needs_table: bool = True) -> None:
    """TABLE, -w, the version and the session; `is_required` is about the predicate."""
    add_condition(parser, is_required=is_required, needs_table=needs_table)
    moment = parser.add_argument_group("which version").add_mutually_exclusive_group()
    moment.add_argument("--at-version", metavar="N", type=count, help="the table at this version")
    moment.add_argument("--at-timestamp", metavar="TIME", help="the table as it was at this time")
    add_session(parser, "UTC")


def add_condition(parser: Parser, *, is_required: bool, needs_table: bool = True) -> None:
    """TABLE and -w."""
    add_table(parser, needs_table=needs_table)
    condition = "SQL condition as in a Spark WHERE clause; @FILE reads it from a file, @- from standard input"
    parser.add_argument("-w", "--where", metavar="PREDICATE", type=predicate, action=Once, help=condition, required=is_required)


def add_table(parser: Parser, *, needs_table: bool = True) -> None:
    """TABLE."""
    place = "path or file:// URL of the table, or s3://, az://, abfss://, gs://"
    parser.add_argument("table", metavar="TABLE", nargs=None if needs_table else "?", help=place)


def add_session(parser: Parser, zone: str) -> None:
    """The session that the condition is read in; `zone` is whose time zone counts by default."""
    group = parser.add_argument_group("how the predicate is read")
    group.add_argument("--timezone", metavar="ZONE", help=f"session time zone (default: {zone})")
    group.add_argument("--now", metavar="TIME", help="what current_date() and current_timestamp() mean (default: the clock)")
    group.add_argument(
        "--nan-policy",
        choices=("guard", "spark-writers"),
        help="guard: NaN may hide outside min/max (default); spark-writers: all writers keep NaN in the maximum",
    )
