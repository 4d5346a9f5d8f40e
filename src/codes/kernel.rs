//! Message codes of kernels.

super::codes! {
    "Kernels", 800..=899;

    801 P_KIND "P-KIND: only elementwise ops and gathers are fused before a kernel":
        "A tile of the kernel would need the complete result of a reduction, not a tile of it."
        see "docs/reference/kernels.md";

    802 P_ORDER "P-ORDER: the producer is in another scope":
        "Only producers in the block that contains the kernel are fused."
        see "docs/reference/kernels.md";

    803 P_OWN "P-OWN: the producer has its own hints":
        "Hints and core splits that the user requests are kept. Remove them to allow fusion."
        see "docs/reference/kernels.md";

    804 P_USES "P-USES: the result has a use before the kernel":
        "The kernel would compute the value too late for an op that uses it and does not come after the kernel."
        see "docs/reference/kernels.md";

    805 P_TIED "P-TIED: the kernel writes into the buffer":
        "The kernel updates the buffer of the producer in place."
        see "docs/reference/kernels.md";

    806 P_SITES "P-SITES: a user loop reads the result tile by tile":
        "The complete value must exist before that loop, so the producer cannot move into the kernel."
        see "docs/reference/kernels.md";

    807 P_MAP "P-MAP: the kernel tiles the result in another way":
        "The tiles of the kernel do not correspond to tiles of the result of the producer."
        see "docs/reference/kernels.md";

    808 P_LX "P-LX: tiles of the result do not fit in LX":
        "After fusion, the value would still go through HBM. Use more tiles."
        see "docs/reference/kernels.md";

    809 P_COST "P-COST: the program is faster without the fusion":
        "The cost model compares the programs with and without the fusion, and keeps the faster one."
        see "docs/reference/cost-model.md";

    821 E_KIND "E-KIND: the consumer cannot be fused after a kernel":
        "Only elementwise ops, and reductions and matmuls whose operands are complete in a tile, are fused after a \
         kernel."
        see "docs/reference/kernels.md";

    822 E_GRID "E-GRID: the consumer is a kernel with other loops":
        "Two kernels are fused only if they tile the value between them in the same way."
        see "docs/reference/kernels.md";

    823 E_ORDER "E-ORDER: the consumer is in another scope or needs a later value":
        "All operands of the consumer must be available before the kernel, or be results of the kernel. Both must be \
         in the same scope."
        see "docs/reference/kernels.md";

    824 E_OWN "E-OWN: the consumer has its own hints":
        "Hints and core splits that the user requests are kept. Remove them to allow fusion."
        see "docs/reference/kernels.md";

    825 E_COVER "E-COVER: the kernel writes the output in slices":
        "The consumer would read the output before all slices are written."
        see "docs/reference/kernels.md";

    826 E_ACC "E-ACC: the outermost loop accumulates the output":
        "The output is complete only after the loop, so the consumer cannot run inside it."
        see "docs/reference/kernels.md";

    827 E_MULTI "E-MULTI: the consumer reads outputs of several scopes":
        "The operands of the consumer are computed in several loops of the kernel, and no single loop has all of \
         them."
        see "docs/reference/kernels.md";

    828 E_MAP "E-MAP: the consumer tiles the output in another way":
        "The tiles of the kernel do not correspond to tiles of the consumer."
        see "docs/reference/kernels.md";

    829 E_LX "E-LX: tiles of the consumer do not fit in LX":
        "After fusion, the value would still go through HBM. Use more tiles."
        see "docs/reference/kernels.md";

    830 E_COST "E-COST: the program is faster without the fusion":
        "The cost model compares the programs with and without the fusion, and keeps the faster one."
        see "docs/reference/cost-model.md";

    850 KERNEL_ENTRY "the entry function is a kernel":
        "`spyre.kernel` is allowed only on functions that the entry function calls."
        see "docs/reference/kernels.md";

    851 KERNEL_TYPES "a kernel has unsupported operands or results":
        "All arguments and results of a kernel must be tensors of static shape. A kernel has at least one result."
        see "docs/reference/kernels.md";

    852 KERNEL_NAMES "the dimension names of a kernel argument do not match its rank":
        "`spyre.dims` of a kernel argument must have one name per dimension."
        see "docs/reference/kernels.md";

    853 KNOB_UNKNOWN "`--knobs` names an unknown kernel or knob":
        "The message lists the kernels or knobs of the program."
        see "docs/reference/tuning.md";

    854 KNOB_VALUE "a knob has a value that is not allowed":
        "The message lists the allowed values of the knob."
        see "docs/reference/tuning.md";

    855 KNOB_UNUSED "a knob has no effect":
        "No hint scope of the kernel uses the knob as a tile count or in a core split. Use the knob, or remove it.";

    856 KERNEL_DIM "a dimension that a kernel tiles is not tiled":
        "The dimension does not correspond to a dimension of the program, or two names denote the same dimension."
        see "docs/reference/kernels.md";

    857 KERNEL_LOOP "a loop in a kernel cannot be converted to a hint scope":
        "The loop must compute tile by tile what ops on complete tensors compute. Loops over tensors with layouts \
         are not converted."
        see "docs/reference/kernels.md";
}
