"""spyre-mlir: a compiler from linalg on tensors, PyTorch and JAX to the IBM Spyre accelerator, and a simulator that
runs the compiled programs.

>>> program = spyre_mlir.compile("softmax.mlir")
>>> [result] = program.run(array)
"""

from spyre_mlir import _native
from spyre_mlir.errors import ArgumentError, CompileError, Diagnostic, HintError, Place, PlanError, RunError
from spyre_mlir.explanation import explain
from spyre_mlir.export import export_expected
from spyre_mlir.plan import plan
from spyre_mlir.sim import Simulation, Tensor

try:
    from spyre_mlir.program import Program, compile, lower
except ImportError as missing:
    # A build without the compiler still simulates and plans.
    if missing.name not in (None, "spyre_mlir._native"):
        raise
    _reason = str(missing)

    def __getattr__(name: str):
        if name in ("Program", "compile", "lower"):
            raise ImportError(f"spyre_mlir.{name} needs the compiler, which this build does not contain: {_reason}")
        raise AttributeError(f"module 'spyre_mlir' has no attribute {name!r}")


__version__: str = _native.VERSION
__all__ = [
    "ArgumentError",
    "CompileError",
    "Diagnostic",
    "HintError",
    "Place",
    "PlanError",
    "Program",
    "RunError",
    "Simulation",
    "Tensor",
    "compile",
    "explain",
    "export_expected",
    "lower",
    "plan",
]
