"""Export of arguments and expected results of a kernel, for the verification on the device."""

from __future__ import annotations

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from typing import Any

import numpy

from spyre_mlir._arrays import convert_to_array
from spyre_mlir.errors import RunError, describe_value

#: Program of the process that runs the tool.
_RUN_TOOL = "import sys; from spyre_mlir import _native; sys.exit(_native.run_tool('spyre-run', sys.argv[1:]))"


def export_expected(
    bundle: str | os.PathLike[str],
    directory: str | os.PathLike[str],
    *,
    inputs: Mapping[str, Any] | None = None,
    sizes: Mapping[str, int] | None = None,
    seed: int | None = None,
) -> dict[str, Any]:
    """Writes what `spyre-run --export-expected` writes, and returns the content of `index.json`.

    `inputs` has arrays or paths of `.npy` files by the names of arguments; other arguments are random with `seed`.
    `sizes` chooses symbolic sizes. If PyTorch is installed, each array is also written as a `.pt` file
    `{"tensors": [...]}` with one tensor of the type of the launch specification, and the index names the file.

    Raises `RunError` if the program has no launch specification, or if the simulator rejects it or an array.
    """
    for name, path in (("bundle", bundle), ("directory", directory)):
        if not isinstance(path, (str, os.PathLike)):
            raise RunError(f"export_expected: expected a path as {name}, found {describe_value(path)}; give a path")
    words = [os.fspath(bundle), "--export-expected", os.fspath(directory)]
    words += [word for name, size in (sizes or {}).items() for word in ("--dim-size", f"{name}={size}")]
    words += [] if seed is None else ["--seed", str(seed)]
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, value) in enumerate((inputs or {}).items()):
            path = _save_input(name, value, pathlib.Path(folder) / f"{number}.npy")
            words += ["--input", f"{name}={path}"]
        _run_tool(words)
    return _add_torch_files(pathlib.Path(directory))


def _save_input(name: str, value: Any, path: pathlib.Path) -> pathlib.Path:
    """Returns the path of an input, after saving an array as a `.npy` file."""
    if isinstance(value, (str, os.PathLike)):
        return pathlib.Path(value)
    numpy.save(path, numpy.ascontiguousarray(convert_to_array(name, value, numpy.dtype("<f2"))))
    return path


def _run_tool(words: list[str]) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    ran = subprocess.run(
        [sys.executable, "-c", _RUN_TOOL, *words], env=environment, capture_output=True, text=True, check=False
    )
    if ran.returncode != 0:
        found = re.search(r"error(?:\[(\w+)\])?: (.*)", ran.stderr, re.DOTALL)
        code, message = found.groups() if found else (None, ran.stderr)
        raise RunError(f"{code}: {message.strip()}" if code else message.strip())


def _add_torch_files(folder: pathlib.Path) -> dict[str, Any]:
    """Writes a `.pt` file beside each `.bin` file, if PyTorch is installed, and returns the index with their paths."""
    path = folder / "index.json"
    index = json.loads(path.read_text(encoding="utf-8"))
    try:
        import torch
    except ImportError:
        return index
    expected = [(argument, argument[kind]) for argument in index["expected"] for kind in ("simulated", "exact")]
    for argument, files in [(argument, argument) for argument in index["inputs"]] + expected:
        content = bytearray((folder / files["bin"]).read_bytes())
        dtype = getattr(torch, argument["dtype"])
        tensor = torch.frombuffer(content, dtype=dtype) if content else torch.empty(0, dtype=dtype)
        files["pt"] = str(pathlib.PurePosixPath(files["bin"]).with_suffix(".pt"))
        torch.save({"tensors": [tensor.reshape(argument["shape"])]}, folder / files["pt"])
    path.write_text(json.dumps(index, indent=2) + "\n", encoding="utf-8")
    return index
