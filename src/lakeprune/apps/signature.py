"""Real signatures for functions that take options: `help` and completion name every one, from the TypedDict that types them.

In: a function with `**options`, the TypedDict of its options. Out: the same function with a signature and a docstring that name
them. An option that is None was not given.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar, cast

from lakeprune.report.gates import GATES

F = TypeVar("F", bound=Callable[..., Any])

MEANINGS = {  # one line per option, for everybody who reads `help`
    **{name: f"gate: {gate.help}" for name, gate in GATES.items()},
    "gate_on": 'whose count limits judge: "metadata" (default) or "delta-spark"',
    "timezone": "session time zone of the predicate (default: UTC, or that of the Spark session)",
    "now": "what current_date() and current_timestamp() mean (default: the clock)",
    "nan_policy": '"assume", "strict" or "spark-writers": whether NaN may hide outside the recorded bounds',
    "spark": "a SparkSession that reads the metadata instead of this process",
    "catalog": "the catalog of PyIceberg's configuration in which the table is a name",
    "explain_why": "look for diagnoses: why files stay, with numbers and what would help",
    "row_groups": "read the footers of the files that are left, and prune their row groups",
    "bloom": "with row_groups: consult Bloom filters too",
    "sample": "the files that are looked into: a number with row_groups, a share in verify",
    "footer_progress": "called with the footers read and the footers to read",
    "exhaustive": "read every manifest of an Iceberg table",
    "storage_options": "storage options by their delta-rs names",
    "env_creds": "use what this machine offers: the default profile, its own identity",
    "region": "the region of the bucket (S3)",
    "profile": "keys and region from this profile of the AWS files (S3)",
    "public": "anonymous access",
    "cache_dir": "where fetched log files are kept",
    "no_cache": "keep no log file, and use none that was kept",
    "cache_size": "how many bytes the cache may keep",
    "concurrency": "requests under way at once, at most",
    "progress": "called with the bytes that are here and the bytes wanted",
    "audit_stats": "also compare the recorded statistics with the values",
    "max_rewrite_bytes": "guard: bytes of the files that are written again",
    "max_rows": "guard: rows that change",
    "require_partition_filter": "guard: the condition must bound a partition column",
    "strengthen": "False: execute the condition as written, with nothing beside it",
    "when_matched_update": "rows of both: what is set",
    "when_matched_delete": "rows of both: deleted",
    "when_not_matched_insert": "rows of the source alone: what is inserted",
    "when_not_matched_by_source_update": "rows of the target alone: what is set",
    "when_not_matched_by_source_delete": "rows of the target alone: deleted",
    "clauses": "WHEN clauses as pairs of name and value, where their kinds alternate",
}


def takes(options: type, **meanings: str) -> Callable[[F], F]:
    """A decorator for a function with `**options` of this TypedDict; `meanings` replace those of the table above.

    >>> class Few(dict): __annotations__ = {"bloom": bool}
    >>> @takes(Few)
    ... def look(table, **options):
    ...     "What is there."
    ...     return options
    >>> inspect.signature(look), look("t", bloom=None), look("t", bloom=True)
    (<Signature (table, *, bloom: 'bool | None' = None)>, {}, {'bloom': True})
    """

    def named(function: F) -> F:
        @functools.wraps(function)
        def called(*args: Any, **given: Any) -> Any:
            return function(*args, **{name: value for name, value in given.items() if value is not None or name in own})

        known = inspect.signature(function)
        own = {name for name, one in known.parameters.items() if one.kind is not inspect.Parameter.VAR_KEYWORD}
        fresh = {name: kind for name, kind in options.__annotations__.items() if name not in own}
        more = [_parameter(name, kind) for name, kind in fresh.items()]
        fixed = [one for one in known.parameters.values() if one.name in own]
        lines = "".join(f"\n        {name}: {meanings.get(name) or MEANINGS[name]}" for name in fresh)
        called.__doc__ = f"{inspect.cleandoc(function.__doc__ or '')}\n\nOptions:{lines}\n".replace("\n        ", "\n    ")
        cast(Any, called).__signature__ = known.replace(parameters=[*fixed, *more])
        return cast(F, called)

    return named


def _parameter(name: str, kind: Any) -> inspect.Parameter:
    text = str(getattr(kind, "__forward_arg__", None) or getattr(kind, "__name__", kind))
    if text.startswith("Annotated["):
        text = text.removeprefix("Annotated[").partition(",")[0]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=f"{text} | None")
