"""Guards: what they refuse, what they let pass, and what they say about it. No table is needed."""

from __future__ import annotations

from typing import Any

import pytest

from lakeprune.apps.statements.guards import Guards, guards_of, judge
from lakeprune.apps.statements.model import Effects
from lakeprune.errors import UsageError
from lakeprune.report.amount import Amount
from lakeprune.skipping.plan import Plan
from tests.builders.reports import snapshot
from tests.builders.tables import planner_over

EFFECTS = Effects(Amount(3, 3_000, 30), Amount(2, 2_000, 20), Amount(1, 1_000, 10), Amount(), updated=5, deleted=10)


def plan_of(where: str) -> Plan:
    return planner_over(snapshot()).ask(where).plan


@pytest.mark.parametrize(
    ("guards", "passed", "message"),
    [
        (Guards(max_rewrite_bytes=2_000), True, "2.0 KB (2000 bytes) to rewrite are above the limit of 2000 bytes"),
        (Guards(max_rewrite_bytes=1_999), False, "2.0 KB (2000 bytes) to rewrite are above the limit of 1999 bytes"),
        (Guards(max_files=3), True, "3 file(s) to change are above the limit of 3"),
        (Guards(max_files=2), False, "3 file(s) to change are above the limit of 2"),
        (Guards(max_rows=15), True, "15 row(s) to change are above the limit of 15"),
        (Guards(max_rows=14), False, "15 row(s) to change are above the limit of 14"),
        (Guards(max_rows=0), False, "15 row(s) to change are above the limit of 0"),
    ],
)
def test_a_limit_is_kept_up_to_itself(guards: Guards, passed: bool, message: str) -> None:
    (assertion,) = judge(guards, EFFECTS, plan_of("age > 3"))
    assert (assertion.passed, assertion.message) == (passed, message)


def test_a_limit_on_rows_that_nobody_counted_is_not_kept() -> None:
    unknown = Effects(Amount(1, 10), Amount(), Amount(1, 10), Amount(), deleted=None)
    (assertion,) = judge(Guards(max_rows=10**9), unknown, plan_of("age > 3"))
    assert not assertion.passed
    assert "does not record how many rows" in assertion.message


@pytest.mark.parametrize(
    ("where", "is_bounded"),
    [
        ("country = 'DE'", True),
        ("country = 'DE' AND age > 3", True),
        ("(country = 'DE' AND age > 3) OR country = 'IT'", True),
        ("upper(country) = 'DE'", True),
        ("age > 3", False),
        ("country = 'DE' OR age > 3", False),
        ("country = name", False),
        ("TRUE", False),
    ],
)
def test_a_partition_filter_is_one_that_every_row_has_to_satisfy(where: str, is_bounded: bool) -> None:
    (assertion,) = judge(Guards(require_partition_filter=True), EFFECTS, plan_of(where))
    assert (assertion.name, assertion.passed) == ("partition_filter", is_bounded)


def test_guards_are_judged_in_a_fixed_order_and_only_those_asked_for() -> None:
    options = {"require_partition_filter": True, "max_rows": 1, "max_files": 2, "max_rewrite_bytes": 3, "strengthen": False}
    names = [assertion.name for assertion in judge(guards_of(options), EFFECTS, plan_of("age > 3"))]
    assert names == ["max_rewrite_bytes", "max_files", "max_rows", "partition_filter"]
    assert judge(guards_of({"max_rows": None, "require_partition_filter": False}), EFFECTS, plan_of("age > 3")) == ()


@pytest.mark.parametrize("limit", [-1, 1.5, "3", True])
def test_a_limit_that_is_not_a_whole_number_is_refused(limit: Any) -> None:
    with pytest.raises(UsageError, match="LP252"):
        guards_of({"max_files": limit})
