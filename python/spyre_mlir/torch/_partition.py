"""Partitions a graph into parts that the compiler accepts. The compiler decides; there is no list of operations here.

If the complete graph is rejected, each operation is checked on its own. Accepted operations are grouped into the
largest parts without cycles. If a part is still rejected, the operation at which the rejection begins is removed from
it.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Sequence

import torch
from torch.fx import Graph, GraphModule, Node
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupportBase
from torch.fx.passes.tools_common import stable_topological_sort

import spyre_mlir

from ._constants import find_constants, include_constants
from ._hints import drop_hints
from ._importer import check_shapes, list_operations, lower_to_linalg
from ._options import Options
from ._places import find_location
from ._refusal import Refusal, RejectedGraphError, describe_node, format_reason, format_type, make_hint_error
from ._region import Region
from ._signature import build_signature, check_precision

# Later phases depend on the neighbors of an operation.
CHECKED_PHASE = "layout"

_reasons: dict[str, str | None] = {}
_numbers = itertools.count()


class PartitionedGraph:
    """Graph with a `Region` for each accepted part; its other operations run on the CPU."""

    def __init__(self, gm: GraphModule, options: Options) -> None:
        self.gm = gm
        self.number = next(_numbers)
        self.options = options
        self.constants = find_constants(gm.graph)
        self.reasons: dict[Node, str] = {}
        self.check_each()
        self.regions: list[Region] = []
        self.refusals = self.list_rejections()

    def replace_accepted_parts(self) -> None:
        """Replaces the accepted parts by their programs."""
        parts = self.find_accepted_parts()
        self.refusals = self.list_rejections()
        self.regions = [self.replace_part(number, nodes) for number, nodes in enumerate(parts)]
        stable_topological_sort(self.gm)
        self.gm.graph.eliminate_dead_code()
        self.gm.recompile()

    def list_rejections(self) -> list[Refusal]:
        """Returns the operations that are known to fall back to the CPU."""
        return [
            Refusal(describe_node(node), find_location(node), reason)
            for node, reason in self.reasons.items()
            if is_computation(node)
        ]

    def check_each(self) -> None:
        """Checks every operation on its own; a node that unpacks a tuple is checked with the producer of the tuple."""
        for node in list_operations(self.gm.graph):
            if node in self.constants:
                continue
            if node.target is operator.getitem:
                reason = self.reasons.get(node.args[0])
            else:
                reason = self.find_reason(node) and self.find_reason_on_arguments(node)
            if reason is not None:
                self.reasons[node] = reason

    def find_reason_on_arguments(self, node: Node) -> str | None:
        """Returns why the compiler rejects an operation on arguments. PyTorch runs constant operands that cause the
        error."""
        reason, constants = self.find_reason(node), self.constants
        self.constants = constants.difference(node.all_input_nodes)
        found = self.find_reason(node)
        if found is not None:
            self.constants = constants
            return reason
        self.reasons.update(
            (read, reason) for read in node.all_input_nodes if read in constants and read.op == "call_function"
        )
        return None

    def find_reason(self, node: Node) -> str | None:
        """Returns why the compiler rejects an operation with its constant operands; None if it accepts the
        operation."""
        key = f"{self.compute_key(node)} {sorted(self.options.compiler.items())}"
        if key not in _reasons:
            parts = find_getitems(node)
            _reasons[key] = find_rejection(self.extract_part([node, *parts], parts or [node])[0], self.options)
        return _reasons[key]

    def compute_key(self, node: Node) -> str:
        """Returns an operation as text: its name, types and constants."""
        if node.op == "get_attr":
            return f"{node.target} of {self.number}"
        operand_keys = {
            read: self.compute_key(read) if read in self.constants else format_type(read.meta.get("val"))
            for read in node.all_input_nodes
        }
        return f"{node.target}{torch.fx.map_arg((node.args, node.kwargs), operand_keys.__getitem__)}"

    def extract_part(self, nodes: Sequence[Node], outputs: Sequence[Node]) -> tuple[GraphModule, list[Node]]:
        """Returns nodes and their constant operands as a separate graph, and its inputs as nodes of the full graph."""
        graph, copied = Graph(), {}
        inside = include_constants(nodes, self.constants)
        inputs = dict.fromkeys(read for node in inside for read in node.all_input_nodes if read not in set(inside))
        for node in inputs:
            copied[node] = graph.placeholder(node.name)
            copied[node].meta = dict(node.meta)
        for node in inside:
            copied[node] = graph.node_copy(node, copied.__getitem__)
        graph.output(tuple(copied[node] for node in outputs))
        return GraphModule(self.gm, graph), list(inputs)

    def find_accepted_parts(self) -> list[list[Node]]:
        """Returns the accepted parts, each in the order of the graph."""
        accepted_parts: set[frozenset[Node]] = set()
        while True:
            parts = self.propose()
            rejected = next(
                (
                    part
                    for part in parts
                    if frozenset(part) not in accepted_parts and not self.accepts(part, accepted_parts)
                ),
                None,
            )
            if rejected is None:
                return parts
            self.bisect_rejection(rejected)

    def propose(self) -> list[list[Node]]:
        """Returns the largest parts of nodes that are not rejected, without cycles between parts."""
        support = AcceptedNodeSupport(
            lambda node: node.op == "call_function" and node not in self.reasons and node not in self.constants
        )
        partitioner = CapabilityBasedPartitioner(self.gm, support, allows_single_node_partition=True)
        part_numbers = {
            node: number for number, part in enumerate(partitioner.propose_partitions()) for node in part.nodes
        }
        parts: dict[int, list[Node]] = {}
        for node in self.gm.graph.nodes:
            if node in part_numbers:
                parts.setdefault(part_numbers[node], []).append(node)
        return list(parts.values())

    def accepts(self, part: list[Node], accepted_parts: set[frozenset[Node]]) -> bool:
        if self.find_compile_reason(part) is not None:
            return False
        accepted_parts.add(frozenset(part))
        return True

    def find_compile_reason(self, part: Sequence[Node]) -> str | None:
        """Returns why a part is rejected. Hints are ignored: whether they can be honored is checked separately."""
        try:
            Region(self.extract_without_hints(part), self.options)
        except RejectedGraphError as error:
            return str(error)
        return None

    def find_layout_reason(self, part: Sequence[Node]) -> str | None:
        """Returns why a part is rejected in the phases up to layout, which are much faster than a complete
        compilation."""
        return find_rejection(self.extract_without_hints(part), self.options)

    def extract_without_hints(self, part: Sequence[Node]) -> GraphModule:
        copied, _ = self.extract_part(part, find_outputs(part))
        drop_hints(copied.graph)
        return copied

    def bisect_rejection(self, part: Sequence[Node]) -> None:
        """Finds the operation at which the rejection begins, by bisection over the prefixes of the part."""
        groups = [[node, *find_getitems(node)] for node in part if node.target is not operator.getitem]
        query = self.find_layout_reason
        reason = query(part)
        if reason is None:
            query = self.find_compile_reason
            reason = query(part)
        accepted, rejected = 0, len(groups)
        while rejected - accepted > 1:
            middle = (accepted + rejected) // 2
            found = query([node for group in groups[:middle] for node in group])
            if found is None:
                accepted = middle
            else:
                rejected, reason = middle, found
        for node in groups[rejected - 1]:
            self.reasons[node] = reason or "not supported together with its neighbors"

    def replace_part(self, number: int, nodes: list[Node]) -> Region:
        """Replaces a part by a compiled region."""
        outputs = find_outputs(nodes)
        sub, inputs = self.extract_part(nodes, outputs)
        try:
            region = Region(sub, self.options)
        except RejectedGraphError as error:
            if isinstance(error.__cause__, spyre_mlir.CompileError):
                raise make_hint_error(sub.graph, error.__cause__) from error
            raise
        with self.gm.graph.inserting_after(nodes[-1]):
            self.gm.add_submodule(f"spyre_{number}", region)
            call = self.gm.graph.call_module(f"spyre_{number}", tuple(inputs))
        with self.gm.graph.inserting_after(call):
            for position, node in reversed(list(enumerate(outputs))):
                result = self.gm.graph.call_function(operator.getitem, (call, position))
                result.meta = dict(node.meta)
                node.replace_all_uses_with(result)
        for node in reversed(nodes):
            self.gm.graph.erase_node(node)
        return region


def is_computation(node: Node) -> bool:
    """Returns whether an operation computes tensors, not sizes, conditions on sizes, or a member of a tuple."""
    value = node.meta.get("val")
    return (
        node.target is not operator.getitem
        and value is not None
        and not isinstance(value, (torch.SymInt, torch.SymBool, torch.SymFloat))
    )


def find_rejections(gm: GraphModule, options: Options) -> list[Refusal]:
    """Returns the operations of a graph that the compiler rejects when it checks them separately."""
    return PartitionedGraph(gm, options).refusals


def find_getitems(node: Node) -> list[Node]:
    """Returns the `getitem` nodes that unpack the result tuple of an operation."""
    return [user for user in node.users if user.target is operator.getitem]


def find_outputs(part: Sequence[Node]) -> list[Node]:
    """Returns the nodes of a part that have users outside of it."""
    inside = set(part)
    return [node for node in part if not inside.issuperset(node.users)]


class AcceptedNodeSupport(OperatorSupportBase):
    """Adapter that tells PyTorch's partitioner which nodes are accepted."""

    def __init__(self, is_accepted: Callable[[Node], bool]) -> None:
        self.is_accepted = is_accepted

    def is_node_supported(self, submodules: object, node: Node) -> bool:
        return self.is_accepted(node)


def find_rejection(gm: GraphModule, options: Options) -> str | None:
    """Returns the reason why the phases up to layout reject a graph; None if they accept it."""
    try:
        check_shapes(gm.graph)
        signature = build_signature(gm)
        if not all(isinstance(value, torch.Tensor) for value in signature.results):
            raise RejectedGraphError("its result is not a tensor")
        check_precision(signature.tensors.graph, options)
        spyre_mlir.lower(
            lower_to_linalg(signature.tensors, [None] * len(signature.input_positions)).text,
            to=CHECKED_PHASE,
            **options.compiler,
        )
    except RejectedGraphError as error:
        return str(error)
    except spyre_mlir.CompileError as error:
        return format_reason(error)
    return None
