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
  let summary = "Propagate dimension names from arguments to ops";
  let description = [{
    Reads `spyre.dims` of the arguments, or the option `dims`, and writes `dims` on compute ops: one string per
    iteration dimension, empty if the name is unknown. Adds the sizes of the names to `spyre.dim_sizes` of the function.

    The names of an argument describe its elements in storage order, outermost first. Their number may differ from the
    rank: `tensor<16384xf16> {spyre.dims = ["M", "K"]}` is a flattened `[M, K]` tensor. The size of a name is declared
    in `spyre.dim_sizes`, is the size of a dimension with one name, or follows from the other sizes.

    Names are propagated through views by index arithmetic. An iteration dimension that covers several names is named
    `outer*inner`. A reduction drops the names of its reduced dimensions. A buffer that inserts write has the names of
    the inserted tensors.

    Warnings:
    * two operands have different names for one dimension; the first operand determines the name;
    * a slice, a split or a view covers a name only in part; the dimension has no name from there on.

    Errors: the size of a name is unknown; the sizes of the names do not multiply to the number of elements.

    Implemented in `src/hint/ir/propagate_dims.rs`; the arithmetic is in `sizes.rs` and `merge.rs` of `src/hint`, and in
    `crates/program/src/dim_names.rs`.

    Example: `spyre-opt --spyre-propagate-dims="dims=0=A:B" test/hint/propagate-dims.mlir`
  }];
  let options = [ListOption<"dims", "dims", "std::string", "ARG=NAME:NAME or ARG=NAME@SIZE:NAME: names the dimensions of an argument in storage order">];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

//===----------------------------------------------------------------------===//
// search
//===----------------------------------------------------------------------===//

def SpyrePeelRemainders : Spyre_Pass<"spyre-peel-remainders"> {
  let summary = "Peel the remainder of dimensions that tiles or cores do not divide";
  let description = [{
    Tiles and core splits divide a dimension evenly. The pass splits a dimension into a main range with more divisors
    and a remainder, and duplicates the ops for both. Candidates are dimensions whose size is not a multiple of the
    stick and of the number of cores, and where an op writes at least 256 KiB. Inserts concatenate the results.

    With `compile` the pass compiles the module with and without each split. It keeps a split that saves at least 5% of
    the modeled time (of the HBM bytes with `objective=bytes`). If a split moves p % more bytes, it must
    save at least p / 5 % of the time. At most two dimensions are tried, each with two sizes of the main range. Writes
    `spyre.peeled` on the function. A function with hints, named dimensions, symbolic sizes or loops is unchanged.

    Implemented in `src/peel/ir/peel_remainders.rs`.

    Example: `spyre-opt --spyre-peel-remainders=compile=kernels=separate test/peel/peel-remainders.mlir`
  }];
  let dependentDialects = ["::spyre::SpyreDialect"];
  let options = [Option<"compile", "compile", "std::string", "\"\"",
                        "Options of spyre-compile to evaluate candidates with; without them the first candidate is split">];
}

def SpyreSearchTiling : Spyre_Pass<"spyre-search-tiling"> {
  let summary = "Choose loop tilings for ops without hints";
  let description = [{
    Groups consecutive ops and tiles each group with one or two loops, so that the values between the ops fit in LX.
    Writes `hints`, and `dims` for tiled dimensions without a name; `spyre-coarse-tile` builds the loops. Ops that have
    hints keep them and join no other loop. `spyre.tile_search` on the function records the result and statistics.

    Objective: modeled time (`docs/reference/cost-model.md`), or HBM bytes with `objective=bytes`. `steps` limits the
    number of evaluated ops, so results are reproducible. `docs/concepts/search.md` describes the search.

    Errors: a negative limit; a plan file that is not for this program or this machine.

    Implemented in `src/search/ir/search_tiling.rs`.

    Example: `spyre-opt --spyre-propagate-layouts --spyre-search-tiling test/search/search-tiling.mlir`
  }];
  let options = [
    Option<"steps", "steps", "int64_t", "3000", "Limit of evaluated ops; 0 disables the search">,
    Option<"objective", "objective", "std::string", "\"time\"", "Minimize modeled time or HBM bytes: time, bytes">,
    Option<"plan", "plan", "std::string", "\"\"", "Plan file to apply; if it is missing, record the chosen plan">,
    Option<"notesPlan", "notes-plan", "bool", "false", "Record the chosen plan for a plan file">,
    Option<"moreLx", "more-lx", "bool", "false", "Estimate the savings of one more MiB of LX per core, with a second search">,
    Option<"proves", "proves", "bool", "false", "Record a proof of the lower bound for a certificate">
  ];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

//===----------------------------------------------------------------------===//
// tile
//===----------------------------------------------------------------------===//

def SpyreCoarseTile : Spyre_Pass<"spyre-coarse-tile"> {
  let summary = "Build loops around hinted ops";
  let description = [{
    Replaces consecutive ops with the same `hints` by nested `spyre.loop` ops, one per hint. An op is only in the loops
    of dimensions that it has.
    * A loop is split where an op needs the complete value that an earlier op of the loop computes.
    * A value that is used only in its loop exists for one iteration. A value with other uses is written to its buffer
      tile by tile.
    * A tiled reduction carries an accumulator, which is initialized with the neutral element.
    * An op that writes a slice of a larger buffer is not tiled; a remark reports it.

    `docs/concepts/tiling.md` has the rules.

    Errors:
    * a tile count does not divide its dimension;
    * a tile ends inside a stick;
    * no op has the dimension of a hint, or an op has it twice;
    * an inner name of a dimension is tiled before its outer names;
    * a tiled reduction has no combining op.

    Implemented in `src/tile/ir/coarse_tile.rs`.

    Example: `spyre-opt --spyre-propagate-layouts --spyre-propagate-dims --spyre-coarse-tile test/tile/coarse-tile.mlir`
  }];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

def SpyreFuseOnlineReductions : Spyre_Pass<"spyre-fuse-online-reductions"> {
  let summary = "Fuse two reduction loops by correcting the carried values";
  let description = [{
    Fuses two loops over one dimension if the second one uses the reduction result of the first one, such as the maximum
    of a row in a softmax. The fused loop uses the running value, and corrects its accumulators when that value changes:
    * a sum of terms with the factor `exp(-r)`, where the running value `r` never decreases, is multiplied by
      `exp(old - new)`; likewise for `exp(r)` if `r` never increases;
    * a maximum or minimum of terms plus or minus a running value is adjusted by the difference.

    Uses after the loop read the final values. If an op needs the final value inside the loop, a remark names it and the
    loops are unchanged. Loops that contain loops are unchanged.

    Implemented in `src/tile/ir/fuse_online_reductions.rs`; the rules are in `src/tile/online.rs`.

    Example: `spyre-opt --spyre-fuse-online-reductions test/tile/fuse-online-reductions.mlir`
  }];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

def SpyreInsertLoopCopies : Spyre_Pass<"spyre-insert-loop-copies"> {
  let summary = "Insert copies so that loop-carried values can share one buffer";
  let description = [{
    The initial value, the block argument, the yielded value and the result of a carried operand share one buffer. The
    pass inserts a `spyre.copy` where sharing would overwrite a live value:
    * before the loop, if the initial value has uses during or after the loop, initializes two carried operands, or is
      not defined next to the loop (a value that the enclosing loop carries may pass through);
    * before the yield, if the yielded value is defined outside of the body, is another block argument (swapped values),
      or is yielded twice;
    * before the yield, if its defining op overwrites the block argument before the last read. An elementwise op may
      overwrite the elements that it reads.

    Loops without conflicts are unchanged, and the pass is idempotent. The passes that split work insert the same
    copies; later passes reject a loop with a conflict.

    Implemented in `src/tile/ir/insert_loop_copies.rs`.

    Example: `spyre-opt --split-input-file --spyre-insert-loop-copies test/tile/insert-loop-copies.mlir`
  }];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

def SpyreWriteInPlace : Spyre_Pass<"spyre-write-in-place"> {
  let summary = "Write inserted tensors directly into their buffer";
  let description = [{
    A `spyre.insert` copies a tensor into a window of a buffer. The pass marks it `in_place` if the op, or the loop,
    that defines the tensor can write the window directly; the insert then costs nothing. Conditions:
    * the insert is the only use of the tensor, and the tensor has the layout of the buffer;
    * the window begins and ends at stick boundaries, and overlaps no other insert;
    * the defining op is not a gather;
    * the buffer has at most 256 inserts.

    Implemented in `src/tile/ir/write_in_place.rs`.

    Example: `spyre-opt --split-input-file --spyre-write-in-place test/tile/write-in-place.mlir`
  }];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

//===----------------------------------------------------------------------===//
// work
//===----------------------------------------------------------------------===//

def SpyreReduceSpan : Spyre_Pass<"spyre-reduce-span"> {
  let summary = "Limit the address range that one core uses of a tensor";
  let description = [{
    A core addresses at most 65535 x 4096 bytes of one tensor. Writes `min_work`, the smallest slice counts that keep
    every tensor of an op within the limit, if a count exceeds one.

    Errors: no split of the op satisfies the limit.

    Implemented in `src/work/ir/reduce_span.rs`.

    Example: `spyre-opt --spyre-propagate-layouts --spyre-reduce-span test/work/reduce-span.mlir`
  }];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

def SpyreDivideWork : Spyre_Pass<"spyre-divide-work"> {
  let summary = "Choose the core split of every op";
  let description = [{
    Writes `work`: a slice count per iteration dimension, at least `min_work`. An op with `work_div` follows this
    request; other matmuls use a cost model; all other ops split their largest output dimensions first. Removes
    `work_div`. `docs/concepts/work-division.md` has the rules.

    Errors: a `work_div` does not divide its dimension, exceeds the number of cores, splits two reduced dimensions or a
    dimension that cannot be split, or names a dimension that no op has.

    Implemented in `src/work/ir/divide_work.rs`.

    Example: `spyre-opt --spyre-layout-gather-tables --spyre-propagate-layouts --spyre-divide-work
    test/work/divide-work.mlir`
  }];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

//===----------------------------------------------------------------------===//
// lx
//===----------------------------------------------------------------------===//

def SpyreDivideJointly : Spyre_Pass<"spyre-divide-jointly"> {
  let summary = "Choose the core splits of all ops together with their values in LX";
  let description = [{
    Replaces `spyre-divide-work` if the LX planner is `exact`. Minimizes the modeled time of the function over all
    splits and core orders, including the savings of values in LX: a value can be in LX only if all its users have the
    same split. By the model, the result is never slower than that of `spyre-divide-work`. Follows `work_div` and the
    splits of a plan file. `docs/concepts/scratchpad.md` describes the method.

    Errors: those of `spyre-divide-work`.

    Implemented in `src/joint/ir/divide_jointly.rs`.

    Example: `spyre-opt --spyre-layout-gather-tables --spyre-propagate-layouts --spyre-divide-jointly
    test/joint/divide-jointly.mlir`
  }];
  let options = [
    Option<"objective", "objective", "std::string", "\"time\"", "Minimize modeled time or HBM bytes: time, bytes">
  ];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

def SpyreCloneInputs : Spyre_Pass<"spyre-clone-inputs"> {
  let summary = "Copy arguments with several uses into LX";
  let description = [{
    Inserts one `spyre.copy` for an argument that several ops read with the same core split, and makes these ops read
    the copy. Used with the planners other than `exact`, which inserts such copies itself.

    Implemented in `src/lx/ir/clone_inputs.rs`.

    Example: `spyre-opt --spyre-propagate-layouts --spyre-divide-work --spyre-clone-inputs test/lx/clone-inputs.mlir`
  }];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

def SpyreAllocateScratchpad : Spyre_Pass<"spyre-allocate-scratchpad"> {
  let summary = "Assign every value to LX or HBM, and choose LX addresses";
  let description = [{
    Chooses the memory of every op result and writes it as `place`: `#spyre.place<lx, ADDRESS>`, or
    `#spyre.place<hbm, "REASON">`. Requires `work` on every compute op: all users of an LX value share one core split.

    With `planner=exact` the pass minimizes HBM bytes. It also inserts `spyre.copy` ops where they save traffic:
    * input clone: a value in HBM that several ops read with the same split is copied to LX once;
    * write-back: a value in LX is stored to HBM once, for a function result or for a later use;
    * live-range splitting: a stored value is reloaded before a later use;
    * shuffle: a value in LX is copied to the cores that need other slices of it. Each core collects its slice from at
      most `lx_fan_in` cores of the target. Readers that no shuffle can serve read the value in HBM.

    A restickify accesses LX if it pads no sticks and the target has `lx_restickify` 1.

    `greedy`, `first-fit` and `best-fit` only choose addresses. `none` places every result in HBM.

    Errors: the planner is unknown; an op has no `work`; a loop overwrites a carried value before its last use.

    Implemented in `src/lx/ir/allocate_scratchpad.rs`.

    Example: `spyre-opt --spyre-propagate-layouts --spyre-divide-work --spyre-allocate-scratchpad=planner=first-fit
    test/lx/allocate-scratchpad.mlir`
  }];
  let options = [Option<"planner", "planner", "std::string", "\"exact\"", "LX allocator: none, greedy, first-fit, best-fit, exact">];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

//===----------------------------------------------------------------------===//
// bundle
//===----------------------------------------------------------------------===//

def SpyreEmitRemarks : Spyre_Pass<"spyre-emit-remarks"> {
  let summary = "Emit optimization remarks about the decisions of earlier passes";
  let description = [{
    Reports `place` and `work` of ops, relayout copies, and the results of the tile search and of kernel fusion, with
    MLIR's remark engine. Changes nothing. Without `--remarks-filter` or a similar option nothing is printed. Remarks
    cover the final decisions only, not candidates.

    | category | passed | missed | analysis |
    |---|---|---|---|
    | `spyre-lx` | a result is in LX | a result is in HBM, with the reason | |
    | `spyre-work` | | | the core split of an op |
    | `spyre-layout` | | | a relayout copy |
    | `spyre-tiles` | the chosen loops | no loops are profitable | |
    | `spyre-kernels` | an op is fused into a kernel | an op is not fused, with the reason | |

    `--remark-format=yaml --remarks-output-file=FILE` writes them for LLVM tools, such as `opt-viewer`.

    Implemented in `src/remark/emit_remarks.rs`.

    Example: `spyre-opt --spyre-compile="compile-to=lx lx-planner=first-fit" --remarks-filter=spyre-lx
    test/remark/emit-remarks.mlir`
  }];
}

def SpyreFormBundles : Spyre_Pass<"spyre-form-bundles"> {
  let summary = "Partition the function into launches";
  let description = [{
    Writes `spyre.bundle`, the number of the launch, on every op and loop. HBM values that are used within one launch
    only get an offset in its pool. With baked addresses a launch has at most seven tensors, or six and a pool.

    Implemented in `src/bundle/ir/form_bundles.rs`.

    Example: `spyre-opt --spyre-propagate-layouts --spyre-divide-work --spyre-allocate-scratchpad --spyre-form-bundles
    test/bundle/form-bundles.mlir`
  }];
  let options = [Option<"addresses", "addresses", "std::string", "\"symbolic\"",
                        "Addresses of launch arguments: symbolic, or absolute (baked)">];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

def SpyreLowerToSdsc : Spyre_Pass<"spyre-lower-to-sdsc"> {
  let summary = "Lower spyre ops to op specs with device coordinates and addresses";
  let description = [{
    Replaces every function by an `sdsc.program` with its buffers and bundles. A constant becomes a buffer with a value;
    constants with equal bytes and layout share one buffer.

    Errors: the function has a `spyre.fill`, which the layout phase replaces.

    Implemented in `src/bundle/ir/lower_to_sdsc.rs`.

    Example: `spyre-opt --spyre-compile="compile-to=lx" --spyre-form-bundles --spyre-lower-to-sdsc
    test/bundle/lower-to-sdsc.mlir`
  }];
  let dependentDialects = ["::sdsc::SdscDialect"];
}

def SpyreLowerToSdscBundle : Spyre_Pass<"spyre-lower-to-sdscbundle"> {
  let summary = "Create the launch function of every bundle";
  let description = [{
    Replaces every `sdsc.bundle` by a module with two parts: the function of `bundle.mlir` (symbols, loops, executes),
    and the op specs with their file names.

    Errors: the address of an LX tensor, or a baked address, depends on a loop; a pool is too large.

    Implemented in `src/launch/ir/lower_to_sdscbundle.rs`.

    Example: `spyre-opt --spyre-lower-to-sdscbundle test/launch/lower-to-sdscbundle.mlir`
  }];
  let options = [Option<"addresses", "addresses", "std::string", "\"symbolic\"",
                        "Addresses of launch arguments: symbolic, or absolute (baked)">,
                 Option<"loops", "loops", "std::string", "\"keep\"", "Emit scf.for (keep) or one execute per iteration (unroll)">];
  let dependentDialects = ["::sdsc::SdscDialect", "::sdscbundle::SdscBundleDialect", "::mlir::func::FuncDialect",
                           "::mlir::arith::ArithDialect", "::mlir::affine::AffineDialect", "::mlir::scf::SCFDialect"];
}

//===----------------------------------------------------------------------===//
// emit
//===----------------------------------------------------------------------===//

def SpyreEmitBundle : Spyre_Pass<"spyre-emit-bundle"> {
  let summary = "Write the bundle directory";
  let description = [{
    Writes `program.json`, one file per constant with its bytes in device memory, and for each bundle `bundle.mlir` with
    its SDSC files. Either all files are written or none.

    Errors: the directory is not writable; a file name leaves the directory; a constant does not fit its device format;
    a file would violate a rule of the format.

    Implemented in `src/sdsc/ir/emit_bundle.rs`.

    Example: `spyre-opt --spyre-compile --spyre-emit-bundle=output=out test/sdsc/emit-bundle.mlir`
  }];
  let options = [
    Option<"output", "output", "std::string", "\"\"", "Directory to write">,
    Option<"compiled", "compiled", "bool", "false", "Report a violated rule as an internal error, since the module passed all phases">,
    Option<"bundleFormat", "bundle-format", "std::string", "\"torch-spyre-2026-08\"",
           "Profile of the format: 1.0, torch-spyre-2026-08 or torch-spyre-2026-09">
  ];
}

def SpyreVerifyPhase : Spyre_Pass<"spyre-verify-phase"> {
  let summary = "Verify the invariants after a phase";
  let description = [{
    Checks the invariants of `phase` and of the phases before it, and reports all violations. Writes the phase as
    `spyre.phase` on the module; `spyre-compile` continues from there. The pipeline runs the pass after every phase.

    | phase | invariant after it |
    |---|---|
    | `import` | no `linalg`, no `tensor`, no hint scope |
    | `layout` | every buffer has a device layout, every function result has its own buffer |
    | `tile` | no hints, and no loop overwrites a live carried value |
    | `work` | every op has a valid core split, and no `work_div` |
    | `lx` | every value has a `place`, and live ranges that share addresses do not overlap |
    | `bundle` | no `spyre` op, no `sdsc.bundle` and no `sdsc.loop` |

    Errors: an invariant is violated.

    Implemented in `src/gate/verify_phase.rs`.

    Example: `spyre-opt --split-input-file --spyre-compile="compile-to=layout" --spyre-verify-phase=phase=layout
    test/gate/verify-phase.mlir`
  }];
  let options = [Option<"phase", "phase", "std::string", "\"import\"", "Phase: import, layout, hint, tile, work, lx, bundle">];
}

#endif // SPYRE_PLANPASSES_TD
