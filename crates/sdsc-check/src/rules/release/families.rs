//! Rules of the release on functions, constants and names.

use super::super::super::file_view::{FileView, TensorView};
use super::super::super::functions::FunctionFamily;
use super::super::super::report::ViolationReport;
use sdsc_format::model::{ConstantBits, FoldFunction, number_format_bits};

/// Functions of torch-spyre that are not among the 80 of the release, except the shuffle, which is a named extension.
const UNRELEASED_FUNCTIONS: [&str; 3] = ["greaterthan", "lesserthan", "prodnonstick"];

pub(in super::super) fn check_stick_broadcasts(file: &FileView<'_>, report: &mut ViolationReport) {
    if file.family != FunctionFamily::Elementwise {
        return;
    }
    for tensor in file.data_tensors() {
        let present = tensor.stick().iter().filter(|label| tensor.has_dim(label)).count();
        if present != 0 && present != tensor.stick().len() {
            let message =
                format!("{present} of the {} stick dimensions are broadcast; all are, or none", tensor.stick().len());
            report.report_json(file.tensor_member_path(tensor.index, "scale_"), message);
        }
    }
}

pub(in super::super) fn check_top_k_sticks(file: &FileView<'_>, report: &mut ViolationReport) {
    let tensors: Vec<TensorView<'_>> = file.data_tensors().collect();
    let (FunctionFamily::TopK, [input, .., result]) = (file.family, tensors.as_slice()) else { return };
    if input.stick() != result.stick() {
        let message = format!(
            "sticks along {:?} where the input has {:?}; a top-k keeps its sticks",
            result.stick(),
            input.stick()
        );
        report.report_json(
            file.dsc_member_path(&format!("primaryDsInfo_/{}/stickDimOrder_", result.info.class)),
            message,
        );
    }
}

pub(in super::super) fn check_restickify_format(file: &FileView<'_>, report: &mut ViolationReport) {
    let is_other =
        |tensor: &TensorView<'_>| file.family == FunctionFamily::Restickify && tensor.info.format != "SEN169_FP16";
    for tensor in file.tensors().filter(is_other) {
        let message = format!("a restickify of {}; the release has it for SEN169_FP16 only", tensor.info.format);
        report.report_json(file.tensor_member_path(tensor.index, "dataFormat_"), message);
    }
}

pub(in super::super) fn check_mask_has_constant(file: &FileView<'_>, report: &mut ViolationReport) {
    let found = file.dsc.masking_constant;
    let is_known = usize::try_from(found).is_ok_and(|number| file.dsc.constants.0.get(&number).is_some());
    if found != -1 && !is_known {
        report.report_json(
            file.dsc_member_path("maskingConstId_"),
            format!("constant {found} is not in 'constantInfo_'; the number is that of a constant, or -1"),
        );
    } else if found == -1 && !file.dsc.masking.is_empty() {
        let message = "no constant for masked points; the number is that of a constant";
        report.report_json(file.dsc_member_path("maskingConstId_"), message);
    }
}

pub(in super::super) fn check_released_function(file: &FileView<'_>, report: &mut ViolationReport) {
    let function = &*file.compute.function;
    if FunctionFamily::from_function(function).is_none() || UNRELEASED_FUNCTIONS.contains(&function) {
        report.report_json(
            file.compute_member_path("opFuncName"),
            format!("'{function}' is no function of release 1.0.0"),
        );
    }
}

pub(in super::super) fn check_constant_values(file: &FileView<'_>, report: &mut ViolationReport) {
    for (number, constant) in file.dsc.constants.0.iter() {
        let path = file.dsc_member_path(&format!("constantInfo_/{number}"));
        let bits = number_format_bits(&constant.format);
        if !sdsc_format::model::NUMBER_FORMATS.iter().any(|(known, _)| *known == constant.format) {
            report.report_json(
                format!("{path}/dataFormat_"),
                format!("'{}' is no number format of the release", constant.format),
            );
        }
        let fits = |value: &ConstantBits| match value {
            ConstantBits::Known(value) => bits.is_none_or(|bits| u64::from(*value) < 1 << bits.min(63)),
            ConstantBits::Marker(_) => false,
        };
        let is_pattern = |values: &[ConstantBits]| matches!(values, [value] if fits(value));
        if let Some((core, values)) = constant.data.data.iter().find(|(_, values)| !is_pattern(&values.0)) {
            let message = format!(
                "{:?} for '{}'; a constant is one pattern of the bits of {}",
                values.0, constant.name, constant.format
            );
            report.report_json(format!("{path}/data_/data_/{core}"), message);
        }
        let is_listed = matches!(constant.data.functions.first(), Some(FoldFunction::Map(_)));
        let missing = file.dsc.core_ids.iter().find(|core| constant.data.value_on_core(**core).is_none());
        if is_listed && let Some(core) = missing {
            report.report_json(
                format!("{path}/data_/data_"),
                format!("no value for core {core}; a constant that differs has one for each core"),
            );
        } else if !is_listed && constant.data.data.0.len() != 1 {
            let message = format!(
                "{} values of a constant that is equal on all cores; there is one then",
                constant.data.data.0.len()
            );
            report.report_json(format!("{path}/data_/data_"), message);
        }
    }
}

pub(in super::super) fn check_keywords(file: &FileView<'_>, report: &mut ViolationReport) {
    let mut check = |path: String, found: &str, known: &[&str]| {
        if !known.contains(&found) {
            report.report_json(path, format!("'{found}'; the value is one of {known:?}"));
        }
    };
    check(file.compute_member_path("exUnit"), &file.compute.unit, &["sfp", "pt"]);
    check(file.compute_member_path("attributes_/fidelity_"), &file.compute.attributes.fidelity, &["regular", "fast"]);
    for tensor in file.tensors() {
        check(file.node_member_path(tensor.index, "nodeType_"), &tensor.node.node_type, &["allocate"]);
        check(file.node_member_path(tensor.index, "component_"), &tensor.node.component, &["hbm", "lx"]);
    }
    let stage = &file.dsc.stages.core;
    for name in [&stage.name, &stage.steady.name, &stage.end.name].into_iter().flatten() {
        check(file.dsc_member_path("dataStageParam_/0/name_"), name, &["core", "corelet", "row"]);
    }
}
