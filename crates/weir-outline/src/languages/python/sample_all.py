"""A package that says what it offers."""

import json
from .one import Alpha, beta as gamma
from .two import hidden

__all__ = ["Alpha", "gamma", "shown", "_odd", "VALUE"]
__all__ += ("late",)
__version__ = "1.0"

VALUE, other = 1, 2


def shown(): ...
def not_shown(): ...
def _odd(): ...


class late:
    def method(self): ...
    def _own(self): ...
