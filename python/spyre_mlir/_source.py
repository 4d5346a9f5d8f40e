"""Source of a program: text, bytecode, or the path of a file."""

from __future__ import annotations

import os
import pathlib
import re

from spyre_mlir.errors import CompileError, Diagnostic

#: File that contains a program that is specified as text or bytecode, in a temporary folder.
_TEXT_FILE_NAME = "program that was given.mlir"

#: Name of such a program in locations: temporary folders differ from run to run.
_TEXT_DISPLAY_NAME = "<program>"

#: Beginnings of MLIR: a comment, an alias, an op in generic form, a resource section, or an op of a dialect or of
#: `builtin`.
MLIR_START = re.compile(
    r'\s*(//|[#!][\w.$-]+\s*=|"[\w.]+"\s*\(|\{-#|%|module\b|[a-zA-Z_]\w*\.\w+\s+[@%"({]|func\.func\b)'
)
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
SUFFIX_ADVICE = {
    ".onnx": ONNX,
    ".pt": ("a file of PyTorch", TORCH),
    ".pt2": (
        "an exported program of PyTorch",
        "load it with torch.export.load(path).module(), and call spyre_mlir.torch.compile",
    ),
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
FILE_SIGNATURES: tuple[tuple[bytes, str, str], ...] = (
    (rb"\x93NUMPY", "an array", ARRAYS),
    (rb"PK\x03\x04.*\.pkl", "a file of PyTorch", TORCH),
    (rb"PK\x03\x04.*\.npy", "a file of arrays", ARRAYS),
    (rb"PK[\x03\x05]", "a zip archive", "unpack it, and give the file of a module in it"),
    (rb"\x1f\x8b", "a gzip archive", "unpack it first"),
    (rb"\x80[\x02-\x05]", "a pickled object", TORCH),
    (rb".{7}\x00\{", *WEIGHTS),
    (rb"GGUF", *WEIGHTS),
    (rb"\s*<(!doctype|html|\?xml)", "a page of HTML", "save the file itself, and not the page that shows it"),
    (
        rb"(; ModuleID|source_filename|target (datalayout|triple)|BC\xc0\xde)",
        "LLVM IR",
        "export linalg on tensors instead",
    ),
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


def resolve_source(program: str | bytes | os.PathLike[str], folder: pathlib.Path) -> pathlib.Path:
    """Returns the file of a program. Text and bytecode are written to a file in `folder`.

    Raises `NoSuchFile`, which is also a `FileNotFoundError`, if the path names no file, and `CompileError` for other
    objects.
    """
    if isinstance(program, os.PathLike) or (isinstance(program, str) and not is_text(program)):
        return check_file(os.fspath(program))
    if not isinstance(program, (str, bytes, bytearray)):
        found = f"{type(program).__module__}.{type(program).__qualname__}"
        raise make_call_error(
            f"expected MLIR text, bytecode or a path, found an object of type {found}; {suggest_compile_call(program)}"
        )
    data = program.encode() if isinstance(program, str) else bytes(program)
    if not data.startswith(BYTECODE) and not data.strip():
        raise make_call_error("expected a program, found an empty text; give MLIR text, bytecode or a path")
    path = folder / _TEXT_FILE_NAME
    path.write_bytes(data)
    return path


def get_display_name(file: pathlib.Path) -> str:
    """Returns the file name that locations of a program state."""
    return _TEXT_DISPLAY_NAME if file.name == _TEXT_FILE_NAME else str(file)


def is_text(program: str) -> bool:
    """Returns whether a string is the text of a program and not a path."""
    return "\n" in program or not program.strip() or MLIR_START.match(program) is not None


def check_file(path: str | bytes) -> pathlib.Path:
    """Returns a path after checking that its file exists and may contain MLIR."""
    found = pathlib.Path(os.fsdecode(path))
    kind, advice = SUFFIX_ADVICE.get(found.suffix.lower(), (None, ""))
    if kind:
        raise make_format_error(found, kind, advice)
    if found.is_dir():
        if (found / "program.json").exists():
            raise make_call_error(
                f"expected a file of MLIR, found the bundle directory '{found}'; run it with spyre_mlir.Simulation"
            )
        raise make_call_error(f"expected a file of MLIR, found the directory '{found}'; give a file in it")
    if not found.exists():
        raise NoSuchFile(
            [
                Diagnostic(
                    "error",
                    f"no such file: '{found}'{describe_search_directory(found)}; give a path, or the text of a module",
                )
            ]
        )
    # Comments are skipped, because FileCheck lines of tests may look like another format.
    start = re.sub(rb"(?m)^[ \t]*//.*$", b"", read_beginning(found))
    for signature, kind, advice in FILE_SIGNATURES:
        if re.match(signature, start, re.DOTALL | re.IGNORECASE):
            raise make_format_error(found, kind, advice)
    return found


def make_format_error(path: pathlib.Path, kind: str, advice: str) -> CompileError:
    return make_call_error(f"expected a file of MLIR, found {kind}, '{path}'; {advice}")


def read_beginning(path: pathlib.Path) -> bytes:
    """Returns the first bytes of a regular file; no bytes for a pipe, a device, or an unreadable file."""
    try:
        if not path.is_file():
            return b""
        with path.open("rb") as file:
            return file.read(2048)
    except OSError:
        return b""


def describe_search_directory(path: pathlib.Path) -> str:
    """Returns the working directory as text if the path is relative; otherwise an empty text."""
    return "" if path.is_absolute() else f" in '{pathlib.Path.cwd()}'"


def suggest_compile_call(program: object) -> str:
    """Returns advice on how to compile an object that is not a program."""
    if callable(program):
        return "compile functions and modules with spyre_mlir.torch.compile or spyre_mlir.jax.compile"
    return "give str(module) of a module of MLIR's Python bindings"


def make_call_error(message: str) -> CompileError:
    """Returns an error about a call, without a source location."""
    return CompileError([Diagnostic("error", message)])
