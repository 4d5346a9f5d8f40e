//! Rules on the coordinate mapping from the iteration space to a tensor.

use super::super::file_view::{FileView, TensorView};
use super::super::report::ViolationReport;
use sdsc_format::model::{CoordInfo, Entries, FoldFunction};
use std::collections::BTreeSet;

/// Number of folds that precede the element folds: cores, corelets and rows.
const NUM_SPATIAL_FOLDS: usize = 3;

/// Labels of the element folds; a dimension has a suffix of this list.
const ELEMENT_FOLD_LABELS: [&str; 4] = ["elem_arr_3", "elem_arr_2", "elem_arr_1", "elem_arr_0"];

pub(super) fn check_fold_structure(file: &FileView<'_>, report: &mut ViolationReport) {
    for tensor in file.tensors().filter(|tensor| tensor.class.is_some()) {
        for (label, info) in tensor.node.coordinates.dims.iter() {
            let is_stick = tensor.stick().contains(label);
            let fault = find_structure_fault(info, file.num_corelets())
                .or_else(|| find_stick_fault(info, label, is_stick, &tensor));
            if let Some(fault) = fault {
                report.report_json(
                    file.node_member_path(tensor.index, &format!("coordinates_/coordInfo/{label}")),
                    fault,
                );
            }
        }
    }
}

fn find_structure_fault(info: &CoordInfo, corelets: i64) -> Option<String> {
    let folds = &info.folds.folds;
    let num_elements =
        folds.len().checked_sub(NUM_SPATIAL_FOLDS).filter(|count| (1..=ELEMENT_FOLD_LABELS.len()).contains(count));
    let Some(num_elements) = num_elements else {
        return Some(format!("{} folds; there are 3 of cores, corelets and rows and 1 to 4 of elements", folds.len()));
    };
    let labels = ["core_fold", "corelet_fold", "row_fold"]
        .iter()
        .chain(&ELEMENT_FOLD_LABELS[ELEMENT_FOLD_LABELS.len() - num_elements..]);
    if !folds.iter().map(|fold| &*fold.label).eq(labels.copied()) {
        return Some("the folds are 'core_fold', 'corelet_fold', 'row_fold' and 'elem_arr_<k>' down to 0".to_owned());
    }
    let is_affine = |function: &FoldFunction| matches!(function, FoldFunction::Affine { beta: 0, alpha: 0.. });
    if info.folds.functions.len() != folds.len() || !info.folds.functions.iter().all(is_affine) {
        return Some("every fold is affine and starts at 0".to_owned());
    }
    if (info.spatial, info.temporal) != (3, 0) || usize::try_from(info.element_folds) != Ok(num_elements) {
        return Some(format!(
            "{} spatial, {} temporal and {} element folds are declared; there are 3, 0 and {num_elements}",
            info.spatial, info.temporal, info.element_folds
        ));
    }
    if !(1..=corelets).contains(&folds[1].factor) || folds[2].factor != 1 {
        return Some("a part is on one corelet and in one row; only a shuffle may have two corelets".to_owned());
    }
    if folds[0].factor < 1 || folds.iter().any(|fold| fold.factor < 0) {
        return Some("a dimension has a negative number of parts".to_owned());
    }
    None
}

fn find_stick_fault(info: &CoordInfo, label: &str, is_stick: bool, tensor: &TensorView<'_>) -> Option<String> {
    let num_elements = info.folds.folds.len().saturating_sub(NUM_SPATIAL_FOLDS);
    match (is_stick, num_elements) {
        (false, 1) => None,
        (false, found) => Some(format!("{found} folds of elements beside the stick; there is one")),
        // The folds of blocks of 4-bit elements are not public.
        (true, _) if tensor.info.word_length.bits < 8 => None,
        // Two corelets share the sticks of a core; their folds do not separate sticks and elements.
        (true, 1) if info.num_corelets() > 1 => None,
        (true, 1) => {
            Some("one fold of elements along the stick; sticks and their elements are folds of their own".to_owned())
        }
        (true, 2) => {
            let innermost = info.folds.folds.last().map(|fold| fold.factor);
            // A block of fp8 weights counts full sticks or, in later versions of the reference emitter, the rows of the
            // block.
            let fits = innermost == tensor.elements_per_stick() || innermost == tensor.stick_size(label);
            let viewed = innermost.unwrap_or_default();
            (!fits).then(|| format!("{viewed} elements in a stick of {}", tensor.info.format))
        }
        // The blocks of fp8 sticks have their own orders.
        (true, _) => None,
    }
}

pub(super) fn check_fold_sizes(file: &FileView<'_>, report: &mut ViolationReport) {
    for tensor in file.data_tensors().filter(|tensor| tensor.class.is_some()) {
        for (label, info) in tensor.node.coordinates.dims.iter() {
            if let Some(fault) = find_size_fault(file, &tensor, label, info) {
                report.report_json(
                    file.node_member_path(tensor.index, &format!("coordinates_/coordInfo/{label}/folds")),
                    fault,
                );
            }
        }
    }
}

fn find_size_fault(file: &FileView<'_>, tensor: &TensorView<'_>, label: &str, info: &CoordInfo) -> Option<String> {
    let (cores, elements) = info.folds.folds.split_at_checked(NUM_SPATIAL_FOLDS)?;
    let slices = cores[0].factor;
    if !tensor.has_dim(label) {
        return (slices != 1)
            .then(|| format!("{slices} slices of '{label}', a dimension that the tensor does not have; such a dimension has one slice"));
    }
    let size = file.size(label)?;
    if let Some(wanted) =
        file.num_slices(label).filter(|wanted| *wanted != slices && tensor.node.coordinates.core_to_slice.is_empty())
    {
        return Some(format!("{slices} slices of '{label}'; the op has {wanted}"));
    }
    // Windows read beyond the points of the space, and another rule checks for split sticks.
    let is_read_by_windows = file.is_windowed(label) && Some(tensor.index) != file.result_index();
    let is_stick = tensor.stick_size(label).is_some();
    let is_cut =
        is_stick && tensor.elements_per_stick().is_none_or(|per_stick| size / slices.max(1) % per_stick.max(1) != 0);
    if is_read_by_windows || is_cut || elements.len() == 3 {
        return None;
    }
    let part = elements.iter().fold(1_i64, |product, fold| product.saturating_mul(fold.factor));
    if part.checked_mul(slices) != Some(size) {
        return Some(format!(
            "{slices} slices of {part} elements for the {size} points of '{label}'; the product is the size of the dimension"
        ));
    }
    match info.folds.functions.first() {
        Some(FoldFunction::Affine { alpha, .. }) if *alpha != part => {
            Some(format!("slices of {part} elements are {alpha} apart; slices are adjacent"))
        }
        Some(_) | None => None,
    }
}

pub(super) fn check_gap_positions(file: &FileView<'_>, report: &mut ViolationReport) {
    for (tensor, node) in file.dsc.nodes.iter().enumerate() {
        for (label, gaps) in node.gaps.iter().flat_map(Entries::iter) {
            let path = file.node_member_path(tensor, &format!("backGapCore_/{label}"));
            if !node.order.contains(label) {
                report.report_json(&path, format!("a gap behind '{label}', which is no dimension of the tensor"));
            }
            if let Some((core, gap)) = gaps.iter().find(|(_, gap)| gap.0 < 1) {
                report.report_json(
                    format!("{path}/{core}"),
                    format!("a gap of {} elements; a gap has at least one", gap.0),
                );
            }
            let found: BTreeSet<i64> = gaps.iter().map(|(core, _)| *core).collect();
            let is_complete = match &*node.component {
                "lx" if file.is_shuffle() => found.iter().copied().eq(0..file.num_cores()),
                "lx" => found == file.dsc.core_ids.iter().copied().collect(),
                _ => found.iter().eq(&[-1]),
            };
            if !is_complete {
                report.report_json(path, "a gap is given for every core of a tensor in LX, and for core -1 in HBM");
            }
        }
    }
}
