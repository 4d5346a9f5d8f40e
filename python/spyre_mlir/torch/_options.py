"""Options of the backend, which include the options of `spyre_mlir.compile`."""

from __future__ import annotations

import dataclasses
import os
import pathlib
from collections.abc import Mapping
from typing import Any

import spyre_mlir

FALLBACKS = ("cpu", "error")
CACHE_VARIABLE = "SPYRE_MLIR_CACHE"
# Requests for one program: a graph that is rejected because of them does not fall back to the CPU.
REQUEST_OPTIONS = ("tiles", "dims", "bind", "plan")
# Options without a meaning for a graph: it has one function of static sizes, and its files are temporary.
EXCLUDED_OPTIONS = ("entry", "dim_size", "bundle_dir")
PROBE = """
func.func @main(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %y = spyre.pointwise exp(%x) : tensor<64x64xf16>
  return %y : tensor<64x64xf16>
}
"""


class OptionError(ValueError):
    """Invalid value of an option."""


@dataclasses.dataclass(frozen=True)
class Options:
    """Options of the backend.

    `fallback` is "cpu" (rejected operations run in PyTorch, each with a line in the log) or "error". `quiet` omits the
    line after a compilation and the progress line, like the variable SPYRE_QUIET. `report` is a directory for the
    reports of the graphs. `cache` is a directory for compiled programs; its default is the variable SPYRE_MLIR_CACHE.
    `validate` is passed to `spyre_mlir.compile`: "auto", True or False. `sizes` is the number of sizes of a dynamic
    graph whose programs are retained. `compiler` is passed to `spyre_mlir.compile` unchanged. `may_narrow` allows
    computing float64 as float32; only ahead-of-time compilation sets it, because it has no fallback to the CPU.
    """

    fallback: str = "cpu"
    quiet: bool = False
    report: pathlib.Path | None = None
    cache: pathlib.Path | None = None
    validate: bool | str = "auto"
    sizes: int = 16
    may_narrow: bool = False
    compiler: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    @staticmethod
    def parse(options: Mapping[str, Any] | None) -> Options:
        """Reads the options of `torch.compile(..., options=...)`."""
        rest = dict(options or {})
        fallback = rest.pop("fallback", "cpu")
        if fallback not in FALLBACKS:
            raise OptionError(
                f"option 'fallback': expected one of {', '.join(map(repr, FALLBACKS))}, found {fallback!r}; use one of "
                "these"
            )
        sizes = rest.pop("sizes", 16)
        if not isinstance(sizes, int) or isinstance(sizes, bool) or sizes < 1:
            raise OptionError(
                f"option 'sizes': expected a number of sizes to keep, at least 1, found {sizes!r}; give one such as 16"
            )
        quiet = rest.pop("quiet", False)
        if not isinstance(quiet, bool):
            raise OptionError(f"option 'quiet': expected True or False, found {quiet!r}; use one of these")
        validate = rest.pop("validate", "auto")
        if validate != "auto" and not isinstance(validate, bool):
            raise OptionError(
                f"option 'validate': expected 'auto', True or False, found {validate!r}; use one of these"
            )
        report = create_directory("report", rest.pop("report", None))
        cache = create_directory("cache", rest.pop("cache", None) or os.environ.get(CACHE_VARIABLE))
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

    def has_requests(self) -> bool:
        return any(name in self.compiler for name in REQUEST_OPTIONS)

    def remove_requests(self) -> Options:
        return dataclasses.replace(self, compiler=remove_requests(self.compiler))


def remove_requests(compiler: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in compiler.items() if name not in REQUEST_OPTIONS}


def check_compiler(options: Mapping[str, Any]) -> None:
    """Raises `OptionError` for invalid options of the compiler, which would otherwise reject every graph."""
    for name in EXCLUDED_OPTIONS:
        if name in options:
            raise OptionError(
                f"option '{name}': expected an option that applies to PyTorch programs, found {options[name]!r}; "
                "remove it"
            )
    if not options:
        return
    try:
        spyre_mlir.lower(PROBE, to="import", **remove_requests(options))
    except spyre_mlir.CompileError as error:
        raise OptionError(error.errors[0].message if error.errors else str(error)) from None


def create_directory(name: str, value: str | os.PathLike[str] | None) -> pathlib.Path | None:
    """Creates the directory that an option names, so that errors are reported before a long compilation."""
    if value is None:
        return None
    path = pathlib.Path(value)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OptionError(
            f"option '{name}': expected a directory, found {str(value)!r}, which cannot be made: {error.strerror}; "
            "name another path"
        ) from error
    return path
