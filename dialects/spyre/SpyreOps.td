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

def Spyre_CountArrayAttr : TypedArrayAttrBase<AnyAttrOf<[I64Attr, StrAttr]>, "numbers, and names of numbers that are bound later">;

/// What the passes decide about the work of a compute op, in the order of the pipeline.
defvar Spyre_WorkDecisions = (ins
  OptionalAttr<ArrayAttr>:$dims,
  OptionalAttr<Spyre_TileHintArrayAttr>:$hints,
  OptionalAttr<Spyre_WorkHintArrayAttr>:$work_div,
  OptionalAttr<Spyre_WorkAttr>:$min_work,
  OptionalAttr<Spyre_WorkAttr>:$work
);

/// What the passes decide about a compute op whose result is a buffer of its own.
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
  let description = "What the passes decide about these ops is in their attributes.";
}

let opDocGroup = Spyre_ComputeOps in {

def Spyre_PointwiseOp : Spyre_ComputeOp<"pointwise"> {
  let summary = "Elementwise device function with broadcasting";
  let description = [{
    Every operand has the rank of the result; a dimension of size 1 is broadcast. The iteration space is the result's
    shape. The functions are the `SPYRE_POINTWISE` rows of `DeviceFunctions.def`.

    Constraints:
    * (pointwise_c1) `function` is an elementwise device function;
    * (pointwise_c2) the number of operands is the function's;
    * (pointwise_c3) every operand has the result's rank;
    * (pointwise_c4) every dimension of an operand is 1 or that of the result;
    * (pointwise_c5) all element types are equal (`where3`: but for the first, the condition);
    * (pointwise_c6) the number of `constants` is the function's.

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
  let summary = "Reduction along dimensions, which stay with size 1";
  let description = [{
    The iteration space is the kept dimensions in order, then the reduced ones. The functions are the `SPYRE_REDUCE`
    rows of `DeviceFunctions.def`.

    Constraints:
    * (reduce_c1) `function` is a reduction of the device;
    * (reduce_c2) the reduced dimensions are in range, increasing and not empty;
    * (reduce_c3) the result has the input's shape with 1 in every reduced dimension;
    * (reduce_c4) the element types are equal;
    * (reduce_c5) the number of `constants` is the function's.

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
  let summary = "Matrix product over equal batch dimensions";
  let description = [{
    `lhs` is `[batch..., M, K]`, `rhs` is `[batch..., K, N]`, the result `[batch..., M, N]`. The iteration space is
    batch, M, N, then K.

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
  let summary = "Rows of a table, chosen by loaded indices";
  let description = [{
    `result[i..., j...] = table[..., index[i...], ...]`, with the index at `dim` of the table: the result has the shape of
    `index`, then the table's other dimensions in order. The iteration space is the result's shape; nothing is reduced.
    With a `function`, each element goes through that elementwise function on its way, so that what was chosen is in no
    memory before it.
    An index outside of the table is the caller's mistake: `program.json` states the range that the indices must keep to.

    Constraints:
    * (gather_c1) `dim` is a dimension of the table;
    * (gather_c2) the index is of i32 or i64 and has at least one dimension;
    * (gather_c3) the result has the shape of the index, then the table's dimensions but for `dim`;
    * (gather_c4) the element types of table and result are equal;
    * (gather_c5) `function` is an elementwise device function of one operand and without constants.

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
    The stick stays where it is; memory and the order of the other device dimensions may change.

    Example:
    ```mlir
    %x_lx = spyre.copy %x {place = #spyre.place<lx, 0>} : tensor<512x1024xf16> -> tensor<512x1024xf16>
    ```
  }];
  let arguments = !con((ins Spyre_Tensor:$input), Spyre_Decisions);
  let results = (outs Spyre_Tensor:$output);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($output)";
}

def Spyre_RestickifyOp
    : Spyre_ComputeOp<"restickify", [AllShapesMatch<["input", "output"]>, AllElementTypesMatch<["input", "output"]>]> {
  let summary = "Move the stick to another dimension";
  let description = [{
    Copies `input` into a tensor of the same shape whose layout has its stick on another dimension. It is the only op
    that changes which elements share a stick.

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
  let summary = "A tensor whose elements are all the same number";
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
  let summary = "Memory that nothing has written yet";
  let description = [{
    A buffer that `spyre.insert` writes in parts; no device op. Two of them are two buffers, so they are never merged. The
    buffer's `place` is here, because several ops write it.

    Constraints:
    * (empty_c1) a layout describes the whole buffer, so it has no `of`.

    A rule of the program, which `spyre-check-input` and `spyre-verify-phase` check: nothing but a `spyre.insert` uses it, as `whole`.

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
    Copies `part` to the window of `whole` that begins at `offsets`. It writes in place: the result is the buffer of
    `whole`, with the same type, and the rest of it stays as it was. The iteration space is the shape of `part`; `whole` is
    not read. What is read of a buffer must have been written by an insert.

    Constraints:
    * (insert_c1) `part`, `whole` and `offsets` have one rank;
    * (insert_c2) the window lies within `whole`;
    * (insert_c3) the element types are equal;
    * (insert_c4) where it is `in_place`, the layout of `part` is that of `whole`, of which it is a window.

    An insert that is `in_place` copies nothing: what makes `part` writes it into the buffer of `whole` at once. `spyre-write-in-place`
    finds such inserts.

    A rule of the program, which `spyre-check-input` and `spyre-verify-phase` check: `whole` is the result of a `spyre.empty` or of a
    `spyre.insert`, and nothing else uses it: nobody sees a buffer that is half written. A part that is written in place is the
    result of an op, or of a loop that makes it tile by tile, that nothing else uses, and no other part of the buffer has an element of it.

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
  let summary = "A tensor known at compile time";
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
  let summary = "The same elements under other indices; no data moves";
  let description = [{
    `map` takes an index of the result to an index of `input`: a transpose is `(d0, d1) -> (d1, d0)`, dropping a unit
    dimension `(d0) -> (d0, 0)`, a reshape uses `floordiv` and `mod`, a slice adds a constant. A view folds into the
    access maps of its readers. A view with a device layout says all about the bytes that it shows; its map is only how
    they came about.

    Elements of one floating-point type, or truth values, may be shown as those of another: they are in the same device
    format, which is that of the type that computes (an `f32` constant that an `f16` op reads is stored in its format).

    Constraints:
    * (view_c1) the map has one dimension per result dimension, one result per input dimension and no symbols;
    * (view_c2) every index of the result maps into the input;
    * (view_c3) the element types are equal, or both are floating-point types or truth values, or numbers of 8 bits are shown as those of more.

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
  let summary = "A scope whose ops the user wants tiled, or divided over the cores in a given way";
  let description = [{
    Each `name = count` of `tiles` asks for a loop of `count` tiles along the dimension of that name, outermost first;
    scopes nest. `slices` and `num_tiles_per_dim` are other words for `tiles`, as torch-spyre has them. A count may be a
    name, `M = T`, that is bound later: by the option `bind` of `spyre-flatten-hints`, or at launch, where the function
    declares its maximum in `spyre.symbols`. Each `name = slices` of `work_div` asks for so many slices of the dimension of
    that name over the cores, in every op of the scope that has one; dimensions that are not named stay whole, and a scope
    inside another overrides the slices of a name. A number of slices may be a name too, which must be bound.
    An op that does not move along a dimension stands outside of the loop along it, and is computed once. With the name in
    `again` the elementwise ops of the scope are in that loop all the same, which this scope or one around it asks for, and
    are computed anew in each turn; those whose results are read outside of it stay outside.
    `spyre-flatten-hints` turns scopes into `hints` and `work_div` attributes.

    Constraints:
    * (hint_c1) something is asked for, every number is positive, and no dimension is named twice in one list;
    * (hint_c2) the results have the types of the yielded values;
    * (hint_c3) the name of a count begins with a letter and has letters, digits and `_`;
    * (hint_c4) no name is twice in `again`.

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
    DefaultValuedAttr<StrArrayAttr, "{}">:$again
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
  let summary = "A counted loop over the tiles of a named dimension";
  let description = [{
    Iteration `i` sees slice `i` of each tiled operand, cut along the operand's dimension in brackets, and writes slice
    `i` of each result. A value that is not yielded lives inside one iteration. An operand that is not tiled is
    loop-invariant: the body uses it as it is. The tile of a tensor with a device layout is a window of its buffer (the
    layout names the buffer's shape in `of`).

    A *carried* operand, one of `before`, is what the first iteration finds; every other one finds what the iteration before it
    yields without a dimension, and the loop's result is what the last one yields. The `n`-th carried operand belongs to the
    `n`-th value that is yielded without a dimension. All of them come to lie in one buffer, which each iteration
    overwrites: `spyre-settle-loops` copies what is read longer. What is tiled stands in front of what is carried: of the
    operands, the block arguments, the yielded values and the results.

    Passes that know any loop know this one and what it carries: what does not change from iteration to iteration can be moved out. No
    operand is handed to the body as it is, so a branch into a region, as MLIR has an interface for it, this is not.

    With a `symbol` the number of iterations is known at launch only: at least 1 and at most `count`, into which the tiles
    are cut. A run does the first so many of them; what the others would have written, nobody writes.

    Constraints:
    * (loop_c1) the count is positive;
    * (loop_c2) `count` divides the tiled dimension of every operand;
    * (loop_c3) the block arguments are the operands' tiles;
    * (loop_c4) every result is `count` of the yielded tiles along the yielded dimension;
    * (loop_c5) a carried operand, its block argument, the value yielded for it and its result have one type, and there
      are as many carried operands as values yielded without a dimension;
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
  let summary = "Ops that belong together: a kernel of the user's, or what the compiler made one of";
  let description = [{
    A function with the attribute `spyre.kernel` is a kernel; `spyre-make-kernels` makes this op of each call of it. The body
    sees only the inputs, by its block arguments. Its numbers of tiles may be knobs: the name in `tiles(rows = T)` of a hint
    scope is the knob `T`. `spyre-fuse-prologue-epilogue` moves neighbours into it, and `spyre-dissolve-kernels` puts the body
    in its place, with the knobs' values as numbers.

    `input_dims` names dimensions of the inputs, as `spyre.dims` of the function's arguments does: one name each, or nothing for
    a dimension without one. The names are the kernel's own.

    Constraints:
    * (kernel_c1) the block arguments have the types of the inputs;
    * (kernel_c2) the results have the types of the yielded values;
    * (kernel_c3) no two knobs have one name;
    * (kernel_c4) a condition names knobs of the kernel, and holds for their values;
    * (kernel_c5) `input_dims`, if given, has a list of strings for each input, as long as the input has dimensions, or empty;
      no name has a `*`, and dimensions of one name have one size;
    * (kernel_c6) a kernel stands in no other one.

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
  let summary = "The values that a scope or one iteration of a loop gives";
  let description = [{
    In a loop, `tiles` come first: each names in brackets the dimension along which the iterations' values are laid side by side.
    A value without brackets is carried to the next iteration. A scope gives `values` alone.

    Constraints:
    * (yield_c1) `tiled_dims` has one number per tile;
    * (yield_c2) in a hint scope and in a kernel there are no tiles.

    Example: `spyre.yield %v[1], %sum : tensor<512x1024xf16>, tensor<512x1xf16>`
  }];
  let arguments = (ins Variadic<Spyre_Tensor>:$tiles, Variadic<Spyre_Tensor>:$values, DenseI64ArrayAttr:$tiled_dims);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

} // opDocGroup

#endif // SPYRE_OPS_TD
