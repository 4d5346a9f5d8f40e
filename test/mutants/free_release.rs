//! Fields without a meaning in release 1.0.0: optional members whose absence has the meaning of their value, and
//! members that the specification leaves open.

use crate::mutants::free::{
    MemberChange, UncheckedField, any_change, is_missing, is_swap, keeps_number, missing, to_number,
};
use sdsc_format::Sdsc;
use serde_json::Value;

const SCHEMA: &str = "schema 1.0.0";
const SPECIFICATION: &str = "specification 1.0.0";

pub(crate) const RELEASE_FIELDS: &[UncheckedField] = &[
    default("sdscFoldProps_", "without time folds, an op runs once"),
    default("sdscFolds_", "without time folds, an op runs once"),
    default("numWkSlicesPerDim_", "slice counts are sizes divided by those of a core"),
    default("dscs_/numCoreletsUsed_", "the default is 1"),
    default("dscs_/maskingConstId_", "the default is -1: no mask"),
    default("dscs_/coordinateMasking_", "the default is no mask"),
    default("dscs_/constantInfo_", "the default is no constant"),
    default("dscs_/computeOp_/attributes_*", "an op computes in the format of its first tensor, with regular fidelity"),
    default("dscs_/labeledDs_/scale_", "the default is 1 for each dimension"),
    default("dscs_/labeledDs_/wordLength", "follows from `dataFormat_`"),
    default("dscs_/scheduleTree_/ldsIdx_", "the default is the position of the node"),
    default("dscs_/scheduleTree_/component_", "the default is the memory that is present"),
    default("dscs_/scheduleTree_/indirectAllocType_", "the default is `no_indirection`"),
    default("dscs_/scheduleTree_/layoutDimOrder_", "the default is the order of the layout class"),
    default("dscs_/scheduleTree_/maxDimSizes_", "the default is -1 for each dimension: no bound"),
    missing("dscs_/dataStageParam_", "sizes of a core are sizes divided by slice counts", SCHEMA),
    UncheckedField {
        which: ", an empty object or a name is missing",
        when: |change| removes_empty(change) || (is_missing(change) && change.place.ends_with("/name_")),
        ..any_change("dscs_/dataStageParam_/*", "all members but sizes are optional", SCHEMA)
    },
    any_change("dscs_/N_/name_", "any text; no other member refers to the name", SCHEMA),
    UncheckedField {
        which: ", missing",
        when: removes_empty,
        ..any_change("datadscs_", "an empty list names no data operation", SCHEMA)
    },
    UncheckedField {
        which: ", missing",
        when: removes_empty,
        ..any_change("dimToSymbolMappingOpcodeCorrection_", "an empty object corrects no symbol", SCHEMA)
    },
    any_change("symbolDefinitions_", "the contents are not specified", SCHEMA),
    UncheckedField {
        which: ", missing where it is not present",
        when: |change| is_missing(change) && present_flag(change) == Some(0),
        ..any_change("dscs_/labeledDs_/memOrg_/lx", "a memory without an entry is not present", SPECIFICATION)
    },
    any_change(
        "dscs_/labeledDs_/memOrg_/lx/isPresent",
        "a tensor may be in both memories; `component_` is the memory that the op uses",
        SCHEMA,
    ),
    UncheckedField {
        which: ", missing or without members",
        when: |change| matches!(change.kind, "dropped" | "emptied"),
        ..any_change("dscs_/scheduleTree_/coordinates_", "the folds follow from sizes and slices", SCHEMA)
    },
    missing("dscs_/scheduleTree_/coordinates_/coordInfo", "the folds follow from sizes and slices", SCHEMA),
    missing(
        "dscs_/scheduleTree_/coordinates_/coreIdToWkSlice_",
        "only the tensors of shuffles have slices of their own",
        SCHEMA,
    ),
    UncheckedField {
        which: ", order",
        when: is_swap,
        ..any_change("dscs_/coreIdsUsed_", "a set of cores; maps have their numbers as keys", SCHEMA)
    },
    any_change("dscs_/computeOp_/exUnit", "no source of the release says which unit a function has", SPECIFICATION),
    any_change("dscs_/computeOp_/attributes_/fidelity_", "no source says how the results differ", SCHEMA),
    any_change("coreletFoldProp_/factor_", CORELETS, SPECIFICATION),
    any_change("dscs_/numCoreletsUsed_", CORELETS, SPECIFICATION),
    UncheckedField {
        which: ", order, if each node has an order",
        when: |change| is_swap(change) && each_node_has_order(change),
        ..any_change(
            "dscs_/primaryDsInfo_/<class>/layoutDimOrder_",
            "the order of a node replaces that of its class",
            SCHEMA,
        )
    },
    any_change("dscs_/scheduleTree_/name_", "any text that is unique; no other member has the name", SCHEMA),
    UncheckedField {
        which: ", number for its text",
        when: keeps_number,
        ..any_change("dscs_/scheduleTree_/startAddressCoreCorelet_/data_*", "a start is a number or its text", SCHEMA)
    },
    single_positions("dscs_/scheduleTree_/coordinates_/coordInfo/<dim>/folds/dim_prop_func*"),
    single_positions("sdscFolds_/dim_prop_func*"),
    UncheckedField {
        which: ", missing or empty",
        when: |change| matches!(change.kind, "dropped" | "emptied"),
        ..any_change("sdscFolds_/data_*", "only `Map` and `Const` need listed values", SCHEMA)
    },
    UncheckedField {
        which: ", position and number of the result",
        when: keeps_operands,
        ..any_change(
            "dscs_/computeOp_/inputLabeledDs",
            "a reduction has one operand; torch-spyre lists the result, too",
            SPECIFICATION,
        )
    },
    UncheckedField {
        which: ", order of the operands of a commutative function",
        when: |change| is_swap(change) && is_commutative(change),
        ..any_change("dscs_/computeOp_/inputLabeledDs", "the order does not affect the result", SPECIFICATION)
    },
    UncheckedField {
        which: ", of a mask, another number of at least 2^31",
        when: keeps_large_mask,
        ..any_change(
            "dscs_/constantInfo_/<n>/data_/data_/<core>",
            "masked points of a minimum or maximum have any number beyond those of the tensor",
            SPECIFICATION,
        )
    },
    any_change(
        "slices and addresses of two cores",
        "each core may compute any slice, and has a start of its own",
        SPECIFICATION,
    ),
];

const CORELETS: &str = "1 or 2, on which sources disagree; results do not depend on the number";

/// Returns the entry of a member whose default is its value.
const fn default(field: &'static str, reason: &'static str) -> UncheckedField {
    UncheckedField { which: ", missing or empty", when: has_same_meaning, ..any_change(field, reason, SCHEMA) }
}

const fn single_positions(field: &'static str) -> UncheckedField {
    UncheckedField {
        which: ", of folds with one position",
        when: keeps_used_steps,
        ..any_change(field, "the only position of a fold is 0, so its step has no effect", SCHEMA)
    }
}

/// Returns whether a member is removed or emptied, and a reader that fills in the defaults reads the same file.
fn has_same_meaning(change: &MemberChange<'_>) -> bool {
    let read = |file: &Value| {
        let mut file: Sdsc = serde_json::from_value(file.clone()).ok()?;
        file.value.complete();
        Some(file)
    };
    matches!(change.kind, "dropped" | "emptied") && read(&change.before) == read(&change.after)
}

fn removes_empty(change: &MemberChange<'_>) -> bool {
    let is_empty = |value: &Value| *value == serde_json::json!({}) || *value == serde_json::json!([]);
    is_missing(change) && change.before.pointer(change.place).is_some_and(is_empty)
}

fn present_flag(change: &MemberChange<'_>) -> Option<i64> {
    change.before.pointer(&format!("{}/isPresent", change.place))?.as_i64()
}

fn each_node_has_order(change: &MemberChange<'_>) -> bool {
    let dsc = change.place.split_once("/primaryDsInfo_").and_then(|(dsc, _)| change.before.pointer(dsc));
    let nodes = dsc.and_then(|dsc| dsc["scheduleTree_"].as_array());
    nodes.is_some_and(|nodes| nodes.iter().all(|node| node.get("layoutDimOrder_").is_some()))
}

/// Returns whether the functions of all folds with several positions stay, and no fold gets another start.
fn keeps_used_steps(change: &MemberChange<'_>) -> bool {
    let Some((manager, _)) = change.place.split_once("/dim_prop_func") else { return false };
    let list = |file: &Value, member| file.pointer(&format!("{manager}/{member}")).and_then(Value::as_array).cloned();
    let lists = (
        list(&change.before, "dim_prop_func"),
        list(&change.after, "dim_prop_func"),
        list(&change.before, "dim_prop_attr"),
    );
    let (Some(before), Some(after), Some(folds)) = lists else { return false };
    let is_unused = |fold: &Value| fold["factor_"] == 1;
    before.len() == after.len()
        && before.iter().zip(&after).zip(folds).all(|((before, after), fold)| {
            before == after || (is_unused(&fold) && before["Affine"]["beta_"] == after["Affine"]["beta_"])
        })
}

/// Returns whether the inputs other than the result stay.
fn keeps_operands(change: &MemberChange<'_>) -> bool {
    let Some((compute, _)) = change.place.split_once("/inputLabeledDs") else { return false };
    let list = |file: &Value, member| file.pointer(&format!("{compute}/{member}")).and_then(Value::as_array).cloned();
    let results = list(&change.before, "outputLabeledDs").unwrap_or_default();
    let operands = |file: &Value| {
        let inputs = list(file, "inputLabeledDs").unwrap_or_default().into_iter();
        inputs.filter(|input| !results.contains(input)).collect::<Vec<_>>()
    };
    operands(&change.before) == operands(&change.after)
}

/// Returns whether the function of a compute operation gives the same result for operands in any order.
fn is_commutative(change: &MemberChange<'_>) -> bool {
    let compute = change.place.split_once("/inputLabeledDs").and_then(|(compute, _)| change.before.pointer(compute));
    let function = compute.and_then(|compute| compute["opFuncName"].as_str());
    function.is_some_and(|function| ["add", "mul", "maximum", "minimum", "equal", "notequal"].contains(&function))
}

/// Returns whether a constant of a mask keeps its sign, and an exponent of at least 31 in 16 bits.
fn keeps_large_mask(change: &MemberChange<'_>) -> bool {
    /// Sign and upper five of the six bits of the exponent.
    const LARGE: i64 = 0xfc00;
    let Some((constant, _)) = change.place.split_once("/data_/data_") else { return false };
    let bits = [&change.before, &change.after].map(|file| to_number(file.pointer(change.place)));
    let is_mask = change.before.pointer(&format!("{constant}/name_")).is_some_and(|name| name == "samv-maskvalue");
    let [Some(before), Some(after)] = bits else { return false };
    is_mask && (0..=0xffff).contains(&after) && before & LARGE == after & LARGE && after & 0x7c00 == 0x7c00
}
