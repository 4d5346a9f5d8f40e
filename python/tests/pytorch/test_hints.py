"""Hints in Python: the two examples of the design document, what they become, and what is refused."""

import pytest

torch = pytest.importorskip("torch", reason="pip install spyre-mlir[torch]")
pytest.importorskip("torch_mlir", reason="pip install spyre-mlir[torch]")

import spyre_mlir  # noqa: E402
import spyre_mlir.torch as st  # noqa: E402
from spyre_mlir.torch import _hints, _region  # noqa: E402

M, K, N = 64, 256, 128


@pytest.fixture(autouse=True)
def sizes(monkeypatch):
    """Declared dimensions are those of one test."""
    monkeypatch.setattr(_hints, "_sizes", {})
    for name, size in (("M", M), ("K", K), ("N", N)):
        st.declare_tensor_dim(name, size)


@pytest.fixture
def reports(monkeypatch):
    """The compiler's reports."""
    found = []
    real = _region.compiled

    def recording(linalg, options):
        made = real(linalg, options)
        found.append(made.report)
        return made

    monkeypatch.setattr(_region, "compiled", recording)
    return found


def tensors():
    x, y, z = (torch.rand(rows, columns, dtype=torch.float16) for rows, columns in ((M, K), (K, N), (M, N)))
    st.name_tensor_dims(x, ["M", "K"])
    st.name_tensor_dims(y, ["K", "N"])
    st.name_tensor_dims(z, ["M", "N"])
    return x, y, z


def nested(x, y, z):
    with st.spyre_hint(tiles={"M": 8}):
        with st.spyre_hint(tiles={"K": 4}):
            p = x @ y
        return p + z


def at_once(x, y, z):
    with st.spyre_hint(tiles={"M": 8, "K": 4}):
        return x @ y + z


def of_a_view(x_1d, y, z):
    with st.spyre_hint(tiles={"M": 8, "K": 4}):
        return x_1d.view(M, K) @ y + z


def run(function, *inputs):
    return torch.compile(function, backend=st.backend, fullgraph=True)(*inputs)


def close(found, function, *inputs):
    wanted = function(*(value.float() for value in inputs))
    return ((found - wanted).square().mean() / wanted.square().mean()).sqrt() < 3e-3


def loops(report):
    """The loops with what runs in them: names of functions in order, inner loops in their places."""

    def of(loop):
        inner = loop.get("loops", [])
        inside = {op["op"] for deeper in inner for op in deeper["ops"]}
        ops = [op["function"] for op in loop["ops"] if op["op"] not in inside]
        return f"{loop['dim']}={loop['count']}", ops, [of(deeper) for deeper in inner]

    return [of(loop) for loop in report["explain"]["loops"]]


# "The matmul operation is tiled along both M and K, whereas the final add operation is only tiled along M." The sum
# over the tiles of K begins with zeros, which are made in each tile of M.
WANTED = [("M=8", ["identity", "add"], [("K=4", ["batchmatmul", "add"], [])])]


@pytest.mark.parametrize("function", [nested, at_once])
def test_example_1_gives_the_loops_that_it_asks_for(function, reports):
    x, y, z = tensors()
    assert close(run(function, x, y, z), function, x, y, z)
    assert loops(reports[0]) == WANTED


def test_example_2_names_what_a_flat_tensor_really_is(reports):
    x, y, z = tensors()
    x_1d = x.flatten()
    st.name_tensor_dims(x_1d, ["M", "K"])
    assert close(run(of_a_view, x_1d, y, z), of_a_view, x_1d, y, z)
    assert loops(reports[0]) == WANTED


@pytest.mark.parametrize("function", [nested, at_once])
def test_hints_go_through_ahead_of_time_compilation(function):
    x, y, z = tensors()
    compiled = st.compile(function, x, y, z)
    assert close(compiled(x, y, z), function, x, y, z)
    assert loops(compiled.program.report) == WANTED


def test_open_sizes_keep_hints_and_names(reports):
    x, y, z = tensors()
    found = torch.compile(nested, backend=st.backend, dynamic=True)(x, y, z)
    assert close(found, nested, x, y, z)
    assert loops(reports[0]) == WANTED


def test_work_division_is_what_is_asked_for(reports):
    def divided(x, y, z):
        with st.spyre_hint(work_div={"M": 4, "N": 2}):
            return x @ y + z

    run(divided, *tensors())
    assert [(op["function"], op["work"]) for op in reports[0]["ops"]] == [("batchmatmul", [4, 2, 1]), ("add", [4, 2])]


def test_two_scopes_are_two_loops_though_something_stands_between(reports):
    def apart(x, y, z):
        with st.spyre_hint(tiles={"M": 2}):
            a = x @ y
        b = torch.exp(z)
        with st.spyre_hint(tiles={"M": 4}):
            return a * b

    x, y, z = tensors()
    assert close(run(apart, x, y, z), apart, x, y, z)
    assert loops(reports[0]) == [("M=2", ["batchmatmul"], []), ("M=4", ["mul"], [])]


def test_what_is_no_part_of_a_scope_does_not_part_it(linalg):
    def around(x, y, z):
        with st.spyre_hint(tiles={"M": 2}):
            a = x @ y
            with torch.fx.traceback.annotate({"note of somebody else": 1}):
                b = a + z
        return b

    run(around, *tensors())
    assert linalg[0].count('"spyre.hint"') == 1


def test_hints_are_kept_where_a_graph_is_in_parts(reports, left):
    def parts(x, y, z):
        counts = torch.histc(z.float(), 8, 0.0, 1.0)
        return nested(x, y, z), counts * 2

    x, y, z = tensors()
    found, counts = run(parts, x, y, z)
    assert close(found, nested, x, y, z) and counts.sum().item() == pytest.approx(2 * z.numel(), rel=1e-2)
    assert WANTED in map(loops, reports)
    assert len(left()) == 1


def test_a_hint_that_cannot_be_honoured_is_an_error_that_says_why():
    def seven(x, y, z):
        with st.spyre_hint(tiles={"M": 7}):
            return x @ y + z

    line = seven.__code__.co_firstlineno + 1
    for compiled, kind in ((run, st.CompilationRefused), (st.compile, spyre_mlir.CompileError)):
        with pytest.raises(kind, match="cannot be honored: .*tile count 7 does not divide dimension 'M' of size 64") as error:
            compiled(seven, *tensors())
        assert isinstance(error.value, st.HintError)
        assert str(error.value).startswith(f"{__file__}:{line}: ") and "spyre." not in str(error.value)
        assert (error.value.location.file, error.value.location.line) == (__file__, line)


def test_the_innermost_hint_with_the_name_is_blamed():
    def twice(x, y, z):
        with st.spyre_hint(work_div={"N": 2}):
            with st.spyre_hint(tiles={"M": 8}):
                with st.spyre_hint(tiles={"K": 3}):
                    p = x @ y
            return p + z

    with pytest.raises(st.HintError, match="dimension 'K'") as error:
        run(twice, *tensors())
    assert error.value.location.line == twice.__code__.co_firstlineno + 3


def test_a_name_that_nothing_has_is_an_error():
    def unnamed(x, y, z):
        with st.spyre_hint(tiles={"Q": 2}):
            return x @ y + z

    with pytest.raises(st.HintError, match="no op in the hint scope has a dimension 'Q'.*known dimensions are 'K' and 'M' and 'N'"):
        run(unnamed, *tensors())


@pytest.mark.parametrize("requests", [{"tiles": {"M": 2}}, {"work_div": {"M": 2}}])
@pytest.mark.parametrize("compiled", [run, st.compile])
def test_where_nothing_has_a_name_the_call_that_gives_one_is_named(requests, compiled):
    def hinted(x):
        with st.spyre_hint(**requests):
            return x + 1

    with pytest.raises(st.HintError, match=r"call spyre_mlir.torch.name_tensor_dims\(tensor, names\)") as error:
        compiled(hinted, torch.rand(M, K, dtype=torch.float16))
    assert "--dims" not in str(error.value)


@pytest.mark.parametrize(
    ("wishes", "message"),
    [
        ({"loop_order": {"M": 1}}, "expected one of 'tiles', .*'work_div', .*found 'loop_order'; use one of these"),
        ({"tils": {"M": 2}}, "found 'tils'; did you mean 'tiles'?"),
        ({"named_dims": ["M"]}, "'named_dims' is not supported; pass the tensor as an input"),
        ({}, "expected a request, found none"),
        ({"tiles": {}}, "expected a request, found none"),
        ({"tiles": 8}, "tiles: expected a dictionary from names of dimensions to numbers, found 8"),
        ({"tiles": {"M": 0}}, "expected a positive integer for 'M', found 0"),
        ({"slices": {"M": 2.0}}, "spyre_hint: slices: expected a positive integer for 'M', found 2.0"),
        ({"tiles": {"M": 2}, "slices": {"M": 2}}, "expected one of 'tiles', 'num_tiles_per_dim', 'slices', found several"),
        ({"work_div": {"M*N": 2}}, r"expected the name of a dimension, found 'M\*N'"),
        ({"expected_named_dims": "M"}, r"expected a list of names of dimensions, found 'M'"),
    ],
)
def test_what_no_hint_can_say_is_refused(wishes, message):
    with pytest.raises(st.HintError, match=message):
        st.spyre_hint(**wishes)

    def hinted(x):
        with st.spyre_hint(**wishes):
            return x + 1

    # PyTorch wraps errors that it does not know, and asks to report them.
    for compiled in (run, st.compile):
        with pytest.raises(spyre_mlir.errors.HintError, match=message) as error:
            compiled(hinted, tensors()[0])
        assert str(error.value).startswith(f"{__file__}:{hinted.__code__.co_firstlineno + 1}: ")
        assert "TORCHDYNAMO_VERBOSE" not in str(error.value)


@pytest.mark.parametrize("spelling", ["tiles", "num_tiles_per_dim", "slices"])
def test_all_spellings_of_tiles_are_tiles(spelling, reports):
    def hinted(x, y, z):
        with st.spyre_hint(**{spelling: {"M": 8}}):
            with st.spyre_hint(**{spelling: {"K": 4}}):
                p = x @ y
            return p + z

    run(hinted, *tensors())
    assert loops(reports[0]) == WANTED


def test_imports_of_torch_spyre_are_ours(reports):
    from torch_spyre._inductor import spyre_hint
    from torch_spyre._inductor.propagate_named_dims import declare_tensor_dim, name_tensor_dims

    assert (declare_tensor_dim, name_tensor_dims) == (st.declare_tensor_dim, st.name_tensor_dims)

    def program(x, y):
        with spyre_hint(num_tiles_per_dim={"M": 4}):
            with spyre_hint(expected_named_dims=["M", "N"]):
                z = torch.abs(x) + y
                return z * 2

    declare_tensor_dim("M", 128)
    x, y = (name_tensor_dims(torch.rand(128, N, dtype=torch.float16), ["M", "N"]) for _ in range(2))
    run(program, x, y)
    assert [name for name, _, _ in loops(reports[0])] == ["M=4"]
    with pytest.raises(ImportError, match="torch_spyre is not installed"):
        from torch_spyre._inductor import config  # noqa: F401


@pytest.mark.parametrize("compiled", [run, st.compile])
def test_names_that_are_expected_and_missing_are_an_error(compiled):
    def product(x, y, z):
        with st.spyre_hint(expected_named_dims=["M", "N"]):
            with st.spyre_hint(expected_reduction_dims=["Q"]):
                return x @ y

    with pytest.raises(
        st.HintError, match=r"expected_reduction_dims: expected dimensions \['Q'\]; the operations have \['M', 'N', 'K'\]"
    ) as error:
        compiled(product, *tensors())
    assert error.value.location.line == product.__code__.co_firstlineno + 2


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
def test_names_that_do_not_fit_are_refused(names, message):
    with pytest.raises(st.HintError, match=message):
        st.name_tensor_dims(torch.rand(M, K), names)


def test_a_size_is_a_positive_integer():
    with pytest.raises(st.HintError, match="expected a positive integer for 'M', found -1"):
        st.declare_tensor_dim("M", -1)


def test_hints_mean_nothing_to_pytorch_itself():
    x, y, z = tensors()
    assert torch.equal(nested(x, y, z), x @ y + z)


def test_gradients_are_computed_without_hints_and_a_line_says_so(left, reports):
    x, y, z = tensors()
    y.requires_grad_()
    run(nested, x, y, z).sum().backward()
    found, y.grad = y.grad.clone(), None
    nested(x, y, z).sum().backward()
    assert torch.allclose(found, y.grad, rtol=1e-2)
    assert loops(reports[0]) == WANTED
    assert any("not applied to the backward graph" in line for line in left())
