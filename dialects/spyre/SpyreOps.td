//===- SpyreOps.td - the tensor program --------------------*- tablegen -*-===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_OPS_TD
#define SPYRE_OPS_TD

include "SpyreAttrs.td"
include "SpyreInterfaces.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/LoopLikeInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ViewLikeInterface.td"

def Spyre_Tensor : Type<
    And<[CPred<"::llvm::isa<::mlir::RankedTensorType>($_self)">,
         CPred<"::llvm::cast<::mlir::RankedTensorType>($_self).hasStaticShape()">]>,
    "tensor of static shape", "::mlir::RankedTensorType">;

class Spyre_Op<string mnemonic, list<Trait> traits = []> : Op<Spyre_Dialect, mnemonic, traits>;

def Spyre_CountArrayAttr : TypedArrayAttrBase<AnyAttrOf<[I64Attr, StrAttr]>, "numbers, or names of numbers that are bound later">;

/// Decisions of the passes about the work of a compute op, in the order of the pipeline.
defvar Spyre_WorkDecisions = (ins
  OptionalAttr<ArrayAttr>:$dims,
  OptionalAttr<Spyre_TileHintArrayAttr>:$hints,
  OptionalAttr<Spyre_WorkHintArrayAttr>:$work_div,
  OptionalAttr<Spyre_WorkAttr>:$min_work,
  OptionalAttr<Spyre_WorkAttr>:$work
);

/// Decisions of the passes about a compute op whose result has its own buffer.
defvar Spyre_Decisions = !con(Spyre_WorkDecisions, (ins OptionalAttr<Spyre_PlaceAttr>:$place));

class Spyre_ComputeOp<string mnemonic, list<Trait> traits = []>
    : Spyre_Op<mnemonic, !listconcat(traits, [Pure, DeclareOpInterfaceMethods<Spyre_ComputeOpInterface>])> {
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Compute
//===----------------------------------------------------------------------===//

def Spyre_ComputeOps : OpDocGroup {
  let summary = "Compute: one op is one device function";
  let description = "The passes write their decisions as attributes of these ops.";
}

let opDocGroup = Spyre_ComputeOps in {

def Spyre_PointwiseOp : Spyre_ComputeOp<"pointwise"> {
  let summary = "Apply an elementwise device function, with broadcasting";
  let description = [{
    Every operand has the rank of the result; a dimension of size 1 is broadcast. The iteration space is the shape of
    the result. The functions are the `SPYRE_POINTWISE` rows of `DeviceFunctions.def`.

    Constraints:
    * (pointwise_c1) `function` is an elementwise device function;
    * (pointwise_c2) the number of operands is that of the function;
    * (pointwise_c3) every operand has the rank of the result;
    * (pointwise_c4) every dimension of an operand is 1 or that of the result;
    * (pointwise_c5) all element types are equal, except for the condition of `where3` and for conversions;
    * (pointwise_c6) the number of `constants` is that of the function;
    * (pointwise_c7) `dl16tofp32` converts f16 or bf16 to f32, `fp32todl16` the reverse.

    Example:
    ```mlir
    %y = spyre.pointwise add(%a, %b) : tensor<512x1024xf16>
    %z = spyre.pointwise sub(%y, %m) : (tensor<512x1024xf16>, tensor<512x1xf16>) -> tensor<512x1024xf16>
    %c = spyre.pointwise clip(%z) {constants = array<f64: 0.0, 6.0>} : tensor<512x1024xf16>
    ```
  }];
  let arguments = !con((ins StrAttr:$function, Variadic<Spyre_Tensor>:$inputs, OptionalAttr<DenseF64ArrayAttr>:$constants),
                       Spyre_Decisions);
  let results = (outs Spyre_Tensor:$output);
  let hasCustomAssemblyFormat = 1;
}

def Spyre_ReduceOp : Spyre_ComputeOp<"reduce"> {
  let summary = "Reduce along dimensions, which remain with size 1";
  let description = [{
    The iteration space is the kept dimensions in order, then the reduced ones. The functions are the `SPYRE_REDUCE`
    rows of `DeviceFunctions.def`.

    Constraints:
    * (reduce_c1) `function` is a device reduction;
    * (reduce_c2) the reduced dimensions are in range, increasing and not empty;
    * (reduce_c3) the result has the shape of the input, with 1 in every reduced dimension;
    * (reduce_c4) the element types are equal;
    * (reduce_c5) the number of `constants` is that of the function.

    Example:
    ```mlir
    %max = spyre.reduce max(%x) dims [1] : tensor<512x1024xf16> -> tensor<512x1xf16>
    ```
  }];
  let arguments = !con((ins StrAttr:$function, Spyre_Tensor:$input, DenseI64ArrayAttr:$reduced,
                            OptionalAttr<DenseF64ArrayAttr>:$constants), Spyre_Decisions);
  let results = (outs Spyre_Tensor:$output);
  let hasCustomAssemblyFormat = 1;
}

def Spyre_MatmulOp : Spyre_ComputeOp<"matmul"> {
  let summary = "Multiply matrices with equal batch dimensions";
  let description = [{
    `lhs` is `[batch..., M, K]`, `rhs` is `[batch..., K, N]`, the result is `[batch..., M, N]`. The iteration space is
    the batch dimensions, M, N, then K.

    Constraints:
    * (matmul_c1) all ranks are equal and at least 2;
    * (matmul_c2) the batch dimensions are equal;
    * (matmul_c3) the shapes are M x K, K x N and M x N;
    * (matmul_c4) the element types are equal.

    Example:
    ```mlir
    %c = spyre.matmul(%a, %b) : (tensor<128x256xf16>, tensor<256x512xf16>) -> tensor<128x512xf16>
    ```
  }];
  let arguments = !con((ins Spyre_Tensor:$lhs, Spyre_Tensor:$rhs), Spyre_Decisions);
  let results = (outs Spyre_Tensor:$output);
  let assemblyFormat = "`(` $lhs `,` $rhs `)` attr-dict `:` functional-type(operands, results)";
}

def Spyre_GatherOp : Spyre_ComputeOp<"gather"> {
  let summary = "Select rows of a table by an index tensor";
  let description = [{
    Computes `result[i..., j...] = table[..., index[i...], ...]`, where `dim` is the indexed dimension of the table. The
    result has the shape of `index`, followed by the other dimensions of the table. The iteration space is the shape of
    the result. `function`, if present, is applied to every selected element.

    The caller must keep the indices inside the table; `program.json` records the allowed range.

    Constraints:
    * (gather_c1) `dim` is a dimension of the table;
    * (gather_c2) the index has elements of i32 or i64, and at least one dimension;
    * (gather_c3) the result has the shape of the index, then the dimensions of the table without `dim`;
    * (gather_c4) the element types of table and result are equal;
    * (gather_c5) `function` is a unary elementwise device function without constants.

    Example:
    ```mlir
    %r = spyre.gather(%table, %index) dim 0 : (tensor<128x256xf16>, tensor<3x192xi64>) -> tensor<3x192x256xf16>
    %e = spyre.gather(%table, %index) dim 0 {function = "exp"} : (tensor<128x256xf16>, tensor<8xi64>) -> tensor<8x256xf16>
    ```
  }];
  let arguments = !con((ins Spyre_Tensor:$table, Spyre_Tensor:$index, I64Attr:$dim, OptionalAttr<StrAttr>:$function), Spyre_Decisions);
  let results = (outs Spyre_Tensor:$output);
  let assemblyFormat = "`(` $table `,` $index `)` `dim` $dim attr-dict `:` functional-type(operands, results)";
}

} // opDocGroup

//===----------------------------------------------------------------------===//
// Data movement and constants
//===----------------------------------------------------------------------===//

def Spyre_DataOps : OpDocGroup {
  let summary = "Data movement and constants";
  let description = "";
}

let opDocGroup = Spyre_DataOps in {

def Spyre_CopyOp : Spyre_ComputeOp<"copy", [AllShapesMatch<["input", "output"]>, AllElementTypesMatch<["input", "output"]>]> {
  let summary = "Copy a tensor, usually to another memory";
  let description = [{
    The memory and the order of the device dimensions may change; the stick dimension does not.

    With `destination`, the copy is a shuffle: it moves the slices of a value in LX, which the cores hold as `work`
    says, to the cores that need other slices. `destination` lists the slices of each dimension, then numbers of cores
    that get the same slice.

    Constraints:
    * (copy_c1) `destination` has at least one number of slices for each dimension, and as many cores as `work`.

    Example:
    ```mlir
    %x_lx = spyre.copy %x {place = #spyre.place<lx, 0>} : tensor<512x1024xf16> -> tensor<512x1024xf16>
    %rows = spyre.copy %x_lx {destination = #spyre.work<[8, 1, 4]>, work = #spyre.work<[8, 4]>}
      : tensor<512x1024xf16> -> tensor<512x1024xf16>
    ```
  }];
  let arguments = !con((ins Spyre_Tensor:$input, OptionalAttr<Spyre_WorkAttr>:$destination), Spyre_Decisions);
  let results = (outs Spyre_Tensor:$output);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($output)";
}

def Spyre_RestickifyOp
    : Spyre_ComputeOp<"restickify", [AllShapesMatch<["input", "output"]>, AllElementTypesMatch<["input", "output"]>]> {
  let summary = "Copy a tensor to a layout with another stick dimension";
  let description = [{
    The input and the result have the same shape. No other op changes which elements share a stick.

    Constraints:
    * (restickify_c1) the layouts differ.

    Example:
    ```mlir
    %t = spyre.restickify %x : tensor<512x256xf16, #spyre.layout<[4, 512, 64], [64, 256, 1]>>
      -> tensor<512x256xf16, #spyre.layout<[8, 256, 64], [16384, 1, 256]>>
    ```
  }];
  let arguments = !con((ins Spyre_Tensor:$input), Spyre_Decisions);
  let results = (outs Spyre_Tensor:$output);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($output)";
  let hasCanonicalizer = 1;
}

def Spyre_FillOp : Spyre_ComputeOp<"fill"> {
  let summary = "Create a tensor whose elements are all equal";
  let description = [{
    Constraints:
    * (fill_c1) the value has the element type of the result.

    Example:
    ```mlir
    %zero = spyre.fill 0.0 : f16 -> tensor<128x512xf16>
    ```
  }];
  let arguments = !con((ins TypedAttrInterface:$value), Spyre_Decisions);
  let results = (outs Spyre_Tensor:$output);
  let assemblyFormat = "$value attr-dict `->` type($output)";
}

def Spyre_EmptyOp : Spyre_Op<"empty"> {
  let summary = "Allocate an uninitialized buffer";
  let description = [{
    `spyre.insert` ops write the buffer slice by slice; there is no device op. Two `spyre.empty` ops are never merged.
    The op has the `place` of the buffer, because several ops write it.

    `spyre-check-input` and `spyre-verify-phase` check that the result is used only by `spyre.insert`, as `whole`.

    Constraints:
    * (empty_c1) the layout describes the complete buffer, so it has no `of`.

    Example:
    ```mlir
    %buffer = spyre.empty : tensor<8x64x32xf16>
    ```
  }];
  let arguments = (ins OptionalAttr<Spyre_PlaceAttr>:$place);
  let results = (outs Res<Spyre_Tensor, "the buffer", [MemAlloc]>:$output);
  let assemblyFormat = "attr-dict `:` type($output)";
  let hasVerifier = 1;
}

def Spyre_InsertOp : Spyre_ComputeOp<"insert", [AllTypesMatch<["whole", "output"]>, DestinationStyleOpInterface]> {
  let summary = "Write a tensor into a window of a buffer";
  let description = [{
    Copies `part` to the window of `whole` that begins at `offsets`. The result is the buffer of `whole` after the
    write; elements outside of the window are unchanged. The iteration space is the shape of `part`; `whole` is not
    read. Elements that are read later must have been written by an insert.

    With `in_place` the op copies nothing, because the op that defines `part` writes directly to the window;
    `spyre-write-in-place` sets this attribute.

    `spyre-check-input` and `spyre-verify-phase` check three rules:
    * `whole` is the result of a `spyre.empty` or `spyre.insert`, and has no other use, so that no op reads a partially
      written buffer;
    * with `in_place`, `part` is the result of an op or of a loop that yields it tile by tile, and has no other use;
    * with `in_place`, the window overlaps no other insert.

    Constraints:
    * (insert_c1) `part`, `whole` and `offsets` have the same rank;
    * (insert_c2) the window is inside `whole`;
    * (insert_c3) the element types are equal;
    * (insert_c4) with `in_place`, the layout of `part` is a window of the layout of `whole`.

    Example:
    ```mlir
    %buffer = spyre.empty : tensor<64x128xf16>
    %0 = spyre.insert %a into %buffer at [0, 0] : tensor<64x64xf16> into tensor<64x128xf16>
    %1 = spyre.insert %b into %0 at [0, 64] : tensor<64x64xf16> into tensor<64x128xf16>
    ```
  }];
  let arguments =
      !con((ins Spyre_Tensor:$part, Spyre_Tensor:$whole, DenseI64ArrayAttr:$offsets, UnitAttr:$in_place), Spyre_WorkDecisions);
  let results = (outs Spyre_Tensor:$output);
  let assemblyFormat = "$part `into` $whole `at` $offsets attr-dict `:` type($part) `into` type($whole)";
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getWholeMutable(); }
  }];
}

def Spyre_ConstantOp : Spyre_Op<"constant", [Pure, ConstantLike]> {
  let summary = "Create a tensor that is known at compile time";
  let description = [{
    Constraints:
    * (constant_c1) the value has the shape and element type of the result.

    Example:
    ```mlir
    %eps = spyre.constant dense<1.0e-05> : tensor<1x1xf16>
    ```
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Spyre_Tensor:$output);
  let hasFolder = 1;
  let hasVerifier = 1;
  let hasCustomAssemblyFormat = 1;
}

def Spyre_ViewOp : Spyre_Op<"view", [Pure, DeclareOpInterfaceMethods<ViewLikeOpInterface>]> {
  let summary = "Access the elements of a tensor by other indices, without a copy";
  let description = [{
    `map` maps an index of the result to an index of `input`. Examples: a transpose is `(d0, d1) -> (d1, d0)`, dropping
    a unit dimension is `(d0) -> (d0, 0)`, a reshape uses `floordiv` and `mod`, and a slice adds a constant. A view
    folds into the access maps of its users. If the view has a device layout, this layout describes the bytes, and
    passes ignore `map`.

    The element type may change between floating-point types, or from booleans, because the device format is the same:
    that of the type that computes. For example, an `f32` constant that an `f16` op reads is stored in the `f16` device
    format.

    Constraints:
    * (view_c1) the map has one dimension per result dimension, one result per input dimension and no symbols;
    * (view_c2) every index of the result maps into the input;
    * (view_c3) the element types are equal, both are floating-point types or booleans, both are integers of 32 or 64
      bits, or the view widens 8-bit elements.

    Example:
    ```mlir
    %t = spyre.view %x by affine_map<(d0, d1) -> (d1, d0)> : tensor<512x256xf16> -> tensor<256x512xf16>
    ```
  }];
  let arguments = (ins Spyre_Tensor:$input, AffineMapAttr:$map);
  let results = (outs Spyre_Tensor:$output);
  let assemblyFormat = "$input `by` $map attr-dict `:` type($input) `->` type($output)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}

} // opDocGroup

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

def Spyre_StructureOps : OpDocGroup {
  let summary = "Structure: hint scopes, kernels and loops";
  let description = "";
}

let opDocGroup = Spyre_StructureOps in {

def Spyre_HintOp : Spyre_Op<"hint", [SingleBlock, RecursiveMemoryEffects, RecursivelySpeculatable]> {
  let summary = "Request tile counts or core splits for the ops in a scope";
  let description = [{
    The requests refer to dimensions by name:
    * `tiles` has `name = count` pairs, outermost first; each requests a loop with `count` tiles. `slices` and
      `num_tiles_per_dim`, as in torch-spyre, are aliases.
    * `work_div` has `name = slices` pairs; each requests a slice count over the cores, in every op of the scope that
      has the dimension. Other dimensions are not split. An inner scope overrides an outer one.
    * `recompute` lists names of tiled dimensions. An op without such a dimension is normally executed once, outside of
      the loop. With `recompute` the elementwise ops of the scope are recomputed in every iteration, unless their
      results are used outside.

    A count may be a symbol, such as `M = T`. The option `bind` of `spyre-flatten-hints` gives its value. A tile count
    may also stay symbolic until the launch, if `spyre.symbols` of the function declares its maximum.

    `spyre-flatten-hints` converts scopes to `hints` and `work_div` attributes.

    Constraints:
    * (hint_c1) there is at least one request, every number is positive, and no list has a dimension twice;
    * (hint_c2) the results have the types of the yielded values;
    * (hint_c3) a symbol begins with a letter and has letters, digits and `_`;
    * (hint_c4) `recompute` has no name twice.

    Example:
    ```mlir
    %z = spyre.hint tiles(A = 2, B = 4) work_div(A = 32) {
      %y = spyre.pointwise add(%a, %b) : tensor<1024x4096xf16>
      spyre.yield %y : tensor<1024x4096xf16>
    }
    ```
  }];
  let arguments = (ins
    StrArrayAttr:$tile_dims,
    Spyre_CountArrayAttr:$tile_counts,
    DefaultValuedAttr<StrArrayAttr, "{}">:$work_dims,
    DefaultValuedAttr<Spyre_CountArrayAttr, "{}">:$work_slices,
    DefaultValuedAttr<StrArrayAttr, "{}">:$recompute
  );
  let results = (outs Variadic<Spyre_Tensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Spyre_LoopOp : Spyre_Op<"loop", [
    AttrSizedOperandSegments, SingleBlock, RecursiveMemoryEffects, RecursivelySpeculatable,
    DeclareOpInterfaceMethods<LoopLikeOpInterface, ["getInitsMutable", "getRegionIterArgs", "getYieldedValuesMutable", "getLoopResults",
                                                    "getStaticTripCount"]>,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "Iterate over the tiles of a named dimension";
  let description = [{
    Iteration `i` reads tile `i` of each tiled operand, along the dimension in brackets, and writes tile `i` of each
    result. Other values from outside are loop-invariant, and values that are not yielded exist for one iteration. The
    tile of a tensor with a device layout is a window of its buffer; its layout has the shape of the buffer in `of`.

    *Carried* operands work as in `scf.for`: the first iteration reads the initial value, later iterations read the
    value that the previous one yields, and the result is the last yielded value. Carried values are yielded without a
    dimension. The initial value, the block argument, the yielded value and the result share one buffer;
    `spyre-insert-loop-copies` inserts the copies that this needs. Tiled values precede carried ones among operands,
    block arguments, yielded values and results.

    The op implements `LoopLikeOpInterface`, so passes such as `loop-invariant-code-motion` apply. It has no
    `RegionBranchOpInterface`, because a tiled operand is not passed to the body unchanged.

    With a `symbol` the size of the tiled dimension is known at launch: the loop executes the first tiles, at most
    `count`. Tiles after the last iteration are not written. A loop that tiles a dimension of symbolic size
    (`spyre.symbolic`) does so without a `symbol`.

    Constraints:
    * (loop_c1) the count is positive;
    * (loop_c2) `count` divides the tiled dimension of every operand;
    * (loop_c3) the block arguments have the types of the tiles of the operands;
    * (loop_c4) every result has `count` times the size of the yielded tile along the yielded dimension;
    * (loop_c5) a carried operand, its block argument, its yielded value and its result have the same type, and the
      number of carried operands equals the number of values that are yielded without a dimension;
    * (loop_c6) a `symbol` begins with a letter and has letters, digits and `_`.

    Examples:
    ```mlir
    %z = spyre.loop 2 "A" tiled(%x0 = %x[0] : tensor<1024x4096xf16>) {
      %y = spyre.pointwise exp(%x0) : tensor<512x4096xf16>
      spyre.yield %y[0] : tensor<512x4096xf16>
    } : tensor<1024x4096xf16>

    %sum = spyre.loop 4 "B" tiled(%x0 = %x[1] : tensor<1024x4096xf16>) carried(%before = %zero : tensor<1024x1xf16>) {
      %part = spyre.reduce sum(%x0) dims [1] : tensor<1024x1024xf16> -> tensor<1024x1xf16>
      %after = spyre.pointwise add(%before, %part) : tensor<1024x1xf16>
      spyre.yield %after : tensor<1024x1xf16>
    } : tensor<1024x1xf16>
    ```
  }];
  let arguments = (ins I64Attr:$count, StrAttr:$dim, Variadic<Spyre_Tensor>:$tiled, Variadic<Spyre_Tensor>:$before,
                       DenseI64ArrayAttr:$tiled_dims, OptionalAttr<StrAttr>:$symbol);
  let results = (outs Variadic<Spyre_Tensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The type of one of `count` tiles of a tensor along `dim`; null where `count` does not divide.
    static ::mlir::RankedTensorType getTileType(::mlir::RankedTensorType full, int64_t dim, int64_t count);
  }];
}

def Spyre_KernelOp : Spyre_Op<"kernel", [
    IsolatedFromAbove, SingleBlock, RecursiveMemoryEffects, RecursivelySpeculatable,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "Group ops that share a loop nest";
  let description = [{
    A function with the attribute `spyre.kernel` is a kernel; `spyre-make-kernels` converts each of its calls to this
    op, and `spyre-form-kernels` creates further ones. The body uses only the inputs, through its block arguments. A
    tile count may be a knob: the symbol in `tiles(rows = T)` of a hint scope is the knob `T`.
    `spyre-fuse-prologue-epilogue` moves neighboring ops into the body. `spyre-inline-kernels` inlines the body, with
    the values of the knobs.

    `input_dims` names the dimensions of the inputs, as `spyre.dims` of function arguments does; an empty string is an
    unnamed dimension. The names are local to the kernel.

    Constraints:
    * (kernel_c1) the block arguments have the types of the inputs;
    * (kernel_c2) the results have the types of the yielded values;
    * (kernel_c3) the names of knobs are unique;
    * (kernel_c4) a condition refers to knobs of the kernel, and holds for their values;
    * (kernel_c5) `input_dims`, if present, has one list of strings per input, with one string per dimension or empty;
      no name contains `*`, and dimensions with the same name have the same size;
    * (kernel_c6) a kernel contains no other kernel.

    Example:
    ```mlir
    %y = spyre.kernel "scale"(%in = %x : tensor<512x1024xf16>) knobs([#spyre.knob<T = 8 in pow2 1 to 64>]) {
      %scaled = spyre.hint tiles(rows = T) {
        %s = spyre.pointwise mul(%in, %in) : tensor<512x1024xf16>
        spyre.yield %s : tensor<512x1024xf16>
      }
      spyre.yield %scaled : tensor<512x1024xf16>
    } {input_dims = [["rows", ""]]}
    ```
  }];
  let arguments = (ins StrAttr:$name, Variadic<Spyre_Tensor>:$inputs, DefaultValuedAttr<Spyre_KnobArrayAttr, "{}">:$knobs,
                       OptionalAttr<ArrayAttr>:$input_dims);
  let results = (outs Variadic<Spyre_Tensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Spyre_YieldOp
    : Spyre_Op<"yield", [Pure, Terminator, AttrSizedOperandSegments, ParentOneOf<["HintOp", "KernelOp", "LoopOp"]>]> {
  let summary = "Return the values of a scope, a kernel or a loop iteration";
  let description = [{
    In a loop, `tiles` come first; the number in brackets is the dimension along which the tiles of all iterations are
    concatenated. Values without brackets are carried to the next iteration. Hint scopes and kernels have no `tiles`.

    Constraints:
    * (yield_c1) `tiled_dims` has one number per tile;
    * (yield_c2) a hint scope or a kernel yields no tiles.

    Example: `spyre.yield %v[1], %sum : tensor<512x1024xf16>, tensor<512x1xf16>`
  }];
  let arguments = (ins Variadic<Spyre_Tensor>:$tiles, Variadic<Spyre_Tensor>:$values, DenseI64ArrayAttr:$tiled_dims);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

} // opDocGroup

#endif // SPYRE_OPS_TD
