"""Parts of graphs: which operations stand together, and which one is blamed when a part is refused."""

import re

import pytest

torch = pytest.importorskip("torch", reason="pip install spyre-mlir[torch]")
pytest.importorskip("torch_mlir", reason="pip install spyre-mlir[torch]")

import spyre_mlir  # noqa: E402
import spyre_mlir.torch as st  # noqa: E402
from spyre_mlir.torch import _partition  # noqa: E402


@pytest.fixture
def refuse(monkeypatch):
    """Makes the compiler reject programs whose text contains a pattern: on their own, or only in `compile`."""
    monkeypatch.setattr(_partition, "_verdicts", {})

    def patterns(lowered=None, compiled=None):
        for name, pattern in (("lower", lowered), ("compile", compiled)):
            real = getattr(spyre_mlir, name)

            def refusing(text, *args, real=real, pattern=pattern, **kwargs):
                if pattern and re.search(pattern, text, re.DOTALL):
                    raise spyre_mlir.CompileError([spyre_mlir.Diagnostic("error", f"refuses {pattern}")])
                return real(text, *args, **kwargs)

            monkeypatch.setattr(spyre_mlir, name, refusing)

    return patterns


def run(function, *inputs):
    with torch.no_grad():
        return torch.compile(function, backend=st.backend, dynamic=False)(*inputs)


def chain(x):
    y = torch.exp(x)
    z = torch.tanh(y)
    return torch.sqrt(z) + y


def test_an_operation_that_is_refused_alone_parts_the_graph(refuse, left):
    refuse(lowered=r"math\.tanh", compiled=r"math\.tanh")
    x = torch.rand(8, 64)
    assert torch.allclose(run(chain, x), chain(x), rtol=1e-2)
    assert [line.split(": ", 2)[2] for line in left()] == [r"aten.tanh.default(float32[8, 64]) stays on the CPU: refuses math\.tanh"]


def test_what_is_refused_only_beside_others_is_found_by_bisection(refuse, left):
    refuse(compiled=r"math\.exp.*math\.tanh")
    x = torch.rand(8, 64)
    assert torch.allclose(run(chain, x), chain(x), rtol=1e-2)
    assert [line.split(": ", 2)[2] for line in left()] == [
        r"aten.tanh.default(float32[8, 64]) stays on the CPU: refuses math\.exp.*math\.tanh"
    ]


def test_a_compiler_that_refuses_everything_leaves_all_on_the_cpu(refuse, left):
    refuse(lowered=".", compiled=".")
    x = torch.rand(8, 64)
    assert torch.equal(run(chain, x), chain(x))
    assert len(left()) == 4


def test_results_of_one_operation_stay_together(refuse, left):
    def split(x):
        values, indices = torch.topk(x * 2, 4)
        return torch.tanh(values) * 2, indices

    refuse(lowered=r"math\.tanh", compiled=r"math\.tanh")
    x = (torch.randperm(512) / 512).reshape(8, 64).half()
    found, wanted = run(split, x), split(x)
    assert torch.allclose(found[0], wanted[0], rtol=1e-2) and torch.equal(found[1], wanted[1])
    assert len(left()) == 1


def test_each_part_has_the_constants_that_it_reads(refuse, left, linalg):
    def positions(x):
        steps = torch.arange(64) * 2
        y = torch.tanh(x * steps)
        return y + steps

    refuse(lowered=r"math\.tanh", compiled=r"math\.tanh")
    x = torch.rand(8, 64, dtype=torch.float16)
    assert torch.allclose(run(positions, x), positions(x), rtol=1e-2, atol=1e-2)
    assert len(left()) == 1
    signatures = [re.search(r"func.func @main\((.*?)\)", text)[1] for text in linalg]
    assert len(signatures) > 1 and not any("i64" in signature for signature in signatures)


def test_a_constant_that_is_refused_is_left_alone(left):
    def counted(x):
        return torch.exp(x) + torch.histc(torch.arange(64).float(), 64, 0.0, 64.0)

    x = torch.rand(8, 64)
    assert torch.allclose(run(counted, x), counted(x), rtol=1e-2)
    assert ["aten.histc.default(float32[64]) stays on the CPU" in line for line in left()] == [True]


def test_the_compiler_is_asked_once_for_equal_operations(refuse, monkeypatch):
    asked = []
    refuse(lowered=r"math\.tanh", compiled=r"math\.tanh")
    refusing = spyre_mlir.lower
    monkeypatch.setattr(spyre_mlir, "lower", lambda text, **options: asked.append(text) or refusing(text, **options))
    run(lambda x: torch.tanh(torch.exp(torch.tanh(torch.exp(x)))), torch.rand(8, 64))
    assert len(asked) == 2
