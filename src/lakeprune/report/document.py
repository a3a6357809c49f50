"""What every document is: the result of an application, rendered in each format that render/registry.py has for its kind."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from msgspec import Struct

from lakeprune import __version__


class View(Struct, frozen=True):
    """How much of a document is shown."""

    verbose: bool = False  # every file is listed, where the document has a listing
    limit: int | None = None  # of files that are listed
    width: int | None = None  # of a terminal with colours, None for plain text
    which: str = "all"  # of the files that are listed, one of WHICH
    sort: str = "path"  # one of SORTS
    file: str | None = None  # list this file alone: its path, or the end of it


WHICH = ("all", "kept", "dropped")
SORTS = ("path", "size")  # the largest first
WHOLE = View()
Outcome = Literal["pass", "fail"]


def outcome(passed: bool) -> Outcome:
    return "pass" if passed else "fail"


class Envelope(Struct, frozen=True, kw_only=True):
    """What every JSON document says about itself, after its own fields. A document is one class that inherits this."""

    elapsed_ms: int
    schema_version: str
    tool_version: str


class Document(Struct, frozen=True):
    kind: ClassVar[str]  # the name of its renderers and of its schema in schemas/
    schema_version: ClassVar[str] = "1.0.0"  # of its JSON: a new field raises the minor, a changed meaning the major number

    @property
    def tool_version(self) -> str:
        return __version__

    def to_struct(self, view: View) -> Envelope:
        """The JSON document as one value, whose class its JSON Schema is made from."""
        raise NotImplementedError

    def to_dict(self, *, verbose: bool = False, limit: int | None = None) -> dict[str, Any]:
        """The JSON document as Python values; with `verbose` every file is in it."""
        import json

        found: dict[str, Any] = json.loads(self.to_json(verbose=verbose, limit=limit))
        return found

    def to_json(self, *, verbose: bool = False, limit: int | None = None) -> str:
        return self._rendered("json", View(verbose, limit))

    def to_text(self, *, verbose: bool = False, limit: int | None = None) -> str:
        return self._rendered("text", View(verbose, limit))

    def to_markdown(self, *, verbose: bool = False, limit: int | None = None) -> str:
        """For pull requests and step summaries, where the document has that form."""
        return self._rendered("markdown", View(verbose, limit))

    def to_html(self) -> str:
        """One self-contained page; of a report, the metadata is read again for its pictures and its list of files."""
        return self._rendered("html", WHOLE)

    def _repr_html_(self) -> str:
        """The compact form, for notebooks."""
        return self._rendered("notebook", WHOLE)

    def __str__(self) -> str:
        return self.to_text()

    def _rendered(self, form: str, view: View) -> str:
        from lakeprune.render.registry import rendered

        return "".join(rendered(self, form, view))
