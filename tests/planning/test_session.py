"""How predicates are read: what acts on rows assumes nothing, whatever the default of explain is."""

from __future__ import annotations

import pytest

from lakeprune.errors import UsageError
from lakeprune.planning.opening import path_of
from lakeprune.planning.session import for_rows, profile_of
from lakeprune.predicate.tree import NanPolicy


@pytest.mark.parametrize(
    ("given", "policy"),
    [
        ({}, NanPolicy.STRICT),
        ({"nan_policy": "guard"}, NanPolicy.STRICT),
        ({"nan_policy": "strict"}, NanPolicy.STRICT),
        ({"nan_policy": "spark-writers"}, NanPolicy.SPARK_WRITERS),
    ],
)
def test_what_acts_on_rows_is_strict_unless_all_writers_are_vouched_for(given: dict[str, str], policy: NanPolicy) -> None:
    assert profile_of(**for_rows(given, "verify"))[0].nan_policy is policy


def test_what_acts_on_rows_refuses_to_assume() -> None:
    with pytest.raises(UsageError, match="a statement acts on rows") as refused:
        for_rows({"nan_policy": "assume"}, "a statement")
    assert refused.value.code == "LP215"


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("delta.`/lake/a``b`", "/lake/a`b"),
        (" parquet.`s3://lake/x` ", "s3://lake/x"),
        ("delta.users", "delta.users"),
        ("delta.``", "delta.``"),
        ("dbfs:/lake/users", "dbfs:/lake/users"),
    ],
)
def test_a_table_as_sql_names_it_is_its_path(text: str, path: str) -> None:
    assert path_of(text) == path
