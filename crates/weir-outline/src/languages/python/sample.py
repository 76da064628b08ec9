#!/usr/bin/env python3
# -*- coding: utf-8 -*-
"""Invoices and what is owed on them.

Nothing here talks to a bank.
"""

from __future__ import annotations

import abc
import sys
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar, overload

from .money import Amount as Amount
from .rates import *

if TYPE_CHECKING:
    from collections.abc import Iterator

T = TypeVar("T", bound="Line")
_cache: dict[str, int] = {}
#: How many days a bill may wait.
DAYS: int = 30
LOW, HIGH = 0, 100
first = second = None
TABLE = {
    "a": "a value that is much longer than anything that one would want to read in an outline",
}
type Pair[A, B] = tuple[A, B]


class Status(Enum):
    """Where an invoice stands."""

    OPEN = "open"
    PAID = "paid"


@dataclass(frozen=True)
class Line(Generic[T]):
    """One line of an invoice. It never changes."""

    text: str
    amount: int = 0
    tags: list[str] = field(default_factory=list)
    limit: ClassVar[int] = 100  # not per line
    _sum: int | None = None

    class Meta:
        """How lines are kept."""

        table = "lines"

        def name(self) -> str: return "x"

    @property
    def total(self) -> int:
        """What it comes to."""
        return self.amount

    @total.setter
    def total(self, value: int) -> None:
        pass

    @staticmethod
    def parse(text: str, /, *, strict: bool = False) -> "Line":
        return Line(text)

    @classmethod
    async def fetch(
        cls,
        key: str,  # its number
        *args: object,
        timeout: float = 1.5,
        **more: object,
    ) -> Line:
        def helper():
            return 1

        return cls(key)

    def __len__(self) -> int:
        return 1

    def _hidden(self):
        pass


class Base(abc.ABC, metaclass=abc.ABCMeta):
    @abc.abstractmethod
    def run(self): ...

    if sys.platform == "win32":

        def only_there(self):
            pass

    else:

        def only_here(self):
            pass


@overload
def pay(what: int) -> int: ...
@overload
def pay(what: str) -> str: ...
def pay(what):
    """Pays! Whatever it is."""
    return what


try:
    import tomllib
except ImportError:

    def fallback(a, b=(1, 2), *, c={"x": ","}): return a


def first_of[S: Line](lines: Iterator[S]) -> S:
    return next(lines)


def _private(x):
    return x


with open(__file__) as handle:
    SOURCE = handle.read()

double = lambda x: x * 2

if __name__ == "__main__":
    main_result = pay(1)

ONE = (
    "a",
)
