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
  let summary = "Hold a compiled program: HBM buffers, and bundles in launch order";
  let description = [{
    `sizes` has the maximum and the granularity of each symbolic size.

    Constraints:
    * (program_c1) `sizes` maps names to two positive numbers, of which the second divides the first;
    * (program_c2) `sizes` has the symbolic sizes of buffers, op specs and loops, with the same numbers.

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
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<DictionaryAttr>:$sizes);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
}

def Sdsc_BufferOp : Sdsc_Op<"buffer", [Symbol, HasParent<"ProgramOp">]> {
  let summary = "Declare a tensor in HBM: an input, output, constant or temporary";
  let description = [{
    * `index_range` is the half-open range of an integer input whose elements are indices or operands of integer ops.
    * `digit_base` belongs to an integer output that exceeds its device format: the first dimension has the upper and
      the lower digit.
    * `offset` and `life` belong to a temporary: its bytes in the HBM region of all temporaries, and its live range,
      from the first to the last launch that uses it.
    * `symbolic` has the names of symbolic sizes; the type has their maxima.

    Constraints:
    * (buffer_c1) `role` is input, constant, temporary or output;
    * (buffer_c2) the type is a tensor with a device layout;
    * (buffer_c3) only a constant has a value, of the type's shape and element type;
    * (buffer_c4) only an input has an `index_range`: two numbers, the first less than the second;
    * (buffer_c5) only a temporary has `offset` and `life`, and then both;
    * (buffer_c6) `offset` is a multiple of 128; `life` has two numbers, the first at most the second; none is negative;
    * (buffer_c7) only an input or output has `symbolic`: one string per dimension, a name or empty;
    * (buffer_c8) only an integer output has a `digit_base`, greater than 1, and its first dimension has size 2.

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
  let summary = "Launch op specs in counted loops";
  let description = [{
    Kernel argument `i` of the op specs is the `i`-th buffer in parentheses. `pool_bytes` is the size of the HBM pool
    that the launch allocates.

    Constraints:
    * (bundle_c1) the hbm arguments of every op are buffers of the bundle, if the bundle lists buffers;
    * (bundle_c2) every tensor has one advance per enclosing loop, or no advances.

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
  let summary = "Repeat op specs";
  let description = [{
    With a `symbol` the loop tiles a dimension `dim` of symbolic size: `tile` has the positions of a tile, `granularity`
    the number of which every size is a multiple, and `count` is the maximum trip count.

    Constraints:
    * (loop_c1) the count is positive;
    * (loop_c2) `symbol`, `dim`, `tile` and `granularity` are all present or all absent; texts are not empty;
    * (loop_c3) the tile is positive and divides the granularity.

    Examples:
    ```mlir
    sdsc.loop 4 { ... }
    sdsc.loop 16 attributes {dim = "M", granularity = 64 : i64, symbol = "s0", tile = 64 : i64} { ... }
    ```
  }];
  let arguments = (ins I64Attr:$count, OptionalAttr<StrAttr>:$symbol, OptionalAttr<StrAttr>:$dim,
                       OptionalAttr<I64Attr>:$tile, OptionalAttr<I64Attr>:$granularity);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$count attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

def Sdsc_OpSpecOp : Sdsc_Op<"op", []> {
  let summary = "Execute one device function on all cores: the contents of one SDSC file";
  let description = [{
    `ins` has index tensors, then inputs; `outs` has one output. `constants` are the named constants of the function in
    the order of the file. `window` and `output_ranges` (N, C, H, W) belong to convolutions and pooling. The lowering to
    `sdscbundle` sets `file`.

    Constraints:
    * (op_c1) there is one output and at most seven dimensions;
    * (op_c2) the dimensions of every coordinate map are the iteration dimensions;
    * (op_c3) a split does not exceed its range;
    * (op_c4) elements along sticks are in one order: operands have one arrangement, which the result keeps. A conversion
      between 16-bit and 32-bit numbers makes DL16_TO_FP32 or FP32_TO_DL16 of STANDARD, or undoes the other conversion.
      It keeps STANDARD if the elements of each stick are equal.

    Example: see the description of the dialect.
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
