"""The compiler, the simulator and the planner from Python."""

import gc
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy
import pytest

import spyre_mlir

SOFTMAX = """
func.func @softmax(%x: tensor<96x200xf16>) -> tensor<96x200xf16> {
  %max = spyre.reduce max(%x) dims [1] : tensor<96x200xf16> -> tensor<96x1xf16>
  %shifted = spyre.pointwise sub(%x, %max) : (tensor<96x200xf16>, tensor<96x1xf16>) -> tensor<96x200xf16>
  %exp = spyre.pointwise exp(%shifted) : tensor<96x200xf16>
  %sum = spyre.reduce sum(%exp) dims [1] : tensor<96x200xf16> -> tensor<96x1xf16>
  %result = spyre.pointwise realdiv(%exp, %sum) : (tensor<96x200xf16>, tensor<96x1xf16>) -> tensor<96x200xf16>
  return %result : tensor<96x200xf16>
}
"""

#: Program that adds 1 to elements of a type.
ADD_ONE = """
func.func @add(%x: tensor<70xTYPE>) -> tensor<70xTYPE> {
  %one = arith.constant 1.0 : TYPE
  %empty = tensor.empty() : tensor<70xTYPE>
  %result = linalg.generic {
      indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : tensor<70xTYPE>) outs(%empty : tensor<70xTYPE>) {
  ^bb0(%in: TYPE, %out: TYPE):
    %sum = arith.addf %in, %one : TYPE
    linalg.yield %sum : TYPE
  } -> tensor<70xTYPE>
  return %result : tensor<70xTYPE>
}
"""

DYNAMIC_EXP = """
func.func @exp(%x: tensor<?x64xf16>) -> tensor<?x64xf16> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x64xf16>
  %empty = tensor.empty(%n) : tensor<?x64xf16>
  %result = linalg.exp ins(%x : tensor<?x64xf16>) outs(%empty : tensor<?x64xf16>) -> tensor<?x64xf16>
  return %result : tensor<?x64xf16>
}
"""

UNSUPPORTED = """
func.func @main(%x: tensor<4xf16>) -> tensor<4xf16> {
  %y = "stablehlo.exponential"(%x) : (tensor<4xf16>) -> tensor<4xf16>
  return %y : tensor<4xf16>
}
"""


def compute_softmax(x: numpy.ndarray) -> numpy.ndarray:
    powers = numpy.exp(x.astype(float) - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def test_compiles_runs_and_validates_program():
    program = spyre_mlir.compile(SOFTMAX, validate=True)
    assert [str(each) for each in program.arguments + program.results] == [
        "arg0: tensor<96x200xf16>",
        "result0: tensor<96x200xf16>",
    ]
    x = numpy.random.default_rng(0).normal(size=(96, 200)).astype(numpy.float16)
    [found] = program.run(x)
    assert found.dtype == numpy.float16 and abs(found - compute_softmax(x)).max() < 1e-3
    assert program.validation == program.validate() and "agree" in program.validation
    # A library starts no process for the comparison with the program as written.
    assert "not compared with the program as written" in program.validation
    assert spyre_mlir.compile(SOFTMAX).report["validation"]["as_written"]["not_compared"]
    assert program.report["total"] and program.simulation.report["total"]
    assert (program.bundle_dir / "program.json").is_file()


def test_validates_on_request():
    program = spyre_mlir.compile(SOFTMAX, validate=False)
    assert program.validation is None
    assert "agree" in program.validate() and "agree" in program.validation


@pytest.mark.parametrize("name, dtype, tolerance", [("f16", "<f2", 4e-3), ("f32", "<f4", 1e-6), ("bf16", "<f4", 2e-2)])
def test_maps_element_types_to_numpy(name, dtype, tolerance):
    program = spyre_mlir.compile(ADD_ONE.replace("TYPE", name))
    x = numpy.linspace(-2, 2, 70).astype(dtype)
    [found] = program.run(x)
    assert found.dtype == numpy.dtype(dtype) and abs(found - (x + 1)).max() <= tolerance


def test_writes_bundle_to_requested_directory(tmp_path):
    program = spyre_mlir.compile(SOFTMAX, bundle_dir=tmp_path / "out")
    assert program.bundle_dir == tmp_path / "out" and (tmp_path / "out" / "program.json").is_file()
    del program
    gc.collect()
    # Any bundle runs without its program.
    simulation = spyre_mlir.Simulation(tmp_path / "out")
    assert simulation.run(numpy.zeros((96, 200), numpy.float16))[0].sum() == pytest.approx(96, rel=1e-2)


def test_deletes_temporary_bundle_with_program():
    program = spyre_mlir.compile(SOFTMAX)
    place = program.bundle_dir
    assert place.is_dir()
    del program
    gc.collect()
    assert not place.exists()


def test_accepts_options_of_the_tool(tmp_path):
    one_core = spyre_mlir.compile(SOFTMAX, cores=1, lx_planner="none")
    assert {op["cores"] for op in one_core.report["ops"]} == {1}
    assert one_core.report["total"]["hbm_read"] > spyre_mlir.compile(SOFTMAX).report["total"]["hbm_read"]
    open_sizes = spyre_mlir.compile(DYNAMIC_EXP, dim_size={"arg0.0": 24})
    assert open_sizes.arguments[0].shape == (24, 64)
    from_file = tmp_path / "softmax.mlir"
    from_file.write_text(SOFTMAX)
    assert spyre_mlir.compile(from_file).results == spyre_mlir.compile(str(from_file)).results


def test_runs_at_symbolic_sizes():
    program = spyre_mlir.compile(DYNAMIC_EXP, dim_size={"arg0.0": "24:8"})
    array = numpy.linspace(-2, 2, 24 * 64, dtype=numpy.float16).reshape(24, 64)
    [complete] = program.run(array)
    [prefix] = program.run(array[:16], sizes={"arg0.0": 16})
    assert prefix.shape == (16, 64) and (prefix == complete[:16]).all()
    sized = program.simulation.at({"arg0.0": 8})
    assert sized.arguments[0].shape == (8, 64) and program.arguments[0].shape == (24, 64)
    with pytest.raises(spyre_mlir.RunError, match="arg0.0"):
        program.run(array[:9], sizes={"arg0.0": 9})
    with pytest.raises(spyre_mlir.RunError, match="has no symbolic size 'M'"):
        program.run(array, sizes={"M": 8})


def test_applies_plan():
    program = spyre_mlir.compile(SOFTMAX)
    repeated = spyre_mlir.compile(SOFTMAX, plan=program.plan)
    assert repeated.plan == program.plan
    files = [
        sorted(path.relative_to(each.bundle_dir) for path in each.bundle_dir.rglob("*.*"))
        for each in (program, repeated)
    ]
    assert files[0] == files[1]
    assert all(
        (program.bundle_dir / name).read_bytes() == (repeated.bundle_dir / name).read_bytes() for name in files[0]
    )
    with pytest.raises(spyre_mlir.CompileError, match="plan"):
        spyre_mlir.compile(DYNAMIC_EXP, dim_size={"arg0.0": 24}, plan=program.plan)


def test_lowers_to_phase():
    assert "spyre.reduce max" in spyre_mlir.lower(SOFTMAX, to="import")
    assert "sdsc.op" in spyre_mlir.lower(SOFTMAX, to="bundle")


def test_locates_rejected_op_and_writes_no_output(tmp_path):
    with pytest.raises(spyre_mlir.CompileError) as raised:
        spyre_mlir.compile(UNSUPPORTED, bundle_dir=tmp_path / "out")
    [error] = raised.value.errors
    assert (error.location.file, error.location.line) == ("<program>", 3)
    assert "stablehlo" in error.message and str(raised.value).startswith("<program>:3:8: error: ")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "options, message",
    [
        ({"coress": 3}, "unknown option 'coress'"),
        ({"cores": 33}, "cores"),
        ({"tile_search": "maybe"}, "expected 'auto' or 'none', found 'maybe'"),
        ({"dim_size": {"arg7.0": 3}}, "arg7"),
    ],
)
def test_rejects_wrong_options(options, message):
    with pytest.raises(spyre_mlir.CompileError, match=message):
        spyre_mlir.compile(SOFTMAX, **options)


def test_rejects_arrays_of_other_shapes_and_types():
    program = spyre_mlir.compile(SOFTMAX)
    for arrays, message in [
        ([], r"expected 1 argument \(arg0: tensor<96x200xf16>\), found 0; give an array for each"),
        ([numpy.zeros((96, 200))], r"found shape \(96, 200\) and type float64; convert it with .astype\('float16'\)"),
        (
            [numpy.zeros((96, 201), numpy.float16)],
            r"found shape \(96, 201\) and type float16; give an array of this shape",
        ),
        ([[[1.0], [2.0, 3.0]]], "NumPy cannot read .*give all rows one length"),
        (
            [numpy.array([[1], None], dtype=object)],
            r"an array of Python objects; give all rows one length, and call numpy.array",
        ),
    ]:
        with pytest.raises(spyre_mlir.RunError, match=message):
            program.run(*arrays)
    with pytest.raises(spyre_mlir.RunError, match="steps"):
        program.run(numpy.zeros((96, 200), numpy.float16), max_steps=10)


def test_rejects_directory_without_bundle(tmp_path):
    with pytest.raises(spyre_mlir.RunError, match="program.json"):
        spyre_mlir.Simulation(tmp_path)


def test_reads_arrays_of_other_memory_orders():
    program = spyre_mlir.compile(SOFTMAX)
    x = numpy.random.default_rng(1).normal(size=(200, 96)).astype(numpy.float16)
    assert (program.run(x.T)[0] == program.run(numpy.ascontiguousarray(x.T))[0]).all()


def test_plans_scratchpad():
    csv = "id,lower,upper,size\na,0,3,4\nb,2,5,4\nc,5,6,8\n"
    planned = spyre_mlir.plan(csv, capacity=8)
    assert planned["optimal"] and planned["hbm_bytes_left"] == 0 and set(planned["addresses"]) == {"a", "b", "c"}
    with pytest.raises(spyre_mlir.PlanError, match="capacity: expected the bytes of the scratchpad .* found none"):
        spyre_mlir.plan(csv)
    with pytest.raises(ValueError, match="did you mean 'best-fit'"):
        spyre_mlir.plan(csv, capacity=8, planner="best")


def read_page_data(page: pathlib.Path) -> dict:
    """Returns the JSON data of a report page."""
    return json.loads(
        re.search(r'<script type="application/json" id="data">(.*?)</script>', page.read_text(), re.DOTALL).group(1)
    )


def test_writes_report_page_with_program_lines(tmp_path):
    program = spyre_mlir.compile(SOFTMAX)
    program.report_html(tmp_path / "given.html")
    data = read_page_data(tmp_path / "given.html")
    assert data["report"]["ops"] and [source["file"] for source in data["sources"]] == ["<program>"]
    assert data["sources"][0]["lines"] == SOFTMAX.splitlines()
    assert data["report"]["ops"][0]["location"].startswith("<program>:")
    spyre_mlir.compile(SOFTMAX).report_html(tmp_path / "again.html")
    assert (tmp_path / "given.html").read_bytes() == (tmp_path / "again.html").read_bytes()
    file = tmp_path / "softmax.mlir"
    file.write_text(SOFTMAX)
    spyre_mlir.compile(file).report_html(tmp_path / "file.html")
    assert read_page_data(tmp_path / "file.html")["sources"][0]["file"] == str(file)


def test_hides_files_named_by_program(tmp_path):
    secret = tmp_path / "secret.py"
    secret.write_text("password\n")
    text = f"""
    func.func @main(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {{
      %y = spyre.pointwise exp(%x) : tensor<64x64xf16> loc("{secret}":1:1)
      return %y : tensor<64x64xf16>
    }}"""
    program = spyre_mlir.compile(text)
    assert program.report["ops"][0]["location"] == f"{secret}:1:1"
    program.report_html(tmp_path / "page.html")
    assert read_page_data(tmp_path / "page.html")["sources"] == []
    program.report_html(tmp_path / "page.html", sources=[secret])
    assert read_page_data(tmp_path / "page.html")["sources"] == [{"file": str(secret), "lines": ["password"]}]


def test_reads_modules_and_arguments_from_locations(tmp_path):
    text = """
    func.func @main(%x: tensor<64x64xf16> loc("inputs.x"("m.py":1:1)), %y: tensor<64x64xf16>) -> tensor<64x64xf16> {
      %z = spyre.pointwise add(%x, %y) : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
          loc("layers.0.fc"("m.py":3:1))
      return %z : tensor<64x64xf16>
    }"""
    program = spyre_mlir.compile(text)
    [op] = program.report["ops"]
    assert (op["module"], op["location"]) == ("layers.0.fc", "m.py:3:1")
    assert program.report["arguments"] == ["inputs.x", "arg1"]
    program.report_html(tmp_path / "page.html")
    assert read_page_data(tmp_path / "page.html")["report"]["arguments"] == ["inputs.x", "arg1"]
    with pytest.raises(spyre_mlir.CompileError, match="m.py:3:1: note: in module 'layers.0.fc'") as error:
        spyre_mlir.compile(text.replace("xf16", "xi16"))
    assert error.value.errors[0].module == "layers.0.fc"
    assert "module" not in spyre_mlir.compile(SOFTMAX).report["ops"][0]


def test_releases_interpreter_lock_during_compilation():
    done = threading.Event()
    thread = threading.Thread(target=lambda: (spyre_mlir.compile(SOFTMAX), done.set()))
    thread.start()
    ticks = 0
    while not done.wait(0.001):
        ticks += 1
    thread.join()
    assert ticks > 0


#: Script that compiles a program whose simulation takes many steps.
LONG_SIMULATION = """
import numpy, signal, time, spyre_mlir
# A test that is started in the background would ignore this signal.
signal.signal(signal.SIGINT, signal.default_int_handler)
size = {size}
tensor = f"tensor<{{size}}x{{size}}xf16>"
text = f'''func.func @main(%a: {{tensor}}, %b: {{tensor}}) -> {{tensor}} {{{{
  %c = spyre.matmul(%a, %b) : ({{tensor}}, {{tensor}}) -> {{tensor}}
  return %c : {{tensor}}
}}}}'''
program = spyre_mlir.compile(text, validate=False)
arrays = [numpy.zeros((size, size), numpy.float16)] * 2
print("ready", flush=True)
"""


def start_interrupted(size: int, script: str) -> subprocess.Popen:
    """Starts a process that runs a script with a long simulation, and sends it SIGINT."""
    words = [sys.executable, "-c", LONG_SIMULATION.format(size=size) + textwrap.dedent(script)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ)
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    return process


def test_raises_keyboard_interrupt_on_ctrl_c():
    process = start_interrupted(
        2048,
        """
        try:
            while True:
                program.run(*arrays)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        """,
    )
    started = time.monotonic()
    assert process.stdout.readline() == "interrupted\n"
    assert time.monotonic() - started < 10
    process.wait(timeout=60)


def run_tool(name: str, *words: str) -> subprocess.CompletedProcess:
    script = f"import sys; from spyre_mlir import _tools; sys.exit(_tools.{name}())"
    return subprocess.run([sys.executable, "-c", script, *words], capture_output=True, text=True, env=os.environ)


def test_returns_exit_codes_of_tools(tmp_path):
    source = tmp_path / "softmax.mlir"
    source.write_text(SOFTMAX)
    out = str(tmp_path / "out")
    compiled = run_tool("spyre_compile", str(source), "-o", out)
    assert (compiled.returncode, compiled.stderr) == (0, "") and "HBM traffic" in compiled.stdout
    assert "element operations" in run_tool("spyre_run", out, "--check", str(source)).stdout
    assert run_tool("spyre_translate", "--check-bundle", out).returncode == 0
    assert run_tool("spyre_compile", "nowhere.mlir", "-o", out).returncode == 1
    assert "spyre.reduce" in run_tool("spyre_opt", str(source)).stdout
    assert run_tool("spyre_plan").returncode == 1
    version = run_tool("spyre_run", "--version")
    assert version.stdout.split()[:2] == ["spyre-run", spyre_mlir.__version__]


def test_contains_type_marker():
    assert pathlib.Path(spyre_mlir.__file__).with_name("py.typed").is_file()
