"""lakeprune: which files a predicate must read, why, and what would make it fewer.

    >>> import lakeprune
    >>> lakeprune.explain("./users", where="country = 'DE' AND age > 40")  # doctest: +SKIP

Names are imported when they are first used, so that `import lakeprune` costs nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as in typing, whose import alone would be most of what `import lakeprune` costs

if TYPE_CHECKING:
    from lakeprune.apps.compare.compare import compare
    from lakeprune.apps.explain.diff import diff
    from lakeprune.apps.explain.explain import explain, explain_many
    from lakeprune.apps.open import open  # noqa: A004  # as users call it
    from lakeprune.apps.scan.model import ScanPlan
    from lakeprune.apps.scan.options import ScanOptions
    from lakeprune.apps.scan.plan import plan
    from lakeprune.apps.sql.sql import sql
    from lakeprune.apps.statements.merge.merge import merge
    from lakeprune.apps.statements.update_delete.update_delete import delete, update
    from lakeprune.apps.verify.verify import audit, verify
    from lakeprune.errors import GateFailed, LakepruneError, PredicateError, StatementError, TableError, TableRefused, UsageError
    from lakeprune.planning.opened import OpenedTable
    from lakeprune.render.openmetrics.families import openmetrics
    from lakeprune.report.model import Report

__version__ = "0.1.0"
__all__ = [
    "GateFailed",
    "LakepruneError",
    "OpenedTable",
    "PredicateError",
    "Report",
    "ScanOptions",
    "ScanPlan",
    "StatementError",
    "TableError",
    "TableRefused",
    "UsageError",
    "__version__",
    "audit",
    "compare",
    "delete",
    "diff",
    "explain",
    "explain_many",
    "merge",
    "open",
    "openmetrics",
    "plan",
    "sql",
    "update",
    "verify",
]

_HOMES = {
    "compare": "lakeprune.apps.compare.compare",
    "GateFailed": "lakeprune.errors",
    "diff": "lakeprune.apps.explain.diff",
    "explain": "lakeprune.apps.explain.explain",
    "explain_many": "lakeprune.apps.explain.explain",
    "open": "lakeprune.apps.open",
    "plan": "lakeprune.apps.scan.plan",
    "sql": "lakeprune.apps.sql.sql",
    "OpenedTable": "lakeprune.planning.opened",
    "ScanPlan": "lakeprune.apps.scan.model",
    "ScanOptions": "lakeprune.apps.scan.options",
    "openmetrics": "lakeprune.render.openmetrics.families",
    "Report": "lakeprune.report.model",
    "audit": "lakeprune.apps.verify.verify",
    "verify": "lakeprune.apps.verify.verify",
    "update": "lakeprune.apps.statements.update_delete.update_delete",
    "delete": "lakeprune.apps.statements.update_delete.update_delete",
    "merge": "lakeprune.apps.statements.merge.merge",
    **dict.fromkeys(
        ("LakepruneError", "PredicateError", "StatementError", "TableError", "TableRefused", "UsageError"), "lakeprune.errors"
    ),
}


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name in ("sharing", "spark", "testing"):
        return import_module(f"lakeprune.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'lakeprune' has no attribute {name!r}")
    value: object = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
