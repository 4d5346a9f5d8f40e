//! Codes of messages: kernels.

super::codes! {
    "Kernels", 800..=899;

    801 P_KIND "P-KIND: only elementwise ops and gathers are fused before a kernel":
        "A reduction would be needed whole in each tile."
        see "docs/reference/kernels.md";

    802 P_ORDER "P-ORDER: the producer is in another scope":
        "Producers are fused only from the block that contains the kernel."
        see "docs/reference/kernels.md";

    803 P_OWN "P-OWN: the producer has hints of its own":
        "Hints and core splits of the user are kept. Remove them to allow the fusion."
        see "docs/reference/kernels.md";

    804 P_USES "P-USES: the result has a use before the kernel":
        "The kernel computes the value too late for this use."
        see "docs/reference/kernels.md";

    805 P_TIED "P-TIED: the kernel writes into the buffer":
        "The buffer of the producer is updated in place by the kernel."
        see "docs/reference/kernels.md";

    806 P_SITES "P-SITES: a user loop reads the result tile by tile":
        "The producer would be computed whole in front of that loop."
        see "docs/reference/kernels.md";

    807 P_MAP "P-MAP: the kernel tiles the result in another way":
        "The tiles of the kernel do not correspond to tiles of the producer."
        see "docs/reference/kernels.md";

    808 P_LX "P-LX: tiles of the result do not fit in LX":
        "The value would go through HBM in any case. Use more tiles."
        see "docs/reference/kernels.md";

    809 P_COST "P-COST: the program is faster without the fusion":
        "The cost model compares the programs with and without the fusion, and keeps the faster one."
        see "docs/reference/cost-model.md";

    821 E_KIND "E-KIND: the consumer cannot be fused after a kernel":
        "Elementwise ops, and reductions and products inside a tile, are fused after a kernel."
        see "docs/reference/kernels.md";

    822 E_GRID "E-GRID: the consumer is a kernel with other loops":
        "Kernels are joined if they tile the value between them in the same way."
        see "docs/reference/kernels.md";

    823 E_ORDER "E-ORDER: the consumer is in another scope or needs a later value":
        "All operands of the consumer must be available at the kernel."
        see "docs/reference/kernels.md";

    824 E_OWN "E-OWN: the consumer has hints of its own":
        "Hints and core splits of the user are kept. Remove them to allow the fusion."
        see "docs/reference/kernels.md";

    825 E_COVER "E-COVER: the kernel writes the output in slices":
        "The consumer would read slices that are not complete."
        see "docs/reference/kernels.md";

    826 E_ACC "E-ACC: the outermost loop accumulates the output":
        "The output is complete only after the loop."
        see "docs/reference/kernels.md";

    827 E_MULTI "E-MULTI: the consumer reads outputs of several scopes":
        "The operands come from several loops of the kernel, and no single loop has all of them."
        see "docs/reference/kernels.md";

    828 E_MAP "E-MAP: the consumer tiles the output in another way":
        "The tiles of the kernel do not correspond to tiles of the consumer."
        see "docs/reference/kernels.md";

    829 E_LX "E-LX: tiles of the consumer do not fit in LX":
        "The value would go through HBM in any case. Use more tiles."
        see "docs/reference/kernels.md";

    830 E_COST "E-COST: the program is faster without the fusion":
        "The cost model compares the programs with and without the fusion, and keeps the faster one."
        see "docs/reference/cost-model.md";

    850 KERNEL_ENTRY "the entry function is a kernel":
        "`spyre.kernel` marks functions that the entry function calls."
        see "docs/reference/kernels.md";

    851 KERNEL_TYPES "a kernel has unsupported operands or results":
        "A kernel takes and returns tensors of static shape, and returns at least one."
        see "docs/reference/kernels.md";

    852 KERNEL_NAMES "the dimension names of a kernel argument do not match its rank":
        "A kernel argument has one name per dimension."
        see "docs/reference/kernels.md";

    853 KNOB_UNKNOWN "`--knobs` names an unknown kernel or knob":
        "The message lists the kernels or knobs of the program."
        see "docs/reference/tuning.md";

    854 KNOB_VALUE "a knob has a value out of range":
        "The message lists the values of the knob."
        see "docs/reference/tuning.md";

    855 KNOB_UNUSED "a knob has no effect":
        "No hint scope uses the knob as a tile count or core split.";

    856 KERNEL_DIM "a kernel dimension is not tiled":
        "The dimension is not one of the program, or coincides with another name."
        see "docs/reference/kernels.md";

    857 KERNEL_LOOP "a user loop cannot become a hint scope":
        "The loop must compute tile by tile what an op computes on whole tensors. Loops over tensors with \
         layouts are not converted."
        see "docs/reference/kernels.md";
}
