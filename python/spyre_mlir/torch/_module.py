"""Ahead-of-time compilation of a module or function to one program, whose arguments include the weights."""

from __future__ import annotations

import dataclasses
import inspect
import logging
import os
import reprlib
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy
import torch
import torch.fx.traceback
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, InputSpec, OutputKind
from torch.fx import GraphModule
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode
from torch.utils import _pytree as pytree

import spyre_mlir
from spyre_mlir._progress import show_progress
from spyre_mlir._terms import convert_frontend_error
from spyre_mlir.errors import ArgumentError, HintError
from spyre_mlir.explanation import mark_parts

from ._decompositions import get_decompositions
from ._hints import get_names
from ._importer import SIZE_ADVICE, describe_unknown_size, has_unknown_size
from ._options import OptionError, Options
from ._partition import find_rejections
from ._places import find_location, fold_frames
from ._refusal import (
    LABEL,
    NAMES,
    CompilationRefused,
    Refusal,
    RejectedGraphError,
    describe_node,
    format_type,
    make_hint_error,
)
from ._region import Region, compiles_without_hints

log = logging.getLogger("spyre_mlir.torch")

# `torch.export` uses global state, so only one thread may export.
_export_lock = threading.Lock()

FUNCTION_NAME = "spyre_mlir.torch.compile"
CPU_ADVICE = "torch.compile(model, backend='spyre') leaves these operations on the CPU and compiles the others"
WEIGHTS = (InputKind.PARAMETER, InputKind.BUFFER, InputKind.CONSTANT_TENSOR)


class FunctionModule(torch.nn.Module):
    """Module that calls a function, because `torch.export` requires a module."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        # Without the annotation, PyTorch records the lines of modules only.
        self.function = torch.fx.traceback.annotate_fn({})(function)

    def forward(self, *arguments: Any) -> Any:
        return self.function(*arguments)


def compile(module_or_function: torch.nn.Module | Callable[..., Any], *inputs: Any, **options: Any) -> CompiledModule:
    """Compiles one program for inputs of these shapes and types, without fallback to the CPU.

    `options` contains `validate`, `quiet` and options of `spyre_mlir.compile`. Raises `spyre_mlir.CompileError` with
    the compiler's diagnostics, or `CompilationRefused` if torch-mlir has no lowering.
    """
    for name in ("fallback", "report", "sizes", "cache"):
        if name in options:
            raise OptionError(
                f"option '{name}': expected an option of spyre_mlir.torch.compile, found {options[name]!r}; remove it, "
                "or use "
                "torch.compile(model, backend='spyre', options=...)"
            )
    check_call(module_or_function, inputs, options)
    chosen = Options.parse(options)
    module = (
        module_or_function if isinstance(module_or_function, torch.nn.Module) else FunctionModule(module_or_function)
    )
    started = time.monotonic()
    with show_progress("compiling", chosen.quiet):
        compiled = CompiledModule(export_module(module, inputs), inputs, chosen)
    seconds = time.monotonic() - started
    compiled.program._show_compilation(
        get_name(module_or_function), seconds, chosen.quiet, log, compiled.region.num_nodes
    )
    return compiled


def get_name(function: Any) -> str:
    """Returns the name of a function, or of a module's class."""
    return getattr(function, "__name__", type(function).__name__)


def export_module(module: torch.nn.Module, inputs: Sequence[Any]) -> ExportedProgram:
    """Traces a module. Raises `CompilationRefused` with the user's line for a size or branch that depends on values."""
    try:
        with _export_lock, torch.fx.traceback.preserve_node_meta():
            exported = torch.export.export(module, tuple(inputs), strict=False).run_decompositions(get_decompositions())
    except GuardOnDataDependentSymNode as error:
        raise CompilationRefused(
            [],
            f"{find_user_line(error)}: error: expected sizes and branches that depend on shapes only, found one that "
            "depends on values; "
            f"{SIZE_ADVICE}",
        ) from error
    except (HintError, OptionError):
        raise
    except RuntimeError as error:  # PyTorch's own checks: shapes, types, devices.
        advice = f"call the function with these inputs in PyTorch first: {format_inputs(inputs)}"
        raise CompilationRefused(
            [], f"{find_user_line(error)}: error: PyTorch cannot trace the function: {get_first_line(error)}; {advice}"
        ) from error
    refusals = [
        Refusal(describe_node(node), find_location(node), describe_unknown_size(node))
        for node in exported.graph.nodes
        if has_unknown_size(node)
    ]
    if refusals:
        raise CompilationRefused(refusals[:1], "programs have fixed sizes")
    return exported


def find_user_line(error: Exception) -> str:
    """Returns the innermost line of the user's program in the traceback of an exception."""
    frames = fold_frames([(frame.filename, frame.lineno or 0) for frame in traceback.extract_tb(error.__traceback__)])
    return f"{frames[-1][0]}:{frames[-1][1]}" if frames else "unknown line"


def get_first_line(error: Exception) -> str:
    """Returns the first line of the message of a PyTorch exception."""
    return next((line.strip().rstrip(".") for line in str(error).splitlines() if line.strip()), type(error).__name__)


def check_call(function: Any, inputs: Sequence[Any], options: Mapping[str, Any]) -> None:
    """Raises `ArgumentError` if the function cannot be called with these inputs."""
    if isinstance(function, type):
        raise ArgumentError(
            f"{FUNCTION_NAME}: expected a module or a function, found the class {function.__name__}; give an instance"
        )
    if isinstance(function, torch.jit.ScriptModule | torch.jit.ScriptFunction):
        raise ArgumentError(
            f"{FUNCTION_NAME}: expected a module or a function, found {type(function).__name__}; give the module "
            "before torch.jit"
        )
    if isinstance(function, ExportedProgram):
        raise ArgumentError(
            f"{FUNCTION_NAME}: expected a module or a function, found an ExportedProgram; give exported.module()"
        )
    if not callable(function):
        advice = (
            "compile MLIR with spyre_mlir.compile"
            if isinstance(function, (str, bytes, os.PathLike))
            else "give a torch.nn.Module"
        )
        raise ArgumentError(
            f"{FUNCTION_NAME}: expected a module or a function, found {describe_input(function)}; {advice}"
        )
    for path, value in pytree.tree_flatten_with_path(tuple(inputs))[0]:
        if advice := suggest_input(value):
            where = f"input {pytree.keystr(path).strip('[]')}"
            layout = (
                f" of layout {value.layout}"
                if isinstance(value, torch.Tensor) and value.layout != torch.strided
                else ""
            )
            raise ArgumentError(
                f"{FUNCTION_NAME}: {where}: expected a dense tensor of real numbers, found "
                f"{describe_input(value)}{layout}; {advice}"
            )
    try:
        signature = inspect.signature(function.forward if isinstance(function, torch.nn.Module) else function)
    except (TypeError, ValueError):  # C functions have no signature.
        return
    named = [name for name in options if name in signature.parameters]
    if named:
        raise ArgumentError(
            f"{FUNCTION_NAME}: expected inputs by position, found {named[0]!r} by name; pass them after the function"
        )
    try:
        signature.bind(*inputs)
    except TypeError as error:
        expected = f"expected inputs {signature.replace(return_annotation=inspect.Signature.empty)}"
        raise ArgumentError(
            f"{FUNCTION_NAME}: {error}: {expected}, found {format_inputs(inputs)}; pass an example input for each "
            "after the function"
        ) from None


def suggest_input(value: object) -> str | None:
    """Returns advice for an unsupported input; None for supported tensors and for other values."""
    if isinstance(value, numpy.ndarray):
        return "give torch.from_numpy(array)"
    if not isinstance(value, torch.Tensor):
        return None
    if value.is_quantized:
        return "give tensor.dequantize()"
    if value.layout != torch.strided:
        return "give tensor.to_dense()"
    if value.is_complex():
        return "give torch.view_as_real(tensor), and compute with real and imaginary parts"
    return None


class CompiledModule:
    """Callable that runs `program` on the simulator, for inputs of the compiled shapes and types."""

    def __init__(self, exported: ExportedProgram, inputs: Sequence[Any], options: Options) -> None:
        self.exported = exported
        self.inputs = exported.graph_signature.input_specs
        self.outputs = exported.graph_signature.output_specs
        self.examples = pytree.tree_leaves((inputs, {}))
        self.name_dimensions()
        # SPYRE_MLIR_CACHE applies to the backend only: here the user gets the program with its report.
        options = dataclasses.replace(options, cache=None, may_narrow=True)
        try:
            with mark_parts():
                self.region = Region(exported.graph_module, options)
        except RejectedGraphError as error:
            raise make_rejection_error(exported.graph_module, options, error) from None
        if self.region.compiled is None:
            raise CompilationRefused(
                [],
                f"{FUNCTION_NAME}: expected a result that is computed from the inputs, found inputs and constants "
                "only; return a computed tensor",
            )

    @property
    def program(self) -> spyre_mlir.Program:
        return self.region.compiled.program

    @property
    def names(self) -> list[str]:
        """Returns the names of the program's arguments in the module, in order: `layers.0.weight`, or the name of an
        input."""
        return [
            self.inputs[position].target or self.inputs[position].arg.name for position in self.region.input_positions
        ]

    def name_dimensions(self) -> None:
        placeholders = self.exported.graph_module.graph.find_nodes(op="placeholder")
        for node, value in zip(placeholders, self.collect_arguments(self.examples), strict=True):
            node.meta[NAMES] = get_names(value)
        for node, spec in zip(placeholders, self.inputs, strict=True):
            node.meta[LABEL] = spec.target or spec.arg.name

    def collect_arguments(self, leaves: Sequence[Any]) -> list[Any]:
        """Returns the arguments of the graph: current weights, and the user's inputs."""
        rest = iter(leaves)
        return [next(rest) if spec.kind == InputKind.USER_INPUT else self.get_weight(spec) for spec in self.inputs]

    def get_weight(self, spec: InputSpec) -> torch.Tensor | None:
        """Returns a parameter, buffer or constant; None for a token, which only orders effects."""
        if spec.kind not in WEIGHTS:
            return None
        state = self.exported.state_dict
        return state[spec.target] if spec.target in state else self.exported.constants[spec.target]

    def __call__(self, *inputs: Any, **named: Any) -> Any:
        if named:
            found = ", ".join(map(repr, named))
            raise ArgumentError(
                f"compiled module: expected inputs by position, found {found} by name; give them in order"
            )
        leaves = pytree.tree_leaves((inputs, {}))
        self.check_inputs(leaves)
        with torch.no_grad():
            arguments = self.collect_arguments(leaves)
            values = self.region(*arguments)
            self.write_back(arguments, values)
        returned = [
            value for spec, value in zip(self.outputs, values, strict=True) if spec.kind == OutputKind.USER_OUTPUT
        ]
        return pytree.tree_unflatten(returned, self.exported.call_spec.out_spec)

    def check_inputs(self, leaves: Sequence[Any]) -> None:
        """Raises `ArgumentError` for inputs of other shapes or types, or without values."""
        expected, found = format_inputs(self.examples), format_inputs(leaves)
        if expected != found:
            advice = (
                "give torch.from_numpy(array)"
                if any(isinstance(value, numpy.ndarray) for value in leaves)
                else "compile it for these, too"
            )
            raise ArgumentError(f"compiled module: expected inputs {expected}, found {found}; {advice}")
        if any(isinstance(value, torch.Tensor) and value.is_meta for value in leaves):
            raise ArgumentError(
                f"compiled module: expected tensors with values, found {found} on the device 'meta'; give "
                "tensor.to('cpu')"
            )

    def write_back(self, arguments: Sequence[Any], values: Sequence[Any]) -> None:
        """Copies results of the program to the tensors that the module changes in place, such as caches."""
        by_target = {spec.target: value for spec, value in zip(self.inputs, arguments, strict=True) if spec.target}
        by_name = {spec.arg.name: value for spec, value in zip(self.inputs, arguments, strict=True)}
        for spec, value in zip(self.outputs, values, strict=True):
            if spec.kind == OutputKind.USER_INPUT_MUTATION:
                by_name[spec.target].copy_(value)
            elif spec.kind in (OutputKind.BUFFER_MUTATION, OutputKind.PARAMETER_MUTATION):
                by_target[spec.target].copy_(value)


def make_rejection_error(gm: GraphModule, options: Options, error: RejectedGraphError) -> Exception:
    """Returns the error for a rejected module: about its hints, from the compiler, or about operations without
    lowering."""
    cause = error.__cause__
    if isinstance(cause, spyre_mlir.CompileError):
        return (
            make_hint_error(gm.graph, cause) if compiles_without_hints(gm, options) else convert_frontend_error(cause)
        )
    return CompilationRefused(find_rejections(gm, options), f"{error}; {CPU_ADVICE}")


def describe_input(value: object) -> str:
    """Describes the type and shape of a tensor or array, or another value, which is a constant of the program."""
    if isinstance(value, numpy.ndarray):
        return f"a NumPy array {value.dtype}{list(value.shape)}"
    return format_type(value) if isinstance(value, torch.Tensor) else reprlib.repr(value)


def format_inputs(values: Sequence[object]) -> str:
    return f"({', '.join(map(describe_input, values))})"
