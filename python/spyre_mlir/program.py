"""Programs: from MLIR to a bundle that can be run."""

from __future__ import annotations

import dataclasses
import json
import linecache
import logging
import os
import pathlib
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from typing import Any, TextIO

import numpy

from spyre_mlir._native import compile as _compile
from spyre_mlir._options import check_output, check_phase, check_plan, pairs_of
from spyre_mlir._progress import progress, say
from spyre_mlir._source import TEXT, refusal, source_file
from spyre_mlir._terms import diagnostic_of
from spyre_mlir.errors import CompileError, Diagnostic, RunError
from spyre_mlir.explanation import Compilation, record
from spyre_mlir.sim import Simulation, Tensor

#: Type of the value of a `spyre-compile` option.
Option = str | int | bool | os.PathLike[str] | Sequence[str] | Mapping[str, Any]

#: The file of a plan that was given as a dictionary.
PLAN = "plan that was given.json"

#: Separator of the locations of an op that was inlined from calls, innermost first.
_CALLED = " called from "


class Program:
    """A compiled program."""

    def __init__(self, source: pathlib.Path, bundle_dir: pathlib.Path, options: dict[str, Option], place, compiled: _Compiled):
        # The temporary directory lives as long as the program.
        self._source, self._options, self._place = source, options, place
        self._simulation: Simulation | None = None
        #: The bundle directory.
        self.bundle_dir = bundle_dir
        #: Decisions with reasons, traffic and lower bounds, as `spyre-compile --report` writes them.
        self.report: dict = json.loads(compiled.report)
        #: Plan, as `spyre-compile --write-plan` writes it; None if the options leave nothing to choose.
        self.plan: dict | None = json.loads(compiled.plan) if compiled.plan else None
        #: Warnings and remarks.
        self.diagnostics: list[Diagnostic] = compiled.diagnostics
        self._page = compiled.page
        self._compilation = Compilation(self.report["program"], [self.report], compiled.seconds, len(self.report["ops"]))
        # Files that locations name are read only if the program was traced from them: the text of a program is
        # untrusted.
        self._is_traced = False
        #: Description of the validation; None if nothing was validated.
        self.validation: str | None = compiled.validation

    @property
    def simulation(self) -> Simulation:
        """The bundle on the simulated machine."""
        if self._simulation is None:
            self._simulation = Simulation(self.bundle_dir)
        return self._simulation

    @property
    def arguments(self) -> list[Tensor]:
        """The arguments in order."""
        return self.simulation.arguments

    @property
    def results(self) -> list[Tensor]:
        """The results in order."""
        return self.simulation.results

    def run(
        self,
        *arrays: numpy.ndarray | str | os.PathLike[str],
        sizes: Mapping[str, int] | None = None,
        max_steps: int | None = None,
        **named: object,
    ) -> list[numpy.ndarray]:
        """Runs on the simulated machine, at these symbolic sizes: see `Simulation.run` and `Simulation.at`."""
        simulation = self.simulation if sizes is None else self.simulation.at(sizes)
        try:
            return simulation.run(*arrays, max_steps=max_steps, **named)
        except RunError as error:
            if sizes is None and self._has_symbolic_sizes() and "give an array of this shape" in str(error):
                raise RunError(f"{error}, or choose the sizes of the run, such as sizes={{'arg0.0': 64}}") from None
            raise

    def _has_symbolic_sizes(self) -> bool:
        return any(":" in value for name, value in pairs_of(self._options) if name == "dim-size")

    def validate(self) -> str:
        """Executes the imported program and the files on elements of a finite field, and says what was compared.

        Raises `CompileError` if they differ, which would be a bug of the compiler.
        """
        if self.validation is None:
            with tempfile.TemporaryDirectory(prefix="spyre-") as place:
                folder = pathlib.Path(place)
                compiled = _compiled(self._source, folder / "bundle", self._options, True)
            self.validation = compiled.validation
        return self.validation

    def report_html(self, path: str | os.PathLike[str], *, sources: Sequence[str | os.PathLike[str]] = ()) -> None:
        """Writes the report as a page for a browser, without a network: `spyre-compile --report FILE.html`.

        Beside the operations stand the lines that they come from: those of the program, unless it was given as
        bytecode, and those of the files in `sources`, which are named as places in the report name them. A program of
        `spyre_mlir.torch` comes with the files that its operations were traced from.
        """
        places = (place for op in self.report["ops"] for place in op["location"].split(_CALLED))
        named = dict.fromkeys(place.rpartition(":")[0].rpartition(":")[0] for place in places)
        traced = [file for file in named if file.endswith(".py") or file in linecache.cache] if self._is_traced else []
        files = dict.fromkeys(map(str, [self._source, *sources, *traced]))
        texts = ((file, _text_of(pathlib.Path(file))) for file in files if _shown(file) in named)
        page = self._page.html([(file, text) for file, text in texts if text is not None])
        # A program that was passed as text has a temporary file, whose path differs from run to run.
        own = str(self._source)
        pathlib.Path(path).write_text(page if _shown(own) == own else page.replace(own, "program"), encoding="utf-8")

    def _show_compilation(self, title: str, seconds: float, quiet: bool, log: logging.Logger, num_ops: int | None = None) -> None:
        """Records the compilation of a traced function for `explain`, and shows its line."""
        counted = self._compilation.num_ops if num_ops is None else num_ops
        self._compilation = dataclasses.replace(self._compilation, title=title, seconds=seconds, num_ops=counted)
        record(self._compilation)
        say(title, self._compilation.summary(), quiet, log)

    def explain(self, file: TextIO | None = None) -> None:
        """Prints a table of the modules with their operations, traffic and time, and of what stays on the CPU."""
        print(self._compilation.table(), file=file or sys.stdout)

    def __repr__(self) -> str:
        return f"<spyre_mlir.Program in {self.bundle_dir}>"


class _Compiled:
    """Result of a compilation by the native module."""

    def __init__(self, native: dict, source: pathlib.Path, seconds: float):
        # A program that was passed as text has a temporary file that the user does not know.
        file, shown = str(source), _shown(str(source))
        texts = [native[name] and native[name].replace(file, shown) for name in ("report", "plan", "ir", "validation")]
        named = {file: shown, str(source.parent / PLAN): "the given plan"}
        self.report, self.plan, self.ir, self.validation = texts
        self.page = native["page"]
        self.seconds = seconds
        self.diagnostics = [diagnostic_of(each, named) for each in native["diagnostics"]]
        if not native["done"]:
            raise CompileError(self.diagnostics)


def compile(
    program: str | bytes | os.PathLike[str],
    *,
    bundle_dir: str | os.PathLike[str] | None = None,
    validate: bool | str = "auto",
    **options: Option,
) -> Program:
    """Compiles a module of `linalg` on tensors, TOSA or `spyre` ops.

    `program` is MLIR text, bytecode, or the path of a file. The options are those of `spyre-compile`, with `_` for `-`:
    numbers and text as they are, `True` for what has no value, lists or dictionaries for what may be repeated
    (`tiles=["M=8"]`, `dim_size={"arg0.0": 128}`, or `"128:16"` for a size that a run chooses: multiples of 16 up to
    128), and as `plan` the dictionary that another program has, or a path. The bundle goes to `bundle_dir`, or to a
    temporary directory that lives as long as the program. Before it does, the files are compared with the imported
    program: `validate` is "auto" (as far as that costs no more than the compilation, or half a second), `True` or
    `False`.

    Raises `CompileError` with the compiler's diagnostics. Ctrl-C ends the wait.
    """
    place = tempfile.TemporaryDirectory(prefix="spyre-")
    folder = pathlib.Path(place.name)
    source = source_file(program, folder)
    check_plan(options.get("plan"))
    if isinstance(options.get("plan"), Mapping):
        (folder / PLAN).write_text(json.dumps(options["plan"]))
        options["plan"] = str(folder / PLAN)
    output = folder / "bundle" if bundle_dir is None else check_output(bundle_dir)
    made = Program(source, output, options, place, _compiled(source, output, options, validate))
    record(made._compilation)
    return made


def lower(program: str | bytes | os.PathLike[str], *, to: str = "layout", **options: Option) -> str:
    """Returns the IR after a phase: import, layout, hint, tile, work, lx or bundle. Raises `CompileError` on
    failure."""
    check_phase(to)
    with tempfile.TemporaryDirectory(prefix="spyre-") as place:
        folder = pathlib.Path(place)
        source = source_file(program, folder)
        return _compiled(source, folder / "bundle", {**options, "compile_to": to}, False).ir


def _shown(file: str) -> str:
    """Returns the file name of a program for messages: `<program>` for a program that was passed as text."""
    return "<program>" if pathlib.Path(file).name == TEXT else file


def _text_of(path: pathlib.Path) -> str | None:
    """Returns the text of a file, or of a cell of a notebook; none if it cannot be read or is no text."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        cell = linecache.cache.get(str(path))
        return "".join(cell[2]) if cell and len(cell) > 2 else None


def _compiled(source: pathlib.Path, output: pathlib.Path, options: Mapping[str, Option], validate: bool | str) -> _Compiled:
    pairs = pairs_of(options)
    mode = "auto" if validate == "auto" else {True: "on", False: "off"}.get(validate) if isinstance(validate, bool) else None
    if mode is None:
        raise refusal(f"option 'validate': expected 'auto', True or False, found {validate!r}; use one of these")
    started = time.monotonic()
    with progress("compiling"):
        native = _compile(str(source), str(output), pairs, mode)
    return _Compiled(native, source, time.monotonic() - started)
