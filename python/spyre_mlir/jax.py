"""JAX functions on the Spyre compiler: `spyre_mlir.jax.compile(function, *args)`.

`jax.jit` lowers a function to StableHLO, and passes of jaxlib lower StableHLO to `linalg`. docs/reference/pytorch.md
has a section for users. Tested with JAX 0.10.2, and 0.9.2 in part.
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
from spyre_mlir._locations import rewrite_locations
from spyre_mlir._progress import show_progress
from spyre_mlir._terms import convert_frontend_error
from spyre_mlir.errors import ArgumentError, describe_value
from spyre_mlir.explanation import mark_parts

try:
    import jax
    from jaxlib.mlir import ir, passmanager
    from jaxlib.mlir.dialects import stablehlo
except ImportError as missing:
    raise ImportError(f"spyre_mlir.jax needs JAX: pip install 'spyre-mlir[jax]' ({missing})") from missing

log = logging.getLogger("spyre_mlir.jax")

PIPELINE = (
    "builtin.module(inline,symbol-dce,func.func(chlo-legalize-to-stablehlo),canonicalize,"
    "stablehlo-legalize-to-linalg,canonicalize,cse)"
)
SOURCE_DIALECTS = ("stablehlo.", "chlo.")
# Ops that these passes do not lower, and that the compiler accepts.
COMPILER_OPS = tuple(f"stablehlo.{name}" for name in ("case", "if", "return", "scatter", "sort", "while"))


FUNCTION_NAME = "spyre_mlir.jax.compile"


class LoweringError(ValueError):
    """An operation that jaxlib cannot lower to `linalg`."""


def compile(
    function: Callable[..., Any], *args: Any, validate: bool | str = "auto", quiet: bool = False, **options: Any
) -> CompiledFunction:
    """Compiles a function for arguments of these shapes and types, which may be trees of arrays.

    `options` are those of `spyre_mlir.compile`; `quiet` omits the line after the compilation. Raises
    `LoweringError`, or `spyre_mlir.CompileError` with the compiler's diagnostics.
    """
    if not callable(function):
        raise ArgumentError(
            f"spyre_mlir.jax.compile: expected a function, found {type(function).__name__}; compile MLIR with "
            "spyre_mlir.compile"
        )
    started = time.monotonic()
    with show_progress("compiling", quiet), mark_parts():
        lowered = trace_function(function, args)
        try:
            program = spyre_mlir.compile(lower_to_linalg(lowered), validate=validate, **options)
        except spyre_mlir.CompileError as error:
            raise convert_frontend_error(error) from None
    # The operations were traced here, so the locations in the report are lines of the user's own files.
    program._is_traced = True
    title = getattr(function, "__name__", type(function).__name__)
    program._show_compilation(title, time.monotonic() - started, quiet, log)
    return CompiledFunction(program, lowered)


def trace_function(function: Callable[..., Any], args: Sequence[Any]) -> jax.stages.Lowered:
    """Traces a function. Errors of JAX are raised again with the user's line."""
    try:
        inspect.signature(function).bind(*args)
    except TypeError as error:
        raise ArgumentError(
            f"{FUNCTION_NAME}: {error}: found {len(args)} example arguments; give one for each after the function"
        ) from None
    except ValueError:  # Functions of C have no signature.
        pass
    for path, value in jax.tree_util.tree_leaves_with_path(tuple(args)):
        if isinstance(value, (str, bytes)) or callable(value):
            where = f"argument {jax.tree_util.keystr(path).strip('[]')}"
            raise ArgumentError(
                f"{FUNCTION_NAME}: {where}: expected an array, found {describe_value(value)}; give "
                "jax.numpy.asarray(value)"
            )
    try:
        return jax.jit(function, keep_unused=True).lower(*args)
    except (jax.errors.ConcretizationTypeError, jax.errors.NonConcreteBooleanIndexError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise LoweringError(
            f"{find_user_line(error)}: error: expected sizes and branches that depend on shapes only, found one that "
            "depends on values "
            f"({reason}); use jax.numpy.where(condition, x, 0) in place of a selection"
        ) from error


def find_user_line(error: Exception) -> str:
    """Returns the innermost line of the user's program in the traceback of an exception."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not is_installed(frame.filename)]
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else "unknown line"


class CompiledFunction:
    """Callable that runs `program` on the simulator, for arguments of the compiled shapes and types."""

    def __init__(self, program: spyre_mlir.Program, lowered: jax.stages.Lowered) -> None:
        self.program = program
        self.arguments, self.arguments_tree = jax.tree.flatten(lowered.args_info)
        self.results, self.results_tree = jax.tree.flatten(lowered.out_info)

    def __call__(self, *args: Any, **named: Any) -> Any:
        if named:
            found = ", ".join(map(repr, named))
            raise ArgumentError(
                f"compiled function: expected arguments by position, found {found} by name; give them in order"
            )
        leaves, tree = jax.tree.flatten((args, {}))
        self.check_arguments(leaves, tree)
        arrays = self.program.run(*map(convert_argument, leaves, self.arguments))
        results = [
            jax.numpy.asarray(array).astype(info.dtype) for array, info in zip(arrays, self.results, strict=True)
        ]
        return jax.tree.unflatten(self.results_tree, results)

    def check_arguments(self, leaves: Sequence[Any], tree: object) -> None:
        """Raises `ArgumentError` for arguments of other shapes or types: a program has fixed ones."""
        if tree != self.arguments_tree:
            raise ArgumentError(
                f"compiled function: expected arguments {self.arguments_tree}, found {tree}; compile it for these, too"
            )
        expected = [f"{info.dtype}{list(info.shape)}" for info in self.arguments]
        found = [
            f"{jax.dtypes.canonicalize_dtype(jax.numpy.result_type(value))}{list(numpy.shape(value))}"
            for value in leaves
        ]
        if expected != found:
            raise ArgumentError(
                f"compiled function: expected ({', '.join(expected)}), found ({', '.join(found)}); compile it for "
                "these, too"
            )


def convert_argument(value: Any, info: Any) -> numpy.ndarray:
    """Converts an argument for `Program.run`: NumPy has no bf16, and integers of a program are signless."""
    dtype = numpy.float32 if info.dtype == jax.numpy.bfloat16 else info.dtype
    array = numpy.ascontiguousarray(numpy.asarray(value), dtype=dtype).reshape(info.shape)
    return array.view(f"i{array.itemsize}") if array.dtype.kind == "u" else array


def lower_to_linalg(lowered: jax.stages.Lowered) -> str:
    """Returns the function in `linalg`, with named scopes as paths of modules and the lines of the user's program."""
    module = lowered.compiler_ir("stablehlo")
    with module.context:
        stablehlo.register_stablehlo_passes()
        try:
            passmanager.PassManager.parse(PIPELINE).run(module.operation)
        except ir.MLIRError as error:
            raise LoweringError(f"jaxlib cannot lower the function to linalg: {error}") from error
        check_lowered(module)
        return rewrite_locations(module.operation.get_asm(enable_debug_info=True))


def check_lowered(module: ir.Module) -> None:
    """Raises `LoweringError` for ops that neither the passes nor the compiler lower."""
    unsupported: list[str] = []

    def visit_op(op: ir.Operation) -> ir.WalkResult:
        if op.name.startswith(SOURCE_DIALECTS) and op.name not in COMPILER_OPS:
            unsupported.append(f"'{op.name}' at {op.location}")
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit_op)
    if unsupported:
        raise LoweringError(
            f"jaxlib has no lowering to linalg of {', '.join(unsupported)}; write the function with other operations"
        )
