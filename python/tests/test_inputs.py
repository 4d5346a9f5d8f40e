"""Inputs of users: paths, texts, and files and arrays of other kinds."""

import pathlib

import numpy
import pytest
from test_program import SOFTMAX

import spyre_mlir


@pytest.mark.parametrize(
    "name", ["nofile.mlir", "softmax", "folder/softmax.mlirbc", "no file with blanks", "softmax.mlir "]
)
@pytest.mark.parametrize("call", [spyre_mlir.compile, spyre_mlir.lower])
def test_rejects_string_without_file(name, call):
    with pytest.raises(
        spyre_mlir.CompileError, match=f"no such file: '{name}'.*give a path, or the text of a module"
    ) as error:
        call(name)
    # Callers may catch it as a file error.
    assert isinstance(error.value, FileNotFoundError)
    assert not error.value.errors[0].places


@pytest.mark.parametrize("path", [pathlib.Path("nowhere.mlir"), pathlib.Path("/nowhere/at all.mlir")])
def test_reads_path_object_as_path(path):
    with pytest.raises(FileNotFoundError, match="no such file"):
        spyre_mlir.compile(path)


def test_compiles_text_of_one_line():
    text = "func.func @f(%x: tensor<64x64xf16>) -> tensor<64x64xf16> { return %x : tensor<64x64xf16> }"
    for program in (text, f"module {{ {text} }}", f"// a comment\n{text}", f"  {text}"):
        assert "func.func" in spyre_mlir.lower(program, to="import")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('{"version": "0.1.0", "program": "main", "chosen": {}}', "a plan"),
        ('\n{"chosen": {},\n "program": "main"}', "a plan"),
        ('{"program": "main"}', "a JSON file"),
        ('{"chosen": {}}', "a JSON file"),
    ],
)
def test_recognizes_plan_by_its_keys(text, kind, tmp_path):
    path = tmp_path / "saved"
    path.write_text(text)
    with pytest.raises(spyre_mlir.CompileError, match=f"found {kind}, '{path}'"):
        spyre_mlir.compile(path)


@pytest.mark.parametrize(
    "start", ["#map = affine_map<(d0) -> (d0)>", '"builtin.module"() ({}) : () -> ()', "!t = f16", "{-# #-}"]
)
def test_reads_mlir_beginnings_as_programs(start):
    with pytest.raises(spyre_mlir.CompileError) as error:
        spyre_mlir.compile(start)
    assert not isinstance(error.value, FileNotFoundError)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("model.onnx", "found an ONNX model, .*torch-mlir-import-onnx"),
        ("model.ONNX", "found an ONNX model"),
        ("model.pt", "found a file of PyTorch, .*torch.load"),
        ("model.pt2", "torch.export.load"),
        ("model.py", "found a Python file"),
        ("x.npy", "give arrays to Program.run"),
    ],
)
def test_explains_conversion_of_other_file_kinds(tmp_path, name, message):
    (tmp_path / name).write_bytes(b"\x08\x07")
    for path in (tmp_path / name, name):
        with pytest.raises(spyre_mlir.CompileError, match=message):
            spyre_mlir.compile(path)


def test_rejects_directories(tmp_path):
    with pytest.raises(spyre_mlir.CompileError, match="found the directory"):
        spyre_mlir.compile(tmp_path)
    program = spyre_mlir.compile(SOFTMAX)
    with pytest.raises(spyre_mlir.CompileError, match="found the bundle directory .*spyre_mlir.Simulation"):
        spyre_mlir.compile(program.bundle_dir)


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (3, "found an object of type builtins.int"),
        (None, "found an object of type builtins.NoneType"),
        (lambda x: x, "spyre_mlir.torch.compile or spyre_mlir.jax.compile"),
        ("", "found an empty text"),
        (b" ", "found an empty text"),
    ],
)
def test_rejects_objects_that_are_not_programs(program, message):
    with pytest.raises(spyre_mlir.CompileError, match=message):
        spyre_mlir.compile(program)


def test_reads_arrays_from_files(tmp_path):
    program = spyre_mlir.compile(SOFTMAX)
    x = numpy.random.default_rng(0).normal(size=(96, 200)).astype(numpy.float16)
    numpy.save(tmp_path / "x.npy", x)
    for path in (tmp_path / "x.npy", str(tmp_path / "x.npy")):
        assert (program.run(path)[0] == program.run(x)[0]).all()


def test_rejects_files_without_array(tmp_path):
    program = spyre_mlir.compile(SOFTMAX)
    (tmp_path / "x.txt").write_text("1.0 2.0\n")
    (tmp_path / "short.npy").write_text("1")
    numpy.savez(tmp_path / "x.npz", x=numpy.zeros(3))
    numpy.save(tmp_path / "objects.npy", numpy.array([[1], None], dtype=object), allow_pickle=True)
    for name, message in [
        (
            "x.txt",
            r"arg0: expected an array or a .npy file, found '.*x.txt' with no NumPy array; read it with numpy.loadtxt",
        ),
        ("short.npy", "no NumPy array"),
        ("x.npz", r"found '.*x.npz' with several arrays; read it with numpy.load\(path\)\[name\]"),
        ("objects.npy", "cannot read .*objects.npy.*numpy.array"),
        ("missing.npy", "cannot read .*missing.npy.*No such file"),
    ]:
        with pytest.raises(spyre_mlir.RunError, match=message):
            program.run(tmp_path / name)
