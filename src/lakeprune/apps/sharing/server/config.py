"""What is shared with whom, read from a YAML file or made for one table.

In: the path of a file. Out: `Config`, or a UsageError with the line that is wrong and how to mend it. Secrets are read from where
the file says they are; a secret in the file itself is refused. No table is opened here.
"""

from __future__ import annotations

import os
import re
import ssl
import uuid
from collections.abc import Iterator, Mapping
from ipaddress import ip_address
from typing import Any, NoReturn

import msgspec
from msgspec import Struct

from lakeprune.apps.sharing.server.config_file import (
    ConfigFile,
    LimitsEntry,
    RecipientEntry,
    Secret,
    ShareEntry,
    TableEntry,
    TlsEntry,
)
from lakeprune.apps.sharing.server.keys import KeyRing, key_ring
from lakeprune.apps.sharing.server.yaml_lines import Path, YamlProblem, read_yaml
from lakeprune.errors import UsageError

_SECRET = re.compile(r"secret|password|token|(?:^|_)key$|access_key$|sas|connection_string|credential", re.IGNORECASE)
_BAD_NAME = re.compile(r"[\s/#\x00-\x1f\x7f]")
LONGEST_NAME = 255
NAME_RULE = f"1 to {LONGEST_NAME} characters, no blank, no `/`, no `#`"
_IDS = uuid.UUID("7d1cdb5a-5b5e-4f43-8c0e-4d5a1f5e6a10")  # shares and tables get ids that follow from their names
LARGEST_CONFIG = 4 << 20


class SharedTable(Struct, frozen=True):
    """A table as one share shows it: two shares of one location have two of these."""

    share: str
    schema: str
    name: str
    location: str
    history: bool = False
    start_version: int = 0
    proxy: bool = False
    access: Mapping[str, Any] = {}

    @property
    def full_name(self) -> str:
        return f"{self.share}.{self.schema}.{self.name}"

    @property
    def id(self) -> str:
        return id_of(self.full_name)

    def __repr__(self) -> str:
        return f"SharedTable({self.full_name})"  # not how it is reached


class Share(Struct, frozen=True):
    name: str
    tables: tuple[SharedTable, ...]
    schemas: tuple[str, ...]
    comment: str | None = None
    sql_hints: str = "on"


class Recipient(Struct, frozen=True):
    name: str
    shares: tuple[str, ...]  # lower case
    where: Mapping[str, str] = {}  # full name of a table, lower case -> condition


class Config(Struct, frozen=True):
    endpoint: str
    host: str
    port: int
    keys: KeyRing
    shares: tuple[Share, ...]
    recipients: Mapping[str, Recipient]
    tokens_path: str | None
    url_lifetime: int = 3600
    refresh: float = 1.0
    limits: LimitsEntry = LimitsEntry()
    tls: TlsEntry | None = None
    behind_proxy: bool = False
    trusted_proxies: tuple[str, ...] = ()

    @property
    def prefix(self) -> str:
        """The path of the endpoint, without a slash at its end."""
        return "/" + self.endpoint.split("://", 1)[1].partition("/")[2].strip("/") if self.endpoint.count("/") > 2 else ""

    def __repr__(self) -> str:
        return f"Config({self.endpoint})"


def id_of(name: str) -> str:
    """A UUID for a share or table, the same on every start: Databricks mounts nothing without one."""
    return str(uuid.uuid5(_IDS, name.lower()))


def is_name(name: str) -> bool:
    """Whether clients can write this name: before the last `#` of an address they look for the profile."""
    return 0 < len(name) <= LONGEST_NAME and _BAD_NAME.search(name) is None


def is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def default_tokens_path(config: str) -> str:
    """Where hashes of tokens are kept beside a configuration."""
    return f"{os.path.splitext(config)[0]}.tokens.json"


def read_config(path: str) -> Config:
    """The configuration in a file; LP293 with its line when something in it is wrong."""
    return _Reader(path).config()


def keys_file(path: str) -> str:
    """The file of signing keys that a configuration names, which need not exist yet."""
    return _Reader(path).keys_file()


class _Reader:
    def __init__(self, path: str) -> None:
        self.path = path
        self.lines: dict[Path, int] = {}

    def config(self) -> Config:
        given = self._top(self._text())
        shares = tuple(self._shares(given))
        host, port = self._address(given)
        return Config(
            given.endpoint.rstrip("/"),
            host,
            port,
            key_ring(self._secret(given.keys, ("keys",))),
            shares,
            {name: self._recipient(name, entry, shares) for name, entry in given.recipients.items()},
            self._beside(given.tokens) if given.tokens else default_tokens_path(self.path),
            given.url_lifetime,
            given.refresh,
            given.limits,
            None if given.tls is None else self._tls(given.tls),
            given.behind_proxy,
            tuple(given.trusted_proxies),
        )

    def keys_file(self) -> str:
        given = self._top(self._text())
        if given.keys.file is None:
            fix = "put `id:hex` into the environment variable, in front of the older lines"
            raise UsageError("LP282", "the signing keys are not in a file", where=self._place(("keys",), None), fix=fix)
        return self._beside(given.keys.file)

    def _text(self) -> str:
        try:
            with open(self.path, encoding="utf-8") as file:
                return file.read(LARGEST_CONFIG)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or "it is not UTF-8 text"
            fix = "give a readable YAML file, see docs/commands/serve.md"
            raise UsageError("LP293", "the configuration cannot be read", where=self.path, why=why, fix=fix) from error

    def _top(self, text: str) -> ConfigFile:
        try:
            value, self.lines = read_yaml(text)
        except YamlProblem as problem:
            raise self._wrong(str(problem), None, line=problem.line) from problem
        if not isinstance(value, dict):
            raise self._wrong("the file is not a mapping", (), fix="begin with `endpoint: https://...`")
        self._check_secrets(value)
        parts: dict[str, Any] = {**value}
        # Piece by piece, so that an error knows the names on its way and with them its line.
        for kind, shape in (("shares", ShareEntry), ("recipients", RecipientEntry)):
            entries = value.get(kind)
            if entries is None:
                entries = {} if kind == "recipients" and kind not in value else None
            if not isinstance(entries, dict):
                raise self._wrong(f"`{kind}` is not a mapping of names", (kind,), fix=f"write `{kind}:` and a name below it")
            parts[kind] = {str(name): self._entry(kind, name, entry, shape) for name, entry in entries.items()}
        return self._converted(parts, ConfigFile, ())  # type: ignore[no-any-return]

    def _entry(self, kind: str, name: Any, entry: Any, shape: type) -> Any:
        path: Path = (kind, str(name))
        if isinstance(entry, dict) and kind == "shares" and isinstance(schemas := entry.get("schemas"), dict):
            read = {}
            for schema, tables in schemas.items():
                if not isinstance(tables, dict):
                    raise self._wrong(f"schema `{schema}` is not a mapping of tables", (*path, "schemas", str(schema)))
                read[str(schema)] = {
                    str(table): self._converted(value, TableEntry, (*path, "schemas", str(schema), str(table)))
                    for table, value in tables.items()
                }
            entry = {**entry, "schemas": read}
        return self._converted(entry, shape, path)

    def _converted(self, value: Any, shape: type, path: Path) -> Any:
        try:
            return msgspec.convert(value, shape, from_attributes=True)
        except msgspec.ValidationError as error:
            what, _, at = str(error).partition(" - at `")
            inner = tuple(re.findall(r"\.([A-Za-z_]\w*)", at.rstrip("`")))
            if field := re.search(r"unknown field `(.*)`", what):
                known = ", ".join(getattr(shape, "__struct_fields__", ())) if not inner else ""
                raise self._wrong(
                    f"`{field[1]}` is not a setting",
                    (*path, *inner, field[1]),
                    fix=f"the settings here are: {known}" if known else None,
                ) from error
            name = ".".join(map(str, (*path, *inner)))
            raise self._wrong(f"{name}: {what[:1].lower()}{what[1:]}" if name else what, (*path, *inner)) from error

    def _check_secrets(self, value: dict[str, Any]) -> None:
        """A secret in the file is refused before anything else is said about it."""
        if isinstance(value.get("keys"), str):
            self._refuse_literal("keys", ("keys",))
        for path, name, given in _options(value):
            if isinstance(given, str) and _SECRET.search(name):
                self._refuse_literal(name, path)

    def _refuse_literal(self, name: str, path: Path) -> NoReturn:
        fix = f"write `{name}: {{env: NAME}}` or `{name}: {{file: PATH}}`, and put the secret there"
        why = "a file of settings is copied and committed, and whoever reads it has the secret"
        raise UsageError("LP294", f"`{name}` holds a secret", where=self._place(path, None), why=why, fix=fix)

    def _tls(self, entry: TlsEntry) -> TlsEntry:
        """Read once here, so that what is wrong with it has a line."""
        found = TlsEntry(self._beside(entry.certificate), self._beside(entry.key))
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(found.certificate, found.key, password="")
        except OSError as error:
            fix = "name PEM files: the certificate with its chain, and its key without a password"
            raise self._wrong(
                "the certificate or its key cannot be used", ("tls",), why=error.strerror or error.args[-1], fix=fix
            ) from error
        return found

    def _secret(self, secret: Secret, path: Path) -> str:
        if (secret.env is None) == (secret.file is None):
            raise self._wrong("a secret has either `env` or `file`", path, fix="write {env: NAME} or {file: PATH}")
        if secret.env is not None:
            value = os.environ.get(secret.env)
            if not value:
                fix = f"set {secret.env} before the server starts"
                raise UsageError("LP282", f"the environment has no {secret.env}", where=self._place(path, None), fix=fix)
            return value
        place = self._beside(str(secret.file))
        try:
            with open(place, encoding="utf-8") as file:
                return file.read(1 << 16)
        except (OSError, ValueError) as error:
            fix = f"lakeprune share key add --config {self.path}" if path == ("keys",) else "check the path"
            why = getattr(error, "strerror", None) or "it is not text"
            raise UsageError(
                "LP282", f"the secret in {place} cannot be read", where=self._place(path, None), why=why, fix=fix
            ) from error

    def _shares(self, given: ConfigFile) -> Iterator[Share]:
        seen: set[str] = set()
        for name, entry in given.shares.items():
            path: Path = ("shares", name)
            self._check_name(name, path, seen, "share")
            schemas: set[str] = set()
            tables = []
            for schema, entries in entry.schemas.items():
                self._check_name(schema, (*path, "schemas", schema), schemas, "schema")
                names: set[str] = set()
                for table, each in entries.items():
                    at = (*path, "schemas", schema, table)
                    self._check_name(table, at, names, "table")
                    tables.append(self._table((name, schema, table), each, at))
            given_hints = entry.sql_hints
            hints = given_hints if isinstance(given_hints, str) else ("on" if given_hints else "off")  # YAML's own on and off
            yield Share(name, tuple(tables), tuple(entry.schemas), entry.comment, hints)

    def _table(self, names: tuple[str, str, str], entry: TableEntry, path: Path) -> SharedTable:
        is_remote = "://" in entry.location
        if entry.start_version and not entry.history:
            raise self._wrong("`start_version` has no meaning without `history: true`", (*path, "start_version"))
        options = {
            name: value if isinstance(value, str) else self._secret(value, (*path, "options", name))
            for name, value in entry.options.items()
        }
        access: dict[str, Any] = {}
        if is_remote:
            access = {"storage_options": options, "env_creds": entry.env_creds}
        elif options or entry.env_creds:
            raise self._wrong("`options` and `env_creds` are for object stores", (*path, "options" if options else "env_creds"))
        location = entry.location if is_remote else self._beside(entry.location)
        return SharedTable(*names, location, entry.history, entry.start_version, entry.proxy, access)

    def _recipient(self, name: str, entry: RecipientEntry, shares: tuple[Share, ...]) -> Recipient:
        known = {share.name.lower() for share in shares}
        tables = {table.full_name.lower() for share in shares for table in share.tables}
        for index, share in enumerate(entry.shares):
            if share.lower() not in known:
                raise self._wrong(f"there is no share `{share}`", ("recipients", name, "shares", index), fix=_close(share, known))
        for table in entry.where:
            if table.lower() not in tables:
                raise self._wrong(f"there is no table `{table}`", ("recipients", name, "where", table), fix=_close(table, tables))
        shares_ = tuple(share.lower() for share in entry.shares)
        return Recipient(name, shares_, {table.lower(): where for table, where in entry.where.items()})

    def _check_name(self, name: str, path: Path, seen: set[str], kind: str) -> None:
        if not is_name(name) or (kind != "share" and "." in name):
            dots = "" if kind == "share" else ", no `.`"
            raise self._wrong(f"`{name}` is not a name of a {kind}", path, fix=f"{NAME_RULE}{dots}")
        if name.lower() in seen:
            raise self._wrong(f"the {kind} `{name}` exists already", path, why="names are the same in any case")
        seen.add(name.lower())

    def _address(self, given: ConfigFile) -> tuple[str, int]:
        host, _, port = given.listen.rpartition(":")
        if not host or not port.isascii() or not port.isdigit() or int(port) > 65535:
            raise self._wrong(f"`{given.listen}` is not an address and a port", ("listen",), fix="write 127.0.0.1:8686")
        host = host.strip("[]")
        if not is_loopback(host) and given.tls is None and not given.behind_proxy:
            fix = "add `tls:` with `certificate` and `key`, or `behind_proxy: true` where a proxy ends TLS"
            raise self._wrong(f"{host} is open to others, and nothing encrypts", ("listen",), fix=fix)
        return host, int(port)

    def _beside(self, path: str) -> str:
        return os.path.join(os.path.dirname(os.path.abspath(self.path)), os.path.expanduser(path))

    def _wrong(
        self, what: str, path: Path | None, *, line: int | None = None, why: str | None = None, fix: str | None = None
    ) -> UsageError:
        fix = fix or "see docs/commands/serve.md, or schemas/shares.schema.json"
        return UsageError("LP293", what, where=self._place(path, line), why=why, fix=fix)

    def _place(self, path: Path | None, line: int | None) -> str:
        while line is None and path:
            line, path = self.lines.get(path), path[:-1]
        return self.path if line is None else f"{self.path}, line {line}"


def _options(value: dict[str, Any]) -> Iterator[tuple[Path, str, Any]]:
    """The storage options of every table, wherever the file has them."""
    shares = value.get("shares")
    for share, entry in shares.items() if isinstance(shares, dict) else ():
        schemas = entry.get("schemas") if isinstance(entry, dict) else None
        for schema, tables in schemas.items() if isinstance(schemas, dict) else ():
            for table, each in tables.items() if isinstance(tables, dict) else ():
                options = each.get("options") if isinstance(each, dict) else None
                for name, given in options.items() if isinstance(options, dict) else ():
                    yield ("shares", str(share), "schemas", str(schema), str(table), "options", str(name)), str(name), given


def _close(name: str, known: set[str]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(name.lower(), known, n=1)
    return f"did you mean {close[0]}?" if close else f"known are: {', '.join(sorted(known)) or 'none'}"
