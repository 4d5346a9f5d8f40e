//! Rules of the release on functions, constants and words.

use super::super::super::file_view::{FileView, TensorView};
use super::super::super::functions::Family;
use super::super::super::report::Report;
use sdsc_format::model::{Bits, FoldFunction, number_format_bits};

/// Functions of torch-spyre that are not among the 80 of the release.
const NOT_RELEASED: [&str; 4] = ["greaterthan", "lesserthan", "prodnonstick", "shuffle"];

pub(in super::super) fn sticks_are_broadcast_together(file: &FileView<'_>, report: &mut Report) {
    if file.family != Family::Elementwise {
        return;
    }
    for tensor in file.data_tensors() {
        let present = tensor.stick().iter().filter(|label| tensor.has(label)).count();
        if present != 0 && present != tensor.stick().len() {
            let message = format!("{present} of the {} stick dimensions are broadcast; all are, or none", tensor.stick().len());
            report.json(file.tensor_at(tensor.index, "scale_"), message);
        }
    }
}

pub(in super::super) fn top_k_keeps_the_sticks(file: &FileView<'_>, report: &mut Report) {
    let tensors: Vec<TensorView<'_>> = file.data_tensors().collect();
    let (Family::TopK, [input, .., result]) = (file.family, tensors.as_slice()) else { return };
    if input.stick() != result.stick() {
        let message = format!("sticks along {:?} where the input has {:?}; a top-k keeps its sticks", result.stick(), input.stick());
        report.json(file.dsc_at(&format!("primaryDsInfo_/{}/stickDimOrder_", result.info.class)), message);
    }
}

pub(in super::super) fn restickify_is_in_dl16(file: &FileView<'_>, report: &mut Report) {
    let is_other = |tensor: &TensorView<'_>| file.family == Family::Restickify && tensor.info.format != "SEN169_FP16";
    for tensor in file.tensors().filter(is_other) {
        let message = format!("a restickify of {}; the release has it for SEN169_FP16 only", tensor.info.format);
        report.json(file.tensor_at(tensor.index, "dataFormat_"), message);
    }
}

pub(in super::super) fn mask_has_a_constant(file: &FileView<'_>, report: &mut Report) {
    let found = file.dsc.masking_constant;
    let is_known = usize::try_from(found).is_ok_and(|number| file.dsc.constants.0.get(&number).is_some());
    if found != -1 && !is_known {
        report.json(
            file.dsc_at("maskingConstId_"),
            format!("constant {found} is not in 'constantInfo_'; the number is that of a constant, or -1"),
        );
    }
}

pub(in super::super) fn function_is_released(file: &FileView<'_>, report: &mut Report) {
    let function = &*file.compute.function;
    if Family::of(function).is_none() || NOT_RELEASED.contains(&function) {
        report.json(file.compute_at("opFuncName"), format!("'{function}' is no function of release 1.0.0"));
    }
}

pub(in super::super) fn constants_have_bits(file: &FileView<'_>, report: &mut Report) {
    for (number, constant) in file.dsc.constants.0.iter() {
        let path = file.dsc_at(&format!("constantInfo_/{number}"));
        let bits = number_format_bits(&constant.format);
        if !sdsc_format::model::NUMBER_FORMATS.iter().any(|(known, _)| *known == constant.format) {
            report.json(format!("{path}/dataFormat_"), format!("'{}' is no number format of the release", constant.format));
        }
        let fits = |value: &Bits| match value {
            Bits::Known(value) => bits.is_none_or(|bits| u64::from(*value) < 1 << bits.min(63)),
            Bits::Marker(_) => false,
        };
        let is_pattern = |values: &[Bits]| matches!(values, [value] if fits(value));
        if let Some((core, values)) = constant.data.data.iter().find(|(_, values)| !is_pattern(&values.0)) {
            let message = format!("{:?} for '{}'; a constant is one pattern of the bits of {}", values.0, constant.name, constant.format);
            report.json(format!("{path}/data_/data_/{core}"), message);
        }
        let is_listed = matches!(constant.data.functions.first(), Some(FoldFunction::Map(_)));
        let missing = file.dsc.core_ids.iter().find(|core| constant.data.on_core(**core).is_none());
        if is_listed && let Some(core) = missing {
            report.json(format!("{path}/data_/data_"), format!("no value for core {core}; a constant that differs has one for each core"));
        } else if !is_listed && constant.data.data.0.len() != 1 {
            let message = format!("{} values of a constant that is equal on all cores; there is one then", constant.data.data.0.len());
            report.json(format!("{path}/data_/data_"), message);
        }
    }
}

pub(in super::super) fn words_are_known(file: &FileView<'_>, report: &mut Report) {
    let mut check = |path: String, found: &str, known: &[&str]| {
        if !known.contains(&found) {
            report.json(path, format!("'{found}'; the value is one of {known:?}"));
        }
    };
    check(file.compute_at("exUnit"), &file.compute.unit, &["sfp", "pt"]);
    check(file.compute_at("attributes_/fidelity_"), &file.compute.attributes.fidelity, &["regular", "fast"]);
    for tensor in file.tensors() {
        check(file.node_at(tensor.index, "nodeType_"), &tensor.node.node_type, &["allocate"]);
        check(file.node_at(tensor.index, "component_"), &tensor.node.component, &["hbm", "lx"]);
    }
    let stage = &file.dsc.stages.core;
    for name in [&stage.name, &stage.steady.name, &stage.end.name].into_iter().flatten() {
        check(file.dsc_at("dataStageParam_/0/name_"), name, &["core", "corelet", "row"]);
    }
}
