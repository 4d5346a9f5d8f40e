//===- SpyreAttrs.td - attributes of the spyre dialect -----*- tablegen -*-===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_ATTRS_TD
#define SPYRE_ATTRS_TD

include "Enums.td"
include "SpyreDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/TensorEncoding.td"

class Spyre_Attr<string attrName, string attrMnemonic, list<Trait> traits = []> : AttrDef<Spyre_Dialect, attrName, traits> {
  let mnemonic = attrMnemonic;
}

def Spyre_FormatParameter : AttrParameter<"std::optional<::machine::Format>", "device format; default: that of the element type"> {
  let defaultValue = "std::nullopt";
}

def Spyre_LayoutAttr
    : Spyre_Attr<"Layout", "layout", [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "Map the elements of a tensor to device memory";
  let description = [{
    Device memory is row-major over `device_size`; the last entry is one stick. A step along device dimension `i` is a
    step of `stride_map[i]` elements in the host tensor. -1 marks a device dimension without a host dimension: padding,
    a size of 1, or the stick of a tensor with one element per stick.

    `format` overrides the device format of the element type. `of` is the host shape of the buffer, if the tensor is a
    tile: `device_size` and `stride_map` then describe the buffer, and the shape of the tensor is the size of the
    window.

    Constraints:
    * (layout_c1) `device_size` and `stride_map` have the same length, at least 2;
    * (layout_c2) every entry of `device_size` is positive;
    * (layout_c3) the last entry of `device_size` is the number of elements in a stick of the format;
    * (layout_c4) `format`, if present, is a device format;
    * (layout_c5) `of`, if present, has the rank of the tensor, and no dimension is smaller than that of the tensor.

    Example:
    ```mlir
    tensor<1024x4096xf16, #spyre.layout<[64, 1024, 64], [64, 4096, 1]>>
    tensor<512x1024xf16, #spyre.layout<[64, 1024, 64], [64, 4096, 1], of = [1024, 4096]>>
    ```
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t">:$deviceSize,
    ArrayRefParameter<"int64_t">:$strideMap,
    Spyre_FormatParameter:$format,
    OptionalArrayRefParameter<"int64_t">:$bufferShape
  );
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Spyre_WorkAttr : Spyre_Attr<"Work", "work"> {
  let summary = "Split the iteration space of an op over cores";
  let description = [{
    `slices[i]` divides the size of iteration dimension `i`, counted in sticks for a stick dimension. Each core computes
    one slice of every dimension. The product of the slice counts is the number of cores that the op uses.

    `order` lists the dimensions by how fast their slice changes from one core to the next, fastest first. The default
    is the order of the dimensions; in a matmul whose contracted dimension is split, that dimension is the fastest.

    Constraints:
    * (work_c1) every entry is positive;
    * (work_c2) `order`, if present, has every dimension once.

    Examples: `#spyre.work<[32, 1]>`, `#spyre.work<[4, 8], order = [1, 0]>`
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$slices, OptionalArrayRefParameter<"int64_t">:$order);
  let assemblyFormat = "`<` `[` $slices `]` (`,` `order` `=` `[` $order^ `]`)? `>`";
  let genVerifyDecl = 1;
}

def Spyre_PlaceAttr : Spyre_Attr<"Place", "place"> {
  let summary = "Assign a value to a memory and an address";
  let description = [{
    The memories:
    * `lx`: the scratchpad of every core that uses the value, at the same byte offset in each;
    * `pool`: a byte offset in the HBM pool of the launch;
    * `hbm`: a buffer of the program.

    A value that is not in LX has the reason as text.

    Constraints:
    * (place_c1) the memory is `lx`, `pool` or `hbm`;
    * (place_c2) `lx` and `pool` have an offset that is a multiple of 128 bytes; `hbm` has none.

    Example: `#spyre.place<lx, 0>`, `#spyre.place<hbm, "it is a result of the program">`
  }];
  let parameters = (ins
    EnumParameter<Machine_Memory>:$memory,
    "int64_t":$offsetBytes,
    StringRefParameter<"reason why the value is not in LX", "\"\"">:$reason
  );
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Spyre_TileHintAttr : Spyre_Attr<"TileHint", "tile_hint"> {
  let summary = "Request `count` tiles of a named dimension";
  let description = [{
    Is the flattened form of a `spyre.hint` scope. Ops with the same `id` share one loop; a smaller id is an outer loop.
    A symbolic count has a `symbol`, and `count` is 0. With `recompute` an op without the dimension is also in the loop,
    and is recomputed in every iteration.

    Constraints:
    * (tile_hint_c1) `count` is positive, or `symbol` is present;
    * (tile_hint_c2) a `symbol` begins with a letter and has letters, digits and `_`;
    * (tile_hint_c3) `id` is from 0 to 2^31 - 1.

    Examples: `#spyre.tile_hint<0, A = 2>`, `#spyre.tile_hint<0, A = T>`, `#spyre.tile_hint<0, A = 2, recompute>`
  }];
  let parameters = (ins
    "int64_t":$id,
    StringRefParameter<"dimension name">:$dim,
    "int64_t":$count,
    StringRefParameter<"symbol of a symbolic count; empty for a number", "\"\"">:$symbol,
    DefaultValuedParameter<"bool", "false", "whether ops without the dimension are recomputed in the loop">:$recompute
  );
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Spyre_TileHintArrayAttr : TypedArrayAttrBase<Spyre_TileHintAttr, "tile hints, outermost first">;

def Spyre_WorkHintAttr : Spyre_Attr<"WorkHint", "work_hint"> {
  let summary = "Request `slices` core slices of a named dimension";
  let description = [{
    Is the flattened form of `work_div` in a `spyre.hint` scope. Ops with the same `id` come from the same request.

    Constraints:
    * (work_hint_c1) `slices` is positive;
    * (work_hint_c2) `id` is from 0 to 2^31 - 1.

    Example: `#spyre.work_hint<0, M = 2>`
  }];
  let parameters = (ins "int64_t":$id, StringRefParameter<"dimension name">:$dim, "int64_t":$slices);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Spyre_WorkHintArrayAttr : TypedArrayAttrBase<Spyre_WorkHintAttr, "work hints, each dimension at most once">;

def Spyre_KnobAttr : Spyre_Attr<"Knob", "knob"> {
  let summary = "Declare a tunable parameter of a kernel";
  let description = [{
    `value` is the default. The choices are a list, all integers of a range, or the powers of two in a range. A
    condition over the knobs of the kernel excludes combinations. It compares sums, products, quotients (`/`) and
    remainders (`%`) of numbers and names with `==`, `!=`, `<`, `<=`, `>` or `>=`; `&&` combines comparisons.

    Constraints:
    * (knob_c1) the name begins with a letter and has letters, digits and `_`;
    * (knob_c2) the values are positive and increase; there are at most 4096;
    * (knob_c3) `value` is one of them;
    * (knob_c4) the condition is well-formed.

    Examples:
    ```mlir
    #spyre.knob<rows = 8 in [1, 2, 4, 8, 16]>
    #spyre.knob<columns = 4 in pow2 1 to 64, where "rows * columns <= 64 && columns % 2 == 0">
    ```
  }];
  let parameters = (ins
    StringRefParameter<"name">:$name,
    "int64_t":$value,
    EnumParameter<Spyre_KnobKind>:$kind,
    ArrayRefParameter<"int64_t", "all values of a list, or the first and last value of a range">:$bounds,
    StringRefParameter<"condition; empty: none", "\"\"">:$condition
  );
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Returns the values that the knob may have, the smallest first.
    ::llvm::SmallVector<int64_t> getChoices() const;
  }];
}

def Spyre_KnobArrayAttr : TypedArrayAttrBase<Spyre_KnobAttr, "knobs">;

#endif // SPYRE_ATTRS_TD
