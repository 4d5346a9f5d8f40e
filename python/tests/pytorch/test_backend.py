"""The backend: options, sizes, caches, gradients, and operations that the compiler rejects."""

import json

import numpy
import pytest

torch = pytest.importorskip("torch", reason="pip install spyre-mlir[torch]")
pytest.importorskip("torch_mlir", reason="pip install spyre-mlir[torch]")

import spyre_mlir  # noqa: E402
import spyre_mlir.torch as st  # noqa: E402
from spyre_mlir.torch import _cache, _graph  # noqa: E402


def make_f16(*shape):
    return torch.randn(*shape, dtype=torch.float16)


def compile_function(function, dynamic=False, **options):
    return torch.compile(function, backend=st.backend, dynamic=dynamic, options=options)


@pytest.fixture(autouse=True)
def disable_gradients():
    with torch.no_grad():
        yield


@pytest.fixture
def compilations(monkeypatch):
    """Texts of the programs that are compiled because no cache contains them."""
    found = []
    original = _cache.compile_uncached

    def record(linalg, key, options):
        found.append(linalg.plain_text)
        return original(linalg, key, options)

    monkeypatch.setattr(_cache, "compile_uncached", record)
    return found


@pytest.mark.parametrize(
    "function",
    [
        lambda x, indices: x[indices],
        lambda x, indices: x[indices % 64, indices],
        lambda x, indices: torch.nn.functional.one_hot(indices, 64).half() @ x,
        lambda x, indices: x.repeat_interleave(torch.tensor([1] * 64), dim=0, output_size=64) + 1,
    ],
)
def test_compiles_selections_of_static_sizes(function):
    # PyTorch tags these operations, whose sizes may depend on values.
    x, indices = make_f16(64, 64), torch.randint(0, 64, (10,))
    found = compile_function(function, fallback="error")(x, indices)
    assert torch.allclose(found, function(x, indices), atol=1e-2)


def compute_mixed(x):
    """Computes a function with `histc`, which torch-mlir does not lower."""
    y = torch.exp(x) * 2
    counts = torch.histc(y, 8, 0.0, 8.0)
    return torch.softmax(counts, -1) + y.sum()


def test_runs_rejected_ops_on_cpu_and_logs_reason(fallback_lines, caplog):
    x = torch.randn(8, 64)
    found = compile_function(compute_mixed)(x)
    assert torch.allclose(found, compute_mixed(x), rtol=1e-2)
    [line] = fallback_lines()
    place = f"{__file__}:{compute_mixed.__code__.co_firstlineno + 3}"
    assert line.endswith(
        f"{place}: aten.histc.default(float32[8, 64]) stays on the CPU: torch-mlir has no lowering to linalg of "
        "aten.histc"
    )
    messages = [record.getMessage() for record in caplog.records]
    assert any("ops in 2 parts, 1 on CPU" in line for line in messages)
    assert any("cannot be compiled as one program: torch-mlir has no lowering" in line for line in messages)


def test_rejects_graph_if_fallback_is_error():
    with pytest.raises(
        Exception, match="aten.histc.default.*is refused: (.|\n)*the graph cannot be compiled as one program"
    ):
        compile_function(compute_mixed, fallback="error")(torch.randn(8, 64))


def test_computes_values_out_of_range_in_pytorch(fallback_lines):
    function = compile_function(lambda x, y: x * y)
    small, large = torch.arange(64), torch.arange(64) + 100_000
    assert torch.equal(function(small, small), small * small)
    assert not fallback_lines()
    assert torch.equal(function(large, large), large * large)
    [line] = fallback_lines()
    assert "PyTorch computes a launch" in line and "range" in line
    with pytest.raises(spyre_mlir.RunError, match="range"):
        compile_function(lambda x, y: x * y, fallback="error")(large, large)


def test_reports_programs_and_cpu_ops(tmp_path):
    compile_function(compute_mixed, report=str(tmp_path / "new" / "reports"))(torch.randn(8, 64))
    [path] = (tmp_path / "new" / "reports").glob("*.json")
    report = json.loads(path.read_text())
    assert report["kind"] == "forward" and len(report["parts"]) == 2
    assert report["refused_as_a_whole"].startswith("torch-mlir has no lowering")
    assert [operation["op"] for operation in report["cpu"]] == ["aten.histc.default(float32[8, 64])"]
    for part in report["parts"]:
        assert part["report"]["ops"]
        assert "func.func @main" in (path.parent / part["program"]).read_text()
        assert (path.parent / part["page"]).read_text().startswith("<!doctype html>")


def test_passes_options_to_compiler(tmp_path):
    compile_function(lambda x: x * 2, report=tmp_path, cores=4, validate=True)(make_f16(64, 64))
    [path] = tmp_path.glob("*.json")
    assert json.loads(path.read_text())["parts"][0]["report"]["target"]["cores"] == 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fallback": "gpu"}, "option 'fallback': expected one of 'cpu', 'error', found 'gpu'"),
        ({"sizes": 0}, "option 'sizes': expected .*, at least 1, found 0"),
        ({"quiet": 1}, "option 'quiet': expected True or False, found 1"),
        ({"validate": "yes"}, "option 'validate': expected 'auto', True or False, found 'yes'"),
        (
            {"report": "/proc/none/here"},
            "option 'report': expected a directory, found '/proc/none/here', which cannot be made",
        ),
        ({"coers": 4}, "unknown option 'coers'"),
        ({"cores": 99}, "expected 1 to 32 cores, found 99"),
        (
            {"entry": "other"},
            "option 'entry': expected an option that applies to PyTorch programs, found 'other'; remove it",
        ),
        ({"tiles": ["Q=2"]}, "cannot be honored: .*no dimension has a name; call spyre_mlir.torch.name_tensor_dims"),
    ],
)
def test_rejects_wrong_options(options, message):
    with pytest.raises((st.OptionError, st.HintError), match=message):
        compile_function(lambda x: x + 1, **options)(make_f16(8, 64))


def test_compiles_equal_programs_once(compilations):
    for _ in range(2):
        torch._dynamo.reset()
        compile_function(lambda x: torch.exp(x) + 1)(make_f16(8, 64))
    assert len(compilations) == 1
    torch._dynamo.reset()
    compile_function(lambda x: torch.exp(x) + 1, cores=4)(make_f16(8, 64))
    assert len(compilations) == 2


def test_reuses_programs_of_cache_directory(tmp_path, compilations):
    x = make_f16(8, 64)
    for _ in range(2):
        torch._dynamo.reset()
        _cache.clear_memory()
        assert torch.allclose(compile_function(torch.tanh, cache=tmp_path)(x), torch.tanh(x), atol=2e-3)
    assert len(compilations) == 1
    [entry] = tmp_path.iterdir()
    assert (entry / "bundle" / "program.json").is_file() and (entry / "report.json").is_file()


def test_reads_cache_directory_from_variable(tmp_path, monkeypatch):
    monkeypatch.setenv("SPYRE_MLIR_CACHE", str(tmp_path))
    compile_function(torch.tanh)(make_f16(8, 64))
    assert len(list(tmp_path.iterdir())) == 1


def test_compiles_each_size_once(compilations):
    function = compile_function(lambda x: torch.exp(x), dynamic=True, sizes=2)
    for rows in (8, 16, 8, 24, 16):
        x = make_f16(rows, 64)
        assert torch.allclose(function(x), torch.exp(x), rtol=5e-3)
    assert len(compilations) == 3


def test_evicts_least_recent_sizes():
    gm = torch.fx.experimental.proxy_tensor.make_fx(lambda x: (x + 1,), tracing_mode="symbolic")(make_f16(8, 64))
    graph = _graph.DynamicGraph(gm, "forward", st._options.Options(sizes=2))
    for rows in (8, 16, 24):
        graph(make_f16(rows, 64))
    assert list(graph.graphs_by_size) == [((16, 64),), ((24, 64),)]


def test_computes_gradients(fallback_lines):
    model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.Tanh(), torch.nn.Linear(128, 64))
    x = torch.randn(8, 64)
    with torch.enable_grad():
        model(x).square().sum().backward()
        expected = [weight.grad.clone() for weight in model.parameters()]
        model.zero_grad()
        compile_function(model)(x).square().sum().backward()
    for weight, gradient in zip(model.parameters(), expected, strict=True):
        assert (weight.grad - gradient).norm() < 1e-2 * gradient.norm()
    assert not fallback_lines()


def test_returns_no_gradient_for_inputs_without_one():
    x, y = torch.randn(8, 64), torch.randn(8, 64, requires_grad=True)
    with torch.enable_grad():
        compile_function(lambda x, y: x * y)(x, y).sum().backward()
    assert x.grad is None and torch.allclose(y.grad, x)


def test_returns_new_constant_tensor_for_each_call():
    function = compile_function(lambda x: (x + 1, torch.arange(4)))
    first, second = function(make_f16(8, 64))[1], function(make_f16(8, 64))[1]
    first += 1
    assert torch.equal(second, torch.arange(4))


def test_preserves_traced_strides():
    function = compile_function(lambda x: (x * 2).t())
    x = make_f16(8, 64)
    assert function(x).stride() == (x * 2).t().stride()


def test_draws_new_random_numbers_for_each_call():
    x = torch.ones(8, 64)
    for random in (
        lambda x: torch.nn.functional.dropout(x, 0.5, True),
        lambda x: x + torch.rand(64),
        lambda x: (x + 1, torch.rand(64))[1],
    ):
        function = compile_function(random)
        assert not torch.equal(function(x), function(x))


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex64, torch.int16])
def test_runs_unsupported_types_on_cpu(dtype, fallback_lines):
    x = torch.ones(8, 64).to(dtype)
    assert torch.equal(compile_function(lambda x: x + x)(x), x + x)
    assert len(fallback_lines()) == 1


@pytest.mark.parametrize("p", [0.0, 1.0, 2.0, 3.0, float("inf")])
def test_computes_distances(p, fallback_lines):
    torch.manual_seed(0)
    rows, others = torch.randn(2, 20, 5), torch.randn(2, 9, 5)
    assert torch.allclose(
        compile_function(lambda x, y: torch.cdist(x, y, p=p))(rows, others),
        torch.cdist(rows, others, p=p),
        rtol=2e-2,
        atol=2e-2,
    )
    assert not fallback_lines()


def test_computes_addmv(fallback_lines):
    torch.manual_seed(0)
    addend, matrix, vector = make_f16(20), make_f16(20, 64), make_f16(64)
    for choices in ({}, {"beta": 0.5, "alpha": 2.0}, {"beta": 0}):
        found = compile_function(lambda a, b, c: torch.addmv(a, b, c, **choices))(addend, matrix, vector)
        assert torch.allclose(
            found.float(), torch.addmv(addend.float(), matrix.float(), vector.float(), **choices), rtol=1e-2, atol=5e-2
        )
    assert not fallback_lines()


def test_runs_float64_intermediates_on_cpu(fallback_lines):
    x = make_f16(8, 64)
    assert torch.allclose(
        compile_function(lambda x: (x.double() * 3).sum().half() + x)(x), (x.double() * 3).sum().half() + x, rtol=4e-3
    )
    assert all("the device would compute float64 as float32" in line for line in fallback_lines()) and fallback_lines()


def test_registers_backend_name_of_installed_wheel():
    if "spyre" not in torch._dynamo.list_backends():
        pytest.skip("the wheel is not installed, so that PyTorch finds no entry point")
    x = make_f16(8, 64)
    assert torch.allclose(torch.compile(lambda x: x * 2, backend="spyre")(x), x * 2, rtol=4e-3)


def test_converts_bfloat16_arguments():
    from spyre_mlir.torch._region import convert_to_array, convert_to_tensor

    assert convert_to_array(torch.ones(2, dtype=torch.bfloat16)).dtype == numpy.float32
    assert convert_to_tensor(numpy.ones(2, numpy.float32), torch.empty(2, dtype=torch.bfloat16)).dtype == torch.bfloat16


def make_encoders():
    for choices in ({}, {"norm_first": True}, {"activation": "gelu"}):
        yield torch.nn.TransformerEncoderLayer(128, 2, 128, batch_first=True, **choices).half().eval()


@pytest.mark.parametrize("mask", [None, "causal", "padding"])
def test_decomposes_fused_layers(mask, fallback_lines):
    masks = {
        None: {},
        "causal": {"src_mask": torch.ones(64, 64).triu(1).bool()},
        "padding": {"src_key_padding_mask": torch.arange(64)[None] >= torch.tensor([[64], [40]])},
    }[mask]
    x = make_f16(2, 64, 128)
    for layer in make_encoders():
        expected, found = layer(x, **masks), compile_function(layer)(x, **masks)
        assert (found - expected).norm() < 1e-2 * expected.norm()
        attention = layer.self_attn
        expected, weights = attention(x, x, x)
        found, found_weights = compile_function(lambda x, attention=attention: attention(x, x, x))(x)
        assert (found - expected).norm() < 1e-2 * expected.norm() and (
            found_weights - weights
        ).norm() < 1e-2 * weights.norm()
    assert not fallback_lines()
