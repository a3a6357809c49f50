"""The predicate tree: what front-ends produce, passes rewrite and skipping lowers.

Nodes are frozen; a pass returns a new tree. Values and predicates share one tree, because SQL does
(`(a < 10) IS NULL`, `coalesce(flag, false)`).

    from a front-end      Name Literal Call And Or Not Compare In Like IsNull IsTruth Opaque
    after binding         Column instead of Name, literals in canonical values of a known type
    after normalising     only And Or Not IsNull Either Constant Member NullTest ColumnCompare Exact Opaque (= a `Lowerable`)
"""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from lakeprune.predicate.reasons import Reason
from lakeprune.predicate.schema import Field, Role
from lakeprune.values.intervals import IntervalSet
from lakeprune.values.types import DataType, Scalar


class Op(Enum):
    EQ = "="
    NE = "!="
    LT = "<"
    LE = "<="
    GT = ">"
    GE = ">="
    NULL_SAFE_EQ = "<=>"


class Name(Struct, frozen=True, cache_hash=True):
    """A column as written; `start` and `end` are offsets into the predicate text, for error messages."""

    parts: tuple[str, ...]
    start: int = -1
    end: int = -1


class Column(Struct, frozen=True, cache_hash=True):
    """A bound column. Two references to one column are equal."""

    path: tuple[str, ...]
    physical: tuple[str, ...]
    type: DataType
    role: Role
    statistics_unusable: str | None = None
    has_nanoseconds: bool = False

    @classmethod
    def at(cls, path: tuple[Field, ...]) -> Column:
        """The column of a field, given with the structs it lies in."""
        unusable = next((field.statistics_unusable for field in path if field.statistics_unusable), None)
        names, physical = tuple(field.name for field in path), tuple(field.physical for field in path)
        return cls(names, physical, path[-1].type, path[0].role, unusable, path[-1].has_nanoseconds)


class Literal(Struct, frozen=True, cache_hash=True):
    """A constant. `type` is None only for NULL and, before binding, for numbers and strings that take a column's type.

    Before binding a number is an exact Decimal or int, a double literal (`1e3`, `1.0D`) a float, text a str.
    """

    value: Scalar
    type: DataType | None = None


class Call(Struct, frozen=True, cache_hash=True):
    """A deterministic function or operator that lakeprune knows, by its canonical lower-case name (see functions/)."""

    function: str
    args: tuple[Expr, ...]
    type: DataType | None = None  # of the result, once bound


class And(Struct, frozen=True, cache_hash=True):
    parts: tuple[Expr, ...]


class Or(Struct, frozen=True, cache_hash=True):
    parts: tuple[Expr, ...]


class Not(Struct, frozen=True, cache_hash=True):
    part: Expr


class Compare(Struct, frozen=True, cache_hash=True):
    op: Op
    left: Expr
    right: Expr


class In(Struct, frozen=True, cache_hash=True):
    value: Expr
    options: tuple[Expr, ...]


class Like(Struct, frozen=True, cache_hash=True):
    """`value LIKE pattern ESCAPE escape`; `kind` is "like", "ilike" or "rlike" (no escape)."""

    value: Expr
    pattern: Expr
    escape: str = "\\"
    kind: str = "like"


class IsNull(Struct, frozen=True, cache_hash=True):
    """`part IS NULL`, for a value or a predicate."""

    part: Expr


class IsTruth(Struct, frozen=True, cache_hash=True):
    """`part IS TRUE` or `part IS FALSE`: never NULL."""

    part: Expr
    truth: bool


class Opaque(Struct, frozen=True, cache_hash=True):
    """Something that may be TRUE, FALSE or NULL on any row, and why nothing more is known. Columns are still bound.

    `text` is for reading and may be shortened; `sql` is the whole of it, as an engine can evaluate it, where that is known.
    """

    text: str
    reason: Reason
    columns: tuple[Expr, ...] = ()
    sql: str | None = None


class Constant(Struct, frozen=True, cache_hash=True):
    """TRUE, FALSE or NULL on every row."""

    truth: bool | None


class Member(Struct, frozen=True, cache_hash=True):
    """`column` lies in `values`: TRUE inside, FALSE outside, NULL for NULL. All comparisons end here."""

    column: Column
    values: IntervalSet


class Within(Struct, frozen=True, cache_hash=True):
    """`value` lies in `values`, for an expression that is not a bare column yet; passes turn it into Member, Exact or Opaque."""

    value: Expr
    values: IntervalSet


class NullTest(Struct, frozen=True, cache_hash=True):
    """`column IS NULL`; the column may be a struct, whose leaves then carry the evidence."""

    column: Column
    leaves: tuple[Column, ...] = ()  # of a struct column: any leaf proven without NULL proves the struct is not NULL


class ColumnCompare(Struct, frozen=True, cache_hash=True):
    """Two columns of one family, row by row; `op` is EQ, LT or LE (others are NOT or swapped sides)."""

    op: Op
    left: Column
    right: Column


class Either(Struct, frozen=True, cache_hash=True):
    """The truth is that of `outer` or of `inner`, row by row, and it is not known which.

    `Either(ts in wide range, ts in narrow range)` says: TRUE at most inside the wide one, FALSE at most outside the narrow one.
    """

    outer: Expr
    inner: Expr


class Exact(Struct, frozen=True, cache_hash=True):
    """A predicate over partition columns only, evaluated on the partition values themselves."""

    predicate: Expr
    columns: tuple[Column, ...]


Expr = (
    Name | Column | Literal | Call | And | Or | Not | Compare | In | Like | IsNull | IsTruth
    | Opaque | Constant | Member | Within | NullTest | ColumnCompare | Either | Exact
)  # fmt: skip
Lowerable = And | Or | Not | IsNull | Either | Constant | Member | NullTest | ColumnCompare | Exact | Opaque

TRUE = Constant(True)
FALSE = Constant(False)
NULL = Constant(None)


class Clause(Struct, frozen=True, cache_hash=True):
    """A top-level conjunct, ready to be lowered.

    `text` is what the user wrote, `rewritten` what is evaluated when that differs, `reasons` everything in it that
    metadata cannot decide.
    """

    text: str
    predicate: Lowerable
    rewritten: str | None = None
    reasons: tuple[Reason, ...] = ()


class NanPolicy(Enum):
    """What is made of statistics that may hide NaN outside their bounds, as those of most writers do (trap T1)."""

    ASSUME = "assume"  # a drop may rest on the assumption that none is hidden; the answer says which do
    STRICT = "strict"  # what is not proven free of NaN may hold it
    SPARK_WRITERS = "spark-writers"  # whoever wrote the table keeps NaN in the recorded maximum, as Delta Spark does


class Profile(Struct, frozen=True, cache_hash=True):
    """What a predicate means beyond its text: the session it is read in. Pure passes take it as an argument.

    `now` is microseconds since the epoch. `zone_is_given` is False when the zone is only the default: then partition
    timestamps without an offset are not trusted to be in it. `ansi` is Spark's ANSI mode, on by default since Spark 4: it decides
    which comparisons are refused, and nothing else.
    """

    now: int
    zone: str = "UTC"
    zone_is_given: bool = False
    nan_policy: NanPolicy = NanPolicy.STRICT
    ansi: bool = True
