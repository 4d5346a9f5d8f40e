//===- ProgramPasses.td - the passes of import and layout --*- tablegen -*-===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_PROGRAMPASSES_TD
#define SPYRE_PROGRAMPASSES_TD

include "SpyrePass.td"

//===----------------------------------------------------------------------===//
// import
//===----------------------------------------------------------------------===//

def SpyreSelectProgram : Spyre_Pass<"spyre-select-program"> {
  let summary = "Select the function to compile, and fix the sizes of its dynamic dimensions";
  let description = [{
    Keeps the entry function and the functions that it calls, inlines the calls, and deletes the rest. `entry` names the
    function; without it the module must have exactly one public function.

    `dim-size` gives the size of a dynamic dimension of an argument, by position (`arg0.1=128`) or by its name in
    `spyre.dims`. The shapes that follow from these sizes become static. `s0=1024:64` defers a size to the launch: at
    most 1024, and a multiple of 64. The types then have the maximum, and `spyre.symbolic` and `spyre.granularities`
    record that the size is symbolic.

    Normalizes arguments and results:
    * a scalar becomes a tensor of rank 0;
    * an argument without elements becomes one element that is never read, and such a result becomes one zero; operands
      without elements are removed from ops that have others;
    * leading dimensions are collapsed if a tensor has more dimensions than a device layout can have. `spyre.shape`
      records the original shape.

    Errors:
    * there are several public functions and no `entry`;
    * a dynamic dimension has no size;
    * `dim-size` names an unknown dimension, or one with another size;
    * the program computes with a symbolic size;
    * a function is recursive;
    * inlining creates more than 131,072 ops.

    Implemented in `src/import/ir/select_program.rs`.

    Example: `spyre-opt --spyre-select-program="entry=main" test/import/select-program.mlir`
  }];
  let options = [Option<"entry", "entry", "std::string", "\"\"", "Function to compile; default: the only public one">,
                 ListOption<"dimSize", "dim-size", "std::string", "Size of a dynamic dimension: argA.D=SIZE or NAME=SIZE; MAX:STEP defers it to the launch">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def SpyreLowerStablehlo : Spyre_Pass<"spyre-lower-stablehlo"> {
  let summary = "Lower the remaining stablehlo ops to scf and tm_tensor";
  let description = [{
    JAX modules are lowered to `linalg` before this compiler reads them, except for loops, branches, sorts and scatters.
    The pass lowers loops and branches to `scf`, and sorts and scatters to `tm_tensor`, whose regions compute on
    scalars. JAX compares floats by their bit patterns. A comparator that is equivalent to a float comparison, as tested
    with sample values, is replaced by that comparison.

    Errors: a scatter has several operands; a region contains other ops.

    Implemented in `src/import/ir/lower_stablehlo.rs` and `dialects/bridge/LowerStablehlo.cpp`.

    Example: `spyre-opt --spyre-lower-stablehlo test/import/lower-stablehlo.mlir`
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect", "::stablehlo::StablehloDialect", "::tm_tensor::TmTensorDialect"];
}

def SpyreLowerTosa : Spyre_Pass<"spyre-lower-tosa"> {
  let summary = "Lower tosa ops to linalg";
  let description = [{
    Runs MLIR's conversions from `tosa` to `linalg`, `tensor`, `arith` and `scf`, if the module has `tosa` ops.

    Errors: MLIR has no lowering for an op.

    Implemented in `src/import/ir/lower_tosa.rs`.

    Example: `spyre-opt --spyre-lower-tosa test/import/lower-tosa.mlir`
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::tosa::TosaDialect"];
}

def SpyreCheckInput : Spyre_Pass<"spyre-check-input"> {
  let summary = "Reject unsupported input";
  let description = [{
    Checks the ops of every function before other passes rewrite them, so that errors name ops of the input. Changes
    nothing. `docs/reference/supported-ops.md` lists the supported ops.

    Errors: the module has loops, calls of functions without a body, ops of other dialects, tensors with dynamic shapes
    or without elements, or arguments that are not tensors.

    Implemented in `src/import/ir/check_input.rs`.

    Example: `spyre-opt --spyre-check-input test/import/check-input.mlir`
  }];
}

def SpyreSetTarget : Spyre_Pass<"spyre-set-target"> {
  let summary = "Set the target machine of the module";
  let description = [{
    Writes the module attribute `spyre.target`, which later passes read. Without the attribute they assume one Spyre
    card. With `bundle-format=1.0`, values cannot move between the LX of cores (`lx_fan_in` is 0), because release 1.0.0
    of the file format has no op for that, and restickifies work from HBM to HBM (`lx_restickify` is 0).

    Errors: a number is out of range; the file is not a machine description.

    Implemented in `src/import/ir/set_target.rs`.

    Example: `spyre-opt --spyre-set-target="cores=4" test/import/set-target.mlir`
  }];
  let options = [
    Option<"file", "file", "std::string", "\"\"", "JSON machine description; missing keys have Spyre's values">,
    Option<"cores", "cores", "int64_t", "0", "Number of cores to use; 0: all">,
    Option<"lxBytes", "lx-bytes", "int64_t", "-1", "Usable LX bytes per core; -1: those of the machine">,
    Option<"bundleFormat", "bundle-format", "std::string", "\"torch-spyre-2026-08\"",
           "Profile of the format: 1.0, torch-spyre-2026-08 or torch-spyre-2026-09">
  ];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

def SpyreRelaxRoundings : Spyre_Pass<"spyre-relax-roundings"> {
  let summary = "Remove f32-f16-f32 round trips";
  let description = [{
    Removes an `arith.truncf` from f32 to f16 or bf16 if all users of its result extend it to f32 again. Looks through
    bodies of `linalg.generic`, reshapes, hint scopes and kernels. Programs of f32 that keep such casts are rejected.

    Unless `precision=strict`, a program with 16-bit tensors is left unchanged, because it is computed in 16 bits. The
    pipeline runs the pass only with `rounding=relaxed`; see `docs/reference/tools.md`.

    Implemented in `src/import/ir/relax_roundings.rs`.

    Example: `spyre-opt --spyre-relax-roundings test/import/relax-roundings.mlir`
  }];
  let options = [Option<"precision", "precision", "std::string", "\"mixed\"",
                        "device, mixed: skip programs with 16-bit tensors; strict: process all programs">];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

def SpyreImportLinalg : Spyre_Pass<"spyre-import-linalg"> {
  let summary = "Convert linalg on tensors to spyre ops";
  let description = [{
    Converts `linalg.generic`, named `linalg` ops, reshapes and constants. Creates one `spyre` op per scalar operation.
    Ops are recognized by what their body computes, so equivalent spellings give the same result. Unless
    `precision=strict`, f32 values between f16 values are computed in the device's 16-bit format. Angles that are
    computed from f32 arguments, integers and constants stay in f32 with `precision=mixed`.

    Errors: a shape is dynamic; several functions have a body; the program has control flow; an operation has no device
    function.

    Implemented in `src/import/ir/import_linalg.rs`.

    Example: `spyre-opt --spyre-import-linalg test/import/import-linalg.mlir`
  }];
  let options = [Option<"precision", "precision", "std::string", "\"mixed\"",
                        "f32 beside f16: use 16 bits (device), except for angles (mixed), reject (strict)">];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

def SpyreFuseGathers : Spyre_Pass<"spyre-fuse-gathers"> {
  let summary = "Fuse elementwise functions into gathers";
  let description = [{
    A gather writes its result to HBM. If the only user of the result is a unary elementwise function without constants,
    the gather applies the function itself, which saves writing and rereading the result. Does not fuse an op that has
    its own `work_div`, or whose hints request other loops.

    Implemented in `src/import/ir/fuse_gathers.rs`.

    Example: `spyre-opt --spyre-fuse-gathers test/import/fuse-gathers.mlir`
  }];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

def SpyreExpandFunctions : Spyre_Pass<"spyre-expand-functions"> {
  let summary = "Expand functions whose results cannot be in LX";
  let description = [{
    Replaces `abs`, `gelufwd`, `reciprocal` and `relufwd` by chains of functions whose results may be in LX. Expands an
    op only if all users of its result are elementwise ops, reductions and matmuls, and if two tiles of the result fit
    in the LX of a core. An argument that the chain reads several times is copied first, so that it is read from HBM
    once. The expansion of gelu is an approximation; its error is about the rounding error of the format.

    With `bundle-format=1.0`, also replaces `greaterthan` and `lesserthan`, which release 1.0.0 of the file format
    lacks, by the product of `greaterequal` or `lesserequal` and `notequal`.

    Runs after `spyre-flatten-hints`. `into-lx` is on if there is an LX planner.

    Implemented in `src/import/ir/expand_functions.rs`.

    Example: `spyre-opt --spyre-expand-functions test/import/expand-functions.mlir`
  }];
  let options = [
    Option<"intoLx", "into-lx", "bool", "true", "Expand functions whose results cannot be in LX">,
    Option<"bundleFormat", "bundle-format", "std::string", "\"torch-spyre-2026-08\"",
           "Profile of the format: 1.0, torch-spyre-2026-08 or torch-spyre-2026-09">
  ];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

def SpyreFlattenHints : Spyre_Pass<"spyre-flatten-hints"> {
  let summary = "Convert hint scopes to attributes of ops";
  let description = [{
    Inlines `spyre.hint` scopes and writes their contents as `hints` and `work_div` on the ops inside. The ids of hints
    increase from the outer to the inner scope and in program order. An inner scope overrides the `work_div` of an outer
    scope for the same dimension. `tiles` adds a scope around every function. `bind` gives the value of a symbolic tile
    count.

    Errors: a symbolic tile count is neither bound nor declared in `spyre.symbols`; a binding exceeds the declared
    maximum; a binding is unused.

    Implemented in `src/hint/ir/flatten_hints.rs`.

    Example: `spyre-opt --spyre-flatten-hints="tiles=A=2,B=4" test/hint/flatten-hints.mlir`
  }];
  let options = [
    ListOption<"tiles", "tiles", "std::string", "NAME=COUNT: tile every function along named dimensions, outermost first">,
    ListOption<"bind", "bind", "std::string", "NAME=NUMBER: value of a symbolic tile count">
  ];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

//===----------------------------------------------------------------------===//
// layout
//===----------------------------------------------------------------------===//

def SpyreDeferDivisions : Spyre_Pass<"spyre-defer-divisions"> {
  let summary = "Divide the result of a matmul instead of its operand";
  let description = [{
    Rewrites `(e / l) v` as `(e v) / l`, as in an attention with weights `exp(x - m) / l`. Conditions:
    * the result of the matmul is not larger than the divided operand;
    * the quotient has no other users;
    * the divisor is constant along the contracted dimension;
    * `e` is `exp(x - m)` with `m` at least the maximum of `x`, so that no sum overflows.

    Changes rounding, so the pipeline does not run the pass with `precision=strict`.

    Implemented in `src/layout/ir/defer_divisions.rs`.

    Example: `spyre-opt --spyre-defer-divisions test/layout/defer-divisions.mlir`
  }];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

def SpyreMaterializeViews : Spyre_Pass<"spyre-materialize-views"> {
  let summary = "Materialize views that no op can read";
  let description = [{
    Copies the elements of a view into a tensor in these cases:
    * a diagonal, where one index selects two dimensions: it becomes a masked sum over a new dimension;
    * an operand of a reduction that is broadcast along a reduced dimension;
    * an operand of a matmul that lacks the contracted dimension, or a left operand that lacks a dimension of the
      result;
    * a view that divides a sum of dimensions, as rows of 10 read as rows of 9: the sum becomes a dimension of the copy;
    * a view that splits a dimension without dividing its size, as 7 elements of 4 rows of 2: whole rows are copied.

    The device infers the reduced and contracted dimensions from the operands, so such operands need their own elements.
    Users of the same elements share one copy.

    Errors: a diagonal has integer elements, is too long for a mask, or indexes a dimension by a quotient; a matmul has
    one column.

    Implemented in `src/layout/ir/materialize_views.rs`, and in `flatten.rs` and `view_requirements.rs` of
    `crates/program/src/layout`.

    Example: `spyre-opt --spyre-materialize-views test/layout/materialize-views.mlir`
  }];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

def SpyreCloneConstants : Spyre_Pass<"spyre-clone-constants"> {
  let summary = "Clone constants per user";
  let description = [{
    Gives each op its own clone of every constant with more than one element that it reads, including the views between
    them. Each clone then gets the layout that its op needs: the host stores constants in their layouts, so no relayout
    is needed on the device. `cse` later merges clones with equal layouts. If a view reshapes the whole constant, the
    clone has the shape of the view. Constants with a layout are unchanged.

    Implemented in `src/layout/ir/clone_constants.rs`.

    Example: `spyre-opt --spyre-clone-constants test/layout/clone-constants.mlir`
  }];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

def SpyreLayoutGatherTables : Spyre_Pass<"spyre-layout-gather-tables"> {
  let summary = "Choose the layouts of gather tables";
  let description = [{
    Makes the indexed dimension of a `spyre.gather` table the outermost dimension in device memory. Sets the layout of
    an argument or constant that has none, and of a result that only gathers read. Other tables are copied first, with a
    `spyre.copy`. A table that is larger than one core can address (`core_span_bytes`) is read in windows of one stick
    of its columns.

    Errors: a table has no dimension for sticks besides the indexed one.

    Implemented in `src/layout/ir/layout_gather_tables.rs`.

    Example: `spyre-opt --spyre-layout-gather-tables test/layout/layout-gather-tables.mlir`
  }];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

def SpyrePadContractions : Spyre_Pass<"spyre-pad-contractions"> {
  let summary = "Pad the contracted dimension of matmuls";
  let description = [{
    A matmul reads the contracted dimension K in complete sticks, so the right operand needs zero rows up to the next
    multiple of the stick. If K is not a multiple, the pass writes the operand into a larger buffer with `spyre.empty`
    and `spyre.insert`, and the matmul reads a window of this buffer. Users with the same padding share one buffer. Runs
    before `spyre-propagate-layouts`, which chooses the layout of the buffer.

    Errors: the device has no format for the elements; a view of the operand cannot be split.

    Implemented in `src/layout/ir/pad_contractions.rs`.

    Example: `spyre-opt --spyre-pad-contractions test/layout/pad-contractions.mlir`
  }];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

def SpyrePropagateLayouts : Spyre_Pass<"spyre-propagate-layouts"> {
  let summary = "Choose the device layout of every value";
  let description = [{
    Chooses the stick dimension of every buffer and op, for the whole function at once, and writes the layouts as tensor
    encodings. Minimizes the bytes that `spyre.restickify` moves. The device requires:
    * an elementwise op has the same stick dimension in all operands;
    * a matmul has K as stick dimension of the left operand, and N in the right operand and in the result;
    * a reduction along the stick dimension leaves one element per stick.

    The batch of a batched matmul is not next to the sticks of its operands, where the device computes slowly. Arguments
    and constants without a layout get the layout that their users need. A fill becomes a one-element
    constant, which elementwise ops broadcast; other ops read a full-size copy. A result that aliases another buffer is
    copied.

    Errors:
    * an element type has no device format;
    * a shape has no layout;
    * no stick dimension suits all operands of an op;
    * an op cannot write the specified layout of a result;
    * an insert begins or ends inside a stick of a specified layout.

    Implemented in `src/layout/ir/propagate_layouts.rs`, and in `choose.rs`, `relayout.rs` and `flow.rs` of
    `src/layout`.

    Example: `spyre-opt --spyre-propagate-layouts test/layout/propagate-layouts.mlir`
  }];
  let options = [Option<"sticks", "sticks", "std::string", "\"global\"",
                        "Choose stick dimensions for the program (global) or op by op, with row-major arguments (greedy)">];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

def SpyreInsertRestickify : Spyre_Pass<"spyre-insert-restickify"> {
  let summary = "Insert relayout copies where stick dimensions differ";
  let description = [{
    Converts an operand to the layout that its user needs, by the cheapest sequence of `spyre.restickify` and
    `spyre.copy` ops. A `spyre.copy` suffices if the stick dimension stays the same. Users of the same elements share
    the copies.

    Errors: an op has no layout; no sequence of relayouts suits an operand; a gather cannot read the layout of its table
    or index.

    Implemented in `src/layout/ir/insert_restickify.rs`.

    Example: `spyre-opt --spyre-propagate-layouts --spyre-insert-restickify test/layout/insert-restickify.mlir`
  }];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

def SpyreSplitViews : Spyre_Pass<"spyre-split-views"> {
  let summary = "Split dimensions so that every operand has affine indices without division";
  let description = [{
    If a view splits or merges dimensions, such as attention heads of a hidden dimension, the pass splits the dimensions
    of the buffer with a `spyre.view` of the same bytes. It also splits the iteration dimensions of the op. If another
    operand requires a split that does not divide the dimension, the slice is copied first.

    Runs after `spyre-insert-restickify`, which removes views that cannot be expressed in this way, such as heads
    narrower than a stick.

    Errors: operands split an iteration dimension at sizes of which neither divides the other; a split is inside a
    stick; a tile has split dimensions.

    Implemented in `src/layout/ir/split_views.rs` and `crates/program/src/layout/iteration_split.rs`.

    Example: `spyre-opt --spyre-propagate-layouts --spyre-insert-restickify --spyre-split-views
    test/layout/split-views.mlir`
  }];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

def SpyreCopyAliasedResults : Spyre_Pass<"spyre-copy-aliased-results"> {
  let summary = "Give every function result its own buffer";
  let description = [{
    Copies a result that is an argument, a constant, or the same buffer as another result. `spyre-propagate-layouts`
    inserts most of these copies, because it chooses their layouts. This pass restores copies that `cse` merged.

    Implemented in `src/layout/ir/copy_aliased_results.rs`.

    Example: `spyre-opt --spyre-copy-aliased-results test/layout/copy-aliased-results.mlir`
  }];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

#endif // SPYRE_PROGRAMPASSES_TD
