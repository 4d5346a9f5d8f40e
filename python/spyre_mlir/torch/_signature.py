"""Signature of a compiled program: the inputs and outputs of a graph that are computed tensors."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Callable, Sequence

import torch
from torch.fx import Graph, GraphModule, Node

from ._constants import compute_value, find_constants
from ._options import Options
from ._refusal import RejectedGraphError

Arguments = Sequence[object]
Results = Sequence[torch.Tensor]
Output = Callable[[Arguments, Results], object]


@dataclasses.dataclass(frozen=True)
class Signature:
    """Graph of tensors only, with the positions of its inputs in the original graph, and a function for each original
    output."""

    tensors: GraphModule
    input_positions: list[int]
    outputs: list[Output]

    @property
    def results(self) -> list[object]:
        """Result types of the program."""
        return [node.meta.get("val") for node in self.tensors.graph.output_node().args[0]]


def build_signature(gm: GraphModule) -> Signature:
    """Removes unused inputs, outputs that are inputs or constants, and views that share a result."""
    graph = Graph()
    copied: dict[Node, Node] = {}
    input_positions: list[int] = []
    placeholders = gm.graph.find_nodes(op="placeholder")
    for position, node in enumerate(placeholders):
        if is_used_in_program(node):
            copied[node] = graph.node_copy(node)
            input_positions.append(position)
    for node in gm.graph.nodes:
        if node.op not in ("placeholder", "output"):
            if any(read.op == "placeholder" and read not in copied for read in node.all_input_nodes):
                raise RejectedGraphError("it reads a number that is known only when the program runs")
            copied[node] = graph.node_copy(node, copied.__getitem__)
    outputs, results = build_outputs(gm.graph.output_node().args[0], placeholders, find_constants(gm.graph))
    graph.output(tuple(copied[node] for node in results))
    graph.eliminate_dead_code()
    return Signature(GraphModule(gm, graph), input_positions, outputs)


def check_precision(graph: Graph, options: Options) -> None:
    """Raises `RejectedGraphError` if float64 would be computed as float32: PyTorch computes it as requested."""
    constants = find_constants(graph)
    doubles = (
        node
        for node in graph.nodes
        if node not in constants and node.op != "output" and is_float64(node.meta.get("val"))
    )
    if not options.may_narrow and next(doubles, None) is not None:
        raise RejectedGraphError("the device would compute float64 as float32")


def is_float64(value: object) -> bool:
    return isinstance(value, torch.Tensor) and value.dtype == torch.float64


def is_used_in_program(placeholder: Node) -> bool:
    return any(user.op != "output" for user in placeholder.users) and isinstance(
        placeholder.meta.get("val"), torch.Tensor
    )


def build_outputs(
    returned: Sequence[object], placeholders: Sequence[Node], constants: set[Node]
) -> tuple[list[Output], list[Node]]:
    """Returns a function for each output, and the nodes that the program returns, without duplicates."""
    sharing = collections.Counter(find_base(value) for value in dict.fromkeys(returned) if isinstance(value, Node))
    results: dict[Node, int] = {}
    outputs: list[Output] = []
    for value in returned:
        if not isinstance(value, Node):
            outputs.append(return_constant(value))
        elif value.op == "placeholder":
            outputs.append(return_argument(placeholders.index(value)))
        elif value in constants:
            outputs.append(compute_constant(value))
        else:
            base = find_base(value)
            source = base if base.op == "call_function" and sharing[base] > 1 else value
            outputs.append(return_result(results.setdefault(source, len(results)), list_views(source, value)))
    return outputs, list(results)


def is_view(node: Node) -> bool:
    """Returns whether the result of an operation shares the storage of its first operand."""
    if node.op != "call_function" or not isinstance(node.target, torch._ops.OpOverload):
        return False
    arguments = node.target._schema.arguments
    alias = arguments[0].alias_info if arguments else None
    return alias is not None and not alias.is_write and isinstance(node.args[0], Node)


def find_base(node: Node) -> Node:
    """Returns the base of a chain of views."""
    while is_view(node):
        node = node.args[0]
    return node


def list_views(base: Node, view: Node) -> list[Node]:
    """Returns the views that lead from `base` to `view`, in order."""
    found = []
    while view is not base:
        found.append(view)
        view = view.args[0]
    return found[::-1]


def return_constant(value: object) -> Output:
    return lambda arguments, results: value


def compute_constant(node: Node) -> Output:
    """Returns a function for a constant output, which PyTorch computes on the host."""
    return lambda arguments, results: compute_value(node)


def return_argument(position: int) -> Output:
    return lambda arguments, results: arguments[position]


def return_result(number: int, views: Sequence[Node]) -> Output:
    """Returns a function for a result or a view of it, so that two views of one result share its storage."""

    def compute_result(arguments: Arguments, results: Results) -> object:
        tensor = results[number]
        for view in views:
            tensor = view.target(tensor, *view.args[1:], **view.kwargs)
        return tensor

    return compute_result
