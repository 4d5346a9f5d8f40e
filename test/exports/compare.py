"""Compiles exported programs, runs them on the exported inputs, and compares the results with PyTorch or JAX in f32.

Usage: compare.py DIR [--bin FOLDER] [NAME...]
"""

import argparse
import pathlib
import subprocess
import tempfile

import numpy

parser = argparse.ArgumentParser()
parser.add_argument("folder", type=pathlib.Path)
parser.add_argument("--bin", default="target/release")
parser.add_argument("names", nargs="*")
options = parser.parse_args()


def compute_relative_error(found, expected):
    """Returns the root mean square error relative to the root mean square of the expected numbers."""
    found, expected = found.astype(numpy.float64), expected.astype(numpy.float64)
    return numpy.sqrt(((found.reshape(expected.shape) - expected) ** 2).mean() / ((expected**2).mean() or 1))


for name in options.names or sorted(path.stem for path in options.folder.glob("*.mlir")):
    program, arrays = options.folder / f"{name}.mlir", numpy.load(options.folder / f"{name}.npz")
    with tempfile.TemporaryDirectory() as place:
        process = subprocess.run(
            [f"{options.bin}/spyre-compile", program, "-o", f"{place}/bundle"], capture_output=True, text=True
        )
        if process.returncode:
            errors = [line.split("error: ", 1)[1] for line in process.stderr.splitlines() if "error: " in line]
            print(f"{name}: refused: {errors[0] if errors else process.stderr[-200:]}", flush=True)
            continue
        inputs = []
        for argument in arrays.files:
            if argument.startswith("arg"):
                numpy.save(f"{place}/{argument}.npy", arrays[argument])
                inputs += ["--input", f"{argument}={place}/{argument}.npy"]
        process = subprocess.run(
            [f"{options.bin}/spyre-run", f"{place}/bundle", "--output-dir", f"{place}/results", *inputs],
            capture_output=True,
            text=True,
        )
        if process.returncode:
            print(f"{name}: does not run: {process.stderr[-200:]}", flush=True)
            continue
        errors = []
        for result in (array for array in arrays.files if array.startswith("result")):
            error = compute_relative_error(numpy.load(f"{place}/results/{result}.npy"), arrays[result])
            text = f"{error:.2e}"
            if f"f16_{result}" in arrays:
                in_f16, in_format = (
                    compute_relative_error(arrays[f"{kind}_{result}"], arrays[result]) for kind in ("f16", "format")
                )
                text += f" ({error / in_f16:.1f} times PyTorch's in f16, "
                text += f"which op by op in the device's format is {in_format / in_f16:.1f} times)"
            errors.append(text)
        print(f"{name}: root mean square error {', '.join(errors)} of the exporter's", flush=True)
