"""Errors and messages about operations that the compiler rejects."""

from __future__ import annotations

import dataclasses
import re

import torch

import spyre_mlir
from spyre_mlir._terms import without_op
from spyre_mlir.errors import HintError, Place
from spyre_mlir.explanation import Left

from ._hints import scope_place, scopes_of
from ._places import frames_of

# Keys in the `meta` of an input's placeholder: names of its dimensions (_hints.name_tensor_dims), and its name in the
# model.
NAMES = "spyre_dims"
LABEL = "spyre_label"


@dataclasses.dataclass(frozen=True)
class Refusal(Left):
    """An operation that stays on the CPU, where it stands in the user's program, and the compiler's own reason."""

    def __str__(self) -> str:
        return f"{self.location}: {self.op} stays on the CPU: {self.reason}"


class CompilationRefused(RuntimeError):
    """A graph does not go through as a whole, and may not be run on the CPU either."""

    def __init__(self, refusals: list[Refusal], advice: str) -> None:
        self.refusals = refusals
        lines = [f"{refusal.location}: error: {refusal.op} is refused: {refusal.reason}" for refusal in refusals]
        super().__init__("\n".join([*lines, advice]))


class HintRefused(HintError, CompilationRefused, spyre_mlir.CompileError):
    """A hint that cannot be honored, at the line of its `with`, with the compiler's diagnostics."""

    def __init__(self, message: str, location: Place | None, diagnostics: list[spyre_mlir.Diagnostic]) -> None:
        HintError.__init__(self, message, location)
        self.refusals, self.diagnostics = [], diagnostics


class NotTaken(Exception):
    """A graph that torch-mlir or the compiler refuses; the text is their reason."""


def reason_of(error: spyre_mlir.CompileError) -> str:
    """Returns the compiler's first error on one line, without its location: messages have that of the node."""
    return " ".join((error.errors[0].message if error.errors else str(error)).split())


def in_torch_terms(message: str) -> str:
    """Returns a message of the compiler without the op, which the user has not written, and without options of
    tools."""
    message = without_op(" ".join(message.split()))
    advice = "call spyre_mlir.torch.name_tensor_dims(tensor, names) for the inputs"
    return re.sub(r"[,;] give names with (--dims|dims=).*", f"; {advice}", message)


def hint_refusal(graph: torch.fx.Graph, error: spyre_mlir.CompileError) -> HintRefused:
    """Returns the error about the hint that the compiler cannot honor."""
    message = in_torch_terms(reason_of(error))
    if (
        message.startswith(("SPY0403", "SPY0605"))
        and "name_tensor_dims" not in message
        and not any(node.meta.get(NAMES) for node in graph.find_nodes(op="placeholder"))
    ):
        message += "; no input has names: call spyre_mlir.torch.name_tensor_dims(tensor, names)"
    return HintRefused(f"the hint cannot be honored: {message}", place_of_hint(graph, error), error.diagnostics)


def place_of_hint(graph: torch.fx.Graph, error: spyre_mlir.CompileError) -> Place | None:
    """Returns the line of the innermost hint of an error: around the located operations, with a name that it quotes."""
    scopes = {number: scope for node in graph.nodes for number, scope in scopes_of(node).items()}
    places = {(place.file, place.line) for found in error.errors for place in found.places}
    around = {
        number: scope
        for node in graph.nodes
        if places.intersection(frames_of(node.meta.get("stack_trace")))
        for number, scope in scopes_of(node).items()
    }
    quoted = set(re.findall(r"'([^']+)'", reason_of(error)))
    for candidates in (around, scopes):
        named = [
            number for number, scope in candidates.items() if quoted.intersection([*scope.get("tiles", {}), *scope.get("work_div", {})])
        ]
        if named or candidates:
            return scope_place(candidates[max(named or candidates)])
    return None


def describe(node: torch.fx.Node) -> str:
    """Describes an operation and the types of its tensors: `aten.cos.default(f32[4, 64])`."""
    tensors = (value_text(given.meta.get("val")) for given in node.all_input_nodes)
    return f"{node.target}({', '.join(tensors)})"


def value_text(value: object) -> str:
    """Describes the type and shape of a tensor."""
    if isinstance(value, torch.Tensor):
        return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"
    return type(value).__name__
