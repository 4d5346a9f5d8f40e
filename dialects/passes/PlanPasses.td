//===- PlanPasses.td - the passes from hint to sdsc --------*- tablegen -*-===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_PLANPASSES_TD
#define SPYRE_PLANPASSES_TD

include "SpyrePass.td"

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

    No rewrite pattern: a name is carried through the whole function in program order, and conflicts are told once, where the
    name comes from.

    Example: `spyre-opt --spyre-propagate-dims="dims=0=A:B" test/hint/propagate-dims.mlir`
  }];
  let options = [ListOption<"dims", "dims", "std::string", "ARG=NAME:NAME or ARG=NAME@SIZE:NAME names argument ARG in storage order">];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

//===----------------------------------------------------------------------===//
// search
//===----------------------------------------------------------------------===//

def SpyrePeelRests : Spyre_Pass<"spyre-peel-rests"> {
  let summary = "Part a dimension that neither tiles nor cores divide";
  let description = [{
    Loops and cores divide a dimension into equal parts. Where ops walk along a dimension together whose size is no multiple of the
    cores and of a stick, and one of them makes a value of 256 KiB or more, the dimension may be parted: ops of the first
    part have a size that divides, and the same ops once more do the rest. Arguments are read in parts; what others need of both
    parts is put together by inserts. Up to two dimensions are looked at, each in two places: in front of the smallest rest, and where
    the first part has more counts to choose from.

    Whether parting pays is found out by compiling the program both ways, with the options `compile`: it must save a twentieth of the
    time, and a fifth of the part of the bytes that it moves more (a twentieth of the bytes, where these are the objective), by the model. A program without such a dimension is not compiled for that. What was done is written as `spyre.peeled` of the
    function. Hints, names of dimensions, symbolic sizes and loops that are there keep a program as it is. Implemented in `src/peel/ir/peel_rests.rs`.

    No rewrite pattern: all ops that walk along a dimension are parted together, and compared as a whole program.

    Example: `spyre-opt --spyre-peel-rests=compile=kernels=separate test/peel/peel-rests.mlir`
  }];
  let dependentDialects = ["::spyre::SpyreDialect"];
  let options = [Option<"compile", "compile", "std::string", "\"\"",
                        "The options of 'spyre-compile' by which programs are compared; without them the first dimension is parted">];
}

def SpyreChooseTiles : Spyre_Pass<"spyre-choose-tiles"> {
  let summary = "Choose loops for ops without hints";
  let description = [{
    Writes the hints that save most time, by the model of `docs/reference/cost-model.md`: which ops run in loops together, along which of
    their dimensions, in how many tiles. An op with hints of its own keeps them and stands in no other loop. A program whose
    values all fit into the LX of the cores is left as it is.

    Reads layouts, `dims` and `hints`; writes `hints` and, for the dimensions that it cuts, names in `dims`. What it chose is in
    `spyre.tile_search` of the function. Every plan that it looks at is tiled, divided, placed and priced by the passes that
    follow, on a copy; `docs/concepts/search.md` has the method. Implemented in `src/search/ir/choose_tiles.rs`.

    No rewrite pattern: plans of the whole function are compared by what all later passes would make of them.

    Example: `spyre-opt --spyre-propagate-layouts --spyre-choose-tiles test/search/choose-tiles.mlir`
  }];
  let options = [
    Option<"steps", "steps", "int64_t", "3000", "How many ops may be judged at the most; 0 chooses nothing">,
    Option<"objective", "objective", "std::string", "\"time\"", "What plans are compared by: 'time' or 'bytes'">,
    Option<"plan", "plan", "std::string", "\"\"", "The plan file to follow, or to note what is chosen for, if there is none">,
    Option<"notesPlan", "notes-plan", "bool", "false", "Note what is chosen, for a plan file">,
    Option<"moreLx", "more-lx", "bool", "false", "Find out with a second search what one more MiB of LX in each core would save">,
    Option<"proves", "proves", "bool", "false", "Note a proof of what no plan of loops takes less than, for a certificate">
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
    of what reads it, and a remark says so. `docs/concepts/tiling.md` has the rules. Implemented in
    `src/tile/ir/coarse_tile.rs`.

    Refuses a count that does not divide (nothing is peeled), a tile that ends inside a stick, a name that an op has twice
    or that no op has, an inner name of a dimension whose outer names are not cut to single positions, and a reduction whose
    parts cannot be combined.

    No rewrite pattern: which ops share a loop, and what is local to it, depends on all readers of every value in the function.

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

    No rewrite pattern: two loops, all that they carry and all that reads it are looked at together, and either all of it can be
    corrected or nothing changes.

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

    No rewrite pattern: whether a value is still read when a loop overwrites its buffer is a question to the whole function, and
    copies are shared.

    Example: `spyre-opt --split-input-file --spyre-settle-loops test/tile/settle-loops.mlir`
  }];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

def SpyreWriteInPlace : Spyre_Pass<"spyre-write-in-place"> {
  let summary = "Let ops write their results where an insert has them";
  let description = [{
    A buffer that is put together of parts is written by `spyre.insert`s, which copy. Where an op, alone or in loops that make its result
    tile by tile, makes a part for nobody else, it can write the part into the buffer at once: its result becomes a window of the
    buffer, and the insert is marked `in_place`, so that it takes no time. The part must be laid out like the buffer and must begin and
    end with whole sticks, and no other part may have an element of it, as the op runs before the insert. A gather writes no windows.
    Of a buffer of more than 256 parts all are copied. Implemented in `src/tile/ir/write_in_place.rs`.

    No rewrite pattern: whether parts overlap is a question to all inserts of a buffer.

    Example: `spyre-opt --split-input-file --spyre-write-in-place test/tile/write-in-place.mlir`
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

    No rewrite pattern: it writes one attribute on each op and replaces nothing.

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
    `docs/concepts/work-division.md`.

    Refuses a `work_div` that cannot be followed: slices that do not divide, more than there are cores, two reduction
    dimensions, a dimension that cannot be divided, a name that no op under it has.

    No rewrite pattern: it writes one attribute on each op, and a wish is refused if no op of the function can follow it.

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
    Implemented in `src/joint/ir/divide_jointly.rs`; the method is in `docs/concepts/scratchpad.md`.

    Refuses what `spyre-divide-work` refuses; a `work_div` is followed, and so is the division of a plan file, which `spyre-choose-tiles`
    notes on the function.

    No rewrite pattern: the splits of all ops of a function are one choice.

    Example: `spyre-opt --spyre-lay-out-tables --spyre-propagate-layouts --spyre-divide-jointly test/joint/divide-jointly.mlir`
  }];
  let options = [
    Option<"objective", "objective", "std::string", "\"time\"", "What plans are compared by: 'time' or 'bytes'">
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

    No rewrite pattern: the places of all values of a function are one packing.

    Example: `spyre-opt --spyre-propagate-layouts --spyre-divide-work --spyre-plan-lx=planner=first-fit test/lx/plan-lx.mlir`
  }];
  let options = [Option<"planner", "planner", "std::string", "\"exact\"", "none, greedy, first-fit, best-fit or exact">];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

//===----------------------------------------------------------------------===//
// bundle
//===----------------------------------------------------------------------===//

def SpyreEmitRemarks : Spyre_Pass<"spyre-emit-remarks"> {
  let summary = "Say what was decided about ops, by MLIR's remark engine";
  let description = [{
    Reads what the passes before have decided, and changes nothing: `place` and `work` of ops, moves for the sake of layouts, and what the search
    for loops and the fusion of kernels have noted on functions. Without `--remarks-filter` and its like it does nothing, and what is only
    tried on the way to a decision is not told. Implemented in `src/remark/emit_remarks.rs`.

    No rewrite pattern: it changes nothing.

    | category | passed | missed | analysis |
    |---|---|---|---|
    | `spyre-lx` | a result is in LX | it is not, and why | |
    | `spyre-work` | | | the cores that work on an op |
    | `spyre-layout` | | | a move between sticks, or a copy, that a layout asks for |
    | `spyre-tiles` | loops that were chosen | none pay | |
    | `spyre-kernels` | an op moved into a kernel | it stays outside, and why | |

    `--remark-format=yaml --remarks-output-file=FILE` writes them for LLVM's tools, such as `opt-viewer`.

    Example: `spyre-opt --spyre-compile="compile-to=lx lx-planner=first-fit" --remarks-filter=spyre-lx test/remark/emit-remarks.mlir`
  }];
}

def SpyreFormBundles : Spyre_Pass<"spyre-form-bundles"> {
  let summary = "Group ops and loops into kernel launches";
  let description = [{
    Writes `spyre.bundle`, the number of the launch, on every op and loop of a function, and gives HBM values that live
    within one launch an offset in its pool. With baked addresses a launch addresses at most seven tensors, six beside a
    pool. Implemented in `src/bundle/ir/form_bundles.rs`.

    No rewrite pattern: what is one launch depends on all ops between its first and its last, and a pool is shared by the values
    of a launch.

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

    No rewrite pattern: op specs have no values. The buffers of the whole function are numbered first, and constants of equal
    bytes become one.

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

    No rewrite pattern: labels, symbols and addresses are worked out for a launch as a whole.

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

    No rewrite pattern: it writes files and changes no IR.

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

    No rewrite pattern: it changes no IR but for the mark on the module.

    Example: `spyre-opt --split-input-file --spyre-compile="compile-to=layout" --spyre-verify-phase=phase=layout test/gate/verify-phase.mlir`
  }];
  let options = [Option<"phase", "phase", "std::string", "\"import\"", "import, layout, hint, tile, work, lx or bundle">];
}

#endif // SPYRE_PLANPASSES_TD
