"""The session a predicate is read in: time zone, the pinned clock, the NaN policy. The only place that looks at the clock."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypedDict

from msgspec import Struct

from lakeprune.errors import UsageError
from lakeprune.predicate.condition import Condition
from lakeprune.predicate.tree import NanPolicy, Profile
from lakeprune.skipping.plan import Plan
from lakeprune.values.types import TIMESTAMP, Kind

if TYPE_CHECKING:
    from datetime import datetime

NAN_POLICIES = ("guard", *(policy.value for policy in NanPolicy))  # "guard" is another name of "strict"

NAN_NOTES = {  # what a report says of a policy
    "spark-writers": "the table's writers are trusted to keep NaN in the maximum",
}


class SessionOptions(TypedDict, total=False):
    """How a predicate is read."""

    timezone: str
    now: str | datetime
    nan_policy: str


class Session(Struct, frozen=True):
    """What the predicate was read in; null where it did not matter. `now` is ISO text."""

    timezone: str | None
    now: str | None
    nan_policy: str


def among(options: Mapping[str, Any], kind: type) -> dict[str, Any]:
    """The options that a TypedDict has.

    >>> among({"now": "2024-01-31", "max_files": 3}, SessionOptions)
    {'now': '2024-01-31'}
    """
    return {name: value for name, value in options.items() if name in kind.__annotations__}


def for_rows(options: Mapping[str, Any], what: str) -> dict[str, Any]:
    """The options of what acts on rows, which never takes for granted that statistics hide no NaN."""
    if options.get("nan_policy") == NanPolicy.ASSUME.value:
        fix = "leave nan_policy out, or give spark-writers where all writers of the table are Delta Spark"
        raise UsageError("LP215", f"{what} acts on rows, and assumes nothing about NaN", fix=fix)
    return {"nan_policy": NanPolicy.STRICT.value, **options}


def check_options(function: str, options: Mapping[str, Any], kind: type) -> None:
    """TypeError for an option that a TypedDict does not have, like that of any function with unknown keywords."""
    if unknown := sorted(options.keys() - kind.__annotations__.keys()):
        raise TypeError(f"{function}() has no option {unknown[0]!r}; it has {', '.join(sorted(kind.__annotations__))}")


def profile_of(
    timezone: str | None = None, now: str | datetime | None = None, nan_policy: str = "guard"
) -> tuple[Profile, Session]:
    """The profile for the passes, and what a report may have to say about it."""
    from lakeprune.values.literals import format_value
    from lakeprune.values.time.zones import check_zone

    if nan_policy not in NAN_POLICIES:
        raise UsageError("LP215", f"`{nan_policy}` is not a NaN policy", fix=f"choose one of {', '.join(NAN_POLICIES)}")
    zone = "UTC" if timezone is None else str(timezone)
    check_zone(zone)
    moment = time.time_ns() // 1000 if now is None else instant(str(now), zone, "--now")
    policy = NanPolicy.STRICT if nan_policy == "guard" else NanPolicy(nan_policy)
    profile = Profile(moment, zone, timezone is not None, policy)
    return profile, Session(timezone, format_value(moment, TIMESTAMP, zone).strip("'"), nan_policy)


def instant(text: str, zone: str, flag: str) -> int:
    """Microseconds since the epoch; text without an offset is in the session's zone."""
    from lakeprune.values.literals import parse_as

    try:
        value = parse_as(text, TIMESTAMP, zone)
    except ValueError as error:
        fix = "write it like 2024-01-31, 2024-01-31 12:00:00 or 2024-01-31T12:00:00Z"
        raise UsageError("LP216", f"`{text}` is not a point in time", where=flag, fix=fix) from error
    assert value is not None, "parse_as gives a value or raises"
    return int(value)


def has_instants(condition: Condition | None, plan: Plan) -> bool:
    """Whether the time zone matters to a predicate: it asks the clock, or is about points in time."""
    columns = (*plan.columns, *(column for exact in plan.exacts for column in exact.columns))
    asks_clock = condition is not None and condition.asks_clock
    return asks_clock or any(column.type.kind is Kind.TIMESTAMP for column in columns)


def session_of(session: Session, profile: Profile, condition: Condition | None, plan: Plan) -> Session:
    """The session as far as it matters to this predicate."""
    asks_clock = condition is not None and condition.asks_clock
    zone = profile.zone if session.timezone is not None or has_instants(condition, plan) else None
    return Session(zone, session.now if asks_clock else None, session.nan_policy)
