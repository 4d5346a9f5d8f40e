"""The device "spyre". Each test uses a separate process, because a device cannot be unregistered."""

import json
import subprocess
import sys
import textwrap

import pytest

torch = pytest.importorskip("torch", reason="pip install spyre-mlir[torch]")
pytest.importorskip("torch_mlir", reason="pip install spyre-mlir[torch]")

PROLOGUE = """
import torch
from spyre_mlir.torch import declare_tensor_dim, name_tensor_dims, register_device, spyre_hint
torch.manual_seed(0)
register_device()
"""

# The two examples of the design document (working set reduction) unchanged.
EXAMPLE_1 = """
M, K, N = 64, 256, 128

declare_tensor_dim("M", M)
declare_tensor_dim("K", K)
declare_tensor_dim("N", N)


def kernel(x, y, z):
    with spyre_hint(tiles={"M": 8}):
        with spyre_hint(tiles={"K": 4}):
            p = x @ y
        return p + z


x = torch.rand(M, K, dtype=torch.float16).to("spyre")
y = torch.rand(K, N, dtype=torch.float16).to("spyre")
z = torch.rand(M, N, dtype=torch.float16).to("spyre")

name_tensor_dims(x, ["M", "K"])
name_tensor_dims(y, ["K", "N"])
name_tensor_dims(z, ["M", "N"])

print(torch.compile(kernel)(x, y, z))
"""
EXAMPLE_2 = """
def kernel(x_1d, y, z):
    with spyre_hint(tiles={"M": 8, "K": 4}):
        return x_1d.view(M, K) @ y + z

x_1d = torch.rand(M * K, dtype=torch.float16).to("spyre")

name_tensor_dims(x_1d, ["M", "K"])

print(torch.compile(kernel)(x_1d, y, z))
"""
EPILOGUE = """
import json
from spyre_mlir.torch import _cache
for compiled in _cache._programs.values():
    [outer] = compiled.report["explain"]["loops"]
    [inner] = outer["loops"]
    functions = [compiled.report["ops"][op["op"]]["function"] for op in outer["ops"]]
    print(json.dumps([outer["dim"], outer["count"], inner["dim"], inner["count"], functions]))
"""


def run(program):
    process = subprocess.run(
        [sys.executable, "-c", PROLOGUE + textwrap.dedent(program)], capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stderr
    return process.stdout


def test_runs_examples_of_design_document():
    output = run(EXAMPLE_1 + EXAMPLE_2 + EPILOGUE)
    assert output.count("device='spyre')") == 2
    loops = [json.loads(line) for line in output.splitlines() if line.startswith('["M"')]
    assert loops == [["M", 8, "K", 4, ["identity", "batchmatmul", "add", "add"]]] * 2


def test_moves_tensors_to_device_and_back():
    run("""
        x = torch.rand(8, 64)
        y = x.to("spyre")
        assert y.device == torch.device("spyre", 0) and torch.equal(y.cpu(), x) and torch.equal((y + 1).cpu(), x + 1)
        assert torch.ones(3, device="spyre").device.type == "spyre"
        assert repr(torch.ones(1, device="spyre")) == "tensor([1.], device='spyre')"
        """)


def test_compiles_and_trains_modules_on_device():
    run("""
        module = torch.nn.Linear(64, 128).to("spyre")
        x = torch.rand(8, 64, device="spyre")
        compiled = torch.compile(module)(x)
        assert compiled.device.type == "spyre" and torch.allclose(compiled.cpu(), module(x).cpu(), atol=1e-2)
        compiled.sum().backward()
        assert torch.allclose(module.bias.grad.cpu(), torch.full((128,), 8.0))
        """)


def test_writes_in_place_on_device():
    run("""
        cache = torch.zeros(4, 64, device="spyre")

        def write(cache, row):
            cache[1:2] = row
            return cache.sum()

        assert torch.compile(write)(cache, torch.ones(1, 64, device="spyre")).item() == 64
        assert torch.equal(cache.cpu()[1], torch.ones(64))
        """)


def test_creates_and_moves_tensors_in_compiled_function():
    run("""
        def inside(x):
            made = torch.zeros(3, device=x.device)
            counts = torch.histc(x, 8, 0.0, 8.0)
            return x + torch.arange(64, device=x.device), x.to("cpu") + 1, torch.ones(64).to("spyre") + x, made, counts

        x = torch.ones(8, 64, device="spyre")
        for found, expected in zip(torch.compile(inside)(x), inside(x)):
            assert found.device == expected.device and torch.equal(found.cpu(), expected.cpu())
            assert found.device.type == "cpu" or type(found.host) is torch.Tensor
        """)
