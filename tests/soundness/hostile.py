"""Predicates that try to take all time or all memory, by name: text that reaches lakeprune from outside.

Column `x` is an integer, `s` a string, `p` a partition column of type string; the table is small. A share runs in
`make test`, all of them in `make conformance`.
"""

from __future__ import annotations

from collections.abc import Callable

_WORST_PATTERN = "(a|b)*a(a|b){20}c"


def _nested(word: str, inside: str, levels: int) -> str:
    return f"{word}(" * levels + inside + ")" * levels


PREDICATES: dict[str, Callable[[], str]] = {
    "regex on a constant": lambda: "'" + "a" * 40 + "b' RLIKE '(a+)+$' AND x = 5",
    "nested regex": lambda: "'" + "a" * 5000 + "b' RLIKE '((((a*)*)*)*)*$' AND x = 5",
    "regex on partition values": lambda: "p RLIKE '(.*a){80}b' OR p RLIKE '(a|aa)+$'",
    "regex of a million letters": lambda: f"p RLIKE '{'a' * 1_000_000}'",
    "a thousand costly regexes": lambda: " OR ".join(f"'ab' RLIKE '{_WORST_PATTERN}{n}'" for n in range(1000)),
    "regex that replaces": lambda: (
        "regexp_replace('" + "a" * 50_000 + "b', '(a|aa)+$', '$1$1') = 'x' OR regexp_extract(p, '(.*a){80}b', 1) = 'a'"
    ),
    "regex that finds everywhere": lambda: "regexp_replace('" + "a" * 50_000 + "', 'a(.*b)?', '" + "x" * 50_000 + "') = s",
    "operators of another language": lambda: " && ".join(["x = 5"] * 50_000),
    "lists in brackets": lambda: " AND ".join(["x IN [5]"] * 20_000),
    "tuples": lambda: "(x, s) IN (" + ", ".join(f"({n}, 't{n}')" for n in range(5_000)) + ")",
    "hash of 5,000": lambda: f"hash({', '.join(['p'] * 5_000)}) = 5 OR concat_ws(p, {', '.join(['p'] * 5_000)}) = 'a'",
    "like with 50,000 wildcards": lambda: f"p LIKE '{'%a' * 50_000}' OR s LIKE '{'%_' * 50_000}'",
    "like on a constant": lambda: f"'{'a' * 200_000}' LIKE '%{'a' * 100_000}b%' AND x = 5",
    "like with many underscores": lambda: f"'{'a' * 50_000}' LIKE '%{'a_' * 10_000}b%' AND x = 5",
    "replace inside replace": lambda: _replace(12) + " = 'b'",
    "repeat of a billion": lambda: "repeat('a', 1000000000) = s OR length(repeat('a', 2000000000)) > x",
    "padding to a billion": lambda: "lpad(s, 1000000000, 'x') = 'a' OR rpad('a', 2000000000, 'b') = s OR space(2000000000) = s",
    "concat of 20,000": lambda: f"concat({', '.join(['p'] * 20_000)}) = 'a'",
    "case of 5,000 branches": lambda: f"CASE {' '.join(f'WHEN x = {n} THEN {n}' for n in range(5000))} END = 7",
    "in of 1,000,000": lambda: f"x IN ({', '.join(map(str, range(0, 2_000_000, 2)))})",
    "in of 200,000 texts": lambda: "s IN (" + ", ".join(f"'t{n}'" for n in range(200_000)) + ")",
    "not in of 200,000": lambda: f"x NOT IN ({', '.join(map(str, range(0, 400_000, 2)))})",
    "or of 100,000": lambda: " OR ".join(f"x = {n}" for n in range(100_000)),
    "and of 20,000": lambda: " AND ".join(f"x <> {n}" for n in range(20_000)),
    "or of 20,000 pairs": lambda: " OR ".join(f"(x = {n} AND s = 't{n}')" for n in range(20_000)),
    "not of not": lambda: "NOT " * 100_000 + "x = 5",
    "brackets": lambda: "(" * 150 + "x = 5" + ")" * 150,
    "too many brackets": lambda: "(" * 100_000 + "x = 5" + ")" * 100_000,
    "nested functions": lambda: _nested("abs", "x", 20) + " = 5",
    "chain of constants": lambda: "x" + " + 1" * 60 + " = 5",
    "too many nested functions": lambda: _nested("abs", "x", 50_000) + " = 5",
    "nested case": lambda: _case(12) + " = 5",
    "nested coalesce": lambda: _nested("coalesce", "x", 20) + " = 5",
    "huge exponent": lambda: "x = 1e999999999 OR x < 1e-999999999 OR x > 1E400",
    "decimal of a million digits": lambda: f"x = {'9' * 1_000_000}",
    "decimal text of a million digits": lambda: f"x = '{'9' * 1_000_000}' OR cast('{'1' * 1_000_000}' AS int) = x",
    "cast of a huge exponent": lambda: "cast('1e999999999' AS decimal(38,0)) = x OR cast('1e999999999' AS int) = 1",
    "giant power": lambda: "pow(10, 1000000000) > x OR shiftleft(1, 1000000000) = x OR factorial(1000000000) = x",
    "chain of products": lambda: " * ".join(["9999999999"] * 90) + " = x",
    "chain of sums": lambda: " + ".join(["x"] * 50_000) + " = 5",
    "huge interval": lambda: "cast('2024-01-01' AS timestamp) + INTERVAL 99999999999 YEAR > current_timestamp()",
    "huge date": lambda: (
        "date_add(DATE '2024-01-01', 2147483647) > DATE '2024-01-01' OR add_months(DATE '9999-12-31', 99999) IS NULL"
    ),
    "format of a huge width": lambda: (
        f"format_string('%999999999d', x) = '5' OR date_format(current_date(), '{'y' * 100_000}') = s"
    ),
    "long name": lambda: "x" * 1_000_000 + " = 5",
    "long text": lambda: f"s = '{'a' * 5_000_000}'",
    "many quotes": lambda: "s = '" + "''" * 500_000 + "'",
    "no closing quote": lambda: "s = '" + "a" * 1_000_000,
    "long comment": lambda: "/*" * 100_000 + " x = 5",
    "between chains": lambda: " AND ".join(f"x BETWEEN {n} AND {n + 10}" for n in range(5000)),
    "1,000 pairs": lambda: " OR ".join(f"(x = {n} AND s = 't{n}')" for n in range(1000)),
    "exact terms": lambda: " OR ".join(f"length(concat(p, '{n}')) = {n}" for n in range(3000)),
    "year and month": lambda: " OR ".join(f"(x % {n + 2} = 1)" for n in range(5000)),
    "equal to itself": lambda: " AND ".join(["x = x", "p = s"] * 5000),
}


def _replace(levels: int) -> str:
    text = f"'{'a' * 100}'"
    for _ in range(levels):
        text = f"replace({text}, 'a', '{'a' * 100}')"
    return text


def _case(levels: int) -> str:
    text = "x"
    for n in range(levels):
        text = f"CASE WHEN x = {n} THEN {text} ELSE {text.count('x')} END"
    return text
