//===- Passes.td - every pass, its options and documentation -*- tablegen -*-===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
// A pass is declared here and implemented in Rust, in the file that its description names. The order in which they run
// stands in src/pipeline/steps.rs.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_PASSES_TD
#define SPYRE_PASSES_TD

include "mlir/Pass/PassBase.td"

class Spyre_Pass<string argument> : Pass<argument, "::mlir::ModuleOp">;

//===----------------------------------------------------------------------===//
// import
//===----------------------------------------------------------------------===//

def SpyreSelectProgram : Spyre_Pass<"spyre-select-program"> {
  let summary = "Leave the function that is compiled, in the sizes that it is compiled for";
  let description = [{
    Leaves one function and those that it calls, which become private; the rest is not looked at. Numbers that it takes or returns
    become tensors without dimensions. Gives the dynamic dimensions of its arguments the sizes that `dim-size` names, by argument
    and dimension (`arg0.1=128`) or by the name that `spyre.dims` has for it, makes static what follows from them, and inlines what
    is called. Takes tensors without elements out of what computes with others. Implemented in `src/import/ir/select_program.rs`.

    Refuses several public functions without `entry`, an `entry` that is not there, a dynamic dimension without a size, and a size
    for what is no dimension or has another one.

    Example: `spyre-opt --spyre-select-program="entry=main" test/import/select-program.mlir`
  }];
  let options = [Option<"entry", "entry", "std::string", "\"\"", "The function to compile; without it the only public one">,
                 ListOption<"dimSize", "dim-size", "std::string", "argA.D=SIZE or NAME=SIZE, the size of a dynamic dimension">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def SpyreLowerTosa : Spyre_Pass<"spyre-lower-tosa"> {
  let summary = "Turn ops of the dialect tosa into linalg";
  let description = [{
    Runs upstream's passes from `tosa` to `linalg`, `tensor`, `arith` and `scf`, where there are such ops. Refuses ops that upstream
    does not lower. Implemented in `src/import/ir/lower_tosa.rs`.

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
    supported is `docs/supported-ops.md`. Implemented in `src/import/ir/check_input.rs`.

    Refuses loops, calls of functions without a body, ops of dialects that are not read, tensors of dynamic shape and of
    size 0, and arguments that are no tensors.

    Example: `spyre-opt --spyre-check-input test/import/check-input.mlir`
  }];
}

def SpyreSetTarget : Spyre_Pass<"spyre-set-target"> {
  let summary = "State the machine that the module is compiled for";
  let description = [{
    Writes the module attribute `spyre.target`, which every later pass consults; without it, the machine is the Spyre
    card. Implemented in `src/import/ir/set_target.rs`.

    Refuses a number that is out of range, and a file that is no machine description.

    Example: `spyre-opt --spyre-set-target="cores=4" test/import/set-target.mlir`
  }];
  let options = [
    Option<"file", "file", "std::string", "\"\"", "JSON machine description; a missing key keeps Spyre's number">,
    Option<"cores", "cores", "int64_t", "0", "Cores to use, 1 to the machine's; 0 keeps the machine's">,
    Option<"lxBytes", "lx-bytes", "int64_t", "-1", "Usable LX bytes per core; -1 keeps the machine's">
  ];
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
    constants, the gather computes it: what was chosen is neither written nor read back. Ops with hints or a work division
    of their own stay as they are: a gather is one core's work. Implemented in `src/import/ir/fuse_gathers.rs`.

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

    Refuses a diagonal that moves a dimension by parts, one of integers, and one too long for a mask.

    No rewrite pattern: readers of the same elements share one copy, wherever they stand.

    Example: `spyre-opt --spyre-materialize-views test/layout/materialize-views.mlir`
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

//===----------------------------------------------------------------------===//
// hint
//===----------------------------------------------------------------------===//

def SpyrePropagateDims : Spyre_Pass<"spyre-propagate-dims"> {
  let summary = "Carry the names of dimensions from arguments to every op";
  let description = [{
    Reads `spyre.dims` of the arguments (or `dims`) and writes `dims` on compute ops: one string per iteration dimension,
    empty where no name is known. Implemented in `src/hint/ir/propagate_dims.rs`; the arithmetic is in `sizes.rs`, `names.rs` and
    `merge.rs`.

    The names of an argument are of its elements in storage order, outermost first. There may be more or fewer of them than
    dimensions: `tensor<16384xf16> {spyre.dims = ["M", "K"]}` is really [M, K]. Their sizes are declared (`spyre.dim_sizes =
    {M = 64}` on the function, or `0=M@64:K`), are those of the dimensions where each has one name, or are what the others
    leave. The sizes of an argument's names come to its elements. The pass completes `spyre.dim_sizes`.

    Names follow elements through every view by index arithmetic. A dimension that walks along several names has them all,
    the outer one first: `C*D`. A reduction drops the names of what it reduces. A buffer that is written in parts has the
    names of its parts, and a window of it that is one part has that part's.

    Warns, with the place where the name comes from, and goes on:
    * where two operands have different names for one dimension: the first one wins;
    * where a name is cut: a slice, a split inside it, a view across its ends, or elements without a name in the same
      dimension. The first op that reads the view has the warning, and the dimension no name.

    Refuses names whose sizes are not known or do not come to the elements of the tensor.

    Example: `spyre-opt --spyre-propagate-dims="dims=0=A:B" test/hint/propagate-dims.mlir`
  }];
  let options = [ListOption<"dims", "dims", "std::string", "ARG=NAME:NAME or ARG=NAME@SIZE:NAME names argument ARG in storage order">];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

//===----------------------------------------------------------------------===//
// search
//===----------------------------------------------------------------------===//

def SpyreChooseTiles : Spyre_Pass<"spyre-choose-tiles"> {
  let summary = "Choose loops for ops without hints";
  let description = [{
    Writes the hints that save most time, by the model of `docs/cost-model.md`: which ops run in loops together, along which of
    their dimensions, in how many tiles. An op with hints of its own keeps them and stands in no other loop. A program whose
    values all fit into the LX of the cores is left as it is.

    Reads layouts, `dims` and `hints`; writes `hints` and, for the dimensions that it cuts, names in `dims`. What it chose is in
    `spyre.tile_search` of the function. Every plan that it looks at is tiled, divided, placed and priced by the passes that
    follow, on a copy; `docs/tile-search.md` has the method. Implemented in `src/search/ir/choose_tiles.rs`.

    Example: `spyre-opt --spyre-propagate-layouts --spyre-choose-tiles test/search/choose-tiles.mlir`
  }];
  let options = [
    Option<"steps", "steps", "int64_t", "3000", "How many ops may be judged at the most; 0 chooses nothing">,
    Option<"objective", "objective", "std::string", "\"time\"", "What plans are compared by: 'time' or 'bytes'">,
    Option<"plan", "plan", "std::string", "\"\"", "The plan file to follow, or to note what is chosen for, if there is none">
  ];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

//===----------------------------------------------------------------------===//
// tile
//===----------------------------------------------------------------------===//

def SpyreCoarseTile : Spyre_Pass<"spyre-coarse-tile"> {
  let summary = "Run hinted ops tile by tile";
  let description = [{
    Ops with the same hints become the body of nested `spyre.loop`s, one per hint; an op is only in the loops of dimensions
    that it has. A loop is parted in two where an op needs all of a value that the loop makes; what needs nothing of a loop
    comes before it. A value that only its loop uses lives within one iteration, with a layout of its own; a value that
    others read is written into its full buffer tile by tile, or copied there if ops in the loop read it too. Where a loop
    cuts a dimension that an op reduces, it carries an accumulator: a copy of the neutral element, to which each iteration
    adds its part. An op that writes a part of a larger buffer is not tiled: it stands between the loops of what it reads and
    of what reads it, and a remark says so. `docs/architecture.md`, "Loops", has the rules. Implemented in
    `src/tile/ir/coarse_tile.rs`.

    Refuses a count that does not divide (nothing is peeled), a tile that ends inside a stick, a name that an op has twice
    or that no op has, an inner name of a dimension whose outer names are not cut to single positions, and a reduction whose
    parts cannot be combined.

    Example: `spyre-opt --spyre-propagate-layouts --spyre-propagate-dims --spyre-coarse-tile test/tile/coarse-tile.mlir`
  }];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

def SpyreMakeOnline : Spyre_Pass<"spyre-make-online"> {
  let summary = "Run two loops as one where what they carry can be corrected";
  let description = [{
    Where a loop needs what the loop before it finishes, as the sum of `exp(x - max x)` needs the maximum of a row, there are
    two loops over one dimension. They become one that reads the running value, which is what the first one has so far, if
    what the second one carries can be corrected whenever that changes:
    * a sum of something of the tile times `exp(-r)`, of a running `r` that never falls (a maximum), is multiplied by
      `exp(old - new)` before the next part is added; and the same for `exp(r)` of one that never grows;
    * a maximum or minimum of something of the tile plus or minus a running value gets the difference added.

    What is read behind the loops is the finished value, as before. Implemented in `src/tile/ir/make_online.rs`; the rules are
    in `src/tile/online.rs`. A remark names the first op that needs a finished value otherwise, and leaves the loops as they
    are; loops with loops inside are left, too.

    Example: `spyre-opt --spyre-make-online test/tile/make-online.mlir`
  }];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

def SpyreSettleLoops : Spyre_Pass<"spyre-settle-loops"> {
  let summary = "Let every loop overwrite what it carries";
  let description = [{
    All that a `spyre.loop` carries from a start on lies in one buffer. Copies a value where that buffer would be overwritten
    before the last reader of what was in it:
    * a start that others read when the loop runs or later, that two loops or two places of one begin with, or that no op
      beside the loop makes;
    * a value that is left for the next iteration, or written as a tile, and is not made in the body for that one place: one
      from outside, one that the iteration found elsewhere (values that change places), one that is left twice;
    * a value whose op overwrites what the iteration found before that was read; an elementwise op may read it at the same
      elements.

    The passes that divide work do the same first, and what comes behind them refuses a loop that is not settled. Implemented
    in `src/tile/ir/settle_loops.rs`.

    Example: `spyre-opt --split-input-file --spyre-settle-loops test/tile/settle-loops.mlir`
  }];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

//===----------------------------------------------------------------------===//
// work
//===----------------------------------------------------------------------===//

def SpyreReduceSpan : Spyre_Pass<"spyre-reduce-span"> {
  let summary = "Cut ops whose tensors are too large for one core to address";
  let description = [{
    A core addresses at most 65535 x 4096 bytes of one tensor. Writes `min_work`, the fewest slices that keep every
    tensor of the op within that, where it is more than one. Implemented in `src/work/ir/reduce_span.rs`.

    Refuses an op that no split brings within the limit.

    Example: `spyre-opt --spyre-propagate-layouts --spyre-reduce-span test/work/reduce-span.mlir`
  }];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

def SpyreDivideWork : Spyre_Pass<"spyre-divide-work"> {
  let summary = "Divide the iteration space of every op over the cores";
  let description = [{
    Writes `work`: slices per iteration dimension, at least `min_work`. An op with a `work_div` that names one of its
    dimensions is divided as it says, other matmuls follow a cost model, all other ops give cores to their largest
    output dimensions first. Removes `work_div`. Implemented in `src/work/ir/divide_work.rs`; the rules are in
    `docs/work-division.md`.

    Refuses a `work_div` that cannot be followed: slices that do not divide, more than there are cores, two reduction
    dimensions, a dimension that cannot be divided, a name that no op under it has.

    Example: `spyre-opt --spyre-lay-out-tables --spyre-propagate-layouts --spyre-divide-work test/work/divide-work.mlir`
  }];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

//===----------------------------------------------------------------------===//
// lx
//===----------------------------------------------------------------------===//

def SpyreDivideJointly : Spyre_Pass<"spyre-divide-jointly"> {
  let summary = "Divide the work of all ops together, by what the splits and the placement in LX cost";
  let description = [{
    Takes the place of `spyre-divide-work` before the planner `exact`. Begins with the splits that `spyre-divide-work` writes, and
    chooses among all splits and orders of cores those for which the modelled time of the program is least, values in LX included:
    a value stays there only if all its users divide it alike. The result is never dearer by the model than what it begins with.
    Implemented in `src/joint/ir/divide_jointly.rs`; the method is in `docs/lx-planning.md`.

    Refuses what `spyre-divide-work` refuses; a `work_div` is followed.

    Example: `spyre-opt --spyre-lay-out-tables --spyre-propagate-layouts --spyre-divide-jointly test/joint/divide-jointly.mlir`
  }];
  let options = [
    Option<"objective", "objective", "std::string", "\"time\"", "What plans are compared by: 'time' or 'bytes'">,
    Option<"plan", "plan", "std::string", "\"\"", "The plan file to follow, or to note what is chosen for, if there is none">
  ];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

def SpyreCloneInputs : Spyre_Pass<"spyre-clone-inputs"> {
  let summary = "Copy inputs that are read several times, so that they can live in LX";
  let description = [{
    An argument that several ops read, all with the same division over the cores, is copied once; the readers read the
    copy. For the planners other than `exact`, which chooses such copies itself. Implemented in `src/lx/ir/clone_inputs.rs`.

    No rewrite pattern: a copy is for all readers of an argument that divide it alike.

    Example: `spyre-opt --spyre-propagate-layouts --spyre-divide-work --spyre-clone-inputs test/lx/clone-inputs.mlir`
  }];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

def SpyrePlanLx : Spyre_Pass<"spyre-plan-lx"> {
  let summary = "Choose LX or HBM for every value, and the address in LX";
  let description = [{
    Reads `work` and program order; writes `place`. A value that may not live in LX, or does not fit, is placed in HBM
    with the reason. Implemented in `src/lx/ir/plan_lx.rs`.

    The planner `exact` also writes `spyre.copy` ops between LX and HBM: for inputs that several ops read alike, for results that
    other ops read as well, and for values that leave LX between two uses. It does so where fewer bytes are moved to and from HBM.

    Refuses an unknown planner.

    Example: `spyre-opt --spyre-propagate-layouts --spyre-divide-work --spyre-plan-lx=planner=first-fit test/lx/plan-lx.mlir`
  }];
  let options = [Option<"planner", "planner", "std::string", "\"exact\"", "none, greedy, first-fit, best-fit or exact">];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

//===----------------------------------------------------------------------===//
// bundle
//===----------------------------------------------------------------------===//

def SpyreFormBundles : Spyre_Pass<"spyre-form-bundles"> {
  let summary = "Group ops and loops into kernel launches";
  let description = [{
    Writes `spyre.bundle`, the number of the launch, on every op and loop of a function, and gives HBM values that live
    within one launch an offset in its pool. With baked addresses a launch addresses at most seven tensors, six beside a
    pool. Implemented in `src/bundle/ir/form_bundles.rs`.

    Example: `spyre-opt --spyre-propagate-layouts --spyre-divide-work --spyre-plan-lx --spyre-form-bundles test/bundle/form-bundles.mlir`
  }];
  let options = [Option<"addresses", "addresses", "std::string", "\"symbolic\"",
                        "symbolic: kernel arguments are symbols; baked: absolute addresses">];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

def SpyreLowerToSdsc : Spyre_Pass<"spyre-lower-to-sdsc"> {
  let summary = "Turn ops into op specs with coordinates and addresses";
  let description = [{
    Replaces every function by an `sdsc.program` with its buffers and bundles. Implemented in
    `src/bundle/ir/lower_to_sdsc.rs`.

    A constant becomes a buffer with the elements as its value; constants of equal bytes and equal layout are one buffer.

    Refuses fills, which the layout phase turns into copies of constants.

    Example: `spyre-opt --spyre-compile="compile-to=lx" --spyre-form-bundles --spyre-lower-to-sdsc test/bundle/lower-to-sdsc.mlir`
  }];
  let dependentDialects = ["::sdsc::SdscDialect"];
}

def SpyreLowerToSdscBundle : Spyre_Pass<"spyre-lower-to-sdscbundle"> {
  let summary = "Write the launch function of every bundle";
  let description = [{
    Replaces every `sdsc.bundle` by a module with the function of `bundle.mlir` (symbols, loops, executes) and the op
    specs, each with the name of its file. Implemented in `src/launch/ir/lower_to_sdscbundle.rs`.

    Refuses an LX tensor that moves with a loop, a pool that is too large, and baked addresses that move with a loop.

    Example: `spyre-opt --spyre-lower-to-sdscbundle test/launch/lower-to-sdscbundle.mlir`
  }];
  let options = [Option<"addresses", "addresses", "std::string", "\"symbolic\"",
                        "symbolic: kernel arguments are symbols; baked: absolute addresses">,
                 Option<"loops", "loops", "std::string", "\"keep\"", "keep: counted loops; unroll: one execute per iteration">];
  let dependentDialects = ["::sdsc::SdscDialect", "::sdscbundle::SdscBundleDialect", "::mlir::func::FuncDialect",
                           "::mlir::arith::ArithDialect", "::mlir::affine::AffineDialect", "::mlir::scf::SCFDialect"];
}

//===----------------------------------------------------------------------===//
// emit
//===----------------------------------------------------------------------===//

def SpyreEmitBundle : Spyre_Pass<"spyre-emit-bundle"> {
  let summary = "Write the bundle directory";
  let description = [{
    Writes `program.json`, a file for each constant with its bytes in device memory and, per bundle, `bundle.mlir` and the
    SDSC files, complete or not at all. Implemented in `src/sdsc/ir/emit_bundle.rs`.

    Refuses a directory that it cannot write, names that lead out of it, constants that the device cannot hold, and a program whose
    files would break a rule of the format.

    Example: `spyre-opt --spyre-compile --spyre-emit-bundle=output=out test/sdsc/emit-bundle.mlir`
  }];
  let options = [
    Option<"output", "output", "std::string", "\"\"", "The directory to write">,
    Option<"compiled", "compiled", "bool", "false", "The module went through all phases: a rule that it breaks is a bug of ours">
  ];
}

def SpyreVerifyPhase : Spyre_Pass<"spyre-verify-phase"> {
  let summary = "Refuse what should be gone, or decided, after a phase";
  let description = [{
    Runs after every phase of the pipeline, so that a mistake shows in the phase that made it. Writes the phase on the module,
    as `spyre.phase`: from there `spyre-compile` goes on. Implemented in `src/gate/verify_phase.rs`.

    All that is wrong is named, not the first mistake alone. Of what an earlier phase promises, everything holds behind a later one, up
    to `bundle`:

    | behind | holds |
    |---|---|
    | `import` | no `linalg`, no `tensor`, no hint scope |
    | `layout` | every buffer has a device layout, every result of the program is a buffer of its own |
    | `tile` | no hints are left, and every loop overwrites what it carries |
    | `work` | every op is divided as the machine can, and no `work_div` is left |
    | `lx` | every value has a place, which it shares with none that lives at the same time |
    | `bundle` | no op of `spyre`, no `sdsc.bundle` and no `sdsc.loop` |

    Refuses a module that breaks one of them.

    Example: `spyre-opt --split-input-file --spyre-compile="compile-to=layout" --spyre-verify-phase=phase=layout test/gate/verify-phase.mlir`
  }];
  let options = [Option<"phase", "phase", "std::string", "\"import\"", "import, layout, hint, tile, work, lx or bundle">];
}

#endif // SPYRE_PASSES_TD
