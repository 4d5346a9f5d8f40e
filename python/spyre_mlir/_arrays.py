"""Arrays as users give them to a simulation: of NumPy, of other libraries, or the path of a `.npy` file."""

from __future__ import annotations

import os
import pathlib
from typing import Any

import numpy

from spyre_mlir.errors import RunError

MAGIC = b"\x93NUMPY"


def array_of(name: str, given: Any, expected: numpy.dtype) -> numpy.ndarray:
    """Returns an argument as an array. Raises `RunError` for what is none."""
    if isinstance(given, (str, os.PathLike)):
        return loaded(name, pathlib.Path(given))
    try:
        # Tensors of PyTorch that need gradients, or have a type without a counterpart, say so in an exception.
        array = numpy.asarray(given)
    except (TypeError, ValueError, RuntimeError) as error:
        kind = f"{type(given).__module__}.{type(given).__qualname__}"
        message = " ".join(str(error).split())
        raise RunError(f"{name}: expected an array, found {kind} that NumPy cannot read ({message}); {advice(given, expected)}") from None
    if array.dtype == object:
        raise RunError(
            f"{name}: expected an array of {expected}, found an array of Python objects; give all rows one length, and call "
            f"numpy.array(rows, dtype='{expected}')"
        )
    return array


def advice(given: Any, expected: numpy.dtype) -> str:
    if hasattr(given, "detach"):
        return f"call tensor.detach().cpu().to(torch.{expected}).numpy()"
    return f"give all rows one length, and call numpy.array(rows, dtype='{expected}')"


def loaded(name: str, path: pathlib.Path) -> numpy.ndarray:
    """Reads a `.npy` file. Files of objects are refused: to read one runs what is in it."""
    try:
        with path.open("rb") as file:
            start = file.read(len(MAGIC))
    except OSError as error:
        raise RunError(f"{name}: cannot read '{path}': {error.strerror}; give an array, or the path of a .npy file") from None
    if start != MAGIC:
        found = "several arrays" if path.suffix == ".npz" else "no array of NumPy"
        read = "numpy.load(path)[name]" if path.suffix == ".npz" else "numpy.loadtxt(path)"
        raise RunError(f"{name}: expected an array or a .npy file, found '{path}' with {found}; read it with {read}, and give the array")
    try:
        return numpy.load(path, allow_pickle=False)
    except ValueError as error:
        raise RunError(f"{name}: cannot read '{path}': {error}; save numpy.array(rows, dtype=...) with numpy.save") from None
