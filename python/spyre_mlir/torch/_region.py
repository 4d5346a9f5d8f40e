"""Region of an FX graph that is compiled to one program."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence

import numpy
import torch
from torch.fx import GraphModule

import spyre_mlir

from ._cache import CompiledProgram, get_or_compile
from ._expectations import check_expectations
from ._hints import drop_hints, has_hints
from ._importer import LinalgText, list_operations, lower_to_linalg
from ._options import Options
from ._refusal import LABEL, NAMES, RejectedGraphError, format_reason, format_type
from ._signature import build_signature, check_precision

log = logging.getLogger("spyre_mlir.torch")


class Region(torch.nn.Module):
    """Module that runs a compiled program in place of an FX graph. Results have the dtypes and strides of the graph."""

    def __init__(self, gm: GraphModule, options: Options) -> None:
        """Compiles the graph. Raises `RejectedGraphError` with the compiler's reason if the graph is not supported."""
        super().__init__()
        self.graph_module = gm
        self.options = options
        signature = build_signature(gm)
        self.input_positions, self.outputs, self.results = (
            signature.input_positions,
            signature.outputs,
            signature.results,
        )
        self.num_nodes = len(list_operations(signature.tensors.graph))
        self.labels: list[str | None] = []
        self.linalg: LinalgText | None = None
        self.compiled: CompiledProgram | None = None
        if self.results:
            self.compile(signature.tensors)

    def compile(self, tensors: GraphModule) -> None:
        if not all(isinstance(value, torch.Tensor) for value in self.results):
            raise RejectedGraphError("it passes a tuple of tensors to an operation on the CPU")
        check_precision(tensors.graph, self.options)
        names = [node.meta.get(NAMES) for node in tensors.graph.find_nodes(op="placeholder")]
        labels = [node.meta.get(LABEL) for node in tensors.graph.find_nodes(op="placeholder")]
        self.labels = labels
        self.linalg = lower_to_linalg(tensors, names, labels)
        try:
            self.compiled = get_or_compile(self.linalg, self.options)
        except spyre_mlir.CompileError as error:
            raise RejectedGraphError(format_reason(error)) from error
        check_expectations(tensors.graph, self.compiled.report)

    def forward(self, *arguments: object) -> tuple[object, ...]:
        results = self.launch([arguments[position] for position in self.input_positions]) if self.compiled else []
        if results is None:
            return tuple(self.graph_module(*arguments))
        return tuple(output(arguments, results) for output in self.outputs)

    def use_input_names(self, message: str) -> str:
        """Replaces the names of the program's arguments in a message by the user's names of the inputs."""

        def replace_name(found: re.Match[str]) -> str:
            number = int(found[1])
            return repr(self.labels[number]) if number < len(self.labels) and self.labels[number] else found[0]

        return re.sub(r"'arg(\d+)'", replace_name, message)

    def launch(self, tensors: Sequence[torch.Tensor]) -> list[torch.Tensor] | None:
        """Runs the program and returns its results. Returns None if PyTorch must compute them, because the simulator
        rejects a value (such as an integer out of range) and `options.fallback` permits it."""
        assert self.compiled is not None
        for number, tensor in enumerate(tensors):
            if tensor.is_meta:
                found = f"{format_type(tensor)} on the device 'meta'"
                name = self.use_input_names(f"'arg{number}'")
                raise spyre_mlir.ArgumentError(
                    f"input {name}: expected a tensor with values, found {found}; give tensor.to('cpu')"
                )
        try:
            arrays = self.compiled.program.run(*map(convert_to_array, tensors))
        except spyre_mlir.RunError as error:
            if self.options.fallback == "error":
                advice = "with options={'fallback': 'cpu'}, PyTorch runs the calls that the simulator rejects"
                raise spyre_mlir.RunError(f"{self.use_input_names(str(error))}; {advice}") from None
            log.warning(
                "PyTorch computes a launch of %d operations this time: %s", self.num_nodes, " ".join(str(error).split())
            )
            return None
        return [convert_to_tensor(array, like) for array, like in zip(arrays, self.results, strict=True)]


def compiles_without_hints(gm: GraphModule, options: Options) -> bool:
    """Returns whether a graph has hints and would compile without them."""
    if not has_hints(gm.graph) and not options.has_requests():
        return False
    plain = GraphModule(gm, torch.fx.Graph())
    plain.graph.output(plain.graph.graph_copy(gm.graph, {}))
    drop_hints(plain.graph)
    try:
        Region(plain, options.remove_requests())
    except RejectedGraphError:
        return False
    return True


def convert_to_array(tensor: torch.Tensor) -> numpy.ndarray:
    """Converts a tensor to an array for `Program.run`. Converts bf16 to f32, because NumPy has no bf16."""
    tensor = tensor.detach().cpu()
    return (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).contiguous().numpy()


def convert_to_tensor(array: numpy.ndarray, like: torch.Tensor) -> torch.Tensor:
    """Converts an array to a tensor with the shape, dtype and strides of `like`. AOTAutograd builds views with the
    strides that it traced."""
    found = torch.from_numpy(numpy.ascontiguousarray(array)).reshape(like.shape).to(like.dtype)
    if found.stride() == like.stride():
        return found
    return torch.empty_strided(like.shape, like.stride(), dtype=like.dtype).copy_(found)
