"""The options of the backend: a few of its own, and any of `spyre_mlir.compile`."""

from __future__ import annotations

import dataclasses
import os
import pathlib
from collections.abc import Mapping
from typing import Any

import spyre_mlir

FALLBACKS = ("cpu", "error")
CACHE_VARIABLE = "SPYRE_MLIR_CACHE"
# Options about one program: a graph that is rejected because of them does not fall back to the CPU.
WISHES = ("tiles", "dims", "bind", "plan")
# Options without a meaning for a graph: it has one function of static sizes, and its files are temporary.
MEANINGLESS = ("entry", "dim_size", "bundle_dir")
PROBE = """
func.func @main(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %y = spyre.pointwise exp(%x) : tensor<64x64xf16>
  return %y : tensor<64x64xf16>
}
"""


class OptionError(ValueError):
    """An option has a value that it cannot have."""


@dataclasses.dataclass(frozen=True)
class Options:
    """Options of the backend.

    `fallback` is "cpu" (operations that the compiler refuses run in PyTorch, each with a line in the log) or "error".
    `quiet` leaves out the line after a compilation, and the line that shows that work is under way (as the variable
    SPYRE_QUIET does). `report` is a directory for what became of each graph. `cache` is a directory for compiled
    programs (or the variable SPYRE_MLIR_CACHE). `validate` is `spyre_mlir.compile`'s: "auto", True or False. `sizes` is
    how many sizes of a graph with dynamic sizes are kept compiled. `compiler` is passed to `spyre_mlir.compile`
    unchanged. `narrows` allows computing float64 as float32. Users cannot set it: ahead-of-time compilation does,
    because it has no CPU to fall back to.
    """

    fallback: str = "cpu"
    quiet: bool = False
    report: pathlib.Path | None = None
    cache: pathlib.Path | None = None
    validate: bool | str = "auto"
    sizes: int = 16
    narrows: bool = False
    compiler: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    @staticmethod
    def of(given: Mapping[str, Any] | None) -> Options:
        """Reads the options of `torch.compile(..., options=...)`."""
        rest = dict(given or {})
        fallback = rest.pop("fallback", "cpu")
        if fallback not in FALLBACKS:
            raise OptionError(f"option 'fallback': expected one of {', '.join(map(repr, FALLBACKS))}, found {fallback!r}; use one of these")
        sizes = rest.pop("sizes", 16)
        if not isinstance(sizes, int) or isinstance(sizes, bool) or sizes < 1:
            raise OptionError(f"option 'sizes': expected a number of sizes to keep, at least 1, found {sizes!r}; give one such as 16")
        quiet = rest.pop("quiet", False)
        if not isinstance(quiet, bool):
            raise OptionError(f"option 'quiet': expected True or False, found {quiet!r}; use one of these")
        validate = rest.pop("validate", "auto")
        if validate != "auto" and not isinstance(validate, bool):
            raise OptionError(f"option 'validate': expected 'auto', True or False, found {validate!r}; use one of these")
        report = directory("report", rest.pop("report", None))
        cache = directory("cache", rest.pop("cache", None) or os.environ.get(CACHE_VARIABLE))
        check_compiler(rest)
        return Options(
            fallback=fallback,
            quiet=quiet,
            report=report,
            cache=cache,
            validate=validate,
            sizes=sizes,
            compiler=rest,
        )

    def has_wishes(self) -> bool:
        return any(name in self.compiler for name in WISHES)

    def without_wishes(self) -> Options:
        return dataclasses.replace(self, compiler=without_wishes(self.compiler))


def without_wishes(compiler: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in compiler.items() if name not in WISHES}


def check_compiler(given: Mapping[str, Any]) -> None:
    """Checks the compiler's options before a graph is compiled, which would be rejected because of them."""
    for name in MEANINGLESS:
        if name in given:
            raise OptionError(f"option '{name}': expected an option that applies to PyTorch programs, found {given[name]!r}; remove it")
    if not given:
        return
    try:
        spyre_mlir.lower(PROBE, to="import", **without_wishes(given))
    except spyre_mlir.CompileError as error:
        raise OptionError(error.errors[0].message if error.errors else str(error)) from None


def directory(name: str, given: str | os.PathLike[str] | None) -> pathlib.Path | None:
    """Returns the directory that an option names, and creates it, so that errors show before a long compilation."""
    if given is None:
        return None
    path = pathlib.Path(given)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OptionError(
            f"option '{name}': expected a directory, found {str(given)!r}, which cannot be made: {error.strerror}; name another path"
        ) from error
    return path
