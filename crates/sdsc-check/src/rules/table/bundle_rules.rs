//! Table of the rules on `bundle.mlir`, launches and symbols, and on the name, execution unit and cores of an op.

use super::rule;
use crate::rules::{FormatRule, RuleCheck, cores, identity, launches, symbols};

/// Rules `sdsc_r1` to `sdsc_r27`.
pub(super) const BUNDLE_RULES: &[FormatRule] = &[
    rule(
        "sdsc_r1",
        "`bundle.mlir` is one function with the statements of a bundle",
        "specification, bundle container; torch-spyre facts, D.10",
        RuleCheck::Reading,
    ),
    rule(
        "sdsc_r2",
        "an SDSC file is JSON with the members of the format, each of its type",
        "schema, section 6",
        RuleCheck::Reading,
    ),
    rule(
        "sdsc_r3",
        "`program.json` has its members, its launches name bundles and tensors that exist, and only integer arguments are indices",
        "project, `program.json`",
        RuleCheck::Reading,
    ),
    rule("sdsc_r4", "a file has one description of one operation", "schema, section 6", RuleCheck::Reading),
    rule(
        "sdsc_r5",
        "every executed SDSC file is in the folder of `bundle.mlir`",
        "specification, `sdsc_execute`",
        RuleCheck::Bundle(launches::check_files_are_present),
    ),
    rule(
        "sdsc_r6",
        "every SDSC file of the directory is executed",
        "torch-spyre facts, D",
        RuleCheck::Bundle(launches::check_files_are_executed),
    ),
    rule(
        "sdsc_r7",
        "a file that is executed again has the same symbols with the same values",
        "specification, `sdsc_execute`",
        RuleCheck::Bundle(launches::check_repeated_files),
    ),
    rule(
        "sdsc_r8",
        "values and maps are defined once, before they are used",
        "torch-spyre facts, D.10",
        RuleCheck::Bundle(launches::check_definitions),
    ),
    rule(
        "sdsc_r9",
        "values have the kind that their use requires: parameters are extracted before use, and maps get the right number of operands",
        "specification, `input_arg_extract` and `affine.apply`",
        RuleCheck::Bundle(launches::check_value_kinds),
    ),
    rule(
        "sdsc_r10",
        "an address is the sum of one base and a byte offset, which consists of constants and multiples of loop counters",
        "specification, `arith.addi` and `affine.apply`",
        RuleCheck::Bundle(launches::check_linear_addresses),
    ),
    rule(
        "sdsc_r11",
        "pools are allocated outside loops, have a positive size and at most 14 GiB together",
        "specification, `device_mem_allocate`; schema, section 8",
        RuleCheck::Bundle(launches::check_pools),
    ),
    rule(
        "sdsc_r12",
        "loops run from 0 with step 1 to a positive constant",
        "specification, `scf.for`; schema, section 8",
        RuleCheck::Bundle(launches::check_loops),
    ),
    rule(
        "sdsc_r13",
        "an execute has one operand per symbol id",
        "specification, `sdsc_execute`",
        RuleCheck::Bundle(launches::check_operand_ids),
    ),
    rule(
        "sdsc_r14",
        "symbol ids are negative, and each denotes one value in the bundle",
        "specification, `sdsc_execute`",
        RuleCheck::Bundle(launches::check_unique_ids),
    ),
    rule(
        "sdsc_r15",
        "symbol ids are consecutive over the bundle, except for bases of arguments of which only slices are used",
        "schema, sections 7 and 10",
        RuleCheck::Bundle(launches::check_consecutive_ids),
    ),
    rule(
        "sdsc_r16",
        "a file uses exactly the symbols of its execute",
        "schema, section 10",
        RuleCheck::File(symbols::check_symbol_values),
    ),
    rule(
        "sdsc_r17",
        "an execute lists symbols in the order of its file: sizes, then addresses by tensor and core",
        "schema, section 8",
        RuleCheck::File(symbols::check_symbol_order),
    ),
    rule(
        "sdsc_r18",
        "the name of the operation contains the number of the file and the function, which are also those of the description and of the compute operation",
        "schema, sections 6 and 10",
        RuleCheck::File(identity::check_names),
    ),
    rule(
        "sdsc_r19",
        "the device has the function",
        "specification, supported functions",
        RuleCheck::File(identity::check_function),
    ),
    rule(
        "sdsc_r20",
        "matmuls and convolutions run on the unit `pt`, all other functions on `sfp`",
        "schema, section 5",
        RuleCheck::File(identity::check_unit),
    ),
    rule(
        "sdsc_r21",
        "members with one legal value have this value",
        "schema, section 6",
        RuleCheck::File(identity::check_fixed_members),
    ),
    rule(
        "sdsc_r22",
        "all core counts of a file are equal, and between 1 and the number of cores of the machine; a shuffle may use fewer than it counts",
        "schema, section 10",
        RuleCheck::File(cores::check_core_counts),
    ),
    rule(
        "sdsc_r23",
        "every list and map over cores contains each core once; torch-spyre lists cores from 0 in order; a shuffle lists the cores that it uses",
        "schema, section 10",
        RuleCheck::File(cores::check_core_lists),
    ),
    rule(
        "sdsc_r24",
        "folds of addresses and constants cover the cores of the op",
        "schema, sections 6 and 10",
        RuleCheck::File(cores::check_core_folds),
    ),
    rule(
        "sdsc_r25",
        "the product of the slice counts of all dimensions is the number of cores, except in a shuffle",
        "schema, sections 5 and 10",
        RuleCheck::File(cores::check_slice_counts),
    ),
    rule(
        "sdsc_r26",
        "every core has a slice of every dimension, and its number is below the slice count",
        "specification, step 2",
        RuleCheck::File(cores::check_slot_ranges),
    ),
    rule(
        "sdsc_r27",
        "no two cores compute the same slices, except in a shuffle",
        "schema, section 5",
        RuleCheck::File(cores::check_distinct_slots),
    ),
];
