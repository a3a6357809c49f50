"""Hand-made verdict patterns and plans, for testing what a report says about them without any table."""

from __future__ import annotations

from lakeprune.formats.delta.ladder import EVIDENCE
from lakeprune.predicate.reasons import Reason, ReasonCode
from lakeprune.predicate.schema import Role
from lakeprune.predicate.tree import Clause, Column, Member, NullTest, Opaque
from lakeprune.programs.patterns import Outcome, Pattern, Signature
from lakeprune.skipping.plan import Lift, Plan, plan_clauses
from lakeprune.values.intervals import compare
from lakeprune.values.types import INT, STRING

COUNTRY = Column(("country",), ("country",), STRING, Role.PARTITION)
AGE = Column(("age",), ("age",), INT, Role.DATA)
NAME = Column(("name",), ("name",), STRING, Role.DATA)

IN_GERMANY = Clause("country = 'DE'", Member(COUNTRY, compare("=", "DE", STRING)))
OVER_40 = Clause("age > 40", Member(AGE, compare(">", 40, INT)))
NO_NAME = Clause("name IS NULL", NullTest(NAME))
_REASON = Reason(ReasonCode.OPAQUE_ON_DATA, "min/max say nothing about LIKE '%x%'")
HAS_X = Clause("name LIKE '%x%'", Opaque("name LIKE '%x%'", _REASON, (NAME,)), None, (_REASON,))


def plan(*clauses: Clause) -> Plan:
    return plan_clauses(clauses, EVIDENCE)


# How a clause behaves on a group of files.
MATCHES = Outcome(True, False, (True, True))  # every row
MAY_MATCH = Outcome(True, True, (True, True))
NOT_BY_PARTITION = Outcome(False, True, (False, True))
NOT_BY_STATISTICS = Outcome(False, True, (True, False))
NOT_BY_BOTH = Outcome(False, True, (True, True))
STATISTIC_MISSING = Outcome(True, True, (True, True), frozenset({Lift.MISSING}))
NAN_POSSIBLE = Outcome(True, True, (True, True), frozenset({Lift.NAN}))
OUTCOMES = (MATCHES, MAY_MATCH, NOT_BY_PARTITION, NOT_BY_STATISTICS, NOT_BY_BOTH, STATISTIC_MISSING, NAN_POSSIBLE)


def files(
    count: int, *outcomes: Outcome, size: int = 100, rows: int | None = 10, known: bool = True, empty: bool = False
) -> Pattern:
    """`count` files of `size` bytes and `rows` rows each, on which the clauses behave like this."""
    columns = len(outcomes)  # never fewer than the columns of the plans above
    signature = Signature(tuple(outcomes), empty, known, False, (known,) * columns, (known,) * columns)
    return Pattern(signature, count, count * size, count * (rows or 0), 0 if rows is not None else count)
