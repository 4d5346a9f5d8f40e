"""The simulated machine. It needs no compiler: `Simulation(directory)` runs any bundle directory."""

from __future__ import annotations

import json
import os
import pathlib
import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy

from spyre_mlir import _native
from spyre_mlir._arrays import array_of, conversion
from spyre_mlir._progress import progress
from spyre_mlir.errors import RunError, described

#: NumPy's types for the element types of a program; of bf16, which NumPy lacks, f32.
DTYPES = {
    "f16": numpy.dtype("<f2"),
    "bf16": numpy.dtype("<f4"),
    "f32": numpy.dtype("<f4"),
    "f64": numpy.dtype("<f8"),
    "i1": numpy.dtype("?"),
    "i8": numpy.dtype("i1"),
    "i32": numpy.dtype("<i4"),
    "i64": numpy.dtype("<i8"),
}


@dataclass(frozen=True)
class Tensor:
    """An argument or a result of a program."""

    name: str
    shape: tuple[int, ...]
    #: As in `program.json`: f16, bf16, f32, i1, i8, i32 or i64.
    dtype: str

    def __str__(self) -> str:
        return f"{self.name}: tensor<{'x'.join([*map(str, self.shape), self.dtype])}>"


class Simulation:
    """A bundle directory on the simulated machine."""

    def __init__(self, directory: str | os.PathLike[str]):
        try:
            native = _native.Simulation(checked_directory(directory))
        except ValueError as error:
            raise RunError(f"{without_number(str(error))}; compile the program again") from None
        self._become(native)

    def _become(self, native: _native.Simulation) -> None:
        self._native = native
        self.arguments = [Tensor(name, tuple(shape), dtype) for name, shape, dtype in self._native.arguments()]
        self.results = [Tensor(name, tuple(shape), dtype) for name, shape, dtype in self._native.results()]
        #: Traffic and modeled time of the last run (`docs/reference/report.md`).
        self.report: dict | None = None

    def at(self, sizes: Mapping[str, int]) -> Simulation:
        """The program at these symbolic sizes (`compile(..., dim_size={"arg0.0": "128:16"})`), by name; the others are
        the largest.

        Raises `RunError` for a name that the program does not have, and for a size that it cannot have.
        """
        if not isinstance(sizes, Mapping) or not all(isinstance(name, str) and is_integer(size) for name, size in sizes.items()):
            raise RunError(f"sizes: expected a dictionary from names to integers, found {sizes!r}; give one such as {{'arg0.0': 64}}")
        try:
            native = self._native.at(dict(sizes))
        except ValueError as error:
            raise RunError(str(error)) from None
        sized = object.__new__(type(self))
        sized._become(native)
        return sized

    def run(self, *arrays: numpy.ndarray | str | os.PathLike[str], max_steps: int | None = None, **named: object) -> list[numpy.ndarray]:
        """Runs on an array for each argument, in order, and gives the results in order.

        Arrays have the arguments' shapes and types (`DTYPES`); numbers are not converted, so that nothing is rounded
        without a word. The path of a `.npy` file may stand for an array. `max_steps` bounds the element operations.
        Raises `RunError` for what the machine refuses.
        """
        if named:
            found = ", ".join(map(repr, named))
            raise RunError(f"run: expected arrays by position, found {found} by name; give them in the order of the arguments")
        if max_steps is not None and (not is_integer(max_steps) or max_steps < 0):
            raise RunError(f"max_steps: expected a number of element operations, found {max_steps!r}; leave it out for the default")
        if len(arrays) != len(self.arguments):
            names = ", ".join(map(str, self.arguments))
            expected = f"{len(self.arguments)} argument{'' if len(self.arguments) == 1 else 's'} ({names})"
            raise RunError(f"run: expected {expected}, found {len(arrays)}; give an array for each, in this order")
        given = [_checked(tensor, array) for tensor, array in zip(self.arguments, arrays, strict=True)]
        try:
            with progress("simulating"):
                results, report = self._native.run(given, max_steps)
        except ValueError as error:
            raise RunError(str(error)) from None
        self.report = json.loads(report)
        return [numpy.frombuffer(data, DTYPES[dtype]).reshape(shape).copy() for _, shape, dtype, data in results]


def _checked(tensor: Tensor, array: object) -> tuple[list[int], bytes]:
    """Returns the array as its sizes and bytes."""
    expected = DTYPES[tensor.dtype]
    array = array_of(tensor.name, array, expected)
    if array.shape != tensor.shape or array.dtype != expected:
        found = f"shape {array.shape} and type {array.dtype}"
        advice = "give an array of this shape" if array.shape != tensor.shape else conversion(array, expected)
        raise RunError(f"{tensor.name}: expected shape {tensor.shape} and type {expected}, found {found}; {advice}")
    return list(array.shape), numpy.ascontiguousarray(array).tobytes()


def is_integer(value: object) -> bool:
    return isinstance(value, (int, numpy.integer)) and not isinstance(value, bool)


def without_number(reason: str) -> str:
    """Returns a reason of the system in words, without the system's number of it."""
    return re.sub(r" \(os error \d+\)", "", reason)


def checked_directory(directory: object) -> str:
    """Returns the path of a directory that holds a program."""
    if not isinstance(directory, (str, os.PathLike)):
        advice = "give program.bundle_dir" if hasattr(directory, "bundle_dir") else "give a path"
        raise RunError(f"Simulation: expected the path of a bundle directory, found {described(directory)}; {advice}")
    path = pathlib.Path(directory)
    if "\n" in str(path):
        raise RunError("Simulation: expected the path of a bundle directory, found a text of several lines; call spyre_mlir.compile(text)")
    if (path / "program.json").exists():
        return str(path)
    missing = f"Simulation: expected a bundle directory, found '{path}' without file '{path / 'program.json'}'"
    if (path.parent / "program.json").exists() and path.is_dir():
        raise RunError(f"{missing}; it is one launch of the program in '{path.parent}', give that")
    if path.is_file():
        raise RunError(f"{missing}; compile it first: spyre_mlir.compile('{path}')")
    raise RunError(f"{missing}; give the bundle_dir of a compilation, or the directory that 'spyre-compile FILE -o DIR' wrote")
