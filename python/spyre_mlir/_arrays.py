"""Arguments of a simulation: arrays of NumPy or of other libraries, and paths of `.npy` files."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Mapping
from typing import Any

import numpy

from spyre_mlir.errors import RunError, describe_value

MAGIC = b"\x93NUMPY"

#: Contents of files of other kinds, and advice on how to convert them to an array.
READER_ADVICE = {
    ".npz": ("several arrays", "read it with numpy.load(path)[name], and give the array"),
    ".pt": ("tensors of PyTorch", "read it with torch.load(path), and give tensor.numpy()"),
    ".pth": ("tensors of PyTorch", "read it with torch.load(path), and give tensor.numpy()"),
    ".safetensors": ("several tensors", "read it with safetensors.numpy.load_file(path)[name], and give the array"),
}


def convert_to_array(name: str, value: Any, expected: numpy.dtype) -> numpy.ndarray:
    """Converts an argument to an array. Raises `RunError` if it is not an array."""
    if isinstance(value, (str, os.PathLike)):
        return load_array(name, pathlib.Path(value))
    if value is None or isinstance(value, Mapping):
        advice = (
            "give the arrays by position, in the order of the arguments"
            if value
            else "give one array for each argument"
        )
        raise RunError(f"{name}: expected an array of {expected}, found {describe_value(value)}; {advice}")
    try:
        # PyTorch raises an exception for tensors that require gradients or have a type that NumPy lacks.
        array = numpy.asarray(value)
    except (TypeError, ValueError, RuntimeError) as error:
        kind = f"{type(value).__module__}.{type(value).__qualname__}"
        message = " ".join(str(error).split())
        raise RunError(
            f"{name}: expected an array, found {kind} that NumPy cannot read ({message}); "
            f"{suggest_numpy_call(value, expected)}"
        ) from None
    if array.dtype == object:
        raise RunError(
            f"{name}: expected an array of {expected}, found an array of Python objects; give all rows one length, and "
            "call "
            f"numpy.array(rows, dtype='{expected}')"
        )
    return array


def suggest_conversion(array: numpy.ndarray, expected: numpy.dtype) -> str:
    """Returns advice on how to convert an array to the expected element type."""
    if array.dtype.kind in "USO":
        return f"give numbers: numpy.array(rows, dtype='{expected}')"
    if array.dtype.kind == "c":
        return f"give a real part, array.real.astype('{expected}'), and an imaginary part as arguments of their own"
    return f"convert it with .astype('{expected}')"


def suggest_numpy_call(value: Any, expected: numpy.dtype) -> str:
    """Returns advice on how to convert a value that NumPy cannot read."""
    if hasattr(value, "detach"):
        return f"call tensor.detach().cpu().to(torch.{expected}).numpy()"
    return f"give all rows one length, and call numpy.array(rows, dtype='{expected}')"


def load_array(name: str, path: pathlib.Path) -> numpy.ndarray:
    """Reads a `.npy` file. Rejects files of Python objects, because unpickling executes code."""
    try:
        with path.open("rb") as file:
            start = file.read(len(MAGIC))
    except OSError as error:
        raise RunError(
            f"{name}: cannot read '{path}': {error.strerror}; give an array, or the path of a .npy file"
        ) from None
    if start != MAGIC:
        kind = path.suffix.lower()
        found, advice = READER_ADVICE.get(
            kind, ("no NumPy array", "read it with numpy.loadtxt(path), and give the array")
        )
        if not start:
            found, advice = "no bytes", "save the array again with numpy.save"
        raise RunError(f"{name}: expected an array or a .npy file, found '{path}' with {found}; {advice}")
    try:
        return numpy.load(path, allow_pickle=False)
    except ValueError as error:
        raise RunError(
            f"{name}: cannot read '{path}': {error}; save numpy.array(rows, dtype=...) with numpy.save"
        ) from None
