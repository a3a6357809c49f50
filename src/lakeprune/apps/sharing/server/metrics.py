"""Counters of the server, as OpenMetrics.

In: what happens. Out: an exposition. Labels have few values: routes, outcomes and formats, never names that a client chooses.
"""

from __future__ import annotations

from threading import Lock

_FAMILIES = {
    "lakeprune_sharing_requests": "Requests by route and status.",
    "lakeprune_sharing_files_offered": "Files that answers to queries listed.",
    "lakeprune_sharing_files_pruned": "Files that hints and limits kept out of answers.",
    "lakeprune_sharing_sent_bytes": "Bytes of bodies.",
    "lakeprune_sharing_hints": "Hints by kind and outcome.",
    "lakeprune_sharing_failed_logins": "Requests with a token that is missing, wrong or expired, and with forged URLs.",
}
_GAUGE = "lakeprune_sharing_open_requests"


class Metrics:
    def __init__(self) -> None:
        self._lock = Lock()
        self._counts: dict[tuple[str, tuple[tuple[str, str], ...]], int] = {}
        self._open = 0

    def add(self, family: str, amount: int = 1, **labels: str) -> None:
        key = (f"lakeprune_sharing_{family}", tuple(sorted(labels.items())))
        with self._lock:
            self._counts[key] = self._counts.get(key, 0) + amount

    def opened(self, change: int) -> None:
        with self._lock:
            self._open += change

    @property
    def open_requests(self) -> int:
        return self._open

    def text(self) -> str:
        """Everything that was counted since the server started."""
        with self._lock:
            counts, under_way = dict(self._counts), self._open
        lines = []
        for family, help_ in _FAMILIES.items():
            lines += [f"# TYPE {family} counter", *(["# UNIT " + family + " bytes"] if family.endswith("_bytes") else [])]
            lines.append(f"# HELP {family} {help_}")
            for (name, labels), value in sorted(counts.items()):
                if name == family:
                    shown = ",".join(f'{key}="{text}"' for key, text in labels)
                    lines.append(f"{family}_total{{{shown}}} {value}" if shown else f"{family}_total {value}")
        lines += [f"# TYPE {_GAUGE} gauge", f"# HELP {_GAUGE} Requests under way.", f"{_GAUGE} {under_way}", "# EOF", ""]
        return "\n".join(lines)
