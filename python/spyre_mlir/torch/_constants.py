"""Constant nodes of an FX graph.

They are attributes, positions (`arange`), filled tensors, and everything that depends only on them. The compiler folds
constants, so each partition that reads a constant node contains a copy of it.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch.fx import Graph, Node


def find_constants(graph: Graph) -> set[Node]:
    """Returns the constant nodes of a graph: the nodes that depend on no input and on no random numbers."""
    constants: set[Node] = set()
    for node in graph.nodes:
        if node.op == "get_attr" or (
            node.op == "call_function" and not node.is_impure() and constants.issuperset(node.all_input_nodes)
        ):
            constants.add(node)
    return constants


def include_constants(nodes: Iterable[Node], constants: set[Node]) -> list[Node]:
    """Returns the nodes in order, each preceded by the constant nodes on which it depends."""
    found: dict[Node, None] = {}

    def visit(node: Node) -> None:
        for read in node.all_input_nodes:
            if read in constants and read not in found:
                visit(read)
        found[node] = None

    for node in nodes:
        visit(node)
    return list(found)


def compute_value(node: Node) -> object:
    """Computes the value of a constant node. The value is not cached, because callers may write to it."""
    values: dict[Node, object] = {}
    for step in include_constants([node], find_constants(node.graph)):
        if step.op == "get_attr":
            values[step] = get_attribute(step)
        else:
            args, kwargs = torch.fx.map_arg((step.args, step.kwargs), values.__getitem__)
            values[step] = step.target(*args, **kwargs)
    return values[node]


def get_attribute(node: Node) -> object:
    """Returns the attribute of the owning module that a `get_attr` node reads."""
    value = node.graph.owning_module
    for name in node.target.split("."):
        value = getattr(value, name)
    return value
