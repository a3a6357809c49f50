"""The hints that a reader sends for a predicate, and what they cannot say.

In: a condition and the columns of a table. Out: a document with `jsonPredicateHints` and `predicateHints`. Whoever sends them
still has to filter: a hint drops files, never rows, and may say less than the predicate.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field
from msgspec.structs import replace

from lakeprune.errors import UsageError
from lakeprune.predicate.schema import Field, Role, Schema
from lakeprune.predicate.write.sharing_hints import HintWriter, Omitted, joined, json_text
from lakeprune.predicate.write.sharing_sql import sql_entries
from lakeprune.report.document import Document, Envelope, View

if TYPE_CHECKING:
    from lakeprune.predicate.tree import Profile

MAX_JSON = 256 * 1024  # what our server reads of one hint


class OmittedPart(Struct, frozen=True):
    text: str
    reason: str


class HintsDocument(Envelope, frozen=True):
    """`lakeprune hints --format json`."""

    where: str
    json_hint: str | None = field(name="jsonPredicateHints")
    sql_hints: list[str] = field(name="predicateHints")
    is_exact: bool
    omitted: list[OmittedPart]


class Hints(Document, frozen=True):
    """The hints of one predicate; `is_exact` says that the JSON hint is TRUE on exactly the rows of the predicate."""

    kind = "hints"
    where: str
    json: str | None  # None: nothing of the predicate can be said
    sql: tuple[str, ...]
    omitted: tuple[Omitted, ...]
    is_exact: bool
    elapsed_ms: int

    def to_struct(self, view: View) -> HintsDocument:  # noqa: ARG002  # there is nothing to list
        return HintsDocument(
            where=self.where,
            json_hint=self.json,
            sql_hints=list(self.sql),
            is_exact=self.is_exact,
            omitted=[OmittedPart(part.text, part.reason) for part in self.omitted],
            elapsed_ms=self.elapsed_ms,
            schema_version=self.schema_version,
            tool_version=self.tool_version,
        )


def hints_of(where: str, schema: Schema, profile: Profile) -> Hints:
    """The hints of a condition on a table of these columns."""
    from lakeprune.predicate.bind.bind import bind
    from lakeprune.predicate.passes.split import written_clauses
    from lakeprune.predicate.read.sql.parse import read_condition

    started = time.monotonic()
    condition = read_condition(where, profile)
    # As data columns: what is asked of a partition value by a function is a range, too.
    bound = bind(condition.tree, Schema(tuple(map(_as_data, schema.fields))), profile, where)
    writer = HintWriter()
    nodes = [writer.node(clause.predicate) for _, clause in written_clauses(bound, profile)]
    node = joined("and", [found for found in nodes if found is not None])
    text = None if node is None else json_text(node)
    omitted, is_exact = list(writer.omitted), writer.is_exact
    if text is not None and len(text) > MAX_JSON:
        text, is_exact = None, False
        omitted.append(Omitted(where[:200], f"its JSON hint would have more than {MAX_JSON // 1024} KiB"))
    elapsed = round(1000 * (time.monotonic() - started))
    return Hints(where, text, sql_entries(node), tuple(omitted), is_exact, elapsed)


def schema_of(schema: Any) -> Schema:
    """The columns of a Delta schema as JSON text, of a deltalake Schema, or of a pyarrow Schema."""
    from lakeprune.formats.delta.schema import delta_schema

    if isinstance(schema, Schema):
        return schema
    if not isinstance(schema, str) and hasattr(schema, "to_json"):
        schema = schema.to_json()
    elif not isinstance(schema, str) and hasattr(schema, "field") and hasattr(schema, "names"):
        from deltalake import Schema as DeltaLakeSchema

        schema = DeltaLakeSchema.from_arrow(schema).to_json()
    if not isinstance(schema, str):
        fix = "give the JSON of a Delta schema, or a schema of deltalake or pyarrow"
        raise UsageError("LP214", f"a {type(schema).__name__} is not a schema", fix=fix)
    return delta_schema(schema, (), mapped=False).schema


def _as_data(column: Field) -> Field:
    return replace(column, role=Role.DATA)
