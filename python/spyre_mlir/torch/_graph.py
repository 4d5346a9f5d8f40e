"""Compiled graphs of AOTAutograd: as one program, or in parts with the remaining operations on the CPU."""

from __future__ import annotations

import collections
import itertools
import json
import logging
import time
from collections.abc import Sequence

import torch
import torch.fx.traceback
from torch.fx import GraphModule
from torch.fx.experimental.proxy_tensor import make_fx

import spyre_mlir
from spyre_mlir._progress import show_line, show_progress
from spyre_mlir.explanation import Compilation, group_by_reason, mark_parts, record

from ._importer import list_operations
from ._options import Options
from ._partition import PartitionedGraph
from ._refusal import LABEL, NAMES, CompilationRefused, Refusal, RejectedGraphError, make_hint_error
from ._region import Region, compiles_without_hints

log = logging.getLogger("spyre_mlir.torch")

_numbers = itertools.count()


class StaticGraph:
    """Graph of static sizes."""

    def __init__(self, gm: GraphModule, kind: str, options: Options) -> None:
        self.kind = kind
        self.options = options
        self.number = next(_numbers)
        self.num_nodes = len(list_operations(gm.graph))
        self.refusals: list[Refusal] = []
        self.reason: str | None = None
        started = time.monotonic()
        with show_progress(f"compiling graph {self.number} ({self.num_nodes} ops)", options.quiet), mark_parts():
            self.module, self.regions = self.compile(gm)
        self.seconds = time.monotonic() - started
        self.report_compilation()

    def compile(self, gm: GraphModule) -> tuple[torch.nn.Module, list[Region]]:
        try:
            region = Region(gm, self.options)
            return region, [region]
        except RejectedGraphError as error:
            self.reason, cause = str(error), error.__cause__
        if isinstance(cause, spyre_mlir.CompileError):
            self.check_without_hints(gm, cause)
        partition = PartitionedGraph(gm, self.options)
        partition.replace_accepted_parts()
        self.refusals = partition.refusals
        if self.options.fallback == "error":
            advice = "with options={'fallback': 'cpu'}, PyTorch runs the unsupported operations"
            raise CompilationRefused(
                self.refusals, f"the graph cannot be compiled as one program: {self.reason}; {advice}"
            )
        return partition.gm, partition.regions

    def check_without_hints(self, gm: GraphModule, cause: spyre_mlir.CompileError) -> None:
        """Raises an error if the graph compiles without its hints: a fallback to the CPU would ignore them."""
        if compiles_without_hints(gm, self.options):
            raise make_hint_error(gm.graph, cause)

    def report_compilation(self) -> None:
        """Shows a line for the graph and a warning for operations on the CPU. Writes the report if it is requested."""
        launched = [region for region in self.regions if region.compiled]
        title = f"graph {self.number} ({self.kind})"
        reports = [region.compiled.report for region in launched]
        compilation = Compilation(title, reports, self.seconds, self.num_nodes, self.refusals)
        record(compilation)
        show_line(title, compilation.format_summary(), self.options.quiet, log)
        if self.reason is not None:
            log.debug("%s cannot be compiled as one program: %s", title, self.reason)
        for refusal in self.refusals:
            log.debug("graph %d: %s", self.number, refusal)
        if self.refusals:
            groups = "\n".join(group_by_reason(self.refusals))
            log.warning(
                "%s: %d of %d ops stay on the CPU (details at debug level):\n%s",
                title,
                len(self.refusals),
                self.num_nodes,
                groups,
            )
        if self.options.report is not None:
            self.write_report(launched)

    def write_report(self, launched: Sequence[Region]) -> None:
        """Writes a JSON file for the graph, and the program and the page of each part."""
        directory = self.options.report
        written = []
        for number, region in enumerate(launched):
            program, page = (f"graph{self.number}_part{number}{suffix}" for suffix in (".mlir", ".html"))
            (directory / program).write_text(region.linalg.text)
            region.compiled.program.report_html(directory / page)
            written.append(
                {"program": program, "page": page, "operations": region.num_nodes, "report": region.compiled.report}
            )
        cpu = [{"op": found.op, "location": found.location, "reason": found.reason} for found in self.refusals]
        content = {"graph": self.number, "kind": self.kind, "operations": self.num_nodes, "parts": written, "cpu": cpu}
        if self.reason is not None:
            content["refused_as_a_whole"] = self.reason
        (directory / f"graph{self.number}.json").write_text(json.dumps(content, indent=2) + "\n")

    def __call__(self, *arguments: object) -> Sequence[object]:
        with torch.no_grad():
            return self.module(*arguments)


class DynamicGraph:
    """Graph of dynamic sizes: traced and compiled for each new size; the most recently used programs are retained."""

    def __init__(self, gm: GraphModule, kind: str, options: Options) -> None:
        self.gm = gm
        self.kind = kind
        self.options = options
        self.graphs_by_size: collections.OrderedDict[tuple[object, ...], StaticGraph] = collections.OrderedDict()

    def __call__(self, *arguments: object) -> Sequence[object]:
        sizes = tuple(
            tuple(argument.shape) if isinstance(argument, torch.Tensor) else argument for argument in arguments
        )
        graph = self.graphs_by_size.get(sizes)
        if graph is None:
            graph = self.graphs_by_size[sizes] = StaticGraph(
                specialize_graph(self.gm, arguments), self.kind, self.options
            )
        self.graphs_by_size.move_to_end(sizes)
        while len(self.graphs_by_size) > self.options.sizes:
            self.graphs_by_size.popitem(last=False)
        return graph(*arguments)


def specialize_graph(gm: GraphModule, arguments: Sequence[object]) -> GraphModule:
    """Traces the graph for the sizes of these arguments, with the names of its inputs and the hints of its nodes."""
    with torch.fx.traceback.preserve_node_meta(), torch.no_grad():
        traced = make_fx(torch.fx.Interpreter(gm).run, tracing_mode="fake")(*arguments)
    for old, new in zip(gm.graph.find_nodes(op="placeholder"), traced.graph.find_nodes(op="placeholder"), strict=True):
        new.meta.update({key: old.meta[key] for key in (NAMES, LABEL) if key in old.meta})
    output = traced.graph.output_node()
    if not isinstance(output.args[0], (tuple, list)):
        output.args = ((output.args[0],),)
    return traced


def is_dynamic(gm: GraphModule) -> bool:
    """Returns whether a size of the graph is dynamic."""
    return any(has_symbol(node.meta.get("val")) for node in gm.graph.nodes)


def has_symbol(value: object) -> bool:
    if isinstance(value, torch.Tensor):
        return any(isinstance(size, torch.SymInt) for size in value.shape)
    if isinstance(value, (tuple, list)):
        return any(map(has_symbol, value))
    return isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool))
