"""Lists that mix text with other types: Spark without ANSI mode compares them as text.

In: a bound list, its options as written. Out: what else the list can mean. `x IN ('3', 0)` on a double 3.0 compares '3.0'
with '3' then, and is FALSE; only text that is written as Spark itself writes the value is TRUE in both modes.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from lakeprune.predicate.bind.literals import is_text
from lakeprune.predicate.functions.cast_text import to_text
from lakeprune.predicate.functions.function import EvaluationFailed
from lakeprune.predicate.tree import And, Call, Constant, Expr, In, Literal, Not, Profile
from lakeprune.predicate.walk import type_of
from lakeprune.values.time.zones import local_of
from lakeprune.values.types import FLOATING_KINDS, INTEGRAL_KINDS, TIMESTAMP, TIMESTAMP_NTZ, DataType, Kind

_AS_TEXT_ANYWAY = FLOATING_KINDS | {Kind.STRING, Kind.BINARY}


def text_meanings(member: In, written: tuple[Expr, ...], profile: Profile) -> Iterator[Expr]:
    """The list compared as text, when that can differ from the list itself."""
    type_ = type_of(member.value)
    if type_ is None or type_.kind in (Kind.STRING, Kind.BINARY) or not any(is_text(option) for option in written):
        return
    pairs = list(zip(member.options, written, strict=True))
    kept = tuple(option for option, text in pairs if _is_written_alike(option, text, type_, profile))
    if type_ == TIMESTAMP and profile.zone != "UTC" and kept:
        # A wall clock that shows a time twice gives two instants the same text.
        local = tuple(Literal(local_of(option.value, profile.zone), TIMESTAMP_NTZ) if isinstance(option, Literal)
                      and isinstance(option.value, int) else option for option in kept)  # fmt: skip
        yield _list(Call("cast", (member.value,), TIMESTAMP_NTZ), local, member)
    elif len(kept) < len(pairs):
        yield _list(member.value, kept, member)


def _list(value: Expr, kept: tuple[Expr, ...], member: In) -> Expr:
    if any(isinstance(option, Literal) and option.value is not None for option in kept):
        return In(value, kept)
    has_null = any(isinstance(option, Literal) and option.value is None for option in member.options)
    return Constant(None) if has_null else And((member, Not(member)))


def _is_written_alike(option: Expr, written: Expr, type_: DataType, profile: Profile) -> bool:
    """Whether the option, as text, is the text of the value of the column that equals it."""
    if not isinstance(option, Literal) or not isinstance(written, Literal) or type_.kind in _AS_TEXT_ANYWAY:
        return False
    if option.value is None:
        return True
    if not is_text(written):
        return option.type == type_ or (option.type is not None and {option.type.kind, type_.kind} <= INTEGRAL_KINDS)
    if isinstance(option.value, Decimal) and -int(option.value.as_tuple().exponent) != type_.scale:
        return False  # '3' is not how Spark writes a decimal(5,2); nor is a timestamp finer than a microsecond
    try:
        return to_text(option.value, type_, profile) == written.value
    except EvaluationFailed:
        return False
