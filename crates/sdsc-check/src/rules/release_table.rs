//! Table of the rules that came with release 1.0.0 and hold in the profiles that name them.

use super::release::{bundles, divisions, families, folds, formats, symbols, tensors, windows};
use super::{FormatRule, RuleCheck, launches};

/// Rules of the release. "Specification 1.0.0" is its text, "schema 1.0.0" its JSON Schema.
pub const RELEASE_RULES: &[FormatRule] = &[
    file_rule(
        "sdsc_r104",
        "a fold has a factor of at least 1, also along a dimension of less than a stick",
        "schema 1.0.0",
        tensors::check_positive_folds,
    ),
    file_rule(
        "sdsc_r105",
        "a description has at most eight tensors",
        "specification 1.0.0, validator",
        tensors::check_tensor_count,
    ),
    file_rule(
        "sdsc_r106",
        "each tensor has one node; names of nodes and tensors are unique, and `prev_` names another node",
        "specification 1.0.0, schedule tree",
        tensors::check_node_tensor_pairs,
    ),
    file_rule(
        "sdsc_r107",
        "the memory of a node is present in `memOrg_`, and only what is padded is padded with zeros",
        "specification 1.0.0, memory organization",
        tensors::check_memories_are_present,
    ),
    file_rule(
        "sdsc_r108",
        "operands are `<dsName_>-idx<ldsIdx_>` of tensors; index tensors are listed separately",
        "specification 1.0.0, compute operation",
        tensors::check_operand_names,
    ),
    file_rule(
        "sdsc_r109",
        "an index tensor is SENUINT32 or IEEE_INT32, and its type, if present, is `index` or `address`",
        "specification 1.0.0, index tensors",
        tensors::check_index_formats,
    ),
    file_rule(
        "sdsc_r110",
        "a schedule step names a data operation or a description that exists, and its barriers are 0 or 1; cores with one description have equal schedules",
        "specification 1.0.0, schedule",
        divisions::check_schedules,
    ),
    file_rule(
        "sdsc_r111",
        "`coreIdToDsc_` names descriptions, and `coreIdsUsed_` of a description are the cores that run it",
        "specification 1.0.0, SuperDsc",
        divisions::check_description_cores,
    ),
    file_rule(
        "sdsc_r112",
        "start addresses are one for each core, or one for all, over folds of cores, corelets and time",
        "specification 1.0.0, schedule tree",
        tensors::check_start_folds,
    ),
    file_rule(
        "sdsc_r113",
        "a coordinate has three spatial folds and as many folds of elements as it says, each with its function",
        "specification 1.0.0, coordinates",
        tensors::check_fold_counts,
    ),
    file_rule(
        "sdsc_r114",
        "a tensor is broadcast along all of its stick dimensions or along none",
        "specification 1.0.0, broadcast",
        families::check_stick_broadcasts,
    ),
    file_rule(
        "sdsc_r115",
        "input and result of a top-k have the same stick dimensions",
        "specification 1.0.0, top-k",
        families::check_top_k_sticks,
    ),
    file_rule(
        "sdsc_r116",
        "a restickify has tensors in DL16",
        "specification 1.0.0, data shuffle",
        families::check_restickify_format,
    ),
    file_rule(
        "sdsc_r117",
        "`maskingConstId_` is the number of a constant, or -1 if no points are masked",
        "specification 1.0.0, constants",
        families::check_mask_has_constant,
    ),
    file_rule(
        "sdsc_r118",
        "the function is one of the 80 of the release, or `shuffle`, an extension",
        "specification 1.0.0, supported functions; LX relayout contract",
        families::check_released_function,
    ),
    bundle_rule(
        "sdsc_r119",
        "each execute has a file of its own",
        "specification 1.0.0, `sdsc_execute`",
        bundles::check_files_run_once,
    ),
    bundle_rule(
        "sdsc_r120",
        "a shared file is executed with the same symbol ids",
        "torch-spyre pull request 3868",
        bundles::check_shared_file_symbols,
    ),
    file_rule(
        "sdsc_r121",
        "a symbolic size has negative ids, bounds that both stages of equal slices have, and a \
         granularity that its slices divide",
        "specification 1.0.0, symbolic sizes",
        symbols::check_symbolic_bounds,
    ),
    file_rule(
        "sdsc_r122",
        "a tensor that cores allocate separately in HBM has one start for each core",
        "specification 1.0.0, schedule tree",
        tensors::check_separate_tensor_starts,
    ),
    file_rule(
        "sdsc_r123",
        "stick dimensions are in the layout order; their sizes and replications are parallel to them",
        "schema 1.0.0; specification 1.0.0, layout classes",
        tensors::check_stick_dims_in_layout,
    ),
    bundle_rule(
        "sdsc_r124",
        "loop bounds are constants, and the step is positive",
        "specification 1.0.0, `scf.for`",
        bundles::check_constant_loop_bounds,
    ),
    bundle_rule(
        "sdsc_r125",
        "requests for memory are positive, and at most 15 GiB together",
        "specification 1.0.0, `device_mem_allocate`",
        bundles::check_request_sizes,
    ),
    bundle_rule(
        "sdsc_r126",
        "parameters are extracted outside loops",
        "specification 1.0.0, `input_arg_extract`",
        bundles::check_extract_positions,
    ),
    bundle_rule(
        "sdsc_r127",
        "a symbol of a map is defined outside all loops",
        "specification 1.0.0, `affine.apply`",
        bundles::check_invariant_map_symbols,
    ),
    file_rule(
        "sdsc_r128",
        "a schedule runs each data operation of `datadscs_`, which is empty with symbolic sizes only",
        "specification 1.0.0, SuperDsc",
        divisions::check_data_operations,
    ),
    file_rule("sdsc_r129", "a padding has one of the six names", "schema 1.0.0", tensors::check_padding_names),
    file_rule(
        "sdsc_r130",
        "padding of a dimension that is split over cores is -1 in the stages, and the total size is that of the windows",
        "specification 1.0.0, padding",
        windows::check_window_sizes,
    ),
    file_rule(
        "sdsc_r131",
        "a core has one corelet or two",
        "specification 1.0.0, guide",
        divisions::check_corelet_counts,
    ),
    file_rule(
        "sdsc_r132",
        "the parts of the cores make each dimension; `el_` is the part of the last slice, and at most `ss_`",
        "specification 1.0.0, work division",
        divisions::check_uneven_slices,
    ),
    file_rule(
        "sdsc_r133",
        "a constant is one bit pattern for all cores or one for each, in the bits of its format",
        "schema 1.0.0",
        families::check_constant_values,
    ),
    file_rule(
        "sdsc_r134",
        "nodes, units and fidelities have the names of the schema",
        "schema 1.0.0",
        families::check_keywords,
    ),
    file_rule("sdsc_r135", "numbers have the range of the schema", "schema 1.0.0", divisions::check_number_ranges),
    bundle_rule(
        "sdsc_r155",
        "loops run from 0 with step 1 to a positive constant, or from 0 to a symbolic size by a step that divides it",
        "torch-spyre facts, loop counts that are known at launch",
        launches::check_sized_loops,
    ),
    FormatRule {
        label: SYMBOLIC_SPACE_LABEL,
        statement: "the size of a symbolic dimension is -1 in `N_`",
        source: "specification 1.0.0, symbolic sizes",
        check: RuleCheck::Reading,
    },
    file_rule(
        "sdsc_r157",
        "if cores divide a symbolic size, the starts of its tensors in HBM are symbols, whose values are offsets \
         from buffers",
        "specification 1.0.0, symbolic sizes",
        symbols::check_symbolic_starts,
    ),
    file_rule(
        "sdsc_r158",
        "a coordinate has affine folds `core_fold`, `corelet_fold`, `row_fold` and `elem_arr_<k>`: one of elements \
         beside the stick, and one of sticks and one of elements along it",
        "specification 1.0.0, coordinates",
        folds::check_fold_structure,
    ),
    file_rule(
        "sdsc_r159",
        "the product of the folds of a dimension is its size, where a partly filled stick counts, and slices are \
         adjacent; a tensor without the dimension has one row or one stick of it",
        "specification 1.0.0, coordinates",
        folds::check_fold_products,
    ),
    file_rule(
        "sdsc_r160",
        "folds over cores, corelets and time have these labels, once each, and the factors of the op; listed values \
         are those of the functions, and constants are equal on corelets",
        "specification 1.0.0, FoldProperty and FoldManager; schema 1.0.0",
        folds::check_outer_folds,
    ),
    file_rule(
        "sdsc_r161",
        "inputs and result have number formats that the release has for the function",
        "specification 1.0.0, supported functions",
        formats::check_function_formats,
    ),
    file_rule(
        "sdsc_r162",
        "the result of a conversion has the sticks of its function: one dimension, blocks of rows, or pieces of two \
         rows",
        "specification 1.0.0, stick constraints",
        formats::check_conversion_sticks,
    ),
    file_rule(
        "sdsc_r163",
        "operands of matmuls and convolutions have the sticks of their number formats",
        "specification 1.0.0, stick constraints",
        formats::check_product_sticks,
    ),
    file_rule(
        "sdsc_r164",
        "only windowed functions have windows, which run along `i` and `j` and have the points of `ki` and `kj`",
        "specification 1.0.0, padding",
        windows::check_window_dims,
    ),
    file_rule(
        "sdsc_r165",
        "unneeded points are fewer than the stride, and are taken from the back padding, then from the data, then \
         from the front padding",
        "specification 1.0.0, padding",
        windows::check_unneeded_points,
    ),
    file_rule(
        "sdsc_r166",
        "the windows of a core have the steps of those of the op, and their paddings along dimensions that are not \
         split",
        "specification 1.0.0, padding",
        windows::check_stage_windows,
    ),
    file_rule(
        "sdsc_r167",
        "starts in LX are numbers, and multiples of a stick",
        "specification 1.0.0, schedule tree",
        tensors::check_lx_starts,
    ),
    bundle_rule(
        "sdsc_r168",
        "the function of `bundle.mlir` is in a module",
        "specification 1.0.0, bundle container",
        bundles::check_module,
    ),
    file_rule(
        "sdsc_r193",
        "splits over corelets, rows and units, and bounds of products of sizes, are of dimensions of the op; bounds \
         are positive",
        "schema 1.0.0",
        divisions::check_split_dims,
    ),
    file_rule(
        "sdsc_r194",
        "an entry of `maxDimSizes_` is -1, or at least the points of a core and at most those of the tensor; a page \
         has at least one position",
        "schema 1.0.0",
        tensors::check_maximum_sizes,
    ),
];

/// Label of the rule on symbolic sizes that is checked before a reader replaces them by their maxima.
pub(in super::super) const SYMBOLIC_SPACE_LABEL: &str = "sdsc_r156";

const fn file_rule(
    label: &'static str,
    statement: &'static str,
    source: &'static str,
    check: fn(&super::super::file_view::FileView<'_>, &mut super::super::report::ViolationReport),
) -> FormatRule {
    FormatRule { label, statement, source, check: RuleCheck::File(check) }
}

const fn bundle_rule(
    label: &'static str,
    statement: &'static str,
    source: &'static str,
    check: fn(&super::launches::BundleView<'_>, &mut super::super::report::ViolationReport),
) -> FormatRule {
    FormatRule { label, statement, source, check: RuleCheck::Bundle(check) }
}
