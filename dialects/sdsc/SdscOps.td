//===- SdscOps.td - programs, bundles, loops and op specs --*- tablegen -*-===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#ifndef SDSC_OPS_TD
#define SDSC_OPS_TD

include "SdscAttrs.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/SymbolInterfaces.td"

class Sdsc_Op<string mnemonic, list<Trait> traits = []> : Op<Sdsc_Dialect, mnemonic, traits>;

def Sdsc_ProgramOp : Sdsc_Op<"program", [IsolatedFromAbove, NoTerminator, SingleBlock, Symbol, SymbolTable]> {
  let summary = "A compiled program: its HBM buffers and its bundles in launch order";
  let description = [{
    `symbols` are the numbers that are known at launch only, each with its maximum. `sizes` are the sizes that are known at launch only, each
    with its maximum and what it is a multiple of.

    Constraints:
    * (program_c1) `symbols` gives every name a positive number;
    * (program_c2) the symbol of every loop is one of them, and the loop's count is its maximum;
    * (program_c3) `sizes` gives every name two positive numbers, of which the second divides the first;
    * (program_c4) the symbolic sizes of buffers and of op specs are among `sizes`, with these numbers.

    Example:
    ```mlir
    sdsc.program @main {
      sdsc.buffer @arg0 input 0 : tensor<512x1024xf16, #layout>
      sdsc.buffer @result0 output 0 : tensor<512x1024xf16, #layout>
      sdsc.bundle @bundle_0(@arg0, @result0) {
      }
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<DictionaryAttr>:$symbols,
                       OptionalAttr<DictionaryAttr>:$sizes);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
}

def Sdsc_BufferOp : Sdsc_Op<"buffer", [Symbol, HasParent<"ProgramOp">]> {
  let summary = "A tensor in HBM that the program owns or is given";
  let description = [{
    An input of integers that ops read as indices or compute with has an `index_range`, half-open: what its elements must keep to. An output of integers that the
    format does not hold has a `digit_base`: the first dimension has their upper and lower digits. Temporaries lie in one region of
    HBM, each at an `offset` in bytes during its `life`: from the first launch that uses it to the last. `symbolic` names the sizes of
    dimensions that are known at launch only: the type has their maxima.

    Constraints:
    * (buffer_c1) `role` is input, constant, temporary or output;
    * (buffer_c2) the type is a tensor with a device layout;
    * (buffer_c3) only a constant has a value, of the type's shape and element type;
    * (buffer_c4) `index_range`, if given, is of an input and has two numbers, the first below the second;
    * (buffer_c5) `offset` and `life` are of a temporary, which has both or neither;
    * (buffer_c6) `offset` is a multiple of 128 from 0, and `life` has two numbers from 0, the first not above the second;
    * (buffer_c7) `symbolic`, if given, is of an input or an output and has the name of a size, or nothing, for each dimension;
    * (buffer_c8) `digit_base`, if given, is above 1 and of an output of integers, whose first dimension has two digits.

    Example:
    ```mlir
    sdsc.buffer @arg0 input 0 : tensor<512x1024xf16, #spyre.layout<[16, 512, 64], [64, 1024, 1]>>
    sdsc.buffer @const0 constant 0 = dense<0.5> : tensor<1x1xf16> : tensor<1x1xf16, #spyre.layout<[1, 1, 64], [-1, -1, -1]>>
    sdsc.buffer @temp0 temporary 0 {life = array<i64: 0, 2>, offset = 8192 : i64}
        : tensor<512x1024xf16, #spyre.layout<[16, 512, 64], [64, 1024, 1]>>
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Sdsc_Role:$role, I64Attr:$position, TypeAttr:$type, OptionalAttr<ElementsAttr>:$value,
                       OptionalAttr<DenseI64ArrayAttr>:$index_range, OptionalAttr<I64Attr>:$digit_base, OptionalAttr<I64Attr>:$offset,
                       OptionalAttr<DenseI64ArrayAttr>:$life, OptionalAttr<StrArrayAttr>:$symbolic);
  let assemblyFormat = "$sym_name custom<Role>($role) $position (`=` $value^)? attr-dict `:` $type";
  let hasVerifier = 1;
}

def Sdsc_BundleOp : Sdsc_Op<"bundle", [IsolatedFromAbove, NoTerminator, SingleBlock, Symbol]> {
  let summary = "One kernel launch: op specs in counted loops";
  let description = [{
    Kernel argument `i` of the op specs is the `i`-th buffer in parentheses. `pool_bytes` is the HBM that the bundle
    allocates for itself.

    Constraints:
    * (bundle_c1) every op's hbm arguments are buffers of the bundle, if it names any;
    * (bundle_c2) every tensor has one advance per enclosing loop, or none.

    Example:
    ```mlir
    sdsc.bundle @bundle_0(@arg0, @result0) pool_bytes 4096 {
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, FlatSymbolRefArrayAttr:$buffers,
                       DefaultValuedAttr<ConfinedAttr<I64Attr, [IntNonNegative]>, "0">:$pool_bytes);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name `` custom<Buffers>($buffers) (`pool_bytes` $pool_bytes^)? attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
}

def Sdsc_LoopOp : Sdsc_Op<"loop", [NoTerminator, SingleBlock, ParentOneOf<["BundleOp", "LoopOp"]>]> {
  let summary = "A counted loop around op specs";
  let description = [{
    With a `symbol` the number of iterations is known at launch only, and `count` is the largest; `dim` is then the name of the
    dimension whose tiles it counts.

    Constraints:
    * (loop_c1) the count is positive;
    * (loop_c2) there is a `dim` where there is a `symbol`, and only there; neither is empty.

    Examples: `sdsc.loop 4 { ... }`, `sdsc.loop 4 attributes {dim = "M", symbol = "T"} { ... }`
  }];
  let arguments = (ins I64Attr:$count, OptionalAttr<StrAttr>:$symbol, OptionalAttr<StrAttr>:$dim);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$count attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

def Sdsc_OpSpecOp : Sdsc_Op<"op", []> {
  let summary = "One device function on every core: the content of one SDSC file";
  let description = [{
    `ins` are index tensors, then inputs; `outs` is the one output. `constants` are the function's named numbers in the order
    of the file, `window` and `output_ranges` (N, C, H, W) belong to convolutions and poolings. `file` is set once the bundle is lowered to
    `sdscbundle`.

    Constraints:
    * (op_c1) there is one output and at most seven dimensions;
    * (op_c2) every coordinate map is over the iteration dimensions;
    * (op_c3) a split does not exceed its range.

    Example: see the dialect.
  }];
  let arguments = (ins
    StrAttr:$function, UnitAttr:$reduction, Sdsc_DimArrayAttr:$dims, Sdsc_TensorArrayAttr:$ins, Sdsc_TensorArrayAttr:$outs,
    OptionalAttr<Sdsc_ConstantArrayAttr>:$constants, OptionalAttr<Sdsc_WindowAttr>:$window,
    OptionalAttr<DenseI64ArrayAttr>:$output_ranges, OptionalAttr<StrAttr>:$file);
  let assemblyFormat = [{
    $function (`reduction` $reduction^)? `dims` $dims `ins` $ins `outs` $outs (`constants` $constants^)? (`window` $window^)?
    (`output_ranges` $output_ranges^)? (`file` $file^)? attr-dict
  }];
  let hasVerifier = 1;
}

#endif // SDSC_OPS_TD
