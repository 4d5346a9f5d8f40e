"""Compiled programs by what they are compiled from: in memory, and in a directory if one is given."""

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

from ._importer import Linalg
from ._options import Options

MOST_IN_MEMORY = 256
BUNDLE, REPORT = "bundle", "report.json"


@dataclasses.dataclass(frozen=True)
class Compiled:
    """A program that can be run, and what the compiler said about it. One from a directory is only its bundle."""

    program: spyre_mlir.Program | spyre_mlir.Simulation
    report: dict[str, Any]


_programs: collections.OrderedDict[tuple[pathlib.Path | None, str], Compiled] = collections.OrderedDict()
_lock = threading.Lock()


def compiled(linalg: Linalg, options: Options) -> Compiled:
    """The program of a text, compiled if nobody has compiled it before."""
    key = key_of(linalg, options)
    here = (options.cache, key)
    with _lock:
        found = _programs.get(here)
    if found is None or (options.report is not None and not isinstance(found.program, spyre_mlir.Program)):
        found = from_directory(key, options) or compile_anew(linalg, key, options)
    with _lock:
        _programs[here] = found
        _programs.move_to_end(here)
        while len(_programs) > MOST_IN_MEMORY:
            _programs.popitem(last=False)
    return found


def key_of(linalg: Linalg, options: Options) -> str:
    """sha256 of the text without locations, the options and the compiler's version."""
    choices = json.dumps([options.validate, sorted(options.compiler.items())], default=str)
    parts = "\0".join([linalg.bare, choices, spyre_mlir.__version__])
    return hashlib.sha256(parts.encode()).hexdigest()


def compile_anew(linalg: Linalg, key: str, options: Options) -> Compiled:
    program = spyre_mlir.compile(linalg.text, validate=options.validate, **options.compiler)
    # Its operations were traced here, so that the places in its report are those of the user's own files.
    program._is_traced = True
    made = Compiled(program, program.report)
    if options.cache is not None and not (options.cache / key).is_dir():
        keep(made, options.cache / key)
    return made


def from_directory(key: str, options: Options) -> Compiled | None:
    """Returns a program of the directory. It has no page: a request for the report compiles the program again."""
    path = options.cache / key if options.cache is not None else None
    if path is None or not path.is_dir() or options.report is not None:
        return None
    return Compiled(spyre_mlir.Simulation(path / BUNDLE), json.loads((path / REPORT).read_text()))


def keep(made: Compiled, path: pathlib.Path) -> None:
    """Writes a program beside its place and moves it there, so that others see all of it or nothing."""
    beside = pathlib.Path(tempfile.mkdtemp(prefix=".new-", dir=path.parent))
    try:
        shutil.copytree(made.program.bundle_dir, beside / "program" / BUNDLE)
        (beside / "program" / REPORT).write_text(json.dumps(made.report))
        os.replace(beside / "program", path)
    except OSError:
        # Somebody else may have been faster with the same program.
        if not path.is_dir():
            raise
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def forget() -> None:
    """Empties the cache in memory."""
    _programs.clear()
