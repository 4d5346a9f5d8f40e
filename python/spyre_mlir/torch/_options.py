"""The options of the backend: a few of its own, and any of `spyre_mlir.compile`."""

from __future__ import annotations

import dataclasses
import os
import pathlib
from collections.abc import Mapping
from typing import Any

FALLBACKS = ("cpu", "error")
CACHE_VARIABLE = "SPYRE_MLIR_CACHE"


class OptionError(ValueError):
    """An option has a value that it cannot have."""


@dataclasses.dataclass(frozen=True)
class Options:
    """What a user may choose.

    `fallback` is "cpu" (operations that the compiler refuses run in PyTorch, each with a line in the log) or "error".
    `report` is a directory for what became of each graph. `cache` is a directory for compiled programs (or the variable
    SPYRE_MLIR_CACHE). `validate` lets the compiler check its files before they are used. `sizes` is how many sizes of a
    graph of open sizes are kept compiled. `compiler` is handed to `spyre_mlir.compile` as it is.
    """

    fallback: str = "cpu"
    report: pathlib.Path | None = None
    cache: pathlib.Path | None = None
    validate: bool = False
    sizes: int = 16
    compiler: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    @staticmethod
    def of(given: Mapping[str, Any] | None) -> Options:
        """Options as `torch.compile(..., options=...)` hands them over."""
        rest = dict(given or {})
        fallback = rest.pop("fallback", "cpu")
        if fallback not in FALLBACKS:
            raise OptionError(f"option 'fallback' is {fallback!r}, and can be one of {', '.join(map(repr, FALLBACKS))}")
        sizes = rest.pop("sizes", 16)
        if not isinstance(sizes, int) or isinstance(sizes, bool) or sizes < 1:
            raise OptionError(f"option 'sizes' is {sizes!r}: give the number of sizes to keep, at least 1")
        validate = rest.pop("validate", False)
        if not isinstance(validate, bool):
            raise OptionError(f"option 'validate' is {validate!r}, and can be True or False")
        cache = rest.pop("cache", None) or os.environ.get(CACHE_VARIABLE)
        return Options(
            fallback=fallback,
            report=directory("report", rest.pop("report", None)),
            cache=directory("cache", cache),
            validate=validate,
            sizes=sizes,
            compiler=rest,
        )


def directory(name: str, given: str | os.PathLike[str] | None) -> pathlib.Path | None:
    """The directory that an option names, made if it is not there, so that a bad one is refused before hours of work."""
    if given is None:
        return None
    path = pathlib.Path(given)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OptionError(f"option '{name}' is {str(given)!r}, where no directory can be made: {error.strerror}") from error
    return path
