"""Programs as users give them: text, bytecode, or the path of a file."""

from __future__ import annotations

import os
import pathlib
import re

from spyre_mlir.errors import CompileError, Diagnostic

#: The file of a program that was given as text or bytecode.
TEXT = "program that was given.mlir"

#: Beginnings of MLIR: a comment, an alias, an op in generic form, a resource section, or an op of a dialect or of
#: `builtin`.
MLIR_BEGINNING = re.compile(r'\s*(//|[#!][\w.$-]+\s*=|"[\w.]+"\s*\(|\{-#|%|module\b|[a-zA-Z_]\w*\.\w+\s+[@%"({]|func\.func\b)')
BYTECODE = b"ML\xefR"

TORCH = "load it with torch.load, and call spyre_mlir.torch.compile(model, *inputs)"
ARRAYS = "give arrays to Program.run"
PYTHON = ("a Python file", "import it, and call spyre_mlir.torch.compile or spyre_mlir.jax.compile with its function")
ONNX = (
    "an ONNX model",
    "import it with 'torch-mlir-import-onnx model.onnx -o model.mlir', lower that to linalg with "
    "'torch-mlir-opt --torch-onnx-to-torch-backend-pipeline --torch-backend-to-linalg-on-tensors-backend-pipeline', or "
    "load the model in PyTorch and call spyre_mlir.torch.compile(model, *inputs)",
)
WEIGHTS = ("a file of weights", "load them into a model, and call spyre_mlir.torch.compile(model, *inputs)")

#: Conversions of other kinds of files to MLIR, by suffix.
ADVICE = {
    ".onnx": ONNX,
    ".pt": ("a file of PyTorch", TORCH),
    ".pt2": ("an exported program of PyTorch", "load it with torch.export.load(path).module(), and call spyre_mlir.torch.compile"),
    ".pth": ("a file of PyTorch", TORCH),
    ".py": PYTHON,
    ".ipynb": ("a notebook", "call spyre_mlir.torch.compile or spyre_mlir.jax.compile with its function"),
    ".safetensors": WEIGHTS,
    ".gguf": WEIGHTS,
    ".npy": ("an array", ARRAYS),
    ".npz": ("a file of arrays", ARRAYS),
    ".md": ("a Markdown text", "give the file of a module, such as model.mlir"),
}

#: Kinds of files, by the first bytes of a file.
BEGINNINGS: tuple[tuple[bytes, str, str], ...] = (
    (rb"\x93NUMPY", "an array", ARRAYS),
    (rb"PK\x03\x04.*\.pkl", "a file of PyTorch", TORCH),
    (rb"PK\x03\x04.*\.npy", "a file of arrays", ARRAYS),
    (rb"PK[\x03\x05]", "a zip archive", "unpack it, and give the file of a module in it"),
    (rb"\x1f\x8b", "a gzip archive", "unpack it first"),
    (rb"\x80[\x02-\x05]", "a pickled object", TORCH),
    (rb".{7}\x00\{", *WEIGHTS),
    (rb"GGUF", *WEIGHTS),
    (rb"\s*<(!doctype|html|\?xml)", "a page of HTML", "save the file itself, and not the page that shows it"),
    (rb"(; ModuleID|source_filename|target (datalayout|triple)|BC\xc0\xde)", "LLVM IR", "export linalg on tensors instead"),
    (rb"\x7fELF", "a compiled program", "give the module that it was made from"),
    (rb"\s*[\[{](?!-#)(?=.*\"chosen\").*\"program\"", "a plan", "give it with plan=, beside the program"),
    (rb"\s*\{[^-].*\"launches\"", "a file of a bundle", "run its directory with spyre_mlir.Simulation"),
    (rb"\s*[\[{](?!-#)", "a JSON file", "give the file of a module, such as model.mlir"),
    (rb"\s*(import|from) \w", *PYTHON),
    (rb"#{1,6} ", "a Markdown text", "give the file of a module, such as model.mlir"),
    (rb".*!sdscbundle\.", "one launch of a bundle", "run the directory of the bundle with spyre_mlir.Simulation"),
)


class NoSuchFile(CompileError, FileNotFoundError):
    """The file of a program that does not exist."""


def source_file(program: str | bytes | os.PathLike[str], folder: pathlib.Path) -> pathlib.Path:
    """Returns the file of a program: its own, or one in `folder` that is made of its text or bytecode.

    Raises `CompileError` for what is neither, and `NoSuchFile`, which is also a `FileNotFoundError`, for a path without
    a file.
    """
    if isinstance(program, os.PathLike) or (isinstance(program, str) and not is_text(program)):
        return checked_file(os.fspath(program))
    if not isinstance(program, (str, bytes, bytearray)):
        found = f"{type(program).__module__}.{type(program).__qualname__}"
        raise refusal(f"expected MLIR text, bytecode or a path, found an object of type {found}; {advice_for(program)}")
    data = program.encode() if isinstance(program, str) else bytes(program)
    if not data.startswith(BYTECODE) and not data.strip():
        raise refusal("expected a program, found an empty text; give MLIR text, bytecode or a path")
    path = folder / TEXT
    path.write_bytes(data)
    return path


def is_text(program: str) -> bool:
    """Returns whether a string is the text of a program and not a path."""
    return "\n" in program or not program.strip() or MLIR_BEGINNING.match(program) is not None


def checked_file(path: str | bytes) -> pathlib.Path:
    """Returns a path whose file exists and may be MLIR."""
    found = pathlib.Path(os.fsdecode(path))
    kind, advice = ADVICE.get(found.suffix.lower(), (None, ""))
    if kind:
        raise not_mlir(found, kind, advice)
    if found.is_dir():
        if (found / "program.json").exists():
            raise refusal(f"expected a file of MLIR, found the bundle directory '{found}'; run it with spyre_mlir.Simulation")
        raise refusal(f"expected a file of MLIR, found the directory '{found}'; give a file in it")
    if not found.exists():
        raise NoSuchFile([Diagnostic("error", f"no such file: '{found}'{similar(found)}; give a path, or the text of a module")])
    # Comments are left out: tests of the compiler have their expectations in them.
    start = re.sub(rb"(?m)^[ \t]*//.*$", b"", beginning_of(found))
    for beginning, kind, advice in BEGINNINGS:
        if re.match(beginning, start, re.DOTALL | re.IGNORECASE):
            raise not_mlir(found, kind, advice)
    return found


def not_mlir(path: pathlib.Path, kind: str, advice: str) -> CompileError:
    return refusal(f"expected a file of MLIR, found {kind}, '{path}'; {advice}")


def beginning_of(path: pathlib.Path) -> bytes:
    """Returns the beginning of a regular file; empty for a pipe, a device, or an unreadable file."""
    try:
        if not path.is_file():
            return b""
        with path.open("rb") as file:
            return file.read(2048)
    except OSError:
        return b""


def similar(path: pathlib.Path) -> str:
    """Returns where a file that is missing could be meant: the working directory of relative paths."""
    return "" if path.is_absolute() else f" in '{pathlib.Path.cwd()}'"


def advice_for(program: object) -> str:
    """Returns what to call with an object that is no program."""
    if callable(program):
        return "compile functions and modules with spyre_mlir.torch.compile or spyre_mlir.jax.compile"
    return "give str(module) of a module of MLIR's Python bindings"


def refusal(message: str) -> CompileError:
    """Returns an error about the call, which has no place."""
    return CompileError([Diagnostic("error", message)])
