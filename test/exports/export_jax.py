"""Exports JAX functions by StableHLO and jaxlib's passes to linalg.

Usage: export_jax.py DIR [NAME...]
"""

import pathlib
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax._src.interpreters import mlir
from jaxlib.mlir import ir, passmanager
from jaxlib.mlir.dialects import stablehlo

PIPELINE = (
    "builtin.module(inline,symbol-dce,func.func(chlo-legalize-to-stablehlo),canonicalize,"
    "stablehlo-legalize-to-linalg,canonicalize,cse)"
)
num_prng_keys = [0]


def make_key():
    num_prng_keys[0] += 1
    return jax.random.PRNGKey(num_prng_keys[0])


def n(*shape, dt=jnp.float16):
    return jax.random.normal(make_key(), shape, dt)


def w(*shape):
    return n(*shape, dt=jnp.float32)


def random_ints(first, end, *shape):
    return jax.random.randint(make_key(), shape, first, end)


def lower(function, *args):
    text = jax.jit(function, keep_unused=True).lower(*args).as_text()
    with mlir.make_ir_context():
        module = ir.Module.parse(text)
        passmanager.PassManager.parse(PIPELINE).run(module.operation)
    return str(module)


def write(folder, name, function, args):
    """Writes NAME.mlir, and NAME.npz with the arguments and the results of JAX in f32."""
    try:
        text = lower(function, *args)
    except Exception as error:
        print(f"{name}: jaxlib does not lower it: {type(error).__name__} {str(error)[:200]!r}", flush=True)
        return
    (folder / f"{name}.mlir").write_text(text)
    wide = [jax.tree.map(lambda x: x.astype(jnp.float32) if x.dtype in (jnp.float16, jnp.bfloat16) else x,
        arg) for arg in args]
    try:
        results = jax.jit(function)(*wide)
    except TypeError:
        results = jax.jit(function)(*args)
    arrays = {f"arg{i}": np.asarray(x.astype(jnp.float32) if x.dtype == jnp.bfloat16 else x) for i,
        x in enumerate(args)}
    arrays |= {f"result{i}": np.asarray(x) for i, x in enumerate(jax.tree.leaves(results))}
    np.savez(folder / f"{name}.npz", **arrays)


stablehlo.register_stablehlo_passes()
i32=jnp.int32
T={}
def t(name,f,*args): T[name]=(f,args)
t("at_set", lambda x,i,v: x.at[i].set(v), n(32,64), jnp.array([3,7,9]), n(3,64))
t("at_add", lambda x,i,v: x.at[i].add(v), n(32,64), jnp.array([3,7,3]), n(3,64))
t("at_max", lambda x,i,v: x.at[i].max(v), n(32,64), jnp.array([3,7,3]), n(3,64))
t("at_mul", lambda x,i,v: x.at[i].multiply(v), n(32,64), jnp.array([3,7,9]), n(3,64))
t("at_set_pos", lambda x,p,v: x.at[:,p].set(v), n(4,32,64), jnp.int32(5), n(4,64))
t("dus", lambda x,v,p: lax.dynamic_update_slice(x,v,(0,p,0)), n(4,32,64), n(4,1,64), jnp.int32(5))
t("dslice", lambda x,p: lax.dynamic_slice(x,(p,0),(8,64)), n(32,64), jnp.int32(5))
t("dslice2", lambda x,p,q: lax.dynamic_slice(x,(p,q),(8,32)), n(32,64), jnp.int32(5), jnp.int32(3))
t("cond", lambda p,x: lax.cond(p>0, lambda x: jnp.sin(x), lambda x: x*2, x), jnp.int32(1), n(16,64))
t("switch", lambda p,x: lax.switch(p,[lambda x: x, lambda x: x*2, lambda x: jnp.exp(x)],x), jnp.int32(1), n(16,64))
t("select_n", lambda p,x,y,z: lax.select_n(p,x,y,z), random_ints(0,3,16,64), n(16,64), n(16,64), n(16,64))
t("fori", lambda x,w: lax.fori_loop(0,4,lambda i,c: jnp.tanh(c@w), x), n(16,64), n(64,64)*0.1)
t("scan_rnn", lambda x,h,w,u: lax.scan(lambda c,xi: (lambda y:(y,y))(jnp.tanh(xi@w+c@u)), h, x), n(5,8,64), n(8,32),
    n(64,32)*.1, n(32,32)*.1)
t("while_newton", lambda x: lax.while_loop(lambda c: c[0]<5, lambda c:(c[0]+1, 0.5*(c[1]+x/c[1])),
    (0,jnp.ones_like(x)))[1], jnp.abs(n(16,64))+1)
def lstm(x,h,c,w,u):
    def step(s,xi):
        h,c=s; g=xi@w+h@u; i,f,gg,o=jnp.split(g,4,-1)
        c=jax.nn.sigmoid(f)*c+jax.nn.sigmoid(i)*jnp.tanh(gg); h=jax.nn.sigmoid(o)*jnp.tanh(c); return (h,c),h
    return lax.scan(step,(h,c),x)
t("lstm_scan", lstm, n(6,8,64), n(8,64), n(8,64), n(64,256)*.1, n(64,256)*.1)
t("topk", lambda x: lax.top_k(x,5), n(16,64))
t("approx_max_k", lambda x: lax.approx_max_k(x.astype(jnp.float32),5), n(16,64))
t("sort", lambda x: jnp.sort(x,-1), n(16,50))
t("argsort", lambda x: jnp.argsort(x,-1), n(16,50))
t("sort_axis0", lambda x: jnp.sort(x,0), n(20,64))
t("argmax", lambda x: jnp.argmax(x,-1), n(16,100))
t("argmin0", lambda x: jnp.argmin(x,0), n(16,100))
t("median", lambda x: jnp.median(x,-1), n(16,51,dt=jnp.float32))
t("quantile", lambda x: jnp.quantile(x,0.3,axis=-1), n(16,51,dt=jnp.float32))
t("cumsum", lambda x: jnp.cumsum(x,-1), n(16,100))
t("cumprod", lambda x: jnp.cumprod(x,-1), n(4,20))
t("cummax", lambda x: lax.cummax(x,1), n(16,30))
t("cumlogsumexp", lambda x: lax.cumlogsumexp(x,1), n(16,30))
t("segment_sum", lambda x,s: jax.ops.segment_sum(x,s,5), n(32,64), random_ints(0,5,32))
t("segment_max", lambda x,s: jax.ops.segment_max(x,s,5), n(32,64), random_ints(0,5,32))
t("one_hot", lambda i: jax.nn.one_hot(i,50,dtype=jnp.float16), random_ints(0,50,16))
t("embedding", lambda w,i: jnp.take(w,i,axis=0), n(100,64), random_ints(0,100,4,16))
t("take_clip", lambda w,i: jnp.take(w,i,axis=0,mode='clip'), n(100,64), random_ints(0,100,16))
t("take_fill", lambda w,i: jnp.take(w,i,axis=0,mode='fill'), n(100,64), random_ints(0,100,16))
t("take_along", lambda x,i: jnp.take_along_axis(x,i,1), n(16,64), random_ints(0,64,16,8))
t("take_axis1", lambda x,i: jnp.take(x,i,axis=1), n(16,64), random_ints(0,64,8))
t("xent", lambda x,y: -jnp.take_along_axis(jax.nn.log_softmax(x),y[:,None],1).mean(), n(16,100), random_ints(0,100,16))
t("xent_oh", lambda x,y: -(jax.nn.one_hot(y,100,dtype=jnp.float16)*jax.nn.log_softmax(x)).sum(-1), n(16,100),
    random_ints(0,100,16))
t("grad_xent", lambda x,y: jax.grad(lambda x: -jnp.take_along_axis(jax.nn.log_softmax(x),y[:,None],1).mean())(x),
    n(16,100), random_ints(0,100,16))
t("grad_mlp", lambda w,v,x: jax.grad(lambda w: (jax.nn.relu(x@w)@v).astype(jnp.float32).sum())(w), n(64,128), n(128,32),
    n(16,64))
t("grad_embed", lambda w,i: jax.grad(lambda w: (w[i]**2).astype(jnp.float32).sum())(w), n(50,64), random_ints(0,50,16))
t("grad_ln", lambda x: jax.grad(lambda x: jnp.sum(jnp.sin((x-x.mean(-1,keepdims=True))/jnp.sqrt(x.var(-1,
    keepdims=True)+1e-5))))(x), n(16,64,dt=jnp.float32))
t("grad_attn", lambda q,k,v: jax.grad(lambda q: jax.nn.dot_product_attention(q,k,v).sum())(q), w(1,32,2,64),
    w(1,32,2,64), w(1,32,2,64))
t("grad_conv", lambda x,w: jax.grad(lambda w: lax.conv(x,w,(1,1),'SAME').sum())(w), n(2,4,8,8), n(8,4,3,3))
t("conv", lambda x,w: lax.conv(x,w,(2,2),'SAME'), n(2,8,16,16), n(16,8,3,3))
t("conv_nhwc", lambda x,w: lax.conv_general_dilated(x,w,(1,1),'SAME',dimension_numbers=('NHWC','HWIO','NHWC')),
    n(2,16,16,8), n(3,3,8,16))
t("conv_dw", lambda x,w: lax.conv_general_dilated(x,w,(1,1),'SAME',dimension_numbers=('NHWC','HWIO','NHWC'),
    feature_group_count=8), n(2,12,12,8), n(3,3,1,8))
t("conv_t", lambda x,w: lax.conv_transpose(x,w,(2,2),'SAME'), n(2,8,8,8), n(3,3,8,16))
t("conv_dil", lambda x,w: lax.conv_general_dilated(x,w,(1,1),'VALID',rhs_dilation=(2,2)), n(2,8,16,16), n(16,8,3,3))
t("conv1d", lambda x,w: lax.conv_general_dilated(x,w,(1,),'SAME',dimension_numbers=('NWC','WIO','NWC')), n(2,32,16),
    n(5,16,32))
t("conv_group", lambda x,w: lax.conv_general_dilated(x,w,(1,1),'SAME',feature_group_count=2), n(2,8,8,8), n(16,4,3,3))
t("maxpool", lambda x: lax.reduce_window(x,-jnp.inf,lax.max,(1,2,2,1),(1,2,2,1),'VALID'), n(2,16,16,8))
t("maxpool_same", lambda x: lax.reduce_window(x,-jnp.inf,lax.max,(1,3,3,1),(1,2,2,1),'SAME'), n(2,16,16,8))
t("avgpool", lambda x: lax.reduce_window(x,jnp.float16(0),lax.add,(1,2,2,1),(1,2,2,1),'VALID')/4, n(2,16,16,8))
t("grad_maxpool", lambda x: jax.grad(lambda x: lax.reduce_window(x,-jnp.inf,lax.max,(1,2,2,1),(1,2,2,1),
    'VALID').sum())(x), n(1,8,8,8))
t("resize_bilinear", lambda x: jax.image.resize(x,(2,16,16,8),'bilinear'), n(2,8,8,8))
t("resize_nearest", lambda x: jax.image.resize(x,(2,16,16,8),'nearest'), n(2,8,8,8))
t("expm1", jnp.expm1, n(16,64)); t("log1p", lambda x: jnp.log1p(jnp.abs(x)), n(16,64))
t("cbrt", jnp.cbrt, n(16,64)); t("sinc", jnp.sinc, n(16,64)); t("erf_inv", lambda x: lax.erf_inv(jnp.tanh(x)), n(16,64))
t("lgamma", lambda x: lax.lgamma(jnp.abs(x)+1), n(16,64)); t("digamma", lambda x: lax.digamma(jnp.abs(x)+1), n(16,64))
t("logistic", jax.nn.sigmoid, n(16,64)); t("atan2", lambda x,y: jnp.arctan2(x,y), n(16,64), n(16,64))
t("hypot", lambda x,y: jnp.hypot(x,y), n(16,64), n(16,64)); t("logaddexp", jnp.logaddexp, n(16,64), n(16,64))
t("floor_div", lambda x,y: x//y, n(16,64), jnp.abs(n(16,64))+1)
t("mod", lambda x,y: x%y, n(16,64), jnp.abs(n(16,64))+1)
t("imod", lambda x,y: x%y, random_ints(0,500,16,64), random_ints(1,20,16,64))
t("idiv", lambda x,y: x//y, random_ints(-500,500,16,64), random_ints(1,20,16,64))
t("udiv", lambda x: (x.astype(jnp.uint32)//7).astype(jnp.int32), random_ints(0,500,16,64))
t("umod", lambda x: (x.astype(jnp.uint32)%7).astype(jnp.int32), random_ints(0,500,16,64))
t("popcount", lambda x: lax.population_count(x), random_ints(0,500,16,64))
t("bitand", lambda x,y: x&y, random_ints(0,500,16,64), random_ints(0,500,16,64))
t("shift", lambda x: (x<<2)>>1, random_ints(0,100,16,64)); t("clz", lambda x: lax.clz(x), random_ints(0,100,16,64))
t("xor", lambda x,y: (x>0)^(y>0), n(16,64), n(16,64)); t("isfinite", lambda x: jnp.isfinite(x), n(16,64))
t("nan_to_num", jnp.nan_to_num, n(16,64)); t("clip", lambda x: jnp.clip(x,-0.5,0.5), n(16,64))
t("reverse", lambda x: x[:,::-1], n(16,64))
t("flip2", lambda x: jnp.flip(x), n(16,64))
t("roll", lambda x: jnp.roll(x,3,1), n(16,64))
t("roll_dyn", lambda x,s: jnp.roll(x,s,1), n(16,64), jnp.int32(3))
t("pad_interior", lambda x: lax.pad(x,jnp.float16(0),((1,1,1),(0,2,0))), n(16,64))
t("pad_reflect", lambda x: jnp.pad(x,((0,0),(2,3)),'reflect'), n(16,64))
t("pad_neg", lambda x: lax.pad(x,jnp.float16(0),((-1,1,0),(0,-2,0))), n(16,64))
t("strided", lambda x: x[::2,1::3], n(16,64))
t("tril", jnp.tril, n(32,32))
t("diag", jnp.diag, n(32,32))
t("diagm", lambda x: jnp.diag(x), n(32))
t("trace", jnp.trace, n(32,32))
t("kron", jnp.kron, n(4,8), n(8,4))
t("outer", jnp.outer, n(32), n(64))
t("einsum_odd", lambda a,b: jnp.einsum('bhqd,bkhd->bqhk',a,b), n(2,4,16,64), n(2,16,4,64))
t("einsum3", lambda a,b,c: jnp.einsum('ij,jk,kl->il',a,b,c), n(16,32), n(32,48), n(48,16))
t("einsum_tr", lambda a: jnp.einsum('iij->j',a), n(16,16,64))
t("bilinear", lambda x,w,y: jnp.einsum('bi,oij,bj->bo',x,w,y), n(8,32), n(16,32,24), n(8,24))
t("matvec", lambda a,b: a@b, n(32,64), n(64))
t("vdot", lambda a,b: jnp.vdot(a,b), n(64), n(64))
t("i8mm", lambda a,b: lax.dot(a,b,preferred_element_type=jnp.int32), random_ints(-8,8,16,64).astype(jnp.int8),
    random_ints(-8,8,64,32).astype(jnp.int8))
t("w8a16", lambda x,w,s: x@(w.astype(jnp.float16)*s), n(16,64), random_ints(-100,100,64,32).astype(jnp.int8),
    jnp.abs(n(32))*.01)
t("bf16mlp", lambda x,a,b: jax.nn.silu(x@a)@b, n(16,64,dt=jnp.bfloat16), n(64,128,dt=jnp.bfloat16),
    n(128,64,dt=jnp.bfloat16))
t("f32mlp", lambda x,a,b: jax.nn.gelu(x@a,approximate=False)@b, n(16,64,dt=jnp.float32), n(64,128,dt=jnp.float32),
    n(128,64,dt=jnp.float32))
t("gqa", lambda q,k,v: jax.nn.dot_product_attention(q,k,v,is_causal=True), w(2,32,8,64), w(2,32,2,64), w(2,32,2,64))
t("attn_bias", lambda q,k,v,b: jax.nn.dot_product_attention(q,k,v,bias=b), w(2,32,4,64), w(2,32,4,64), w(2,32,4,64),
    w(1,4,32,32))
t("attn_len", lambda q,k,v,l: jax.nn.dot_product_attention(q,k,v,key_value_seq_lengths=l), w(2,32,4,64), w(2,32,4,64),
    w(2,32,4,64), jnp.array([20,31]))
t("attn_window", lambda q,k,v: jax.nn.dot_product_attention(q,k,v,local_window_size=(4,0)), w(2,32,4,64), w(2,32,4,64),
    w(2,32,4,64))
def rope(x,pos):
    d=x.shape[-1]; inv=1/(10000**(jnp.arange(0,d,2)/d)); a=pos[:,None]*inv; c,s=jnp.cos(a)[:,None],jnp.sin(a)[:,None]
    x1,x2=x[...,::2].astype(jnp.float32),x[...,1::2].astype(jnp.float32)
    return jnp.stack([x1*c-x2*s,x1*s+x2*c],-1).reshape(x.shape).astype(x.dtype)
t("rope_inter", rope, n(16,4,64), jnp.arange(16))
t("moe", lambda x,g,w1,w2: (lambda p: (lambda v,i: jnp.einsum('tkd,tk->td',
    jnp.einsum('tkf,tkfd->tkd', jax.nn.silu(jnp.einsum('td,tkdf->tkf',x,w1[i])), w2[i]),
    jax.nn.softmax(v)))(*lax.top_k(p,2)))(x@g), n(16,64), n(64,4), n(4,64,128)*.1, n(4,128,64)*.1)
t("batchnorm", lambda x,m,v,g,b: (x-m[:,None,None])/jnp.sqrt(v[:,None,None]+1e-5)*g[:,None,None]+b[:,None,None],
    n(2,8,8,8), n(8), jnp.abs(n(8)), n(8), n(8))
t("groupnorm", lambda x: (lambda y: ((y-y.mean((2,3),keepdims=True))/jnp.sqrt(y.var((2,3),
    keepdims=True)+1e-5)).reshape(x.shape))(x.reshape(2,4,2,64)), n(2,8,8,8,dt=jnp.float32))
t("var_ddof", lambda x: jnp.var(x,-1,ddof=1), n(16,64,dt=jnp.float32))
t("std0", lambda x: jnp.std(x,0), n(16,64,dt=jnp.float32))
t("norm", lambda x: jnp.linalg.norm(x,axis=-1), n(16,64))
t("logsumexp", lambda x: jax.nn.logsumexp(x,-1), n(16,64))
t("any", lambda x: jnp.any(x>2,-1), n(16,64))
t("all", lambda x: jnp.all(x>-3,-1), n(16,64))
t("count", lambda x: jnp.sum(x>0,-1), n(16,64))
t("prod", lambda x: jnp.prod(x,-1), n(16,16))
t("ptp", lambda x: jnp.ptp(x,-1), n(16,64))
t("searchsorted", lambda a,v: jnp.searchsorted(a,v), jnp.sort(n(50,dt=jnp.float32)), n(16,dt=jnp.float32))
t("bincount", lambda x: jnp.bincount(x,length=10), random_ints(0,10,64))
t("histogram", lambda x: jnp.histogram(x,bins=8,range=(-2,2))[0], n(64,dt=jnp.float32))
t("unique", lambda x: jnp.unique(x,size=8,fill_value=0), random_ints(0,6,16))
t("interp", lambda x,xp,fp: jnp.interp(x,xp,fp), n(16,dt=jnp.float32), jnp.linspace(-2,2,20), n(20,dt=jnp.float32))
t("polyval", lambda p,x: jnp.polyval(p,x), n(4), n(16,64))
t("fft", lambda x: jnp.abs(jnp.fft.fft(x)), n(16,dt=jnp.float32))
t("cholesky", lambda x: jnp.linalg.cholesky(x@x.T+4*jnp.eye(8)), n(8,8,dt=jnp.float32))
t("inv", lambda x: jnp.linalg.inv(x@x.T+4*jnp.eye(8)), n(8,8,dt=jnp.float32))
t("solve_tri", lambda a,b: jax.scipy.linalg.solve_triangular(jnp.tril(a)+4*jnp.eye(8),b,lower=True),
    n(8,8,dt=jnp.float32), n(8,4,dt=jnp.float32))
t("vmap_dot", jax.vmap(lambda a,b: a@b), n(8,16,32), n(8,32,16))
t("squeeze", lambda x: x.squeeze()[None], n(1,64,1,32))
t("bcast", lambda x: jnp.broadcast_to(x[:,None],(16,8,64)), n(16,64))
t("concat", lambda a,b: jnp.concatenate([a,b],1), n(16,50), n(16,30))
t("stack", lambda a,b: jnp.stack([a,b],1), n(16,64), n(16,64))
t("tile", lambda x: jnp.tile(x,(2,3)), n(16,20))
t("repeat", lambda x: jnp.repeat(x,3,1), n(16,20))
t("meshgrid", lambda a,b: jnp.meshgrid(a,b), n(16), n(8))
t("where", lambda x,y: jnp.where(x>y,x,0), n(16,64), n(16,64))
t("linspace", lambda s: jnp.linspace(0,s,64), jnp.float32(3.))
t("dropout_mask", lambda x,m: jnp.where(m,x/0.9,0), n(16,64), random_ints(0,2,16,64).astype(bool))
t("eye_mul", lambda x: x*jnp.eye(32,dtype=jnp.float16), n(32,32))
t("ragged_dot", lambda a,b,g: lax.ragged_dot(a,b,g), n(16,32), n(3,32,64), jnp.array([4,6,6]))
t("nonzero_size", lambda x: jnp.nonzero(x>0,size=8,fill_value=-1)[0], n(32))
t("at_col", lambda x,i,v: x.at[:,i].set(v), n(8,40), jnp.array([3,7,9]), n(8,3))
t("at_ij", lambda x,i,j,v: x.at[i,j].add(v), n(8,40), jnp.array([3,7,3]), jnp.array([1,2,1]), n(3))
t("at_slice", lambda x,v: x.at[1:3].set(v), n(8,40), n(2,40))
t("at_slice_add", lambda x,v: x.at[:,2:10].add(v), n(8,40), n(8,8))
t("at_last", lambda x,v: x.at[...,-1].add(v), n(4,8,40), n(4,8))
t("at_strided", lambda x,v: x.at[::2].set(v), n(8,40), n(4,40))
t("at_min", lambda x,i,v: x.at[i].min(v), n(8,40), jnp.array([3,7,3]), n(3,40))
t("at_drop", lambda x,i,v: x.at[i].set(v,mode='drop'), n(8,40), jnp.array([3,7,2]), n(3,40))
t("at_3d", lambda x,i,v: x.at[:,i].add(v), n(4,8,40), jnp.array([1,5]), n(4,2,40))
t("at_get_fill", lambda x,i: x.at[i].get(mode='fill',fill_value=0), n(8,40), jnp.array([3,7,2]))
t("at_mulscalar", lambda x,i: x.at[i].multiply(2), n(8,40), jnp.array([3,5]))
t("at_int", lambda x,i: x.at[i].add(1), random_ints(0,9,16), jnp.array([3,5,3]))
t("vmap_at", jax.vmap(lambda x,i,v: x.at[i].set(v)), n(4,8,40), jnp.array([[1,2],[3,4],[0,1],[6,7]]), n(4,2,40))
t("vmap_dus", jax.vmap(lambda x,v,p: lax.dynamic_update_slice(x,v,(p,0))), n(4,8,40), n(4,2,40), jnp.array([1,2,3,0]))
t("vmap_ds", jax.vmap(lambda x,p: lax.dynamic_slice(x,(p,0),(2,40))), n(4,8,40), jnp.array([1,2,3,0]))
t("grad_take", lambda w,i: jax.grad(lambda w: jnp.sum(jnp.take(w,i,axis=0)**2).astype(jnp.float32))(w), n(20,40),
    random_ints(0,20,6))
t("grad_ta", lambda x,i: jax.grad(lambda x: jnp.sum(jnp.take_along_axis(x,i,1)**2).astype(jnp.float32))(x), n(8,40),
    random_ints(0,40,8,5))
t("grad_max", lambda x: jax.grad(lambda x: jnp.sum(jnp.max(x,-1)).astype(jnp.float32))(x), n(8,40))
t("grad_sort", lambda x: jax.grad(lambda x: jnp.sum(jnp.sort(x,-1)*jnp.arange(40)).astype(jnp.float32))(x), n(8,40))
t("grad_cumsum", lambda x: jax.grad(lambda x: jnp.sum(jnp.cumsum(x,-1)**2).astype(jnp.float32))(x), n(8,40))
t("grad_scan", lambda x,w: jax.grad(lambda w: jnp.sum(lax.scan(lambda c,xi: (jnp.tanh(c*w+xi),None),
    jnp.zeros((40,),jnp.float32), x)[0]))(w), n(4,40,dt=jnp.float32), n(40,dt=jnp.float32)*.1)
t("sort2", lambda x,y: lax.sort((x,y),dimension=1,num_keys=1), n(8,40), n(8,40))
t("sort2k", lambda x,y: lax.sort((x,y),dimension=1,num_keys=2), random_ints(0,4,8,40), n(8,40))
t("sort_desc", lambda x: -jnp.sort(-x,-1), n(8,40))
t("argsort_desc", lambda x: jnp.argsort(-x,-1)[:,:5], n(8,40))
t("argsort_stable_int", lambda x: jnp.argsort(x,-1), random_ints(0,6,8,40))
t("sort_f32", lambda x: jnp.sort(x,-1), n(8,40,dt=jnp.float32))
t("sort_i32", lambda x: jnp.sort(x,-1), random_ints(-100,100,8,40))
t("sort_bf16", lambda x: jnp.sort(x,-1), n(8,40,dt=jnp.bfloat16))
t("lexsort", lambda x,y: jnp.lexsort((x,y)), random_ints(0,4,40), random_ints(0,4,40))
t("partition", lambda x: jnp.partition(x,5,-1), n(8,40))
t("kth", lambda x: jnp.sort(x,-1)[:,3], n(8,40))
t("top_k_gather", lambda x,e: (lambda v,i: (v[...,None]*e[i]).sum(1))(*lax.top_k(x,3)), n(8,20), n(20,40))
t("percentile", lambda x: jnp.percentile(x,jnp.array([25.,75.]),axis=-1), n(8,41,dt=jnp.float32))
t("scan_rev", lambda x: lax.scan(lambda c,xi: (c*0.5+xi,c), jnp.zeros((40,),jnp.float16), x, reverse=True), n(6,40))
t("scan_xs2", lambda x,y: lax.scan(lambda c,a: (c+a[0]*a[1],c.sum()), jnp.zeros((40,),jnp.float16), (x,y)), n(6,40),
    n(6,40))
t("scan_nested", lambda x: lax.scan(lambda c,xi: (lax.fori_loop(0,2,lambda i,d: d*0.5+xi,c),None),
    jnp.zeros((40,),jnp.float16), x)[0], n(3,40))
t("scan_unroll", lambda x: lax.scan(lambda c,xi: (c*0.5+xi,c), jnp.zeros((40,),jnp.float16), x, unroll=2)[0], n(6,40))
t("scan_idx", lambda x: lax.fori_loop(0,6,lambda i,c: c+x[i]*i, jnp.zeros((40,),jnp.float16)), n(6,40))
t("fori_set", lambda x: lax.fori_loop(0,6,lambda i,c: c.at[i].set(c[i]*2), x), n(6,40))
t("map", lambda x: lax.map(lambda r: jnp.tanh(r)*2, x), n(6,40))
t("while_dyn", lambda x,k: lax.while_loop(lambda c: c[0]<k, lambda c:(c[0]+1,c[1]*0.5), (0,x))[1], n(6,40), i32(3))
t("cond_const", lambda x: lax.cond(True, jnp.exp, jnp.tanh, x), n(6,40))
t("cond_multi", lambda p,x: lax.cond(p, lambda x:(x,x*2), lambda x:(jnp.exp(x),x), x), jnp.array(True), n(6,40))
t("cond_nested", lambda p,q,x: lax.cond(p>0, lambda x: lax.cond(q>0,jnp.exp,jnp.tanh,x), lambda x: x*3, x), i32(1),
    i32(0), n(6,40))
t("switch5", lambda p,x: lax.switch(p,[lambda x,k=k: x*k for k in range(5)],x), i32(3), n(6,40))
t("cond_in_scan", lambda x: lax.scan(lambda c,xi: (lax.cond(xi[0]>0, lambda c: c+xi, lambda c: c-xi, c),None),
    jnp.zeros((40,),jnp.float16), x)[0], n(4,40))
t("seg_mean", lambda x,s: jax.ops.segment_sum(x,s,4)/jnp.maximum(jax.ops.segment_sum(jnp.ones(16,jnp.float16),s,4),1)[:,
    None], n(16,40), random_ints(0,4,16))
t("seg_min", lambda x,s: jax.ops.segment_min(x,s,4), n(16,40), jnp.sort(random_ints(0,4,16)))
t("seg_prod", lambda x,s: jax.ops.segment_prod(x,s,4), n(16,40), random_ints(0,4,16))
t("seg_sorted", lambda x,s: jax.ops.segment_sum(x,s,4,indices_are_sorted=True), n(16,40), jnp.sort(random_ints(0,4,16)))
t("rev_last", lambda x: x[...,::-1], n(4,8,40))
t("rev_1d", lambda x: x[::-1], n(40))
t("rev_int", lambda x: x[::-1]+1, random_ints(0,9,16))
t("rev_step", lambda x: x[::-2], n(9,40))
t("rev_stick", lambda x: x[:,::-1]@jnp.ones((128,8),jnp.float16), n(4,128))
t("rot90", lambda x: jnp.rot90(x), n(8,40))
t("flipud", lambda x: jnp.flipud(x)*2, n(8,40))
t("conv_flip", lambda x,w: jnp.convolve(x,w,mode='same'), n(40), n(5))
t("correlate", lambda x,w: jnp.correlate(x,w,mode='valid'), n(40), n(5))
t("umod_arr", lambda x,y: (x.astype(jnp.uint32)%y.astype(jnp.uint32)).astype(i32), random_ints(0,500,8,40),
    random_ints(1,20,8,40))
t("divmod", lambda x,y: jnp.divmod(x,y), random_ints(-50,50,8,40), random_ints(1,9,8,40))
t("rem", lambda x,y: lax.rem(x,y), random_ints(-50,50,8,40), random_ints(1,9,8,40))
t("sign_int", lambda x: jnp.sign(x), random_ints(-3,3,8,40))
t("abs_int", lambda x: jnp.abs(x), random_ints(-9,9,8,40))
t("floor_div_c", lambda x: x//4, random_ints(-50,50,8,40))
t("clip_int", lambda x: jnp.clip(x,-2,2), random_ints(-9,9,8,40))
t("pow_int", lambda x: x**2, random_ints(-9,9,8,40))
t("shift_r", lambda x: x>>1, random_ints(-9,9,8,40))
t("minmax_int", lambda x: (x.max(-1),x.min(-1)), random_ints(-9,9,8,40))
t("sum_int", lambda x: x.sum(-1), random_ints(-9,9,8,40))
t("mean_int", lambda x: x.mean(-1), random_ints(-9,9,8,40))
t("uint8", lambda x: x.astype(jnp.float16)/255, random_ints(0,255,8,40).astype(jnp.uint8))
t("bool_sum", lambda x: (x>0).astype(jnp.float16).sum(0), n(8,40))
t("moe2", lambda x,g,w: (lambda p: (lambda v,i: jnp.einsum('tk,tko->to', jax.nn.softmax(v),
    jnp.einsum('td,tkdo->tko',x,w[i])))(*lax.top_k(p,2)))(x@g), n(12,64), n(64,4), n(4,64,32)*.1)
t("moe1", lambda x,g,w: (lambda i: jnp.einsum('td,tdo->to',x,w[i]))(jnp.argmax(x@g,-1)), n(12,64), n(64,4),
    n(4,64,32)*.1)
t("moe1t", lambda x,g,w: (lambda i: jnp.einsum('td,tod->to',x,w[i]))(jnp.argmax(x@g,-1)), n(12,64), n(64,4),
    n(4,50,64)*.1)
t("moe_const", lambda x: (lambda i: jnp.einsum('td,tod->to',x,
    jnp.asarray(np.random.RandomState(1).randn(4,50,64)*.1,jnp.float16)[i]))(jnp.argmax(x[:,:4],-1)), n(12,64))
E=jnp.asarray(np.random.RandomState(2).randn(60,64),jnp.float16)
t("tied", lambda i: jnp.tanh(E[i])@E.T, random_ints(0,60,12))
t("tied2", lambda i: (E[i]+E[i[::-1]])@E.T@E, random_ints(0,60,12))
t("const_two", lambda x: (x@E.T, E@x.T, E[:5]+x[:5,:]), n(12,64))
t("const_resh", lambda x: x@E.reshape(64,60), n(12,64))
t("const_heads", lambda x: jnp.einsum('td,hdk->thk',x,E.reshape(4,15,64).transpose(0,2,1)), n(12,64))
t("const_conv", lambda x: lax.conv(x,E[:32,:48].reshape(32,3,4,4),(4,4),'VALID'), n(2,3,16,16))

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
for name in sys.argv[2:] or T:
    write(folder, name, *T[name])
