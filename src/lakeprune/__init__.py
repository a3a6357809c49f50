"""lakeprune: which files a predicate must read, why, and what would make it fewer.

    >>> import lakeprune
    >>> lakeprune.explain("./users", where="country = 'DE' AND age > 40")  # doctest: +SKIP

Names are imported when they are first used, so that `import lakeprune` costs nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as in typing, whose import alone would be most of what `import lakeprune` costs

if TYPE_CHECKING:
    from lakeprune.apps.explain.explain import explain, explain_many
    from lakeprune.apps.statements.delete.delete import delete
    from lakeprune.apps.statements.merge.merge import merge
    from lakeprune.apps.statements.update.update import update
    from lakeprune.apps.verify.audit import audit
    from lakeprune.apps.verify.verify import verify
    from lakeprune.errors import LakepruneError, PredicateError, StatementError, TableError, TableRefused, UsageError
    from lakeprune.report.model import Report

__version__ = "0.1.0"
__all__ = [
    "LakepruneError",
    "PredicateError",
    "Report",
    "StatementError",
    "TableError",
    "TableRefused",
    "UsageError",
    "__version__",
    "audit",
    "delete",
    "explain",
    "explain_many",
    "merge",
    "update",
    "verify",
]

_HOMES = {
    "explain": "lakeprune.apps.explain.explain",
    "explain_many": "lakeprune.apps.explain.explain",
    "Report": "lakeprune.report.model",
    "audit": "lakeprune.apps.verify.audit",
    "verify": "lakeprune.apps.verify.verify",
    "update": "lakeprune.apps.statements.update.update",
    "delete": "lakeprune.apps.statements.delete.delete",
    "merge": "lakeprune.apps.statements.merge.merge",
    **dict.fromkeys(
        ("LakepruneError", "PredicateError", "StatementError", "TableError", "TableRefused", "UsageError"), "lakeprune.errors"
    ),
}


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name == "spark":
        return import_module("lakeprune.spark")
    if name not in _HOMES:
        raise AttributeError(f"module 'lakeprune' has no attribute {name!r}")
    value: object = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
