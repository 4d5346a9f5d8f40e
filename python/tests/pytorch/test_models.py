"""Unmodified models of Hugging Face, compared with their results in f32: a prompt, and one more token."""

import pytest

torch = pytest.importorskip("torch", reason="pip install spyre-mlir[torch]")
pytest.importorskip("torch_mlir", reason="pip install spyre-mlir[torch]")
pytest.importorskip("transformers", reason="pip install transformers==5.23.0")

from model_table import measure_models  # noqa: E402
from models import DECODERS, ENCODERS  # noqa: E402

# All operations that run on the CPU, with the beginning of the compiler's reason. An operation of transformers groups
# the experts.
CPU_REASONS = {
    "Mixtral, 4 experts": {
        "aten.index.Tensor": "SPY0240: 'tensor.extract' op indexes a table with integers that may be out of bounds",
        "aten.histc.default": "torch-mlir has no lowering to linalg of aten.histc",
        "aten.cumsum.default": "SPY0243: 'tensor.empty' op expected integers that stay within 32 bits",
        "transformers.grouped_mm_fallback.default": (
            "torch-mlir has no lowering to linalg of transformers.grouped_mm_fallback"
        ),
        "aten.empty_like.default": "SPY0224: 'func.return' op reads a tensor that no op has written",
        "aten.index_put.default": "SPY0240: 'tensor.empty' op computes integers beyond 1024",
    },
}


@pytest.mark.parametrize("name", [*DECODERS, *ENCODERS])
def test_agrees_with_model_in_f32(name):
    for row in measure_models([name]):
        assert row.error < 1e-2, row
        for found in row.cpu:
            assert found["reason"].startswith(CPU_REASONS[name][found["op"].split("(")[0]]), found
