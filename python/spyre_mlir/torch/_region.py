"""A part of a graph that is one compiled program."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence

import numpy
import torch
from torch.fx import GraphModule

import spyre_mlir

from ._cache import Compiled, compiled
from ._expectations import check_expectations
from ._hints import drop_hints, has_hints
from ._importer import Linalg, calls, linalg_of
from ._options import Options
from ._refusal import LABEL, NAMES, NotTaken, reason_of, value_text
from ._signature import check_precision, signature_of

log = logging.getLogger("spyre_mlir.torch")


class Region(torch.nn.Module):
    """Runs a compiled program instead of a graph, on tensors with the types and strides of the graph."""

    def __init__(self, gm: GraphModule, options: Options) -> None:
        """Compiles; raises `NotTaken` with the compiler's reason."""
        super().__init__()
        self.graph_module = gm
        self.options = options
        signature = signature_of(gm)
        self.kept, self.outputs, self.results = signature.kept, signature.outputs, signature.results
        self.n_nodes = len(calls(signature.tensors.graph))
        self.labels: list[str | None] = []
        self.linalg: Linalg | None = None
        self.compiled: Compiled | None = None
        if self.results:
            self.compile(signature.tensors)

    def compile(self, tensors: GraphModule) -> None:
        if not all(isinstance(value, torch.Tensor) for value in self.results):
            raise NotTaken("it passes a tuple of tensors to an operation on the CPU")
        check_precision(tensors.graph, self.options)
        names = [node.meta.get(NAMES) for node in tensors.graph.find_nodes(op="placeholder")]
        labels = [node.meta.get(LABEL) for node in tensors.graph.find_nodes(op="placeholder")]
        self.labels = labels
        self.linalg = linalg_of(tensors, names, labels)
        try:
            self.compiled = compiled(self.linalg, self.options)
        except spyre_mlir.CompileError as error:
            raise NotTaken(reason_of(error)) from error
        check_expectations(tensors.graph, self.compiled.report)

    def forward(self, *arguments: object) -> tuple[object, ...]:
        results = self.launch([arguments[position] for position in self.kept]) if self.compiled else []
        if results is None:
            return tuple(self.graph_module(*arguments))
        return tuple(output(arguments, results) for output in self.outputs)

    def in_names_of_user(self, message: str) -> str:
        """Returns a message with the inputs as the user calls them in place of the program's arguments."""

        def name(found: re.Match[str]) -> str:
            number = int(found[1])
            return repr(self.labels[number]) if number < len(self.labels) and self.labels[number] else found[0]

        return re.sub(r"'arg(\d+)'", name, message)

    def launch(self, tensors: Sequence[torch.Tensor]) -> list[torch.Tensor] | None:
        """Returns the results; None if PyTorch must compute them, because the machine rejects a value (integer out of
        range)."""
        assert self.compiled is not None
        for number, tensor in enumerate(tensors):
            if tensor.is_meta:
                found = f"{value_text(tensor)} on the device 'meta'"
                name = self.in_names_of_user(f"'arg{number}'")
                raise spyre_mlir.ArgumentError(f"input {name}: expected a tensor with values, found {found}; give tensor.to('cpu')")
        try:
            arrays = self.compiled.program.run(*map(array_of, tensors))
        except spyre_mlir.RunError as error:
            if self.options.fallback == "error":
                advice = "with options={'fallback': 'cpu'}, PyTorch runs the calls that the simulator rejects"
                raise spyre_mlir.RunError(f"{self.in_names_of_user(str(error))}; {advice}") from None
            log.warning("PyTorch computes a launch of %d operations this time: %s", self.n_nodes, " ".join(str(error).split()))
            return None
        return [tensor_of(array, like) for array, like in zip(arrays, self.results, strict=True)]


def compiles_without_hints(gm: GraphModule, options: Options) -> bool:
    """Returns whether a graph has hints, and compiles without them."""
    if not has_hints(gm.graph) and not options.has_wishes():
        return False
    plain = GraphModule(gm, torch.fx.Graph())
    plain.graph.output(plain.graph.graph_copy(gm.graph, {}))
    drop_hints(plain.graph)
    try:
        Region(plain, options.without_wishes())
    except NotTaken:
        return False
    return True


def array_of(tensor: torch.Tensor) -> numpy.ndarray:
    """A tensor as `Program.run` takes it: NumPy has no bf16."""
    tensor = tensor.detach().cpu()
    return (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).contiguous().numpy()


def tensor_of(array: numpy.ndarray, like: torch.Tensor) -> torch.Tensor:
    """A result as the graph promises it: AOTAutograd makes views by strides that it has seen."""
    found = torch.from_numpy(numpy.ascontiguousarray(array)).reshape(like.shape).to(like.dtype)
    if found.stride() == like.stride():
        return found
    return torch.empty_strided(like.shape, like.stride(), dtype=like.dtype).copy_(found)
