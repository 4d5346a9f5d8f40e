"""The backend: what it does with options, sizes, caches, gradients, and with what the compiler refuses."""

import json

import numpy
import pytest

torch = pytest.importorskip("torch", reason="pip install spyre-mlir[torch]")
pytest.importorskip("torch_mlir", reason="pip install spyre-mlir[torch]")

import spyre_mlir  # noqa: E402
import spyre_mlir.torch as st  # noqa: E402
from spyre_mlir.torch import _cache, _graph  # noqa: E402


def half(*shape):
    return torch.randn(*shape, dtype=torch.float16)


def compiled(function, dynamic=False, **options):
    return torch.compile(function, backend=st.backend, dynamic=dynamic, options=options)


@pytest.fixture(autouse=True)
def no_gradients():
    with torch.no_grad():
        yield


@pytest.fixture
def compilations(monkeypatch):
    """Records the programs that are compiled, and not found in a cache."""
    found = []
    real = _cache.compile_anew

    def recording(linalg, key, options):
        found.append(linalg.bare)
        return real(linalg, key, options)

    monkeypatch.setattr(_cache, "compile_anew", recording)
    return found


@pytest.mark.parametrize(
    "function",
    [
        lambda x, at: x[at],
        lambda x, at: x[at % 64, at],
        lambda x, at: torch.nn.functional.one_hot(at, 64).half() @ x,
        lambda x, at: x.repeat_interleave(torch.tensor([1] * 64), dim=0, output_size=64) + 1,
    ],
)
def test_selections_of_known_sizes_do_not_stay_on_the_cpu(function):
    # PyTorch tags these operations, whose sizes may depend on values.
    x, at = half(64, 64), torch.randint(0, 64, (10,))
    found = compiled(function, fallback="error")(x, at)
    assert torch.allclose(found, function(x, at), atol=1e-2)


def mixed(x):
    """`histc` has no lowering in torch-mlir."""
    y = torch.exp(x) * 2
    counts = torch.histc(y, 8, 0.0, 8.0)
    return torch.softmax(counts, -1) + y.sum()


def test_what_is_refused_runs_on_the_cpu_with_a_line_that_says_why(left, caplog):
    x = torch.randn(8, 64)
    found = compiled(mixed)(x)
    assert torch.allclose(found, mixed(x), rtol=1e-2)
    [line] = left()
    place = f"{__file__}:{mixed.__code__.co_firstlineno + 3}"
    assert line.endswith(
        f"{place}: aten.histc.default(float32[8, 64]) stays on the CPU: torch-mlir has no lowering to linalg of aten.histc"
    )
    said = [record.getMessage() for record in caplog.records]
    assert any("ops in 2 parts, 1 on CPU" in line for line in said)
    assert any("cannot be compiled as one program: torch-mlir has no lowering" in line for line in said)


def test_fallback_error_refuses_instead():
    with pytest.raises(Exception, match="aten.histc.default.*is refused: (.|\n)*the graph cannot be compiled as one program"):
        compiled(mixed, fallback="error")(torch.randn(8, 64))


def test_a_value_out_of_range_is_computed_by_pytorch_with_a_line(left):
    function = compiled(lambda x, y: x * y)
    small, large = torch.arange(64), torch.arange(64) + 100_000
    assert torch.equal(function(small, small), small * small)
    assert not left()
    assert torch.equal(function(large, large), large * large)
    [line] = left()
    assert "PyTorch computes a launch" in line and "range" in line
    with pytest.raises(spyre_mlir.RunError, match="range"):
        compiled(lambda x, y: x * y, fallback="error")(large, large)


def test_a_report_has_the_programs_and_what_is_on_the_cpu(tmp_path):
    compiled(mixed, report=str(tmp_path / "new" / "reports"))(torch.randn(8, 64))
    [path] = (tmp_path / "new" / "reports").glob("*.json")
    report = json.loads(path.read_text())
    assert report["kind"] == "forward" and len(report["parts"]) == 2
    assert report["refused_as_a_whole"].startswith("torch-mlir has no lowering")
    assert [left["op"] for left in report["cpu"]] == ["aten.histc.default(float32[8, 64])"]
    for part in report["parts"]:
        assert part["report"]["ops"]
        assert "func.func @main" in (path.parent / part["program"]).read_text()
        assert (path.parent / part["page"]).read_text().startswith("<!doctype html>")


def test_options_of_the_compiler_are_handed_on(tmp_path):
    compiled(lambda x: x * 2, report=tmp_path, cores=4, validate=True)(half(64, 64))
    [path] = tmp_path.glob("*.json")
    assert json.loads(path.read_text())["parts"][0]["report"]["target"]["cores"] == 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fallback": "gpu"}, "option 'fallback': expected one of 'cpu', 'error', found 'gpu'"),
        ({"sizes": 0}, "option 'sizes': expected .*, at least 1, found 0"),
        ({"quiet": 1}, "option 'quiet': expected True or False, found 1"),
        ({"validate": "yes"}, "option 'validate': expected 'auto', True or False, found 'yes'"),
        ({"report": "/proc/none/here"}, "option 'report': expected a directory, found '/proc/none/here', which cannot be made"),
        ({"coers": 4}, "unknown option 'coers'"),
        ({"cores": 99}, "expected 1 to 32 cores, found 99"),
        ({"entry": "other"}, "option 'entry': expected an option that applies to PyTorch programs, found 'other'; remove it"),
        ({"tiles": ["Q=2"]}, "cannot be honored: .*no dimension has a name; call spyre_mlir.torch.name_tensor_dims"),
    ],
)
def test_options_that_say_nothing_are_refused(options, message):
    with pytest.raises((st.OptionError, st.HintError), match=message):
        compiled(lambda x: x + 1, **options)(half(8, 64))


def test_a_program_is_compiled_once_for_equal_texts_and_options(compilations):
    for _ in range(2):
        torch._dynamo.reset()
        compiled(lambda x: torch.exp(x) + 1)(half(8, 64))
    assert len(compilations) == 1
    torch._dynamo.reset()
    compiled(lambda x: torch.exp(x) + 1, cores=4)(half(8, 64))
    assert len(compilations) == 2


def test_a_cache_on_disk_outlives_the_process(tmp_path, compilations):
    x = half(8, 64)
    for _ in range(2):
        torch._dynamo.reset()
        _cache.forget()
        assert torch.allclose(compiled(torch.tanh, cache=tmp_path)(x), torch.tanh(x), atol=2e-3)
    assert len(compilations) == 1
    [kept] = tmp_path.iterdir()
    assert (kept / "bundle" / "program.json").is_file() and (kept / "report.json").is_file()


def test_the_cache_can_be_named_by_a_variable(tmp_path, monkeypatch):
    monkeypatch.setenv("SPYRE_MLIR_CACHE", str(tmp_path))
    compiled(torch.tanh)(half(8, 64))
    assert len(list(tmp_path.iterdir())) == 1


def test_sizes_are_compiled_when_they_come_and_the_latest_are_kept(compilations):
    function = compiled(lambda x: torch.exp(x), dynamic=True, sizes=2)
    for rows in (8, 16, 8, 24, 16):
        x = half(rows, 64)
        assert torch.allclose(function(x), torch.exp(x), rtol=5e-3)
    assert len(compilations) == 3


def test_only_the_latest_sizes_are_kept():
    gm = torch.fx.experimental.proxy_tensor.make_fx(lambda x: (x + 1,), tracing_mode="symbolic")(half(8, 64))
    graph = _graph.DynamicGraph(gm, "forward", st._options.Options(sizes=2))
    for rows in (8, 16, 24):
        graph(half(rows, 64))
    assert list(graph.of_sizes) == [((16, 64),), ((24, 64),)]


def test_gradients_are_those_of_pytorch(left):
    model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.Tanh(), torch.nn.Linear(128, 64))
    x = torch.randn(8, 64)
    with torch.enable_grad():
        model(x).square().sum().backward()
        wanted = [weight.grad.clone() for weight in model.parameters()]
        model.zero_grad()
        compiled(model)(x).square().sum().backward()
    for weight, gradient in zip(model.parameters(), wanted, strict=True):
        assert (weight.grad - gradient).norm() < 1e-2 * gradient.norm()
    assert not left()


def test_inputs_without_gradient_have_none():
    x, y = torch.randn(8, 64), torch.randn(8, 64, requires_grad=True)
    with torch.enable_grad():
        compiled(lambda x, y: x * y)(x, y).sum().backward()
    assert x.grad is None and torch.allclose(y.grad, x)


def test_what_follows_from_no_input_is_a_new_tensor_each_time():
    function = compiled(lambda x: (x + 1, torch.arange(4)))
    first, second = function(half(8, 64))[1], function(half(8, 64))[1]
    first += 1
    assert torch.equal(second, torch.arange(4))


def test_strides_are_those_that_pytorch_has_seen():
    function = compiled(lambda x: (x * 2).t())
    x = half(8, 64)
    assert function(x).stride() == (x * 2).t().stride()


def test_random_numbers_are_new_each_time():
    x = torch.ones(8, 64)
    for random in (lambda x: torch.nn.functional.dropout(x, 0.5, True), lambda x: x + torch.rand(64), lambda x: (x + 1, torch.rand(64))[1]):
        function = compiled(random)
        assert not torch.equal(function(x), function(x))


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex64, torch.int16])
def test_types_that_the_device_lacks_stay_on_the_cpu(dtype, left):
    x = torch.ones(8, 64).to(dtype)
    assert torch.equal(compiled(lambda x: x + x)(x), x + x)
    assert len(left()) == 1


@pytest.mark.parametrize("p", [0.0, 1.0, 2.0, 3.0, float("inf")])
def test_distances_are_those_of_pytorch(p, left):
    torch.manual_seed(0)
    rows, others = torch.randn(2, 20, 5), torch.randn(2, 9, 5)
    assert torch.allclose(compiled(lambda x, y: torch.cdist(x, y, p=p))(rows, others), torch.cdist(rows, others, p=p), rtol=2e-2, atol=2e-2)
    assert not left()


def test_a_matrix_times_a_vector_beside_a_sum(left):
    torch.manual_seed(0)
    given, matrix, vector = half(20), half(20, 64), half(64)
    for choices in ({}, {"beta": 0.5, "alpha": 2.0}, {"beta": 0}):
        found = compiled(lambda a, b, c: torch.addmv(a, b, c, **choices))(given, matrix, vector)
        assert torch.allclose(found.float(), torch.addmv(given.float(), matrix.float(), vector.float(), **choices), rtol=1e-2, atol=5e-2)
    assert not left()


def test_what_is_computed_in_float64_on_the_way_stays_there(left):
    x = half(8, 64)
    assert torch.allclose(compiled(lambda x: (x.double() * 3).sum().half() + x)(x), (x.double() * 3).sum().half() + x, rtol=4e-3)
    assert all("the device would compute float64 as float32" in line for line in left()) and left()


def test_the_backend_has_a_name_where_the_wheel_is_installed():
    if "spyre" not in torch._dynamo.list_backends():
        pytest.skip("the wheel is not installed, so that PyTorch finds no entry point")
    x = half(8, 64)
    assert torch.allclose(torch.compile(lambda x: x * 2, backend="spyre")(x), x * 2, rtol=4e-3)


def test_arrays_are_of_the_arguments_types():
    from spyre_mlir.torch._region import array_of, tensor_of

    assert array_of(torch.ones(2, dtype=torch.bfloat16)).dtype == numpy.float32
    assert tensor_of(numpy.ones(2, numpy.float32), torch.empty(2, dtype=torch.bfloat16)).dtype == torch.bfloat16


def encoders():
    for choices in ({}, {"norm_first": True}, {"activation": "gelu"}):
        yield torch.nn.TransformerEncoderLayer(128, 2, 128, batch_first=True, **choices).half().eval()


@pytest.mark.parametrize("mask", [None, "causal", "padding"])
def test_the_fused_layers_of_pytorch_are_taken_apart(mask, left):
    given = {
        None: {},
        "causal": {"src_mask": torch.ones(64, 64).triu(1).bool()},
        "padding": {"src_key_padding_mask": torch.arange(64)[None] >= torch.tensor([[64], [40]])},
    }[mask]
    x = half(2, 64, 128)
    for layer in encoders():
        wanted, found = layer(x, **given), compiled(layer)(x, **given)
        assert (found - wanted).norm() < 1e-2 * wanted.norm()
        attention = layer.self_attn
        wanted, weights = attention(x, x, x)
        found, found_weights = compiled(lambda x, attention=attention: attention(x, x, x))(x)
        assert (found - wanted).norm() < 1e-2 * wanted.norm() and (found_weights - weights).norm() < 1e-2 * weights.norm()
    assert not left()
