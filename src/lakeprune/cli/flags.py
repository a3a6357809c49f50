"""The flags of every command: one row each. Parsers, help and the tables in docs/commands come from this list.

A row names the commands that take the flag. Commands whose flag differs in its help, its values or whether it is required have
rows of their own. Gates come from their own list, so that a new gate is a flag of every command that has gates.
"""

from __future__ import annotations

from argparse import BooleanOptionalAction
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from lakeprune.cli.spark_session import LEVELS, SERVED_BETTER_FROM
from lakeprune.cli.values import (
    Clause,
    Once,
    Paired,
    assignment,
    count,
    file_name,
    fraction,
    names,
    percentage,
    port,
    predicate,
    size,
)
from lakeprune.planning.session import NAN_POLICIES
from lakeprune.render.registry import formats
from lakeprune.report.document import SORTS
from lakeprune.report.gates import GATE_ON, GATES, Unit
from lakeprune.storage.access import CONCURRENCY


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


_EVERY = "explain plan verify update delete merge"
_READS = "explain plan verify"
_SEES = "explain plan verify hints"
_HERE = "explain plan hints"  # whose metadata this process reads, from wherever it lies
_STATEMENTS = "update delete merge"
_WANTED = "hints compare update delete"  # that need a condition
_ROWS = "what becomes of the rows: the first clause that applies, in the order given"
_RUN = "running it"
_GUARDS = "guards: exit 1 before anything is written"
_VERSION = "which version"
_CHANGES = "changes (Delta)"
_SESSION = "how the predicate is read"
_VERIFIED = "what is verified"
_SCAN = "what the scan gives"
_BELOW = "row groups (Delta, Iceberg and plain Parquet)"
_LISTED = "which files are listed"
_OUTPUT = "output"
_GATES = "gates (exit 1 when one fails)"
_SERVED = "what is served"
_ENGINE = "which engine"
_SPARK = "where Spark runs"
_STORES = "object stores (s3://, s3a://, az://, abfss://, gs://)"
TITLES = {("explain", _SPARK): _ENGINE, ("plan", _SPARK): _ENGINE}  # groups that one command calls otherwise

_TABLE = "path or file:// URL of the table, or s3://, az://, abfss://, gs://"
_CONDITION = "SQL condition as in a Spark WHERE clause; @FILE reads it from a file, @- from standard input"
_ASSIGNED = "column = expression, with commas between"
_SOURCE = "path or URL of a Delta table or of Parquet files, or a query (SELECT, WITH, VALUES, TABLE); it is read once"
_SET = "all, or assignments; after a condition: \"AND s.op = 'u' THEN all\""
_AS_WRITTEN = "execute the condition as written, with nothing beside it"
_NAN = (
    "assume: NaN is not hidden outside min/max, and drops that rest on this are marked (default); "
    "strict: it may be, so such files are kept (also: guard); spark-writers: it is kept in the maximum"
)
_NAN_ROWS = "guard or strict: NaN may hide outside min/max (default); spark-writers: it is kept in the maximum"
_NAN_CHOICES = tuple(policy for policy in NAN_POLICIES if policy != "assume")
_GATE_ON = "whose count limits judge: what metadata allows, or what Delta Spark reads (default: metadata; with --sql, Spark)"
_SQL = "explain every scan of this query instead of TABLE; needs --engine spark, and executes nothing"
_SAMPLE = "look into every kept file and this share of the dropped ones, chosen by their paths (0.1: a tenth)"
_AUDIT = "compare the log's bounds, null counts and row counts with the values; without -w nothing else is verified"
_CATALOG = "TABLE is a name in this catalog of PyIceberg's configuration (pip install pyiceberg)"
_EXHAUSTIVE = "read every manifest (Iceberg): bytes of all files, and clauses counted file by file; drops the same files"
_CONFIG = "YAML file with shares, recipients and settings; see docs/commands/serve.md"
_ONE = "one table, for programs on this machine; prints a profile that reads it"
_OPEN = "answer on loopback without any token"
_ENGINES = "of lakeprune, spark, delta-rs, datafusion, duckdb, polars, with commas between (default: all)"
_STORAGE = "a storage option by its delta-rs name; repeatable"
_WHY = "say why files stay, with numbers and what would help (default on a terminal, in HTML and in Markdown)"
_WHERE = (
    "duckdb: in this process; spark: on Spark, for logs too large for one machine; "
    f"auto: in this process, and say so when Spark would serve better, from {SERVED_BETTER_FROM:,} files (default: auto)"
)
_PLAN_FORMATS = "parquet: the files as a table, written to --output (default: text)"
_UNITS: dict[Unit, dict[str, Any]] = {
    Unit.PERCENT: {"metavar": "PCT", "type": percentage},
    Unit.FILES: {"metavar": "N", "type": count},
    Unit.BYTES: {"metavar": "SIZE", "type": size},
    Unit.SWITCH: {},
    Unit.CODES: {"metavar": "CODE", "more": {"action": "append"}},
}


def _when(name: str, help_: str) -> Flag:
    """A WHEN clause: the order of the flags is the order in which the clauses are tried."""
    is_delete = name.endswith("delete")
    more = {"action": Clause, "default": [], **({"nargs": "?", "const": True} if is_delete else {})}
    return Flag(f"--when-{name}", "merge", _ROWS, help_, "CONDITION" if is_delete else "SET", option="clauses", more=more)


# In the order of the usage line; groups appear in the help in the order of their first flag.
FLAGS = (
    Flag("table", "explain", "", f"{_TABLE}, or a shared table: profile.share#share.schema.table", "TABLE"),
    Flag("table", "plan verify hints compare update delete merge", "", _TABLE, "TABLE", is_required=True),
    Flag("-w --where", _READS, "", _CONDITION, "PREDICATE", predicate, more={"action": Once}),
    Flag("-w --where", _WANTED, "", _CONDITION, "PREDICATE", predicate, is_required=True, more={"action": Once}),
    Flag("--engines", "compare", "", _ENGINES, "LIST", names),
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
    Flag("--at-version", _SEES, _VERSION, "the table at this version", "N", count, option="version", is_exclusive=True),
    Flag("--at-timestamp", _SEES, _VERSION, "the table as it was at this time", "TIME", option="timestamp", is_exclusive=True),
    Flag("--at-ref", _SEES, _VERSION, "the table at this branch or tag (Iceberg)", "NAME", option="ref", is_exclusive=True),
    Flag("--timezone", _EVERY, _SESSION, "session time zone (default: UTC, or the one that --conf gives Spark)", "ZONE"),
    Flag("--timezone", "hints", _SESSION, "session time zone (default: UTC)", "ZONE"),
    Flag("--now", "hints " + _EVERY, _SESSION, "what current_date() and current_timestamp() mean (default: the clock)", "TIME"),
    Flag("--nan-policy", "explain", _SESSION, _NAN, choices=NAN_POLICIES),
    Flag("--nan-policy", "plan verify " + _STATEMENTS, _SESSION, _NAN_ROWS, choices=_NAN_CHOICES),
    Flag("--sql", "explain", "", _SQL, "QUERY"),
    Flag("--catalog", _HERE, "", _CATALOG, "NAME"),
    Flag("--sample", "verify", _VERIFIED, _SAMPLE, "FRACTION", fraction),
    Flag("--audit-stats", "verify", _VERIFIED, _AUDIT),
    Flag("--columns", "plan", _SCAN, "the columns that are wanted, with commas between (default: all)", "LIST", names),
    Flag("--limit", "plan", _SCAN, "only the files that N rows need, as far as metadata proves rows to match", "N", count),
    Flag("--changes", "plan", _CHANGES, "plan the change data feed of a Delta table instead of its rows"),
    Flag("--from-version", "plan", _CHANGES, "the first version whose changes are wanted", "N", count),
    Flag("--to-version", "plan", _CHANGES, "the last one (default: the latest)", "N", count),
    Flag("--from-timestamp", "plan", _CHANGES, "the first time, instead of a version", "TIME"),
    Flag("--to-timestamp", "plan", _CHANGES, "the last time, instead of a version", "TIME"),
    Flag("--groups", "plan", _SCAN, "put the files into N groups, partition by partition and balanced by bytes", "N", count),
    Flag("--row-groups", "explain", _BELOW, "read the footers of the files that are left, and prune their row groups"),
    Flag("--bloom", "explain", _BELOW, "consult their Bloom filters too, for = and IN"),
    Flag("--sample", "explain", _BELOW, "read the footers of N files only; the others are kept", "N", count),
    Flag("-v --verbose", "explain", _LISTED, "list every file with its verdict and why"),
    Flag("-v --verbose", "plan", _OUTPUT, "list every file, with the clauses that are left to filter in it"),
    Flag("--uris", "plan", _OUTPUT, "print where the files lie, one a line, for tools that know nothing of tables"),
    Flag("--raw", "plan", _OUTPUT, "with --uris, also where reading the files alone gives wrong rows"),
    Flag("--format", "plan", _OUTPUT, _PLAN_FORMATS, choices=(*formats("plan"), "parquet"), more={"default": "text"}),
    Flag("--kept", "explain", _LISTED, "list the files that must be read, each with the reason", is_exclusive=True),
    Flag("--dropped", "explain", _LISTED, "list the files that need not be read, each with the evidence", is_exclusive=True),
    Flag("--file", "explain", _LISTED, "why was this file kept, or dropped? A path, or its end", "PATH", is_exclusive=True),
    Flag("--sort", "explain", _LISTED, "order of the list: by path (default), or the largest first", choices=SORTS),
    Flag("--explain-why", "explain", _OUTPUT, _WHY, more={"action": BooleanOptionalAction}),
    Flag("--exhaustive", "explain", _OUTPUT, _EXHAUSTIVE),
    Flag("--limit", "explain", _LISTED, "list at most N files", "N", count),
    *(
        Flag("--format", commands, _OUTPUT, "default: text", choices=formats(kind), more={"default": "text"})
        for commands, kind in (*((name, name) for name in ("explain", "verify", "hints", "compare")), (_STATEMENTS, "statement"))
    ),
    Flag("--output", "hints compare " + _EVERY, _OUTPUT, "write the document to FILE instead of stdout", "FILE", file_name),
    Flag("--metrics-file", "explain", _OUTPUT, "also write the pruning summary to FILE, as OpenMetrics", "FILE", file_name),
    Flag("--scan-report", "explain", _OUTPUT, "also write Iceberg's report of the scan to FILE, as JSON", "FILE", file_name),
    *(Flag("--" + name.replace("_", "-"), "explain", _GATES, gate.help, **_UNITS[gate.unit]) for name, gate in GATES.items()),
    Flag("--gate-on", "explain", _GATES, _GATE_ON, choices=GATE_ON),
    Flag("--engine", "explain plan", _ENGINE, _WHERE, choices=("auto", "duckdb", "spark"), more={"default": "auto"}),
    Flag("--master", _EVERY, _SPARK, "Spark master (default: local[*])", "M", is_exclusive=True),
    Flag("--remote", _EVERY, _SPARK, "Spark Connect server, sc://host:port", "URL", is_exclusive=True),
    Flag("--conf", _EVERY, _SPARK, "Spark setting; may be repeated", "K=V", assignment, more={"action": "append", "default": []}),
    Flag("--packages", _EVERY, _SPARK, "Maven coordinates that Spark resolves, with commas between", "LIST"),
    Flag("--spark-log", _EVERY, _SPARK, f"show Spark's own log: {', '.join(LEVELS)}", "LEVEL", choices=LEVELS),
    Flag("what", "share", "", "recipient or key", "WHAT", is_required=True),
    Flag("action", "share", "", "of a recipient: add, list, revoke; of a key: add", "ACTION", is_required=True),
    Flag("name", "share", "", "the recipient's name", "NAME"),
    Flag("--config", "serve", _SERVED, _CONFIG, "FILE"),
    Flag("--config", "share", "", _CONFIG, "FILE", is_required=True),
    Flag("--share", "serve", _SERVED, _ONE, "NAME=TABLE", assignment),
    Flag("--port", "serve", _SERVED, "with --share: the port (default: a free one)", "N", port),
    Flag("--check", "serve", _RUN, "read the configuration, open every table, and end"),
    Flag("--insecure-local", "serve", _RUN, _OPEN),
    Flag("--days", "share", "", "how long a new token is valid (default: until it is revoked)", "N", count),
    Flag("--token", "share", "", "revoke this token only, by its id", "ID"),
    Flag("--output", "share", _OUTPUT, "write the document to FILE instead of stdout", "FILE"),
    Flag("--option", _HERE, _STORES, _STORAGE, "K=V", assignment, option="storage_options", more={"action": Paired}),
    Flag("--env-creds", _HERE, _STORES, "use what this machine offers: the default profile, its own identity"),
    Flag("--region", _HERE, _STORES, "the bucket's region (S3)", "NAME"),
    Flag("--profile", _HERE, _STORES, "keys and region from this profile of the AWS files (S3)", "NAME"),
    Flag("--public", _HERE, _STORES, "anonymous access, for a public bucket"),
    Flag("--cache-dir", _HERE, _STORES, "where fetched log files are kept (default: the user's cache directory)", "DIR"),
    Flag("--no-cache", _HERE, _STORES, "keep no log file, and use none that was kept"),
    Flag("--cache-size", _HERE, _STORES, "how much the cache may keep (default 2GiB)", "SIZE", size),
    Flag("--concurrency", _HERE, _STORES, f"requests under way at once, at most (default {CONCURRENCY})", "N", count),
)  # fmt: skip


def flags_of(command: str) -> tuple[Flag, ...]:
    """The flags that a command takes."""
    return tuple(flag for flag in FLAGS if command in flag.commands.split())
