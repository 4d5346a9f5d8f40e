"""The backend of `torch.compile`: AOTAutograd makes graphs without mutation and aliases, and rebuilds both around them."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from functorch.compile import make_boxed_func
from torch._dynamo.backends.common import aot_autograd
from torch.fx import GraphModule

from ._decompositions import table
from ._graph import DynamicGraph, StaticGraph, is_dynamic
from ._hints import drop_hints, has_hints, names_of
from ._options import Options
from ._region import NAMES

log = logging.getLogger("spyre_mlir.torch")

Names = Sequence[tuple[str, ...] | None]


def backend(gm: GraphModule, example_inputs: Sequence[Any], *, options: Mapping[str, Any] | None = None) -> Callable[..., Any]:
    """Compiles a graph of Dynamo. `options` are those of `_options.Options` and of `spyre_mlir.compile`."""
    chosen = Options.of(options)
    names = [names_of(value) for value in example_inputs]
    compile_graph = aot_autograd(
        fw_compiler=functools.partial(compile_forward, options=chosen, names=names),
        bw_compiler=functools.partial(compile_backward, options=chosen),
        inference_compiler=functools.partial(compile_forward, options=chosen, names=names),
        decompositions=table(),
    )
    return compile_graph(gm, example_inputs)


def compile_forward(gm: GraphModule, inputs: Sequence[Any], *, options: Options, names: Names) -> Callable[..., Any]:
    """A graph whose inputs are those that Dynamo saw, in the same order."""
    placeholders = gm.graph.find_nodes(op="placeholder")
    if any(names) and len(placeholders) == len(names):
        for node, of_one in zip(placeholders, names, strict=True):
            node.meta[NAMES] = of_one
    return compiled(gm, "forward", options)


def compile_backward(gm: GraphModule, inputs: Sequence[Any], *, options: Options) -> Callable[..., Any]:
    """A graph of gradients. What it reads has no names, so that hints cannot speak of it."""
    if has_hints(gm.graph):
        log.warning("hints are not applied to the backward graph: what it reads has no names")
        drop_hints(gm.graph)
    return compiled(gm, "backward", options)


def compiled(gm: GraphModule, kind: str, options: Options) -> Callable[..., Any]:
    graph = DynamicGraph if is_dynamic(gm) else StaticGraph
    return make_boxed_func(graph(gm, kind, options))
