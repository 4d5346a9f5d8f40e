"""Partitions a graph into parts that the compiler accepts. The compiler decides; there is no list of operations here.

If the complete graph is rejected, each operation is checked on its own. Accepted operations are grouped into the
largest parts without cycles. If a part is rejected nevertheless, the operation at which the rejection begins is removed
from it.
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

from ._hints import drop_hints
from ._importer import calls, check_shapes, linalg_of
from ._known import known_nodes, with_known
from ._options import Options
from ._places import place_of
from ._refusal import NotTaken, Refusal, describe, hint_refusal, reason_of, value_text
from ._region import Region
from ._signature import check_precision, signature_of

# Later phases depend on the neighbors of an operation.
CHECKED_PHASE = "layout"

_verdicts: dict[str, str | None] = {}
_numbers = itertools.count()


class Split:
    """A graph some of whose operations fall back to the CPU, and a `Region` for each accepted part."""

    def __init__(self, gm: GraphModule, options: Options) -> None:
        self.gm = gm
        self.number = next(_numbers)
        self.options = options
        self.known = known_nodes(gm.graph)
        self.reasons: dict[Node, str] = {}
        self.ask_each()
        self.regions: list[Region] = []
        self.refusals = self.found_refusals()

    def divide(self) -> None:
        """Replaces the accepted parts by their programs."""
        parts = self.settle()
        self.refusals = self.found_refusals()
        self.regions = [self.replace(number, nodes) for number, nodes in enumerate(parts)]
        stable_topological_sort(self.gm)
        self.gm.graph.eliminate_dead_code()
        self.gm.recompile()

    def found_refusals(self) -> list[Refusal]:
        """Returns the operations that are known to fall back to the CPU."""
        return [Refusal(describe(node), place_of(node), reason) for node, reason in self.reasons.items() if is_computation(node)]

    def ask_each(self) -> None:
        """Checks every operation on its own; a node that unpacks a tuple is checked with the producer of the tuple."""
        for node in calls(self.gm.graph):
            if node in self.known:
                continue
            if node.target is operator.getitem:
                reason = self.reasons.get(node.args[0])
            else:
                reason = self.verdict(node) and self.verdict_of_given(node)
            if reason is not None:
                self.reasons[node] = reason

    def verdict_of_given(self, node: Node) -> str | None:
        """Returns why the compiler rejects an operation on arguments. PyTorch runs constant operands that cause the
        error."""
        reason, known = self.verdict(node), self.known
        self.known = known.difference(node.all_input_nodes)
        found = self.verdict(node)
        if found is not None:
            self.known = known
            return reason
        self.reasons.update((read, reason) for read in node.all_input_nodes if read in known and read.op == "call_function")
        return None

    def verdict(self, node: Node) -> str | None:
        """Returns why the compiler rejects an operation with its constant operands; None if it accepts the
        operation."""
        key = f"{self.key_of(node)} {sorted(self.options.compiler.items())}"
        if key not in _verdicts:
            parts = parts_of(node)
            _verdicts[key] = refusal_of(self.part_of([node, *parts], parts or [node])[0], self.options)
        return _verdicts[key]

    def key_of(self, node: Node) -> str:
        """Returns an operation as text: its name, types and constants."""
        if node.op == "get_attr":
            return f"{node.target} of {self.number}"
        given = {read: self.key_of(read) if read in self.known else value_text(read.meta.get("val")) for read in node.all_input_nodes}
        return f"{node.target}{torch.fx.map_arg((node.args, node.kwargs), given.__getitem__)}"

    def part_of(self, nodes: Sequence[Node], outputs: Sequence[Node]) -> tuple[GraphModule, list[Node]]:
        """Returns nodes and their constant operands as a separate graph, and its inputs as nodes of the full graph."""
        graph, copied = Graph(), {}
        inside = with_known(nodes, self.known)
        inputs = dict.fromkeys(read for node in inside for read in node.all_input_nodes if read not in set(inside))
        for node in inputs:
            copied[node] = graph.placeholder(node.name)
            copied[node].meta = dict(node.meta)
        for node in inside:
            copied[node] = graph.node_copy(node, copied.__getitem__)
        graph.output(tuple(copied[node] for node in outputs))
        return GraphModule(self.gm, graph), list(inputs)

    def settle(self) -> list[list[Node]]:
        """Returns the accepted parts, each in the order of the graph."""
        taken: set[frozenset[Node]] = set()
        while True:
            parts = self.propose()
            refused = next((part for part in parts if frozenset(part) not in taken and not self.takes(part, taken)), None)
            if refused is None:
                return parts
            self.blame(refused)

    def propose(self) -> list[list[Node]]:
        """Returns the largest parts of nodes that are not rejected, without cycles between parts."""
        support = Support(lambda node: node.op == "call_function" and node not in self.reasons and node not in self.known)
        partitioner = CapabilityBasedPartitioner(self.gm, support, allows_single_node_partition=True)
        home = {node: number for number, part in enumerate(partitioner.propose_partitions()) for node in part.nodes}
        parts: dict[int, list[Node]] = {}
        for node in self.gm.graph.nodes:
            if node in home:
                parts.setdefault(home[node], []).append(node)
        return list(parts.values())

    def takes(self, part: list[Node], taken: set[frozenset[Node]]) -> bool:
        if self.reason_against(part) is not None:
            return False
        taken.add(frozenset(part))
        return True

    def reason_against(self, part: Sequence[Node]) -> str | None:
        """Returns why a part is rejected. Hints are ignored: whether they can be honored is checked separately."""
        try:
            Region(self.plain(part), self.options)
        except NotTaken as error:
            return str(error)
        return None

    def early_reason_against(self, part: Sequence[Node]) -> str | None:
        """Returns why a part is rejected in the phases up to layout, which are much faster than a complete
        compilation."""
        return refusal_of(self.plain(part), self.options)

    def plain(self, part: Sequence[Node]) -> GraphModule:
        copied, _ = self.part_of(part, read_outside(part))
        drop_hints(copied.graph)
        return copied

    def blame(self, part: Sequence[Node]) -> None:
        """Finds the operation at which the rejection begins, by bisection over the prefixes of the part."""
        steps = [[node, *parts_of(node)] for node in part if node.target is not operator.getitem]
        ask = self.early_reason_against
        reason = ask(part)
        if reason is None:
            ask = self.reason_against
            reason = ask(part)
        accepted, refused = 0, len(steps)
        while refused - accepted > 1:
            middle = (accepted + refused) // 2
            found = ask([node for step in steps[:middle] for node in step])
            if found is None:
                accepted = middle
            else:
                refused, reason = middle, found
        for node in steps[refused - 1]:
            self.reasons[node] = reason or "not supported together with its neighbors"

    def replace(self, number: int, nodes: list[Node]) -> Region:
        """Replaces a part by a compiled region."""
        outputs = read_outside(nodes)
        sub, inputs = self.part_of(nodes, outputs)
        try:
            region = Region(sub, self.options)
        except NotTaken as error:
            if isinstance(error.__cause__, spyre_mlir.CompileError):
                raise hint_refusal(sub.graph, error.__cause__) from error
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
    """Returns whether an operation computes tensors, and not sizes, conditions on them, or a member of a tuple."""
    value = node.meta.get("val")
    return (
        node.target is not operator.getitem and value is not None and not isinstance(value, (torch.SymInt, torch.SymBool, torch.SymFloat))
    )


def refusals_of(gm: GraphModule, options: Options) -> list[Refusal]:
    """Returns the operations of a graph that the compiler refuses on their own."""
    return Split(gm, options).refusals


def parts_of(node: Node) -> list[Node]:
    """Returns the `getitem` nodes that take the tensors out of an operation's tuple."""
    return [user for user in node.users if user.target is operator.getitem]


def read_outside(part: Sequence[Node]) -> list[Node]:
    """Returns the nodes of a part that have users outside of it."""
    inside = set(part)
    return [node for node in part if not inside.issuperset(node.users)]


class Support(OperatorSupportBase):
    """Adapter that tells PyTorch's partitioner which nodes are accepted."""

    def __init__(self, is_taken: Callable[[Node], bool]) -> None:
        self.is_taken = is_taken

    def is_node_supported(self, submodules: object, node: Node) -> bool:
        return self.is_taken(node)


def refusal_of(gm: GraphModule, options: Options) -> str | None:
    try:
        check_shapes(gm.graph)
        signature = signature_of(gm)
        if not all(isinstance(value, torch.Tensor) for value in signature.results):
            raise NotTaken("its result is not a tensor")
        check_precision(signature.tensors.graph, options)
        spyre_mlir.lower(linalg_of(signature.tensors, [None] * len(signature.kept)).text, to=CHECKED_PHASE, **options.compiler)
    except NotTaken as error:
        return str(error)
    except spyre_mlir.CompileError as error:
        return reason_of(error)
    return None
