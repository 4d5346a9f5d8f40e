"""Compiled programs: compilation of MLIR to a bundle, and its execution on the simulator."""

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
from spyre_mlir._options import check_output, check_phase, check_plan, flatten_options
from spyre_mlir._progress import show_line, show_progress
from spyre_mlir._source import get_display_name, make_call_error, resolve_source
from spyre_mlir._terms import convert_diagnostic
from spyre_mlir.errors import CompileError, Diagnostic, RunError
from spyre_mlir.explanation import Compilation, record
from spyre_mlir.sim import Simulation, Tensor

#: Type of the value of a `spyre-compile` option.
Option = str | int | bool | os.PathLike[str] | Sequence[str] | Mapping[str, Any]

#: File name of a plan that is specified as a dictionary.
PLAN_FILE_NAME = "plan that was given.json"

#: Separator of the locations of an op that was inlined from calls, innermost first.
_CALLER_SEPARATOR = " called from "


class Program:
    """A compiled program."""

    def __init__(
        self,
        source: pathlib.Path,
        bundle_dir: pathlib.Path,
        options: dict[str, Option],
        directory: Any,
        compiled: _CompilationResult,
    ):
        # The temporary directory lives as long as the program.
        self._source, self._options, self._directory = source, options, directory
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
        self._compilation = Compilation(
            self.report["program"], [self.report], compiled.seconds, len(self.report["ops"])
        )
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
        return any(":" in value for name, value in flatten_options(self._options) if name == "dim-size")

    def validate(self) -> str:
        """Executes the imported program and the files over a finite field, and returns a description of the comparison.

        Raises `CompileError` if they differ, which is a bug of the compiler.
        """
        if self.validation is None:
            with tempfile.TemporaryDirectory(prefix="spyre-") as directory:
                folder = pathlib.Path(directory)
                compiled = _run_compiler(self._source, folder / "bundle", self._options, True)
            self.validation = compiled.validation
        return self.validation

    def report_html(self, path: str | os.PathLike[str], *, sources: Sequence[str | os.PathLike[str]] = ()) -> None:
        """Writes the report as an HTML page that needs no network, like `spyre-compile --report FILE.html`.

        The page shows the source lines of the ops: lines of the program, unless it is bytecode, and of the files in
        `sources`, whose names must equal the file names in the report. For a program of `spyre_mlir.torch`, it also
        shows the files from which the operations were traced.
        """
        places = (place for op in self.report["ops"] for place in op["location"].split(_CALLER_SEPARATOR))
        named = dict.fromkeys(place.rpartition(":")[0].rpartition(":")[0] for place in places)
        traced = [file for file in named if file.endswith(".py") or file in linecache.cache] if self._is_traced else []
        files = {get_display_name(self._source): self._source}
        files.update((file, pathlib.Path(file)) for file in map(str, [*sources, *traced]))
        texts = ((name, _read_text(file)) for name, file in files.items() if name in named)
        page = self._page.html([(name, text) for name, text in texts if text is not None])
        pathlib.Path(path).write_text(page, encoding="utf-8")

    def _show_compilation(
        self, title: str, seconds: float, quiet: bool, log: logging.Logger, num_ops: int | None = None
    ) -> None:
        """Records the compilation of a traced function for `explain`, and shows its line."""
        counted = self._compilation.num_ops if num_ops is None else num_ops
        self._compilation = dataclasses.replace(self._compilation, title=title, seconds=seconds, num_ops=counted)
        record(self._compilation)
        show_line(title, self._compilation.format_summary(), quiet, log)

    def explain(self, file: TextIO | None = None) -> None:
        """Prints a table of the modules with their ops, traffic and time, and of the operations on the CPU."""
        print(self._compilation.format_table(), file=file or sys.stdout)

    def __repr__(self) -> str:
        return f"<spyre_mlir.Program in {self.bundle_dir}>"


class _CompilationResult:
    """Result of a compilation by the native module."""

    def __init__(self, native: dict, source: pathlib.Path, seconds: float):
        self.report, self.plan, self.ir, self.validation = (
            native[name] for name in ("report", "plan", "ir", "validation")
        )
        named = {str(source.parent / PLAN_FILE_NAME): "the given plan"}
        self.page = native["page"]
        self.seconds = seconds
        self.diagnostics = [convert_diagnostic(each, named) for each in native["diagnostics"]]
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

    `program` is MLIR text, bytecode, or the path of a file. The options are those of `spyre-compile`, with `_` instead
    of `-`. Values are numbers and text, `True` for an option without a value, and lists or dictionaries for an option
    that can be repeated: `tiles=["M=8"]`, `dim_size={"arg0.0": 128}`. The size `"128:16"` is symbolic: each run chooses
    a multiple of 16 up to 128. `plan` is a path, or the `plan` of another program.

    The bundle is written to `bundle_dir`, or to a temporary directory that is deleted together with the program.
    `validate` is "auto", `True` or `False`: whether the files are compared with the imported program first. "auto"
    compares as much as takes no longer than the compilation, or half a second.

    Raises `CompileError` with the compiler's diagnostics. Ctrl-C ends the call.
    """
    directory = tempfile.TemporaryDirectory(prefix="spyre-")
    folder = pathlib.Path(directory.name)
    source = resolve_source(program, folder)
    check_plan(options.get("plan"))
    if isinstance(options.get("plan"), Mapping):
        (folder / PLAN_FILE_NAME).write_text(json.dumps(options["plan"]))
        options["plan"] = str(folder / PLAN_FILE_NAME)
    output = folder / "bundle" if bundle_dir is None else check_output(bundle_dir)
    result = Program(source, output, options, directory, _run_compiler(source, output, options, validate))
    record(result._compilation)
    return result


def lower(program: str | bytes | os.PathLike[str], *, to: str = "layout", **options: Option) -> str:
    """Returns the IR after a phase: import, layout, hint, tile, work, lx or bundle.

    Raises `CompileError` on failure.
    """
    check_phase(to)
    with tempfile.TemporaryDirectory(prefix="spyre-") as directory:
        folder = pathlib.Path(directory)
        source = resolve_source(program, folder)
        return _run_compiler(source, folder / "bundle", {**options, "compile_to": to}, False).ir


def _read_text(path: pathlib.Path) -> str | None:
    """Returns the text of a file or of a notebook cell; None if it cannot be read or is not text."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        cell = linecache.cache.get(str(path))
        return "".join(cell[2]) if cell and len(cell) > 2 else None


def _run_compiler(
    source: pathlib.Path, output: pathlib.Path, options: Mapping[str, Option], validate: bool | str
) -> _CompilationResult:
    pairs = flatten_options(options)
    mode = (
        "auto"
        if validate == "auto"
        else {True: "on", False: "off"}.get(validate)
        if isinstance(validate, bool)
        else None
    )
    if mode is None:
        raise make_call_error(
            f"option 'validate': expected 'auto', True or False, found {validate!r}; use one of these"
        )
    started = time.monotonic()
    with show_progress("compiling"):
        native = _compile(str(source), get_display_name(source), str(output), pairs, mode)
    return _CompilationResult(native, source, time.monotonic() - started)
