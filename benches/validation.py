"""Costs of validation, for docs/measurements/performance.md and the constants of src/validate/budget.rs.

    python3 benches/validation.py rates TOOL          nanoseconds of CPU per element operation, by kind of op
    python3 benches/validation.py default TOOL FILE.. wall time of the default validation beside that of the compilation

TOOL is a release build of spyre-compile beside spyre-run. A copy of it alone in a directory has no helper process, so
it validates over the field only.
"""

import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MAPS = "affine_map<(a, b) -> (a, b)>, affine_map<(a, b) -> (a, b)>"
SHAPE = "4096x1024xf16"


def pointwise(body):
    return f"""func.func @main(%x: tensor<{SHAPE}>) -> tensor<{SHAPE}> {{
  %e = tensor.empty() : tensor<{SHAPE}>
  %y = linalg.generic {{indexing_maps = [{MAPS}], iterator_types = ["parallel", "parallel"]}}
      ins(%x : tensor<{SHAPE}>) outs(%e : tensor<{SHAPE}>) {{
  ^bb0(%a: f16, %o: f16):
    {body}
    linalg.yield %r : f16
  }} -> tensor<{SHAPE}>
  return %y : tensor<{SHAPE}>
}}"""


def total():
    return f"""func.func @main(%x: tensor<{SHAPE}>) -> tensor<4096xf16> {{
  %z = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<4096xf16>
  %f = linalg.fill ins(%z : f16) outs(%e : tensor<4096xf16>) -> tensor<4096xf16>
  %y = linalg.reduce {{ arith.addf }} ins(%x : tensor<{SHAPE}>) outs(%f : tensor<4096xf16>) dimensions = [1]
  return %y : tensor<4096xf16>
}}"""


def product(m, k, n):
    return f"""func.func @main(%x: tensor<{m}x{k}xf16>, %w: tensor<{k}x{n}xf16>) -> tensor<{m}x{n}xf16> {{
  %z = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<{m}x{n}xf16>
  %f = linalg.fill ins(%z : f16) outs(%e : tensor<{m}x{n}xf16>) -> tensor<{m}x{n}xf16>
  %y = linalg.matmul ins(%x, %w : tensor<{m}x{k}xf16>, tensor<{k}x{n}xf16>)
      outs(%f : tensor<{m}x{n}xf16>) -> tensor<{m}x{n}xf16>
  return %y : tensor<{m}x{n}xf16>
}}"""


PROGRAMS = {
    "multiplication": pointwise("%r = arith.mulf %a, %a : f16"),
    "4 multiplications": pointwise(
        "%q = arith.mulf %a, %a : f16\n    %s = arith.mulf %q, %a : f16\n"
        "    %t = arith.mulf %s, %q : f16\n    %r = arith.mulf %t, %a : f16"
    ),
    "exponential": pointwise("%r = math.exp %a : f16"),
    "quotient": pointwise("%r = arith.divf %a, %a : f16"),
    "reciprocal square root": pointwise("%r = math.rsqrt %a : f16"),
    "sum of rows": total(),
    "product 512x512x512": product(512, 512, 512),
    "product 64x4096x1024": product(64, 4096, 1024),
}


def cpu_seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, output


def wall_seconds(command):
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return time.perf_counter() - start, done


def rates(tool, directory):
    alone = directory / "alone"
    alone.mkdir()
    shutil.copy(tool, alone / "spyre-compile")
    source, out = directory / "program.mlir", directory / "out"
    print("| program | element operations | field, ns per operation and draw | program as written, ns per operation |")
    print("|---|--:|--:|--:|")
    for name, text in PROGRAMS.items():
        source.write_text(text)
        seconds = []
        for program in (alone / "spyre-compile", tool):
            command = [str(program), str(source), "-o", str(out)]
            without, _ = cpu_seconds([*command, "--validate=off"])
            with_validation, output = cpu_seconds([*command, "--validate"])
            seconds.append(with_validation - without)
        draws, operations = map(int, re.search(r"in (\d+) draws.*?\((\d+) element", output).groups())
        field, written = seconds[0] / draws / operations * 1e9, (seconds[1] - seconds[0]) / operations * 1e9
        print(f"| {name} | {operations:,} | {field:.1f} | {written:.1f} |")


def programs_in(files, directory):
    """Yields the programs of files, of which lit tests have several."""
    for file in map(Path, files):
        parts = re.split(r"^//--- (\S+)\n", file.read_text(), flags=re.MULTILINE)
        if len(parts) == 1:
            yield file
        for name, text in zip(parts[1::2], parts[2::2]):
            if name.endswith(".mlir") and "func.func" in text:
                program = directory / f"{file.stem}-{name}"
                program.write_text(text)
                yield program


def default(tool, directory, files):
    command = [str(tool), "", "-o", str(directory / "out")]
    counts, total_off, total_default, beyond = {}, 0.0, 0.0, []
    for file in programs_in(files, directory):
        command[1] = str(file)
        off, done = wall_seconds([*command, "--validate=off"])
        if done.returncode != 0:
            continue
        with_default, done = wall_seconds(command)
        field = re.search(r"(validated by samples|validated): the files and the imported", done.stdout)
        kind = {None: "not", "validated": "whole", "validated by samples": "samples"}[field and field[1]]
        counts[kind] = counts.get(kind, 0) + 1
        total_off, total_default = total_off + off, total_default + with_default
        if with_default > 2 * off and with_default > off + 0.5:
            beyond.append((file.name, round(off, 2), round(with_default, 2)))
    print(f"validated: {counts}; {total_off:.1f} s without, {total_default:.1f} s with validation; beyond both limits: {beyond}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        if sys.argv[1] == "rates":
            rates(Path(sys.argv[2]), Path(directory))
        else:
            default(Path(sys.argv[2]), Path(directory), sys.argv[3:])
