//! The table of rules, from the most basic on: what breaks a rule may break later ones as well.

use super::{
    Check, Rule, addresses, constants, coordinates, cores, derived, families, identity, launches, layouts, sizes, slices, symbols, tensors,
    windowed, windows,
};
use std::fmt::Write;

/// The place in [`RULES`] of the rule on the text of `bundle.mlir`.
pub(in super::super) const TEXT: usize = 0;

/// The place of the rule on the members of SDSC files.
pub(in super::super) const SCHEMA: usize = 1;

/// The place of the rule on `program.json`.
pub(in super::super) const PROGRAM: usize = 2;

/// The place of the rule on the number of operations of a file.
pub(in super::super) const ONE_OPERATION: usize = 3;

/// The place of the rule on the files of constants.
pub(in super::super) const CONSTANTS: usize = place("sdsc_r72");

/// The place of the rule on the buffers that launches share.
pub(in super::super) const BUFFERS: usize = place("sdsc_r73");

/// The places of the rules on what several files say together.
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

/// The place in [`RULES`] of a label.
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

/// Every rule. "Specification" is the SuperDSC-Bundle interface specification and "schema" the project's description of every
/// field; labels are not given anew when a rule goes.
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
        "every executed file stands beside `bundle.mlir`",
        "specification, `sdsc_execute`",
        Check::Bundle(launches::files_are_present),
    ),
    rule("sdsc_r6", "every SDSC file of the directory is executed", "torch-spyre facts, D", Check::Bundle(launches::files_are_executed)),
    rule(
        "sdsc_r7",
        "a file that is executed again has the same symbols with the same values",
        "specification, `sdsc_execute`",
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
        "values are of the kind that their use needs: parameters are read first, and maps are given what they take",
        "specification, `input_arg_extract` and `affine.apply`",
        Check::Bundle(launches::values_fit_their_use),
    ),
    rule(
        "sdsc_r10",
        "an address is one base and bytes: constants and multiples of loop counters",
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
        "loops count from 0 by 1 to a positive constant",
        "specification, `scf.for`; schema, section 8",
        Check::Bundle(launches::loops_are_counted),
    ),
    rule(
        "sdsc_r13",
        "an execute has an operand for each symbol id",
        "specification, `sdsc_execute`",
        Check::Bundle(launches::operands_have_ids),
    ),
    rule(
        "sdsc_r14",
        "symbol ids are negative, and each stands for one value in the bundle",
        "specification, `sdsc_execute`",
        Check::Bundle(launches::ids_are_unique),
    ),
    rule(
        "sdsc_r15",
        "symbol ids are consecutive over the bundle, but for the bases of arguments that are used in parts only",
        "schema, sections 7 and 10",
        Check::Bundle(launches::ids_follow_each_other),
    ),
    rule("sdsc_r16", "the symbols of a file are those of its execute", "schema, section 10", Check::File(symbols::symbols_have_values)),
    rule(
        "sdsc_r17",
        "an execute lists symbols as its file does: sizes, then addresses by tensor and core",
        "schema, section 8",
        Check::File(symbols::symbols_are_in_order),
    ),
    rule(
        "sdsc_r18",
        "the number and the function in the name of the operation are those of the file, the description and the compute operation",
        "schema, sections 6 and 10",
        Check::File(identity::names_agree),
    ),
    rule("sdsc_r19", "the device has the function", "specification, supported functions", Check::File(identity::function_is_known)),
    rule(
        "sdsc_r20",
        "matmuls and convolutions run on `pt`, all else on `sfp`",
        "schema, section 5",
        Check::File(identity::unit_fits_the_function),
    ),
    rule("sdsc_r21", "members with only one legal value have it", "schema, section 6", Check::File(identity::fixed_members_are_fixed)),
    rule(
        "sdsc_r22",
        "every count of cores is the same, from 1 to the cores of the machine",
        "schema, section 10",
        Check::File(cores::core_counts_agree),
    ),
    rule(
        "sdsc_r23",
        "every list and map over cores has each core once, lists in order",
        "schema, section 10",
        Check::File(cores::cores_are_listed_once),
    ),
    rule(
        "sdsc_r24",
        "folds of addresses and constants are over the op's cores",
        "schema, sections 6 and 10",
        Check::File(cores::core_folds_count_the_cores),
    ),
    rule(
        "sdsc_r25",
        "the slices of all dimensions make the number of cores",
        "schema, sections 5 and 10",
        Check::File(cores::slices_make_the_cores),
    ),
    rule(
        "sdsc_r26",
        "a core has a slice of every dimension, which is one of its slices",
        "specification, step 2",
        Check::File(cores::slots_are_in_range),
    ),
    rule("sdsc_r27", "no two cores have the same slices", "schema, section 5", Check::File(cores::slots_are_distinct)),
    rule(
        "sdsc_r28",
        "sizes, stages, slices, layouts, masks and symbols name the dimensions of the space",
        "specification, step 4; schema, section 6",
        Check::File(sizes::dimensions_are_those_of_the_space),
    ),
    rule(
        "sdsc_r29",
        "slices divide the sizes: a core's part times the slices is the whole",
        "schema, section 10",
        Check::File(sizes::slices_divide_the_sizes),
    ),
    rule("sdsc_r30", "`ss_` and `el_` are equal", "schema, section 10", Check::File(sizes::stages_are_equal)),
    rule(
        "sdsc_r31",
        "a core has whole sticks of data tensors, and whole sticks or less than one of index tensors that are split",
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
        "a layout class has a known name, dimensions and sticks",
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
        "every tensor has a layout class and every class a tensor",
        "specification, step 7",
        Check::File(layouts::tensors_have_classes),
    ),
    rule(
        "sdsc_r36",
        "a tensor's order, scales, pages and coordinates are of the dimensions of its class",
        "schema, section 10",
        Check::File(layouts::tensors_have_the_dimensions_of_their_class),
    ),
    rule(
        "sdsc_r37",
        "`component_`, the node's name and `memOrg_` say the same memory",
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
        "the op and its constants have the format of its first tensor of values",
        "schema, section 5",
        Check::File(layouts::the_op_has_the_format_of_its_input),
    ),
    rule("sdsc_r41", "scales are 1, -1 and, along the stick, -2", "specification, step 7", Check::File(layouts::scales_have_a_meaning)),
    rule(
        "sdsc_r42",
        "coordinates have folds of cores, corelets, rows and elements, and sticks are folds of their own",
        "schema, section 6; specification, step 6",
        Check::File(coordinates::folds_have_their_form),
    ),
    rule(
        "sdsc_r43",
        "the folds of a dimension that a tensor has make its size, in the slices of the op or of the tensor's owner",
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
        "operands of the compute operation are tensors of the file, and the result is the last one",
        "specification, step 9; schema, section 6",
        Check::File(tensors::operands_are_tensors),
    ),
    rule(
        "sdsc_r46",
        "the compute operation lists the index tensors, apart from its inputs",
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
        "an index tensor and what it indexes name each other's kind",
        "specification, step 6",
        Check::File(tensors::indirect_access_has_partners),
    ),
    rule(
        "sdsc_r49",
        "only what is reached through indices has page sizes",
        "schema, section 3",
        Check::File(tensors::pages_are_reached_through_indices),
    ),
    rule(
        "sdsc_r50",
        "a matmul has one contracted dimension, one that it generates, and at most two each that it preserves and that every tensor has",
        "specification, batched matmul",
        Check::File(families::matmul_has_its_dimensions),
    ),
    rule(
        "sdsc_r51",
        "the stick of a matmul's first input is contracted, those of the second input and of the result are generated",
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
        "a nonstick reduction does not reduce a stick dimension",
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
        "neither the dimension that a top-k searches nor that of its results runs along a stick",
        "specification, scan",
        Check::File(families::top_k_leaves_the_stick_alone),
    ),
    rule(
        "sdsc_r56",
        "the sticks of a restickify have one dimension",
        "specification, stick altering data shuffle",
        Check::File(families::restickify_has_plain_sticks),
    ),
    rule(
        "sdsc_r57",
        "the tensors of an elementwise function have sticks along the same dimensions",
        "specification, unary and broadcast",
        Check::File(families::elementwise_tensors_share_the_stick),
    ),
    rule(
        "sdsc_r58",
        "a stick dimension that no tensor has is one full stick",
        "specification, unary and broadcast",
        Check::File(families::absent_sticks_are_one_stick),
    ),
    rule(
        "sdsc_r59",
        "windows are of windowed functions, lie beside the stick, are not split and read what they say",
        "specification, pooling; schema, section 9",
        Check::File(families::windows_are_beside_the_stick),
    ),
    rule(
        "sdsc_r60",
        "a mask is one pair of valid points and padding, which make the size, and what is masked and reduced is not split",
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
        "an op has the constants that its function needs and no others",
        "specification, supported functions; schema, section 4",
        Check::File(constants::constants_are_those_of_the_function),
    ),
    rule("sdsc_r63", "a constant is one bit pattern of its format", "specification, step 8", Check::File(constants::constants_are_bits)),
    rule(
        "sdsc_r64",
        "symbolic sizes have ids, names and bounds, and the members that come with them",
        "specification, symbolic values; schema, section 6",
        Check::File(symbols::symbolic_sizes_are_declared),
    ),
    rule(
        "sdsc_r65",
        "a tensor in LX has the same plain address on all cores",
        "schema, section 6",
        Check::File(addresses::lx_addresses_are_the_same_number),
    ),
    rule("sdsc_r66", "a tensor in LX ends within the LX of a core", "torch-spyre facts, A", Check::File(addresses::lx_tensors_fit)),
    rule(
        "sdsc_r67",
        "starts in HBM are symbols where the node says so, and addresses otherwise",
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
        "a tensor in the pool lies within it on every core and in every iteration",
        "specification, `device_mem_allocate`",
        Check::File(addresses::pool_tensors_lie_within),
    ),
    rule(
        "sdsc_r70",
        "a tensor in a kernel argument lies within its bytes on every core and in every iteration",
        "project, `program.json`",
        Check::File(addresses::argument_tensors_lie_within),
    ),
    rule(
        "sdsc_r71",
        "a baked address and its tensor are in one segment of the kernel",
        "torch-spyre facts, A",
        Check::File(addresses::baked_addresses_lie_within_segments),
    ),
    rule(
        "sdsc_r72",
        "the file of a constant stands below the directory and has the constant's bytes; no other tensor has a file",
        "project, `program.json`",
        Check::Reading,
    ),
    rule(
        "sdsc_r73",
        "a buffer that launches share is whole sticks of their region, every launch that uses it is in its life, and live ones share no byte",
        "project, `program.json`",
        Check::Reading,
    ),
    rule(
        "sdsc_r74",
        "tensors that share a symbol that moves in a loop have the same dimensions of the space and the same gaps",
        "project, symbols",
        Check::File(windows::moving_symbols_are_of_one_window),
    ),
    rule(
        "sdsc_r80",
        "the start of a core's part is the start of core 0's and the bytes to its slices",
        "schema, section 7",
        Check::Derived(slices::starts_follow_the_slices),
    ),
    rule("sdsc_r81", "cores take the slices of a dimension in turn", "schema, section 5", Check::Derived(slices::slices_go_round)),
    rule(
        "sdsc_r82",
        "the steps and counts of the folds of a dimension, and its padding, are those of a core's part",
        "schema, section 6",
        Check::Derived(derived::folds_are_worked_out),
    ),
    rule(
        "sdsc_r83",
        "a page is what one index reaches, and -1 where nothing is reached through indices",
        "schema, section 3",
        Check::Derived(derived::pages_are_worked_out),
    ),
    rule(
        "sdsc_r84",
        "a layout class has the order of its first tensor",
        "schema, section 3",
        Check::Derived(derived::classes_have_the_order_of_their_first_tensor),
    ),
    rule(
        "sdsc_r85",
        "`memOrg_` names every memory that a tensor may be in, each present, and has the members of windows for windowed ops only",
        "schema, sections 6 and 9",
        Check::Derived(derived::memories_are_complete),
    ),
    rule(
        "sdsc_r86",
        "the inputs of an op are those of its family: a reduction lists its result as well",
        "schema, section 4",
        Check::Derived(derived::inputs_are_those_of_the_family),
    ),
    rule(
        "sdsc_r87",
        "a tensor with its gaps has the sizes of the kernel argument, or of the tensor in the pool, that it is in",
        "schema, section 3; project, `program.json`",
        Check::Derived(slices::sizes_are_those_of_the_argument),
    ),
    rule(
        "sdsc_r88",
        "a core reads from LX what one op wrote there for it: the same bytes, format and slice, and no live tensor is overwritten",
        "torch-spyre facts, A; project, `docs/reference/planner.md`",
        Check::Reading,
    ),
    rule("sdsc_r89", "what an op reads from the pool, an op before it wrote", "specification, `device_mem_allocate`", Check::Reading),
    rule(
        "sdsc_r90",
        "what a launch reads of a result or a shared buffer has been written before, and every result is written",
        "project, `program.json`",
        Check::Reading,
    ),
    rule("sdsc_r91", "arguments and constants are only read", "project, `program.json`", Check::Reading),
    rule(
        "sdsc_r92",
        "the shape, element type, format, device size, stride map and bytes of a tensor follow from each other",
        "project, `program.json`",
        Check::Reading,
    ),
    rule("sdsc_r93", "every tensor of a program has a name of its own", "project, `program.json`", Check::Reading),
    rule(
        "sdsc_r94",
        "a launch is given what its bundle uses, each once, and each tensor but an argument is given to a launch",
        "project, `program.json`",
        Check::Reading,
    ),
    rule("sdsc_r95", "`pool_bytes` is what the tensors of a pool need, and 0 without one", "project, `program.json`", Check::Reading),
    rule(
        "sdsc_r96",
        "an argument that is read as indices has a range, which is from 0 to a size of the tables it indexes, or of several dimensions of one in a row",
        "project, `program.json`",
        Check::Reading,
    ),
    rule(
        "sdsc_r97",
        "a shared buffer lives from the first to the last launch that is given it, and the region ends with the last buffer",
        "project, `program.json`",
        Check::Reading,
    ),
    rule(
        "sdsc_r99",
        "a tensor in a kernel argument has its format, but that indices are unsigned and integers are copied as floats",
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
        "the windows of cores, the padding and the parts of what is read through windows follow from the sizes and the strides",
        "schema, section 9",
        Check::Derived(windowed::what_goes_with_windows_is_worked_out),
    ),
    rule(
        "sdsc_r102",
        "an identity gives elements in the format in which it takes them; other functions convert",
        "schema, section 3",
        Check::File(layouts::an_identity_has_one_format),
    ),
    rule(
        "sdsc_r103",
        "a symbolic size has one maximum, one granularity and one name in the program, its tensors, its launches and their bundles",
        "project, `program.json`",
        Check::Reading,
    ),
];

const fn rule(label: &'static str, statement: &'static str, source: &'static str, check: Check) -> Rule {
    Rule { label, statement, source, check }
}

/// The rules as a table in Markdown, for `docs/reference/bundle-format.md`.
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
