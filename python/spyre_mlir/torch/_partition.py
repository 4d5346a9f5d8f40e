"""Which operations of a graph the compiler takes: it is asked, there is no list here.

A graph that is refused as a whole is asked operation by operation. What is taken is put together to parts as large as
they can be without circles; a part that is refused all the same loses the operation with which its refusal begins.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence

import torch
from torch.fx import Graph, GraphModule, Node
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupportBase
from torch.fx.passes.tools_common import stable_topological_sort
from torch.fx.passes.utils.fuser_utils import erase_nodes, fuse_as_graphmodule, insert_subgm, topo_sort

import spyre_mlir

from ._hints import drop_hints
from ._importer import calls, linalg_of
from ._options import Options
from ._refusal import CompilationRefused, NotTaken, Refusal, describe, place_of, reason_of, value_text
from ._region import Region
from ._signature import signature_of

# What is behind this phase depends on what stands around an operation.
CHECKED_PHASE = "layout"

_verdicts: dict[str, str | None] = {}


class Split:
    """A graph some of whose operations stay on the CPU: `module` runs it, with a `Region` for each part that is taken."""

    def __init__(self, gm: GraphModule, options: Options) -> None:
        self.gm = gm
        self.options = options
        self.reasons: dict[Node, str] = {}
        self.ask_each()
        parts = self.settle()
        self.refusals = [Refusal(describe(node), place_of(node), reason) for node, reason in self.reasons.items() if node.target is not operator.getitem]
        self.regions = [self.replace(number, nodes) for number, nodes in enumerate(parts)]
        stable_topological_sort(gm)
        gm.recompile()

    def ask_each(self) -> None:
        """Asks the compiler for every operation; what takes a part of a result goes with the operation that makes it."""
        for node in calls(self.gm.graph):
            if node.target is operator.getitem:
                reason = self.reasons.get(node.args[0])
            else:
                reason = verdict(node, self.options)
            if reason is not None:
                self.reasons[node] = reason

    def settle(self) -> list[list[Node]]:
        """Parts that the compiler takes, each in the order of the graph."""
        taken: set[frozenset[Node]] = set()
        while True:
            parts = [topo_sort(list(part.nodes)) for part in self.propose()]
            refused = next((part for part in parts if frozenset(part) not in taken and not self.takes(part, taken)), None)
            if refused is None:
                return parts
            self.blame(refused)

    def propose(self) -> Sequence[object]:
        support = Support(lambda node: node.op == "call_function" and node not in self.reasons)
        return CapabilityBasedPartitioner(self.gm, support, allows_single_node_partition=True).propose_partitions()

    def takes(self, part: list[Node], taken: set[frozenset[Node]]) -> bool:
        if self.reason_against(part) is not None:
            return False
        taken.add(frozenset(part))
        return True

    def reason_against(self, part: list[Node]) -> str | None:
        """Why a part is refused. Hints are left out: whether they can be honoured is another question."""
        copied = fuse_as_graphmodule(self.gm, part, "part", always_return_tuple=True)[0]
        drop_hints(copied.graph)
        try:
            Region(copied, self.options)
        except NotTaken as error:
            return str(error)
        return None

    def blame(self, part: list[Node]) -> None:
        """Finds the operation with which the refusal begins, by bisection over the beginnings of the part."""
        accepted, refused = 0, len(part)
        reason = self.reason_against(part)
        while refused - accepted > 1:
            middle = (accepted + refused) // 2
            found = self.reason_against(part[:middle])
            if found is None:
                accepted = middle
            else:
                refused, reason = middle, found
        node = part[refused - 1]
        for left in [node, *(user for user in node.users if user.target is operator.getitem)]:
            self.reasons[left] = reason or "refused beside its neighbours"

    def replace(self, number: int, nodes: list[Node]) -> Region:
        """Puts a compiled region in the place of a part."""
        name = f"spyre_{number}"
        sub, inputs, outputs = fuse_as_graphmodule(self.gm, nodes, name, always_return_tuple=True)
        try:
            region = Region(sub, self.options)
        except NotTaken as error:
            raise CompilationRefused([], f"the hints cannot be honoured: {error}") from error
        insert_subgm(self.gm, sub, inputs, outputs, nodes[-1])
        erase_nodes(self.gm, nodes)
        setattr(self.gm, name, region)
        return region


class Support(OperatorSupportBase):
    """What the partitioner asks."""

    def __init__(self, is_taken: Callable[[Node], bool]) -> None:
        self.is_taken = is_taken

    def is_node_supported(self, submodules: object, node: Node) -> bool:
        return self.is_taken(node)


def verdict(node: Node, options: Options) -> str | None:
    """Why the compiler refuses an operation on its own, with the constants that it reads; None if it takes it."""
    nodes = [*known_inputs(node), node]
    key = f"{key_of(node)} {sorted(options.compiler.items())}"
    if key not in _verdicts:
        _verdicts[key] = refusal_of(alone(nodes), options)
    return _verdicts[key]


def refusal_of(gm: GraphModule, options: Options) -> str | None:
    try:
        signature = signature_of(gm)
        if not all(isinstance(value, torch.Tensor) for value in signature.results):
            raise NotTaken("its result is no tensor")
        spyre_mlir.lower(linalg_of(signature.tensors, [None] * len(signature.kept)).text, to=CHECKED_PHASE, **options.compiler)
    except NotTaken as error:
        return str(error)
    except spyre_mlir.CompileError as error:
        return reason_of(error)
    return None


def known_inputs(node: Node) -> list[Node]:
    """What an operation reads that is computed from nothing (`arange`, `full`): the compiler may need to know its elements."""
    found: dict[Node, None] = {}

    def is_known(at: Node) -> bool:
        if at in found:
            return True
        known = at.op == "call_function" and all(map(is_known, at.all_input_nodes))
        if known:
            found[at] = None
        return known

    for given in node.all_input_nodes:
        is_known(given)
    return list(found)


def alone(nodes: Iterable[Node]) -> GraphModule:
    """A graph of these nodes, of which the last one is asked for."""
    graph, copied = Graph(), {}
    *_, last = nodes = list(nodes)
    for node in nodes:
        for given in node.all_input_nodes:
            if given not in copied:
                copied[given] = graph.placeholder(given.name)
                copied[given].meta = dict(given.meta)
        copied[node] = graph.node_copy(node, copied.__getitem__)
    parts = [user for user in last.users if user.target is operator.getitem]
    graph.output(tuple(graph.node_copy(part, copied.__getitem__) for part in parts) if parts else (copied[last],))
    gm = GraphModule({}, graph)
    drop_hints(graph)
    return gm


def key_of(node: Node) -> str:
    """An operation as a text: what it is, of which types, with which constants."""
    known = set(known_inputs(node))
    given = {read: key_of(read) if read in known else value_text(read.meta.get("val")) for read in node.all_input_nodes}
    return f"{node.target}{torch.fx.map_arg((node.args, node.kwargs), given.__getitem__)}"
