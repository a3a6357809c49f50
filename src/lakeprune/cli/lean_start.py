"""The libraries of a command, imported without what they bring along and no command uses: a tenth of a short one.

Only the installed command does this, first of all: the process is its own, and no other thread runs. Whatever was hidden or had a
stand-in can be imported afterwards as if nothing had happened.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import Any


def import_libraries() -> None:
    """msgspec and argparse.

    typing_extensions     msgspec takes two functions from it, and the same from typing where it is not installed; it imports
                          inspect and the compiler's modules
    platform              msgspec imports uuid, which asks for the name of the system; it compiles expressions for all of them
    msgspec.inspect       describes types, with 30 classes of its own, to the next one
    msgspec._json_schema  makes schemas of types
    gettext               argparse translates; what a command says is English, and argparse's errors are recognised by their words
    """
    stand_ins = {
        "typing_extensions": None,
        "platform": _stand_in("platform", {"system": lambda: os.uname().sysname}),
        "msgspec.inspect": _stand_in("msgspec.inspect", {}),
        "msgspec._json_schema": _later("msgspec._json_schema", ("schema", "schema_components")),
        "gettext": _stand_in("gettext", {"gettext": str, "ngettext": _one_or_many}),
    }
    with _instead(stand_ins):
        import argparse  # noqa: F401

        import msgspec  # noqa: F401


@contextmanager
def _instead(stand_ins: Mapping[str, ModuleType | None]) -> Iterator[None]:
    """Inside, importing these gives what stands in for them; None, and it fails. What was imported before stays what it is."""
    given: dict[str, Any] = {name: stand_in for name, stand_in in stand_ins.items() if name not in sys.modules}
    sys.modules.update(given)
    try:
        yield
    finally:
        for name, stand_in in given.items():
            if sys.modules.get(name) is stand_in:
                del sys.modules[name]


def _stand_in(name: str, functions: Mapping[str, Callable[..., Any]]) -> ModuleType:
    """A module of these functions; whoever has it and asks for anything else gets that of the real one."""
    made = ModuleType(name)

    def missing(attribute: str) -> Any:
        if attribute.startswith("__"):  # as the import system asks: it has no path, it is no package
            raise AttributeError(attribute)
        if sys.modules.get(name) is made:
            del sys.modules[name]
        return getattr(import_module(name), attribute)

    vars(made).update(functions, __getattr__=missing)
    return made


def _one_or_many(one: str, many: str, number: int) -> str:
    return one if number == 1 else many


def _later(name: str, functions: tuple[str, ...]) -> ModuleType:
    """A module whose functions are those of the real one, which is imported when one of them is called."""
    made = _stand_in(name, {})

    def call(function: str, *given: Any, **named: Any) -> Any:
        return made.__getattr__(function)(*given, **named)

    vars(made).update({function: partial(call, function) for function in functions})
    return made
