"""Partitions of graphs: the operations of each part, and the operation that causes a rejection."""

import re

import pytest

torch = pytest.importorskip("torch", reason="pip install spyre-mlir[torch]")
pytest.importorskip("torch_mlir", reason="pip install spyre-mlir[torch]")

import spyre_mlir  # noqa: E402
import spyre_mlir.torch as st  # noqa: E402
from spyre_mlir.torch import _partition  # noqa: E402


@pytest.fixture
def reject(monkeypatch):
    """Makes the compiler reject programs whose text contains a pattern: on their own, or only in `compile`."""
    monkeypatch.setattr(_partition, "_reasons", {})

    def set_patterns(lowered=None, compiled=None):
        for name, pattern in (("lower", lowered), ("compile", compiled)):
            original = getattr(spyre_mlir, name)

            def reject_matching(text, *args, original=original, pattern=pattern, **kwargs):
                if pattern and re.search(pattern, text, re.DOTALL):
                    raise spyre_mlir.CompileError([spyre_mlir.Diagnostic("error", f"refuses {pattern}")])
                return original(text, *args, **kwargs)

            monkeypatch.setattr(spyre_mlir, name, reject_matching)

    return set_patterns


def run(function, *inputs):
    with torch.no_grad():
        return torch.compile(function, backend=st.backend, dynamic=False)(*inputs)


def compute_chain(x):
    y = torch.exp(x)
    z = torch.tanh(y)
    return torch.sqrt(z) + y


def test_partitions_graph_at_rejected_operation(reject, fallback_lines):
    reject(lowered=r"math\.tanh", compiled=r"math\.tanh")
    x = torch.rand(8, 64)
    assert torch.allclose(run(compute_chain, x), compute_chain(x), rtol=1e-2)
    assert [line.split(": ", 2)[2] for line in fallback_lines()] == [
        r"aten.tanh.default(float32[8, 64]) stays on the CPU: refuses math\.tanh"
    ]


def test_bisects_rejection_of_neighbors(reject, fallback_lines):
    reject(compiled=r"math\.exp.*math\.tanh")
    x = torch.rand(8, 64)
    assert torch.allclose(run(compute_chain, x), compute_chain(x), rtol=1e-2)
    assert [line.split(": ", 2)[2] for line in fallback_lines()] == [
        r"aten.tanh.default(float32[8, 64]) stays on the CPU: refuses math\.exp.*math\.tanh"
    ]


def test_runs_everything_on_cpu_if_all_is_rejected(reject, fallback_lines):
    reject(lowered=".", compiled=".")
    x = torch.rand(8, 64)
    assert torch.equal(run(compute_chain, x), compute_chain(x))
    assert len(fallback_lines()) == 4


def test_keeps_results_of_one_operation_together(reject, fallback_lines):
    def split_topk(x):
        values, indices = torch.topk(x * 2, 4)
        return torch.tanh(values) * 2, indices

    reject(lowered=r"math\.tanh", compiled=r"math\.tanh")
    x = (torch.randperm(512) / 512).reshape(8, 64).half()
    found, expected = run(split_topk, x), split_topk(x)
    assert torch.allclose(found[0], expected[0], rtol=1e-2) and torch.equal(found[1], expected[1])
    assert len(fallback_lines()) == 1


def test_copies_constants_into_each_part(reject, fallback_lines, linalg):
    def add_positions(x):
        steps = torch.arange(64) * 2
        y = torch.tanh(x * steps)
        return y + steps

    reject(lowered=r"math\.tanh", compiled=r"math\.tanh")
    x = torch.rand(8, 64, dtype=torch.float16)
    assert torch.allclose(run(add_positions, x), add_positions(x), rtol=1e-2, atol=1e-2)
    assert len(fallback_lines()) == 1
    signatures = [re.search(r"func.func @main\((.*?)\)", text)[1] for text in linalg]
    assert len(signatures) > 1 and not any("i64" in signature for signature in signatures)


def test_runs_rejected_constant_on_cpu(fallback_lines):
    def add_histogram(x):
        return torch.exp(x) + torch.histc(torch.arange(64).float(), 64, 0.0, 64.0)

    x = torch.rand(8, 64)
    assert torch.allclose(run(add_histogram, x), add_histogram(x), rtol=1e-2)
    assert ["aten.histc.default(float32[64]) stays on the CPU" in line for line in fallback_lines()] == [True]


def test_checks_equal_operations_once(reject, monkeypatch):
    lowered_texts = []
    reject(lowered=r"math\.tanh", compiled=r"math\.tanh")
    reject_matching = spyre_mlir.lower
    monkeypatch.setattr(
        spyre_mlir, "lower", lambda text, **options: lowered_texts.append(text) or reject_matching(text, **options)
    )
    run(lambda x: torch.tanh(torch.exp(torch.tanh(torch.exp(x)))), torch.rand(8, 64))
    assert len(lowered_texts) == 2
