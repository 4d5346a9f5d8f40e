//! Rules on masked padding and on constants.

use super::super::file_view::FileView;
use super::super::functions::{self, MASK_VALUE};
use super::super::report::ViolationReport;
use machine::DeviceFormat;
use sdsc_format::model::{ConstantBits, CoreKey};
use std::collections::BTreeSet;

pub(super) fn check_mask_coverage(file: &FileView<'_>, report: &mut ViolationReport) {
    for (label, parts) in file.dsc.masking.iter() {
        let path = file.dsc_member_path(&format!("coordinateMasking_/{label}"));
        let size = file.size(label).unwrap_or_default();
        match parts.as_slice() {
            [[valid, padding]] if *valid > 0 && *padding > 0 && valid.checked_add(*padding) == Some(size) => {}
            found => {
                let message = format!(
                    "{found:?} of the {size} points of '{label}'; a mask is [valid, padding], whose sum is the size"
                );
                report.report_json(&path, message);
            }
        }
        let is_reduced = file.tensors().last().and_then(|result| result.scale(label)) == Some(-2);
        if let Some(slices) = file.num_slices(label).filter(|slices| is_reduced && *slices > 1) {
            report.report_json(
                path,
                format!("'{label}' is masked, reduced and has {slices} slices; padding is reduced on one core"),
            );
        }
    }
}

pub(super) fn check_mask_constant(file: &FileView<'_>, report: &mut ViolationReport) {
    let constants = &file.dsc.constants.0;
    let found = file.dsc.masking_constant;
    let path = file.dsc_member_path("maskingConstId_");
    if file.dsc.masking.is_empty() {
        if found != -1 {
            report.report_json(path, format!("constant {found} without a mask; the number is -1 then"));
        }
        return;
    }
    let Some(wanted) = constants.iter().find(|(_, constant)| constant.name == MASK_VALUE).map(|(number, _)| *number)
    else {
        return;
    };
    // The reference emitter of August 2026 writes 0 even where the mask value is not the first constant.
    if found != 0 && usize::try_from(found) != Ok(wanted) {
        report
            .report_json(path, format!("constant {found} replaces masked points; '{MASK_VALUE}' is constant {wanted}"));
    }
}

pub(super) fn check_function_constants(file: &FileView<'_>, report: &mut ViolationReport) {
    let path = file.dsc_member_path("constantInfo_");
    let constants = &file.dsc.constants.0;
    let names: Vec<&str> = constants.iter().map(|(_, constant)| &*constant.name).collect();
    let is_masked = !file.dsc.masking.is_empty();
    if names.contains(&MASK_VALUE) != is_masked {
        let state = if is_masked { "no" } else { "a" };
        report
            .report_json(&path, format!("{state} '{MASK_VALUE}'; an op has it when padding is masked, and only then"));
    }
    let function = &*file.compute.function;
    if let Some((needed, optional)) = functions::function_constants(function, file.family) {
        for missing in needed.iter().filter(|name| !names.contains(name)) {
            report.report_json(&path, format!("no constant '{missing}'; '{function}' needs it"));
        }
        let is_used = |name: &str| name == MASK_VALUE || needed.contains(&name) || optional.contains(&name);
        for (number, constant) in constants.iter().filter(|(_, constant)| !is_used(&constant.name)) {
            report.report_json(
                format!("{path}/{number}/name_"),
                format!("constant '{}'; '{function}' has no use for it", constant.name),
            );
        }
    }
    let mut seen = BTreeSet::new();
    let is_numbered = |number: usize| file.context.profile.is_release() || number < names.len();
    for (number, constant) in constants.iter() {
        if !is_numbered(*number) || !seen.insert(&*constant.name) {
            let message = format!(
                "constant {number} '{}'; torch-spyre numbers constants from 0, and each has a name of its own",
                constant.name
            );
            report.report_json(format!("{path}/{number}"), message);
        }
    }
}

pub(super) fn check_constant_bits(file: &FileView<'_>, report: &mut ViolationReport) {
    for (number, constant) in file.dsc.constants.0.iter() {
        let path = file.dsc_member_path(&format!("constantInfo_/{number}/data_/data_"));
        let [(CoreKey { core: 0, corelet: 0, .. }, values)] = constant.data.data.0.as_slice() else {
            report.report_json(path, "a constant has one value for all cores, with the key '[0, 0, 0]'");
            continue;
        };
        let is_wide = constant.format == DeviceFormat::IeeeFp32.name();
        match values.0.as_slice() {
            [ConstantBits::Known(bits)] if is_wide || *bits <= 0xffff => {}
            [ConstantBits::Known(bits)] => {
                report.report_json(
                    path,
                    format!(
                        "bits {bits} of '{}'; a constant that is no {} has 16",
                        constant.name,
                        DeviceFormat::IeeeFp32
                    ),
                );
            }
            [ConstantBits::Marker(text)] => {
                report.report_json(path, format!("'{text}' for '{}'; a constant is given by its bits", constant.name))
            }
            found => {
                report.report_json(path, format!("{} values of '{}'; a constant has one", found.len(), constant.name))
            }
        }
    }
}
