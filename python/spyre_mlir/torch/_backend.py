"""Backend of `torch.compile`. AOTAutograd makes graphs without mutation and aliases, and rebuilds both around them."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from functorch.compile import make_boxed_func
from torch._dynamo.backends.common import aot_autograd
from torch.fx import GraphModule, Node

from spyre_mlir.errors import HintError

from ._decompositions import table
from ._graph import DynamicGraph, StaticGraph, is_dynamic
from ._hints import drop_hints, has_hints, names_of
from ._options import OptionError, Options
from ._places import argument_name
from ._refusal import LABEL, NAMES, CompilationRefused
from ._user_error import unwrapped

log = logging.getLogger("spyre_mlir.torch")


def backend(gm: GraphModule, example_inputs: Sequence[Any], *, options: Mapping[str, Any] | None = None) -> Callable[..., Any]:
    """Compiles a graph of Dynamo. `options` are those of `_options.Options` and of `spyre_mlir.compile`."""
    try:
        chosen = Options.of(options)
        forward = functools.partial(compile_forward, options=chosen, inputs_seen=inputs_of(gm, example_inputs))
        compile_graph = aot_autograd(
            fw_compiler=forward,
            bw_compiler=functools.partial(compile_backward, options=chosen),
            inference_compiler=forward,
            decompositions=table(),
        )
        return compile_graph(gm, example_inputs)
    except (OptionError, HintError, CompilationRefused) as error:
        raise unwrapped(error) from error.__cause__


def inputs_of(gm: GraphModule, example_inputs: Sequence[Any]) -> list[dict[str, Any]]:
    """Returns what is known of the inputs that Dynamo sees: names of dimensions, and the name in the model."""
    labels = [label_of(node) for node in gm.graph.find_nodes(op="placeholder")]
    if len(labels) != len(example_inputs):
        labels = [None] * len(example_inputs)
    return [{NAMES: names_of(value), LABEL: label} for value, label in zip(example_inputs, labels, strict=True)]


def label_of(node: Node) -> str | None:
    """Returns the name of an input in the user's program, such as `layers.0.weight`."""
    source = getattr(node.meta.get("grapharg"), "source", None)
    return argument_name(str(source.name() if callable(source.name) else source.name)) if source is not None else None


def compile_forward(
    gm: GraphModule, inputs: Sequence[Any], *, options: Options, inputs_seen: Sequence[dict[str, Any]]
) -> Callable[..., Any]:
    """Compiles a graph whose inputs are those that Dynamo saw, in the same order."""
    placeholders = gm.graph.find_nodes(op="placeholder")
    if len(placeholders) == len(inputs_seen):
        for node, seen in zip(placeholders, inputs_seen, strict=True):
            node.meta.update(seen)
    return compiled(gm, "forward", options)


def compile_backward(gm: GraphModule, inputs: Sequence[Any], *, options: Options) -> Callable[..., Any]:
    """A graph of gradients. What it reads has no names, so that hints cannot speak of it."""
    if has_hints(gm.graph):
        log.warning("hints are not applied to the backward graph, because its inputs have no dimension names")
        drop_hints(gm.graph)
    return compiled(gm, "backward", options)


def compiled(gm: GraphModule, kind: str, options: Options) -> Callable[..., Any]:
    graph = DynamicGraph if is_dynamic(gm) else StaticGraph
    return make_boxed_func(graph(gm, kind, options))
