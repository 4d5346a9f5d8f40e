"""Compiled JAX functions, compared with JAX."""

import numpy
import pytest

jax = pytest.importorskip("jax", reason="pip install spyre-mlir[jax]")

import spyre_mlir  # noqa: E402
import spyre_mlir.jax  # noqa: E402

jnp = jax.numpy
KEY = jax.random.PRNGKey(0)


def make_normal(*shape, dtype=jnp.float16):
    return jax.random.normal(KEY, shape, dtype)


def normalize(x):
    return (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5)


CASES = {
    "softmax": (jax.nn.softmax, (make_normal(64, 256),)),
    "perceptron": (
        lambda x, a, b: jax.nn.gelu(x @ a) @ b,
        (make_normal(32, 128), make_normal(128, 256), make_normal(256, 128)),
    ),
    "norm": (normalize, (make_normal(64, 256),)),
    # JAX has no f16 attention on the CPU.
    "attention": (jax.nn.dot_product_attention, (make_normal(1, 64, 4, 64, dtype=jnp.float32),) * 3),
    "rows": (lambda table, rows: table[rows], (make_normal(100, 256), jnp.arange(16))),
    "bfloat16": (
        lambda x, y: jnp.maximum(x @ y, 0),
        (make_normal(32, 64, dtype=jnp.bfloat16), make_normal(64, 128, dtype=jnp.bfloat16)),
    ),
    "float32": (lambda x: x * 2 + 1, (make_normal(32, 64, dtype=jnp.float32),)),
    "mask": (lambda x, keep: jnp.where(keep, x, 0), (make_normal(8, 64), make_normal(8, 64) > 0)),
    "gradient": (jax.grad(lambda w, x: (jnp.tanh(x @ w) ** 2).sum()), (make_normal(64, 128) / 8, make_normal(8, 64))),
}


@pytest.mark.parametrize("name", CASES)
def test_agrees_with_jax(name):
    function, args = CASES[name]
    found = spyre_mlir.jax.compile(function, *args)(*args)
    in_f32 = [arg.astype(jnp.float32) if jnp.issubdtype(arg.dtype, jnp.floating) else arg for arg in args]
    expected = numpy.asarray(function(*in_f32), numpy.float64)
    assert found.dtype == function(*args).dtype
    difference = numpy.asarray(found, numpy.float64) - expected
    assert numpy.sqrt((difference**2).mean()) < 1e-2 * numpy.sqrt((expected**2).mean())


def test_passes_pytrees():
    def apply_affine(parameters, x):
        return {"y": x @ parameters["w"] + parameters["b"], "unused": None}

    parameters, x = {"w": make_normal(64, 128), "b": make_normal(128)}, make_normal(8, 64)
    compiled = spyre_mlir.jax.compile(apply_affine, parameters, x)
    found = compiled(parameters, x)
    assert set(found) == {"y", "unused"} and found["unused"] is None
    assert jnp.allclose(found["y"], apply_affine(parameters, x)["y"], atol=0.1)
    assert [value.shape for value in compiled.program.arguments] == [(128,), (64, 128), (8, 64)]


def test_accepts_unused_arguments():
    assert jnp.allclose(
        spyre_mlir.jax.compile(lambda x, y: x * 2, make_normal(8, 64), make_normal(3))(
            make_normal(8, 64), make_normal(3)
        ),
        make_normal(8, 64) * 2,
        atol=1e-2,
    )


def test_rejects_other_shapes_and_counts():
    compiled = spyre_mlir.jax.compile(lambda x: x * 2, make_normal(8, 64))
    with pytest.raises(
        TypeError, match=r"expected \(float16\[8, 64\]\), found \(float16\[4, 64\]\); compile it for these, too"
    ):
        compiled(make_normal(4, 64))
    with pytest.raises(TypeError, match="compiled function: expected arguments"):
        compiled(make_normal(8, 64), make_normal(8, 64))


def test_passes_options_to_compiler():
    compiled = spyre_mlir.jax.compile(lambda x: x * 2, make_normal(64, 64), cores=4, validate=True)
    assert compiled.program.report["target"]["cores"] == 4 and compiled.program.validation


def test_compiles_ops_that_jaxlib_does_not_lower():
    rows = make_normal(16, 64)

    def apply_remaining_ops(x, i, w):
        added = x.at[i].add(x[:3])
        last, states = jax.lax.scan(lambda state, row: (jnp.tanh(state * w + row),) * 2, jnp.zeros_like(w), x)
        chosen = jax.lax.cond(i[0] > 2, jnp.exp, lambda y: y * 2, x)
        return added, last, states, chosen, jnp.sort(x, -1), jnp.argsort(x, -1), x[::-1]

    arguments = rows, jnp.array([1, 7, 1]), make_normal(64) * 0.1
    found = spyre_mlir.jax.compile(apply_remaining_ops, *arguments, validate=True)(*arguments)
    for one, other in zip(found, apply_remaining_ops(*arguments), strict=True):
        assert jnp.allclose(one.astype(jnp.float32), other.astype(jnp.float32), atol=2e-2)


def test_names_op_without_lowering():
    with pytest.raises(spyre_mlir.jax.LoweringError, match="no lowering to linalg of 'stablehlo.fft' at "):
        spyre_mlir.jax.compile(lambda x: jnp.fft.fft(x).real, make_normal(8, 64, dtype=jnp.float32))


def test_raises_compile_error_of_compiler():
    with pytest.raises(spyre_mlir.CompileError):
        spyre_mlir.jax.compile(lambda x, y: x & y, jnp.ones((8, 64), jnp.int32), jnp.ones((8, 64), jnp.int32))


def test_preserves_bits_of_unsigned_integers():
    unsigned = jnp.array([[0, 1, 127, 128, 200, 255]], jnp.uint8)
    compiled = spyre_mlir.jax.compile(lambda x: (x, x.astype(jnp.float16)), unsigned)
    same, numbers = compiled(unsigned)
    assert same.dtype == jnp.uint8 and (same == unsigned).all() and (numbers == unsigned.astype(jnp.float16)).all()
    # A comparison of unsigned bytes requires values below 128.
    with pytest.raises(spyre_mlir.RunError, match="not in the range 0..128"):
        spyre_mlir.jax.compile(lambda x: x > 100, unsigned)(unsigned)


def apply_dense(weights, x):
    product = x @ weights["w"]
    return jnp.tanh(product + weights["b"])


def test_reports_scopes_weights_and_user_lines(capsys):
    def apply_model(params, x):
        for number, weights in enumerate(params):
            with jax.named_scope(f"layers.{number}"):
                x = apply_dense(weights, x)
        return jax.nn.softmax(x)

    params = [{"w": make_normal(64, 64), "b": make_normal(64)} for _ in range(2)]
    program = spyre_mlir.jax.compile(apply_model, params, make_normal(8, 64)).program
    assert capsys.readouterr().err.startswith("spyre: ")
    ops = program.report["ops"]
    assert {op.get("module", "") for op in ops} == {"layers.0", "layers.1", ""}
    assert program.report["arguments"] == ["params[0]['b']", "params[0]['w']", "params[1]['b']", "params[1]['w']", "x"]
    [product] = [op for op in ops if op.get("module") == "layers.1" and op["function"] == "batchmatmul"]
    line = apply_dense.__code__.co_firstlineno + 1
    assert product["location"].startswith(f"{__file__}:{line}:")
    assert not any("site-packages" in op["location"] for op in ops)


def test_rewrites_jax_locations():
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
    assert spyre_mlir._locations.rewrite_locations(text).splitlines()[5:] == [
        '#loc5 = loc("/me/f.py":3:20 to :30)',
        '#loc6 = loc("a.b.0"("/me/f.py":3:20 to :30))',
        '#loc7 = loc("a.b.0"("/me/f.py":3:20 to :30))',
        '#loc8 = loc("x")',
        '#loc9 = loc("/lib/site-packages/flax/linen.py":8:16 to 9:27)',
    ]
