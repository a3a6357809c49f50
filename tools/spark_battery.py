"""The questions put to Spark: tables of nasty values, one column `c` of each type, and predicates over them.

In: nothing. Out: `TABLES` (columns and canonical rows) and `predicates()` (table, text). Values are canonical (see
lakeprune.values.types), with decimals as text and binary as hex, so that they are JSON as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path

DAY = 86_400_000_000
# 1890, 1935: Berlin and St. John's on local mean time. March and October 2024, November 2010: clocks change. 2011: Samoa.
MOMENTS = [
    None, 0, -1, 1, -1_000_001, -86_400_000_000, 1_704_412_800_000_000, 1_704_412_799_999_999, 1_704_425_400_000_000,
    1_704_409_200_000_000, 1_704_457_845_123_456, 1_711_846_800_000_000, 1_711_846_799_999_999, 1_711_843_200_000_000,
    1_729_989_000_000_000, 1_729_992_600_000_000, 1_710_048_600_000_000, 1_710_048_599_999_999, 1_730_608_200_000_000,
    1_730_611_800_000_000, 1_289_097_000_000_000, 1_289_100_600_000_000, 1_325_239_200_000_000, -2_524_521_600_000_000,
    -2_208_988_800_000_000, -1_104_537_600_000_000, -62_135_596_800_000_000, 253_402_300_799_999_999,
    1_709_164_800_000_000, 1_735_516_800_000_000, 1_706_659_200_000_000,
]  # fmt: skip
DAYS = [
    None, 0, -1, 1, 19727, 19726, 19782, 19783, 19813, 19722, 20087, 20088, 19754, 19753, -719162, 2932896, -141428,
    -141427, -25567, 11016, 11017, 15338,
]  # fmt: skip
TEXTS = [
    None, "", "a", "A", "ab", "abc", "ABC", "a%c", "a_c", "a\\c", "a\\%c", "\\", "%", "_", " a", "a ", "a  b", "é", "É",
    "ß", "SS", "\U0001f600", "a\U0001f600b", "İ", "ı", "ς", "5", "05", " 5 ", "5.0", "-1", "1e3", "2024-01-05", "2024-1-5",
    "2024", "true", "T", "NaN", "a\nc", "a\tc", "it's", "\ud7ff", "\ue000", "ΑΣ", "ǆ",
]  # fmt: skip
FLOATS = ["NaN", "inf", "-inf", "0.0", "-0.0", "1.5", "-1.5", "2.5", "3.0", "16777216.0", "-7.0", "0.5"]

TABLES: dict[str, tuple[dict[str, str], list[list[object]]]] = {
    name: ({"c": type_}, [[value] for value in values])
    for name, type_, values in (
        ("boolean", "boolean", [None, True, False]),
        ("byte", "byte", [None, -128, -127, -1, 0, 1, 3, 4, 5, 126, 127]),
        ("short", "short", [None, -32768, -129, -1, 0, 1, 3, 4, 5, 128, 32767]),
        ("integer", "integer", [None, -(2**31), -32769, -7, -1, 0, 1, 2, 3, 4, 5, 7, 10, 2024, 16777217, 2**31 - 1]),
        ("long", "long", [None, -(2**63), -(2**31) - 1, -7, -1, 0, 1, 3, 4, 5, 2**31, 2**53, 2**53 + 1, 2**63 - 1]),
        ("float", "float", [None, *FLOATS, "0.10000000149011612", "3.4028234663852886e+38", "1.401298464324817e-45"]),
        ("double", "double", [None, *FLOATS, "0.1", "0.10000000149011612", "1.7976931348623157e+308", "5e-324",
         "9007199254740992.0"]),
        ("decimal5", "decimal(5,2)", [None, "-999.99", "-1.50", "-0.01", "0.00", "0.10", "1.50", "2.50", "3.00", "3.01",
         "999.99"]),
        ("decimal18", "decimal(18,0)", [None, "-999999999999999999", "-1", "0", "1", "3", "4", "9007199254740993",
         "999999999999999999"]),
        (
            "decimal38",
            "decimal(38,10)",
            [None, "-9999999999999999999999999999.9999999999", "-0.0000000001", "0.0000000000", "0.1000000000", "0.1000000001",
             "1.5000000000", "3.0000000000", "12345678901234567890.0000000001", "9999999999999999999999999999.9999999999"],
        ),
        ("decimal10", "decimal(10,2)", [None, "7.50", "-7.50", "100.00", "0.00", "-0.01", "0.10", "12345678.90", "99999999.99"]),
        ("tiny", "decimal(38,20)", [None, "0.00000000000000000000", "1.00000000000000000000", "0.00000100000000000000",
         "-0.00000010000000000000", "0.00000000000000000001", "7.50000000000000000000"]),
        ("printed_double", "double", [None, *FLOATS, "1e7", "9999999.0", "12345678.9", "0.001", "0.00099", "0.1", "1e10", "1e-5",
         "2e-3", "123456789.123", "9007199254740993.0", "1e16", "1e23", "2e23", "8.41e21", "816075259554e7", "5e-324", "1e-300",
         "1.7976931348623157e308", "4.35", "0.3", "100.0", "-1e15", "5.684341886080802e-14", "33.3333333333333333"]),
        ("printed_float", "float", [None, *FLOATS, "1e7", "9999999.0", "0.0010000000474974513",
         "0.0009899999713525176", "0.10000000149011612", "1e10",
         "9.999999747378752e-06", "3.4028234663852886e+38", "1.401298464324817e-45", "33.33333206176758", "4.349999904632568",
         "84286496.0", "100.0", "-2.25"]),
        ("string", "string", TEXTS),
        ("binary", "binary", [None, "", "00", "61", "6162", "7f", "80", "ff", "f09f9880", "6100"]),
        ("date", "date", DAYS),
        ("timestamp", "timestamp", MOMENTS),
        ("timestamp_ntz", "timestamp_ntz", MOMENTS),
    )
}  # fmt: skip
TABLES["mixed"] = (
    {"i": "integer", "l": "long", "x": "double", "m": "decimal(10,2)", "s": "string", "d": "date", "t": "timestamp",
     "n": "timestamp_ntz", "b": "boolean", "f": "float"},
    [
        [None, None, None, None, None, None, None, None, None, None],
        [1, 1, "1.0", "1.00", "1", 19727, 1_704_412_800_000_000, 1_704_412_800_000_000, True, "1.0"],
        [-5, 2**53 + 1, "9007199254740992.0", "0.10", "abc", 19727, 1_704_409_200_000_000, 1_704_412_800_000_000, False,
         "0.10000000149011612"],
        [2**31 - 1, 2**63 - 1, "NaN", "-99999999.99", "2024-01-05", 19727, 1_704_425_400_000_000, 1_704_425_400_000_000,
         None, "NaN"],
        [7, None, "0.1", "0.10", "", 11016, -1, -1, True, "0.5"],
        [None, 7, "-0.0", "0.00", "7", None, 0, None, False, "0.0"],
        [16777217, 16777217, "16777217.0", "16777217.00", "16777217", 19813, 1_711_846_800_000_000, 1_711_850_400_000_000,
         True, "16777216.0"],
    ],
)  # fmt: skip
# Far from every clock: `current_date()` is another day whenever this is recorded.
TABLES["clock"] = (
    {"d": "date", "t": "timestamp", "n": "timestamp_ntz"},
    [[None, None, None], [0, 0, 0], [47482, 4_102_444_800_000_000, 4_102_444_800_000_000], [-1, -1, -1]],
)  # fmt: skip

# Texts, days and numbers in one row, for the functions that take several of them.
TABLES["words"] = (
    {"s": "string", "i": "integer", "l": "long", "d": "date", "t": "timestamp", "m": "decimal(10,2)", "b": "boolean",
     "x": "double", "f": "float"},
    [
        [None, None, None, None, None, None, None, None, None],
        ["EU", 1, 1, 20091, 1735862400000000, "1.50", True, "1.5", "1.5"],
        ["US", 2, -1, 20090, 1735862400000001, "0.00", False, "-0.0", "-0.0"],
        ["EU-2025-01-03", 3, 1099511627776, 20119, 1735907400123456, "-7.25", True, "NaN", "0.5"],
        ["a,b,c", 0, 0, 20088, 1711846800000000, "99999999.99", False, "0.1", "0.10000000149011612"],
        ["", -1, -9223372036854775808, 0, 0, "0.01", None, "inf", "NaN"],
        [" a  b", 10, 9223372036854775807, -1, -1, "-0.01", True, "-1e300", "-2.0"],
        ["Hello World", -2147483648, 7, 11016, 1729992600000000, "12345678.90", False, "9007199254740993.0", "16777216.0"],
        ["hello-world foo_bar", 2147483647, 42, 20087, 1735689599999999, "100.00", True, "5e-324", "3.4028234663852886e+38"],
        ["192.168.0.1", 4, 100, 19782, 1709164800000000, "7.50", None, "2.5", "0.0"],
        ["aaabcd", 5, 5, 20149, 1738281600000000, "0.10", True, "-inf", "-inf"],
        ["10-20,30-40|x", None, None, None, None, None, None, None, None],
        ["\u00e9t\u00e9 \u00dc", 7, 7, 20120, 1740700800000000, "3.00", False, "100.0", "7.0"],
        ["a\U0001f600b", 8, 8, 15338, 1325239200000000, "4.00", True, "4.0", "4.0"],
        ["L'\u00c9T\u00c9 o'neil x.y", 9, 9, 19723, 1704067200000000, "-99999999.99", False, "-4.0", "-4.0"],
        ["a\nb", 6, 6, -719162, -62135596800000000, "2.00", True, "2.0", "2.0"],
    ],
)  # fmt: skip

OPS = ("=", "!=", "<", "<=", ">", ">=", "<=>")
NUMBERS = (
    "0", "3", "-1", "3.5", "3.0", "0.1", "0.10", "-0.01", "1e0", "3.5D", "0.1D", "0.1F", "0.1BD", "1e3", "127", "128",
    "-129", "2147483648", "9007199254740993",
    "9223372036854775807", "9223372036854775808", "99999999999999999999999999999999999999", "1e400", "0.10000000149011612",
    "16777217",
    "'3'", "' 3 '", "'3.5'", "'0.1'", "'1e3'", "'NaN'", "'x'", "CAST('NaN' AS DOUBLE)", "CAST('-Infinity' AS DOUBLE)", "5Y",
    "5S", "5L", "NULL", "TRUE", "-0.0", "0.3E1BD",
    "1.5000000000000000000000000000000000001", "DATE '2024-01-05'",
)  # fmt: skip
TIMES = (
    "'2024-01-05'", "'2024-1-5'", "'2024-01'", "'2024'", "'2024-01-05 00:00:00'", "'2024-01-05T12:30:45.123456'",
    "'2024-01-05 12:30:45.123456789'",
    "'2024-01-05 00:00:00+01:00'", "'2024-01-05 00:00:00 Europe/Berlin'", "'2024-01-05T00:00:00Z'", "DATE '2024-01-05'",
    "TIMESTAMP '2024-01-05 00:00:00'",
    "TIMESTAMP_NTZ '2024-01-05 00:00:00'", "TIMESTAMP '2024-03-31 02:30:00'", "TIMESTAMP '2024-10-27 02:30:00'",
    "TIMESTAMP_NTZ '2024-11-03 01:30:00'",
    "TIMESTAMP '2024-01-05 00:00:00+05:30'", "'1969-12-31 23:59:59.999999'", "DATE '1969-12-31'", "'0001-01-01'",
    "'9999-12-31'", "'x'", "5", "'2024-02-30'",
    "' 2024-01-05 '", "'2024-01-05 '", "'2024-01-05x'", "'2024-01-05T'", "'2024-01-05 25:00'", "NULL",
    "TIMESTAMP_LTZ '2024-01-05 00:00:00'", "DATE '2024-1-5'", "DATE '2024'",
    "TIMESTAMP '2024-01-05'", "TIMESTAMP '2024-01-05 1:2:3'", "'2010-11-07 00:00:30'", "TIMESTAMP '2024-03-10 02:30:00'",
    "'+2024-01-05'", "'2024-01-05 10:00:00 AM'",
    "'2024-01-05 1:2'", "'12:30:00'", "'epoch'", "'2024-13-01'", "'2024-01-05 00:00:00 UTC+1'", "'2024-01-05 00:00:00 CET'",
    "'2024-01-05 00:00:00.'",
)  # fmt: skip
STRINGS = (
    "'a'", "'A'", '"a"', "'a '", "'it''s'", r"'it\'s'", r"'a\tc'", r"'a\nc'", r"'a\\c'", r"'a\%c'", r"'a\_c'", r"r'a\c'",
    r"R'a\%c'", r"'\u0061'",
    r"'\141'", r"'\U0001F600'", r"'\q'", r"'\0'", r"'\Z'", "'é'", "'\U0001f600'", "'\ud7ff'", "'\ue000'", "5", "5.0", "TRUE",
    "1e3", "DATE '2024-01-05'", "NULL",
    "TIMESTAMP '2024-01-05 00:00:00'", "X'61'", "'a' 'b'", "5L", "0.5", "''", "'ab' 'c'", "-1", r"'\\'", r"'a\\%c'",
)  # fmt: skip


# What values may look like as text: as Spark prints their types, and as others would.
PRINTED = {
    "boolean": ("true", "TRUE", "1"),
    "integer": ("7", "-7", "2024", "0", "007"),
    "long": ("9007199254740993", "5", "9.007199254740992E15"),
    "decimal5": ("1.50", "1.5", "3.00", "3", "-0.01", "0.00", "0"),
    "decimal10": ("7.50", "7.5", "100.00", "100", "1E+2", "0.00", "0", "-0.01", "12345678.90", "12345678.9"),
    "decimal18": ("3", "3.0", "9007199254740993", "0"),
    "tiny": ("0E-20", "0.00000000000000000000", "1.00000000000000000000", "1", "0.00000100000000000000", "1E-20",
             "-1.0000000000000E-7", "-0.00000010000000000000", "7.5"),
    "printed_double": ("1.0E7", "9999999.0", "1.23456789E7", "0.001", "9.9E-4", "0.1", "1.0E10", "1.0E-5", "0.002", "2.0E-3",
                       "1.23456789123E8", "9.007199254740992E15", "1.0E16", "1.0E23", "8.41E21", "4.9E-324", "NaN", "Infinity",
                       "-Infinity", "-0.0", "0.0", "3", "3.0", "1.6777216E7", "4.35", "-1.0E15", "100.0", "0.5"),
    "printed_float": ("1.0E7", "9999999.0", "0.001", "9.9E-4", "0.1", "1.0E10", "1.0E-5", "3.4028235E38", "1.4E-45", "33.333332",
                      "4.35", "8.42865E7", "NaN", "-0.0", "0.0", "3.0", "1.6777216E7", "-2.25"),
    "string": ("a", "05", "it's"),
    "binary": ("a", "61", "ab", "[61]"),
    "date": ("2024-01-05", "1970-01-01", "0001-01-01", "9999-12-31", "2024-1-5"),
    "timestamp": ("1970-01-01 00:00:00", "1970-01-01 00:00:00.000001", "2024-01-05 00:00:00", "2024-01-05 12:30:45.123456",
                  "2024-01-05 00:00:00.0", "2024-01-05T00:00:00Z", "2024-10-27 02:30:00", "1969-12-31 23:59:59.999999"),
    "timestamp_ntz": ("1970-01-01 00:00:00", "2024-01-05 12:30:45.123456", "2024-01-05 00:00:00", "0001-01-01 00:00:00"),
}  # fmt: skip


def predicates() -> Iterator[tuple[str, str]]:
    """Every question: the name of a table and the text of a predicate over its columns."""
    yield from dict.fromkeys((*_generated(), *_hand_written(), *_printed()))


def _hand_written() -> Iterator[tuple[str, str]]:
    """The lines of spark_predicates.txt; `[integer long]` in it says which tables the lines that follow are about."""
    tables: list[str] = []
    for line in Path(__file__).with_name("spark_predicates.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            tables = line.strip("[]").split()
        elif line:
            yield from ((table, line) for table in tables)


def _generated() -> Iterator[tuple[str, str]]:
    numeric = ("byte", "short", "integer", "long", "float", "double", "decimal5", "decimal18", "decimal38")
    compared = {
        **dict.fromkeys(numeric, NUMBERS),
        **dict.fromkeys(("date", "timestamp", "timestamp_ntz"), TIMES),
        "string": STRINGS,
        "binary": ("X'61'", "X''", "X'ff'", "'a'", "'😀'", "NULL", "x'6162'"),
        "boolean": ("TRUE", "false", "NULL", "'true'", "'t'", "'no'", "1", "0", "'x'", "1.0", "2"),
    }
    for table, literals in compared.items():
        for index, literal in enumerate(literals):
            for op in (OPS[index % 7], OPS[(index + 2) % 7], OPS[(index + 5) % 7]):
                yield table, f"c {op} {literal}"
            yield table, f"{literal} {OPS[(index + 3) % 7]} c"
            yield table, f"NOT (c {OPS[(index + 4) % 7]} {literal})"
        for low, high in zip(literals[::2], literals[1::2], strict=False):
            yield table, f"c BETWEEN {low} AND {high}"
            yield table, f"c IN ({low}, {high})"
            yield table, f"c NOT IN ({high}, {literals[0]})"
        yield table, f"c IN ({literals[0]}, NULL)"
        yield table, f"c NOT IN ({literals[0]}, NULL)"
        yield table, f"c IS DISTINCT FROM {literals[0]}"
        yield table, f"c IS NOT DISTINCT FROM {literals[1]}"
    for unit, (table, literal) in product(
        _UNITS, (("timestamp", "'2024-01-01'"), ("timestamp_ntz", "'2024-01-01 00:00:00'"), ("date", "'2024-01-01'"))
    ):
        yield table, f"date_trunc('{unit}', c) {'<' if len(unit) % 2 else '='} {literal}"
        if table != "timestamp_ntz":
            yield table, f"trunc(c, '{unit}') {'>=' if len(unit) % 2 else '='} {literal}"
    for field, table in product(_FIELDS, ("date", "timestamp", "timestamp_ntz")):
        yield table, f"{field}(c) = {_FIELDS[field]}"
        yield table, f"{field}(c) > {_FIELDS[field]}"
    for position, length in product((-5, -2, -1, 0, 1, 2, 3), (-1, 0, 1, 2, None)):
        size = "" if length is None else f", {length}"
        yield "string", f"substring(c, {position}{size}) = 'a'"
        yield "string", f"substr(c, {position}{size}) < 'b'"
        yield "binary", f"substring(c, {position}{size}) = X'61'"


def _printed() -> Iterator[tuple[str, str]]:
    """Every way in which a value becomes text, against every text it may become."""
    for table, texts in PRINTED.items():
        for text in texts:
            quoted = text.replace("'", "\\'")
            yield table, f"cast(c AS string) = '{quoted}'"
            yield table, f"concat(c, '') = '{quoted}'"
            yield table, f"'<' || c || '>' = '<{quoted}>'"
            yield table, f"c LIKE '{quoted}'"
            yield table, f"cast(c AS string) LIKE '{quoted[:3]}%'"
            yield table, f"cast(c AS string) IN ('{quoted}', 'x')"
            yield table, f"substring(c, 2, 3) = '{quoted[1:4]}'"
            yield table, f"coalesce(cast(c AS string), '-') != '{quoted}'"
        for length in sorted({len(text) for text in texts}):
            yield table, f"length(c) = {length}"
            yield table, f"length(cast(c AS string)) > {length}"
        yield table, f"replace(c, '0', '') = '{texts[0].replace('0', '')}'"
        yield table, f"trim(c) = '{texts[-1]}'"
        yield table, f"right(c, 2) = '{texts[0][-2:]}'"
        yield table, f"upper(c) = '{texts[0].upper()}'"
        yield table, f"startswith(cast(c AS string), '{texts[0][:1]}')"
        yield table, f"endswith(cast(c AS string), '{texts[0][-1:]}')"
        yield table, "cast(c AS string) RLIKE '0$'"
        yield table, f"cast(coalesce(c, NULL) AS string) = '{texts[0]}'"
        yield table, f"cast(if(c IS NULL, c, c) AS string) = '{texts[0]}'"
        yield table, f"cast(greatest(c, c) AS string) = '{texts[0]}'"
    for table, value, text in product(("decimal5", "decimal10", "decimal18", "integer"), _COMPUTED, _COMPUTED_TEXTS):
        yield table, f"cast({value} AS string) = '{text}'"
    for value in ("date_format(c, 'yyyy-MM-dd')", "date_format(c, 'yyyy/MM HH:mm:ss')", "cast(cast(c AS date) AS string)"):
        for table, text in product(("date", "timestamp", "timestamp_ntz"), ("2024-01-05", "2024/01 00:00:00", "1970-01-01")):
            yield table, f"{value} = '{text}'"


_COMPUTED = (
    "c + 1", "c * 1.5", "c - 0.125", "-c", "c / 4", "coalesce(c, 1.2345)", "greatest(c, 0.001)", "c % 3", "abs(c)",
    "round(c, 1)", "floor(c)", "cast(c AS decimal(20,4))", "if(c > 1, c, 2.555)", "nullif(c, 3)",
)  # fmt: skip
_COMPUTED_TEXTS = (
    "8.50", "8.5", "11.250", "11.25", "7.375", "-7.50", "1.875000", "7.5000", "7.500", "1.50", "7", "7.5", "4",
)  # fmt: skip
_UNITS = (
    "year", "yyyy", "YY", "quarter", "month", "mon", "MM", "week", "day", "DD", "hour", "minute", "second", "millisecond",
    "microsecond", "decade", "x",
)  # fmt: skip
_FIELDS = {
    "year": 2024, "quarter": 1, "month": 1, "day": 5, "dayofmonth": 31, "dayofweek": 6, "weekday": 4, "dayofyear": 5,
    "weekofyear": 1, "hour": 0,
    "minute": 30, "second": 45,
}  # fmt: skip
