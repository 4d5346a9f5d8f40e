"""Export of arguments and expected results, as NumPy files and as files of PyTorch."""

import pathlib

import numpy
import pytest

import spyre_mlir

#: Program that doubles elements of a type.
DOUBLE = """
func.func @double(%x: tensor<8x64xTYPE>) -> tensor<8x64xTYPE> {
  %result = spyre.pointwise add(%x, %x) : (tensor<8x64xTYPE>, tensor<8x64xTYPE>) -> tensor<8x64xTYPE>
  return %result : tensor<8x64xTYPE>
}
"""

VALUES = (numpy.arange(512) % 100).reshape(8, 64)


def compile_double(element: str, folder: pathlib.Path) -> str:
    spyre_mlir.compile(DOUBLE.replace("TYPE", element), bundle_dir=folder / "double")
    return str(folder / "double")


def test_writes_files_of_tool(tmp_path):
    bundle = compile_double("f16", tmp_path)
    index = spyre_mlir.export_expected(bundle, tmp_path / "out", inputs={"arg0": VALUES.astype(numpy.float16)})
    assert (index["kernel_name"], len(index["inputs"]), len(index["expected"])) == ("double_0", 1, 1)
    expected = index["expected"][0]
    for kind in ("simulated", "exact"):
        assert (numpy.load(tmp_path / "out" / expected[kind]["npy"]) == 2 * VALUES).all()


@pytest.mark.parametrize("element", ["f16", "bf16", "f32"])
def test_writes_tensors_of_launch_type(tmp_path, element):
    torch = pytest.importorskip("torch")
    bundle = compile_double(element, tmp_path)
    array = VALUES.astype(numpy.float16 if element == "f16" else numpy.float32)
    index = spyre_mlir.export_expected(bundle, tmp_path / "out", inputs={"arg0": array})
    expected = index["expected"][0]
    files = [(index["inputs"][0], 1), (expected["simulated"], 2), (expected["exact"], 2)]
    for (entry, factor), argument in zip(files, [index["inputs"][0], expected, expected], strict=True):
        content = torch.load(tmp_path / "out" / entry["pt"])
        [tensor] = content["tensors"]
        assert tensor.dtype == getattr(torch, argument["dtype"])
        assert torch.equal(tensor, factor * torch.from_numpy(VALUES).to(tensor.dtype))


def test_rejects_array_of_other_shape(tmp_path):
    bundle = compile_double("f16", tmp_path)
    with pytest.raises(spyre_mlir.RunError, match=r"SPY\d+: --input: argument 'arg0' \(shape \[8, 64\], dtype float16"):
        spyre_mlir.export_expected(bundle, tmp_path / "out", inputs={"arg0": numpy.zeros((64, 8), numpy.float16)})
    assert not (tmp_path / "out").exists()


def test_rejects_value_that_is_no_path(tmp_path):
    with pytest.raises(spyre_mlir.RunError, match="expected a path as bundle, found "):
        spyre_mlir.export_expected(3, tmp_path)
