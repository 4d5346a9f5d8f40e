"""Simulator: `Simulation(directory)` runs any bundle directory, without the compiler."""

from __future__ import annotations

import json
import os
import pathlib
import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy

from spyre_mlir import _native
from spyre_mlir._arrays import convert_to_array, suggest_conversion
from spyre_mlir._progress import show_progress
from spyre_mlir.errors import RunError, describe_value

#: NumPy types of the element types of a program; f32 for bf16, which NumPy lacks.
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
            native = _native.Simulation(check_directory(directory))
        except ValueError as error:
            raise RunError(f"{remove_error_number(str(error))}; compile the program again") from None
        self._bind(native)

    def _bind(self, native: _native.Simulation) -> None:
        self._native = native
        self.arguments = [Tensor(name, tuple(shape), dtype) for name, shape, dtype in self._native.arguments()]
        self.results = [Tensor(name, tuple(shape), dtype) for name, shape, dtype in self._native.results()]
        #: Traffic and modeled time of the last run (`docs/reference/report.md`).
        self.report: dict | None = None

    def at(self, sizes: Mapping[str, int]) -> Simulation:
        """Returns the program at these symbolic sizes, by name; sizes that are not specified are the largest.

        Symbolic sizes are declared by `compile(..., dim_size={"arg0.0": "128:16"})`.

        Raises `RunError` for a name that the program does not have, and for a size that it cannot have.
        """
        if not isinstance(sizes, Mapping) or not all(
            isinstance(name, str) and is_integer(size) for name, size in sizes.items()
        ):
            raise RunError(
                f"sizes: expected a dictionary from names to integers, found {sizes!r}; give one such as {{'arg0.0': "
                "64}"
            )
        try:
            native = self._native.at(dict(sizes))
        except ValueError as error:
            raise RunError(str(error)) from None
        sized = object.__new__(type(self))
        sized._bind(native)
        return sized

    def run(
        self, *arrays: numpy.ndarray | str | os.PathLike[str], max_steps: int | None = None, **named: object
    ) -> list[numpy.ndarray]:
        """Runs the program on an array for each argument, in order, and returns the results in order.

        Arrays have the shapes and types (`DTYPES`) of the arguments. They are not converted, so that values are never
        rounded silently. An argument may also be the path of a `.npy` file. `max_steps` bounds the number of element
        operations. Raises `RunError` if the simulator rejects an array or a value.
        """
        if named:
            found = ", ".join(map(repr, named))
            raise RunError(
                f"run: expected arrays by position, found {found} by name; give them in the order of the arguments"
            )
        if max_steps is not None and (not is_integer(max_steps) or max_steps < 0):
            raise RunError(
                f"max_steps: expected a number of element operations, found {max_steps!r}; leave it out for the default"
            )
        if len(arrays) != len(self.arguments):
            names = ", ".join(map(str, self.arguments))
            expected = f"{len(self.arguments)} argument{'' if len(self.arguments) == 1 else 's'} ({names})"
            raise RunError(f"run: expected {expected}, found {len(arrays)}; give an array for each, in this order")
        inputs = [_check_array(tensor, array) for tensor, array in zip(self.arguments, arrays, strict=True)]
        try:
            with show_progress("simulating"):
                results, report = self._native.run(inputs, max_steps)
        except ValueError as error:
            raise RunError(str(error)) from None
        self.report = json.loads(report)
        return [numpy.frombuffer(data, DTYPES[dtype]).reshape(shape).copy() for _, shape, dtype, data in results]


def _check_array(tensor: Tensor, array: object) -> tuple[list[int], bytes]:
    """Returns the sizes and bytes of an array of the tensor's shape and type."""
    expected = DTYPES[tensor.dtype]
    array = convert_to_array(tensor.name, array, expected)
    if array.shape != tensor.shape or array.dtype != expected:
        found = f"shape {array.shape} and type {array.dtype}"
        advice = "give an array of this shape" if array.shape != tensor.shape else suggest_conversion(array, expected)
        raise RunError(f"{tensor.name}: expected shape {tensor.shape} and type {expected}, found {found}; {advice}")
    return list(array.shape), numpy.ascontiguousarray(array).tobytes()


def is_integer(value: object) -> bool:
    return isinstance(value, (int, numpy.integer)) and not isinstance(value, bool)


def remove_error_number(reason: str) -> str:
    """Removes the error number of the operating system from a message."""
    return re.sub(r" \(os error \d+\)", "", reason)


def check_directory(directory: object) -> str:
    """Returns the path of a directory that holds a program."""
    if not isinstance(directory, (str, os.PathLike)):
        advice = "give program.bundle_dir" if hasattr(directory, "bundle_dir") else "give a path"
        raise RunError(
            f"Simulation: expected the path of a bundle directory, found {describe_value(directory)}; {advice}"
        )
    path = pathlib.Path(directory)
    if "\n" in str(path):
        raise RunError(
            "Simulation: expected the path of a bundle directory, found a text of several lines; call "
            "spyre_mlir.compile(text)"
        )
    if (path / "program.json").exists():
        return str(path)
    missing = f"Simulation: expected a bundle directory, found '{path}' without file '{path / 'program.json'}'"
    if (path.parent / "program.json").exists() and path.is_dir():
        raise RunError(f"{missing}; it is one launch of the program in '{path.parent}', give that")
    if path.is_file():
        raise RunError(f"{missing}; compile it first: spyre_mlir.compile('{path}')")
    raise RunError(
        f"{missing}; give the bundle_dir of a compilation, or the directory that 'spyre-compile FILE -o DIR' wrote"
    )
