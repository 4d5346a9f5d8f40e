"""Ahead-of-time compilation of modules and functions."""

import json
import re

import pytest

torch = pytest.importorskip("torch", reason="pip install spyre-mlir[torch]")
pytest.importorskip("torch_mlir", reason="pip install spyre-mlir[torch]")

import spyre_mlir  # noqa: E402
import spyre_mlir.torch as st  # noqa: E402


class Perceptron(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(64, 128), torch.nn.Linear(128, 64)

    def forward(self, x):
        return self.second(torch.nn.functional.gelu(self.first(x)))


class Cache(torch.nn.Module):
    """Module whose calls write a row of a buffer."""

    def __init__(self):
        super().__init__()
        self.register_buffer("rows", torch.zeros(8, 64, dtype=torch.float16))

    def forward(self, row):
        self.rows[2:3] = row
        return {"sum": self.rows.sum(0), "row": row}


def is_close(found, expected):
    """Returns whether two tensors differ by roundings to the device's 9 bits only."""
    return torch.allclose(found, expected, rtol=4e-3, atol=4e-3)


def make_f16(*shape):
    return torch.randn(*shape, dtype=torch.float16)


def test_reads_current_weights_at_each_call():
    model = Perceptron().half()
    x = make_f16(8, 64)
    compiled = st.compile(model, x)
    assert compiled.names == ["first.weight", "first.bias", "second.weight", "second.bias", "x"]
    assert [value.shape for value in compiled.program.arguments] == [(128, 64), (128,), (64, 128), (64,), (8, 64)]
    with torch.no_grad():
        assert torch.allclose(compiled(x), model(x), atol=5e-3)
        model.second.bias += 1
        assert torch.allclose(compiled(x), model(x), atol=5e-3)


def test_passes_pytrees_and_numbers():
    def combine(pair, scale):
        a, b = pair
        return {"sum": a + b, "rest": [a * scale, None]}

    a, b = make_f16(8, 64), make_f16(8, 64)
    compiled = st.compile(combine, (a, b), 3)
    found = compiled((a, b), 3)
    assert is_close(found["sum"], a + b) and is_close(found["rest"][0], a * 3) and found["rest"][1] is None


def test_writes_back_buffers():
    model, row = Cache(), make_f16(1, 64)
    compiled = st.compile(model, row)
    found = compiled(row)
    assert is_close(model.rows[2:3], row) and is_close(found["sum"], row[0]) and found["row"] is row


def test_writes_back_inputs():
    def double_in_place(x):
        x.mul_(2)
        return x + 1

    x = torch.ones(8, 64)
    assert torch.equal(st.compile(double_in_place, torch.ones(8, 64))(x), torch.full((8, 64), 3.0))
    assert torch.equal(x, torch.full((8, 64), 2.0))


def test_rejects_other_shapes():
    compiled = st.compile(lambda x: x + 1, make_f16(8, 64))
    with pytest.raises(
        TypeError, match=r"expected inputs \(float16\[8, 64\]\), found \(float16\[4, 64\]\); compile it for these, too"
    ):
        compiled(make_f16(4, 64))


def test_passes_options_to_compiler():
    compiled = st.compile(lambda x: x * 2, make_f16(64, 64), cores=4, validate=True)
    assert compiled.program.report["target"]["cores"] == 4
    assert compiled.program.validation


def test_locates_compile_error_in_program():
    with pytest.raises(spyre_mlir.CompileError) as error:
        st.compile(lambda x: x * 2, torch.ones(4, 4, dtype=torch.int16))
    assert error.value.errors[0].location.file == __file__


def test_shows_module_lines_on_page(tmp_path):
    program = st.compile(torch.nn.Sequential(torch.nn.Linear(64, 64), Doubled()).half(), make_f16(8, 64)).program
    program.report_html(tmp_path / "page.html")
    data = json.loads(
        re.search(
            r'<script type="application/json" id="data">(.*?)</script>', (tmp_path / "page.html").read_text(), re.DOTALL
        ).group(1)
    )
    assert __file__ in [source["file"] for source in data["sources"]]
    assert any(op["location"].startswith(__file__) for op in data["report"]["ops"])


class Doubled(torch.nn.Module):
    def forward(self, x):
        return x * 2


def test_rejects_ops_unknown_to_torch_mlir():
    with pytest.raises(st.CompilationRefused, match="torch-mlir cannot import it: .*with_effects"):
        st.compile(lambda x: torch.linalg.inv(x), torch.rand(4, 4))


def test_rejects_function_without_computation():
    with pytest.raises(
        st.CompilationRefused, match="expected a result that is computed from the inputs, .*return a computed tensor"
    ):
        st.compile(lambda x: x, make_f16(8, 64))


@pytest.mark.parametrize("name", ["fallback", "report", "sizes", "cache"])
def test_rejects_backend_options(name):
    with pytest.raises(st.OptionError, match=f"option '{name}'"):
        st.compile(lambda x: x + 1, make_f16(8, 64), **{name: "cpu"})


def select_rows(x):
    return x[x > 0] * 2


@pytest.mark.parametrize(
    ("function", "operation"),
    [
        (select_rows, r"aten.index.Tensor\(float32\[8, 64\], bool\[8, 64\]\)"),
        (lambda x: x.nonzero(), "aten.nonzero"),
        (lambda x: torch.unique(x), "aten._unique2"),
        (lambda x: torch.masked_select(x, x > 0).sum(), "aten.masked_select|aten.index.Tensor"),
        (lambda x: x[: (x[0, 0] * 0 + 3).long().item()], "aten.slice"),
    ],
)
def test_locates_sizes_that_depend_on_values(function, operation):
    # torch-mlir does not terminate on them.
    with pytest.raises(st.CompilationRefused, match=operation) as error:
        st.compile(function, torch.rand(8, 64))
    assert str(error.value).startswith(
        f"{__file__}:{function.__code__.co_firstlineno + (function is select_rows)}: error: "
    )
    assert "has a size that depends on values; use torch.where" in str(error.value)


def test_locates_branches_that_depend_on_values():
    def negate_if_negative(x):
        return x if x.sum() > 0 else -x

    line = negate_if_negative.__code__.co_firstlineno + 1
    with pytest.raises(
        st.CompilationRefused,
        match=f"{__file__}:{line}: error: expected sizes and branches .* found one that depends on values",
    ):
        st.compile(negate_if_negative, torch.rand(8, 64))


def test_locates_operation_without_lowering():
    with pytest.raises(st.CompilationRefused, match="torch-mlir has no lowering to linalg of aten.fft_fft") as error:
        st.compile(lambda x: torch.fft.fft(x).real + 1, torch.rand(8, 64))
    assert f"{__file__}:" in str(error.value) and "torch.constant" not in str(error.value)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda f, x: st.compile(f),
            r"spyre_mlir.torch.compile: missing a required argument: 'x': expected inputs .x., found \(\); pass an "
            r"example input",
        ),
        (lambda f, x: st.compile(f, x, x), "spyre_mlir.torch.compile: too many positional arguments"),
        (lambda f, x: st.compile(f, x=x), "expected inputs by position, found 'x' by name"),
        (lambda f, x: st.compile(torch.nn.Linear, x), "found the class Linear; give an instance"),
        (lambda f, x: st.compile("softmax.mlir", x), "found 'softmax.mlir'; compile MLIR with spyre_mlir.compile"),
        (
            lambda f, x: st.compile(f, x.numpy()),
            r"input 0: expected a dense tensor of real numbers, found a NumPy array float16\[8, 64\]; give "
            r"torch.from_numpy",
        ),
        (lambda f, x: st.compile(f, x)(), r"compiled module: expected inputs \(float16\[8, 64\]\), found \(\)"),
        (
            lambda f, x: st.compile(f, x)(x.numpy()),
            r"found \(a NumPy array float16\[8, 64\]\); give torch.from_numpy\(array\)",
        ),
    ],
)
def test_names_call_in_argument_errors(call, message):
    with pytest.raises(TypeError, match=message) as error:
        call(lambda x: x + 1, make_f16(8, 64))
    assert len(str(error.value)) < 200
