"""Errors of the user that are raised while Dynamo traces or compiles.

PyTorch wraps exceptions that it does not know in one of its own, with advice on how to report a bug of PyTorch. It
hands over its own kinds as they are.
"""

from __future__ import annotations

import functools
from typing import TypeVar

try:
    from torch._dynamo.exc import ShortenTraceback
except ImportError:  # Before it existed, PyTorch wrapped every exception.
    ShortenTraceback = None

E = TypeVar("E", bound=Exception)


@functools.cache
def unwrapped_type(kind: type[Exception]) -> type[Exception]:
    """Returns a subclass of an error that PyTorch hands over as it is."""
    members = {"__module__": kind.__module__, "__qualname__": kind.__qualname__, "__str__": lambda self: self._text}
    return type(kind.__name__, (kind, ShortenTraceback), members)


def unwrapped(error: E) -> E:
    """Returns an error for the user, of the same kind and text, that PyTorch does not wrap."""
    if ShortenTraceback is None or isinstance(error, ShortenTraceback):
        return error
    kind = unwrapped_type(type(error))
    made = kind.__new__(kind, *error.args)
    # PyTorch appends advice to the first argument.
    made.__dict__.update({**error.__dict__, "_text": str(error), "first_useful_frame": None})
    return made.with_traceback(error.__traceback__)
