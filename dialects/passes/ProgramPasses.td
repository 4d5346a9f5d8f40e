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
  let summary = "Leave the function that is compiled, in the sizes that it is compiled for";
  let description = [{
    Leaves one function and those that it calls, which become private; the rest is not looked at. Numbers that it takes or returns
    become tensors without dimensions. Gives the dynamic dimensions of its arguments the sizes that `dim-size` names, by argument
    and dimension (`arg0.1=128`) or by the name that `spyre.dims` has for it, makes static what follows from them, and inlines what
    is called. A size with a granularity (`s0=1024:64`) is one that is known at launch only, at most 1024 and a multiple of 64: the program gets
    the largest, and `spyre.symbolic` of the argument and `spyre.granularities` say that it may be smaller. Takes tensors without elements out of
    what computes with others; an argument without elements becomes one element, which nothing reads, and a result without elements one element,
    which is zero. Makes the outermost dimensions one, of tensors that it takes or returns and that have more than a layout holds. The
    caller's shapes are `spyre.shape` then. Implemented in `src/import/ir/select_program.rs`.

    Refuses several public functions without `entry`, an `entry` that is not there, a dynamic dimension without a size, and a size
    for what is no dimension or has another one; a computation with the number that a symbolic size is; a function that calls itself, and
    calls of which inlining makes more than 131,072 ops, where the file has fewer.

    No rewrite pattern: sizes are given to the whole function before anything follows from them; what follows is left to MLIR's
    own patterns and inliner.

    Example: `spyre-opt --spyre-select-program="entry=main" test/import/select-program.mlir`
  }];
  let options = [Option<"entry", "entry", "std::string", "\"\"", "The function to compile; without it the only public one">,
                 ListOption<"dimSize", "dim-size", "std::string", "argA.D=SIZE or NAME=SIZE, the size of a dynamic dimension; =MAX:STEP for one that is known at launch">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def SpyreLowerStablehlo : Spyre_Pass<"spyre-lower-stablehlo"> {
  let summary = "Turn what JAX leaves of the dialect stablehlo into scf and tm_tensor";
  let description = [{
    The passes from `stablehlo` to `linalg` leave loops, choices, sorting and scatters as they are. Loops and choices become ops of
    `scf`, the others ops of `tm_tensor`, whose regions work on elements and not on tensors without dimensions. JAX orders floats
    by their bits; a comparator that says of probes what a comparison of numbers says becomes that comparison. Refuses scatters to
    several tensors, and regions of other ops. Implemented in `src/import/ir/lower_stablehlo.rs` and
    `dialects/bridge/LowerStablehlo.cpp`.

    No rewrite pattern: each op is met once, from the innermost on, and none is made again.

    Example: `spyre-opt --spyre-lower-stablehlo test/import/lower-stablehlo.mlir`
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect", "::stablehlo::StablehloDialect", "::tm_tensor::TmTensorDialect"];
}

def SpyreLowerTosa : Spyre_Pass<"spyre-lower-tosa"> {
  let summary = "Turn ops of the dialect tosa into linalg";
  let description = [{
    Runs upstream's passes from `tosa` to `linalg`, `tensor`, `arith` and `scf`, where there are such ops. Refuses ops that upstream
    does not lower. Implemented in `src/import/ir/lower_tosa.rs`.

    No rewrite pattern: the patterns are those of MLIR, which this pass runs.

    Example: `spyre-opt --spyre-lower-tosa test/import/lower-tosa.mlir`
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::tosa::TosaDialect"];
}

def SpyreCheckInput : Spyre_Pass<"spyre-check-input"> {
  let summary = "Refuse what can never be compiled";
  let description = [{
    Reads the operations of every function before other passes change their names; changes nothing. The table of what is
    supported is `docs/reference/supported-ops.md`. Implemented in `src/import/ir/check_input.rs`.

    Refuses loops, calls of functions without a body, ops of dialects that are not read, tensors of dynamic shape and of
    size 0, and arguments that are no tensors.

    No rewrite pattern: it changes no IR.

    Example: `spyre-opt --spyre-check-input test/import/check-input.mlir`
  }];
}

def SpyreSetTarget : Spyre_Pass<"spyre-set-target"> {
  let summary = "State the machine that the module is compiled for";
  let description = [{
    Writes the module attribute `spyre.target`, which every later pass consults; without it, the machine is the Spyre
    card. Implemented in `src/import/ir/set_target.rs`.

    Refuses a number that is out of range, and a file that is no machine description.

    No rewrite pattern: it writes one attribute of the module.

    Example: `spyre-opt --spyre-set-target="cores=4" test/import/set-target.mlir`
  }];
  let options = [
    Option<"file", "file", "std::string", "\"\"", "JSON machine description; a missing key keeps Spyre's number">,
    Option<"cores", "cores", "int64_t", "0", "Cores to use, 1 to the machine's; 0 keeps the machine's">,
    Option<"lxBytes", "lx-bytes", "int64_t", "-1", "Usable LX bytes per core; -1 keeps the machine's">
  ];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

def SpyreRelaxRoundings : Spyre_Pass<"spyre-relax-roundings"> {
  let summary = "Leave out roundings of f32 to 16 bits that are widened again";
  let description = [{
    Where all that reads an `arith.truncf` of f32 to f16 or bf16 widens it to f32 again, through bodies of `linalg.generic`, reshapes, hint scopes and kernels, the values
    between stay f32, and both casts go. The device has no conversion between formats, so that a program with such casts is refused
    otherwise. With `precision=device` a program with tensors of 16 bits is computed in that format, and has no such casts. The pipeline has
    this pass for `rounding=relaxed` alone. Implemented in `src/import/ir/relax_roundings.rs`; `docs/reference/tools.md` says more.

    No rewrite pattern: a value keeps its type unless all that it is given to and comes from can change theirs.

    Example: `spyre-opt --spyre-relax-roundings test/import/relax-roundings.mlir`
  }];
  let options = [Option<"precision", "precision", "std::string", "\"device\"",
                        "device: leave programs with tensors of 16 bits as they are; strict: look at them, too">];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

def SpyreImportLinalg : Spyre_Pass<"spyre-import-linalg"> {
  let summary = "Turn linalg on tensors into spyre ops";
  let description = [{
    Reads `linalg.generic`, the named ops that it stands for, reshapes and constants; writes one
    `spyre` op per scalar operation, recognised by what the body computes and not by how it is spelt. With
    `precision=device`, f32 values between an f16 value and an f16 value are computed in the device's f16 format.
    Implemented in `src/import/ir/import_linalg.rs`.

    Refuses dynamic shapes, several functions with a body, control flow, and every operation that has no device
    function yet; the message names it.

    No rewrite pattern: a program is read into a graph of plain values, in which equal nodes are one and rules see finished
    operands. What it means (an index or a number, a range) is known only once all of it was read.

    Example: `spyre-opt --spyre-import-linalg test/import/import-linalg.mlir`
  }];
  let options = [Option<"precision", "precision", "std::string", "\"device\"",
                        "device: fold f32 islands between f16 values; strict: keep them">];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

def SpyreFuseGathers : Spyre_Pass<"spyre-fuse-gathers"> {
  let summary = "Let a gather compute the function that alone reads what it chooses";
  let description = [{
    A gather writes to HBM whatever it chooses. Where its only reader is an elementwise function of one operand and without
    constants, the gather computes it: what was chosen is neither written nor read back. Ops with a work division of
    their own stay as they are, as a gather is one core's work, and so do those for which hints ask for other loops. Implemented in `src/import/ir/fuse_gathers.rs`.

    No rewrite pattern: one walk over the functions finds all there is, since what a fused gather writes is fused no further.

    Example: `spyre-opt --spyre-fuse-gathers test/import/fuse-gathers.mlir`
  }];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

def SpyreExpandFunctions : Spyre_Pass<"spyre-expand-functions"> {
  let summary = "Write functions whose results cannot live in LX in terms of others";
  let description = [{
    Replaces `abs`, `gelufwd`, `reciprocal` and `relufwd` by chains of functions whose results may live in LX. Only where
    nothing but elementwise ops, reductions and matmuls reads the result, and a core's part of two tensors fits in LX if the
    op's hints cut it. An argument that is read several times and is not written by such a function is copied first, so
    that it is read from HBM once. The gelu is an approximation whose error is of the size of the format's rounding. Runs
    behind `spyre-flatten-hints`, and only if there is an LX planner. Implemented in `src/import/ir/expand_functions.rs`.

    No rewrite pattern: whether a chain pays depends on all readers of the result, and an operand that a chain reads several
    times is copied once for all of them.

    Example: `spyre-opt --spyre-expand-functions test/import/expand-functions.mlir`
  }];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

def SpyreFlattenHints : Spyre_Pass<"spyre-flatten-hints"> {
  let summary = "Turn hint scopes into hints on ops";
  let description = [{
    Replaces `spyre.hint` scopes by `hints` and `work_div` attributes on the ops in them; ids increase from outside to
    inside and in program order. A scope inside another overrides the slices that `work_div` asks for under the same
    name. `tiles` is a scope around the whole function. A number of tiles may be a name; `bind` says which number it stands
    for. Implemented in `src/hint/ir/flatten_hints.rs`.

    Refuses a name of a number of tiles that is neither bound nor declared in `spyre.symbols`, a binding above the declared
    maximum, and one that nothing uses.

    No rewrite pattern: the ids of scopes are their order in the whole function.

    Example: `spyre-opt --spyre-flatten-hints="tiles=A=2,B=4" test/hint/flatten-hints.mlir`
  }];
  let options = [
    ListOption<"tiles", "tiles", "std::string", "NAME=COUNT around every function, outermost first">,
    ListOption<"bind", "bind", "std::string", "NAME=NUMBER, the number that the name of a count stands for">
  ];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

//===----------------------------------------------------------------------===//
// layout
//===----------------------------------------------------------------------===//

def SpyreDeferDivisions : Spyre_Pass<"spyre-defer-divisions"> {
  let summary = "Divide a product instead of its operand";
  let description = [{
    The weights of an attention are `exp(x - m) / l`, and `(e / l) v` is `(e v) / l`. Divides behind a `spyre.matmul` where its
    result is not larger than the operand, where nothing else reads the quotient, and where the divisor does not move along
    the summed dimension. Only where `m` is at least the maximum of `x` along that dimension: then `e` is at most 1, and no sum
    overflows. Rounding differs, so the pipeline has this pass for `precision=device` alone. Implemented in
    `src/layout/ir/defer_divisions.rs`.

    No rewrite pattern: that the divided tensor is at most 1 is known from what made it, several ops and views further up.

    Example: `spyre-opt --spyre-defer-divisions test/layout/defer-divisions.mlir`
  }];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

def SpyreMaterializeViews : Spyre_Pass<"spyre-materialize-views"> {
  let summary = "Make tensors of views that no op can read as they are";
  let description = [{
    A dimension of device memory has one index, so a view of a diagonal becomes a sum over a new dimension of which a mask
    leaves one element. The device knows what an op reduces or contracts by the operands that move along a dimension: a
    reduction whose operand only repeats elements along a reduced dimension reads a copy, and so does a product whose left
    operand lacks a dimension of the result, or whose operands lack K. Implemented in `src/layout/ir/materialize_views.rs`
    and `needs.rs`.

    Refuses a diagonal that moves a dimension by parts, one of integers, one too long for a mask, and a product by one column.

    No rewrite pattern: readers of the same elements share one copy, wherever they stand.

    Example: `spyre-opt --spyre-materialize-views test/layout/materialize-views.mlir`
  }];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

def SpyreCloneConstants : Spyre_Pass<"spyre-clone-constants"> {
  let summary = "Give each op that reads a constant one of its own, under the dimensions that it sees";
  let description = [{
    A launch finds its constants in device memory as they were put there: a layout for each reader costs no time of the
    device, where moving the sticks of a shared one does. Each op that reads a constant of more than one element, also
    through views, gets a clone of it and of the views; where readers choose the same layout, equal constants become one
    again (`cse`). Where a view takes the dimensions of all of the constant apart or puts them together, the clone has the
    dimensions of the view, in the order of its elements. A constant that has a layout stays. Implemented in `src/layout/ir/clone_constants.rs`.

    No rewrite pattern: the pass makes equal ops, which the greedy driver merges.

    Example: `spyre-opt --spyre-clone-constants test/layout/clone-constants.mlir`
  }];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

def SpyreLayOutTables : Spyre_Pass<"spyre-lay-out-tables"> {
  let summary = "Give the tables of gathers the layout that an index can reach into";
  let description = [{
    The dimension that a `spyre.gather` indexes becomes the outermost one in device memory. An argument or a constant
    without a layout gets such a layout, and so does the result of an op that only gathers read; any other table is
    copied first by a `spyre.copy`. Implemented in `src/layout/ir/lay_out_tables.rs`.

    Refuses a table that has no dimension but the indexed one for its sticks.

    No rewrite pattern: whether the writer of a table may lay it out depends on all readers of it.

    Example: `spyre-opt --spyre-lay-out-tables test/layout/lay-out-tables.mlir`
  }];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

def SpyrePadContractions : Spyre_Pass<"spyre-pad-contractions"> {
  let summary = "Pad what a contraction reads past";
  let description = [{
    A matmul reads K in whole sticks, so the right operand's rows past K must exist and be zero. Where K is no multiple of
    the stick, the right operand is written into a buffer with more rows (`spyre.empty`, `spyre.insert`), the last of them
    zero, and read as a window of it. What the operand only repeats is written once. Runs before layouts are chosen, because
    the padded operand is a buffer that needs one. Implemented in `src/layout/ir/pad_contractions.rs`.

    Refuses elements for which the device has no format, and an operand whose views cannot be split.

    No rewrite pattern: readers that need the same padding share one buffer.

    Example: `spyre-opt --spyre-pad-contractions test/layout/pad-contractions.mlir`
  }];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

def SpyrePropagateLayouts : Spyre_Pass<"spyre-propagate-layouts"> {
  let summary = "Give every value a device layout";
  let description = [{
    Chooses which dimension runs in the sticks of every buffer and op, for the whole program at once, so that moves of
    sticks touch as few bytes as possible: an elementwise op has one in all operands, a matmul K in the left and N in the
    right operand and the result, a reduction over its stick leaves one element a stick. Arguments and constants without a
    layout lie as their readers want them. Writes encodings, also into the function's type. A fill becomes a constant of one
    element, which elementwise ops broadcast; other ops read a copy of it in full size. A result that is not a buffer of its
    own is copied. Implemented in `src/layout/ir/propagate_layouts.rs`, `choose.rs`, `form.rs` and `flow.rs`.

    Refuses elements without a format, shapes without a layout, an op whose operands fit no common stick however they are
    moved, a result with a given layout that its op cannot write, and a part that begins or ends inside a stick of a buffer
    with a given layout: it would overwrite what is beside it.

    No rewrite pattern: the layouts of all values of a function are one choice.

    Example: `spyre-opt --spyre-propagate-layouts test/layout/propagate-layouts.mlir`
  }];
  let options = [Option<"sticks", "sticks", "std::string", "\"global\"",
                        "global: choose for the whole program; greedy: op by op, with row-major arguments">];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

def SpyreInsertRestickify : Spyre_Pass<"spyre-insert-restickify"> {
  let summary = "Move sticks where an op needs them elsewhere";
  let description = [{
    An operand whose sticks do not fit those of its reader is moved into a new buffer by the cheapest chain of
    `spyre.restickify` ops (`spyre.copy` where elements keep their sticks), which readers of the same elements share.
    Implemented in `src/layout/ir/insert_restickify.rs`.

    Refuses an op without layouts, an operand that no chain makes fit, and a table or an index that does not lie as a gather
    needs it.

    No rewrite pattern: it carries out one choice for the whole function, in which readers share moves. So there are no
    chains of moves that undo each other for a pattern to find.

    Example: `spyre-opt --spyre-propagate-layouts --spyre-insert-restickify test/layout/insert-restickify.mlir`
  }];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

def SpyreSplitViews : Spyre_Pass<"spyre-split-views"> {
  let summary = "Let every op read its buffers by plain indices";
  let description = [{
    Where a view takes a dimension apart or puts one together (heads out of columns), the buffer is shown with its
    dimensions split, by a `spyre.view` with the layout of the same bytes, and the op runs over the parts of its iteration
    dimensions. A part of a buffer that another operand's view would take apart where the whole does not divide is copied
    first. Implemented in `src/layout/ir/split_views.rs` and `split.rs`.

    Runs after moves are inserted: they take away what cannot be shown so (heads narrower than a stick).

    Refuses operands that would cut an iteration dimension at numbers of which none divides the other, a split inside a stick,
    and a tile under split dimensions.

    No rewrite pattern: the operands of an op are cut together, and the op with them.

    Example: `spyre-opt --spyre-propagate-layouts --spyre-insert-restickify --spyre-split-views test/layout/split-views.mlir`
  }];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

def SpyreOwnResults : Spyre_Pass<"spyre-own-results"> {
  let summary = "Give every result of the program a buffer of its own";
  let description = [{
    A result that is the buffer of another one, of an argument or of a constant is copied. `spyre-propagate-layouts` copies
    such results as well, so that their layouts are chosen with all others; what is left are copies that became one when
    equal ops were merged. Implemented in `src/layout/ir/own_results.rs`.

    No rewrite pattern: which results share a buffer is a question to the whole return, and to loops and views above it.

    Example: `spyre-opt --spyre-own-results test/layout/own-results.mlir`
  }];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

#endif // SPYRE_PROGRAMPASSES_TD
