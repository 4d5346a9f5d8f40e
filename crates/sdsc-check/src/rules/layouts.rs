//! Rules on layout classes and on how tensors belong to them.

use super::super::file_view::FileView;
use super::super::functions::FunctionFamily;
use super::super::report::ViolationReport;
use machine::STICK_BYTES;
use sdsc_format::model::{NUMBER_FORMATS, Text, WordLength, number_format_bits};
use std::collections::BTreeSet;

pub(super) fn check_classes(file: &FileView<'_>, report: &mut ViolationReport) {
    for (name, class) in file.dsc.classes.iter() {
        let path = format!("primaryDsInfo_/{name}");
        if !matches!(&**name, "INPUT" | "KERNEL" | "OUTPUT" | "KERNEL_IDX") {
            let message = format!("'{name}'; a class is called 'INPUT', 'KERNEL', 'OUTPUT' or 'KERNEL_IDX'");
            report.report_json(file.dsc_member_path(&path), message);
        }
        // A stick of 4-bit elements has two entries for one dimension, separated by another one.
        let mut along = class.stick.clone();
        along.sort();
        let is_block = class.stick.len() == 3 && class.stick[0] == class.stick[2] && class.stick[1] != class.stick[0];
        if is_block {
            along.dedup();
        }
        for (member, labels) in [("layoutDimOrder_", &class.order), ("stickDimOrder_", &along)] {
            if let Some(fault) = find_order_fault(labels) {
                report.report_json(file.dsc_member_path(&format!("{path}/{member}")), fault);
            }
        }
        if class.stick.len() != class.stick_sizes.len() || class.stick_sizes.iter().any(|size| *size < 1) {
            let message = format!(
                "sizes {:?} for {} stick dimensions; each has a positive size",
                class.stick_sizes,
                class.stick.len()
            );
            report.report_json(file.dsc_member_path(&format!("{path}/stickSize_")), message);
        }
    }
}

fn find_order_fault(labels: &[Text]) -> Option<String> {
    let mut seen = BTreeSet::new();
    match labels.iter().find(|label| !seen.insert(*label)) {
        Some(label) => Some(format!("dimension '{label}' is listed twice; a dimension is listed once")),
        None if labels.is_empty() => Some("no dimension is listed; there is at least one".to_owned()),
        None => None,
    }
}

pub(super) fn check_tensor_classes(file: &FileView<'_>, report: &mut ViolationReport) {
    // A data shuffle may leave out all classes.
    if file.dsc.classes.is_empty() && file.family == FunctionFamily::Restickify && file.context.profile.is_release() {
        return;
    }
    for tensor in file.tensors().filter(|tensor| tensor.class.is_none()) {
        let message =
            format!("the class '{}' is not in 'primaryDsInfo_'; every tensor has a layout class", tensor.info.class);
        report.report_json(file.tensor_member_path(tensor.index, "dsType_"), message);
    }
    for (name, _) in
        file.dsc.classes.iter().filter(|(name, _)| file.dsc.tensors.iter().all(|tensor| tensor.class != **name))
    {
        report.report_json(
            file.dsc_member_path(&format!("primaryDsInfo_/{name}")),
            format!("no tensor is of class '{name}'; every class has a tensor"),
        );
    }
}

pub(super) fn check_class_dims(file: &FileView<'_>, report: &mut ViolationReport) {
    for tensor in file.tensors() {
        let Some(class) = tensor.class else { continue };
        let order = &tensor.node.order;
        let set: BTreeSet<_> = order.iter().collect();
        if set.len() != order.len() || set != class.order.iter().collect() {
            let message =
                format!("{order:?} is no permutation of {:?}; a tensor has the dimensions of its class", class.order);
            report.report_json(file.node_member_path(tensor.index, "layoutDimOrder_"), message);
        }
        let found: BTreeSet<_> = tensor.node.coordinates.dims.iter().map(|(label, _)| label).collect();
        let may_lack = file.context.profile.is_release() && found.is_empty();
        if !may_lack && found != class.order.iter().collect() {
            let message = format!(
                "coordinates {found:?} instead of {:?}; a tensor has the coordinates of its class",
                class.order
            );
            report.report_json(file.node_member_path(tensor.index, "coordinates_/coordInfo"), message);
        }
        let lists = [
            (file.node_member_path(tensor.index, "maxDimSizes_"), tensor.node.page_sizes.len()),
            (file.tensor_member_path(tensor.index, "scale_"), tensor.info.scales.len()),
        ];
        for (path, found) in lists.into_iter().filter(|(_, found)| *found != class.order.len()) {
            report.report_json(
                path,
                format!("{found} entries for {} dimensions; there is one for each", class.order.len()),
            );
        }
    }
}

pub(super) fn check_scales(file: &FileView<'_>, report: &mut ViolationReport) {
    for tensor in file.tensors() {
        for (position, (label, scale)) in tensor.class_order().iter().zip(&tensor.info.scales).enumerate() {
            let path = format!("scale_/{position}");
            match scale {
                1 | -1 => {}
                -2 if tensor.stick().contains(label) => {}
                -2 => {
                    let message = format!(
                        "-2 for '{label}', which is outside of the stick; only a stick that holds one element has it"
                    );
                    report.report_json(file.tensor_member_path(tensor.index, &path), message);
                }
                found => report.report_json(
                    file.tensor_member_path(tensor.index, &path),
                    format!("{found} for '{label}'; a scale is 1, -1 or -2"),
                ),
            }
        }
    }
}

pub(super) fn check_format_widths(file: &FileView<'_>, report: &mut ViolationReport) {
    for tensor in file.tensors() {
        let (format, found) = (&tensor.info.format, tensor.info.word_length);
        if !NUMBER_FORMATS.iter().any(|(known, _)| known == format) {
            report.report_json(
                file.tensor_member_path(tensor.index, "dataFormat_"),
                format!("'{format}' is no number format of the device"),
            );
        }
        if let Some(wanted) =
            number_format_bits(format).map(|bits| WordLength { bits }).filter(|wanted| *wanted != found)
        {
            let message = format!("{found} bytes for {format}; its elements have {wanted}");
            report.report_json(file.tensor_member_path(tensor.index, "wordLength"), message);
        }
    }
}

pub(super) fn check_stick_bytes(file: &FileView<'_>, report: &mut ViolationReport) {
    for tensor in file.tensors() {
        let Some(class) = tensor.class else { continue };
        // The release does not state the length of an element of some formats, and files may omit it.
        if file.context.profile.is_release() && tensor.info.word_length.bits == 0 {
            continue;
        }
        let elements = class.stick_sizes.iter().fold(1_i64, |product, size| product.saturating_mul(*size));
        let bits = elements.saturating_mul(tensor.info.word_length.bits);
        if bits != STICK_BYTES * 8 {
            let bytes = WordLength { bits };
            let message = format!(
                "a stick of {elements} elements has {bytes} bytes in tensor {}; it has {STICK_BYTES}",
                tensor.index
            );
            report.report_json(
                file.dsc_member_path(&format!("primaryDsInfo_/{}/stickSize_", tensor.info.class)),
                message,
            );
        }
    }
}

pub(super) fn check_identity_format(file: &FileView<'_>, report: &mut ViolationReport) {
    let Some(first) = file.data_tensors().next().filter(|_| file.compute.function == "identity") else { return };
    for tensor in file.data_tensors().filter(|tensor| tensor.info.format != first.info.format) {
        let message = format!("{}, where the identity takes {}", tensor.info.format, first.info.format);
        report.report_json(file.tensor_member_path(tensor.index, "dataFormat_"), message);
    }
}

pub(super) fn check_op_format(file: &FileView<'_>, report: &mut ViolationReport) {
    let Some(first) = file.data_tensors().next() else { return };
    let wanted = &first.info.format;
    let found = &file.compute.attributes.format;
    if found != wanted {
        let message = format!("the op computes in {found}; its first tensor of values is {wanted}");
        report.report_json(file.compute_member_path("attributes_/dataFormat_"), message);
    }
    for (number, constant) in file.dsc.constants.0.iter().filter(|(_, constant)| constant.format != *found) {
        let message = format!("the constant '{}' is {}; the op computes in {found}", constant.name, constant.format);
        report.report_json(file.dsc_member_path(&format!("constantInfo_/{number}/dataFormat_")), message);
    }
}
