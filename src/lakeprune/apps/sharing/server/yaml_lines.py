"""YAML with the line of every value. The only file that imports pyyaml.

In: text. Out: plain values, and the line of each by its path of keys. A key that is given twice is an error, not a silent choice.
"""

from __future__ import annotations

from typing import Any

import yaml

Path = tuple[str | int, ...]


class YamlProblem(Exception):
    """What is wrong, and on which line."""

    def __init__(self, what: str, line: int | None) -> None:
        super().__init__(what)
        self.line = line


def read_yaml(text: str) -> tuple[Any, dict[Path, int]]:
    """The value of a document, and the line (from 1) where the value at each path begins."""
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        if node is None:
            raise YamlProblem("the file is empty", 1)
        lines: dict[Path, int] = {}
        _check(node, (), lines)
        return yaml.load(text, Loader=yaml.SafeLoader), lines  # the safe loader
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise YamlProblem(
            str(error.problem or error.context or "it is not YAML"), None if mark is None else mark.line + 1
        ) from error
    except yaml.YAMLError as error:
        raise YamlProblem(str(error).split("\n", 1)[0], None) from error
    except RecursionError:
        raise YamlProblem("it is nested too deeply", None) from None


def _check(node: Any, path: Path, lines: dict[Path, int]) -> None:
    lines[path] = node.start_mark.line + 1
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            name = str(key.value)
            if (*path, name) in lines:
                raise YamlProblem(f"`{name}` is given twice", key.start_mark.line + 1)
            _check(value, (*path, name), lines)
            lines[(*path, name)] = key.start_mark.line + 1
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            _check(value, (*path, index), lines)
