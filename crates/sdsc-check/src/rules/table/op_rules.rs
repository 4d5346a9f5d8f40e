//! Rules on the sizes, layouts, tensors, function family and constants of an op.

use super::rule;
use crate::rules::{FormatRule, RuleCheck, constants, coordinates, families, layouts, sizes, tensors};

/// Rules `sdsc_r28` to `sdsc_r63`.
pub(super) const OP_RULES: &[FormatRule] = &[
    rule(
        "sdsc_r28",
        "sizes, stages, slices, layouts, masks and symbols refer to dimensions of the iteration space",
        "specification, step 4; schema, section 6",
        RuleCheck::File(sizes::check_dims),
    ),
    rule(
        "sdsc_r29",
        "slice counts divide the sizes: the size of a slice times the slice count is the size of the dimension",
        "schema, section 10",
        RuleCheck::File(sizes::check_slice_divisibility),
    ),
    rule(
        "sdsc_r30",
        "the members `ss_` and `el_` are equal",
        "schema, section 10",
        RuleCheck::File(sizes::check_equal_stages),
    ),
    rule(
        "sdsc_r31",
        "a slice of a data tensor consists of complete sticks; a slice of an index tensor consists of complete sticks or is smaller than one stick",
        "specification, core work division",
        RuleCheck::File(sizes::check_stick_alignment),
    ),
    rule(
        "sdsc_r32",
        "a core addresses at most 65535 x 4096 bytes of a tensor in HBM",
        "specification, core work division; torch-spyre facts, A",
        RuleCheck::File(sizes::check_addressable_spans),
    ),
    rule(
        "sdsc_r33",
        "a layout class has a known name, dimensions and stick dimensions",
        "specification, step 5; schema, section 3",
        RuleCheck::File(layouts::check_classes),
    ),
    rule(
        "sdsc_r34",
        "tensors are numbered, and each has one node and one description",
        "specification, steps 6 and 7",
        RuleCheck::File(tensors::check_tensor_numbers),
    ),
    rule(
        "sdsc_r35",
        "every tensor has a layout class, and every class is used by a tensor",
        "specification, step 7",
        RuleCheck::File(layouts::check_tensor_classes),
    ),
    rule(
        "sdsc_r36",
        "order, scales, pages and coordinates of a tensor have the dimensions of its layout class",
        "schema, section 10",
        RuleCheck::File(layouts::check_class_dims),
    ),
    rule(
        "sdsc_r37",
        "`component_`, the name of the node and `memOrg_` name the same memory",
        "specification, step 7; schema, section 6",
        RuleCheck::File(tensors::check_memory_agreement),
    ),
    rule(
        "sdsc_r38",
        "formats are known and `wordLength` is their width",
        "schema, section 6; torch-spyre facts, A",
        RuleCheck::File(layouts::check_format_widths),
    ),
    rule("sdsc_r39", "a stick has 128 bytes", "torch-spyre facts, A", RuleCheck::File(layouts::check_stick_bytes)),
    rule(
        "sdsc_r40",
        "the op and its constants have the format of the first tensor that is not an index tensor",
        "schema, section 5",
        RuleCheck::File(layouts::check_op_format),
    ),
    rule(
        "sdsc_r41",
        "scales are 1 or -1, or -2 along the stick",
        "specification, step 7",
        RuleCheck::File(layouts::check_scales),
    ),
    rule(
        "sdsc_r42",
        "coordinates have folds for cores, corelets, rows and elements, and separate folds for sticks",
        "schema, section 6; specification, step 6",
        RuleCheck::File(coordinates::check_fold_structure),
    ),
    rule(
        "sdsc_r43",
        "the product of the folds of a dimension is its size, with the slices of the op or of the owner of the tensor",
        "schema, section 10",
        RuleCheck::File(coordinates::check_fold_sizes),
    ),
    rule(
        "sdsc_r44",
        "back gaps are positive and given for core -1 in HBM and for every core in LX",
        "specification, step 6",
        RuleCheck::File(coordinates::check_gap_positions),
    ),
    rule(
        "sdsc_r45",
        "the operands of the compute operation are tensors of the file, and the result is the last tensor",
        "specification, step 9; schema, section 6",
        RuleCheck::File(tensors::check_operands),
    ),
    rule(
        "sdsc_r46",
        "the compute operation lists index tensors separately from its inputs",
        "schema, section 6",
        RuleCheck::File(tensors::check_index_tensor_list),
    ),
    rule(
        "sdsc_r47",
        "index tensors are SENUINT32 and in HBM",
        "schema, sections 3 and 6",
        RuleCheck::File(tensors::check_index_tensor_format),
    ),
    rule(
        "sdsc_r48",
        "an index tensor and the tensor that it indexes refer to each other by their kinds",
        "specification, step 6",
        RuleCheck::File(tensors::check_indirect_access),
    ),
    rule(
        "sdsc_r49",
        "only indexed tensors have page sizes",
        "schema, section 3",
        RuleCheck::File(tensors::check_page_access),
    ),
    rule(
        "sdsc_r50",
        "a matmul has one contracted dimension (K), at most one generated dimension (N), at most two preserved dimensions (M), and at most two dimensions that all tensors have (batch)",
        "specification, batched matmul",
        RuleCheck::File(families::check_matmul_dims),
    ),
    rule(
        "sdsc_r51",
        "in a matmul, K is the stick dimension of the first input, and N is that of the second input and of the result",
        "specification, batched matmul",
        RuleCheck::File(families::check_matmul_sticks),
    ),
    rule(
        "sdsc_r52",
        "a stick reduction reduces the only stick dimension",
        "specification, reduction",
        RuleCheck::File(families::check_stick_reduction),
    ),
    rule(
        "sdsc_r53",
        "a nonstick reduction reduces no stick dimension",
        "specification, reduction",
        RuleCheck::File(families::check_nonstick_reduction),
    ),
    rule(
        "sdsc_r54",
        "at most one reduced dimension is split",
        "specification, core work division",
        RuleCheck::File(families::check_split_reduction),
    ),
    rule(
        "sdsc_r55",
        "neither the searched dimension nor the result dimension of a top-k is a stick dimension",
        "specification, scan",
        RuleCheck::File(families::check_top_k_stick),
    ),
    rule(
        "sdsc_r56",
        "the sticks of a restickify have one dimension each",
        "specification, stick altering data shuffle",
        RuleCheck::File(families::check_restickify_sticks),
    ),
    rule(
        "sdsc_r57",
        "all tensors of an elementwise function have the same stick dimensions",
        "specification, unary and broadcast",
        RuleCheck::File(families::check_elementwise_sticks),
    ),
    rule(
        "sdsc_r58",
        "a stick dimension that no tensor has is exactly one stick long",
        "specification, unary and broadcast",
        RuleCheck::File(families::check_absent_sticks),
    ),
    rule(
        "sdsc_r59",
        "only windowed functions have windows; a window dimension is not a stick dimension and is not split, and the input has the extent that the window implies",
        "specification, pooling; schema, section 9",
        RuleCheck::File(families::check_window_dims),
    ),
    rule(
        "sdsc_r60",
        "a mask is one pair of a number of valid points and a number of padding points, whose sum is the size; a masked and reduced dimension is not split",
        "schema, section 4; torch-spyre facts, D.6",
        RuleCheck::File(constants::check_mask_coverage),
    ),
    rule(
        "sdsc_r61",
        "`maskingConstId_` is the number of `samv-maskvalue`, or -1 without a mask",
        "schema, section 6",
        RuleCheck::File(constants::check_mask_constant),
    ),
    rule(
        "sdsc_r62",
        "an op has exactly the constants that its function needs",
        "specification, supported functions; schema, section 4",
        RuleCheck::File(constants::check_function_constants),
    ),
    rule(
        "sdsc_r63",
        "a constant is one bit pattern of its format",
        "specification, step 8",
        RuleCheck::File(constants::check_constant_bits),
    ),
];
