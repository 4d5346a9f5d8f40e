"""FX graphs to linalg on tensors, by torch-mlir, with names of dimensions and hint scopes."""

from __future__ import annotations

import copy
import dataclasses
import functools
import inspect
import warnings
from collections.abc import Sequence

import torch
from torch.fx import Graph, GraphModule, Node
from torch_mlir import fx, ir
from torch_mlir.compiler_utils import TorchMlirCompilerError
from torch_mlir.dialects import torch as torch_dialect
from torch_mlir.extras.fx_importer import FxImporter

from . import _scopes
from ._hints import declared_size
from ._refusal import NotTaken

ENTRY = "main"


@dataclasses.dataclass(frozen=True)
class Linalg:
    """A program as text: with locations for messages, and without them to be told from others."""

    text: str
    bare: str


def linalg_of(gm: GraphModule, names: Sequence[tuple[str, ...] | None]) -> Linalg:
    """A graph whose inputs and outputs are tensors; `names` are those of the inputs."""
    copied = GraphModule(gm, copy.deepcopy(gm.graph))
    place_by_modules(copied.graph)
    wishes = _scopes.mark(copied.graph)
    module = lowered(copied)
    with module.context as context, ir.Location.unknown():
        context.allow_unregistered_dialects = True
        function = next(op for op in module.body.operations if op.operation.name == "func.func")
        write_names(function, names)
        if wishes:
            _scopes.wrap(function.regions[0].blocks[0], wishes)
        text = _scopes.unmark(module.operation.get_asm(enable_debug_info=True))
        return Linalg(text, module.operation.get_asm(enable_debug_info=False))


def place_by_modules(graph: Graph) -> None:
    """Gives a place to operations that PyTorch records no line of, for no line is the user's: the class of the module they are of."""
    for node in calls(graph):
        modules = list((node.meta.get("nn_module_stack") or {}).values())
        if not node.meta.get("stack_trace") and modules:
            path, kind = modules[-1]
            if isinstance(kind, type) and (place := place_of_class(kind)):
                node.meta["stack_trace"] = f'  File "{place[0]}", line {place[1]}, in {path}\n    class {kind.__name__}\n'


@functools.cache
def place_of_class(kind: type) -> tuple[str, int] | None:
    try:
        return inspect.getsourcefile(kind), inspect.getsourcelines(kind)[1]
    except (OSError, TypeError):
        return None


def lowered(gm: GraphModule) -> ir.Module:
    """The graph in linalg. What torch-mlir says of its errors becomes the reason, instead of lines on the terminal."""
    context = ir.Context()
    torch_dialect.register_dialect(context)
    said: list[str] = []
    handler = context.attach_diagnostic_handler(lambda diagnostic: said.append(diagnostic.message) or True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            importer = FxImporter(context=context)
            return fx.stateless_fx_import(gm, output_type="linalg-on-tensors", model_name=ENTRY, fx_importer=importer)
    except TorchMlirCompilerError as error:
        raise NotTaken(f"torch-mlir refuses it: {brief(said[0] if said else str(error))}") from error
    except Exception as error:  # The importer has no type of its own for what it does not know.
        raise NotTaken(f"torch-mlir cannot import it: {type(error).__name__}: {brief(str(error))}") from error
    finally:
        handler.detach()


def brief(text: str) -> str:
    """A message on one line, without the operation that torch-mlir prints behind it."""
    return " ".join(text.split(": %", 1)[0].split())


def write_names(function: ir.Operation, names: Sequence[tuple[str, ...] | None]) -> None:
    """Names of the arguments and declared sizes, as the compiler reads them."""
    if not any(names):
        return
    dims = [{"spyre.dims": ir.ArrayAttr.get([ir.StringAttr.get(name) for name in of_one])} if of_one else {} for of_one in names]
    function.attributes["arg_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(attributes) for attributes in dims])
    used = dict.fromkeys(name for of_one in names for name in of_one or ())
    integer = ir.IntegerType.get_signless(64)
    sizes = {name: ir.IntegerAttr.get(integer, size) for name in used if (size := declared_size(name)) is not None}
    if sizes:
        function.attributes["spyre.dim_sizes"] = ir.DictAttr.get(sizes)


def calls(graph: torch.fx.Graph) -> list[Node]:
    """The operations of a graph."""
    return [node for node in graph.nodes if node.op == "call_function"]
