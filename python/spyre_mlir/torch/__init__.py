"""PyTorch programs on the Spyre compiler: a backend for `torch.compile`, ahead-of-time compilation, and hints.

`torch.compile(model, backend="spyre")` needs no import of this package. docs/reference/pytorch.md is the page for
users. Tested with PyTorch 2.15.0, in part with 2.14.1, and torch-mlir 20261001; hints need
`torch.fx.traceback.annotate`.

Importing this package makes `from torch_spyre._inductor import spyre_hint` work where torch_spyre is not installed.
"""

try:
    import torch_mlir as _torch_mlir  # noqa: F401
except ImportError as missing:
    raise ImportError(
        f"spyre_mlir.torch needs PyTorch and torch-mlir: pip install 'spyre-mlir[torch]' ({missing})"
    ) from missing

from spyre_mlir.errors import HintError

from ._backend import backend
from ._device import register_device
from ._hints import declare_tensor_dim, name_tensor_dims, spyre_hint
from ._module import CompiledModule, compile
from ._options import OptionError
from ._refusal import CompilationRefused, Refusal
from ._torch_spyre import register as _register_torch_spyre

_register_torch_spyre()

__all__ = [
    "CompilationRefused",
    "CompiledModule",
    "HintError",
    "OptionError",
    "Refusal",
    "backend",
    "compile",
    "declare_tensor_dim",
    "name_tensor_dims",
    "register_device",
    "spyre_hint",
]
