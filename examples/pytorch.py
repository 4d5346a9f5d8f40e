"""Compiles a PyTorch module, runs it on the simulator and compares the result with PyTorch.

python3 -m venv V && V/bin/pip install torch==2.15.0 torch-mlir==20261001 numpy
cargo build && PATH=$PWD/target/debug:$PATH V/bin/python examples/pytorch.py
"""

import pathlib
import subprocess
import tempfile

import numpy
import torch
from torch_mlir import fx


def run(module, *inputs):
    """Compiles a module, runs it on the simulator, and returns its first result."""
    folder = pathlib.Path(tempfile.mkdtemp())
    program, bundle, results = folder / "program.mlir", folder / "bundle", folder / "results"
    exported = fx.export_and_import(module, *inputs, output_type="linalg-on-tensors", func_name="main")
    # With debug information, messages of the compiler name the lines of the module.
    program.write_text(exported.operation.get_asm(enable_debug_info=True))
    subprocess.run(["spyre-compile", program, "-o", bundle, "--validate"], check=True)
    input_options = []
    for position, tensor in enumerate(inputs):
        numpy.save(folder / f"arg{position}.npy", tensor.numpy())
        input_options += ["--input", f"arg{position}={folder / f'arg{position}.npy'}"]
    subprocess.run(["spyre-run", bundle, "--output-dir", results, *input_options], check=True)
    return torch.from_numpy(numpy.load(results / "result0.npy"))


torch.manual_seed(0)
layer = torch.nn.TransformerEncoderLayer(256, 4, 512, batch_first=True).eval()
tokens = torch.randn(1, 64, 256)
with torch.no_grad():
    expected = layer(tokens)
    found = run(layer.half(), tokens.half()).float()
error = (found - expected).square().mean().sqrt() / expected.square().mean().sqrt()
print(f"root mean square of the difference from PyTorch in f32: {error:.1e} of the result's")
