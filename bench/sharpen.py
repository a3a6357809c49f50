"""Queries as users write them on a table with real weight, before and after `lakeprune.spark.sharpen`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from bench.goals import Goal
from bench.sharpen_worker import FILES

MEGABYTES = int(os.environ.get("SHARPEN_MEGABYTES", "20"))  # of one file


def measure(folder: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "bench.sharpen_worker", str(folder.absolute()), str(MEGABYTES)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def goals(reported: dict[str, Any]) -> list[Goal]:
    return [
        Goal(
            f"{title}, {FILES} files of {MEGABYTES} MB: faster after sharpen, sharpening included",
            f"{one['before']['wall'] / one['after']['wall']:.1f}x",
            one["after"]["wall"] < one["before"]["wall"],
        )
        for title, one in reported.items()
    ]


def lines(reported: dict[str, Any]) -> list[str]:
    """The section of the page."""
    page = [
        "## Sharpened queries",
        "",
        f"{FILES} files of {MEGABYTES} MB, in the order of time; the largest of eight columns under a selective condition.",
        "`local[2]`. Median of three warm runs. *After* includes sharpening: reading the log, and two more plans by Delta.",
        "",
        "| condition | files before | files after | wall before | wall after |",
        "|---|---:|---:|---:|---:|",
    ]
    for title, one in reported.items():
        before, after = one["before"], one["after"]
        page.append(f"| {title} | {before['files']} | {after['files']} | {before['wall']:.1f} s | {after['wall']:.1f} s |")
    return page
