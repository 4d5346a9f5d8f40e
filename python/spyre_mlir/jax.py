"""JAX functions on the Spyre compiler: `spyre_mlir.jax.compile(function, *args)`.

The way is `jax.jit`, StableHLO, the passes to `linalg` that jaxlib carries, this compiler. docs/reference/pytorch.md
has a section for it. Tested with JAX 0.10.2, and 0.9.2 in part.
"""

from __future__ import annotations

import inspect
import logging
import time
import traceback
from collections.abc import Callable, Sequence
from typing import Any

import numpy

import spyre_mlir
from spyre_mlir._files import is_installed
from spyre_mlir._locations import with_module_paths
from spyre_mlir._progress import progress
from spyre_mlir._terms import of_frontend
from spyre_mlir.errors import ArgumentError, described
from spyre_mlir.explanation import parts

try:
    import jax
    from jaxlib.mlir import ir, passmanager
    from jaxlib.mlir.dialects import stablehlo
except ImportError as missing:
    raise ImportError(f"spyre_mlir.jax needs JAX: pip install 'spyre-mlir[jax]' ({missing})") from missing

log = logging.getLogger("spyre_mlir.jax")

PIPELINE = (
    "builtin.module(inline,symbol-dce,func.func(chlo-legalize-to-stablehlo),canonicalize,stablehlo-legalize-to-linalg,canonicalize,cse)"
)
DIALECTS_BEFORE = ("stablehlo.", "chlo.")
# Ops that these passes leave, and that the compiler reads.
READ = tuple(f"stablehlo.{name}" for name in ("case", "if", "return", "scatter", "sort", "while"))


NAME = "spyre_mlir.jax.compile"


class LoweringError(ValueError):
    """An operation that jaxlib cannot lower to `linalg`."""


def compile(
    function: Callable[..., Any], *args: Any, validate: bool | str = "auto", quiet: bool = False, **options: Any
) -> CompiledFunction:
    """Compiles a function for arguments of these shapes and types, which may be trees of arrays.

    `options` are those of `spyre_mlir.compile`; `quiet` leaves out the line after the compilation. Raises
    `LoweringError`, or `spyre_mlir.CompileError` with the compiler's diagnostics.
    """
    if not callable(function):
        raise ArgumentError(
            f"spyre_mlir.jax.compile: expected a function, found {type(function).__name__}; compile MLIR with spyre_mlir.compile"
        )
    started = time.monotonic()
    with progress("compiling", quiet), parts():
        lowered = lowered_for(function, args)
        try:
            program = spyre_mlir.compile(linalg_of(lowered), validate=validate, **options)
        except spyre_mlir.CompileError as error:
            raise of_frontend(error) from None
    # The operations were traced here, so the locations in the report are lines of the user's own files.
    program._is_traced = True
    title = getattr(function, "__name__", type(function).__name__)
    program._show_compilation(title, time.monotonic() - started, quiet, log)
    return CompiledFunction(program, lowered)


def lowered_for(function: Callable[..., Any], args: Sequence[Any]) -> jax.stages.Lowered:
    """Traces a function. An error of JAX is raised with the user's line."""
    try:
        inspect.signature(function).bind(*args)
    except TypeError as error:
        raise ArgumentError(f"{NAME}: {error}: found {len(args)} example arguments; give one for each after the function") from None
    except ValueError:  # Functions of C have no signature.
        pass
    for path, value in jax.tree_util.tree_leaves_with_path(tuple(args)):
        if isinstance(value, (str, bytes)) or callable(value):
            where = f"argument {jax.tree_util.keystr(path).strip('[]')}"
            raise ArgumentError(f"{NAME}: {where}: expected an array, found {described(value)}; give jax.numpy.asarray(value)")
    try:
        return jax.jit(function, keep_unused=True).lower(*args)
    except (jax.errors.ConcretizationTypeError, jax.errors.NonConcreteBooleanIndexError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise LoweringError(
            f"{user_line(error)}: error: expected sizes and branches that depend on shapes only, found one that depends on values "
            f"({reason}); use jax.numpy.where(condition, x, 0) in place of a selection"
        ) from error


def user_line(error: Exception) -> str:
    """Returns the innermost line of the user's program that an exception passed."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not is_installed(frame.filename)]
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else "unknown line"


class CompiledFunction:
    """Called like the function, with arguments of the shapes that it was compiled for; `program` is what it runs."""

    def __init__(self, program: spyre_mlir.Program, lowered: jax.stages.Lowered) -> None:
        self.program = program
        self.arguments, self.arguments_tree = jax.tree.flatten(lowered.args_info)
        self.results, self.results_tree = jax.tree.flatten(lowered.out_info)

    def __call__(self, *args: Any, **named: Any) -> Any:
        if named:
            found = ", ".join(map(repr, named))
            raise ArgumentError(f"compiled function: expected arguments by position, found {found} by name; give them in order")
        given, tree = jax.tree.flatten((args, {}))
        self.check(given, tree)
        arrays = self.program.run(*map(array_of, given, self.arguments))
        made = [jax.numpy.asarray(array).astype(info.dtype) for array, info in zip(arrays, self.results, strict=True)]
        return jax.tree.unflatten(self.results_tree, made)

    def check(self, given: Sequence[Any], tree: object) -> None:
        """A program has fixed shapes and types."""
        if tree != self.arguments_tree:
            raise ArgumentError(f"compiled function: expected arguments {self.arguments_tree}, found {tree}; compile it for these, too")
        wanted = [f"{info.dtype}{list(info.shape)}" for info in self.arguments]
        found = [f"{jax.dtypes.canonicalize_dtype(jax.numpy.result_type(value))}{list(numpy.shape(value))}" for value in given]
        if wanted != found:
            raise ArgumentError(f"compiled function: expected ({', '.join(wanted)}), found ({', '.join(found)}); compile it for these, too")


def array_of(value: Any, info: Any) -> numpy.ndarray:
    """Converts an argument for `Program.run`: NumPy has no bf16, and integers of a program are signless."""
    kept = numpy.float32 if info.dtype == jax.numpy.bfloat16 else info.dtype
    array = numpy.ascontiguousarray(numpy.asarray(value), dtype=kept).reshape(info.shape)
    return array.view(f"i{array.itemsize}") if array.dtype.kind == "u" else array


def linalg_of(lowered: jax.stages.Lowered) -> str:
    """Returns the function in `linalg`, with named scopes as paths of modules and the lines of the user's program."""
    module = lowered.compiler_ir("stablehlo")
    with module.context:
        stablehlo.register_stablehlo_passes()
        try:
            passmanager.PassManager.parse(PIPELINE).run(module.operation)
        except ir.MLIRError as error:
            raise LoweringError(f"jaxlib cannot lower the function to linalg: {error}") from error
        check_lowered(module)
        return with_module_paths(module.operation.get_asm(enable_debug_info=True))


def check_lowered(module: ir.Module) -> None:
    """Raises `LoweringError` for ops that the passes leave, except for those that the compiler reads."""
    left: list[str] = []

    def look(op: ir.Operation) -> ir.WalkResult:
        if op.name.startswith(DIALECTS_BEFORE) and op.name not in READ:
            left.append(f"'{op.name}' at {op.location}")
        return ir.WalkResult.ADVANCE

    module.operation.walk(look)
    if left:
        raise LoweringError(f"jaxlib has no lowering to linalg of {', '.join(left)}; write the function with other operations")
