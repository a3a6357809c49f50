"""Tables by name, through PyIceberg's catalogs and their own configuration. The only file that imports PyIceberg.

In: a catalog and a table as PyIceberg calls them. Out: where the table's current metadata file is, and the properties of its
FileIO. What the catalog answers otherwise is an error of ours; secrets in its words are never repeated.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from lakeprune.errors import TableError, UsageError
from lakeprune.extras import install_line
from lakeprune.formats.snapshot import in_short

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog

_SHOWN = 10
# What the libraries behind catalogs raise, found where they were imported.
_FOREIGN = (
    ("sqlalchemy.exc", "SQLAlchemyError"),
    ("botocore.exceptions", "BotoCoreError"),
    ("botocore.exceptions", "ClientError"),
    ("thrift.Thrift", "TException"),
)


class CatalogTable(Struct, frozen=True):
    metadata_location: str
    properties: Mapping[str, str]  # of its FileIO: may hold secrets

    def __repr__(self) -> str:
        return f"CatalogTable({self.metadata_location})"


def catalog_table(catalog: str, name: str) -> CatalogTable:
    """The table that a catalog knows by this name."""
    with _opened(catalog) as opened:
        table = _loaded(opened, catalog, name)
        return CatalogTable(table.metadata_location, dict(table.io.properties))


@contextmanager
def _opened(name: str) -> Iterator[Catalog]:
    try:
        from pyiceberg.catalog import load_catalog
        from pyiceberg.utils.config import Config
    except ImportError as error:
        why = None if (error.name or "pyiceberg").startswith("pyiceberg") else str(error)
        what = "--catalog needs PyIceberg, which is not installed"
        raise UsageError("LP229", what, why=why, fix=f"{install_line('iceberg')}, or give the table's folder") from error
    with _asked(name, "cannot be opened"):
        known = sorted(Config().get_known_catalogs())
    if name.lower() not in known:
        variable = f"PYICEBERG_CATALOG__{re.sub(r'[^A-Z0-9]', '_', name.upper())}__URI"
        fix = f"configure it in .pyiceberg.yaml, or set {variable}; configured: {', '.join(known) or 'none'}"
        raise UsageError("LP229", f"PyIceberg has no catalog `{name}` in its configuration", where="--catalog", fix=fix)
    with _asked(name, "cannot be opened"):
        catalog = load_catalog(name)
    try:
        yield catalog
    finally:
        catalog.close()


def _loaded(catalog: Catalog, called: str, name: str) -> Any:
    from pyiceberg.exceptions import NoSuchIdentifierError, NoSuchNamespaceError, NoSuchTableError

    try:
        with _asked(called, f"cannot load {name}"):
            if "." not in name:
                raise NoSuchTableError(name)
            return catalog.load_table(name)
    except (NoSuchTableError, NoSuchNamespaceError, NoSuchIdentifierError):
        what = f"the catalog {called} has no table `{name}`"
        raise TableError("LP368", what, where="--catalog", fix=_others(catalog, called, name)) from None


def _others(catalog: Catalog, called: str, name: str) -> str:
    """What the catalog does have: tables beside the one that is missing, or namespaces where there is no such one."""
    from pyiceberg.exceptions import NoSuchNamespaceError

    space = name.rpartition(".")[0]
    with _asked(called, "cannot list its tables"):
        try:
            found = [".".join(each) for each in catalog.list_tables(space)] if space else []
        except NoSuchNamespaceError:
            found = []
        kind = "tables" if found else "namespaces"
        found = sorted(found or [".".join(each) for each in catalog.list_namespaces()])
    if close := get_close_matches(name, found, n=1):
        return f"did you mean {close[0]}?"
    shown = ", ".join(found[:_SHOWN]) + (f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else "")
    return f"give NAMESPACE.TABLE; its {kind}: {shown}" if found else "it has no tables yet"


@contextmanager
def _asked(catalog: str, what: str) -> Iterator[None]:
    """Inside, what keeps a catalog from answering is a TableError; that it has no such table is left to the caller."""
    from pyiceberg.exceptions import NoSuchIdentifierError, NoSuchNamespaceError, NoSuchTableError

    try:
        yield
    except (NoSuchTableError, NoSuchNamespaceError, NoSuchIdentifierError):
        raise
    except _failures() as error:
        why = f"{type(error).__name__}: {without_secrets_of(str(error))}"
        fix = "check the catalog's configuration and that it can be reached; or give the table's metadata file"
        # Not `from` the error: its words would be in every traceback.
        raise TableError("LP368", f"the catalog {catalog} {what}", why=why, fix=fix) from None


def _failures() -> tuple[type[Exception], ...]:
    from pyiceberg import exceptions

    own = (kind for kind in vars(exceptions).values() if isinstance(kind, type) and issubclass(kind, Exception))
    foreign = (getattr(sys.modules[module], name) for module, name in _FOREIGN if module in sys.modules)
    return (OSError, ValueError, TypeError, KeyError, AttributeError, RuntimeError, ImportError, *own, *foreign)


def without_secrets_of(words: str) -> str:
    """The words of a catalog on one line, without credentials in URLs and without values of settings.

    >>> without_secrets_of("cannot connect to postgresql://me:pw@host/db?sslkey=x with token=abc")
    'cannot connect to postgresql://...@host/db with token=...'
    """
    line = re.sub(r"(\w+://)[^/\s@]*@", r"\1...@", words)
    line = re.sub(r"(\w+://[^\s?]*)\?\S*", r"\1", line)
    return in_short(re.sub(r"([\w.-]+)=[^\s,')]+", r"\1=...", line))
