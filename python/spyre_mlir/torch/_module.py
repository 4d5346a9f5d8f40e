"""Ahead-of-time compilation: a module or function as one program, its weights as arguments."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.fx.traceback
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, InputSpec, OutputKind
from torch.utils import _pytree as pytree

import spyre_mlir

from ._decompositions import table
from ._hints import names_of
from ._options import OptionError, Options
from ._refusal import CompilationRefused, NotTaken, value_text
from ._region import NAMES, Region

WEIGHTS = (InputKind.PARAMETER, InputKind.BUFFER, InputKind.CONSTANT_TENSOR)


class Function(torch.nn.Module):
    """A function as `torch.export` takes it."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        # Without it, PyTorch records no line of a function, only those of modules.
        self.function = torch.fx.traceback.annotate_fn({})(function)

    def forward(self, *arguments: Any) -> Any:
        return self.function(*arguments)


def compile(module_or_function: torch.nn.Module | Callable[..., Any], *inputs: Any, **options: Any) -> CompiledModule:
    """Compiles for inputs of these shapes and types; the whole goes through or it is an error.

    `options` are `validate` and any of `spyre_mlir.compile`. Raises `spyre_mlir.CompileError`
    with the compiler's diagnostics, or `CompilationRefused` where torch-mlir has no lowering.
    """
    for name in ("fallback", "report", "sizes", "cache"):
        if name in options:
            raise OptionError(f"option '{name}' is one of torch.compile(backend='spyre'): here one program is made, or none")
    module = module_or_function if isinstance(module_or_function, torch.nn.Module) else Function(module_or_function)
    with torch.fx.traceback.preserve_node_meta():
        exported = torch.export.export(module, inputs, strict=False).run_decompositions(table())
    return CompiledModule(exported, inputs, Options.of(options))


class CompiledModule:
    """Called like the module, with inputs of the shapes that it was compiled for; `program` is what it runs."""

    def __init__(self, exported: ExportedProgram, inputs: Sequence[Any], options: Options) -> None:
        self.exported = exported
        self.inputs = exported.graph_signature.input_specs
        self.outputs = exported.graph_signature.output_specs
        self.examples = pytree.tree_leaves((inputs, {}))
        self.name_dimensions()
        # The variable SPYRE_MLIR_CACHE is for the backend: here a user wants the program and all that is known of it.
        options = dataclasses.replace(options, cache=None, narrows=True)
        try:
            self.region = Region(exported.graph_module, options)
        except NotTaken as error:
            if isinstance(error.__cause__, spyre_mlir.CompileError):
                raise error.__cause__ from None
            raise CompilationRefused([], str(error)) from error
        if self.region.compiled is None:
            raise CompilationRefused([], "nothing is computed: every result is an input or a constant")
        # The module was traced here, so the places in its report are those of the user's own files.
        self.program._is_traced = True

    @property
    def program(self) -> spyre_mlir.Program:
        return self.region.compiled.program

    @property
    def names(self) -> list[str]:
        """What the arguments of the program are called in the module, in order: `layers.0.weight`, or the name of an input."""
        return [self.inputs[position].target or self.inputs[position].arg.name for position in self.region.kept]

    def name_dimensions(self) -> None:
        placeholders = self.exported.graph_module.graph.find_nodes(op="placeholder")
        for node, value in zip(placeholders, self.arguments(self.examples), strict=True):
            node.meta[NAMES] = names_of(value)

    def arguments(self, given: Sequence[Any]) -> list[Any]:
        """What the graph takes: weights as they are now, and the user's inputs in their places."""
        rest = iter(given)
        return [next(rest) if spec.kind == InputKind.USER_INPUT else self.weight(spec) for spec in self.inputs]

    def weight(self, spec: InputSpec) -> torch.Tensor | None:
        """A parameter, buffer or constant; none of a token, which only orders effects."""
        if spec.kind not in WEIGHTS:
            return None
        state = self.exported.state_dict
        return state[spec.target] if spec.target in state else self.exported.constants[spec.target]

    def __call__(self, *inputs: Any) -> Any:
        given = pytree.tree_leaves((inputs, {}))
        self.check(given)
        with torch.no_grad():
            arguments = self.arguments(given)
            values = self.region(*arguments)
            self.write_back(arguments, values)
        returned = [value for spec, value in zip(self.outputs, values, strict=True) if spec.kind == OutputKind.USER_OUTPUT]
        return pytree.tree_unflatten(returned, self.exported.call_spec.out_spec)

    def check(self, given: Sequence[Any]) -> None:
        """A program has fixed shapes."""
        wanted = [described(value) for value in self.examples]
        found = [described(value) for value in given]
        if wanted != found:
            raise TypeError(f"compiled for inputs {', '.join(wanted)}, and called with {', '.join(found)}: compile for these, too")

    def write_back(self, arguments: Sequence[Any], values: Sequence[Any]) -> None:
        """What the module changes in place, a cache say, is a result of the program and is copied to where it belongs."""
        of_target = {spec.target: value for spec, value in zip(self.inputs, arguments, strict=True) if spec.target}
        of_name = {spec.arg.name: value for spec, value in zip(self.inputs, arguments, strict=True)}
        for spec, value in zip(self.outputs, values, strict=True):
            if spec.kind == OutputKind.USER_INPUT_MUTATION:
                of_name[spec.target].copy_(value)
            elif spec.kind in (OutputKind.BUFFER_MUTATION, OutputKind.PARAMETER_MUTATION):
                of_target[spec.target].copy_(value)


def described(value: object) -> str:
    """The type and shape of a tensor; another value itself, since the program was traced with it."""
    return value_text(value) if isinstance(value, torch.Tensor) else repr(value)
