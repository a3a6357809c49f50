"""A reader of OpenMetrics text by the ABNF of the specification (version 1.0), with its rules for families of gauges."""

from __future__ import annotations

import re

from msgspec import Struct

NORMAL = r"[^\n\"\\\ud800-\udfff]"
ESCAPED = rf"(?:{NORMAL}|\\[^\n])"
NAME, LABEL_NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*", r"[a-zA-Z_][a-zA-Z0-9_]*"
LABEL = re.compile(rf'({LABEL_NAME})="({ESCAPED}*)"')
LABELS = rf'\{{(?:{LABEL_NAME}="{ESCAPED}*"(?:,{LABEL_NAME}="{ESCAPED}*")*)?\}}'
DESCRIPTOR = re.compile(rf"# (TYPE|UNIT|HELP) ({NAME}) ({ESCAPED}*)")
NUMBER = r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?"
SAMPLE = re.compile(rf"({NAME})({LABELS})? ({NUMBER})")
UNESCAPED = {"\\n": "\n", '\\"': '"', "\\\\": "\\"}


class Sample(Struct, frozen=True):
    name: str
    labels: dict[str, str]
    value: float


def parsed(text: str) -> list[Sample]:
    """Its samples; AssertionError where the text is not an exposition of gauges."""
    assert text.endswith("# EOF\n"), "an exposition ends with # EOF"
    samples: list[Sample] = []
    described: dict[str, dict[str, str]] = {}
    family = ""
    for line in text.removesuffix("# EOF\n").split("\n")[:-1]:
        if found := DESCRIPTOR.fullmatch(line):
            word, name, value = found.groups()
            if name != family:
                assert name not in described, f"{name} comes twice"
                described[name], family = {}, name
            assert word not in described[name], f"{word} of {name} comes twice"
            assert all(sample.name != name for sample in samples), f"{word} of {name} comes behind its samples"
            described[name][word] = value
        else:
            found = SAMPLE.fullmatch(line)
            assert found is not None, f"not a line of OpenMetrics: {line!r}"
            assert found[1] == family, f"{found[1]} is not of the family before it"
            labels = {label: unescaped(value) for label, value in LABEL.findall(found[2] or "")}
            samples.append(Sample(found[1], labels, float(found[3])))
    for name, words in described.items():
        assert words["TYPE"] == "gauge"
        assert name.endswith(f"_{words['UNIT']}"), f"the unit of {name} is not its end"
        assert not name.endswith(("_total", "_created", "_info", "_bucket", "_count", "_sum")), f"{name} is reserved"
    keys = [(sample.name, tuple(sorted(sample.labels.items()))) for sample in samples]
    assert len(set(keys)) == len(keys), "two samples have the same labels"
    return samples


def unescaped(value: str) -> str:
    return re.sub(r"\\.", lambda found: UNESCAPED.get(found[0], found[0]), value, flags=re.DOTALL)
