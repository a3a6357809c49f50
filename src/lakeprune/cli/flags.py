"""The flags of every command: one row each. Parsers, help and the tables in docs/commands come from this list.

A row names the commands that take the flag. Commands whose flag differs in its help, its values or whether it is required have
rows of their own. Gates come from their own list, so that a new gate is a flag of every command that has gates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from lakeprune.cli.spark_session import LEVELS, SERVED_BETTER_FROM
from lakeprune.cli.values import Clause, Once, Paired, assignment, count, fraction, percentage, predicate, size
from lakeprune.planning.session import NAN_POLICIES
from lakeprune.render.registry import formats
from lakeprune.report.gates import GATES, Unit


class Flag(Struct, frozen=True):
    """One flag of some commands; without `metavar` and `choices` it is a switch."""

    names: str  # "-v --verbose"; without a dash it is an argument
    commands: str
    group: str  # its title in the help; empty for what comes before all groups
    help: str
    metavar: str | None = None
    type: Callable[[str], Any] = str
    choices: tuple[str, ...] | None = None
    option: str = ""  # the name in Python, where it differs
    is_required: bool = False
    is_exclusive: bool = False  # not together with the others of its group that are
    more: Mapping[str, Any] = MappingProxyType({})  # for argparse

    @property
    def name(self) -> str:
        """What the parsed value is called, and the option of the library that takes it."""
        return self.option or self.names.split()[-1].lstrip("-").replace("-", "_")


_EVERY = "explain verify update delete merge"
_READS = "explain verify"
_STATEMENTS = "update delete merge"
_ROWS = "what becomes of the rows: the first clause that applies, in the order given"
_RUN = "running it"
_GUARDS = "guards: exit 1 before anything is written"
_VERSION = "which version"
_SESSION = "how the predicate is read"
_VERIFIED = "what is verified"
_OUTPUT = "output"
_GATES = "gates (exit 1 when one fails)"
_ENGINE = "which engine"
_SPARK = "where Spark runs"
_STORES = "object stores (s3://, s3a://, az://, abfss://, gs://)"
TITLES = {("explain", _SPARK): _ENGINE}  # groups that one command calls otherwise

_TABLE = "path or file:// URL of the table, or s3://, az://, abfss://, gs://"
_CONDITION = "SQL condition as in a Spark WHERE clause; @FILE reads it from a file, @- from standard input"
_ASSIGNED = "column = expression, with commas between"
_SOURCE = "path or URL of a Delta table or of Parquet files, or a query (SELECT, WITH, VALUES, TABLE); it is read once"
_SET = "all, or assignments; after a condition: \"AND s.op = 'u' THEN all\""
_AS_WRITTEN = "execute the condition as written, with nothing beside it"
_NAN = "guard: NaN may hide outside min/max (default); spark-writers: all writers keep NaN in the maximum"
_SQL = "explain every scan of this query instead of TABLE; needs --engine spark, and executes nothing"
_SAMPLE = "look into every kept file and this share of the dropped ones, chosen by their paths (0.1: a tenth)"
_AUDIT = "compare the log's bounds, null counts and row counts with the values; without -w nothing else is verified"
_STORAGE = "a storage option by its delta-rs name; repeatable"
_WHERE = (
    "duckdb: in this process; spark: on Spark, for logs that no one machine should read; "
    f"auto: in this process, and say so when Spark would serve better, from {SERVED_BETTER_FROM:,} files (default: auto)"
)
_UNITS: dict[Unit, tuple[Any, ...]] = {
    Unit.PERCENT: ("PCT", percentage),
    Unit.FILES: ("N", count),
    Unit.BYTES: ("SIZE", size),
    Unit.SWITCH: (),
}


def _when(name: str, help_: str) -> Flag:
    """A WHEN clause: the order of the flags is the order in which the clauses are tried."""
    is_delete = name.endswith("delete")
    more = {"action": Clause, "default": [], **({"nargs": "?", "const": True} if is_delete else {})}
    return Flag(f"--when-{name}", "merge", _ROWS, help_, "CONDITION" if is_delete else "SET", option="clauses", more=more)


# In the order of the usage line; groups appear in the help in the order of their first flag.
FLAGS = (
    Flag("table", "explain", "", _TABLE, "TABLE"),
    Flag("table", "verify update delete merge", "", _TABLE, "TABLE", is_required=True),
    Flag("-w --where", _READS, "", _CONDITION, "PREDICATE", predicate, more={"action": Once}),
    Flag("-w --where", "update delete", "", _CONDITION, "PREDICATE", predicate, is_required=True, more={"action": Once}),
    Flag("--set", "update", "", _ASSIGNED, "ASSIGNMENTS", option="set_", is_required=True, more={"action": Once}),
    Flag("--source", "merge", "", _SOURCE, "SOURCE", predicate, is_required=True),
    Flag("--on", "merge", "", "which rows match: t.id = s.id", "CONDITION", predicate, is_required=True),
    _when("matched-update", f"rows of both: set columns ({_SET})"),
    _when("matched-delete", "rows of both: delete them"),
    _when("not-matched-insert", "rows of the source alone: insert them, as above"),
    _when("not-matched-by-source-update", "rows of the target alone: set columns"),
    _when("not-matched-by-source-delete", "rows of the target alone: delete them"),
    Flag("--execute", _STATEMENTS, _RUN, "do it; without this flag nothing is changed"),
    Flag("--retry", _STATEMENTS, _RUN, "after a conflict, plan afresh and try again N times", "N", count, more={"default": 0}),
    Flag("--no-strengthen", _STATEMENTS, _RUN, _AS_WRITTEN, option="strengthen", more={"action": "store_false"}),
    Flag("--max-rewrite-bytes", _STATEMENTS, _GUARDS, "bytes of the files that are written again", "SIZE", size),
    Flag("--max-files", _STATEMENTS, _GUARDS, "files that are rewritten, removed or get a deletion vector", "N", count),
    Flag("--max-rows", _STATEMENTS, _GUARDS, "rows that change", "N", count),
    Flag("--require-partition-filter", _STATEMENTS, _GUARDS, "the condition must bound a partition column"),
    Flag("--at-version", _READS, _VERSION, "the table at this version", "N", count, option="version", is_exclusive=True),
    Flag("--at-timestamp", _READS, _VERSION, "the table as it was at this time", "TIME", option="timestamp", is_exclusive=True),
    Flag("--timezone", _READS, _SESSION, "session time zone (default: UTC)", "ZONE"),
    Flag("--timezone", _STATEMENTS, _SESSION, "session time zone (default: Spark's)", "ZONE"),
    Flag("--now", _EVERY, _SESSION, "what current_date() and current_timestamp() mean (default: the clock)", "TIME"),
    Flag("--nan-policy", _EVERY, _SESSION, _NAN, choices=NAN_POLICIES),
    Flag("--sql", "explain", "", _SQL, "QUERY"),
    Flag("--sample", "verify", _VERIFIED, _SAMPLE, "FRACTION", fraction),
    Flag("--audit-stats", "verify", _VERIFIED, _AUDIT),
    Flag("-v --verbose", "explain", _OUTPUT, "list every file with its verdict and why"),
    Flag("--explain-why", "explain", _OUTPUT, "say why files stay, with numbers and what would help"),
    Flag("--limit", "explain", _OUTPUT, "with --verbose, list at most N files", "N", count),
    *(
        Flag("--format", commands, _OUTPUT, "default: text", choices=formats(kind), more={"default": "text"})
        for commands, kind in (("explain", "explain"), ("verify", "verify"), (_STATEMENTS, "statement"))
    ),
    Flag("--output", _EVERY, _OUTPUT, "write the document to FILE instead of stdout", "FILE"),
    *(Flag("--" + name.replace("_", "-"), "explain", _GATES, gate.help, *_UNITS[gate.unit]) for name, gate in GATES.items()),
    Flag("--engine", "explain", _ENGINE, _WHERE, choices=("auto", "duckdb", "spark"), more={"default": "auto"}),
    Flag("--master", _EVERY, _SPARK, "Spark master (default: local[*])", "M", is_exclusive=True),
    Flag("--remote", _EVERY, _SPARK, "Spark Connect server, sc://host:port", "URL", is_exclusive=True),
    Flag("--conf", _EVERY, _SPARK, "Spark setting; may be repeated", "K=V", assignment, more={"action": "append", "default": []}),
    Flag("--packages", _EVERY, _SPARK, "Maven coordinates that Spark resolves, with commas between", "LIST"),
    Flag("--spark-log", _EVERY, _SPARK, f"show Spark's own log: {', '.join(LEVELS)}", "LEVEL", choices=LEVELS),
    Flag("--option", "explain", _STORES, _STORAGE, "K=V", assignment, option="storage_options", more={"action": Paired}),
    Flag("--env-creds", "explain", _STORES, "use what this machine offers: the default profile, its own identity"),
    Flag("--region", "explain", _STORES, "the bucket's region (S3)", "NAME"),
    Flag("--profile", "explain", _STORES, "keys and region from this profile of the AWS files (S3)", "NAME"),
    Flag("--public", "explain", _STORES, "the store asks for no credentials"),
    Flag("--cache-dir", "explain", _STORES, "where fetched log files are kept (default: the user's cache directory)", "DIR"),
    Flag("--no-cache", "explain", _STORES, "keep no log file, and use none that was kept"),
    Flag("--cache-size", "explain", _STORES, "how much the cache may keep (default 2GiB)", "SIZE", size),
)  # fmt: skip


def flags_of(command: str) -> tuple[Flag, ...]:
    """The flags that a command takes."""
    return tuple(flag for flag in FLAGS if command in flag.commands.split())
