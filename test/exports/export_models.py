"""Small configurations of Hugging Face models with random weights: export_models.py DIR [NAME...]"""

import sys
import warnings

import torch
import transformers as T

from export import export

warnings.filterwarnings("ignore")
torch.manual_seed(0)
D=dict(hidden_size=128,num_hidden_layers=1,num_attention_heads=4,intermediate_size=256,vocab_size=512,max_position_embeddings=128)
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
        nat=W(m,lambda m,i:m(input_ids=i,use_cache=False))
        giv=W(m,lambda m,i,k,p:m(input_ids=i,attention_mask=k,position_ids=p,use_cache=False))
        return [("",nat,(ids,)),("__mask4d",giv,(ids,cm,torch.arange(S)[None]))]
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
add("falcon",lambda:dec(T.FalconForCausalLM,T.FalconConfig(hidden_size=128,num_hidden_layers=1,num_attention_heads=4,vocab_size=512))())
add("gpt2",lambda:dec(T.GPT2LMHeadModel,T.GPT2Config(n_embd=128,n_layer=1,n_head=4,vocab_size=512,n_positions=128))())
add("opt",lambda:enc(T.OPTForCausalLM,T.OPTConfig(hidden_size=128,num_hidden_layers=1,num_attention_heads=4,ffn_dim=256,vocab_size=512,max_position_embeddings=128,word_embed_proj_dim=128))())
add("bloom",lambda:enc(T.BloomForCausalLM,T.BloomConfig(hidden_size=128,n_layer=1,n_head=4,vocab_size=512))())
add("gemma",lambda:dec(T.GemmaForCausalLM,T.GemmaConfig(**D,**kv,head_dim=32))())
add("gemma2",lambda:dec(T.Gemma2ForCausalLM,T.Gemma2Config(**D,**kv,head_dim=32))())
# A mixture of experts: 16 positions; of the forms that transformers has for the experts, torch-mlir takes the one that looks their weights up.
def moe(cls,cfg):
    def b():
        cfg._experts_implementation="batched_mm"
        m=cls(cfg)
        for p in m.parameters():
            if p.dim()<2 and not torch.isfinite(p).all(): torch.nn.init.zeros_(p)
            elif p.dim()>1: torch.nn.init.normal_(p,std=0.05)
        giv=W(m,lambda m,i,k,p:m(input_ids=i,attention_mask=k,position_ids=p,use_cache=False))
        return [("",giv,(ids[:,:16]%128,cm[...,:16,:16],torch.arange(16)[None]))]
    return b
E=dict(hidden_size=64,num_hidden_layers=1,num_attention_heads=2,num_key_value_heads=2,intermediate_size=128,vocab_size=128,max_position_embeddings=64)
add("mixtral",lambda:moe(T.MixtralForCausalLM,T.MixtralConfig(**E,num_local_experts=4))())
add("granitemoe",lambda:moe(T.GraniteMoeForCausalLM,T.GraniteMoeConfig(**E,num_local_experts=4))())
add("granitemoe_shared",lambda:moe(T.GraniteMoeSharedForCausalLM,T.GraniteMoeSharedConfig(**E,num_local_experts=4,shared_intermediate_size=64))())
add("qwen2moe",lambda:moe(T.Qwen2MoeForCausalLM,T.Qwen2MoeConfig(**E,num_experts=4,moe_intermediate_size=64,shared_expert_intermediate_size=64,num_experts_per_tok=2))())
add("qwen3moe",lambda:moe(T.Qwen3MoeForCausalLM,T.Qwen3MoeConfig(**E,num_experts=8,moe_intermediate_size=64,num_experts_per_tok=2,head_dim=32))())
add("olmoe",lambda:moe(T.OlmoeForCausalLM,T.OlmoeConfig(**E,num_experts=4,num_experts_per_tok=2))())
add("gpt_oss",lambda:moe(T.GptOssForCausalLM,T.GptOssConfig(**E,num_local_experts=4,num_experts_per_tok=2,head_dim=32))())
add("llama_seqcls",lambda:enc(T.LlamaForSequenceClassification,T.LlamaConfig(**D,**kv,pad_token_id=0))())
add("bert",lambda:enc(T.BertModel,T.BertConfig(**D))())
add("bert_seqcls",lambda:enc(T.BertForSequenceClassification,T.BertConfig(**D))())
add("bert_mlm",lambda:enc(T.BertForMaskedLM,T.BertConfig(**D))())
add("roberta",lambda:enc(T.RobertaModel,T.RobertaConfig(**D))())
add("albert",lambda:enc(T.AlbertModel,T.AlbertConfig(**D,embedding_size=64))())
add("electra",lambda:enc(T.ElectraModel,T.ElectraConfig(**D,embedding_size=64))())
add("distilbert",lambda:enc(T.DistilBertModel,T.DistilBertConfig(dim=128,n_layers=1,n_heads=4,hidden_dim=256,vocab_size=512,max_position_embeddings=128))())
add("deberta_v2",lambda:enc(T.DebertaV2Model,T.DebertaV2Config(**D,relative_attention=True,position_buckets=32,pos_att_type=["p2c","c2p"]))())
add("modernbert",lambda:enc(T.ModernBertModel,T.ModernBertConfig(**D))())
add("mpnet",lambda:enc(T.MPNetModel,T.MPNetConfig(**D))())
add("t5enc",lambda:enc(T.T5EncoderModel,T.T5Config(d_model=128,d_kv=32,d_ff=256,num_layers=1,num_heads=4,vocab_size=512))())
add("xlm_roberta",lambda:enc(T.XLMRobertaModel,T.XLMRobertaConfig(**D))())
add("mobilebert",lambda:enc(T.MobileBertModel,T.MobileBertConfig(vocab_size=512,hidden_size=128,num_hidden_layers=1,num_attention_heads=4,intermediate_size=128,intra_bottleneck_size=64,embedding_size=64))())
add("clip_text",lambda:enc(T.CLIPTextModel,T.CLIPTextConfig(**{**D,"max_position_embeddings":77}))())
add("clip_vision",lambda:vis(T.CLIPVisionModel,T.CLIPVisionConfig(**V))())
add("vit",lambda:vis(T.ViTModel,T.ViTConfig(**V))())
add("vit_cls",lambda:vis(T.ViTForImageClassification,T.ViTConfig(**V,num_labels=10))())
add("deit",lambda:vis(T.DeiTModel,T.DeiTConfig(**V))())
add("dinov2",lambda:vis(T.Dinov2Model,T.Dinov2Config(**V,mlp_ratio=2))())
add("siglip",lambda:vis(T.SiglipVisionModel,T.SiglipVisionConfig(**V))())
add("beit",lambda:vis(T.BeitModel,T.BeitConfig(**V))())
add("swin",lambda:vis(T.SwinModel,T.SwinConfig(image_size=32,patch_size=4,embed_dim=32,depths=[1,1],num_heads=[1,2],window_size=4))())
add("segformer",lambda:vis(T.SegformerModel,T.SegformerConfig(num_encoder_blocks=2,depths=[1,1],sr_ratios=[2,1],hidden_sizes=[32,64],patch_sizes=[7,3],strides=[4,2],num_attention_heads=[1,2],mlp_ratios=[2,2]))())
add("convnext",lambda:vis(T.ConvNextModel,T.ConvNextConfig(hidden_sizes=[32,64],depths=[1,1],num_stages=2))())
add("resnet",lambda:vis(T.ResNetModel,T.ResNetConfig(embedding_size=32,hidden_sizes=[32,64],depths=[1,1],layer_type="basic"))())
add("resnet_bottleneck",lambda:vis(T.ResNetModel,T.ResNetConfig(embedding_size=32,hidden_sizes=[64,128],depths=[1,1],layer_type="bottleneck"))())
add("mobilenet_v2",lambda:vis(T.MobileNetV2Model,T.MobileNetV2Config(depth_multiplier=0.35,image_size=32))())
add("mobilenet_v1",lambda:vis(T.MobileNetV1Model,T.MobileNetV1Config(depth_multiplier=0.25,image_size=32))())
add("poolformer",lambda:vis(T.PoolFormerModel,T.PoolFormerConfig(hidden_sizes=[32,64],depths=[1,1],num_encoder_blocks=2,patch_sizes=[7,3],strides=[4,2],padding=[2,1]))())
add("regnet",lambda:vis(T.RegNetModel,T.RegNetConfig(embedding_size=32,hidden_sizes=[32,64],depths=[1,1],groups_width=16))())
add("wav2vec2",lambda:vis(T.Wav2Vec2Model,T.Wav2Vec2Config(hidden_size=128,num_hidden_layers=1,num_attention_heads=4,intermediate_size=256,conv_dim=(32,32),conv_stride=(5,2),conv_kernel=(10,3),num_feat_extract_layers=2,num_conv_pos_embeddings=16,num_conv_pos_embedding_groups=4),(1,1000))())
add("whisper_enc",lambda:vis(lambda c:T.WhisperModel(c).encoder,T.WhisperConfig(d_model=128,encoder_layers=1,decoder_layers=1,encoder_attention_heads=4,decoder_attention_heads=4,encoder_ffn_dim=256,decoder_ffn_dim=256,num_mel_bins=16,max_source_positions=50,vocab_size=512,pad_token_id=0,bos_token_id=1,eos_token_id=2,decoder_start_token_id=1),(1,16,100))())
add("mamba",lambda:enc(T.MambaForCausalLM,T.MambaConfig(hidden_size=64,num_hidden_layers=1,vocab_size=512,state_size=8))())
for name in sys.argv[2:] or B:
    try:
        variants = B[name]()
    except Exception as error:
        print(f"{name}: cannot be built: {error}")
        continue
    for suffix, module, inputs in variants:
        for part in module.modules():
            if getattr(part, "config", None) is not None:
                part.config._attn_implementation = "eager"
        export(sys.argv[1], name + suffix, module, inputs)
