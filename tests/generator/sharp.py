"""Predicates around values that an expression really takes: comparisons that are true in one row and false in the next.

In: an expression, Spark's name of its type, and some of its values as Spark prints them. Out: predicates in Spark's SQL.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from random import Random

from tests.generator.literals import spark_text

_OPS = ("=", "=", "==", "!=", "<>", "<", "<=", ">", ">=", "<=>")
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_TESTS = ("IS NULL", "IS NOT NULL", "IS TRUE", "IS FALSE", "IS NOT TRUE", "IS NOT FALSE")


@dataclass(frozen=True)
class Valued:
    """An expression with the type that Spark gives it and texts of its values."""

    text: str
    type: str
    values: tuple[str, ...]


def sharp_predicate(valued: Sequence[Valued], rng: Random, depth: int = 2) -> str:
    dice = rng.random()
    if depth == 0 or dice < 0.6:
        return _leaf(rng.choice(valued), valued, rng)
    if dice < 0.85:
        parts = [sharp_predicate(valued, rng, depth - 1) for _ in range(rng.choice([2, 2, 3]))]
        return rng.choice([" AND ", " OR "]).join(f"({part})" for part in parts)
    part = sharp_predicate(valued, rng, depth - 1)
    return f"NOT ({part})" if dice < 0.93 else f"({part}) {rng.choice(_TESTS)}"


def _leaf(one: Valued, others: Sequence[Valued], rng: Random) -> str:  # a table of forms
    ref = f"({one.text})"
    dice = rng.random()
    if one.type == "boolean" and dice < 0.6:
        return one.text if dice < 0.3 else f"{ref} {rng.choice(_TESTS)}"
    if dice < 0.05 or not one.values:
        return f"{ref} {rng.choice(_TESTS[:2])}"
    if dice < 0.13:
        other = rng.choice([o for o in others if o.type == one.type])
        return f"{ref} {rng.choice(_OPS)} ({other.text})"
    if dice < 0.25:
        options = ", ".join(literal(one, rng) for _ in range(rng.choice([1, 2, 3, 8])))
        return f"{ref} {rng.choice(['IN', 'IN', 'NOT IN'])} ({options}{', NULL' if rng.random() < 0.05 else ''})"
    if dice < 0.37:
        return f"{ref} {rng.choice(['BETWEEN', 'BETWEEN', 'NOT BETWEEN'])} {literal(one, rng)} AND {literal(one, rng)}"
    if one.type == "string" and dice < 0.5:
        value = rng.choice(one.values)[: rng.choice([1, 2, 4, 10, 40])]
        pattern = "".join("\\" + c if c in "%_\\" else c for c in value) + rng.choice(["%", "", "_", "%_"])
        return f"{ref} {rng.choice(['LIKE', 'NOT LIKE', 'ILIKE'])} {spark_text(pattern)}"
    op = rng.choice(_OPS)
    if rng.random() < 0.2:
        return f"{literal(one, rng)} {_MIRRORED.get(op, op)} {ref}"
    return f"{ref} {op} {literal(one, rng)}"


def literal(one: Valued, rng: Random) -> str:
    """A value of the expression, or one just beside it, in one of the ways to write it."""
    text = rng.choice(one.values)
    beside = rng.choice([0, 0, 0, 1, -1])
    if one.type == "string":
        return spark_text(text + ("" if beside >= 0 else "a") if beside <= 0 else text[:-1])
    if one.type == "binary":
        return f"X'{text}{'' if beside <= 0 else '00'}'"
    if one.type == "boolean":
        return text
    if one.type in ("double", "float"):
        return _real(text, one.type, rng)
    if one.type in ("date", "timestamp", "timestamp_ntz"):
        return _time(text, one.type, beside, rng)
    return _exact(text, one.type, beside, rng)


def _real(text: str, type_: str, rng: Random) -> str:
    if text in ("NaN", "Infinity", "-Infinity"):
        return f"CAST('{text}' AS {type_.upper()})"
    suffix = "D" if type_ == "double" else "F"
    return rng.choice([f"{text}{suffix}", f"CAST('{text}' AS {type_.upper()})", f"{text}D", f"'{text}'"])


def _exact(text: str, type_: str, beside: int, rng: Random) -> str:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return spark_text(text)
    if beside:
        text = f"{number + beside * Decimal(1).scaleb(int(number.as_tuple().exponent)):f}"
    if type_.startswith("decimal"):
        return rng.choice([text, text, f"{text}BD", f"'{text}'", f"CAST('{text}' AS {type_})", f"{text}D"])
    return rng.choice(
        [text, text, text, f"'{text}'", f"{text}L", f"{text}.0", f"{text}.5", f"CAST({text} AS {type_})", f"{text}D"]
    )


def _time(text: str, type_: str, beside: int, rng: Random) -> str:
    moved = _moved(text, type_, beside, rng) if beside else text
    words = {"date": "DATE", "timestamp": "TIMESTAMP", "timestamp_ntz": "TIMESTAMP_NTZ"}
    own = [f"{words[type_]} '{moved}'", f"CAST('{moved}' AS {words[type_]})", f"'{moved}'"]
    other = words[rng.choice(list(words))]
    return rng.choice([*own, *own, f"{other} '{moved.split(' ')[0] if other == 'DATE' else moved}'"])


def _moved(text: str, type_: str, beside: int, rng: Random) -> str:
    """Just before or behind; the text itself outside the years that Python knows."""
    try:
        if type_ == "date":
            return (date.fromisoformat(text) + timedelta(days=beside)).isoformat()
        span = rng.choice([timedelta(microseconds=1), timedelta(milliseconds=1), timedelta(hours=1), timedelta(days=1)])
        return str(datetime.fromisoformat(text) + beside * span)
    except (ValueError, OverflowError):
        return text
