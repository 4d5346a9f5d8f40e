//===- KernelPasses.td - the passes of kernels -------------*- tablegen -*-===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_KERNEL_PASSES_TD
#define SPYRE_KERNEL_PASSES_TD

include "SpyrePass.td"

def SpyreMakeKernels : Spyre_Pass<"spyre-make-kernels"> {
  let summary = "Convert calls of kernel functions to spyre.kernel ops";
  let description = [{
    Replaces every call of a function with the attribute `spyre.kernel` by a `spyre.kernel` op with a copy of its body,
    its `spyre.knobs`, and the `spyre.dims` of its arguments. Calls inside a kernel are part of its body.

    `knobs` sets the knobs of all kernels of a name. It also sets numbers that have no knob: the tile count `tiles_DIM`,
    the slice count `splits_DIM`, and the loop order `order` of a scope.

    Errors:
    * the compiled function itself is a kernel;
    * a kernel has no result, or an argument that is not a tensor of static shape;
    * the names of dimensions are invalid;
    * `knobs` names an unknown kernel or knob, or gives an invalid value.

    Implemented in `src/kernel/ir/make_kernels.rs`.

    Example: `spyre-opt --spyre-make-kernels test/kernel/make-kernels.mlir`
  }];
  let options = [ListOption<"knobs", "knobs", "std::string", "KERNEL.KNOB=VALUE">];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

def SpyreRaiseLoopsToHints : Spyre_Pass<"spyre-raise-loops-to-hints"> {
  let summary = "Convert handwritten loops to hint scopes";
  let description = [{
    Replaces a `spyre.loop` over tensors without layouts by a hint scope with the same tile count. Its ops then compute
    on full tensors. The tiled dimension gets the name of the argument dimension, or gives its own name to an unnamed
    one. A carried accumulator becomes the reduction or matmul that it computes. Loops over tensors with layouts are
    unchanged.

    Errors: the loop is not equivalent to ops on full tensors. Examples are corrected sums of an online softmax, tiles
    that read the same elements in every iteration, and results that are concatenated along another dimension.

    Implemented in `src/kernel/ir/raise_loops_to_hints.rs`.

    Example: `spyre-opt --spyre-raise-loops-to-hints test/kernel/raise-loops-to-hints.mlir`
  }];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

def SpyreFormKernels : Spyre_Pass<"spyre-form-kernels"> {
  let summary = "Create kernels from hint scopes, matmuls and groups of reductions";
  let description = [{
    Wraps in a kernel: each outermost hint scope; each matmul outside of scopes; and each group of reductions with the
    elementwise ops between them, such as a softmax. The kernels use the dimension names of the function's arguments.

    Implemented in `src/kernel/ir/form_kernels.rs`.

    Example: `spyre-opt --spyre-form-kernels test/kernel/form-kernels.mlir`
  }];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

def SpyreFusePrologueEpilogue : Spyre_Pass<"spyre-fuse-prologue-epilogue"> {
  let summary = "Fuse neighboring ops into kernels";
  let description = [{
    Moves producers of kernel inputs (prologues) and users of kernel outputs (epilogues) into the loops of the kernel.
    `docs/reference/kernels.md` has the rules. A remark gives the rule that prevents a fusion.

    With `compile` the pass compiles the function with and without each fusion, and keeps those that do not increase the
    modeled time. Without it, all legal fusions are applied. Writes `spyre.kernels` on the function.

    Implemented in `src/kernel/ir/fuse_prologue_epilogue.rs`.

    Example: `spyre-opt --spyre-fuse-prologue-epilogue test/kernel/fuse-prologue-epilogue.mlir`
  }];
  let options = [Option<"compile", "compile", "std::string", "\"\"",
                        "Options of spyre-compile to evaluate fusions with; without them all legal fusions are applied">];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

def SpyreInlineKernels : Spyre_Pass<"spyre-inline-kernels"> {
  let summary = "Inline kernels";
  let description = [{
    Writes the values of knobs as tile counts of hint scopes, and inlines the body of every kernel. The dimension names
    of kernel inputs are propagated to the function arguments, as `spyre.dims`. If an argument has its own names, the
    scopes use these instead.

    A warning reports a name that reaches no argument; its dimension is not tiled.

    Implemented in `src/kernel/ir/inline_kernels.rs`.

    Example: `spyre-opt --spyre-inline-kernels test/kernel/inline-kernels.mlir`
  }];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

#endif // SPYRE_KERNEL_PASSES_TD
