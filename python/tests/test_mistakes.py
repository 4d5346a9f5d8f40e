"""User errors in Python: each message names the location, the value found, the expected value, and the remedy.

`test/mistakes.rs` contains the user errors on the command line.
"""

import dataclasses
import pathlib
import re
from collections.abc import Callable
from typing import Any

import numpy
import pytest
from test_program import DYNAMIC_EXP, SOFTMAX

import spyre_mlir

HERE = pathlib.Path(__file__).name
FILES: dict[str, bytes] = {
    "model.onnx": b"\x08\x08\x12\x07pytorch",
    "model.pt": b"PK\x03\x04....model/data.pkl\x80\x02.",
    "model": b"PK\x03\x04....model/data.pkl\x80\x02.",
    "stuff.zip": b"PK\x03\x04....a.txt",
    "weights": b"C\0\0\0\0\0\0\0{}",
    "page": b"<!DOCTYPE html>\n<html></html>\n",
    "notes.md": b"# Notes\n",
    "data.json": b'{"a": 1}\n',
    "plan.json": b'{"version": "0.1.0", "program": "main", "chosen": {}}\n',
    "f.ll": b'; ModuleID = "m"\n',
    "bundle.mlir": b"func.func @sdsc_bundle(%a: !sdscbundle.input_arg<index>) {\n",
    "empty.mlir": b"",
    "zero.npy": b"",
    "text.npy": b"1.0 2.0\n",
    "softmax.mlir": SOFTMAX.encode(),
}


@dataclasses.dataclass(frozen=True)
class Mistake:
    """Wrong call with the exception that it raises and the four parts of its message."""

    name: str
    call: Callable[[], Any]
    kind: str
    place: str
    found: str
    expected: str
    remedy: str


def find_missing_parts(mistake: Mistake, error: Exception) -> list[str]:
    """Returns the parts of a mistake that the message of an error lacks."""
    text = str(error)
    parts = ("place", "found", "expected", "remedy")
    missing = [f"{part}: {getattr(mistake, part)!r}" for part in parts if getattr(mistake, part) not in text]
    if type(error).__name__ != mistake.kind or not type(error).__module__.startswith("spyre_mlir"):
        missing.append(f"kind: {mistake.kind}, and not {type(error).__module__}.{type(error).__name__}")
    # Temporary files, error numbers, and ops and options that the user has not written.
    missing += [
        f"{leak!r} is in the message"
        for leak in (
            "os error",
            "/spyre-",
            "'builtin.module'",
            ":0:0",
            "'func.func' op option",
            "--dim",
            "--write-plan",
        )
        if leak in text
    ]
    return missing


def check_message(mistake: Mistake) -> None:
    """Asserts that the message for a mistake contains all expected parts."""
    with pytest.raises(Exception) as raised:  # noqa: B017, PT011
        mistake.call()
    missing = find_missing_parts(mistake, raised.value)
    assert not missing, f"{missing}: {raised.value}"


def list_names(rows: list[Mistake]) -> list[str]:
    return [row.name for row in rows]


@pytest.fixture(autouse=True)
def write_files(tmp_path, monkeypatch):
    """Writes the files of the calls to the working directory."""
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "folder").mkdir()
    numpy.save(tmp_path / "f32.npy", numpy.zeros((96, 200), "f4"))
    numpy.save(tmp_path / "objects.npy", numpy.array([[1], None], dtype=object), allow_pickle=True)
    numpy.savez(tmp_path / "arrays.npz", x=numpy.zeros(3))
    monkeypatch.chdir(tmp_path)


def compile_softmax(**options: Any) -> spyre_mlir.Program:
    return spyre_mlir.compile(SOFTMAX, **options)


def compile_named(**options: Any) -> spyre_mlir.Program:
    return compile_softmax(dims={0: "row:column"}, **options)


def compile_dynamic(**options: Any) -> spyre_mlir.Program:
    return spyre_mlir.compile(DYNAMIC_EXP, dim_size={"arg0.0": "128:16"}, **options)


def run(*arrays: Any, **options: Any) -> Any:
    return compile_softmax(validate=False).run(*arrays, **options)


X = numpy.zeros((96, 200), "f2")
CSV = "id,lower,upper,size\na,0,3,4\n"
EXPECTED_MLIR = "expected a file of MLIR"

PROGRAMS = [
    Mistake(
        "missing path", lambda: spyre_mlir.compile("nofile.mlir"), "NoSuchFile", "nofile.mlir", "no such file",
        "a path", "give",
    ),
    Mistake(
        "ONNX", lambda: spyre_mlir.compile("model.onnx"), "CompileError", "model.onnx", "an ONNX model", EXPECTED_MLIR,
        "torch-mlir-import-onnx",
    ),
    Mistake(
        "PyTorch", lambda: spyre_mlir.compile("model.pt"), "CompileError", "model.pt", "a file of PyTorch",
        EXPECTED_MLIR, "torch.load",
    ),
    Mistake(
        "PyTorch without suffix", lambda: spyre_mlir.compile("./model\n".strip()), "CompileError", "model",
        "a file of PyTorch", EXPECTED_MLIR, "torch",
    ),
    Mistake(
        "zip", lambda: spyre_mlir.compile("stuff.zip"), "CompileError", "stuff.zip", "a zip archive", EXPECTED_MLIR,
        "unpack it",
    ),
    Mistake(
        "weights", lambda: spyre_mlir.compile("weights"), "CompileError", "weights", "a file of weights", EXPECTED_MLIR,
        "load them into a model",
    ),
    Mistake(
        "HTML", lambda: spyre_mlir.compile("page"), "CompileError", "'page'", "a page of HTML", EXPECTED_MLIR,
        "save the file itself",
    ),
    Mistake(
        "Markdown", lambda: spyre_mlir.compile("notes.md"), "CompileError", "notes.md", "a Markdown text",
        EXPECTED_MLIR, "give the file of a module",
    ),
    Mistake(
        "JSON", lambda: spyre_mlir.compile("data.json"), "CompileError", "data.json", "a JSON file", EXPECTED_MLIR,
        "give the file of a module",
    ),
    Mistake(
        "a plan", lambda: spyre_mlir.compile("plan.json"), "CompileError", "plan.json", "found a plan", EXPECTED_MLIR,
        "give it with plan=",
    ),
    Mistake(
        "LLVM IR", lambda: spyre_mlir.compile("f.ll"), "CompileError", "f.ll", "LLVM IR", EXPECTED_MLIR,
        "export linalg on tensors instead",
    ),
    Mistake(
        "a launch", lambda: spyre_mlir.compile("bundle.mlir"), "CompileError", "bundle.mlir", "one launch of a bundle",
        EXPECTED_MLIR, "Simulation",
    ),
    Mistake(
        "a directory", lambda: spyre_mlir.compile("folder"), "CompileError", "'folder'", "the directory", EXPECTED_MLIR,
        "give a file in it",
    ),
    Mistake(
        "empty file", lambda: spyre_mlir.compile("empty.mlir"), "CompileError", "empty.mlir", "is empty",
        "a function of linalg", "give",
    ),
    Mistake(
        "list", lambda: spyre_mlir.compile([SOFTMAX]), "CompileError", "expected", "builtins.list",
        "MLIR text, bytecode or a path", "give str",
    ),
    Mistake(
        "no phase", lambda: spyre_mlir.lower(SOFTMAX, to="lxx"), "CompileError", "option 'to'", "'lxx'",
        "expected one of", "mean 'lx'?",
    ),
]

OPTIONS = [
    Mistake(
        "misspelt", lambda: compile_softmax(coress=3), "CompileError", "option", "'coress'", "unknown option",
        "did you mean 'cores'?",
    ),
    Mistake(
        "a fraction", lambda: compile_softmax(cores=2.5), "CompileError", "option 'cores'", "2.5 (float)",
        "expected a number", "give a whole number",
    ),
    Mistake(
        "a word", lambda: compile_softmax(cores="many"), "CompileError", "option 'cores'", "'many'",
        "expected a number", "give one such as 8",
    ),
    Mistake(
        "too many", lambda: compile_softmax(cores=33), "CompileError", "option 'cores'", "found 33",
        "expected 1 to 32 cores", "use at most 32",
    ),
    Mistake(
        "validate", lambda: compile_softmax(validate="maybe"), "CompileError", "'validate'", "'maybe'",
        "expected 'auto', True or False", "use one",
    ),
    Mistake(
        "report", lambda: compile_softmax(report="x.json"), "CompileError", "'report'", "'x.json'",
        "expected an option", "program.report_html(path)",
    ),
    Mistake(
        "output", lambda: compile_softmax(o="x"), "CompileError", "option 'o'", "'x'",
        "expected an option of spyre_mlir.compile", "with bundle_dir",
    ),
    Mistake(
        "a plan that is none", lambda: compile_softmax(plan=3), "CompileError", "option 'plan'", "3 (int)",
        "expected a dictionary", "program.plan",
    ),
    Mistake(
        "a plan of others",
        lambda: spyre_mlir.compile(DYNAMIC_EXP, dim_size={"arg0.0": 64}, plan=compile_softmax().plan), "CompileError",
        "option 'plan'", "found the given plan for another program", "expected a plan for this program",
        "remove the file, and the search",
    ),
    Mistake(
        "bundle over a file", lambda: compile_softmax(bundle_dir="f.ll"), "CompileError", "'bundle_dir'",
        "the file 'f.ll'", "a new path", "name another",
    ),
    Mistake(
        "bundle nowhere", lambda: compile_softmax(bundle_dir="a/b/c"), "CompileError", "'bundle_dir'", "'a/b/c'",
        "a path in a directory", "create 'a/b'",
    ),
    Mistake(
        "bundle in /proc", lambda: compile_softmax(bundle_dir="/proc/x"), "CompileError", "'/proc/x'", "No such file",
        "cannot write", "name a",
    ),
    Mistake(
        "bundle to a number", lambda: compile_softmax(bundle_dir=3), "CompileError", "'bundle_dir'", "3 (int)",
        "expected a path", "such as 'out'",
    ),
]

HINTS = [
    Mistake(
        "seven", lambda: compile_named(tiles={"row": 7}), "CompileError", "<program>:3:10", "tile count 7",
        "does not divide", "divisors are 6 and 8",
    ),
    Mistake(
        "unknown name", lambda: compile_named(tiles={"rwo": 4}), "CompileError", "<program>:3:10", "'rwo' for 4",
        "has a dimension", "known dimensions",
    ),
    Mistake(
        "no names", lambda: compile_softmax(tiles={"row": 4}), "CompileError", "<program>:3:10", "'row' for 4",
        "has a dimension", "names with dims={0:",
    ),
    Mistake(
        "a float", lambda: compile_named(tiles={"row": 4.0}), "CompileError", "option 'tiles'", "row: 4.0 (float)",
        "expected a number", "give 4",
    ),
    Mistake(
        "a pair", lambda: compile_named(tiles=[("row", 4)]), "CompileError", "option 'tiles'", "('row', 4)",
        "expected a number or a text", "{'row': 4}",
    ),
    Mistake(
        "names in a list", lambda: compile_softmax(dims={0: ["row", "column"]}), "CompileError", "'dims'",
        "['row', 'column']", "or a text", "'row:column'",
    ),
    Mistake(
        "open size", lambda: spyre_mlir.compile(DYNAMIC_EXP), "CompileError", "<program>:2:1", "'arg0'", "is dynamic",
        "with dim_size={'arg0.0': N}",
    ),
    Mistake(
        "a step that does not divide", lambda: spyre_mlir.compile(DYNAMIC_EXP, dim_size={"arg0.0": "100:16"}),
        "CompileError", "option 'dim_size'", "found 'arg0.0=100:16'", "STEP divides MAX",
        "give one such as 'arg0.0=96:16'",
    ),
]

RUNS = [
    Mistake(
        "no array", lambda: run(), "RunError", "run:", "found 0", "expected 1 argument (arg0: tensor<96x200xf16>)",
        "give an array for each",
    ),
    Mistake(
        "two arrays", lambda: run(X, X), "RunError", "run:", "found 2", "expected 1 argument", "give an array for each"
    ),
    Mistake(
        "by name", lambda: run(arg0=X), "RunError", "run:", "found 'arg0' by name", "expected arrays by position",
        "in the order",
    ),
    Mistake(
        "a dictionary", lambda: run({"x": X}), "RunError", "arg0:", "(dict)", "expected an array of float16",
        "give the arrays by position",
    ),
    Mistake(
        "None", lambda: run(None), "RunError", "arg0:", "found None", "expected an array of float16",
        "give one array for each",
    ),
    Mistake(
        "f64", lambda: run(X.astype("f8")), "RunError", "arg0:", "type float64", "type float16", ".astype('float16')"
    ),
    Mistake(
        "complex", lambda: run(X.astype("c8")), "RunError", "arg0:", "type complex64", "type float16",
        "array.real.astype('float16')",
    ),
    Mistake(
        "text", lambda: run(X.astype("U1")), "RunError", "arg0:", "type <U", "type float16",
        "give numbers: numpy.array(rows",
    ),
    Mistake(
        "other shape", lambda: run(X.T[:3]), "RunError", "arg0:", "found shape (3, 96)", "expected shape (96, 200)",
        "give an array of this shape",
    ),
    Mistake(
        "no file", lambda: run("nofile.npy"), "RunError", "arg0:", "'nofile.npy': No such file",
        "an array, or the path of a .npy", "give",
    ),
    Mistake(
        "empty file", lambda: run("zero.npy"), "RunError", "arg0:", "'zero.npy' with no bytes", "a .npy file",
        "save the array again",
    ),
    Mistake(
        "text file", lambda: run("text.npy"), "RunError", "arg0:", "'text.npy' with no NumPy array", "a .npy file",
        "numpy.loadtxt",
    ),
    Mistake(
        "npz", lambda: run("arrays.npz"), "RunError", "arg0:", "'arrays.npz' with several arrays", "a .npy file",
        "numpy.load(path)[name]",
    ),
    Mistake(
        "pt", lambda: run("model.pt"), "RunError", "arg0:", "'model.pt' with tensors of PyTorch", "a .npy file",
        "torch.load(path)",
    ),
    Mistake(
        "objects", lambda: run("objects.npy"), "RunError", "arg0:", "Object arrays", "'objects.npy'",
        "save numpy.array(rows",
    ),
    Mistake(
        "f32 file", lambda: run("f32.npy"), "RunError", "arg0:", "type float32", "type float16", ".astype('float16')"
    ),
    Mistake(
        "steps", lambda: run(X, max_steps="x"), "RunError", "max_steps:", "found 'x'", "expected a number",
        "leave it out",
    ),
    Mistake(
        "a size of text", lambda: compile_dynamic().run(numpy.zeros((64, 64), "f2"), sizes={"arg0.0": "64"}),
        "RunError", "sizes:", "found {'arg0.0': '64'}", "expected a dictionary from names to integers",
        "such as {'arg0.0': 64}",
    ),
    Mistake(
        "a size that is no multiple", lambda: compile_dynamic().run(numpy.zeros((65, 64), "f2"), sizes={"arg0.0": 65}),
        "RunError", "'arg0.0'", "cannot be 65", "expected a multiple of 16 from 16 to 128", "choose 64 or 80",
    ),
    Mistake(
        "a size of a program of one size", lambda: run(X, sizes={"arg0.0": 96}), "RunError", "'arg0.0'",
        "has no symbolic size", "compiled for one size", "leave the sizes out",
    ),
    Mistake(
        "an array without its size", lambda: compile_dynamic().run(numpy.zeros((64, 64), "f2")), "RunError", "arg0:",
        "found shape (64, 64)", "expected shape (128, 64)", "sizes={'arg0.0': 64}",
    ),
]

EXPECTED_BUNDLE = "expected a bundle directory"
SIMULATIONS = [
    Mistake(
        "nowhere", lambda: spyre_mlir.Simulation("nowhere"), "RunError", "'nowhere'", "without file", EXPECTED_BUNDLE,
        "'spyre-compile FILE -o DIR'",
    ),
    Mistake(
        "program", lambda: spyre_mlir.Simulation("softmax.mlir"), "RunError", "softmax.mlir", "without file",
        EXPECTED_BUNDLE, "compile it first",
    ),
    Mistake(
        "text", lambda: spyre_mlir.Simulation(SOFTMAX), "RunError", "Simulation:", "several lines",
        "the path of a bundle", "spyre_mlir.compile(text)",
    ),
    Mistake(
        "Program", lambda: spyre_mlir.Simulation(compile_softmax()), "RunError", "Simulation:", "(Program)",
        "expected the path", "program.bundle_dir",
    ),
    Mistake(
        "number", lambda: spyre_mlir.Simulation(3), "RunError", "Simulation:", "3 (int)", "expected the path",
        "give a path",
    ),
]

PLANS = [
    Mistake(
        "capacity", lambda: spyre_mlir.plan(CSV), "PlanError", "capacity:", "found none", "expected the bytes",
        "such as 8192",
    ),
    Mistake(
        "a unit", lambda: spyre_mlir.plan(CSV, capacity="8k"), "PlanError", "capacity:", "'8k'",
        "expected a whole number", "such as 8192",
    ),
    Mistake(
        "planner", lambda: spyre_mlir.plan(CSV, capacity=8, planner="best"), "PlanError", "planner:", "'best'",
        "expected one of", "'best-fit'?",
    ),
    Mistake(
        "path", lambda: spyre_mlir.plan("lives.csv", capacity=8), "PlanError", "instance:", "'lives.csv'",
        "JSON or CSV", "read_text()",
    ),
    Mistake(
        "no instance", lambda: spyre_mlir.plan({"a": 1}), "PlanError", "instance:", "missing field", "not an instance",
        "planner.md shows",
    ),
    Mistake(
        "a list", lambda: spyre_mlir.plan([1]), "PlanError", "instance:", "[1] (list)",
        "expected a dictionary, JSON or CSV", "planner.md shows",
    ),
    Mistake(
        "a life that ends early", lambda: spyre_mlir.plan("id,lower,upper,size\na,5,2,4\n", capacity=8), "PlanError",
        "line 2", "'a,5,2,4'", "with lower below upper", "at least 6",
    ),
]
WITHOUT_TORCH = [*PROGRAMS, *OPTIONS, *HINTS, *RUNS, *SIMULATIONS, *PLANS]


@pytest.mark.parametrize("mistake", WITHOUT_TORCH, ids=list_names(WITHOUT_TORCH))
def test_explains_mistake(mistake):
    check_message(mistake)


def test_explains_how_to_run_bundles():
    compile_softmax(bundle_dir="bundle")
    check_message(
        Mistake(
            "", lambda: spyre_mlir.compile("bundle"), "CompileError", "'bundle'", "the bundle directory", EXPECTED_MLIR,
            "spyre_mlir.Simulation",
        )
    )
    check_message(
        Mistake(
            "", lambda: spyre_mlir.Simulation("bundle/bundle_0"), "RunError", "bundle_0'", "without file",
            EXPECTED_BUNDLE, "in 'bundle', give that",
        )
    )
    pathlib.Path("bundle/bundle_0/sdsc_0.json").unlink()
    check_message(
        Mistake(
            "", lambda: spyre_mlir.Simulation("bundle"), "RunError", "sdsc_0.json", "No such file", "compile",
            "compile the program again",
        )
    )


def test_finds_missing_message_parts():
    mistake = Mistake("", lambda: None, "CompileError", "a.mlir", "7", "at most", "give")
    complete = spyre_mlir.CompileError([spyre_mlir.Diagnostic("error", "a.mlir: found 7, at most 6; give 6")])
    assert find_missing_parts(mistake, complete) == []
    for part in ("a.mlir", "7", "at most", "give"):
        incomplete = spyre_mlir.CompileError(
            [spyre_mlir.Diagnostic("error", complete.errors[0].message.replace(part, ""))]
        )
        assert len(find_missing_parts(mistake, incomplete)) == 1
    assert find_missing_parts(mistake, ValueError(str(complete))) == ["kind: CompileError, and not builtins.ValueError"]


@pytest.fixture
def st():
    """Module `spyre_mlir.torch`, with an empty cache of Dynamo."""
    torch = pytest.importorskip("torch", reason="pip install spyre-mlir[torch]")
    pytest.importorskip("torch_mlir", reason="pip install spyre-mlir[torch]")
    import spyre_mlir.torch

    torch._dynamo.reset()
    torch.manual_seed(0)
    return spyre_mlir.torch


def get_line(function: Callable[..., Any], offset: int) -> str:
    return f"{HERE}:{function.__code__.co_firstlineno + offset}"


def branch_on_sum(a):
    if a.sum() > 0:
        return a + 1
    return a - 1


def loop_until_max(a):
    while a.max() < 3:
        a = a * 2
    return a


def select_positive(a):
    return a[a > 0]


def compute_spectrum(a):
    import torch

    return torch.fft.fft(a)


def square_matrix(a):
    return a @ a


def double_values(a):
    return a * 2


def return_input(a):
    return a


FLOAT = "float16[64, 128]"
SHAPES = "torch.where(condition, x, 0)"


@pytest.mark.parametrize(
    ("function", "dtype", "kind", "line", "found", "expected", "remedy"),
    [
        (
            branch_on_sum, "float16", "CompilationRefused", 1, "one that depends on values",
            "sizes and branches that depend on shapes only", SHAPES,
        ),
        (
            loop_until_max, "float16", "CompilationRefused", 1, "one that depends on values",
            "sizes and branches that depend on shapes only", SHAPES,
        ),
        (
            select_positive, "float16", "CompilationRefused", 1, "aten.index.Tensor has a size that depends on values",
            "programs have fixed sizes", SHAPES,
        ),
        (
            compute_spectrum, "float32", "CompilationRefused", 3, "aten.fft_fft.default(float32[64, 128])",
            "has no lowering", "on the CPU",
        ),
        (
            square_matrix, "float16", "CompilationRefused", 1, "[64, 128] X [64, 128]", "must have same reduction dim",
            "in PyTorch first",
        ),
        (
            double_values, "int16", "CompileError", 1, "xi16>", "expected runtime integers of i8, i32 or i64",
            "convert them before the call",
        ),
        (
            return_input, "float16", "CompilationRefused", None, "inputs and constants only",
            "computed from the inputs", "return a computed tensor",
        ),
    ],
)
def test_rejects_unsupported_functions(st, function, dtype, kind, line, found, expected, remedy):
    import torch

    x = torch.ones(64, 128, dtype=getattr(torch, dtype))
    place = get_line(function, line) if line else "spyre_mlir.torch.compile:"
    check_message(Mistake("", lambda: st.compile(function, x, quiet=True), kind, place, found, expected, remedy))


CALLS = [
    (
        lambda st, x: st.compile(double_values), "spyre_mlir.torch.compile:", "found ()", "expected inputs (a)",
        "pass an example input",
    ),
    (
        lambda st, x: st.compile(double_values, x, x), "spyre_mlir.torch.compile:", f"({FLOAT}, {FLOAT})",
        "expected inputs (a)", "pass an example",
    ),
    (
        lambda st, x: st.compile(double_values, a=x), "spyre_mlir.torch.compile:", "'a' by name", "inputs by position",
        "after the function",
    ),
    (
        lambda st, x: st.compile("model.py", x), "spyre_mlir.torch.compile:", "'model.py'", "a module or a function",
        "spyre_mlir.compile",
    ),
    (
        lambda st, x: st.compile(type("M", (), {}), x), "spyre_mlir.torch.compile:", "the class M",
        "a module or a function", "an instance",
    ),
    (
        lambda st, x: st.compile(double_values, x.numpy()), "input 0:", "NumPy array", "a dense tensor of real numbers",
        "torch.from_numpy(array)",
    ),
    (
        lambda st, x: st.compile(double_values, x.to_sparse()), "input 0:", "torch.sparse_coo",
        "expected a dense tensor", "tensor.to_dense()",
    ),
    (
        lambda st, x: st.compile(double_values, x.cfloat()), "input 0:", "complex64[64, 128]", "of real numbers",
        "torch.view_as_real",
    ),
    (
        lambda st, x: st.compile(double_values, x, quiet=True)(x[:2]), "compiled module:", "found (float16[2, 128])",
        f"expected inputs ({FLOAT})", "compile",
    ),
    (
        lambda st, x: st.compile(double_values, x, quiet=True)(x.float()), "compiled module:", "found (float32",
        f"inputs ({FLOAT})", "compile it for these",
    ),
    (
        lambda st, x: st.compile(double_values, x, quiet=True)(), "compiled module:", "found ()", f"inputs ({FLOAT})",
        "compile it for these",
    ),
    (
        lambda st, x: st.compile(double_values, x, quiet=True)(a=x), "compiled module:", "'a' by name",
        "inputs by position", "give them in order",
    ),
    (
        lambda st, x: st.compile(double_values, x, quiet=True)(x.to("meta")), "compiled module:", "'meta'",
        "tensors with values", "tensor.to('cpu')",
    ),
]


@pytest.mark.parametrize(("call", "place", "found", "expected", "remedy"), CALLS)
def test_rejects_other_arguments(st, call, place, found, expected, remedy):
    import torch

    x = torch.ones(64, 128, dtype=torch.float16)
    check_message(Mistake("", lambda: call(st, x), "ArgumentError", place, found, expected, remedy))


def make_hinted(st, requests, *positional):
    import torch

    def function(a, b):
        with st.spyre_hint(*positional, **requests):
            return a @ b

    a, b = torch.ones(64, 128, dtype=torch.float16), torch.ones(128, 64, dtype=torch.float16)
    return function, st.name_tensor_dims(a, ["M", "K"]), st.name_tensor_dims(b, ["K", "N"])


@pytest.mark.parametrize("frontend", ["compile", "backend"])
@pytest.mark.parametrize(
    ("requests", "positional", "found", "expected", "remedy"),
    [
        (
            {"tiles": {"M": 7}}, (), "tile count 7", "does not divide dimension 'M' of size 64",
            "nearest divisors are 4 and 8",
        ),
        (
            {"tiles": {"Q": 4}}, (), "'Q' for 4 tiles", "no op in the hint scope has a dimension",
            "known dimensions are 'K' and 'M' and 'N'",
        ),
        ({"tile": {"M": 4}}, (), "found 'tile'", "expected one of 'tiles'", "did you mean 'tiles'?"),
        ({"shards": {"M": 4}}, (), "found 'shards'", "expected one of 'tiles'", "use one of these"),
        ({"tiles": 4}, (), "found 4", "expected a dictionary", "give {'M': 8}"),
        ({"tiles": {"M": 4.0}}, (), "found 4.0", "expected a positive integer for 'M'", "give at least 1"),
        ({}, (), "found none", "expected a request", "give tiles={'M': 8}"),
        ({}, ({"M": 4},), "found {'M': 4} by position", "expected requests by name", "give tiles={'M': 8}"),
        ({"tiles": {"M": 2}, "slices": {"M": 2}}, (), "found several", "expected one of 'tiles'", "remove all but one"),
        ({"work_div": {"M": 64}}, (), "found 64", "expected at most 32 slices", "request fewer slices"),
    ],
)
def test_rejects_wrong_hints(st, frontend, requests, positional, found, expected, remedy):
    import torch

    function, a, b = make_hinted(st, requests, *positional)

    def call():
        if frontend == "compile":
            return st.compile(function, a, b, quiet=True)
        return torch.compile(function, backend=st.backend, options={"quiet": True})(a, b)

    with pytest.raises(st.HintError) as raised:
        call()
    place = get_line(function, 1)
    mistake = Mistake("", call, type(raised.value).__name__, place, found, expected, remedy)
    assert find_missing_parts(mistake, raised.value) == [], str(raised.value)


NAMING = [
    (lambda st, x: st.name_tensor_dims(x, "MK"), "found 'MK'", "expected a list of names", "give ['M', 'K']"),
    (
        lambda st, x: st.name_tensor_dims(x, ["unsized"]), "has 1 names", "a tensor of 2 dimensions",
        "call declare_tensor_dim('unsized', size)",
    ),
    (
        lambda st, x: st.name_tensor_dims(x.numpy(), ["M", "K"]), "found numpy.ndarray", "expected a tensor",
        "give an input",
    ),
    (
        lambda st, x: st.name_tensor_dims(x, ["M*N", "K"]), "found 'M*N'", "expected the name of a dimension",
        "without '*'",
    ),
    (lambda st, x: st.declare_tensor_dim("M", "64"), "found '64'", "expected a positive integer", "give at least 1"),
]


@pytest.mark.parametrize(("call", "found", "expected", "remedy"), NAMING)
def test_rejects_wrong_dimension_names(st, call, found, expected, remedy):
    import torch

    x = torch.ones(64, 128, dtype=torch.float16)
    check_message(Mistake("", lambda: call(st, x), "HintError", get_line(call, 0), found, expected, remedy))


@pytest.mark.parametrize(
    ("options", "place", "found", "expected", "remedy"),
    [
        ({"fallback": "gpu"}, "option 'fallback'", "'gpu'", "expected one of 'cpu', 'error'", "use one of these"),
        ({"sizes": 0}, "option 'sizes'", "found 0", "at least 1", "give one such as 16"),
        ({"quiet": 1}, "option 'quiet'", "found 1", "expected True or False", "use one of these"),
        ({"report": "f.ll"}, "option 'report'", "'f.ll'", "expected a directory", "name another path"),
        (
            {"bundle_dir": "x"}, "option 'bundle_dir'", "found 'x'",
            "expected an option that applies to PyTorch programs", "remove it",
        ),
        ({"coress": 1}, "option", "'coress'", "unknown option", "did you mean 'cores'?"),
        ({"cores": 33}, "option 'cores'", "found 33", "expected 1 to 32 cores", "use at most 32"),
    ],
)
def test_rejects_wrong_backend_options(st, options, place, found, expected, remedy):
    import torch

    x = torch.ones(64, 128, dtype=torch.float16)
    call = lambda: torch.compile(double_values, backend=st.backend, options=options)(x)  # noqa: E731
    check_message(Mistake("", call, "OptionError", place, found, expected, remedy))


def test_rejects_values_that_need_the_cpu(st):
    import torch

    options = {"fallback": "error", "quiet": True}
    function = torch.compile(double_values, backend=st.backend, options=options)
    x = torch.ones(64, 128, dtype=torch.float64)
    place, advice = get_line(double_values, 1), "options={'fallback': 'cpu'}"
    check_message(
        Mistake(
            "", lambda: function(x), "CompilationRefused", place, "float64[64, 128]",
            "would compute float64 as float32", advice,
        )
    )
    product = torch.compile(lambda a, b: a * b, backend=st.backend, options=options)
    big = torch.full((4, 64), 2**40)
    check_message(
        Mistake("", lambda: product(big, big), "RunError", "'a': element [0, 0]", "1099511627776", "the range", advice)
    )
    check_message(
        Mistake(
            "", lambda: double_on_meta(st), "ArgumentError", "input 'a'", "on the device 'meta'",
            "a tensor with values", "tensor.to('cpu')",
        )
    )


def double_on_meta(st):
    import torch

    return torch.compile(double_values, backend=st.backend, options={"quiet": True})(torch.ones(4, 64, device="meta"))


@pytest.fixture
def sj():
    """Module `spyre_mlir.jax`."""
    pytest.importorskip("jax", reason="pip install spyre-mlir[jax]")
    import spyre_mlir.jax

    return spyre_mlir.jax


@pytest.mark.parametrize(
    ("call", "kind", "place", "found", "expected", "remedy"),
    [
        (
            lambda sj, x: sj.compile("x.py", x), "ArgumentError", "spyre_mlir.jax.compile:", "found str",
            "expected a function", "spyre_mlir.compile",
        ),
        (
            lambda sj, x: sj.compile(double_values), "ArgumentError", "spyre_mlir.jax.compile:", "found 0",
            "required argument: 'a'", "give one for each",
        ),
        (
            lambda sj, x: sj.compile(double_values, "x"), "ArgumentError", "argument 0:", "'x' (str)",
            "expected an array", "jax.numpy.asarray",
        ),
        (
            lambda sj, x: sj.compile(branch_on_sum, x, quiet=True), "LoweringError", get_line(branch_on_sum, 1),
            "values", "on shapes only", "jax.numpy.where",
        ),
        (
            lambda sj, x: sj.compile(select_positive, x, quiet=True), "LoweringError", get_line(select_positive, 1),
            "values", "on shapes only", "jax.numpy.where",
        ),
        (
            lambda sj, x: sj.compile(double_values, x, quiet=True)(a=x), "ArgumentError", "compiled function:",
            "'a' by name", "by position", "in order",
        ),
        (
            lambda sj, x: sj.compile(double_values, x, quiet=True)(x[:2]), "ArgumentError", "compiled function:",
            "float16[2, 64]", "float16[4, 64]", "compile",
        ),
    ],
)
def test_rejects_wrong_jax_calls(sj, call, kind, place, found, expected, remedy):
    import jax

    check_message(
        Mistake("", lambda: call(sj, jax.numpy.ones((4, 64), "float16")), kind, place, found, expected, remedy)
    )


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("has no name, give names with --dims 0=NAME:NAME", "has no name, give names with dims={0: 'NAME:NAME'}"),
        ("[SPY0007] option 'lx-bytes': no", "SPY0007: option 'lx_bytes': no"),
        ("SPY0105: 'builtin.module' op is empty; give a function", "SPY0105: the module is empty; give a function"),
        ("choose one with --entry NAME", "choose one with entry=NAME"),
        ("give its size with --dim-size arg0.0=N", "give its size with dim_size={'arg0.0': N}"),
        ("remove '--tile-search none'", "remove tile_search='none'"),
        (
            "lower it with 'triton-shared-opt --triton-to-linalg-experimental'",
            "lower it with 'triton-shared-opt --triton-to-linalg-experimental'",
        ),
        (
            "cannot write 'x': No such file or directory (os error 2)",
            "cannot write 'x': No such file or directory; name another path with bundle_dir",
        ),
    ],
)
def test_translates_options_to_python(message, expected):
    from spyre_mlir._terms import translate_to_python

    assert translate_to_python(message) == expected


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (
            "SPY0104: 'foo.bar' belongs to the unsupported dialect 'foo'; expected linalg, tensor, arith, math or tosa "
            "ops; "
            "lower it to linalg on tensors before the export",
            "SPY0104: 'foo.bar' belongs to the unsupported dialect 'foo'; expected linalg, tensor, arith, math or tosa "
            "ops; "
            "write the function with other operations",
        ),
        (
            "SPY0104: 'memref.load' belongs to the unsupported dialect 'memref'; expected linalg, tensor, arith, math "
            "or tosa ops; "
            "export the program before tensors are lowered to memory or to processor code",
            "SPY0104: 'memref.load' belongs to the unsupported dialect 'memref'; expected linalg, tensor, arith, math "
            "or tosa ops; "
            "write the function with other operations",
        ),
        (
            "SPY0200: 'affine.apply' op belongs to an unsupported dialect; lower it to linalg, tensor, arith, math and "
            "spyre ops",
            "SPY0200: 'affine.apply' belongs to an unsupported dialect; write the function with other operations",
        ),
        (
            "SPY0208: 'arith.fptoui' op of runtime values from f16 to i32 is not supported; convert the values before "
            "the export",
            "SPY0208: of runtime values from f16 to i32 is not supported; convert the values in the function that is "
            "compiled",
        ),
        (
            "SPY0206: 'func.func' op expected elements of a device format, found complex<f32>; convert them before the "
            "export",
            "SPY0206: expected elements of a device format, found complex<f32>; convert them before the call",
        ),
    ],
)
def test_translates_advice_for_authors_of_functions(message, expected):
    from spyre_mlir._terms import convert_frontend_error

    found = convert_frontend_error(spyre_mlir.CompileError([spyre_mlir.Diagnostic("error", message)]))
    assert found.errors[0].message == expected


def test_hides_own_source_lines():
    with pytest.raises(spyre_mlir.RunError) as raised:
        run(X, X)
    assert not re.search(r"spyre_mlir/\w+\.py", str(raised.value))
