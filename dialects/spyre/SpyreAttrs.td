//===- SpyreAttrs.td - what the compiler decides -----------*- tablegen -*-===//
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

def Spyre_FormatParameter : AttrParameter<"std::optional<::machine::Format>", "device format; none: from the element type"> {
  let defaultValue = "std::nullopt";
}

def Spyre_LayoutAttr
    : Spyre_Attr<"Layout", "layout", [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "Where each element of a tensor lives in device memory";
  let description = [{
    Device memory is row-major over `device_size`; its last entry is one stick. One step along device dimension `i`
    steps `stride_map[i]` elements in the host tensor; -1 marks a device dimension that no host dimension drives
    (padding, a size of 1, the lanes of a tensor that keeps one element a stick).

    The number format follows from the element type unless `format` is given. `of` is the host shape of the buffer that
    a tile is a window of: `device_size` and `stride_map` then describe that buffer, and the tensor's own shape says
    how much of it the window shows.

    Constraints:
    * (layout_c1) `device_size` and `stride_map` have the same length, at least 2;
    * (layout_c2) every entry of `device_size` is positive;
    * (layout_c3) the last entry of `device_size` is the number of elements in a stick of the format;
    * (layout_c4) `format`, if given, is a device format;
    * (layout_c5) `of`, if given, has the rank of the tensor and no dimension smaller than the tensor's.

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
  let summary = "Into how many slices each iteration dimension is cut; one core works on one slice of each";
  let description = [{
    `slices[i]` divides the size of iteration dimension `i` (in sticks where the dimension is a stick). The product is
    the number of cores that the op uses.

    `order` lists the dimensions whose slice changes fastest from core to core first. Without it that is the first
    dimension; in a matmul whose contraction is cut, the contraction.

    Constraints:
    * (work_c1) every entry is positive;
    * (work_c2) `order`, if given, has every dimension once.

    Examples: `#spyre.work<[32, 1]>`, `#spyre.work<[4, 8], order = [1, 0]>`
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$slices, OptionalArrayRefParameter<"int64_t">:$order);
  let assemblyFormat = "`<` `[` $slices `]` (`,` `order` `=` `[` $order^ `]`)? `>`";
  let genVerifyDecl = 1;
}

def Spyre_PlaceAttr : Spyre_Attr<"Place", "place"> {
  let summary = "Which memory a value lives in, and at which byte";
  let description = [{
    `lx` is the scratchpad of every core that works on the value, at the same byte offset in each; `pool` is a byte
    offset in the bundle's own part of HBM; `hbm` is a buffer of the program. A value that is not in LX carries the
    reason.

    Constraints:
    * (place_c1) the memory is `lx`, `pool` or `hbm`;
    * (place_c2) `lx` and `pool` have an offset that is a multiple of 128 bytes, `hbm` has none.

    Example: `#spyre.place<lx, 0>`, `#spyre.place<hbm, "it is a result of the program">`
  }];
  let parameters = (ins
    EnumParameter<Machine_Memory>:$memory,
    "int64_t":$offsetBytes,
    StringRefParameter<"why the value is not in LX", "\"\"">:$reason
  );
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Spyre_TileHintAttr : Spyre_Attr<"TileHint", "tile_hint"> {
  let summary = "The user's wish to run an op in `count` tiles along a named dimension";
  let description = [{
    The flattened form of a `spyre.hint` scope: ops with the same `id` are one loop level; a smaller id is further
    out. A count that is known at launch only is the name of it, its `symbol`; `count` is then 0. With `again` an op that
    has no such dimension is in the loop all the same, and computes the same anew in each turn.

    Constraints:
    * (tile_hint_c1) `count` is positive, or there is a `symbol`;
    * (tile_hint_c2) a `symbol` begins with a letter and has letters, digits and `_`;
    * (tile_hint_c3) `id` is from 0 to 2^31 - 1.

    Examples: `#spyre.tile_hint<0, A = 2>`, `#spyre.tile_hint<0, A = T>`, `#spyre.tile_hint<0, A = 2, again>`
  }];
  let parameters = (ins
    "int64_t":$id,
    StringRefParameter<"dimension name">:$dim,
    "int64_t":$count,
    StringRefParameter<"the name of a count that is not known; empty: it is known", "\"\"">:$symbol,
    DefaultValuedParameter<"bool", "false", "whether an op that the loop does not cut is in it, too">:$again
  );
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Spyre_TileHintArrayAttr : TypedArrayAttrBase<Spyre_TileHintAttr, "tile hints, outermost first">;

def Spyre_WorkHintAttr : Spyre_Attr<"WorkHint", "work_hint"> {
  let summary = "The user's wish to divide a named dimension into `slices` slices over the cores";
  let description = [{
    The flattened form of a `work_div` in a `spyre.hint` scope: ops with the same `id` were under the same wish.

    Constraints:
    * (work_hint_c1) `slices` is positive;
    * (work_hint_c2) `id` is from 0 to 2^31 - 1.

    Example: `#spyre.work_hint<0, M = 2>`
  }];
  let parameters = (ins "int64_t":$id, StringRefParameter<"dimension name">:$dim, "int64_t":$slices);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Spyre_WorkHintArrayAttr : TypedArrayAttrBase<Spyre_WorkHintAttr, "work hints, no dimension twice">;

def Spyre_KnobAttr : Spyre_Attr<"Knob", "knob"> {
  let summary = "A number that a kernel leaves open, with the values that it may have";
  let description = [{
    `value` is what the number is unless something else is asked for. The values are a list, all from one number to
    another, or the powers of two among these. A condition over the knobs of the kernel rules combinations out: sums,
    products, quotients (`/`) and remainders (`%`) of numbers and names, compared by `==`, `!=`, `<`, `<=`, `>` or `>=`;
    several comparisons are joined by `&&`.

    Constraints:
    * (knob_c1) the name begins with a letter and has letters, digits and `_`;
    * (knob_c2) the values are positive and increase; there are at most 4096;
    * (knob_c3) `value` is one of them;
    * (knob_c4) the condition can be read.

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
    ArrayRefParameter<"int64_t", "all values of a list; the first and the last number of a range">:$bounds,
    StringRefParameter<"condition; empty: none", "\"\"">:$condition
  );
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The values that the number may have, the smallest first.
    ::llvm::SmallVector<int64_t> getChoices() const;
  }];
}

def Spyre_KnobArrayAttr : TypedArrayAttrBase<Spyre_KnobAttr, "knobs">;

#endif // SPYRE_ATTRS_TD
