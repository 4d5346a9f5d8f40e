"""Arrays as users give them to a simulation: of NumPy, of other libraries, or the path of a `.npy` file."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Mapping
from typing import Any

import numpy

from spyre_mlir.errors import RunError, described

MAGIC = b"\x93NUMPY"

#: Contents of files of other kinds, and advice on how to convert them to an array.
READERS = {
    ".npz": ("several arrays", "read it with numpy.load(path)[name], and give the array"),
    ".pt": ("tensors of PyTorch", "read it with torch.load(path), and give tensor.numpy()"),
    ".pth": ("tensors of PyTorch", "read it with torch.load(path), and give tensor.numpy()"),
    ".safetensors": ("several tensors", "read it with safetensors.numpy.load_file(path)[name], and give the array"),
}


def array_of(name: str, given: Any, expected: numpy.dtype) -> numpy.ndarray:
    """Returns an argument as an array. Raises `RunError` for what is none."""
    if isinstance(given, (str, os.PathLike)):
        return loaded(name, pathlib.Path(given))
    if given is None or isinstance(given, Mapping):
        advice_now = "give the arrays by position, in the order of the arguments" if given else "give one array for each argument"
        raise RunError(f"{name}: expected an array of {expected}, found {described(given)}; {advice_now}")
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


def conversion(array: numpy.ndarray, expected: numpy.dtype) -> str:
    """Returns how an array of another element type becomes one of the expected type."""
    if array.dtype.kind in "USO":
        return f"give numbers: numpy.array(rows, dtype='{expected}')"
    if array.dtype.kind == "c":
        return f"give a real part, array.real.astype('{expected}'), and an imaginary part as arguments of their own"
    return f"convert it with .astype('{expected}')"


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
        kind = path.suffix.lower()
        found, advice_now = READERS.get(kind, ("no NumPy array", "read it with numpy.loadtxt(path), and give the array"))
        if not start:
            found, advice_now = "no bytes", "save the array again with numpy.save"
        raise RunError(f"{name}: expected an array or a .npy file, found '{path}' with {found}; {advice_now}")
    try:
        return numpy.load(path, allow_pickle=False)
    except ValueError as error:
        raise RunError(f"{name}: cannot read '{path}': {error}; save numpy.array(rows, dtype=...) with numpy.save") from None
