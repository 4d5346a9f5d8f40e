"""What is said where the compiler does not take something."""

from __future__ import annotations

import dataclasses

import torch

import spyre_mlir


@dataclasses.dataclass(frozen=True)
class Refusal:
    """An operation that stays on the CPU, where it stands in the user's program, and the compiler's own reason."""

    op: str
    location: str
    reason: str

    def __str__(self) -> str:
        return f"{self.location}: {self.op} is left on the CPU: {self.reason}"


class CompilationRefused(RuntimeError):
    """A graph does not go through as a whole, and may not be run on the CPU either."""

    def __init__(self, refusals: list[Refusal], advice: str) -> None:
        self.refusals = refusals
        super().__init__("\n".join([*map(str, refusals), advice]))


class NotTaken(Exception):
    """A graph that torch-mlir or the compiler refuses; the text is their reason."""


def reason_of(error: spyre_mlir.CompileError) -> str:
    """The compiler's first error on one line, without its place: the place is that of the node."""
    return " ".join((error.errors[0].message if error.errors else str(error)).split())


def place_of(node: torch.fx.Node) -> str:
    """The innermost line of the user's program that a node was traced from, or the module that it belongs to."""
    lines = [line.strip() for line in (node.meta.get("stack_trace") or "").splitlines()]
    frames = [line for line in lines if line.startswith('File "')]
    if not frames:
        modules = [path for path, _ in (node.meta.get("nn_module_stack") or {}).values()]
        return modules[-1] if modules else "unknown line"
    file, line = frames[-1].split('"')[1], frames[-1].split("line ")[1].split(",")[0]
    return f"{file}:{line}"


def describe(node: torch.fx.Node) -> str:
    """An operation and the types of its tensors: `aten.cos.default(f32[4, 64])`."""
    tensors = (value_text(given.meta.get("val")) for given in node.all_input_nodes)
    return f"{node.target}({', '.join(tensors)})"


def value_text(value: object) -> str:
    """The type and shape of a tensor."""
    if isinstance(value, torch.Tensor):
        return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"
    return type(value).__name__
