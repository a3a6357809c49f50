"""Values of every function that lakeprune knows, nested in one another, with casts in between: Spark's SQL, which Spark judges.

A family is what a template asks for: `{I}` an integer, `{N}` any number, `{T}` any time, `{X}` anything. Templates name every
function of the registry (a test holds them to it); what Spark refuses is set aside by whoever judges, so templates are bold.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random

from tests.generator.columns import ColumnSpec
from tests.generator.literals import domain_of, spark_text
from tests.generator.values import DECIMALS, INTEGERS

FAMILIES = {
    **dict.fromkeys(INTEGERS, "I"), **dict.fromkeys(DECIMALS, "D"), "float": "R", "double": "R", "string": "S", "binary": "B",
    "boolean": "Q", "date": "A", "timestamp": "Z", "timestamp_ntz": "W",
}  # fmt: skip
_GROUPS = {"N": "IIIDR", "T": "AZW", "X": "IDRSBQAZW", "Y": "IDRSAZW"}
_TYPES = (
    "tinyint", "smallint", "int", "bigint", "float", "double", "decimal(5,2)", "decimal(10,0)", "decimal(20,6)", "decimal(38,18)",
    "decimal(38,0)", "decimal(3,3)", "string", "binary", "boolean", "date", "timestamp", "timestamp_ntz",
)  # fmt: skip
_UNITS = ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND", "MM", "mon", "YY")
_FORMATS = ("yyyy", "yyyy-MM", "yyyyMMdd", "yyyy-MM-dd HH", "MM/dd", "yyyy-MM-dd HH:mm:ss", "E", "D", "Q", "w")
_WORDS = ("", " ", "a", "ab", "z", "%", "_", "1", "é", "中", "aa", "2", "-", "0", "\U0001f33c")
_PATTERNS = ("a%", "%a", "%", "_", "a_%", "%1%", "1%", "-%", "", "a\\\\%%", "é%", "__", "20%-%", "%b%")
_EXPRESSIONS = ("^a", "a$", "a.*b", "[0-9]+", "^$", ".", "(a|b)+", "\\\\d{2}", "^20", "é|z")
_SPANS = (
    "INTERVAL 1 DAY", "INTERVAL '3' MONTH", "INTERVAL 1 YEAR", "INTERVAL 25 HOURS", "INTERVAL '30' MINUTE", "INTERVAL 1 WEEK",
    "INTERVAL '1-2' YEAR TO MONTH", "INTERVAL '1 02:03:04.5' DAY TO SECOND", "INTERVAL '-26:30' HOUR TO MINUTE",
    "INTERVAL 1 MONTH 2 DAYS", "INTERVAL 1 DAY 12 HOURS", "INTERVAL '1.000001' SECOND", "INTERVAL 500 MILLISECONDS",
    "INTERVAL -1 DAY", "INTERVAL 13 MONTHS", "INTERVAL '1' DAY", "INTERVAL 3 MICROSECONDS", "-INTERVAL 1 DAY",
)  # fmt: skip
_SAME = (
    "coalesce({c}, {c})", "nvl({c}, {l})", "ifnull({c}, {l})", "nullif({c}, {l})", "if({Q}, {c}, {l})", "iff({Q}, {c}, {c})",
    "CASE WHEN {Q} THEN {c} ELSE {l} END", "CASE {c} WHEN {l} THEN {l} ELSE {c} END", "nvl2({X}, {c}, {l})",
    "CASE WHEN {Q} THEN {c} WHEN {Q} THEN {l} END", "greatest({c}, {l})", "least({c}, {c})", "coalesce({c}, {l}, NULL)",
    "greatest({c}, {c}, {l})", "case({Q}, {c})",
)  # fmt: skip
_TEMPLATES: dict[str, tuple[str, ...]] = {
    "I": (
        "{I} + {k}", "{k} + {I}", "{I} - {I}", "{k} - {I}", "{I} * {k}", "{I} % {k}", "mod({I}, {k})", "pmod({I}, {k})",
        "-{I}", "negative({I})", "positive({I})", "abs({I})", "{I} DIV {k}", "floor({N})", "ceil({N})", "ceiling({N})",
        "round({I}, {k})", "round({D})", "length({S})", "char_length({S})", "character_length({S})", "len({S})",
        "length({B})", "length({N})", "year({T})", "quarter({T})", "month({T})", "day({T})", "dayofmonth({T})",
        "dayofweek({T})", "dayofyear({T})", "weekofyear({T})", "hour({T})", "minute({T})", "second({T})",
        "datediff({T}, {T})", "date_diff({T}, {t})", "datediff({t}, {T})", "unix_timestamp({T})", "to_unix_timestamp({T})",
        "unix_date({A})", "extract(YEAR FROM {T})", "extract(DOW FROM {T})", "extract(HOUR FROM {T})", "cast({X} as {i})",
        "try_cast({X} as {i})", "int({Y})", "bigint({Y})", "smallint({Y})", "tinyint({Y})", "cast({Z} as bigint)",
        "cast({S} as int)", "year({S})", "hour({S})", "+{I}", "~{I}", "floor({R} * {r})", "{I} * {I}", "unix_timestamp({S})",
        "weekday({T})", "date_part('day', {T})", "date_part('dow_iso', {T})", "extract(WEEK FROM {T})", "instr({S}, {s})",
        "locate({s}, {S})", "locate({s}, {S}, {k})", "position({s}, {S}, {n})", "position({s} IN {S})",
        "find_in_set({s}, {S})", "find_in_set({S}, 'a,b,,z')", "hash({X})", "hash({X}, {X})", "pmod(hash({X}), 8)",
        "decode({S}, {s}, 1, {s}, 2, 3)", "decode({I}, {k}, {n})", "hash({D})", "instr({X}, {s})",
    ),
    "D": (
        "{D} + {d}", "{D} - {D}", "{d} - {D}", "{D} * {k}", "{D} * {d}", "{I} * {d}", "{D} / {k}", "{D} % {k}", "-{D}",
        "abs({D})", "round({D}, {k})", "cast({N} as {p})", "cast({S} as {p})", "cast({X} as {p})", "try_cast({Y} as {p})",
        "{I} + {d}", "floor({D}) + {d}", "cast({R} as {p})", "cast({Z} as decimal(20,6))", "{I} / {d}", "pmod({D}, {d})",
    ),
    "R": (
        "{R} + {r}", "{r} - {R}", "{N} / {k}", "{R} * {r}", "-{R}", "abs({R})", "cast({X} as double)", "cast({N} as float)",
        "sign({N})", "signum({N})", "round({R}, {k})", "double({Y})", "float({Y})", "{R} % {r}", "{R} / {r}", "{I} + {r}",
        "months_between({T}, {T})", "months_between({T}, {t}, false)", "cast({S} as double)", "try_cast({S} as float)",
        "cast({Z} as double)", "{R} - {R}", "{D} * {r}", "pmod({R}, {r})",
    ),
    "S": (
        "cast({X} as string)", "string({X})", "concat({S}, {s})", "concat({X}, {X})", "{S} || {X}", "lower({S})",
        "lcase({S})", "upper({S})", "ucase({S})", "trim({S})", "ltrim({S})", "rtrim({S})", "replace({S}, {s}, {s})",
        "replace({S}, {s})", "substring({S}, {k}, {k})", "substr({S}, {k})", "left({S}, {k})", "right({S}, {k})",
        "substring({S}, 1, {n})", "date_format({T}, {f})", "left({Y}, {n})", "substr({X}, {k}, {k})", "upper({Y})",
        "concat({A}, {s})", "trim({X})", "substring({S} FROM {k} FOR {n})", "trim(BOTH FROM {S})",
        "trim(LEADING ' ' FROM {S})", "concat({I}, '-', {I})", "concat({S})", "replace({X}, {s}, {s})", "right({X}, {n})",
        "concat_ws({s}, {S}, {X})", "concat_ws('-', {A}, {I}, {S})", "split({S}, {s})[0]", "split({S}, '[ab]')[0]",
        "split({S}, {s}, {n})[{n}]", "split_part({S}, {s}, {n})", "split_part({S}, {s}, {k})", "md5({S})", "md5({X})",
        "regexp_replace({S}, {e}, {s})", "regexp_replace({S}, '(a)(b)?', '<$2$1>')", "regexp_replace({X}, '[0-9]', '')",
        "regexp_extract({S}, {e}, 0)", "regexp_extract({S}, '(a|b)(.*)', 2)", "regexp_extract({X}, '([0-9]+)')",
        "initcap({S})", "reverse({S})", "reverse({Y})", "lpad({S}, {n}, {s})", "lpad({I}, {n}, '0')", "lpad({S}, {n})",
        "rpad({S}, {n}, {s})", "rpad({Y}, {n}, 'ab')", "translate({S}, {s}, {s})", "translate({X}, '012', 'ab')",
        "elt({n}, {S}, {s})", "elt(2, {S}, {X})", "decode({S}, {s}, 'x', NULL, 'n')", "initcap({X})",
    ),
    "B": (
        "cast({S} as binary)", "binary({S})", "concat({B}, {B})", "substring({B}, 1, {n})", "cast({I} as binary)",
    ),
    "Q": (
        "startswith({S}, {s})", "endswith({S}, {s})", "contains({S}, {s})", "isnull({X})", "isnotnull({X})", "isnan({R})",
        "equal_null({c}, {c})", "({S}, {I}) IN (({s}, {k}), ({s}, {I}))", "({c}, {c}) = ({c}, {l})", "like({S}, {l})",
        "ilike({S}, {s})", "rlike({S}, {e})", "regexp({S}, {e})", "regexp_like({S}, {e})", "between({N}, {N}, {N})",
        "boolean({Y})", "cast({Y} as boolean)", "{S} LIKE {m}", "{S} NOT ILIKE {m}", "{S} RLIKE {e}",
        "{S} LIKE ANY ({m}, {m})", "{S} NOT LIKE ALL ({m}, {s})", "NOT {Q}", "!{Q}", "{Q} AND {Q}", "{Q} OR {Q}",
        "{Q} IS TRUE", "{Q} IS NOT FALSE", "{X} IS NULL", "{S} LIKE {m} ESCAPE '!'", "{Y} LIKE {m}", "startswith({Y}, {s})",
    ),
    "A": (
        "to_date({Z})", "to_date({S})", "date({T})", "cast({T} as date)", "cast({S} as date)", "date_add({T}, {k})",
        "dateadd({T}, {k})", "date_sub({T}, {k})", "add_months({T}, {k})", "last_day({T})", "trunc({T}, {u})",
        "make_date({y}, {n}, {n})", "make_date(year({T}), month({T}), {n})", "{A} + {k}", "{A} - {k}", "{A} + {v}",
        "{A} - {v}", "date_add({T}, {I} % 1000)", "try_cast({S} as date)", "dateadd(MONTH, {k}, {A})", "{A} + INTERVAL 1 DAY",
        "next_day({T}, 'Mon')", "next_day({T}, 'FRIDAY')", "next_day({S}, 'tu')", "trunc({S}, {u})", "current_date()",
        "curdate()", "to_date({S}, 'yyyy-MM-dd')", "dateadd(DAY, {n}, {A})",
    ),
    "Z": (
        "to_timestamp({T})", "to_timestamp({S})", "timestamp({T})", "cast({T} as timestamp)", "cast({S} as timestamp)",
        "date_trunc({u}, {T})", "{Z} + {v}", "{Z} - {v}", "dateadd(HOUR, {k}, {T})", "timestampadd(MINUTE, {k}, {Z})",
        "cast({N} as timestamp)", "{v} + {Z}", "date_trunc({u}, {S})", "try_cast({S} as timestamp)", "now()",
        "current_timestamp()", "{A} + INTERVAL '3' HOUR", "dateadd(MONTH, {k}, {Z})", "cast({A} as timestamp) + {v}",
        "cast(cast({Z} as date) as timestamp)", "cast(cast({Z} as timestamp_ntz) as timestamp)", "{Z} + {v} - {v}",
    ),
    "W": (
        "cast({T} as timestamp_ntz)", "cast({S} as timestamp_ntz)", "{W} + {v}", "{W} - {v}", "date_trunc({u}, {W})",
        "localtimestamp()", "dateadd(DAY, {k}, {W})", "timestampadd(HOUR, {k}, {W})", "{W} + {v} + {v}",
    ),
}  # fmt: skip
EVERY_TEMPLATE = (*_SAME, *(template for templates in _TEMPLATES.values() for template in templates))
_HOLE = re.compile(r"\{(\w)\}")


class Nested:
    """Random values over some columns of a table in one time zone."""

    def __init__(self, columns: Sequence[ColumnSpec], zone: str, rng: Random) -> None:
        self._rng = rng
        self._zone = zone
        self._by_family: dict[str, list[ColumnSpec]] = {}
        for column in columns:
            self._by_family.setdefault(FAMILIES[column.type], []).append(column)

    def value(self, depth: int) -> str:
        """A value of any family, made by at least one function."""
        return self._made(self._rng.choice("IIIDRSSSBQAAZZZWW"), depth)

    def condition(self, depth: int) -> str:
        """A value of the family of truths."""
        return self._made("Q", depth)

    def of(self, family: str, depth: int) -> str:
        """A value of the family: a column, a constant or something made, put into parentheses where that matters."""
        family = self._rng.choice(_GROUPS.get(family, family))
        known = self._by_family.get(family, [])
        if depth <= 0 or self._rng.random() < 0.25:
            return self._rng.choice(known).spark if known and self._rng.random() < 0.93 else self._constant(family)
        made = self._made(family, depth)
        return made if self._rng.random() < 0.1 else f"({made})"  # without them, Spark's precedence counts

    def _made(self, family: str, depth: int) -> str:
        pool = _SAME if self._rng.random() < 0.15 else _TEMPLATES[family]
        return _HOLE.sub(lambda hole: self._filled(hole[1], family, depth - 1), self._rng.choice(pool))

    def _filled(self, hole: str, family: str, depth: int) -> str:  # a table of holes
        rng = self._rng
        match hole:
            case "k":
                return str(rng.choice([0, 1, 2, 3, 7, -1, -2, 10, 31, 100, 400, -40, 2147483647, 9223372036854775807]))
            case "n":
                return str(rng.choice([0, 1, 2, 3, 4, 5, 10, 12, 28, 31]))
            case "y":
                return str(rng.choice([1970, 2024, 2000, 1, 9999, 1900]))
            case "d":
                return rng.choice(["0.5", "1.25", "-0.01", "100.0", "0.333", "1BD", "99999999999.999999", "10"])
            case "r":
                return rng.choice(["0.5D", "1e3", "-2.5D", "1E-300", "3.0F", "0.1D", "cast('NaN' as double)", "-0.0D", "1e300D"])
            case "s":
                return spark_text(rng.choice(_WORDS))
            case "m":
                return f"'{rng.choice(_PATTERNS)}'"
            case "e":
                return f"'{rng.choice(_EXPRESSIONS)}'"
            case "u":
                return f"'{rng.choice(_UNITS)}'"
            case "f":
                return f"'{rng.choice(_FORMATS)}'"
            case "v":
                return rng.choice(_SPANS)
            case "i":
                return rng.choice(_TYPES[:4])
            case "p":
                return rng.choice(_TYPES[6:12])
            case "t":
                return self._constant(rng.choice("AZW"))
            case "l":
                return self._constant(family)
            case "c":
                return self.of(family, depth)
            case _:
                return self.of(hole, depth)

    def _constant(self, family: str) -> str:
        """A literal near a value of some column of the family."""
        known = self._by_family.get(family)
        if known:
            return domain_of(self._rng.choice(known), self._zone, self._rng).literal().spark
        return {"I": "7", "D": "1.5", "R": "2.5D", "S": "'a'", "B": "X'61'", "Q": "true", "A": "DATE '2024-03-31'"}.get(
            family, "TIMESTAMP '2024-03-31 02:30:00'" if family == "Z" else "TIMESTAMP_NTZ '2024-03-31 02:30:00'"
        )
