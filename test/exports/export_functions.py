"""Exports functions and layers of PyTorch: export_functions.py DIR [NAME...]"""

import sys
import warnings

import torch
import torch.nn as nn
import torch.nn.functional as F

from export import export

warnings.filterwarnings("ignore")
torch.manual_seed(0)
h=lambda *s: torch.randn(*s).half()
I=lambda n,*s: torch.randint(0,n,s)
class M(nn.Module):
    def __init__(s,fn,**m):
        super().__init__(); s.fn=fn
        for k,v in m.items(): setattr(s,k,v)
    def forward(s,*a): return s.fn(s,*a)
C={}
def c(name,f,*a,**m): C[name]=(f,a,m)
c("cumsum",lambda s,x:torch.cumsum(x,1),h(4,70))
c("kv_index_put",lambda s,x,i,v:x.index_put((i,),v),h(32,64),torch.tensor([3,7,9]),h(3,64))
c("index_put_acc",lambda s,x,i,v:x.index_put((i,),v,accumulate=True),h(32,64),torch.tensor([3,7,3]),h(3,64))
c("scatter_add",lambda s,x,i,v:x.scatter_add(0,i,v),h(32,64),I(32,8,64),h(8,64))
c("index_add",lambda s,x,i,v:x.index_add(0,i,v),h(32,64),I(32,8),h(8,64))
c("kv_index_copy",lambda s,x,i,v:x.index_copy(1,i,v),h(2,32,64),torch.tensor([5]),h(2,1,64))
c("kv_scatter",lambda s,x,i,v:x.scatter(1,i,v),h(2,32,64),torch.full((2,1,64),5),h(2,1,64))
c("sort",lambda s,x:torch.sort(x,-1)[0],h(4,64))
c("topk",lambda s,x:torch.topk(x,5)[0],h(4,64))
c("argmax",lambda s,x:torch.argmax(x,-1),h(4,64))
c("one_hot",lambda s,i:F.one_hot(i,16).half(),I(16,8))
c("gather_dim1",lambda s,x,i:x.gather(1,i),h(8,64),I(64,8,3))
c("last_token",lambda s,x,i:x[torch.arange(4),i],h(4,16,64),I(16,4))
c("take_along",lambda s,x,i:torch.take_along_dim(x,i,1),h(8,64),I(64,8,3))
c("roll",lambda s,x:torch.roll(x,3,1),h(4,64))
c("flip",lambda s,x:x.flip(1),h(4,64))
c("tril",lambda s,x:torch.tril(x),h(64,64))
c("cross_entropy",lambda s,x,t:F.cross_entropy(x.float(),t).half(),h(8,64),I(64,8))
c("nll",lambda s,x,t:F.nll_loss(F.log_softmax(x,-1),t),h(8,64),I(64,8))
c("embedding_bag",lambda s,i:F.embedding_bag(i,s.w,mode="sum"),I(32,4,8),w=nn.Parameter(h(32,64)))
c("masked_fill_len",lambda s,x,l:x.masked_fill(torch.arange(64)[None]>=l[:,None],-1e4),h(4,64),
    torch.tensor([3,64,10,1]))
c("pad_mask",lambda s,x,m:torch.softmax(x+(1.0-m[:,None].half())*-1e4,-1),h(2,8,64),I(2,2,64))
c("where_pos",lambda s,k,v,p:torch.where((torch.arange(32)==p)[None,:,None],v,k),h(2,32,64),h(2,1,64),torch.tensor(5))
c("groupnorm",lambda s,x:s.n(x),h(2,32,8,8),n=nn.GroupNorm(4,32))
c("batchnorm",lambda s,x:s.n(x),h(2,32,8,8),n=nn.BatchNorm2d(32))
c("upsample_nearest",lambda s,x:F.interpolate(x,scale_factor=2),h(1,16,8,8))
c("upsample_bilinear",lambda s,x:F.interpolate(x,scale_factor=2,mode="bilinear"),h(1,16,8,8))
c("unfold",lambda s,x:F.unfold(x,3),h(1,4,8,8))
c("pixel_shuffle",lambda s,x:F.pixel_shuffle(x,2),h(1,16,8,8))
c("lstm",lambda s,x:s.n(x)[0],h(4,5,32),n=nn.LSTM(32,64,batch_first=True))
c("gru",lambda s,x:s.n(x)[0],h(4,5,32),n=nn.GRU(32,64,batch_first=True))
c("lstm_cell",lambda s,x,a,b:s.n(x,(a,b))[0],h(4,32),h(4,64),h(4,64),n=nn.LSTMCell(32,64))
c("gru_cell",lambda s,x,a:s.n(x,a),h(4,32),h(4,64),n=nn.GRUCell(32,64))
c("mha",lambda s,x:s.n(x,x,x)[0],h(2,64,128),n=nn.MultiheadAttention(128,4,batch_first=True))
c("encoder_layer",lambda s,x:s.n(x),h(2,64,128),n=nn.TransformerEncoderLayer(128,4,256,batch_first=True))
c("sdpa_causal",lambda s,q,k,v:F.scaled_dot_product_attention(q,k,v,is_causal=True),h(2,4,64,32),h(2,4,64,32),
    h(2,4,64,32))
c("sdpa_mask",lambda s,q,k,v,m:F.scaled_dot_product_attention(q,k,v,attn_mask=m),h(2,4,64,32),h(2,4,64,32),h(2,4,64,32),
    torch.ones(2,1,64,64,dtype=torch.bool))
c("einsum_odd",lambda s,a,b:torch.einsum("bik,bjk->bij",a,b),h(3,5,34),h(3,7,34))
c("rank5_bmm",lambda s,a,b:a@b,h(2,3,2,5,34),h(2,3,2,34,7))
c("linear_odd_batch",lambda s,x:s.n(x),h(3,19,34),n=nn.Linear(34,5))
c("linear_vocab",lambda s,x:s.n(x),h(2,16,256),n=nn.Linear(256,1000))
c("conv1x1",lambda s,x:s.n(x),h(1,16,8,8),n=nn.Conv2d(16,32,1))
c("conv3x3",lambda s,x:s.n(x),h(2,16,9,9),n=nn.Conv2d(16,32,3,padding=1))
c("conv_s2",lambda s,x:s.n(x),h(1,3,17,17),n=nn.Conv2d(3,16,7,2,3))
c("conv_dil",lambda s,x:s.n(x),h(1,8,16,16),n=nn.Conv2d(8,8,3,padding=2,dilation=2))
c("conv_grouped",lambda s,x:s.n(x),h(1,16,8,8),n=nn.Conv2d(16,32,3,groups=4))
c("conv_dw",lambda s,x:s.n(x),h(1,16,8,8),n=nn.Conv2d(16,16,3,padding=1,groups=16))
c("conv_dw_mult",lambda s,x:s.n(x),h(1,8,8,8),n=nn.Conv2d(8,16,3,padding=1,groups=8))
c("conv_patch",lambda s,x:s.n(x),h(1,3,32,32),n=nn.Conv2d(3,64,8,8))
c("conv_transpose",lambda s,x:s.n(x),h(1,8,8,8),n=nn.ConvTranspose2d(8,16,2,2))
c("conv1d",lambda s,x:s.n(x),h(2,8,50),n=nn.Conv1d(8,16,3,2,1))
c("conv1d_causal_dw",lambda s,x:s.n(x)[...,:50],h(2,16,50),n=nn.Conv1d(16,16,4,padding=3,groups=16))
c("maxpool2",lambda s,x:F.max_pool2d(x,2),h(1,16,8,8))
c("maxpool3s2",lambda s,x:F.max_pool2d(x,3,2,1),h(1,16,9,9))
c("maxpool_ceil",lambda s,x:F.max_pool2d(x,3,2,ceil_mode=True),h(1,16,8,8))
c("avgpool2",lambda s,x:F.avg_pool2d(x,2),h(1,16,8,8))
c("avgpool3",lambda s,x:F.avg_pool2d(x,3,2,1,count_include_pad=False),h(1,16,9,9))
c("adaptive_avg",lambda s,x:F.adaptive_avg_pool2d(x,1),h(1,16,7,7))
c("resnet_block",lambda s,x:F.relu(x+s.b(s.y(F.relu(s.a(s.x(x)))))),h(1,32,8,8),
    x=nn.Conv2d(32,32,3,padding=1,bias=False),y=nn.Conv2d(32,32,3,padding=1,bias=False),a=nn.BatchNorm2d(32),
    b=nn.BatchNorm2d(32))
for n,f in dict(sin=torch.sin,cos=torch.cos,tan=torch.tan,round=torch.round,trunc=torch.trunc,sign=torch.sign,
    floor=torch.floor,ceil=torch.ceil,frac=torch.frac,exp2=torch.exp2,atan=torch.atan,sinh=torch.sinh,cosh=torch.cosh,
    asinh=torch.asinh,erf=torch.erf,log1p=torch.log1p,log10=lambda x:torch.log10(x.abs()),expm1=torch.expm1,
    softplus=F.softplus,mish=F.mish,elu=F.elu,selu=F.selu,hardswish=F.hardswish,hardsigmoid=F.hardsigmoid,
    gelu_tanh=lambda x:F.gelu(x,approximate="tanh"),leaky=F.leaky_relu,pow25=lambda x:x.abs()**2.5,
    cbrt=lambda x:x.abs()**(1/3),rsqrt=lambda x:x.abs().rsqrt(),logsigmoid=F.logsigmoid,glu=lambda x:F.glu(x,-1),
    remainder=lambda x:x%1.5,fmod=lambda x:torch.fmod(x,1.5)).items():
    c("act_"+n,lambda s,x,f=f:f(x),h(8,64))
c("pow_tensor",lambda s,x,y:x.abs()**y,h(8,64),h(8,64))
c("atan2",lambda s,x,y:torch.atan2(x,y),h(8,64),h(8,64))
c("int_add",lambda s,a,b:a+b,I(100,8,64).int(),I(100,8,64).int())
c("int8_weight",lambda s,x:F.linear(x,s.w.half()*s.sc),h(8,64),
    w=nn.Parameter(I(100,32,64).to(torch.int8),requires_grad=False),sc=nn.Parameter(h(32,1)))
c("fake_quant",lambda s,x:torch.clamp(torch.round(x/0.1),-128,127)*0.1,h(8,64))
c("rope_pos",lambda s,x,p:(lambda a:torch.cat([x[...,:32]*a.cos()-x[...,32:]*a.sin(),
    x[...,32:]*a.cos()+x[...,:32]*a.sin()],-1))((p[...,None].float()*(1e4**(-torch.arange(32).float()/32)))[:,
    None].half()),h(1,4,64,64),torch.arange(64)[None])
c("slice_pos",lambda s,x:x[:,3:20:2]*2,h(4,64,64))
c("moe_top2",lambda s,x:(lambda g:sum(((g[0]*(g[1]==e)).sum(-1,
    keepdim=True)*(x@s.w[e]) for e in range(4))))(torch.topk(torch.softmax(x@s.r,-1),2)),h(8,64),
    w=nn.Parameter(h(4,64,64)/8),r=nn.Parameter(h(64,4)/8))
E=dict(r=nn.Parameter(h(64,4)/8),r8=nn.Parameter(h(64,8)/8),bias=nn.Parameter(h(8)/8),a=nn.Parameter(h(4,64,96)/8),
    b=nn.Parameter(h(4,96,64)/8))
def experts(s,x): return torch.einsum("tef,efd->ted",F.silu(torch.einsum("td,edf->tef",x,s.a)),s.b)
def moe_dense(s,x):
    p=torch.softmax((x@s.r).float(),-1); w,i=torch.topk(p,2); w=w/w.sum(-1,keepdim=True)
    return (experts(s,x)*torch.zeros_like(p).scatter(1,i,w).to(x.dtype)[...,None]).sum(1)
def moe_top1(s,x):
    w,i=torch.softmax((x@s.r).float(),-1).max(-1)
    return torch.einsum("ted,te->td",experts(s,x),F.one_hot(i,4).to(x.dtype)*w[:,None].to(x.dtype))
def moe_groups(s,x):
    p=(x@s.r8).sigmoid().float(); c=p+s.bias.float()
    g=c.view(-1,2,4).topk(2,-1)[0].sum(-1); m=torch.zeros_like(g).scatter(1,torch.topk(g,1,-1)[1],1.0)
    c=c.masked_fill(~m.unsqueeze(-1).expand(-1,2,4).reshape(-1,8).bool(),0.0)
    i=torch.topk(c,2,-1)[1]; w=p.gather(1,i)
    return torch.zeros_like(p).scatter(1,i,w/(w.sum(-1,keepdim=True)+1e-20)*2.5).to(x.dtype)
def moe_capacity(s,x):
    w,i=torch.softmax((x@s.r).float(),-1).max(-1); m=F.one_hot(i,4)
    return ((torch.cumsum(m,0)*m<=6)*m).to(x.dtype)*w[:,None].to(x.dtype)
def moe_expert_choice(s,x):
    w,i=torch.topk(torch.softmax((x@s.r).float(),-1).t(),5)
    y=torch.bmm(F.silu(torch.bmm(x[i],s.a)),s.b)*w[...,None].to(x.dtype)
    return torch.zeros_like(x).index_add(0,i.reshape(-1),y.reshape(-1,x.shape[1]))
for f in (moe_dense,moe_top1,moe_groups,moe_capacity,moe_expert_choice): c(f.__name__,f,h(20,64),**E)
def top_p(s,x):
    v,i=torch.sort(x,-1,True)
    return torch.zeros_like(v).scatter(1,i,(torch.cumsum(torch.softmax(v,-1),-1)<0.9).to(v.dtype)*v)
c("top_p",top_p,h(2,64))
c("argsort",lambda s,x:x.gather(1,torch.argsort(x,dim=1,descending=True)),h(4,20))
c("argsort_int",lambda s,x:torch.argsort(x,1),torch.stack([torch.randperm(30) for _ in range(4)]))
c("median",lambda s,x:torch.sort(x,1)[0][:,10],h(4,21))
c("topk_dim0",lambda s,x:torch.topk(x,3,0)[0],h(30,70))
c("topk_mask",lambda s,x:torch.where(x<torch.topk(x,5)[0][:,-1:],torch.full_like(x,-1e4),x),h(4,300))
c("kthvalue",lambda s,x:torch.kthvalue(x,3)[0],h(4,30))
c("layer_std",lambda s,x:(x-x.mean(-1,keepdim=True))/(x.std(-1,keepdim=True)+1e-3),h(8,96))
c("norm_l2",lambda s,x:F.normalize(x,dim=-1),h(8,96))
c("cosine",lambda s,x,y:F.cosine_similarity(x,y,-1),h(8,96),h(8,96))
c("cdist",lambda s,x,y:torch.cdist(x,y),h(8,64),h(12,64))
c("logsumexp",lambda s,x:torch.logsumexp(x,-1),h(8,96))
c("var",lambda s,x:x.var(-1),h(8,96))
c("prod",lambda s,x:x.prod(-1),h(8,9))
c("any",lambda s,x:(x>2).any(-1).half(),h(8,96))
c("amax2",lambda s,x:x.amax((1,2)),h(4,9,33))
c("repeat_inter",lambda s,x:x.repeat_interleave(3,1)*2,h(2,4,64))
c("stack",lambda s,x,y:torch.stack([x,y],1),h(4,64),h(4,64))
c("chunk",lambda s,x:torch.cat(x.chunk(3,-1)[::-1],-1),h(4,96))
c("reflect_pad",lambda s,x:F.pad(x,(2,2),mode="reflect"),h(2,4,64))
c("const_pad",lambda s,x:F.pad(x,(1,2,3,0)),h(2,9,33))
for name in sys.argv[2:] or list(C):
    function, inputs, parts = C[name]
    export(sys.argv[1], name, M(function, **parts), inputs)
