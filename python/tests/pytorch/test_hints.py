"""Hints in Python: the two examples of the design document, their loops, and invalid hints."""

import pytest

torch = pytest.importorskip("torch", reason="pip install spyre-mlir[torch]")
pytest.importorskip("torch_mlir", reason="pip install spyre-mlir[torch]")

import spyre_mlir  # noqa: E402
import spyre_mlir.torch as st  # noqa: E402
from spyre_mlir.torch import _hints, _region  # noqa: E402

M, K, N = 64, 256, 128


@pytest.fixture(autouse=True)
def declare_sizes(monkeypatch):
    """Declares dimensions for one test."""
    monkeypatch.setattr(_hints, "_sizes", {})
    for name, size in (("M", M), ("K", K), ("N", N)):
        st.declare_tensor_dim(name, size)


@pytest.fixture
def reports(monkeypatch):
    """Reports of the compiled programs."""
    found = []
    original = _region.get_or_compile

    def record(linalg, options):
        program = original(linalg, options)
        found.append(program.report)
        return program

    monkeypatch.setattr(_region, "get_or_compile", record)
    return found


def make_tensors():
    x, y, z = (torch.rand(rows, columns, dtype=torch.float16) for rows, columns in ((M, K), (K, N), (M, N)))
    st.name_tensor_dims(x, ["M", "K"])
    st.name_tensor_dims(y, ["K", "N"])
    st.name_tensor_dims(z, ["M", "N"])
    return x, y, z


def tile_nested(x, y, z):
    with st.spyre_hint(tiles={"M": 8}):
        with st.spyre_hint(tiles={"K": 4}):
            p = x @ y
        return p + z


def tile_at_once(x, y, z):
    with st.spyre_hint(tiles={"M": 8, "K": 4}):
        return x @ y + z


def tile_view(x_1d, y, z):
    with st.spyre_hint(tiles={"M": 8, "K": 4}):
        return x_1d.view(M, K) @ y + z


def run(function, *inputs):
    return torch.compile(function, backend=st.backend, fullgraph=True)(*inputs)


def is_close(found, function, *inputs):
    expected = function(*(value.float() for value in inputs))
    return ((found - expected).square().mean() / expected.square().mean()).sqrt() < 3e-3


def summarize_loops(report):
    """Returns the loops of a report, each with its device functions in order and its inner loops."""

    def summarize(loop):
        inner = loop.get("loops", [])
        inside = {op["op"] for deeper in inner for op in deeper["ops"]}
        ops = [op["function"] for op in loop["ops"] if op["op"] not in inside]
        return f"{loop['dim']}={loop['count']}", ops, [summarize(deeper) for deeper in inner]

    return [summarize(loop) for loop in report["explain"]["loops"]]


# "The matmul operation is tiled along both M and K, whereas the final add operation is only tiled along M." The sum
# over the tiles of K begins with zeros, which are computed in each tile of M.
EXPECTED_LOOPS = [("M=8", ["identity", "add"], [("K=4", ["batchmatmul", "add"], [])])]


@pytest.mark.parametrize("function", [tile_nested, tile_at_once])
def test_builds_requested_loops(function, reports):
    x, y, z = make_tensors()
    assert is_close(run(function, x, y, z), function, x, y, z)
    assert summarize_loops(reports[0]) == EXPECTED_LOOPS


def test_names_dimensions_of_flat_tensor(reports):
    x, y, z = make_tensors()
    x_1d = x.flatten()
    st.name_tensor_dims(x_1d, ["M", "K"])
    assert is_close(run(tile_view, x_1d, y, z), tile_view, x_1d, y, z)
    assert summarize_loops(reports[0]) == EXPECTED_LOOPS


@pytest.mark.parametrize("function", [tile_nested, tile_at_once])
def test_applies_hints_ahead_of_time(function):
    x, y, z = make_tensors()
    compiled = st.compile(function, x, y, z)
    assert is_close(compiled(x, y, z), function, x, y, z)
    assert summarize_loops(compiled.program.report) == EXPECTED_LOOPS


def test_preserves_hints_with_dynamic_sizes(reports):
    x, y, z = make_tensors()
    found = torch.compile(tile_nested, backend=st.backend, dynamic=True)(x, y, z)
    assert is_close(found, tile_nested, x, y, z)
    assert summarize_loops(reports[0]) == EXPECTED_LOOPS


def test_applies_requested_work_division(reports):
    def divide_work(x, y, z):
        with st.spyre_hint(work_div={"M": 4, "N": 2}):
            return x @ y + z

    run(divide_work, *make_tensors())
    assert [(op["function"], op["work"]) for op in reports[0]["ops"]] == [("batchmatmul", [4, 2, 1]), ("add", [4, 2])]


def test_builds_one_loop_for_each_scope(reports):
    def separate_scopes(x, y, z):
        with st.spyre_hint(tiles={"M": 2}):
            a = x @ y
        b = torch.exp(z)
        with st.spyre_hint(tiles={"M": 4}):
            return a * b

    x, y, z = make_tensors()
    assert is_close(run(separate_scopes, x, y, z), separate_scopes, x, y, z)
    assert summarize_loops(reports[0]) == [("M=2", ["batchmatmul"], []), ("M=4", ["mul"], [])]


def test_ignores_other_annotations(linalg):
    def annotate_inner(x, y, z):
        with st.spyre_hint(tiles={"M": 2}):
            a = x @ y
            with torch.fx.traceback.annotate({"note of somebody else": 1}):
                b = a + z
        return b

    run(annotate_inner, *make_tensors())
    assert linalg[0].count('"spyre.hint"') == 1


def test_preserves_hints_in_partitioned_graph(reports, fallback_lines):
    def compute_parts(x, y, z):
        counts = torch.histc(z.float(), 8, 0.0, 1.0)
        return tile_nested(x, y, z), counts * 2

    x, y, z = make_tensors()
    found, counts = run(compute_parts, x, y, z)
    assert is_close(found, tile_nested, x, y, z) and counts.sum().item() == pytest.approx(2 * z.numel(), rel=1e-2)
    assert EXPECTED_LOOPS in map(summarize_loops, reports)
    assert len(fallback_lines()) == 1


def test_explains_why_hint_cannot_be_honored():
    def tile_by_seven(x, y, z):
        with st.spyre_hint(tiles={"M": 7}):
            return x @ y + z

    line = tile_by_seven.__code__.co_firstlineno + 1
    for compiled, kind in ((run, st.CompilationRefused), (st.compile, spyre_mlir.CompileError)):
        with pytest.raises(
            kind, match="cannot be honored: .*tile count 7 does not divide dimension 'M' of size 64"
        ) as error:
            compiled(tile_by_seven, *make_tensors())
        assert isinstance(error.value, st.HintError)
        assert str(error.value).startswith(f"{__file__}:{line}: ") and "spyre." not in str(error.value)
        assert (error.value.location.file, error.value.location.line) == (__file__, line)


def test_locates_innermost_hint_with_the_name():
    def nest_scopes(x, y, z):
        with st.spyre_hint(work_div={"N": 2}):
            with st.spyre_hint(tiles={"M": 8}):
                with st.spyre_hint(tiles={"K": 3}):
                    p = x @ y
            return p + z

    with pytest.raises(st.HintError, match="dimension 'K'") as error:
        run(nest_scopes, *make_tensors())
    assert error.value.location.line == nest_scopes.__code__.co_firstlineno + 3


def test_rejects_unknown_dimension_name():
    def tile_unknown(x, y, z):
        with st.spyre_hint(tiles={"Q": 2}):
            return x @ y + z

    with pytest.raises(
        st.HintError, match="no op in the hint scope has a dimension 'Q'.*known dimensions are 'K' and 'M' and 'N'"
    ):
        run(tile_unknown, *make_tensors())


@pytest.mark.parametrize("requests", [{"tiles": {"M": 2}}, {"work_div": {"M": 2}}])
@pytest.mark.parametrize("compiled", [run, st.compile])
def test_suggests_naming_call_without_names(requests, compiled):
    def add_hinted(x):
        with st.spyre_hint(**requests):
            return x + 1

    with pytest.raises(st.HintError, match=r"call spyre_mlir.torch.name_tensor_dims\(tensor, names\)") as error:
        compiled(add_hinted, torch.rand(M, K, dtype=torch.float16))
    assert "--dims" not in str(error.value)


@pytest.mark.parametrize(
    ("requests", "message"),
    [
        ({"loop_order": {"M": 1}}, "expected one of 'tiles', .*'work_div', .*found 'loop_order'; use one of these"),
        ({"tils": {"M": 2}}, "found 'tils'; did you mean 'tiles'?"),
        ({"named_dims": ["M"]}, "'named_dims' is not supported; pass the tensor as an input"),
        ({}, "expected a request, found none"),
        ({"tiles": {}}, "expected a request, found none"),
        ({"tiles": 8}, "tiles: expected a dictionary from names of dimensions to numbers, found 8"),
        ({"tiles": {"M": 0}}, "expected a positive integer for 'M', found 0"),
        ({"slices": {"M": 2.0}}, "spyre_hint: slices: expected a positive integer for 'M', found 2.0"),
        (
            {"tiles": {"M": 2}, "slices": {"M": 2}},
            "expected one of 'tiles', 'num_tiles_per_dim', 'slices', found several",
        ),
        ({"work_div": {"M*N": 2}}, r"expected the name of a dimension, found 'M\*N'"),
        ({"expected_named_dims": "M"}, r"expected a list of names of dimensions, found 'M'"),
    ],
)
def test_rejects_malformed_hints(requests, message):
    with pytest.raises(st.HintError, match=message):
        st.spyre_hint(**requests)

    def add_hinted(x):
        with st.spyre_hint(**requests):
            return x + 1

    # PyTorch wraps unknown errors, and asks users to report them.
    for compiled in (run, st.compile):
        with pytest.raises(spyre_mlir.errors.HintError, match=message) as error:
            compiled(add_hinted, make_tensors()[0])
        assert str(error.value).startswith(f"{__file__}:{add_hinted.__code__.co_firstlineno + 1}: ")
        assert "TORCHDYNAMO_VERBOSE" not in str(error.value)


@pytest.mark.parametrize("spelling", ["tiles", "num_tiles_per_dim", "slices"])
def test_accepts_each_spelling_of_tiles(spelling, reports):
    def add_hinted(x, y, z):
        with st.spyre_hint(**{spelling: {"M": 8}}):
            with st.spyre_hint(**{spelling: {"K": 4}}):
                p = x @ y
            return p + z

    run(add_hinted, *make_tensors())
    assert summarize_loops(reports[0]) == EXPECTED_LOOPS


def test_replaces_torch_spyre_imports(reports):
    from torch_spyre._inductor import spyre_hint
    from torch_spyre._inductor.propagate_named_dims import declare_tensor_dim, name_tensor_dims

    assert (declare_tensor_dim, name_tensor_dims) == (st.declare_tensor_dim, st.name_tensor_dims)

    def scale_hinted(x, y):
        with spyre_hint(num_tiles_per_dim={"M": 4}):
            with spyre_hint(expected_named_dims=["M", "N"]):
                z = torch.abs(x) + y
                return z * 2

    declare_tensor_dim("M", 128)
    x, y = (name_tensor_dims(torch.rand(128, N, dtype=torch.float16), ["M", "N"]) for _ in range(2))
    run(scale_hinted, x, y)
    assert [name for name, _, _ in summarize_loops(reports[0])] == ["M=4"]
    with pytest.raises(ImportError, match="torch_spyre is not installed"):
        from torch_spyre._inductor import config  # noqa: F401


@pytest.mark.parametrize("compiled", [run, st.compile])
def test_rejects_missing_expected_names(compiled):
    def multiply(x, y, z):
        with st.spyre_hint(expected_named_dims=["M", "N"]):
            with st.spyre_hint(expected_reduction_dims=["Q"]):
                return x @ y

    with pytest.raises(
        st.HintError,
        match=r"expected_reduction_dims: expected dimensions \['Q'\]; the operations have \['M', 'N', 'K'\]",
    ) as error:
        compiled(multiply, *make_tensors())
    assert error.value.location.line == multiply.__code__.co_firstlineno + 2


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ("MK", "expected a list of names of dimensions, found 'MK'"),
        (["M", ""], "expected the name of a dimension, found ''"),
        (["K", "M"], "dimension 0 has 64 elements, but 'K' is declared with 256"),
        (["M", "K", "X"], "'X' has no size: call declare_tensor_dim"),
        (["M"], "declared with 64 elements in all, but the tensor has 16384"),
    ],
)
def test_rejects_names_of_other_sizes(names, message):
    with pytest.raises(st.HintError, match=message):
        st.name_tensor_dims(torch.rand(M, K), names)


def test_rejects_negative_size():
    with pytest.raises(st.HintError, match="expected a positive integer for 'M', found -1"):
        st.declare_tensor_dim("M", -1)


def test_ignores_hints_outside_compilation():
    x, y, z = make_tensors()
    assert torch.equal(tile_nested(x, y, z), x @ y + z)


def test_warns_that_gradients_ignore_hints(fallback_lines, reports):
    x, y, z = make_tensors()
    y.requires_grad_()
    run(tile_nested, x, y, z).sum().backward()
    found, y.grad = y.grad.clone(), None
    tile_nested(x, y, z).sum().backward()
    assert torch.allclose(found, y.grad, rtol=1e-2)
    assert summarize_loops(reports[0]) == EXPECTED_LOOPS
    assert any("not applied to the backward graph" in line for line in fallback_lines())
