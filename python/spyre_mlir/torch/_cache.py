"""Cache of compiled programs, by text, options and version: in memory, and in a directory if one is specified."""

from __future__ import annotations

import collections
import dataclasses
import hashlib
import json
import os
import pathlib
import shutil
import tempfile
import threading
from typing import Any

import spyre_mlir

from ._importer import LinalgText
from ._options import Options

MAX_IN_MEMORY = 256
BUNDLE, REPORT = "bundle", "report.json"


@dataclasses.dataclass(frozen=True)
class CompiledProgram:
    """Executable program with its report. A program from a cache directory is only a bundle."""

    program: spyre_mlir.Program | spyre_mlir.Simulation
    report: dict[str, Any]


_programs: collections.OrderedDict[tuple[pathlib.Path | None, str], CompiledProgram] = collections.OrderedDict()
_lock = threading.Lock()


def get_or_compile(linalg: LinalgText, options: Options) -> CompiledProgram:
    """Returns the program of a text from the cache, or compiles it."""
    key = compute_key(linalg, options)
    memory_key = (options.cache, key)
    with _lock:
        found = _programs.get(memory_key)
    if found is None or (options.report is not None and not isinstance(found.program, spyre_mlir.Program)):
        found = load_from_directory(key, options) or compile_uncached(linalg, key, options)
    with _lock:
        _programs[memory_key] = found
        _programs.move_to_end(memory_key)
        while len(_programs) > MAX_IN_MEMORY:
            _programs.popitem(last=False)
    return found


def compute_key(linalg: LinalgText, options: Options) -> str:
    """Returns the SHA-256 hash of the text without locations, of the options and of the compiler version."""
    choices = json.dumps([options.validate, sorted(options.compiler.items())], default=str)
    parts = "\0".join([linalg.plain_text, choices, spyre_mlir.__version__])
    return hashlib.sha256(parts.encode()).hexdigest()


def compile_uncached(linalg: LinalgText, key: str, options: Options) -> CompiledProgram:
    program = spyre_mlir.compile(linalg.text, validate=options.validate, **options.compiler)
    # The operations were traced here, so the locations in the report are lines of the user's own files.
    program._is_traced = True
    compiled = CompiledProgram(program, program.report)
    if options.cache is not None and not (options.cache / key).is_dir():
        store_program(compiled, options.cache / key)
    return compiled


def load_from_directory(key: str, options: Options) -> CompiledProgram | None:
    """Returns a program of the cache directory, if there is one and no report is requested: it has no page."""
    path = options.cache / key if options.cache is not None else None
    if path is None or not path.is_dir() or options.report is not None:
        return None
    return CompiledProgram(spyre_mlir.Simulation(path / BUNDLE), json.loads((path / REPORT).read_text()))


def store_program(compiled: CompiledProgram, path: pathlib.Path) -> None:
    """Writes a program to a staging directory and renames it, so that other processes see complete programs only."""
    staging = pathlib.Path(tempfile.mkdtemp(prefix=".new-", dir=path.parent))
    try:
        shutil.copytree(compiled.program.bundle_dir, staging / "program" / BUNDLE)
        (staging / "program" / REPORT).write_text(json.dumps(compiled.report))
        os.replace(staging / "program", path)
    except OSError:
        # Another process may have stored the same program.
        if not path.is_dir():
            raise
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def clear_memory() -> None:
    """Empties the cache in memory."""
    _programs.clear()
