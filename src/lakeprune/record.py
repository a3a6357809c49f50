"""`@record`: a frozen value class, like `dataclass(frozen=True, slots=True)` but almost free to define.

`dataclass` compiles source text for every class, about a millisecond each: with sixty of them the command line would spend more
time defining its vocabulary than answering. A record is assembled from ready-made methods instead. Type checkers see a dataclass.
"""

from __future__ import annotations

from operator import attrgetter
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True)
def record(cls: type[T]) -> type[T]:
    """The class with its annotations as immutable fields: compared by value, hashable, usable in `match`.

    >>> @record
    ... class Point:
    ...     x: int
    ...     y: int = 0
    >>> Point(1), Point(1) == Point(1, 0), Point(x=2, y=3).y
    (Point(x=1, y=0), True, 3)
    """
    fields = tuple(cls.__annotations__)
    kept = {name: value for name, value in cls.__dict__.items() if name not in (*fields, "__dict__", "__weakref__")}
    made: Any = type(cls.__name__, (_Record,), {**kept, "__slots__": fields, "__match_args__": fields})
    made._values_of = attrgetter(*fields) if len(fields) > 1 else None
    made._fields = fields
    made._defaults = {name: cls.__dict__[name] for name in fields if name in cls.__dict__}
    made._tail = tuple(cls.__dict__[name] for name in fields if name in cls.__dict__)
    made._setters = tuple(made.__dict__[name].__set__ for name in fields)
    return made  # type: ignore[no-any-return]  # assembled at run time, as dataclass(slots=True) does


def replace(value: T, **changes: Any) -> T:
    """A copy of a record with some fields changed."""
    fields = {name: getattr(value, name) for name in value._fields}  # type: ignore[attr-defined]  # every record has them
    return type(value)(**{**fields, **changes})


class _Record:
    __slots__ = ("_hash",)  # kept once computed: trees are looked up far more often than they are made
    _hash: int
    _fields: tuple[str, ...]
    _values_of: Any
    _defaults: dict[str, Any]
    _tail: tuple[Any, ...]  # the defaults, which stand last, in order
    _setters: tuple[Any, ...]

    def __init__(self, *args: Any, **named: Any) -> None:
        setters = self._setters
        missing = len(setters) - len(args)
        if named or missing < 0 or missing > len(self._tail):
            args = self._complete(args, named)
        elif missing:
            args += self._tail[-missing:]
        for set_field, value in zip(setters, args, strict=True):
            set_field(self, value)

    def _complete(self, args: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
        """All field values in order, from positions, names and defaults."""
        rest = self._fields[len(args) :]
        unknown = [name for name in named if name not in rest]
        missing = [name for name in rest if name not in named and name not in self._defaults]
        if unknown or missing or len(args) > len(self._fields):
            detail = f"unexpected {unknown}" if unknown else f"missing {missing}" if missing else "too many values"
            raise TypeError(f"{type(self).__name__}: {detail}")
        return (*args, *(named[name] if name in named else self._defaults[name] for name in rest))

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__}.{name} is frozen")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__}.{name} is frozen")

    def _values(self) -> tuple[Any, ...]:
        cls = type(self)
        if cls._values_of is not None:
            return cls._values_of(self)  # type: ignore[no-any-return]  # two or more fields make a tuple
        return tuple(getattr(self, name) for name in cls._fields)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(other) is not type(self):
            return NotImplemented
        return self._values() == other._values()

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:
            found = hash((type(self).__name__, self._values()))
            _keep_hash(self, found)
            return found

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={getattr(self, name)!r}" for name in self._fields)
        return f"{type(self).__name__}({inside})"

    def __getstate__(self) -> tuple[Any, ...]:
        return self._values()

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        for set_field, value in zip(self._setters, state, strict=True):
            set_field(self, value)


_keep_hash = _Record.__dict__["_hash"].__set__
