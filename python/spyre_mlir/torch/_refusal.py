"""Errors and messages about operations that the compiler rejects."""

from __future__ import annotations

import dataclasses
import re

import torch

import spyre_mlir
from spyre_mlir._terms import remove_op
from spyre_mlir.errors import HintError, Place
from spyre_mlir.explanation import CpuOp

from ._hints import get_scope_place, get_scopes
from ._places import parse_frames

# Keys in the `meta` of an input's placeholder: names of its dimensions (_hints.name_tensor_dims), and its name in the
# model.
NAMES = "spyre_dims"
LABEL = "spyre_label"


@dataclasses.dataclass(frozen=True)
class Refusal(CpuOp):
    """Rejected operation with its location in the user's program and the reason of the compiler."""

    def __str__(self) -> str:
        return f"{self.location}: {self.op} stays on the CPU: {self.reason}"


class CompilationRefused(RuntimeError):
    """Graph that cannot be compiled as one program, without a fallback to the CPU."""

    def __init__(self, refusals: list[Refusal], advice: str) -> None:
        self.refusals = refusals
        lines = [f"{refusal.location}: error: {refusal.op} is refused: {refusal.reason}" for refusal in refusals]
        super().__init__("\n".join([*lines, advice]))


class HintRefused(HintError, CompilationRefused, spyre_mlir.CompileError):
    """Hint that cannot be honored, with the line of its `with` statement and the compiler's diagnostics."""

    def __init__(self, message: str, location: Place | None, diagnostics: list[spyre_mlir.Diagnostic]) -> None:
        HintError.__init__(self, message, location)
        self.refusals, self.diagnostics = [], diagnostics


class RejectedGraphError(Exception):
    """Graph that torch-mlir or the compiler rejects; the text is the reason."""


def format_reason(error: spyre_mlir.CompileError) -> str:
    """Returns the compiler's first error on one line, without its location: messages contain the node's location."""
    return " ".join((error.errors[0].message if error.errors else str(error)).split())


def translate_to_torch(message: str) -> str:
    """Removes the op, which the user has not written, and options of tools from a message of the compiler."""
    message = remove_op(" ".join(message.split()))
    advice = "call spyre_mlir.torch.name_tensor_dims(tensor, names) for the inputs"
    return re.sub(r"[,;] give names with (--dims|dims=).*", f"; {advice}", message)


def make_hint_error(graph: torch.fx.Graph, error: spyre_mlir.CompileError) -> HintRefused:
    """Returns the error about the hint that the compiler cannot honor."""
    message = translate_to_torch(format_reason(error))
    if (
        message.startswith(("SPY0403", "SPY0605"))
        and "name_tensor_dims" not in message
        and not any(node.meta.get(NAMES) for node in graph.find_nodes(op="placeholder"))
    ):
        message += "; no input has names: call spyre_mlir.torch.name_tensor_dims(tensor, names)"
    return HintRefused(f"the hint cannot be honored: {message}", find_hint_location(graph, error), error.diagnostics)


def find_hint_location(graph: torch.fx.Graph, error: spyre_mlir.CompileError) -> Place | None:
    """Returns the line of the innermost hint of an error: around the located operations, with a name that it quotes."""
    scopes = {number: scope for node in graph.nodes for number, scope in get_scopes(node).items()}
    places = {(place.file, place.line) for found in error.errors for place in found.places}
    enclosing = {
        number: scope
        for node in graph.nodes
        if places.intersection(parse_frames(node.meta.get("stack_trace")))
        for number, scope in get_scopes(node).items()
    }
    quoted = set(re.findall(r"'([^']+)'", format_reason(error)))
    for candidates in (enclosing, scopes):
        named = [
            number
            for number, scope in candidates.items()
            if quoted.intersection([*scope.get("tiles", {}), *scope.get("work_div", {})])
        ]
        if named or candidates:
            return get_scope_place(candidates[max(named or candidates)])
    return None


def describe_node(node: torch.fx.Node) -> str:
    """Describes an operation and the types of its tensors: `aten.cos.default(f32[4, 64])`."""
    tensors = (format_type(operand.meta.get("val")) for operand in node.all_input_nodes)
    return f"{node.target}({', '.join(tensors)})"


def format_type(value: object) -> str:
    """Describes the type and shape of a tensor."""
    if isinstance(value, torch.Tensor):
        return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"
    return type(value).__name__
