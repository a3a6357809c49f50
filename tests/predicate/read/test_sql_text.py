"""Where Spark cuts text into words: comments, line ends, raw strings, and a keyword that is a call."""

from __future__ import annotations

import pytest

from lakeprune.errors import PredicateError
from lakeprune.predicate.read.sql.parse import parse_predicate
from lakeprune.predicate.tree import Name
from lakeprune.predicate.walk import nodes
from lakeprune.predicate.write.show import show
from tests.predicate.columns import PROFILE


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("x = 5 -- to the end \\\n of the next line\n OR y = 1", "x = 5 OR y = 1"),
        ("x = 5 -- and \\\n AND y = 1", "x = 5"),
        ("x = 5 -- a line may end so\rOR y = 1", "x = 5 OR y = 1"),
        ("x = 5 -- or so\r\nOR y = 1", "x = 5 OR y = 1"),
        ("x = 5 /* one /* in */ another */ OR y = 1", "x = 5 OR y = 1"),
        ("x = 5 /* /* */ -- */ OR y = 1", "x = 5 OR y = 1"),
        ("x = 5 /*/ */ OR y = 1", "x = 5 OR y = 1"),
        ("x = 5 /***/ OR y = 1 /**/", "x = 5 OR y = 1"),
        ("s = r'\\' OR x = 1 OR s = r'--\\'\nOR y = 1", "s = '\\\\' OR x = 1 OR s = '--\\\\' OR y = 1"),
        ("s = R\"a\\\" OR s = r'a''b'", "s = 'a\\\\' OR s = 'ab'"),
        ("between(x, 1, 2) AND y = 1", "x BETWEEN 1 AND 2 AND y = 1"),
        ("NOT between(x, 1, 2) OR (between(x, y, 2)) IS NULL", "NOT x BETWEEN 1 AND 2 OR (x BETWEEN y AND 2) IS NULL"),
        ("x NOT BETWEEN (1) AND 2 AND y = 1", "NOT x BETWEEN 1 AND 2 AND y = 1"),
        ("CASE WHEN between(x, 1, 2) THEN 1 ELSE 2 END = 1", "CASE WHEN x BETWEEN 1 AND 2 THEN 1 ELSE 2 END = 1"),
    ],
)
def test_text_is_cut_where_spark_cuts_it(written: str, meant: str) -> None:
    assert show(parse_predicate(written, PROFILE)) == show(parse_predicate(meant, PROFILE))


@pytest.mark.parametrize("text", ["x = 5 /* /* */ OR y = 1", "x = 5 /*", "x = 5 /*/"])
def test_a_comment_that_never_ends_is_an_error(text: str) -> None:
    with pytest.raises(PredicateError, match="does not parse") as caught:
        parse_predicate(text, PROFILE)
    assert "never closed" in str(caught.value)


@pytest.mark.parametrize("call", ["dateadd", "date_add", "timestampadd", "datediff", "timestampdiff"])
def test_a_unit_is_not_a_column_where_nothing_is_known_of_the_rest(call: str) -> None:
    found = parse_predicate(f"soundex({call}(HOUR, 3, t)) = 'a'", PROFILE)
    assert [name.parts for name in nodes(found) if isinstance(name, Name)] == [("t",)]
    opaque = parse_predicate(f"trim(LEADING 'x' FROM cast({call}(HOUR, 3, t) AS STRING)) = 'a'", PROFILE)
    assert [name.parts for name in nodes(opaque) if isinstance(name, Name)] == [("t",)]
