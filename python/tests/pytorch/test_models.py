"""Models of Hugging Face as they are, a prompt and a token after it, beside themselves in f32."""

import pytest

torch = pytest.importorskip("torch", reason="pip install spyre-mlir[torch]")
pytest.importorskip("torch_mlir", reason="pip install spyre-mlir[torch]")
pytest.importorskip("transformers", reason="pip install transformers==5.23.0")

from model_table import rows  # noqa: E402
from models import DECODERS, ENCODERS  # noqa: E402

# All that stays on the CPU, with a beginning of the compiler's reason. Experts are grouped by an operation of transformers' own.
LEFT = {
    "Mixtral, 4 experts": {
        "aten.index.Tensor": "'tensor.extract' op chooses rows of its table by integers that may be none of them",
        "aten.histc.default": "torch-mlir refuses it",
        "transformers.grouped_mm_fallback.default": "torch-mlir refuses it",
        "aten.empty_like.default": "'func.return' op reads a tensor that nothing has written",
        "aten.index_put.default": "'func.func' op computes integers beyond 1024",
    },
}


@pytest.mark.parametrize("name", [*DECODERS, *ENCODERS])
def test_agrees_with_itself_in_f32(name):
    for row in rows([name]):
        assert row.error < 1e-2, row
        for found in row.cpu:
            assert found["reason"].startswith(LEFT[name][found["op"].split("(")[0]]), found
