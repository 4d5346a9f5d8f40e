//===- KernelPasses.td - the passes of kernels -------------*- tablegen -*-===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_KERNEL_PASSES_TD
#define SPYRE_KERNEL_PASSES_TD

include "SpyrePass.td"

def SpyreMakeKernels : Spyre_Pass<"spyre-make-kernels"> {
  let summary = "Make kernels of the calls of functions that are marked";
  let description = [{
    Replaces every call of a function with `spyre.kernel` by a `spyre.kernel` op with a copy of its body, its `spyre.knobs`, and the
    `spyre.dims` of its arguments as the names of the inputs' dimensions. Calls in a kernel's own body stay: what is called there
    is a part of it. Gives the knobs the values that `knobs` asks for, in all kernels of the name; and numbers of tiles and of slices
    without a knob (`tiles_DIM`, `splits_DIM`), and the order of a scope's loops (`order`). Implemented in `src/kernel/ir/make_kernels.rs`.

    Refuses a program that is marked itself, a kernel that gives nothing or takes what is no tensor of static shape, names that are
    not one a dimension, a kernel or a number that is not there, a value that a knob does not have, and one that breaks a condition.

    No rewrite pattern: one walk over the calls of a module.

    Example: `spyre-opt --spyre-make-kernels test/kernel/make-kernels.mlir`
  }];
  let options = [ListOption<"knobs", "knobs", "std::string", "KERNEL.KNOB=VALUE">];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

def SpyreMakeScopes : Spyre_Pass<"spyre-make-scopes"> {
  let summary = "Make hint scopes of loops that are written by hand";
  let description = [{
    A `spyre.loop` over tensors without layouts becomes a hint scope with as many tiles along the dimension, in which the ops of its body stand, on
    whole tensors. The dimension has the name that the arguments of the kernel, or of the program, have from which it comes, and these get the
    loop's name if they have none. What is carried and combined with the partial result of a reduction or of a product is that reduction or product
    of whole tensors. Loops over tensors with layouts stay. Implemented in `src/kernel/ir/make_scopes.rs`.

    Refuses a loop of which an op does something else to whole tensors than to tiles: what carries anything else, such as the corrected sums of an
    online softmax, what reads the same elements with each tile, what lies side by side along another dimension than it is cut along.

    No rewrite pattern: all ops of a body become ops of whole tensors, or none does.

    Example: `spyre-opt --spyre-make-scopes test/kernel/make-scopes.mlir`
  }];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

def SpyreFormKernels : Spyre_Pass<"spyre-form-kernels"> {
  let summary = "Make kernels of what a hint scope encloses, of products and of groups of reductions";
  let description = [{
    An outermost hint scope becomes a kernel with the scope in it. Of ops outside of all scopes a product is a kernel, and so are
    reductions with the elementwise ops between them (a softmax, a normalisation). The names of dimensions are those that the
    program's arguments have. Implemented in `src/kernel/ir/form_kernels.rs`.

    No rewrite pattern: which reductions are one group depends on all ops between them.

    Example: `spyre-opt --spyre-form-kernels test/kernel/form-kernels.mlir`
  }];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

def SpyreFusePrologueEpilogue : Spyre_Pass<"spyre-fuse-prologue-epilogue"> {
  let summary = "Move elementwise neighbours of kernels into them, and reductions of rows behind them";
  let description = [{
    What makes an input of a kernel (a prologue) and what reads an output (an epilogue) moves into the kernel's scope of loops, as
    far as the rules of `docs/reference/kernels.md` allow. What cannot move is told by a remark at both places, with the rule's code. Whether
    moving pays is found out by compiling the function both ways, with the options `compile`: it never takes longer, by the model.
    Without `compile` all moves that the rules allow are made. What was done is written as `spyre.kernels` of the function.
    Implemented in `src/kernel/ir/fuse_prologue_epilogue.rs`.

    No rewrite pattern: a move is taken back if the program as a whole is better without it.

    Example: `spyre-opt --spyre-fuse-prologue-epilogue test/kernel/fuse-prologue-epilogue.mlir`
  }];
  let options = [Option<"compile", "compile", "std::string", "\"\"",
                        "The options of 'spyre-compile' by which moves are judged; without them every legal one is made">];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

def SpyreDissolveKernels : Spyre_Pass<"spyre-dissolve-kernels"> {
  let summary = "Put the bodies of kernels in their places";
  let description = [{
    Writes the values of knobs as counts of the hint scopes, and puts the body of each kernel in its place. The names that a kernel has for dimensions of its inputs go to the arguments of the function from which the
    inputs are computed, as `spyre.dims`; where these have names of their own, the kernel's scopes take those. Implemented in
    `src/kernel/ir/dissolve_kernels.rs`.

    A name that no argument can have is told by a warning: then nothing is cut along it.

    No rewrite pattern: a name is given to an argument for all kernels of a function.

    Example: `spyre-opt --spyre-dissolve-kernels test/kernel/dissolve-kernels.mlir`
  }];
  let dependentDialects = ["::spyre::SpyreDialect"];
}

#endif // SPYRE_KERNEL_PASSES_TD
