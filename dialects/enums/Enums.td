//===- Enums.td - enums of all dialects --------------------*- tablegen -*-===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
// All enums are in one file, because tablegen writes every enum that it reads. build.rs generates Rust constants from
// them (`dialect::ods`).
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_ENUMS_TD
#define SPYRE_ENUMS_TD

include "mlir/IR/EnumAttr.td"

class Spyre_Enum<string enumNamespace, string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::" # enumNamespace;
  let genSpecializedAttr = 0;
}

def Machine_Memory : Spyre_Enum<"machine", "Memory", "memory of a value", [
  I32EnumAttrCase<"Hbm", 0, "hbm">,
  I32EnumAttrCase<"Lx", 1, "lx">,
  I32EnumAttrCase<"Pool", 2, "pool">
]>;

// Rows of Formats.def, in order. Enums.cpp does not compile if they differ, and a unit test compares the names.
def Machine_Format : Spyre_Enum<"machine", "Format", "number format of the device", [
  I32EnumAttrCase<"Sen169Fp16", 0, "SEN169_FP16">,
  I32EnumAttrCase<"IeeeFp32", 1, "IEEE_FP32">,
  I32EnumAttrCase<"IeeeInt32", 2, "IEEE_INT32">,
  I32EnumAttrCase<"SenUint32", 3, "SENUINT32">,
  I32EnumAttrCase<"SenInt8", 4, "SENINT8">,
  I32EnumAttrCase<"Sen143Fp8", 5, "SEN143_FP8">,
  I32EnumAttrCase<"Sen152Fp8", 6, "SEN152_FP8">
]>;

// Variants of `Family` of the crate `machine`, in order.
def Machine_Family : Spyre_Enum<"machine", "Family", "access pattern of a device function", [
  I32EnumAttrCase<"Pointwise", 0, "pointwise">,
  I32EnumAttrCase<"Reduce", 1, "reduce">,
  I32EnumAttrCase<"Matmul", 2, "matmul">,
  I32EnumAttrCase<"Copy", 3, "copy">,
  I32EnumAttrCase<"Gather", 4, "gather">
]>;

def Spyre_KnobKind : Spyre_Enum<"spyre", "KnobKind", "notation of the values of a knob", [
  I32EnumAttrCase<"List", 0, "list">,
  I32EnumAttrCase<"Range", 1, "range">,
  I32EnumAttrCase<"Pow2", 2, "pow2">
]>;

// The names are those of torch-spyre.
def Sdsc_Arrangement : Spyre_Enum<"sdsc", "Arrangement", "order of elements in a stick", [
  I32EnumAttrCase<"Standard", 0, "STANDARD">,
  I32EnumAttrCase<"Dl16ToFp32", 1, "DL16_TO_FP32">,
  I32EnumAttrCase<"Fp32ToDl16", 2, "FP32_TO_DL16">,
  I32EnumAttrCase<"Qfp8Ch", 3, "QFP8CH">,
  I32EnumAttrCase<"Qfp8Wt", 4, "QFP8WT">,
  I32EnumAttrCase<"Exx2", 5, "EXX2">
]>;

def Sdsc_Role : I32EnumAttr<"Role", "what a buffer of the program is for", [
  I32EnumAttrCase<"Input", 0, "input">,
  I32EnumAttrCase<"Constant", 1, "constant">,
  I32EnumAttrCase<"Temporary", 2, "temporary">,
  I32EnumAttrCase<"Output", 3, "output">
]> {
  let cppNamespace = "::sdsc";
}

#endif // SPYRE_ENUMS_TD
