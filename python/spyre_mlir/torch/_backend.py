"""Backend of `torch.compile`. AOTAutograd builds graphs without mutation and aliases, and restores both at runtime."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from functorch.compile import make_boxed_func
from torch._dynamo.backends.common import aot_autograd
from torch.fx import GraphModule, Node

from spyre_mlir.errors import HintError

from ._decompositions import get_decompositions
from ._graph import DynamicGraph, StaticGraph, is_dynamic
from ._hints import drop_hints, get_names, has_hints
from ._options import OptionError, Options
from ._places import get_argument_name
from ._refusal import LABEL, NAMES, CompilationRefused
from ._user_error import make_unwrapped_error

log = logging.getLogger("spyre_mlir.torch")


def backend(
    gm: GraphModule, example_inputs: Sequence[Any], *, options: Mapping[str, Any] | None = None
) -> Callable[..., Any]:
    """Compiles a graph of Dynamo. `options`: fields of `_options.Options`, and options of `spyre_mlir.compile`."""
    try:
        chosen = Options.parse(options)
        forward = functools.partial(compile_forward, options=chosen, traced_inputs=collect_inputs(gm, example_inputs))
        compile_graph = aot_autograd(
            fw_compiler=forward,
            bw_compiler=functools.partial(compile_backward, options=chosen),
            inference_compiler=forward,
            decompositions=get_decompositions(),
        )
        return compile_graph(gm, example_inputs)
    except (OptionError, HintError, CompilationRefused) as error:
        raise make_unwrapped_error(error) from error.__cause__


def collect_inputs(gm: GraphModule, example_inputs: Sequence[Any]) -> list[dict[str, Any]]:
    """Returns the dimension names of each input that Dynamo traces, and its name in the model."""
    labels = [get_label(node) for node in gm.graph.find_nodes(op="placeholder")]
    if len(labels) != len(example_inputs):
        labels = [None] * len(example_inputs)
    return [{NAMES: get_names(value), LABEL: label} for value, label in zip(example_inputs, labels, strict=True)]


def get_label(node: Node) -> str | None:
    """Returns the name of an input in the user's program, such as `layers.0.weight`."""
    source = getattr(node.meta.get("grapharg"), "source", None)
    return (
        get_argument_name(str(source.name() if callable(source.name) else source.name)) if source is not None else None
    )


def compile_forward(
    gm: GraphModule, inputs: Sequence[Any], *, options: Options, traced_inputs: Sequence[dict[str, Any]]
) -> Callable[..., Any]:
    """Compiles a forward graph. `traced_inputs` describes the inputs that Dynamo traced, in the same order."""
    placeholders = gm.graph.find_nodes(op="placeholder")
    if len(placeholders) == len(traced_inputs):
        for node, traced in zip(placeholders, traced_inputs, strict=True):
            node.meta.update(traced)
    return build_callable(gm, "forward", options)


def compile_backward(gm: GraphModule, inputs: Sequence[Any], *, options: Options) -> Callable[..., Any]:
    """Compiles a graph of gradients. Its inputs have no dimension names, so hints are removed."""
    if has_hints(gm.graph):
        log.warning("hints are not applied to the backward graph, because its inputs have no dimension names")
        drop_hints(gm.graph)
    return build_callable(gm, "backward", options)


def build_callable(gm: GraphModule, kind: str, options: Options) -> Callable[..., Any]:
    graph = DynamicGraph if is_dynamic(gm) else StaticGraph
    return make_boxed_func(graph(gm, kind, options))
