"""JAX functions beside JAX."""

import numpy
import pytest

jax = pytest.importorskip("jax", reason="pip install spyre-mlir[jax]")

import spyre_mlir  # noqa: E402
import spyre_mlir.jax  # noqa: E402

jnp = jax.numpy
KEY = jax.random.PRNGKey(0)


def half(*shape, dtype=jnp.float16):
    return jax.random.normal(KEY, shape, dtype)


def norm(x):
    return (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5)


CASES = {
    "softmax": (jax.nn.softmax, (half(64, 256),)),
    "perceptron": (lambda x, a, b: jax.nn.gelu(x @ a) @ b, (half(32, 128), half(128, 256), half(256, 128))),
    "norm": (norm, (half(64, 256),)),
    # JAX has no f16 attention on the CPU.
    "attention": (jax.nn.dot_product_attention, (half(1, 64, 4, 64, dtype=jnp.float32),) * 3),
    "rows": (lambda table, rows: table[rows], (half(100, 256), jnp.arange(16))),
    "bfloat16": (lambda x, y: jnp.maximum(x @ y, 0), (half(32, 64, dtype=jnp.bfloat16), half(64, 128, dtype=jnp.bfloat16))),
    "float32": (lambda x: x * 2 + 1, (half(32, 64, dtype=jnp.float32),)),
    "mask": (lambda x, keep: jnp.where(keep, x, 0), (half(8, 64), half(8, 64) > 0)),
    "gradient": (jax.grad(lambda w, x: (jnp.tanh(x @ w) ** 2).sum()), (half(64, 128) / 8, half(8, 64))),
}


@pytest.mark.parametrize("name", CASES)
def test_agrees_with_jax(name):
    function, args = CASES[name]
    found = spyre_mlir.jax.compile(function, *args)(*args)
    in_f32 = [arg.astype(jnp.float32) if jnp.issubdtype(arg.dtype, jnp.floating) else arg for arg in args]
    wanted = numpy.asarray(function(*in_f32), numpy.float64)
    assert found.dtype == function(*args).dtype
    difference = numpy.asarray(found, numpy.float64) - wanted
    assert numpy.sqrt((difference**2).mean()) < 1e-2 * numpy.sqrt((wanted**2).mean())


def test_trees_go_in_and_out():
    def affine(parameters, x):
        return {"y": x @ parameters["w"] + parameters["b"], "unused": None}

    parameters, x = {"w": half(64, 128), "b": half(128)}, half(8, 64)
    compiled = spyre_mlir.jax.compile(affine, parameters, x)
    found = compiled(parameters, x)
    assert set(found) == {"y", "unused"} and found["unused"] is None
    assert jnp.allclose(found["y"], affine(parameters, x)["y"], atol=0.1)
    assert [value.shape for value in compiled.program.arguments] == [(128,), (64, 128), (8, 64)]


def test_arguments_that_nothing_reads_are_taken():
    assert jnp.allclose(spyre_mlir.jax.compile(lambda x, y: x * 2, half(8, 64), half(3))(half(8, 64), half(3)), half(8, 64) * 2, atol=1e-2)


def test_other_arguments_are_refused():
    compiled = spyre_mlir.jax.compile(lambda x: x * 2, half(8, 64))
    with pytest.raises(TypeError, match=r"expected \(float16\[8, 64\]\), found \(float16\[4, 64\]\); compile it for these, too"):
        compiled(half(4, 64))
    with pytest.raises(TypeError, match="compiled function: expected arguments"):
        compiled(half(8, 64), half(8, 64))


def test_options_go_to_the_compiler():
    compiled = spyre_mlir.jax.compile(lambda x: x * 2, half(64, 64), cores=4, validate=True)
    assert compiled.program.report["target"]["cores"] == 4 and compiled.program.validation


def test_what_the_passes_leave_is_read():
    rows = half(16, 64)

    def left(x, i, w):
        added = x.at[i].add(x[:3])
        last, states = jax.lax.scan(lambda state, row: (jnp.tanh(state * w + row),) * 2, jnp.zeros_like(w), x)
        chosen = jax.lax.cond(i[0] > 2, jnp.exp, lambda y: y * 2, x)
        return added, last, states, chosen, jnp.sort(x, -1), jnp.argsort(x, -1), x[::-1]

    arguments = rows, jnp.array([1, 7, 1]), half(64) * 0.1
    found = spyre_mlir.jax.compile(left, *arguments, validate=True)(*arguments)
    for one, other in zip(found, left(*arguments), strict=True):
        assert jnp.allclose(one.astype(jnp.float32), other.astype(jnp.float32), atol=2e-2)


def test_what_has_no_lowering_is_named():
    with pytest.raises(spyre_mlir.jax.LoweringError, match="no lowering to linalg of 'stablehlo.fft' at "):
        spyre_mlir.jax.compile(lambda x: jnp.fft.fft(x).real, half(8, 64, dtype=jnp.float32))


def test_what_the_compiler_refuses_is_its_error():
    with pytest.raises(spyre_mlir.CompileError):
        spyre_mlir.jax.compile(lambda x, y: x & y, jnp.ones((8, 64), jnp.int32), jnp.ones((8, 64), jnp.int32))


def test_integers_without_a_sign_keep_their_bits():
    bytes_of = jnp.array([[0, 1, 127, 128, 200, 255]], jnp.uint8)
    compiled = spyre_mlir.jax.compile(lambda x: (x, x.astype(jnp.float16)), bytes_of)
    same, numbers = compiled(bytes_of)
    assert same.dtype == jnp.uint8 and (same == bytes_of).all() and (numbers == bytes_of.astype(jnp.float16)).all()
    # A comparison of unsigned bytes requires values below 128.
    with pytest.raises(spyre_mlir.RunError, match="not in the range 0..128"):
        spyre_mlir.jax.compile(lambda x: x > 100, bytes_of)(bytes_of)


def dense(weights, x):
    product = x @ weights["w"]
    return jnp.tanh(product + weights["b"])


def test_reports_have_named_scopes_weights_and_the_lines_of_the_user(capsys):
    def model(params, x):
        for number, weights in enumerate(params):
            with jax.named_scope(f"layers.{number}"):
                x = dense(weights, x)
        return jax.nn.softmax(x)

    params = [{"w": half(64, 64), "b": half(64)} for _ in range(2)]
    program = spyre_mlir.jax.compile(model, params, half(8, 64)).program
    assert capsys.readouterr().err.startswith("spyre: ")
    ops = program.report["ops"]
    assert {op.get("module", "") for op in ops} == {"layers.0", "layers.1", ""}
    assert program.report["arguments"] == ["params[0]['b']", "params[0]['w']", "params[1]['b']", "params[1]['w']", "x"]
    [product] = [op for op in ops if op.get("module") == "layers.1" and op["function"] == "batchmatmul"]
    line = dense.__code__.co_firstlineno + 1
    assert product["location"].startswith(f"{__file__}:{line}:")
    assert not any("site-packages" in op["location"] for op in ops)


def test_locations_of_jax_become_paths_and_places():
    text = """#loc = loc(unknown)
#loc1 = loc("/me/f.py":3:20 to :30)
#loc2 = loc("dense"(#loc1))
#loc3 = loc("/lib/site-packages/flax/linen.py":8:16 to 9:27)
#loc4 = loc("call"(#loc3))
#loc5 = loc(callsite(#loc4 at #loc2))
#loc6 = loc("jit(f)/jit(main)/a/while/body/b.0/dot_general"(#loc5))
#loc7 = loc(fused[#loc, #loc6])
#loc8 = loc("x")
#loc9 = loc("jit(f)/tanh"(#loc4))"""
    assert spyre_mlir._locations.with_module_paths(text).splitlines()[5:] == [
        '#loc5 = loc("/me/f.py":3:20 to :30)',
        '#loc6 = loc("a.b.0"("/me/f.py":3:20 to :30))',
        '#loc7 = loc("a.b.0"("/me/f.py":3:20 to :30))',
        '#loc8 = loc("x")',
        '#loc9 = loc("/lib/site-packages/flax/linen.py":8:16 to 9:27)',
    ]
