"""The clock of a predicate, stopped: the text that means on every engine, at any later time, what was planned.

In: predicate text and the session it was planned in. Out: the same text with the moment in place of every call that asks the
time. Text in quotes and back-ticks stays as it is.
"""

from __future__ import annotations

import re

from lakeprune.predicate.tree import Profile
from lakeprune.values.time.zones import DAY, SECOND, local_of

_QUOTED = r"'(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`"


def pinned(where: str, profile: Profile) -> str:
    """The predicate with the moment it was planned for in place of the clock, which would go on.

    >>> pinned("d = current_date() AND s = 'now()'", Profile(now=0))
    "d = date_from_unix_date(0) AND s = 'now()'"
    """
    moment = f"timestamp_micros({profile.now})"
    meanings = {
        r"(?:current_date|curdate)\s*\(\s*\)|current_date": f"date_from_unix_date({local_of(profile.now, profile.zone) // DAY})",
        r"(?:current_timestamp|now)\s*\(\s*\)|current_timestamp": moment,
        r"localtimestamp\s*\(\s*\)|localtimestamp": f"CAST({moment} AS TIMESTAMP_NTZ)",
        r"unix_timestamp\s*\(\s*\)": str(profile.now // SECOND),
    }
    for clock, meaning in meanings.items():
        form = re.compile(rf"({_QUOTED})|\b(?:{clock})(?![\w(])", re.IGNORECASE | re.DOTALL)
        where = form.sub(lambda found, meaning=meaning: found[1] or meaning, where)  # type: ignore[misc]
    return where
