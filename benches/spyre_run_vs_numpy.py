#!/usr/bin/env python3
"""Times spyre-run against NumPy on one core: an elementwise chain of 4096 x 4096 and a product of 1024 x 1024 x 1024.

    cargo build --release && python3 benches/spyre_run_vs_numpy.py

Needs NumPy. spyre-run's time is that of the whole process: loading, making inputs, moving them, executing. NumPy's is that of the same
ops on the same element type (f16), inputs given.
"""

import os
import subprocess
import tempfile
import time

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
import numpy  # noqa: E402  (reads the variables above)

TOOLS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "target", "release")
ROUNDS = 5

CHAIN = """
func.func @chain(%a: tensor<4096x4096xf16>, %b: tensor<4096x4096xf16>, %c: tensor<4096x4096xf16>) -> tensor<4096x4096xf16> {
  %empty = tensor.empty() : tensor<4096x4096xf16>
  %sum = linalg.add ins(%a, %b : tensor<4096x4096xf16>, tensor<4096x4096xf16>) outs(%empty : tensor<4096x4096xf16>) -> tensor<4096x4096xf16>
  %product = linalg.mul ins(%sum, %c : tensor<4096x4096xf16>, tensor<4096x4096xf16>) outs(%empty : tensor<4096x4096xf16>) -> tensor<4096x4096xf16>
  return %product : tensor<4096x4096xf16>
}
"""

PRODUCT = """
func.func @product(%a: tensor<1024x1024xf16>, %b: tensor<1024x1024xf16>) -> tensor<1024x1024xf16> {
  %zero = arith.constant 0.0 : f16
  %empty = tensor.empty() : tensor<1024x1024xf16>
  %fill = linalg.fill ins(%zero : f16) outs(%empty : tensor<1024x1024xf16>) -> tensor<1024x1024xf16>
  %product = linalg.matmul ins(%a, %b : tensor<1024x1024xf16>, tensor<1024x1024xf16>) outs(%fill : tensor<1024x1024xf16>) -> tensor<1024x1024xf16>
  return %product : tensor<1024x1024xf16>
}
"""


def best(run):
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def spyre_run(program):
    with tempfile.TemporaryDirectory() as folder:
        source, bundle = os.path.join(folder, "program.mlir"), os.path.join(folder, "out")
        with open(source, "w") as file:
            file.write(program)
        subprocess.run([os.path.join(TOOLS, "spyre-compile"), source, "-o", bundle, "--validate=off"], check=True, stdout=subprocess.DEVNULL)
        command = ["taskset", "-c", "0", os.path.join(TOOLS, "spyre-run"), bundle]
        return best(lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL))


def main():
    random = numpy.random.default_rng(0)
    a, b, c = (random.standard_normal((4096, 4096)).astype(numpy.float16) for _ in range(3))
    x, y = (random.standard_normal((1024, 1024)).astype(numpy.float16) for _ in range(2))
    x32, y32 = x.astype(numpy.float32), y.astype(numpy.float32)
    chain, product = spyre_run(CHAIN), spyre_run(PRODUCT)
    print("| program | spyre-run | NumPy | ratio |\n|---|---|---|---|")
    for name, ours, theirs in [
        ("(a + b) * c, 4096 x 4096, f16", chain, best(lambda: (a + b) * c)),
        ("1024^3 product, f16", product, best(lambda: x @ y)),
        ("1024^3 product, NumPy in f32", product, best(lambda: x32 @ y32)),
    ]:
        print(f"| {name} | {ours * 1000:.0f} ms | {theirs * 1000:.0f} ms | {ours / theirs:.2f} |")


main()
