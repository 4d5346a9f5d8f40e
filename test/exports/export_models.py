"""Exports small configurations of Hugging Face models with random weights.

Usage: export_models.py DIR [NAME...]. The name `architectures` stands for all hybrid, video and depth models.
"""

import sys
import warnings

import torch
import transformers as T

from export import export

warnings.filterwarnings("ignore")
torch.manual_seed(0)
D=dict(hidden_size=128,num_hidden_layers=1,num_attention_heads=4,intermediate_size=256,vocab_size=512,
    max_position_embeddings=128)
ids=torch.randint(0,500,(1,64))
S=64
cm=torch.triu(torch.full((S,S),torch.finfo(torch.float16).min),1)[None,None].half()
class W(torch.nn.Module):
    def __init__(s,m,f): super().__init__(); s.m=m; s.f=f
    def forward(s,*a):
        o=s.f(s.m,*a)
        if hasattr(o,"to_tuple"): o=o.to_tuple()
        if isinstance(o,(tuple,list)): o=[t for t in o if torch.is_tensor(t)][0]
        return o
def dec(cls,cfg,mask=True):
    def b():
        m=cls(cfg)
        native=W(m,lambda m,i:m(input_ids=i,use_cache=False))
        explicit=W(m,lambda m,i,k,p:m(input_ids=i,attention_mask=k,position_ids=p,use_cache=False))
        return [("",native,(ids,)),("__mask4d",explicit,(ids,cm,torch.arange(S)[None]))]
    return b
def enc(cls,cfg,mask=False):
    def b():
        m=cls(cfg)
        r=[("",W(m,lambda m,i:m(input_ids=i)),(ids,))]
        r.append(("__mask",W(m,lambda m,i,k:m(input_ids=i,attention_mask=k)),(ids,torch.ones(1,S,dtype=torch.long))))
        return r
    return b
def vis(cls,cfg,shape=(1,3,32,32)):
    def b():
        m=cls(cfg); return [("",W(m,lambda m,x:m(x)),(torch.randn(shape).half(),))]
    return b
kv=dict(num_key_value_heads=2)
V=dict(hidden_size=128,num_hidden_layers=1,num_attention_heads=4,intermediate_size=256,image_size=32,patch_size=8)
B={}
def add(n,f): B[n]=f
add("llama",lambda:dec(T.LlamaForCausalLM,T.LlamaConfig(**D,**kv))())
add("granite",lambda:dec(T.GraniteForCausalLM,T.GraniteConfig(**D,**kv))())
add("mistral",lambda:dec(T.MistralForCausalLM,T.MistralConfig(**D,**kv,sliding_window=16))())
add("qwen2",lambda:dec(T.Qwen2ForCausalLM,T.Qwen2Config(**D,**kv))())
add("qwen3",lambda:dec(T.Qwen3ForCausalLM,T.Qwen3Config(**D,**kv,head_dim=32))())
add("phi3",lambda:dec(T.Phi3ForCausalLM,T.Phi3Config(**D,**kv,pad_token_id=0))())
add("gpt_neox",lambda:dec(T.GPTNeoXForCausalLM,T.GPTNeoXConfig(**D))())
add("falcon",lambda:dec(T.FalconForCausalLM,T.FalconConfig(hidden_size=128,num_hidden_layers=1,num_attention_heads=4,
    vocab_size=512))())
add("gpt2",lambda:dec(T.GPT2LMHeadModel,T.GPT2Config(n_embd=128,n_layer=1,n_head=4,vocab_size=512,n_positions=128))())
add("opt",lambda:enc(T.OPTForCausalLM,T.OPTConfig(hidden_size=128,num_hidden_layers=1,num_attention_heads=4,ffn_dim=256,
    vocab_size=512,max_position_embeddings=128,word_embed_proj_dim=128))())
add("bloom",lambda:enc(T.BloomForCausalLM,T.BloomConfig(hidden_size=128,n_layer=1,n_head=4,vocab_size=512))())
add("gemma",lambda:dec(T.GemmaForCausalLM,T.GemmaConfig(**D,**kv,head_dim=32))())
add("gemma2",lambda:dec(T.Gemma2ForCausalLM,T.Gemma2Config(**D,**kv,head_dim=32))())
# Mixtures of experts, with 16 positions. torch-mlir lowers only the implementation that looks up the weights.
def moe(cls,cfg):
    def b():
        cfg._experts_implementation="batched_mm"
        m=cls(cfg)
        for p in m.parameters():
            if p.dim()<2 and not torch.isfinite(p).all(): torch.nn.init.zeros_(p)
            elif p.dim()>1: torch.nn.init.normal_(p,std=0.05)
        explicit=W(m,lambda m,i,k,p:m(input_ids=i,attention_mask=k,position_ids=p,use_cache=False))
        return [("",explicit,(ids[:,:16]%128,cm[...,:16,:16],torch.arange(16)[None]))]
    return b
E=dict(hidden_size=64,num_hidden_layers=1,num_attention_heads=2,num_key_value_heads=2,intermediate_size=128,
    vocab_size=128,max_position_embeddings=64)
add("mixtral",lambda:moe(T.MixtralForCausalLM,T.MixtralConfig(**E,num_local_experts=4))())
add("granitemoe",lambda:moe(T.GraniteMoeForCausalLM,T.GraniteMoeConfig(**E,num_local_experts=4))())
add("granitemoe_shared",lambda:moe(T.GraniteMoeSharedForCausalLM,
    T.GraniteMoeSharedConfig(**E,num_local_experts=4,shared_intermediate_size=64))())
add("qwen2moe",lambda:moe(T.Qwen2MoeForCausalLM,T.Qwen2MoeConfig(**E,num_experts=4,moe_intermediate_size=64,
    shared_expert_intermediate_size=64,num_experts_per_tok=2))())
add("qwen3moe",lambda:moe(T.Qwen3MoeForCausalLM,T.Qwen3MoeConfig(**E,num_experts=8,moe_intermediate_size=64,
    num_experts_per_tok=2,head_dim=32))())
add("olmoe",lambda:moe(T.OlmoeForCausalLM,T.OlmoeConfig(**E,num_experts=4,num_experts_per_tok=2))())
add("gpt_oss",lambda:moe(T.GptOssForCausalLM,T.GptOssConfig(**E,num_local_experts=4,num_experts_per_tok=2,
    head_dim=32))())
add("llama_seqcls",lambda:enc(T.LlamaForSequenceClassification,T.LlamaConfig(**D,**kv,pad_token_id=0))())
add("bert",lambda:enc(T.BertModel,T.BertConfig(**D))())
add("bert_seqcls",lambda:enc(T.BertForSequenceClassification,T.BertConfig(**D))())
add("bert_mlm",lambda:enc(T.BertForMaskedLM,T.BertConfig(**D))())
add("roberta",lambda:enc(T.RobertaModel,T.RobertaConfig(**D))())
add("albert",lambda:enc(T.AlbertModel,T.AlbertConfig(**D,embedding_size=64))())
add("electra",lambda:enc(T.ElectraModel,T.ElectraConfig(**D,embedding_size=64))())
add("distilbert",lambda:enc(T.DistilBertModel,T.DistilBertConfig(dim=128,n_layers=1,n_heads=4,hidden_dim=256,
    vocab_size=512,max_position_embeddings=128))())
add("deberta_v2",lambda:enc(T.DebertaV2Model,T.DebertaV2Config(**D,relative_attention=True,position_buckets=32,
    pos_att_type=["p2c","c2p"]))())
add("modernbert",lambda:enc(T.ModernBertModel,T.ModernBertConfig(**D))())
add("mpnet",lambda:enc(T.MPNetModel,T.MPNetConfig(**D))())
add("t5enc",lambda:enc(T.T5EncoderModel,T.T5Config(d_model=128,d_kv=32,d_ff=256,num_layers=1,num_heads=4,
    vocab_size=512))())
add("xlm_roberta",lambda:enc(T.XLMRobertaModel,T.XLMRobertaConfig(**D))())
add("mobilebert",lambda:enc(T.MobileBertModel,T.MobileBertConfig(vocab_size=512,hidden_size=128,num_hidden_layers=1,
    num_attention_heads=4,intermediate_size=128,intra_bottleneck_size=64,embedding_size=64))())
add("clip_text",lambda:enc(T.CLIPTextModel,T.CLIPTextConfig(**{**D,"max_position_embeddings":77}))())
add("clip_vision",lambda:vis(T.CLIPVisionModel,T.CLIPVisionConfig(**V))())
add("vit",lambda:vis(T.ViTModel,T.ViTConfig(**V))())
add("vit_cls",lambda:vis(T.ViTForImageClassification,T.ViTConfig(**V,num_labels=10))())
add("deit",lambda:vis(T.DeiTModel,T.DeiTConfig(**V))())
add("dinov2",lambda:vis(T.Dinov2Model,T.Dinov2Config(**V,mlp_ratio=2))())
add("siglip",lambda:vis(T.SiglipVisionModel,T.SiglipVisionConfig(**V))())
add("beit",lambda:vis(T.BeitModel,T.BeitConfig(**V))())
add("swin",lambda:vis(T.SwinModel,T.SwinConfig(image_size=32,patch_size=4,embed_dim=32,depths=[1,1],num_heads=[1,2],
    window_size=4))())
add("segformer",lambda:vis(T.SegformerModel,T.SegformerConfig(num_encoder_blocks=2,depths=[1,1],sr_ratios=[2,1],
    hidden_sizes=[32,64],patch_sizes=[7,3],strides=[4,2],num_attention_heads=[1,2],mlp_ratios=[2,2]))())
add("convnext",lambda:vis(T.ConvNextModel,T.ConvNextConfig(hidden_sizes=[32,64],depths=[1,1],num_stages=2))())
add("resnet",lambda:vis(T.ResNetModel,T.ResNetConfig(embedding_size=32,hidden_sizes=[32,64],depths=[1,1],
    layer_type="basic"))())
add("resnet_bottleneck",lambda:vis(T.ResNetModel,T.ResNetConfig(embedding_size=32,hidden_sizes=[64,128],depths=[1,1],
    layer_type="bottleneck"))())
add("mobilenet_v2",lambda:vis(T.MobileNetV2Model,T.MobileNetV2Config(depth_multiplier=0.35,image_size=32))())
add("mobilenet_v1",lambda:vis(T.MobileNetV1Model,T.MobileNetV1Config(depth_multiplier=0.25,image_size=32))())
add("poolformer",lambda:vis(T.PoolFormerModel,T.PoolFormerConfig(hidden_sizes=[32,64],depths=[1,1],num_encoder_blocks=2,
    patch_sizes=[7,3],strides=[4,2],padding=[2,1]))())
add("regnet",lambda:vis(T.RegNetModel,T.RegNetConfig(embedding_size=32,hidden_sizes=[32,64],depths=[1,1],
    groups_width=16))())
add("wav2vec2",lambda:vis(T.Wav2Vec2Model,T.Wav2Vec2Config(hidden_size=128,num_hidden_layers=1,num_attention_heads=4,
    intermediate_size=256,conv_dim=(32,32),conv_stride=(5,2),conv_kernel=(10,3),num_feat_extract_layers=2,
    num_conv_pos_embeddings=16,num_conv_pos_embedding_groups=4),(1,1000))())
add("whisper_enc",lambda:vis(lambda c:T.WhisperModel(c).encoder,
    T.WhisperConfig(d_model=128,encoder_layers=1,decoder_layers=1,encoder_attention_heads=4,decoder_attention_heads=4,
    encoder_ffn_dim=256,decoder_ffn_dim=256,num_mel_bins=16,max_source_positions=50,vocab_size=512,pad_token_id=0,
    bos_token_id=1,eos_token_id=2,decoder_start_token_id=1),(1,16,100))())
add("mamba",lambda:enc(T.MambaForCausalLM,T.MambaConfig(hidden_size=64,num_hidden_layers=1,vocab_size=512,
    state_size=8))())
# Models of other architectures: state spaces and attention, slices at odd offsets, video, depth.
A={}
def architecture(n,f): A[n]=f
architecture("mamba2",lambda:enc(T.Mamba2ForCausalLM,T.Mamba2Config(hidden_size=64,num_hidden_layers=1,vocab_size=512,
    state_size=16,num_heads=4,head_dim=32,n_groups=1,chunk_size=16,expand=2))())
architecture("bamba",lambda:dec(T.BambaForCausalLM,T.BambaConfig(**{k:v for k,v in D.items() if k!='num_hidden_layers'},
    num_hidden_layers=2,**kv,attn_layer_indices=[1],mamba_n_heads=8,mamba_d_head=32,mamba_d_state=16,mamba_n_groups=1,
    mamba_chunk_size=16))())
architecture("falcon_h1",lambda:dec(T.FalconH1ForCausalLM,T.FalconH1Config(**D,**kv,mamba_n_heads=8,mamba_d_head=32,
    mamba_d_state=16,mamba_n_groups=1,mamba_chunk_size=16,mamba_d_ssm=256,head_dim=32))())
architecture("granitemoehybrid",lambda:moe(T.GraniteMoeHybridForCausalLM,
    T.GraniteMoeHybridConfig(**{**E,"num_hidden_layers":2},num_local_experts=4,num_experts_per_tok=2,
    shared_intermediate_size=64,layer_types=["mamba","attention"],mamba_n_heads=4,mamba_d_head=32,mamba_d_state=16,
    mamba_n_groups=1,mamba_chunk_size=16))())
architecture("wav2vec2_conformer",lambda:vis(T.Wav2Vec2ConformerModel,
    T.Wav2Vec2ConformerConfig(hidden_size=128,num_hidden_layers=1,num_attention_heads=4,intermediate_size=256,
    conv_dim=(32,32),conv_stride=(5,2),conv_kernel=(10,3),num_feat_extract_layers=2,num_conv_pos_embeddings=16,
    num_conv_pos_embedding_groups=4,position_embeddings_type="relative",vocab_size=32,apply_spec_augment=False),
    (1,800))())
architecture("mobilevit",lambda:vis(T.MobileViTModel,T.MobileViTConfig(image_size=64,patch_size=2,
    hidden_sizes=[32,48,64],neck_hidden_sizes=[16,16,24,32,48,64,96],num_attention_heads=4),(1,3,64,64))())
architecture("hiera",lambda:vis(T.HieraModel,T.HieraConfig(embed_dim=32,image_size=[64,64],depths=[1,1],num_heads=[1,2],
    embed_dim_multiplier=2.0,num_query_pool=1,query_stride=[2,2],masked_unit_size=[4,4],
    masked_unit_attention=[True,False]),(1,3,64,64))())
architecture("focalnet",lambda:vis(T.FocalNetModel,T.FocalNetConfig(image_size=32,patch_size=4,embed_dim=32,
    depths=[1,1],hidden_sizes=[32,64],focal_levels=[2,2],focal_windows=[3,3]))())
architecture("depth_anything",lambda:vis(T.DepthAnythingForDepthEstimation,
    T.DepthAnythingConfig(backbone_config=T.Dinov2Config(hidden_size=64,num_hidden_layers=2,num_attention_heads=2,
    mlp_ratio=2,image_size=56,patch_size=14,out_features=["stage1","stage2"],reshape_hidden_states=False),patch_size=14,
    reassemble_hidden_size=64,neck_hidden_sizes=[16,32],fusion_hidden_size=16,head_hidden_size=8,
    reassemble_factors=[2,1]),(1,3,56,56))())
architecture("zoedepth",lambda:vis(T.ZoeDepthForDepthEstimation,
    T.ZoeDepthConfig(backbone_config=T.BeitConfig(hidden_size=64,num_hidden_layers=4,num_attention_heads=2,
    intermediate_size=128,image_size=32,patch_size=8,out_features=["stage1","stage2","stage3","stage4"],
    reshape_hidden_states=False,use_relative_position_bias=True),neck_hidden_sizes=[16,16,32,32],fusion_hidden_size=16,
    bottleneck_features=16,num_attractors=[4,2,2,1],bin_embedding_dim=16,num_relative_features=16,
    reassemble_factors=[4,2,1,0.5],bin_configurations=[{"n_bins":8,"min_depth":0.001,"max_depth":10.0,"name":None}]))())
architecture("timesformer",lambda:vis(T.TimesformerModel,T.TimesformerConfig(image_size=32,patch_size=8,num_frames=2,
    hidden_size=64,num_hidden_layers=1,num_attention_heads=2,intermediate_size=128),(1,2,3,32,32))())
architecture("xlnet",lambda:enc(T.XLNetModel,T.XLNetConfig(vocab_size=512,d_model=128,n_layer=1,n_head=4,
    d_inner=256))())
architecture("vjepa2",lambda:[("",W(T.VJEPA2Model(T.VJEPA2Config(patch_size=8,crop_size=32,frames_per_clip=4,
    tubelet_size=2,hidden_size=64,num_attention_heads=2,num_hidden_layers=1,mlp_ratio=2.0,pred_hidden_size=48,
    pred_num_attention_heads=2,pred_num_hidden_layers=1)),lambda m,x:m(x,skip_predictor=True)),
    (torch.randn(1,4,3,32,32).half(),))])
names=[own for name in sys.argv[2:] for own in (A if name=="architectures" else [name])]
for name in names or B:
    try:
        variants = {**B, **A}[name]()
    except Exception as error:
        print(f"{name}: cannot be built: {error}")
        continue
    for suffix, module, inputs in variants:
        for part in module.modules():
            if getattr(part, "config", None) is not None:
                part.config._attn_implementation = "eager"
        export(sys.argv[1], name + suffix, module, inputs)
