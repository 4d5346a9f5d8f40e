"""Errors of the user that are raised while Dynamo traces or compiles.

PyTorch wraps unknown exceptions in an exception with advice on how to report a bug of PyTorch. It passes on instances
of `ShortenTraceback` unchanged.
"""

from __future__ import annotations

import functools
from typing import TypeVar

try:
    from torch._dynamo.exc import ShortenTraceback
except ImportError:  # Versions without this class wrap every exception.
    ShortenTraceback = None

E = TypeVar("E", bound=Exception)


@functools.cache
def make_unwrapped_type(kind: type[Exception]) -> type[Exception]:
    """Returns a subclass of an exception type that PyTorch passes on unchanged."""
    members = {"__module__": kind.__module__, "__qualname__": kind.__qualname__, "__str__": lambda self: self._text}
    return type(kind.__name__, (kind, ShortenTraceback), members)


def make_unwrapped_error(error: E) -> E:
    """Returns an error of the same type and text that PyTorch does not wrap."""
    if ShortenTraceback is None or isinstance(error, ShortenTraceback):
        return error
    kind = make_unwrapped_type(type(error))
    copy = kind.__new__(kind, *error.args)
    # PyTorch appends advice to the first argument.
    copy.__dict__.update({**error.__dict__, "_text": str(error), "first_useful_frame": None})
    return copy.with_traceback(error.__traceback__)
