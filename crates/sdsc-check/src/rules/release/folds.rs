//! Rules of the release on folds: repetition over cores, corelets and time, and the elements of coordinates.

use super::super::super::file_view::{FileView, TensorView};
use super::super::super::report::ViolationReport;
use sdsc_format::model::{CoordInfo, CoreKey, Fold, FoldFunction, FoldMap, Text};

/// Labels of the folds that precede those of elements.
const SPATIAL_LABELS: [&str; 3] = ["core_fold", "corelet_fold", "row_fold"];

/// Labels of the folds of elements; a dimension has a prefix of this list, in any order.
const ELEMENT_LABELS: [&str; 4] = ["elem_arr_0", "elem_arr_1", "elem_arr_2", "elem_arr_3"];

/// Labels of the folds of an op, of a start and of a constant.
const OUTER_LABELS: [&str; 3] = ["core", "corelet", "time"];

/// Smallest number of bits of the formats whose sticks run along one dimension in one piece.
const WIDE_BITS: i64 = 16;

pub(in super::super) fn check_fold_structure(file: &FileView<'_>, report: &mut ViolationReport) {
    for tensor in file.tensors().filter(|tensor| tensor.class.is_some()) {
        for (label, info) in tensor.node.coordinates.dims.iter() {
            let fault = find_label_fault(info).or_else(|| find_element_fault(&tensor, label, info));
            if let Some(fault) = fault {
                let path = format!("coordinates_/coordInfo/{label}/folds");
                report.report_json(file.node_member_path(tensor.index, &path), fault);
            }
        }
    }
}

fn find_label_fault(info: &CoordInfo) -> Option<String> {
    let labels: Vec<&str> = info.folds.folds.iter().map(|fold| &*fold.label).collect();
    // Another rule checks the number of spatial folds.
    let (spatial, elements) = labels.split_at_checked(SPATIAL_LABELS.len())?;
    let mut sorted = elements.to_vec();
    sorted.sort_unstable();
    if spatial != SPATIAL_LABELS || sorted.is_empty() || !ELEMENT_LABELS.starts_with(&sorted) {
        return Some(format!(
            "folds {labels:?}; they are {SPATIAL_LABELS:?}, followed by 'elem_arr_0' and the next numbers"
        ));
    }
    let is_affine = |function: &FoldFunction| matches!(function, FoldFunction::Affine { beta: 0, alpha: 0.. });
    (!info.folds.functions.iter().all(is_affine))
        .then(|| "a fold is not affine from 0 on; a coordinate has no listed values".to_owned())
}

/// Returns whether sticks of the tensor along the dimension are contiguous: elements of 8 or 4 bits may have blocks.
fn has_plain_stick(tensor: &TensorView<'_>, label: &str) -> bool {
    tensor.info.word_length.bits >= WIDE_BITS && matches!(tensor.stick(), [only] if only == label)
}

fn find_element_fault(tensor: &TensorView<'_>, label: &str, info: &CoordInfo) -> Option<String> {
    let found = info.folds.folds.len().saturating_sub(SPATIAL_LABELS.len());
    if !tensor.stick().iter().any(|stick| stick == label) {
        return (found != 1).then(|| format!("{found} folds of elements beside the stick; there is one"));
    }
    if !has_plain_stick(tensor, label) {
        return None;
    }
    if found != 2 {
        return Some(format!("{found} folds of elements along the stick; there are two, of sticks and of elements"));
    }
    let within = find_factor(info, "elem_arr_0")?;
    (Some(within) != tensor.stick_size(label))
        .then(|| format!("{within} elements in a stick of {}", tensor.stick_size(label).unwrap_or_default()))
}

fn find_factor(info: &CoordInfo, label: &str) -> Option<i64> {
    info.folds.folds.iter().find(|fold| fold.label == label).map(|fold| fold.factor)
}

/// Returns the step of a fold with several positions.
fn find_step(info: &CoordInfo, label: &str) -> Option<i64> {
    let mut folds = info.folds.folds.iter().zip(&info.folds.functions);
    let (_, function) = folds.find(|(fold, _)| fold.label == label && fold.factor > 1)?;
    match function {
        FoldFunction::Affine { alpha, .. } => Some(*alpha),
        FoldFunction::Map(_) | FoldFunction::Const(_) => None,
    }
}

pub(in super::super) fn check_fold_products(file: &FileView<'_>, report: &mut ViolationReport) {
    // The format does not specify the folds of cores with unequal work. The views of a shuffle have rules of their own.
    let stages = &file.dsc.stages.core;
    if file.is_uneven() || file.is_shuffle() || stages.steady.sizes != stages.end.sizes {
        return;
    }
    for tensor in file.data_tensors().filter(|tensor| tensor.class.is_some()) {
        for (label, info) in tensor.node.coordinates.dims.iter() {
            if let Some(fault) = find_product_fault(file, &tensor, label, info) {
                let path = format!("coordinates_/coordInfo/{label}/folds");
                report.report_json(file.node_member_path(tensor.index, &path), fault);
            }
        }
    }
}

fn find_product_fault(file: &FileView<'_>, tensor: &TensorView<'_>, label: &str, info: &CoordInfo) -> Option<String> {
    let (spatial, elements) = info.folds.folds.split_at_checked(SPATIAL_LABELS.len())?;
    // The blocks of narrow sticks have orders of their own.
    if tensor.stick().len() != 1 {
        return None;
    }
    let slices = spatial[0].factor;
    let wanted = if tensor.has_dim(label) { file.num_slices(label)? } else { 1 };
    // A tensor in HBM that cores share may have folds of the complete tensor instead.
    let is_complete = slices == 1 && !tensor.is_per_core();
    if slices != wanted && !is_complete && tensor.node.coordinates.core_to_slice.is_empty() {
        return Some(format!("{slices} slices of '{label}'; the op has {wanted} of the dimension in this tensor"));
    }
    // Windows read beyond the points of the space.
    let is_read_by_windows = file.is_windowed(label) && Some(tensor.index) != file.result_index();
    if is_read_by_windows || elements.len() > 2 {
        return None;
    }
    let within = if elements.len() == 2 { find_factor(info, "elem_arr_0")?.max(1) } else { 1 };
    let folded = product(&spatial[1..]).saturating_mul(product(elements));
    if !tensor.has_dim(label) {
        return find_absent_fault(info, label, folded, within);
    }
    let size = file.size(label).filter(|size| *size > 0)?;
    let part = size.checked_div(slices)?;
    let sticks = part.div_euclid(within) + i64::from(part.rem_euclid(within) != 0);
    if part.saturating_mul(slices) != size || folded != sticks.saturating_mul(within) {
        return Some(format!(
            "{slices} slices of {folded} elements for the {size} points of '{label}'; the product of the folds is the \
             size, and a partly filled stick counts"
        ));
    }
    find_step_fault(info, within, part)
}

/// Returns the fault of the folds of a dimension that the tensor lacks.
fn find_absent_fault(info: &CoordInfo, label: &str, folded: i64, within: i64) -> Option<String> {
    let step = find_step(info, "elem_arr_0").unwrap_or_default();
    (folded != within || !(0..=1).contains(&step)).then(|| {
        format!(
            "{folded} elements of '{label}' with steps of {step}; a tensor without the dimension has one row or one \
             stick of it, of {within}"
        )
    })
}

fn product(folds: &[Fold]) -> i64 {
    folds.iter().fold(1, |product, fold| product.saturating_mul(fold.factor))
}

fn find_step_fault(info: &CoordInfo, within: i64, part: i64) -> Option<String> {
    let is_complete = part % within == 0;
    let steps = [
        ("core_fold", if is_complete { vec![part] } else { Vec::new() }),
        ("elem_arr_1", vec![within, 1]),
        ("elem_arr_0", vec![1]),
    ];
    steps.into_iter().find_map(|(label, allowed)| {
        let found = find_step(info, label).filter(|found| !allowed.is_empty() && !allowed.contains(found))?;
        Some(format!("positions of '{label}' are {found} elements apart; they are {} apart", allowed[0]))
    })
}

pub(in super::super) fn check_outer_folds(file: &FileView<'_>, report: &mut ViolationReport) {
    let operation = file.operation;
    if operation.core_fold.label != "core" {
        let message = format!("'{}'; the fold over cores is called 'core'", operation.core_fold.label);
        report.report_json(file.member_path("coreFoldProp_/label_"), message);
    }
    let times = [("sdscFoldProps_", &operation.fold_props), ("sdscFolds_/dim_prop_attr", &operation.folds.folds)];
    for (path, folds) in times {
        let is_first = |index: usize, fold: &Fold| folds[..index].iter().all(|other| other.label != fold.label);
        let is_legal = |index, fold: &Fold| OUTER_LABELS.contains(&&*fold.label) && is_first(index, fold);
        if let Some((_, fold)) = folds.iter().enumerate().find(|(index, fold)| !is_legal(*index, fold)) {
            let message = format!("'{}'; an op is folded over {OUTER_LABELS:?}, once each", fold.label);
            report.report_json(file.member_path(path), message);
        }
    }
    // Another rule checks factors below 1, here and in listed values.
    for fold in &operation.folds.folds {
        let declared = operation.fold_props.iter().find(|other| other.label == fold.label);
        if let Some(declared) = declared.filter(|declared| fold.factor > 0 && declared.factor != fold.factor) {
            let message = format!(
                "a factor of {} for '{}', where 'sdscFoldProps_' has {}; both are folds of the op",
                fold.factor, fold.label, declared.factor
            );
            report.report_json(file.member_path("sdscFolds_/dim_prop_attr"), message);
        }
    }
    if operation.folds.functions.len() != operation.folds.folds.len() {
        let (functions, folds) = (operation.folds.functions.len(), operation.folds.folds.len());
        let message = format!("{functions} functions for {folds} folds; each fold has one");
        report.report_json(file.member_path("sdscFolds_"), message);
    }
    if let Some(fault) = find_listed_fault(&operation.folds) {
        report.report_json(file.member_path("sdscFolds_/data_"), fault);
    }
    for (tensor, node) in file.dsc.nodes.iter().enumerate() {
        if let Some(fault) = find_factor_fault(file, &node.start) {
            report.report_json(file.node_member_path(tensor, "startAddressCoreCorelet_/dim_prop_attr"), fault);
        }
    }
    for (number, constant) in file.dsc.constants.0.iter() {
        let fault = find_constant_fault(&constant.data).map(|fault| ("dim_prop_func", fault));
        let fault = fault.or_else(|| Some(("dim_prop_attr", find_factor_fault(file, &constant.data)?)));
        if let Some((member, fault)) = fault {
            report.report_json(file.dsc_member_path(&format!("constantInfo_/{number}/data_/{member}")), fault);
        }
    }
}

/// Returns the fault of a value that is listed beside the functions that give it.
fn find_listed_fault(values: &FoldMap<Text, Text>) -> Option<String> {
    let step = |function: &FoldFunction| match function {
        FoldFunction::Affine { alpha, beta } => Some((*alpha, *beta)),
        FoldFunction::Map(_) | FoldFunction::Const(_) => None,
    };
    let steps: Vec<(i64, i64)> = values.functions.iter().map(step).collect::<Option<_>>()?;
    let evaluate = |key: &str| {
        let positions = key.strip_prefix('[')?.strip_suffix(']')?.split(',');
        let positions: Vec<i64> = positions.map(|position| position.trim().parse().ok()).collect::<Option<_>>()?;
        let is_legal =
            positions.iter().zip(&values.folds).all(|(position, fold)| (0..fold.factor.max(1)).contains(position));
        let terms = positions.iter().zip(&steps);
        let value = terms.map(|(position, (alpha, beta))| alpha.saturating_mul(*position).saturating_add(*beta));
        (is_legal && positions.len() == steps.len()).then(|| value.fold(0, i64::saturating_add))
    };
    values.data.iter().find_map(|(key, listed)| {
        let value = evaluate(key);
        (value.is_none() || value != listed.parse().ok()).then(|| {
            let given = value.map_or("none".to_owned(), |value| value.to_string());
            format!("'{listed}' at {key}; the functions give {given}")
        })
    })
}

/// Returns the fault of the lists of a value over cores, corelets and possibly time.
pub(super) fn find_fold_list_fault<V>(values: &FoldMap<CoreKey, V>) -> Option<String> {
    let labels: Vec<&str> = values.folds.iter().map(|fold| &*fold.label).collect();
    if !OUTER_LABELS.starts_with(&labels) || labels.len() < 2 {
        return Some(format!("folds {labels:?}; they are 'core' and 'corelet', and may be followed by 'time'"));
    }
    if values.functions.len() != labels.len() {
        return Some(format!("{} functions for {} folds; each fold has one", values.functions.len(), labels.len()));
    }
    let is_timed = labels.len() == OUTER_LABELS.len();
    values
        .data
        .iter()
        .any(|(key, _)| key.is_timed != is_timed)
        .then(|| format!("keys of another length than the {} folds; a key has a position in each fold", labels.len()))
}

fn find_constant_fault<V>(values: &FoldMap<CoreKey, V>) -> Option<String> {
    find_fold_list_fault(values).or_else(|| {
        let is_equal = matches!(values.functions.get(1), Some(FoldFunction::Const(_)));
        (!is_equal).then(|| "a constant depends on the corelet; its function over corelets is 'Const'".to_owned())
    })
}

fn find_factor_fault<V>(file: &FileView<'_>, values: &FoldMap<CoreKey, V>) -> Option<String> {
    let cores = &file.dsc.core_ids;
    let highest = cores.iter().max().map_or(1, |core| core.saturating_add(1));
    // A shuffle may use fewer cores than it counts.
    let counted = if file.is_shuffle() { file.operation.core_fold.factor } else { highest };
    let num_cores = [file.operation.n_cores, file.dsc.n_cores, highest, counted];
    let corelets = [1, file.operation.corelet_fold.factor, file.dsc.n_corelets.unwrap_or(1)];
    let is_constant = |index: usize| matches!(values.functions.get(index), Some(FoldFunction::Const(_)));
    let is_legal = |index: usize, fold: &Fold| match &*fold.label {
        "core" => num_cores.contains(&fold.factor) || (fold.factor == 1 && is_constant(index)),
        "corelet" => corelets.contains(&fold.factor),
        "time" => fold.factor == file.operation.fold_props.first().map_or(1, |time| time.factor),
        _ => false,
    };
    let (_, fold) = values.folds.iter().enumerate().find(|(index, fold)| !is_legal(*index, fold))?;
    Some(format!(
        "a factor of {} for '{}'; the folds are those of the op over {OUTER_LABELS:?}",
        fold.factor, fold.label
    ))
}
