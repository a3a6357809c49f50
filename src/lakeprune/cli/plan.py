"""`lakeprune plan`: flags in, the pruned scan as a document on stdout, or its files as Parquet in a file."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from lakeprune.cli.output import TerminalProgress, spooled, terminal_width, to_file
from lakeprune.cli.parser import chosen, parsed
from lakeprune.cli.spark_session import session_of
from lakeprune.errors import EXIT_OK, UsageError

if TYPE_CHECKING:
    from lakeprune.apps.scan.model import ScanPlan

_WHAT = "The files that a scan reads, what is left to filter in each, and what comes out, for programs."
_EXAMPLES = """\
examples:
  lakeprune plan ./users -w "country = 'DE' AND age > 40" --columns name,age
  lakeprune plan ./users -w "age > 40" --limit 100 --format json
  lakeprune plan ./users --groups 8 --format parquet --output plan.parquet
  lakeprune plan ./users -w "country = 'DE'" --uris

exit codes: 0 fine, 2 usage or predicate error, 3 the table cannot be read
"""


def run(command: str, argv: Sequence[str]) -> int:
    """Plan one scan."""
    import sys

    given = parsed(command, _WHAT, _EXAMPLES, argv)
    _check(given)
    from lakeprune.apps.scan.plan import Options, plan

    options: dict[str, Any] = chosen(given, Options.__annotations__)
    if ("://" in given.table or given.catalog is not None) and sys.stderr is not None and sys.stderr.isatty():
        options["progress"] = TerminalProgress()
    with session_of(given) as spark:
        if spark is not None:
            options["spark"] = spark
        found = plan(given.table, given.where, **options)
        assert found.planner is not None, "a plan that was made here has its table"
        try:
            finish = _made(found, given)
        finally:
            found.planner.snapshot.close()
    finish()
    return EXIT_OK


def _made(found: ScanPlan, given: argparse.Namespace) -> Callable[[], None]:
    """The document, made now; to be delivered when this is called."""
    if given.uris:
        return spooled((f"{uri}\n" for uri in (found.raw_uris if given.raw else found.uris)), given.output)
    from lakeprune.render.registry import rendered
    from lakeprune.report.document import View

    if given.format == "parquet":
        files = found.files
        return lambda: write_parquet(files, given.output)
    width = terminal_width() if given.output is None else None
    return spooled(rendered(found, given.format, View(verbose=bool(given.verbose), width=width)), given.output)


def _check(given: argparse.Namespace) -> None:
    if given.raw and not given.uris:
        raise UsageError("LP277", "--raw is about URIs, which were not asked for", where="lakeprune plan", fix="add --uris")
    if given.uris and given.format != "text":
        fix = "leave --format out: URIs are lines of text"
        raise UsageError("LP277", f"--uris and --format {given.format} do not go together", where="lakeprune plan", fix=fix)
    if given.format == "parquet" and given.output is None:
        fix = "name the file with --output FILE"
        raise UsageError("LP277", "--format parquet needs a file to write to", where="lakeprune plan", fix=fix)


def write_parquet(files: Any, target: str) -> None:
    """The files of a plan as a Parquet file, written as other documents are."""
    from tempfile import TemporaryFile

    import pyarrow as pa
    import pyarrow.parquet as pq

    empty = [name for name in ("partition", "stats") if files.schema.field(name).type.num_fields == 0]
    try:
        with TemporaryFile() as spool:
            pq.write_table(files.drop_columns(empty), spool)  # Parquet has no struct without fields
            spool.seek(0)
            to_file(spool, target, "--output")
    except (OSError, pa.ArrowException) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise UsageError("LP217", f"cannot write {target}", where="--output", why=why, fix="name a writable file") from error
