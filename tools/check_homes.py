"""Each third-party library has its home: files outside the patterns below never import it, not even inside a function.

Patterns, because import-linter knows names of modules only: a new `spark_*.py` needs no new line.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from tools.repository import ROOT, conclude, repository_files

SOURCE = Path("src/lakeprune")
_SPARK = ("engines/spark/*.py", "**/spark_*.py")
HOMES: dict[str, tuple[str, ...]] = {
    "_duckdb": ("engines/duckdb/engine.py",),
    "duckdb": ("engines/duckdb/queries.py", "apps/compare/engines/duckdb_delta.py"),
    "obstore": ("storage/object/client.py",),
    "sqlglot": ("predicate/read/sql/*.py",),
    "pyiceberg": ("formats/iceberg/catalogs.py",),
    "fastavro": ("formats/iceberg/avro/other.py",),
    "pyroaring": ("formats/deleted_rows.py",),
    "pyarrow": (
        "report/arrow.py",
        "apps/scan/*.py",
        "apps/scan/*/*.py",
        "apps/sql/*.py",
        "apps/compare/engines/*.py",
        "apps/sharing/*/*.py",
        "cli/plan.py",
        "engines/duckdb/*.py",
        "engines/spark/*.py",
    ),
    "rich": ("render/text/terminal.py",),
    "pyspark": _SPARK,
    "starlette": ("apps/sharing/server/*.py",),
    "uvicorn": ("apps/sharing/server/connection.py", "apps/sharing/server/run.py"),
    "h11": ("apps/sharing/server/connection.py",),
    "yaml": ("apps/sharing/server/yaml_lines.py",),
    "anyio": ("apps/sharing/server/*.py",),
    "py4j": _SPARK,
    "delta": _SPARK,
}


def homeless(root: Path) -> Iterator[str]:
    """Every import of a library away from its home."""
    for path in repository_files(root):
        if path.is_relative_to(SOURCE) and path.suffix == ".py":
            inside = path.relative_to(SOURCE)
            for library, line in _imports(ast.parse((root / path).read_text(encoding="utf-8"))):
                if library in HOMES and not any(_lies_in(inside, pattern) for pattern in HOMES[library]):
                    yield f"{path}:{line}: imports {library}, whose home is {' or '.join(HOMES[library]) or 'nowhere'}"


def _lies_in(path: Path, pattern: str) -> bool:
    """`Path.match` anchors only at the end, so `**/` in front of a pattern is what it does anyway.

    >>> _lies_in(Path("apps/verify/spark_rows.py"), "**/spark_*.py"), _lies_in(Path("cli/spark_flags.py"), "engines/spark/*.py")
    (True, False)
    """
    return path.match(pattern.removeprefix("**/"))


def _imports(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """The top-level packages a file imports when it runs; what only type checkers see does not count."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.Import):
            yield from ((alias.name.partition(".")[0], node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.partition(".")[0], node.lineno
        yield from _imports(node)


if __name__ == "__main__":
    sys.exit(conclude("homes of libraries", homeless(ROOT)))
