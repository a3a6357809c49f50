"""The `lakeprune` command: finds the subcommand, runs it, turns errors into exit codes.

    0 fine   1 a gate failed   2 usage or predicate error   3 the table cannot be read   70 a defect in lakeprune

stdout carries the whole document or nothing; everything else goes to stderr, without a traceback unless lakeprune is at fault.
"""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Sequence
from types import TracebackType

from lakeprune import __version__
from lakeprune.cli.output import deliver, tell
from lakeprune.errors import EXIT_OK, LakepruneError, UsageError

EXIT_INTERRUPTED = 130
EXIT_DEFECT = 70
# Objects between two looks for cycles, of which a command makes few. Saves 8% on ten files, nothing sure on 100,000.
_SELDOM = 50_000
COMMANDS = {  # the module of each, and what it shows
    "explain": ("explain", "what a predicate must read of a table, and why; gates for CI"),
    "plan": ("plan", "the files that a scan reads and what is left to filter, for programs"),
    "compare": ("compare", "what the engines of this machine open for a predicate, beside what metadata allows"),
    "verify": ("verify", "whether the rows agree with the plan, by a scan on Spark"),
    "hints": ("hints", "a predicate as Delta Sharing hints, and what they cannot express"),
    "update": ("statement", "what an UPDATE touches and costs; --execute does it, on Spark"),
    "delete": ("statement", "what a DELETE touches and costs; --execute does it, on Spark"),
    "merge": ("statement", "what a MERGE touches and costs; --execute does it, on Spark"),
    "serve": ("serve", "a Delta Sharing server whose hints prune and never lose a row"),
    "share": ("share", "recipients, tokens and keys of a sharing server"),
}

_HELP = """\
lakeprune: which files a predicate must read, why, and what would make it fewer

usage: lakeprune COMMAND ...

commands:
{commands}

options:
  -h, --help     this text; `lakeprune COMMAND --help` for a command
  -V, --version  the version
  --completion SHELL  a completion script for bash, zsh or fish

example:
  lakeprune explain ./users -w "country = 'DE' AND age > 40"
"""


def entry_point() -> None:
    """What the installed command runs."""
    sys.excepthook = _report_defect
    gc.set_threshold(_SELDOM)
    if len(sys.argv) > 1 and sys.argv[1] in COMMANDS:
        _import_msgspec_alone()
    code = main(sys.argv[1:])
    # Nothing is left to do: every file is closed and renamed. Tearing down the engine and the interpreter would only take time.
    os._exit(code)


def _import_msgspec_alone() -> None:
    """msgspec takes two functions from typing_extensions where that is installed, and the same from typing where it is not.

    lakeprune does not need it, and importing it, with inspect and the compiler's modules, is an eighth of a short command.
    """
    if "typing_extensions" not in sys.modules:
        sys.modules["typing_extensions"] = None  # type: ignore[assignment]  # importing it fails, as if it were not there
        try:
            import msgspec  # noqa: F401
        finally:
            del sys.modules["typing_extensions"]


def main(argv: Sequence[str]) -> int:
    """Run one command; the exit code."""
    started = time.perf_counter()
    try:
        return _dispatch(argv)
    except LakepruneError as error:
        tell(_as_json(error, started) if _wants_json(argv) else str(error))
        return error.exit_code
    except SystemExit as done:  # argparse ends this way after printing its help
        return int(done.code or EXIT_OK)
    except KeyboardInterrupt:
        tell("interrupted")
        return EXIT_INTERRUPTED


def _wants_json(argv: Sequence[str]) -> bool:
    """Whether the document would have been JSON; the flags may be what is wrong, so no parser is asked."""
    pairs = zip(argv, [*argv[1:], ""], strict=True)
    return any(each == "--format=json" or (each, value) == ("--format", "json") for each, value in pairs)


def _as_json(error: LakepruneError, started: float) -> str:
    from lakeprune.report.failure import Failure

    return Failure(error, round(1000 * (time.perf_counter() - started))).to_json().rstrip()


def _dispatch(argv: Sequence[str]) -> int:
    if not argv or argv[0] in ("-h", "--help", "help"):
        commands = "\n".join(f"  {name:<9} {summary}" for name, (_, summary) in COMMANDS.items())
        deliver([_HELP.format(commands=commands)], None)
        return EXIT_OK
    if argv[0] in ("-V", "--version", "version"):
        deliver([f"lakeprune {__version__}\n"], None)
        return EXIT_OK
    if argv[0] == "--completion":
        from lakeprune.cli.completion import script

        meanings = {name: meaning for name, (_, meaning) in COMMANDS.items()}
        deliver([script(argv[1] if len(argv) > 1 else "", meanings)], None)
        return EXIT_OK
    if argv[0] not in COMMANDS:
        raise _unknown_command(argv[0])
    from importlib import import_module

    code: int = import_module(f"lakeprune.cli.{COMMANDS[argv[0]][0]}").run(argv[0], argv[1:])
    return code


def _unknown_command(name: str) -> UsageError:
    from difflib import get_close_matches

    if name.startswith("-"):
        return UsageError("LP201", f"unknown option `{name}`", fix="put options after the command, see `lakeprune --help`")
    close = get_close_matches(name, COMMANDS, n=1)
    fix = f"did you mean {close[0]}?" if close else f"the commands are: {', '.join(COMMANDS)}"
    return UsageError("LP201", f"unknown command `{name}`", fix=fix)


def _report_defect(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    import traceback

    if sys.stderr is not None:
        traceback.print_exception(kind, error, trace)
    tell(f"error[LP900] this is a defect in lakeprune {__version__}\n  fix:   please report it with the lines above")
    os._exit(EXIT_DEFECT)
