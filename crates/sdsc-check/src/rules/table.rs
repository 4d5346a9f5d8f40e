//! Table of the rules, the most basic first: a file that breaks a rule may break later rules as a consequence.

use super::{
    Check, Rule, addresses, constants, coordinates, cores, derived, families, identity, launches, layouts, sizes, slices, symbols, tensors,
    windowed, windows,
};
use std::fmt::Write;

/// Index in [`RULES`] of the rule on the text of `bundle.mlir`.
pub(in super::super) const TEXT: usize = 0;

/// Index of the rule on the members of SDSC files.
pub(in super::super) const SCHEMA: usize = 1;

/// Index of the rule on `program.json`.
pub(in super::super) const PROGRAM: usize = 2;

/// Index of the rule on the number of operations of a file.
pub(in super::super) const ONE_OPERATION: usize = 3;

/// Index of the rule on the files of constants.
pub(in super::super) const CONSTANTS: usize = place("sdsc_r72");

/// Index of the rule on the buffers that launches share.
pub(in super::super) const BUFFERS: usize = place("sdsc_r73");

/// Indices of the rules on several files together.
pub(in super::super) const SIZES: usize = place("sdsc_r87");
pub(in super::super) const FLOW_IN_LX: usize = place("sdsc_r88");
pub(in super::super) const FLOW_IN_HBM: usize = place("sdsc_r89");
pub(in super::super) const FLOW_OF_LAUNCHES: usize = place("sdsc_r90");
pub(in super::super) const READ_ONLY: usize = place("sdsc_r91");
pub(in super::super) const TENSORS: usize = place("sdsc_r92");
pub(in super::super) const NAMES: usize = place("sdsc_r93");
pub(in super::super) const ARGUMENTS: usize = place("sdsc_r94");
pub(in super::super) const POOL_BYTES: usize = place("sdsc_r95");
pub(in super::super) const INDEX_RANGES: usize = place("sdsc_r96");
pub(in super::super) const LIVES: usize = place("sdsc_r97");
pub(in super::super) const LIVES_IN_LAUNCHES: usize = place("sdsc_r100");
pub(in super::super) const SYMBOLIC_SIZES: usize = place("sdsc_r103");
pub(in super::super) const LAUNCH_SPEC: usize = place("sdsc_r120");
pub(in super::super) const DEBUG_HANDLES: usize = place("sdsc_r121");

/// Returns the index in [`RULES`] of a label.
const fn place(label: &str) -> usize {
    let mut place = 0;
    while !is_same(RULES[place].label.as_bytes(), label.as_bytes()) {
        place += 1;
    }
    place
}

const fn is_same(one: &[u8], other: &[u8]) -> bool {
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

/// All rules. "Specification" is the SuperDSC-Bundle interface specification and "schema" the project's description of every field; labels
/// of removed rules are not reused.
pub const RULES: &[Rule] = &[
    rule(
        "sdsc_r1",
        "`bundle.mlir` is one function with the statements of a bundle",
        "specification, bundle container; torch-spyre facts, D.10",
        Check::Reading,
    ),
    rule("sdsc_r2", "an SDSC file is JSON with the members of the format, each of its type", "schema, section 6", Check::Reading),
    rule(
        "sdsc_r3",
        "`program.json` has its members, its launches name bundles and tensors that exist, and only integer arguments are indices",
        "project, `program.json`",
        Check::Reading,
    ),
    rule("sdsc_r4", "a file has one description of one operation", "schema, section 6", Check::Reading),
    rule(
        "sdsc_r5",
        "every executed SDSC file is in the folder of `bundle.mlir`",
        "specification, `sdsc_execute`",
        Check::Bundle(launches::files_are_present),
    ),
    rule("sdsc_r6", "every SDSC file of the directory is executed", "torch-spyre facts, D", Check::Bundle(launches::files_are_executed)),
    rule(
        "sdsc_r7",
        "a file that is executed again has the same symbols with the same values; for torch-spyre of September 2026, with any offsets in the same kernel arguments",
        "specification, `sdsc_execute`; later torch-spyre sources",
        Check::Bundle(launches::repeated_files_have_equal_symbols),
    ),
    rule(
        "sdsc_r8",
        "values and maps are defined once, before they are used",
        "torch-spyre facts, D.10",
        Check::Bundle(launches::values_are_defined),
    ),
    rule(
        "sdsc_r9",
        "values have the kind that their use requires: parameters are extracted before use, and maps get the right number of operands",
        "specification, `input_arg_extract` and `affine.apply`",
        Check::Bundle(launches::values_fit_their_use),
    ),
    rule(
        "sdsc_r10",
        "an address is the sum of one base and a byte offset, which consists of constants and multiples of loop counters",
        "specification, `arith.addi` and `affine.apply`",
        Check::Bundle(launches::addresses_are_linear),
    ),
    rule(
        "sdsc_r11",
        "pools are allocated outside loops, have a positive size and at most 14 GiB together",
        "specification, `device_mem_allocate`; schema, section 8",
        Check::Bundle(launches::pools_have_room),
    ),
    rule(
        "sdsc_r12",
        "loops run from 0 with step 1 to a positive constant",
        "specification, `scf.for`; schema, section 8",
        Check::Bundle(launches::loops_are_counted),
    ),
    rule(
        "sdsc_r13",
        "an execute has one operand per symbol id",
        "specification, `sdsc_execute`",
        Check::Bundle(launches::operands_have_ids),
    ),
    rule(
        "sdsc_r14",
        "symbol ids are negative, and each denotes one value in the bundle",
        "specification, `sdsc_execute`",
        Check::Bundle(launches::ids_are_unique),
    ),
    rule(
        "sdsc_r15",
        "symbol ids are consecutive over the bundle, except for bases of arguments of which only slices are used",
        "schema, sections 7 and 10",
        Check::Bundle(launches::ids_follow_each_other),
    ),
    rule("sdsc_r16", "a file uses exactly the symbols of its execute", "schema, section 10", Check::File(symbols::symbols_have_values)),
    rule(
        "sdsc_r17",
        "an execute lists symbols in the order of its file: sizes, then addresses by tensor and core",
        "schema, section 8",
        Check::File(symbols::symbols_are_in_order),
    ),
    rule(
        "sdsc_r18",
        "the name of the operation contains the number of the file and the function, which are also those of the description and of the compute operation",
        "schema, sections 6 and 10",
        Check::File(identity::names_agree),
    ),
    rule("sdsc_r19", "the device has the function", "specification, supported functions", Check::File(identity::function_is_known)),
    rule(
        "sdsc_r20",
        "matmuls and convolutions run on the unit `pt`, all other functions on `sfp`",
        "schema, section 5",
        Check::File(identity::unit_fits_the_function),
    ),
    rule("sdsc_r21", "members with one legal value have this value", "schema, section 6", Check::File(identity::fixed_members_are_fixed)),
    rule(
        "sdsc_r22",
        "all core counts of a file are equal, and between 1 and the number of cores of the machine",
        "schema, section 10",
        Check::File(cores::core_counts_agree),
    ),
    rule(
        "sdsc_r23",
        "every list and map over cores contains each core once; lists are in order",
        "schema, section 10",
        Check::File(cores::cores_are_listed_once),
    ),
    rule(
        "sdsc_r24",
        "folds of addresses and constants cover the cores of the op",
        "schema, sections 6 and 10",
        Check::File(cores::core_folds_count_the_cores),
    ),
    rule(
        "sdsc_r25",
        "the product of the slice counts of all dimensions is the number of cores",
        "schema, sections 5 and 10",
        Check::File(cores::slices_make_the_cores),
    ),
    rule(
        "sdsc_r26",
        "every core has a slice of every dimension, and its number is below the slice count",
        "specification, step 2",
        Check::File(cores::slots_are_in_range),
    ),
    rule("sdsc_r27", "no two cores have the same slices of all dimensions", "schema, section 5", Check::File(cores::slots_are_distinct)),
    rule(
        "sdsc_r28",
        "sizes, stages, slices, layouts, masks and symbols refer to dimensions of the iteration space",
        "specification, step 4; schema, section 6",
        Check::File(sizes::dimensions_are_those_of_the_space),
    ),
    rule(
        "sdsc_r29",
        "slice counts divide the sizes: the size of a slice times the slice count is the size of the dimension",
        "schema, section 10",
        Check::File(sizes::slices_divide_the_sizes),
    ),
    rule("sdsc_r30", "the members `ss_` and `el_` are equal", "schema, section 10", Check::File(sizes::stages_are_equal)),
    rule(
        "sdsc_r31",
        "a slice of a data tensor consists of complete sticks; a slice of an index tensor consists of complete sticks or is smaller than one stick",
        "specification, core work division",
        Check::File(sizes::sticks_are_whole),
    ),
    rule(
        "sdsc_r32",
        "a core addresses at most 65535 x 4096 bytes of a tensor in HBM",
        "specification, core work division; torch-spyre facts, A",
        Check::File(sizes::spans_are_addressable),
    ),
    rule(
        "sdsc_r33",
        "a layout class has a known name, dimensions and stick dimensions",
        "specification, step 5; schema, section 3",
        Check::File(layouts::classes_are_complete),
    ),
    rule(
        "sdsc_r34",
        "tensors are numbered, and each has one node and one description",
        "specification, steps 6 and 7",
        Check::File(tensors::tensors_are_numbered),
    ),
    rule(
        "sdsc_r35",
        "every tensor has a layout class, and every class is used by a tensor",
        "specification, step 7",
        Check::File(layouts::tensors_have_classes),
    ),
    rule(
        "sdsc_r36",
        "order, scales, pages and coordinates of a tensor have the dimensions of its layout class",
        "schema, section 10",
        Check::File(layouts::tensors_have_the_dimensions_of_their_class),
    ),
    rule(
        "sdsc_r37",
        "`component_`, the name of the node and `memOrg_` name the same memory",
        "specification, step 7; schema, section 6",
        Check::File(tensors::memories_agree),
    ),
    rule(
        "sdsc_r38",
        "formats are known and `wordLength` is their width",
        "schema, section 6; torch-spyre facts, A",
        Check::File(layouts::formats_have_their_width),
    ),
    rule("sdsc_r39", "a stick has 128 bytes", "torch-spyre facts, A", Check::File(layouts::sticks_have_128_bytes)),
    rule(
        "sdsc_r40",
        "the op and its constants have the format of the first tensor that is not an index tensor",
        "schema, section 5",
        Check::File(layouts::the_op_has_the_format_of_its_input),
    ),
    rule("sdsc_r41", "scales are 1 or -1, or -2 along the stick", "specification, step 7", Check::File(layouts::scales_have_a_meaning)),
    rule(
        "sdsc_r42",
        "coordinates have folds for cores, corelets, rows and elements, and separate folds for sticks",
        "schema, section 6; specification, step 6",
        Check::File(coordinates::folds_have_their_form),
    ),
    rule(
        "sdsc_r43",
        "the product of the folds of a dimension is its size, with the slices of the op or of the owner of the tensor",
        "schema, section 10",
        Check::File(coordinates::folds_make_the_size),
    ),
    rule(
        "sdsc_r44",
        "back gaps are positive and given for core -1 in HBM and for every core in LX",
        "specification, step 6",
        Check::File(coordinates::gaps_are_behind_the_part),
    ),
    rule(
        "sdsc_r45",
        "the operands of the compute operation are tensors of the file, and the result is the last tensor",
        "specification, step 9; schema, section 6",
        Check::File(tensors::operands_are_tensors),
    ),
    rule(
        "sdsc_r46",
        "the compute operation lists index tensors separately from its inputs",
        "schema, section 6",
        Check::File(tensors::index_tensors_are_listed),
    ),
    rule(
        "sdsc_r47",
        "index tensors are SENUINT32 and in HBM",
        "schema, sections 3 and 6",
        Check::File(tensors::index_tensors_are_unsigned_in_hbm),
    ),
    rule(
        "sdsc_r48",
        "an index tensor and the tensor that it indexes refer to each other by their kinds",
        "specification, step 6",
        Check::File(tensors::indirect_access_has_partners),
    ),
    rule("sdsc_r49", "only indexed tensors have page sizes", "schema, section 3", Check::File(tensors::pages_are_reached_through_indices)),
    rule(
        "sdsc_r50",
        "a matmul has one contracted dimension (K), at most one generated dimension (N), at most two preserved dimensions (M), and at most two dimensions that all tensors have (batch)",
        "specification, batched matmul",
        Check::File(families::matmul_has_its_dimensions),
    ),
    rule(
        "sdsc_r51",
        "in a matmul, K is the stick dimension of the first input, and N is that of the second input and of the result",
        "specification, batched matmul",
        Check::File(families::matmul_sticks_fit),
    ),
    rule(
        "sdsc_r52",
        "a stick reduction reduces the only stick dimension",
        "specification, reduction",
        Check::File(families::stick_reductions_reduce_the_stick),
    ),
    rule(
        "sdsc_r53",
        "a nonstick reduction reduces no stick dimension",
        "specification, reduction",
        Check::File(families::nonstick_reductions_keep_the_stick),
    ),
    rule(
        "sdsc_r54",
        "at most one reduced dimension is split",
        "specification, core work division",
        Check::File(families::one_reduced_dimension_is_split),
    ),
    rule(
        "sdsc_r55",
        "neither the searched dimension nor the result dimension of a top-k is a stick dimension",
        "specification, scan",
        Check::File(families::top_k_leaves_the_stick_alone),
    ),
    rule(
        "sdsc_r56",
        "the sticks of a restickify have one dimension each",
        "specification, stick altering data shuffle",
        Check::File(families::restickify_has_plain_sticks),
    ),
    rule(
        "sdsc_r57",
        "all tensors of an elementwise function have the same stick dimensions",
        "specification, unary and broadcast",
        Check::File(families::elementwise_tensors_share_the_stick),
    ),
    rule(
        "sdsc_r58",
        "a stick dimension that no tensor has is exactly one stick long",
        "specification, unary and broadcast",
        Check::File(families::absent_sticks_are_one_stick),
    ),
    rule(
        "sdsc_r59",
        "only windowed functions have windows; a window dimension is not a stick dimension and is not split, and the input has the extent that the window implies",
        "specification, pooling; schema, section 9",
        Check::File(families::windows_are_beside_the_stick),
    ),
    rule(
        "sdsc_r60",
        "a mask is one pair of a number of valid points and a number of padding points, whose sum is the size; a masked and reduced dimension is not split",
        "schema, section 4; torch-spyre facts, D.6",
        Check::File(constants::masks_cover_the_padding),
    ),
    rule(
        "sdsc_r61",
        "`maskingConstId_` is the number of `samv-maskvalue`, or -1 without a mask",
        "schema, section 6",
        Check::File(constants::the_mask_names_its_constant),
    ),
    rule(
        "sdsc_r62",
        "an op has exactly the constants that its function needs",
        "specification, supported functions; schema, section 4",
        Check::File(constants::constants_are_those_of_the_function),
    ),
    rule("sdsc_r63", "a constant is one bit pattern of its format", "specification, step 8", Check::File(constants::constants_are_bits)),
    rule(
        "sdsc_r64",
        "symbolic sizes have ids, names, bounds and all related members",
        "specification, symbolic values; schema, section 6",
        Check::File(symbols::symbolic_sizes_are_declared),
    ),
    rule(
        "sdsc_r65",
        "a tensor in LX has the same constant address on all cores",
        "schema, section 6",
        Check::File(addresses::lx_addresses_are_the_same_number),
    ),
    rule("sdsc_r66", "a tensor in LX ends within the LX of a core", "torch-spyre facts, A", Check::File(addresses::lx_tensors_fit)),
    rule(
        "sdsc_r67",
        "start addresses in HBM are symbols if the node says so, and constants otherwise",
        "schema, section 6",
        Check::File(addresses::hbm_addresses_are_symbols_or_numbers),
    ),
    rule(
        "sdsc_r68",
        "addresses and their steps in loops are multiples of 128 bytes",
        "torch-spyre facts, A",
        Check::File(addresses::addresses_are_whole_sticks),
    ),
    rule(
        "sdsc_r69",
        "a tensor in the pool is inside the pool on every core and in every iteration",
        "specification, `device_mem_allocate`",
        Check::File(addresses::pool_tensors_lie_within),
    ),
    rule(
        "sdsc_r70",
        "a tensor in a launch argument is inside the argument on every core and in every iteration",
        "project, `program.json`",
        Check::File(addresses::argument_tensors_lie_within),
    ),
    rule(
        "sdsc_r71",
        "a baked address and its tensor are in one segment of the launch",
        "torch-spyre facts, A",
        Check::File(addresses::baked_addresses_lie_within_segments),
    ),
    rule(
        "sdsc_r72",
        "the file of a constant is inside the directory and has the size of the constant; no other tensor has a file",
        "project, `program.json`",
        Check::Reading,
    ),
    rule(
        "sdsc_r73",
        "a buffer that launches share consists of complete sticks of the shared region; all launches that use it are in its live range; live buffers share no byte",
        "project, `program.json`",
        Check::Reading,
    ),
    rule(
        "sdsc_r74",
        "tensors that share a symbol whose value changes in a loop have the same dimensions and the same gaps",
        "project, symbols",
        Check::File(windows::moving_symbols_are_of_one_window),
    ),
    rule(
        "sdsc_r80",
        "the start address of a core is the start address of core 0 plus the byte offset of its slices",
        "schema, section 7",
        Check::Derived(slices::starts_follow_the_slices),
    ),
    rule(
        "sdsc_r81",
        "core numbers run through the slices of a dimension in order: the slice of core `c` is `(c / d) mod n`, for some `d` and the slice count `n`",
        "schema, section 5",
        Check::Derived(slices::slices_go_round),
    ),
    rule(
        "sdsc_r82",
        "the steps and counts of the folds of a dimension, and its padding, match the slice of a core",
        "schema, section 6",
        Check::Derived(derived::folds_are_worked_out),
    ),
    rule(
        "sdsc_r83",
        "a page size is the size of what one index selects, and -1 for a dimension that is not indexed",
        "schema, section 3",
        Check::Derived(derived::pages_are_worked_out),
    ),
    rule(
        "sdsc_r84",
        "a layout class has the dimension order of its first tensor",
        "schema, section 3",
        Check::Derived(derived::classes_have_the_order_of_their_first_tensor),
    ),
    rule(
        "sdsc_r85",
        "`memOrg_` lists every memory that a tensor may be in, marked as present, and has window members for windowed ops only",
        "schema, sections 6 and 9",
        Check::Derived(derived::memories_are_complete),
    ),
    rule(
        "sdsc_r86",
        "an op has the inputs of its family; a reduction also lists its result",
        "schema, section 4",
        Check::Derived(derived::inputs_are_those_of_the_family),
    ),
    rule(
        "sdsc_r87",
        "the sizes of a tensor with its gaps are those of the launch argument, or of the tensor in the pool, that contains it",
        "schema, section 3; project, `program.json`",
        Check::Derived(slices::sizes_are_those_of_the_argument),
    ),
    rule(
        "sdsc_r88",
        "what a core reads from LX was written there by one op, with the same bytes, format and slice; no live tensor is overwritten",
        "torch-spyre facts, A; project, `docs/reference/planner.md`",
        Check::Reading,
    ),
    rule("sdsc_r89", "what an op reads from the pool was written by an earlier op", "specification, `device_mem_allocate`", Check::Reading),
    rule(
        "sdsc_r90",
        "what a launch reads from a result or a shared buffer was written before; every result is written",
        "project, `program.json`",
        Check::Reading,
    ),
    rule("sdsc_r91", "arguments and constants are never written", "project, `program.json`", Check::Reading),
    rule(
        "sdsc_r92",
        "shape, element type, format, device size, stride map and bytes of a tensor are consistent",
        "project, `program.json`",
        Check::Reading,
    ),
    rule("sdsc_r93", "the names of the tensors of a program are unique", "project, `program.json`", Check::Reading),
    rule(
        "sdsc_r94",
        "a launch receives each tensor that its bundle uses exactly once; each tensor, except arguments, is used by a launch",
        "project, `program.json`",
        Check::Reading,
    ),
    rule("sdsc_r95", "`pool_bytes` is the size of the tensors of the pool, and 0 without one", "project, `program.json`", Check::Reading),
    rule(
        "sdsc_r96",
        "an argument that is used as an index has a range from 0 to a size of the tables that it indexes; the size may be the product of several consecutive dimensions",
        "project, `program.json`",
        Check::Reading,
    ),
    rule(
        "sdsc_r97",
        "the live range of a shared buffer is from the first to the last launch that uses it; the region ends with the last buffer",
        "project, `program.json`",
        Check::Reading,
    ),
    rule(
        "sdsc_r99",
        "a tensor in a launch argument has the format of the argument; exceptions: indices are unsigned, and integers are copied as floats",
        "schema, section 3; project, `program.json`",
        Check::Derived(slices::formats_are_those_of_the_argument),
    ),
    rule(
        "sdsc_r100",
        "a value in LX or in a pool has a live range: its bytes, from the first op that writes it to the last that uses it; ranges that share bytes share no time",
        "project, `program.json`",
        Check::Reading,
    ),
    rule(
        "sdsc_r101",
        "the windows of the cores, the padding, and the slices that are read through windows follow from sizes and strides",
        "schema, section 9",
        Check::Derived(windowed::what_goes_with_windows_is_worked_out),
    ),
    rule(
        "sdsc_r102",
        "input and result of an identity have the same format; only other functions convert",
        "schema, section 3",
        Check::File(layouts::an_identity_has_one_format),
    ),
    rule(
        "sdsc_r103",
        "a symbolic size has one maximum, one granularity and one name in the program, its tensors, its launches and their bundles",
        "project, `program.json`",
        Check::Reading,
    ),
    rule(
        "sdsc_r120",
        "`launch_spec.json` has the shapes, types, layouts, roles and sizes of the program; it is beside bundles with symbolic addresses only",
        "launch specification",
        Check::Reading,
    ),
    rule(
        "sdsc_r121",
        "a debug handle in `program.json` is that of an execute whose file an earlier execute names",
        "later torch-spyre sources; project, `program.json`",
        Check::Reading,
    ),
];

const fn rule(label: &'static str, statement: &'static str, source: &'static str, check: Check) -> Rule {
    Rule { label, statement, source, check }
}

/// Returns the rules as a Markdown table, for `docs/reference/bundle-format.md`.
#[must_use]
pub fn rules_table() -> String {
    let mut table = String::from("| label | rule | source |\n|---|---|---|\n");
    for rule in RULES {
        // Writing to memory cannot fail.
        let _ = writeln!(table, "| `{}` | {} | {} |", rule.label, rule.statement, rule.source);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_numbered_in_order() {
        let number = |rule: &Rule| rule.label.strip_prefix("sdsc_r").and_then(|number| number.parse::<u32>().ok()).unwrap();
        assert!(RULES.windows(2).all(|pair| number(&pair[0]) < number(&pair[1])));
        for rule in RULES {
            assert!(!rule.statement.ends_with('.') && !rule.statement.contains('|'), "{}", rule.statement);
        }
        for place in [TEXT, SCHEMA, PROGRAM, ONE_OPERATION, CONSTANTS, BUFFERS] {
            assert!(matches!(RULES[place].check, Check::Reading));
        }
    }
}
