//! Table of the rules that came with release 1.0.0 and hold in the profiles that name them.

use super::release::{bundles, divisions, families, tensors};
use super::{Check, Rule};

/// The rules of the release. "Specification 1.0.0" is its text, "schema 1.0.0" its JSON Schema.
pub const RELEASE_RULES: &[Rule] = &[
    file(
        "sdsc_r104",
        "a fold has a factor of at least 1, also along a dimension of less than a stick",
        "schema 1.0.0",
        tensors::folds_are_positive,
    ),
    file("sdsc_r105", "a description has at most eight tensors", "specification 1.0.0, validator", tensors::tensors_fit_the_segments),
    file(
        "sdsc_r106",
        "each tensor has one node; names of nodes and tensors are unique, and `prev_` names another node",
        "specification 1.0.0, schedule tree",
        tensors::nodes_and_tensors_are_paired,
    ),
    file(
        "sdsc_r107",
        "the memory of a node is present in `memOrg_`, and only what is padded is padded with zeros",
        "specification 1.0.0, memory organization",
        tensors::memories_are_present,
    ),
    file(
        "sdsc_r108",
        "operands are `<dsName_>-idx<ldsIdx_>` of tensors; index tensors are listed separately",
        "specification 1.0.0, compute operation",
        tensors::operands_are_named,
    ),
    file(
        "sdsc_r109",
        "an index tensor is SENUINT32 or IEEE_INT32 and has a type, `index` or `address`",
        "specification 1.0.0, index tensors",
        tensors::indices_are_integers,
    ),
    file(
        "sdsc_r110",
        "a schedule step names a data operation or a description that exists, and its barriers are 0 or 1; cores with one description have equal schedules",
        "specification 1.0.0, schedule",
        divisions::schedules_are_legal,
    ),
    file(
        "sdsc_r111",
        "`coreIdToDsc_` names descriptions, and `coreIdsUsed_` of a description are the cores that run it",
        "specification 1.0.0, SuperDsc",
        divisions::descriptions_have_their_cores,
    ),
    file(
        "sdsc_r112",
        "start addresses are one for each core, or one for all, over folds of cores, corelets and time",
        "specification 1.0.0, schedule tree",
        tensors::starts_are_over_cores,
    ),
    file(
        "sdsc_r113",
        "a coordinate has three spatial folds and as many folds of elements as it says, each with its function",
        "specification 1.0.0, coordinates",
        tensors::coordinates_count_their_folds,
    ),
    file(
        "sdsc_r114",
        "a tensor is broadcast along all of its stick dimensions or along none",
        "specification 1.0.0, broadcast",
        families::sticks_are_broadcast_together,
    ),
    file(
        "sdsc_r115",
        "input and result of a top-k have the same stick dimensions",
        "specification 1.0.0, top-k",
        families::top_k_keeps_the_sticks,
    ),
    file("sdsc_r116", "a restickify has tensors in DL16", "specification 1.0.0, data shuffle", families::restickify_is_in_dl16),
    file(
        "sdsc_r117",
        "`maskingConstId_` is -1 or the number of a constant",
        "specification 1.0.0, constants",
        families::mask_has_a_constant,
    ),
    file(
        "sdsc_r118",
        "the function is one of the 80 of the release",
        "specification 1.0.0, supported functions",
        families::function_is_released,
    ),
    bundle("sdsc_r119", "each execute has a file of its own", "specification 1.0.0, `sdsc_execute`", bundles::files_run_once),
    bundle(
        "sdsc_r120",
        "a shared file is executed with the same symbol ids, in the same kernel arguments",
        "torch-spyre pull request 3868",
        bundles::shared_files_keep_their_symbols,
    ),
    file(
        "sdsc_r121",
        "a symbolic size has negative ids, bounds, and a granularity that its slices divide",
        "specification 1.0.0, symbolic sizes",
        divisions::symbolic_sizes_have_bounds,
    ),
    file(
        "sdsc_r122",
        "a tensor that cores allocate separately in HBM has one start for each core",
        "specification 1.0.0, schedule tree",
        tensors::separate_tensors_have_starts,
    ),
    file(
        "sdsc_r123",
        "stick dimensions are in the layout order; their sizes and replications are parallel to them",
        "schema 1.0.0; specification 1.0.0, layout classes",
        tensors::sticks_are_in_the_layout,
    ),
    bundle(
        "sdsc_r124",
        "loop bounds are constants, and the step is positive",
        "specification 1.0.0, `scf.for`",
        bundles::loops_have_constant_bounds,
    ),
    bundle(
        "sdsc_r125",
        "requests for memory are positive, and at most 15 GiB together",
        "specification 1.0.0, `device_mem_allocate`",
        bundles::requests_fit,
    ),
    bundle(
        "sdsc_r126",
        "parameters are extracted outside loops",
        "specification 1.0.0, `input_arg_extract`",
        bundles::extracts_are_outside_loops,
    ),
    bundle(
        "sdsc_r127",
        "a symbol of a map is defined outside all loops",
        "specification 1.0.0, `affine.apply`",
        bundles::map_symbols_are_invariant,
    ),
    file(
        "sdsc_r128",
        "a schedule runs each data operation of `datadscs_`, which is empty with symbolic sizes only",
        "specification 1.0.0, SuperDsc",
        divisions::data_operations_are_run,
    ),
    file("sdsc_r129", "a padding has one of the six names", "schema 1.0.0", tensors::paddings_are_named),
    file(
        "sdsc_r130",
        "padding of a dimension that is split over cores is -1 in the stages, and the total size is that of the windows",
        "specification 1.0.0, padding",
        divisions::windows_are_consistent,
    ),
    file("sdsc_r131", "a core has one corelet or two", "specification 1.0.0, guide", divisions::corelets_are_one_or_two),
    file("sdsc_r132", "the parts of the cores make each dimension", "specification 1.0.0, work division", divisions::parts_make_the_whole),
    file(
        "sdsc_r133",
        "a constant is one bit pattern for all cores or one for each, in the bits of its format",
        "schema 1.0.0",
        families::constants_have_bits,
    ),
    file("sdsc_r134", "nodes, units and fidelities have the names of the schema", "schema 1.0.0", families::words_are_known),
    file("sdsc_r135", "numbers have the range of the schema", "schema 1.0.0", divisions::numbers_are_in_range),
];

const fn file(
    label: &'static str,
    statement: &'static str,
    source: &'static str,
    check: fn(&super::super::file_view::FileView<'_>, &mut super::super::report::Report),
) -> Rule {
    Rule { label, statement, source, check: Check::File(check) }
}

const fn bundle(
    label: &'static str,
    statement: &'static str,
    source: &'static str,
    check: fn(&super::launches::BundleView<'_>, &mut super::super::report::Report),
) -> Rule {
    Rule { label, statement, source, check: Check::Bundle(check) }
}
