//! Rules on symbolic sizes, addresses, derived members and the tensors of a program. They also cover the flow of data
//! between ops and launches.

use super::rule;
use crate::rules::{
    FormatRule, RuleCheck, addresses, derived_members, layouts, relayouts, sharing, slices, symbols, windowed, windows,
};

/// Rules from `sdsc_r64` on.
pub(super) const PROGRAM_RULES: &[FormatRule] = &[
    rule(
        "sdsc_r64",
        "symbolic sizes have ids, names, bounds and all related members",
        "specification, symbolic values; schema, section 6",
        RuleCheck::File(symbols::check_symbolic_size_declarations),
    ),
    rule(
        "sdsc_r65",
        "addresses in LX are constants, and not negative",
        "schema, section 6",
        RuleCheck::File(addresses::check_lx_addresses_are_numbers),
    ),
    rule(
        "sdsc_r66",
        "a tensor in LX ends within the LX of a core",
        "torch-spyre facts, A",
        RuleCheck::File(addresses::check_lx_tensors_fit),
    ),
    rule(
        "sdsc_r67",
        "start addresses in HBM are symbols if the node says so, and constants otherwise",
        "schema, section 6",
        RuleCheck::File(addresses::check_hbm_address_kinds),
    ),
    rule(
        "sdsc_r68",
        "addresses and their steps in loops are multiples of 128 bytes",
        "torch-spyre facts, A",
        RuleCheck::File(addresses::check_address_alignment),
    ),
    rule(
        "sdsc_r69",
        "a tensor in the pool is inside the pool on every core and in every iteration",
        "specification, `device_mem_allocate`",
        RuleCheck::File(addresses::check_pool_bounds),
    ),
    rule(
        "sdsc_r70",
        "a tensor in a launch argument is inside the argument on every core and in every iteration",
        "project, `program.json`",
        RuleCheck::File(addresses::check_argument_bounds),
    ),
    rule(
        "sdsc_r71",
        "a baked address and its tensor are in one segment of the launch",
        "torch-spyre facts, A",
        RuleCheck::File(addresses::check_segment_bounds),
    ),
    rule(
        "sdsc_r72",
        "the file of a constant is inside the directory and has the size of the constant; no other tensor has a file",
        "project, `program.json`",
        RuleCheck::Reading,
    ),
    rule(
        "sdsc_r73",
        "a buffer that launches share consists of complete sticks of the shared region; all launches that use it are in its live range; live buffers share no byte",
        "project, `program.json`",
        RuleCheck::Reading,
    ),
    rule(
        "sdsc_r74",
        "tensors that share a symbol whose value changes in a loop have the same dimensions and the same gaps",
        "project, symbols",
        RuleCheck::File(windows::check_moving_symbols),
    ),
    rule(
        "sdsc_r80",
        "the start address of a core is the start address of core 0 plus the byte offset of its slices",
        "schema, section 7",
        RuleCheck::Derived(slices::check_slice_starts),
    ),
    rule(
        "sdsc_r81",
        "core numbers run through the slices of a dimension in order: the slice of core `c` is `(c / d) mod n`, for some `d` and the slice count `n`; a shuffle has the slices of its destination",
        "schema, section 5",
        RuleCheck::Derived(slices::check_slice_cycle),
    ),
    rule(
        "sdsc_r82",
        "the steps and counts of the folds of a dimension, and its padding, match the slice of a core",
        "schema, section 6",
        RuleCheck::Derived(derived_members::check_derived_folds),
    ),
    rule(
        "sdsc_r83",
        "a page size is the size of what one index selects, and -1 for a dimension that is not indexed",
        "schema, section 3",
        RuleCheck::Derived(derived_members::check_derived_pages),
    ),
    rule(
        "sdsc_r84",
        "a layout class has the dimension order of its first tensor",
        "schema, section 3",
        RuleCheck::Derived(derived_members::check_class_order),
    ),
    rule(
        "sdsc_r85",
        "`memOrg_` lists every memory that a tensor may be in, marked as present, and has window members for windowed ops only",
        "schema, sections 6 and 9",
        RuleCheck::Derived(derived_members::check_memories),
    ),
    rule(
        "sdsc_r86",
        "an op has the inputs of its family; a reduction also lists its result",
        "schema, section 4",
        RuleCheck::Derived(derived_members::check_inputs),
    ),
    rule(
        "sdsc_r87",
        "the sizes of a tensor with its gaps are those of the launch argument, or of the tensor in the pool, that contains it",
        "schema, section 3; project, `program.json`",
        RuleCheck::Derived(slices::check_argument_sizes),
    ),
    rule(
        "sdsc_r88",
        "what a core reads from LX was written there by one op, with the same bytes, format and slice; no live tensor is overwritten",
        "torch-spyre facts, A; project, `docs/reference/planner.md`",
        RuleCheck::Reading,
    ),
    rule(
        "sdsc_r89",
        "what an op reads from the pool was written by an earlier op",
        "specification, `device_mem_allocate`",
        RuleCheck::Reading,
    ),
    rule(
        "sdsc_r90",
        "what a launch reads from a result or a shared buffer was written before; every result is written",
        "project, `program.json`",
        RuleCheck::Reading,
    ),
    rule("sdsc_r91", "arguments and constants are never written", "project, `program.json`", RuleCheck::Reading),
    rule(
        "sdsc_r92",
        "shape, element type, format, device size, stride map and bytes of a tensor are consistent",
        "project, `program.json`",
        RuleCheck::Reading,
    ),
    rule("sdsc_r93", "the names of the tensors of a program are unique", "project, `program.json`", RuleCheck::Reading),
    rule(
        "sdsc_r94",
        "a launch receives each tensor that its bundle uses exactly once; each tensor, except arguments, is used by a launch",
        "project, `program.json`",
        RuleCheck::Reading,
    ),
    rule(
        "sdsc_r95",
        "`pool_bytes` is the size of the tensors of the pool, and 0 without one",
        "project, `program.json`",
        RuleCheck::Reading,
    ),
    rule(
        "sdsc_r96",
        "an argument that is used as an index has a range from 0 to a size of the tables that it indexes; the size may be the product of several consecutive dimensions",
        "project, `program.json`",
        RuleCheck::Reading,
    ),
    rule(
        "sdsc_r97",
        "the live range of a shared buffer is from the first to the last launch that uses it; the region ends with the last buffer",
        "project, `program.json`",
        RuleCheck::Reading,
    ),
    rule(
        "sdsc_r99",
        "a tensor in a launch argument has the format of the argument; exceptions: indices are unsigned, and integers are copied as floats",
        "schema, section 3; project, `program.json`",
        RuleCheck::Derived(slices::check_argument_formats),
    ),
    rule(
        "sdsc_r100",
        "a value in LX or in a pool has a live range: its bytes, from the first op that writes it to the last that uses it; ranges that share bytes share no time",
        "project, `program.json`",
        RuleCheck::Reading,
    ),
    rule(
        "sdsc_r101",
        "the windows of the cores, the padding, and the slices that are read through windows follow from sizes and strides",
        "schema, section 9",
        RuleCheck::Derived(windowed::check_window_members),
    ),
    rule(
        "sdsc_r102",
        "input and result of an identity have the same format; only other functions convert",
        "schema, section 3",
        RuleCheck::File(layouts::check_identity_format),
    ),
    rule(
        "sdsc_r103",
        "a symbolic size has one maximum, one granularity and one name in the program, its tensors, its launches and their bundles",
        "project, `program.json`",
        RuleCheck::Reading,
    ),
    rule(
        "sdsc_r136",
        "`launch_spec.json` has the shapes, types, layouts, roles and sizes of the program; it is beside bundles with symbolic addresses only",
        "launch specification",
        RuleCheck::Reading,
    ),
    rule(
        "sdsc_r137",
        "a debug handle in `program.json` is that of an execute whose file an earlier execute names",
        "later torch-spyre sources; project, `program.json`",
        RuleCheck::Reading,
    ),
    rule(
        "sdsc_r150",
        "in a shuffle, one core holds each slice of the source, and at least one core gets each slice of the destination",
        "LX relayout contract",
        RuleCheck::File(relayouts::check_view_coverage),
    ),
    rule(
        "sdsc_r151",
        "source and destination of a shuffle are in LX, have one format, and share no byte on a core",
        "LX relayout contract",
        RuleCheck::File(relayouts::check_disjoint_views),
    ),
    rule(
        "sdsc_r152",
        "two corelets share the part of a core in a shuffle along its stick dimension, which has a fold over them",
        "LX relayout contract",
        RuleCheck::File(relayouts::check_corelet_folds),
    ),
    rule(
        "sdsc_r192",
        "addresses that differ between corelets are those of a shuffle: one for each corelet of each core, with complete sticks that share no byte",
        "LX relayout contract",
        RuleCheck::File(relayouts::check_corelet_starts),
    ),
    rule(
        "sdsc_r153",
        "conversions stagger elements; the operands of an op have one order of elements, and matmuls, changes of layout, masked ops and results the standard one",
        "element arrangement",
        RuleCheck::Reading,
    ),
    rule(
        "sdsc_r154",
        "cores use an indexed table at one address, and only dimensions of its indices are divided",
        "torch-spyre facts, gathers on several cores",
        RuleCheck::File(slices::check_unsplit_tables),
    ),
    rule(
        "sdsc_r186",
        "`ldsShareInfo_` names tensors and descriptions of the file, and each description at most once for a tensor",
        "specification, `ldsShareInfo_`",
        RuleCheck::File(sharing::check_shared_tensors),
    ),
];
